"""Names and units of the curves of a run."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..constraints import Constraint
from ..constraints.rows import constraint_set
from ..joints import Free, Joint, Spherical
from ..model import Body, Model

QUATERNION = [(f"quat {k}", "") for k in "wxyz"]


@dataclass(frozen=True)
class Label:
    """What a curve shows; an empty unit is a number, or a coordinate with a scale of its own."""

    name: str
    unit: str


def coordinate_labels(model: Model) -> list[Label]:
    """One label for every entry of q."""
    return [label for body in model.bodies for label in _named(body, _coordinates(body.joint))]


def velocity_labels(model: Model) -> list[Label]:
    """One label for every entry of v."""
    return [label for body in model.bodies for label in _named(body, _velocities(body.joint))]


def force_labels(model: Model) -> list[Label]:
    """One label for every constraint row; positions of bodies measure metres, and have forces in newtons."""
    labels = []
    for c, size in constraint_set(model).sizes():
        between = isinstance(c, Constraint)
        name = f"{type(c).__name__} {'-'.join(c.bodies)}" if between else repr(c)
        ends = [""] if size == 1 else [f" {k}" for k in ("xyz" if size == 3 else range(size))]
        labels += [Label(name + end, "N" if between and c.holonomic else "") for end in ends]
    return labels


def _named(body: Body, entries: list[tuple[str, str]]) -> list[Label]:
    return [Label(f"{body.joint_name} {part}".rstrip(), unit) for part, unit in entries]


def _coordinates(joint: Joint) -> list[tuple[str, str]]:
    if isinstance(joint, Spherical):
        return QUATERNION
    if isinstance(joint, Free):
        return [("x", "m"), ("y", "m"), ("z", "m"), *QUATERNION]
    if joint.nq != joint.nv:
        return [(str(k), "") for k in range(joint.nq)]
    return [(part, unit.removesuffix("/s")) for part, unit in _velocities(joint)]


def _velocities(joint: Joint) -> list[tuple[str, str]]:
    """Units by how the joint moves: a column of S with unit angular part is an angle, one with unit linear part a length."""
    if not joint.nv:
        return []
    S = np.asarray(joint.motion(joint.neutral(), np.zeros(joint.nv)).tangent.S, dtype=float)
    parts = [""] if joint.nv == 1 else [str(k) for k in range(joint.nv)]
    if isinstance(joint, (Spherical, Free)):
        parts = ["turn x", "turn y", "turn z", "x", "y", "z"][: joint.nv]
    return list(zip(parts, [_rate_unit(column) for column in S.T], strict=True))


def _rate_unit(column: np.ndarray) -> str:
    angular, linear = np.linalg.norm(column[:3]), np.linalg.norm(column[3:])
    if np.isclose(angular, 1.0):
        return "rad/s"
    return "m/s" if angular < 1e-12 and np.isclose(linear, 1.0) else ""
