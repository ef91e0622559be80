"""Kinematics: poses, twists and accelerations of all bodies, root to leaves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..kernel.sweep import MATRIX, POSE, Algorithm, Field, outward, vector
from ..spatial.se3 import bracket
from .accepts import check_model
from .model import Model
from .rules import motion_of, world_pose


def move(n: Any, parent: Any) -> None:
    """E_wj = E_wp E_pj, phi = Ad(E_jp) phi_p + S v, phi_dot = Ad(E_jp) phi_dot_p + S a + S_dot v + ad(phi) S v."""
    E = motion_of(n)
    joint = E.tangent
    n.pose = (parent.pose @ E.with_tangent(None)).collapsed()
    n.twist = E.pull_twist(parent.twist) + joint.phi
    n.twist_dot = E.pull_twist(parent.twist_dot) + joint.S @ n.a + joint.bias + bracket(n.twist, joint.phi)
    n.poses, n.twists, n.twists_dot = n.pose, n.twist, n.twist_dot


KINEMATICS = Algorithm(
    "kinematics",
    {
        "q": Field("input", "q"),
        "v": Field("input", "v"),
        "a": Field("input", "v"),
        "pose": Field("shared", codec=POSE, world=world_pose),
        "twist": Field("shared", codec=vector(6)),
        "twist_dot": Field("shared", codec=vector(6)),
        "poses": Field("output", "node", MATRIX),
        "twists": Field("output", "node", vector(6)),
        "twists_dot": Field("output", "node", vector(6)),
    },
    {"run": [outward(move)]},
)


PLACE, MOTION, ALL = ("q",), ("q", "v"), ("poses", "twists", "twists_dot")


@dataclass(frozen=True, eq=False)
class Kinematics:
    """Of one state or a batch: poses (..., bodies, 4, 4) in the world, body twists and their rates (..., bodies, 6).

    >>> lw.kinematics(model, q, v).poses.shape
    (2, 4, 4)
    """

    poses: np.ndarray
    twists: np.ndarray
    twists_dot: np.ndarray


def kinematics(model: Model, q: Any, v: Any = None, a: Any = None, threads: int | None = 1) -> Kinematics:
    """Poses, twists (angular, linear; body axes) and time derivatives of the twists' components.

    >>> k = lw.kinematics(model, q, v)
    >>> k.poses.shape, k.twists.shape
    ((2, 4, 4), (2, 6))
    """
    if type(model) is not Model:
        check_model(model)
    if a is None:
        found = (
            model.quick(KINEMATICS, PLACE, ALL)(q, threads=threads)
            if v is None
            else model.quick(KINEMATICS, MOTION, ALL)(q, v, threads=threads)
        )
        return Kinematics(*found)
    out = model.call(KINEMATICS, {"q": q, "v": v, "a": a}, threads)
    return Kinematics(out["poses"], out["twists"], out["twists_dot"])
