"""Constraints as the published scenes have them, where their numbers rest on a slip or an approximation of the original.

The library has the same without these peculiarities: `Loop`, `Contact`, `Limit`, `PrescribedJoint`, `PrescribedTwist`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from ...constraints.constraint import Constraint
from ...constraints.direct import Direct, DirectConstraint, Situation, joint_rows
from ...constraints.limits import Limit
from ...constraints.prescribed import PrescribedJoint, PrescribedTwist
from ...contact import Contact
from ...model.model import Model
from ...model.state import Rows
from ...spatial.scalar import Vector, cross, dot, stack, where
from ...spatial.se3 import SE3
from .published_forces import held


class HingeLoop(Constraint):
    """Two points meet, in two directions normal to an axis of the first body; these are held while they are differentiated.

    The directions are [Sueda, Eq. 2.94]: with e the axis of the world that has the smallest part along the hinge's,
    v2 = (hinge x e) / |...| and v1 = (v2 x hinge) / |...|.
    """

    size = 2
    parameter_names: ClassVar[tuple[str, ...]] = ("point_a", "point_b", "axis")

    def __init__(self, body_a: str, body_b: str, point_a: np.ndarray, point_b: np.ndarray, axis: np.ndarray) -> None:
        self.bodies, self.point_a, self.point_b, self.axis = (body_a, body_b), point_a, point_b, axis

    def residual(self, E_a: SE3, E_b: SE3) -> Vector:
        gap = E_a @ self.point_a - E_b @ self.point_b
        hinge = held(E_a.R) @ self.axis
        x, y, z = np.abs(hinge)
        first, second = (x <= y) & (x <= z), y <= z
        e = stack(where(first, 1.0, 0.0), where(first, 0.0, where(second, 1.0, 0.0)), where(first, 0.0, where(second, 0.0, 1.0)))
        v2 = _unit(cross(hinge, e))
        v1 = _unit(cross(v2, hinge))
        return stack(dot(v1, gap), dot(v2, gap))


def _unit(x: Vector) -> Vector:
    return x / np.sqrt(dot(x, x))


class StrictFloor(Contact):
    """A sphere that rests on the plane at a distance of exactly zero does not touch it."""

    def residual(self, E_a: SE3, E_b: SE3) -> Vector:
        return super().residual(E_a, E_b) + np.finfo(float).tiny


class OneWayLimit(Limit):
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


class Multiple(DirectConstraint):
    """factor q_A = q_B for joints with the same number of coordinates."""

    def __init__(self, leader: str, follower: str, factor: float) -> None:
        self.leader, self.follower, self.factor = leader, follower, factor

    def count(self, model: Model) -> int:
        return self._indices(model)[0].size

    def _indices(self, model: Model) -> tuple[np.ndarray, np.ndarray]:
        spans = [model.v_index(name) for name in (self.leader, self.follower)]
        a, b = (np.arange(s.start, s.stop) for s in spans)
        return a, b

    def at(self, model: Model, now: Situation) -> Direct:
        a, b = self._indices(model)
        both = Rows.stacked([joint_rows(a, self.factor), joint_rows(b, -1.0)])
        rows = Rows(len(a), joint_row=np.tile(np.arange(len(a)), 2), joint_index=both.joint_index, joint_value=both.joint_value)
        q, v = (
            self.factor * x[i(self.leader)] - x[i(self.follower)] for x, i in ((now.q, model.q_index), (now.v, model.v_index))
        )
        none = np.zeros(len(a))
        return Direct(rows, q, v, none, none)


def without(d: Direct, *errors: str) -> Direct:
    """The same rows with some of their errors (residual, rate) not looked at."""
    return replace(d, **{name: np.zeros_like(getattr(d, name)) for name in errors})


class NoVelocityFeedback(PrescribedJoint):
    """A prescribed joint whose velocity error is not fed back (scene 9)."""

    def at(self, model: Model, now: Situation) -> Direct:
        return without(super().at(model, now), "rate")


class NoFeedback(PrescribedJoint):
    """A prescribed joint whose errors are not fed back at all: what hybrid dynamics by recursion does (scene 9)."""

    def at(self, model: Model, now: Situation) -> Direct:
        return without(super().at(model, now), "residual", "rate")


class NoTwistFeedback(PrescribedTwist):
    """A prescribed twist whose error is not fed back (scenes 13, 20)."""

    def at(self, model: Model, now: Situation) -> Direct:
        return without(super().at(model, now), "rate")


class ReversedRate(PrescribedJoint):
    """A joint that turns against its prescribed rate, and whose position is not looked at (scenes 32, 33)."""

    def at(self, model: Model, now: Situation) -> Direct:
        d = without(super().at(model, now), "residual")
        return replace(d, rate=now.v[model.v_index(self.joint)] + d.given, bias=-d.bias, given=-d.given)
