"""Loop closures by a joint: two frames on two bodies move against each other as the joint allows.

Every closure is a list of conditions on points and directions, so its rows are derived like those of any constraint. Directions
of frame a are u, v, w (w along the joint's axis), of frame b likewise; d leads from the origin of a to that of b:

    point        d = 0, in the axes of a                      hinge axis    u_a . w_b = v_a . w_b = 0   [Sueda, Eq. 2.94]
    line, plane  d . u_a = d . v_a = 0, or d . w_a = 0        orientation   u_a . v_b = v_a . w_b = w_a . u_b = 0
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np

from ..errors import ModelError
from ..joints import Cylindrical, Fixed, Free2D, Joint, Planar, Prismatic, Revolute, Spherical, Translational, Universal
from ..model.model import WORLD
from ..spatial.scalar import Scalar, Vector, dot, stack
from ..spatial.se3 import SE3
from .constraint import Constraint

Direction = Callable[[int], Vector]


def _position(d: Vector, a: Direction, axes: Sequence[int]) -> list[Scalar]:
    return [dot(d, a(k)) for k in axes]


def _aligned(a: Direction, b: Direction) -> list[Scalar]:
    """The third axes are parallel."""
    return [dot(a(0), b(2)), dot(a(1), b(2))]


def _oriented(a: Direction, b: Direction) -> list[Scalar]:
    """All axes are parallel."""
    return [dot(a(0), b(1)), dot(a(1), b(2)), dot(a(2), b(0))]


# For every kind of joint its conditions, of d and the directions of both frames. Axes of joints are the third axis here.
CONDITIONS: dict[type[Joint], Callable[[Vector, Direction, Direction], list[Scalar]]] = {
    Fixed: lambda d, a, b: [*_position(d, a, (0, 1, 2)), *_oriented(a, b)],
    Revolute: lambda d, a, b: [*_position(d, a, (0, 1, 2)), *_aligned(a, b)],
    Prismatic: lambda d, a, b: [*_position(d, a, (0, 1)), *_oriented(a, b)],
    Cylindrical: lambda d, a, b: [*_position(d, a, (0, 1)), *_aligned(a, b)],
    Spherical: lambda d, a, b: _position(d, a, (0, 1, 2)),
    Universal: lambda d, a, b: [*_position(d, a, (0, 1, 2)), dot(a(0), b(1))],
    Planar: lambda d, a, b: [*_position(d, a, (2,)), *_oriented(a, b)],
    Free2D: lambda d, a, b: [*_position(d, a, (2,)), *_aligned(a, b)],
    Translational: lambda d, a, b: _oriented(a, b),
}


# How many ways each can turn: what is left of three are conditions on directions, the last of its rows.
TURNS = {Fixed: 0, Revolute: 1, Prismatic: 0, Cylindrical: 1, Spherical: 3, Universal: 2, Planar: 0, Free2D: 1, Translational: 0}


class Closure(Constraint):
    """A loop closed by a joint between a frame on one body and a frame on another.

    joint              its kind and axis: Fixed, Revolute, Prismatic, Cylindrical, Spherical, Universal, Planar, Free2D or
                       Translational
    body_a, body_b     names of the bodies; either may be "world"
    frame_a, frame_b   poses of the frames in their bodies; they coincide at the joint's zero

    Rows that other joints of the loop imply already need not be removed: redundant rows share their force.
    """

    parameter_names: ClassVar[tuple[str, ...]] = ("R_a", "p_a", "R_b", "p_b")

    def __init__(
        self, joint: Joint, body_a: str, body_b: str = WORLD, frame_a: SE3 | None = None, frame_b: SE3 | None = None
    ) -> None:
        if type(joint) not in CONDITIONS:
            known = ", ".join(kind.__name__ for kind in CONDITIONS)
            raise ModelError(f"Closure: {joint!r} cannot close a loop; these can: {known}")
        self.joint, self.bodies = joint, (body_a, body_b)
        turn = _axis_frame(joint)
        a, b = ((SE3() if frame is None else frame) @ turn for frame in (frame_a, frame_b))
        self.R_a, self.p_a = np.asarray(a.R, float), np.asarray(a.p, float)
        self.R_b, self.p_b = np.asarray(b.R, float), np.asarray(b.p, float)
        self.size = 6 - joint.nv

    @property
    def groups(self) -> tuple[int, ...]:
        turns = min(3, 3 - TURNS[type(self.joint)])
        return (0,) * (self.size - turns) + (1,) * turns

    @property
    def variant(self) -> tuple[Any, ...]:
        return (type(self.joint).__name__,)

    def residual(self, E_a: SE3, E_b: SE3) -> Vector:
        def a(k: int) -> Vector:
            return E_a.rotate(self.R_a[:, k])

        def b(k: int) -> Vector:
            return E_b.rotate(self.R_b[:, k])

        return stack(*CONDITIONS[type(self.joint)](E_b @ self.p_b - E_a @ self.p_a, a, b))

    def __repr__(self) -> str:
        return f"Closure({self.joint!r}, {self.bodies[0]!r}, {self.bodies[1]!r})"


def _axis_frame(joint: Joint) -> SE3:
    """A turn that brings the third axis to the joint's."""
    axis = getattr(joint, "axis", None)
    if axis is None:
        return SE3()
    w = np.asarray(axis, float)
    u = np.cross(w, np.eye(3)[np.argmin(np.abs(w))])
    u = u / np.linalg.norm(u)
    return SE3(R=np.stack([u, np.cross(w, u), w], axis=1))
