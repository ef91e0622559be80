"""Constraints as the published scenes have them, where their numbers rest on a slip or an approximation of the original.

Each knows what is right: `Contact`, `Limit`, `PrescribedJoint` and `PrescribedTwist` of the library, or `PointOnHinge`.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from ...constraints.limits import Limit
from ...constraints.prescribed import PrescribedJoint, PrescribedTwist
from ...contact import Contact
from ...spatial.dual import held
from ...spatial.gate import number
from ...spatial.scalar import Scalar, Vector, array, where
from ...spatial.se3 import SE3
from .elements import PointOnHinge
from .slips import Slip


class HingeLoop(Slip, PointOnHinge):
    """The directions in which two points meet are held while they are differentiated, though they turn (loops)."""

    def hinge(self, E_a: SE3) -> Vector:
        return held(E_a.R) @ self.axis

    def right(self) -> PointOnHinge:
        a, b = self.bodies
        return PointOnHinge(a, b, self.point_a, self.point_b, self.axis)


class StrictFloor(Slip, Contact):
    """A sphere that rests on the plane at a distance of exactly zero does not touch it (floors)."""

    def residual(self, E_a: SE3, E_b: SE3) -> Vector:
        return super().residual(E_a, E_b) + np.finfo(float).tiny

    def right(self) -> Contact:
        (a, b), (ball, plane) = self.bodies, self.shapes
        return Contact(a, ball, b, plane)


class OneWayLimit(Slip, Limit):
    """The correction of the upper stop has the wrong sign: what lies beyond it is let farther out (scene 6).

    baumgarte   the rate of correction of the method that steps it, which this undoes twice
    """

    timed = True
    parameter_names: ClassVar[tuple[str, ...]] = ("stops", "baumgarte")

    def __init__(self, joint: str, lower: Any, upper: Any, baumgarte: float) -> None:
        super().__init__(joint, lower, upper)
        self.baumgarte = number(repr(self), "baumgarte", baumgarte)

    def gap(self, q: Vector, t: Scalar) -> Vector:
        """Upper stops that are passed run away, at twice the rate at which they are approached again."""
        since, out = t - held(t), []
        for (_, side), g in zip(self.sides, self.residual(q), strict=True):
            passed = where(held(g) <= 0.0, 2.0 * self.baumgarte * held(g), 0.0) if side < 0 else 0.0
            out.append(g - since * passed)
        return array(out)

    def right(self) -> Limit:
        return Limit(self.joint, self.lower, self.upper)


class Unfed(Slip, PrescribedJoint):
    """A prescribed joint that does not find back to its motion as it should."""

    def right(self) -> PrescribedJoint:
        return PrescribedJoint(self.joint, self.motion)


class NoVelocityFeedback(Unfed):
    """A prescribed joint whose velocity error is not fed back (scene 9)."""

    kinds: ClassVar[tuple[str, ...]] = ("ODE45",)
    unseen: ClassVar[tuple[str, ...]] = ("rate",)


class NoFeedback(Unfed):
    """A prescribed joint whose errors are not fed back at all: what hybrid dynamics by recursion does (scene 9)."""

    unseen: ClassVar[tuple[str, ...]] = ("residual", "rate")


class ReversedRate(Unfed):
    """A joint that turns against its prescribed rate, and whose position is not looked at (scenes 32, 33)."""

    holonomic = False

    @cached_property
    def traced(self) -> bool:
        """Motions of scene files are in pieces: they are asked."""
        return False

    def slip(self, q: Vector, v: Vector, t: Scalar) -> Vector:
        _, rate, acceleration = self.told[1:].reshape(3, -1)
        return v + rate + (t - self.told[0]) * acceleration


class NoTwistFeedback(Slip, PrescribedTwist):
    """A prescribed twist whose error is not fed back (scenes 13, 20)."""

    kinds: ClassVar[tuple[str, ...]] = ("ODE45",)
    unseen: ClassVar[tuple[str, ...]] = ("rate",)

    def right(self) -> PrescribedTwist:
        return PrescribedTwist(self.body, self.motion, [int(r) for r in self.rows], self.frame)
