"""How far bodies are from their joints, and the shortest motion, in the metric of the mass, that brings them back.

With rows T^T of the joints and the gap at the coordinate that fits best, or the relative twist, as the error e of every joint,

    y = argmin y^T M y   with   T^T (y_j - Ad(E_jp) y_p) = -T^T e:        M y = J^T lam,   by Baraff's factor in O(n).

Impulses of the joints do that, so momentum is exchanged, never lost: taking away from each joint what it does not allow, one
after the other, would change the motion at first order in every step.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..kernel.sweep import MATRIX, Algorithm, Field, each, inward, outward, vector
from ..model.model import Model
from ..model.rules import joint_of, placement_of
from ..model.state import MaximalState, Motion
from ..spatial.scalar import Vector
from ..spatial.se3 import SE3
from . import rules
from .dynamics import SOLVE_FIELDS, STATE_FIELDS


def _hold(n: Any, error: Vector) -> None:
    """Nothing acts, and the joint removes the part of the error that it does not allow."""
    n.error = n.T @ (n.T.T @ error)
    n.f, n.f_tau, n.zeta = np.zeros(6), np.zeros(6), -n.error


def position_error(n: Any, parent: Any) -> None:
    """gap = log(Q(q_fit)^-1 E_joint), in body axes."""
    inboard = placement_of(n).inverse() @ n.E
    _hold(n, (joint_of(n).transform(n.q_fit).inverse() @ inboard).log())


def velocity_error(n: Any, parent: Any) -> None:
    """The relative twist."""
    _hold(n, n.twists - n.E.pull_twist(parent.twists))


def _closing(name: str, error: Any) -> Algorithm:
    sweeps = [outward(rules.geometry), outward(error), inward(rules.factor), inward(rules.forward), outward(rules.back)]
    fields = {name: f for name, f in SOLVE_FIELDS.items() if name not in ("tau", "lam")}
    return Algorithm(name, {**STATE_FIELDS, **fields, "error": Field("output", "node", vector(6))}, {"run": sweeps})


CLOSE_POSITIONS = _closing("maximal_close_positions", position_error)
CLOSE_VELOCITIES = _closing("maximal_close_velocities", velocity_error)


def _displace(n: Any) -> None:
    n.poses_new = n.poses @ SE3.exp(n.motion)


DISPLACE = Algorithm(
    "maximal_displace",
    {
        "poses": Field("input", "node", MATRIX),
        "motion": Field("input", "node", vector(6)),
        "poses_new": Field("output", "node", MATRIX),
    },
    {"run": [each(_displace)]},
)


def closing_motion(model: Model, state: MaximalState, algorithm: Algorithm) -> tuple[Motion, np.ndarray]:
    """The shortest motion that closes the joints by `CLOSE_POSITIONS` or `CLOSE_VELOCITIES`, and their errors (bodies, 6).

    `state.q_fit` must be the coordinates that fit best, see `to_reduced`.
    """
    out = model.call(algorithm, {"poses": state.poses, "twists": state.twists, "q_fit": state.q_fit})
    return Motion(out["twists_dot"], out["a"]), out["error"]


def displaced(model: Model, poses: np.ndarray, motion: np.ndarray) -> np.ndarray:
    """The poses E exp(y) of all bodies, y (bodies, 6) in body axes."""
    return model.call(DISPLACE, {"poses": poses, "motion": motion})["poses_new"]
