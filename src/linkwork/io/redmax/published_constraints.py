"""Constraints as the published scenes have them, where their numbers rest on a slip or an approximation of the original.

Each knows what is right: `Contact`, `Limit`, `PrescribedJoint` and `PrescribedTwist` of the library, or `PointOnHinge`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from ...constraints.direct import Direct, Situation
from ...constraints.limits import Limit
from ...constraints.prescribed import PrescribedJoint, PrescribedTwist
from ...contact import Contact
from ...geometry import Plane, Sphere
from ...model.model import Model
from ...spatial.scalar import Vector
from ...spatial.se3 import SE3
from .elements import PointOnHinge
from .published_forces import held
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
        ball, plane = Sphere(radius=self.radius, center=self.center), Plane(normal=self.normal, point=self.point)
        a, b = self.bodies
        return Contact(a, ball, b, plane)


class OneWayLimit(Slip, Limit):
    """The correction of the upper stop has the wrong sign: what lies beyond it is let farther out (scene 6).

    baumgarte   the rate of correction of the method that steps it, which this undoes twice
    """

    def __init__(self, joint: str, lower: Any, upper: Any, baumgarte: float) -> None:
        super().__init__(joint, lower, upper)
        self.baumgarte = baumgarte

    def at(self, model: Model, now: Situation) -> Direct:
        d = super().at(model, now)
        slip = (d.rows.joint_value < 0) & (d.residual <= 0.0)
        return replace(d, given=np.where(slip, 2.0 * self.baumgarte * d.residual, d.given))

    def right(self) -> Limit:
        return Limit(self.joint, self.lower, self.upper)


def without(d: Direct, *errors: str) -> Direct:
    """The same rows with some of their errors (residual, rate) not looked at."""
    return replace(d, **{name: np.zeros_like(getattr(d, name)) for name in errors})


class Unfed(Slip, PrescribedJoint):
    """A prescribed joint that does not find back to its motion as it should."""

    def right(self) -> PrescribedJoint:
        return PrescribedJoint(self.joint, self.motion)


class NoVelocityFeedback(Unfed):
    """A prescribed joint whose velocity error is not fed back (scene 9)."""

    kinds: ClassVar[tuple[str, ...]] = ("ODE45",)

    def at(self, model: Model, now: Situation) -> Direct:
        return without(super().at(model, now), "rate")


class NoFeedback(Unfed):
    """A prescribed joint whose errors are not fed back at all: what hybrid dynamics by recursion does (scene 9)."""

    def at(self, model: Model, now: Situation) -> Direct:
        return without(super().at(model, now), "residual", "rate")


class ReversedRate(Unfed):
    """A joint that turns against its prescribed rate, and whose position is not looked at (scenes 32, 33)."""

    def at(self, model: Model, now: Situation) -> Direct:
        d = without(super().at(model, now), "residual")
        return replace(d, rate=now.v[model.v_index(self.joint)] + d.given, bias=-d.bias, given=-d.given)


class NoTwistFeedback(Slip, PrescribedTwist):
    """A prescribed twist whose error is not fed back (scenes 13, 20)."""

    kinds: ClassVar[tuple[str, ...]] = ("ODE45",)

    def at(self, model: Model, now: Situation) -> Direct:
        return without(super().at(model, now), "rate")

    def right(self) -> PrescribedTwist:
        return PrescribedTwist(self.body, self.motion, [int(r) for r in self.rows], self.frame)
