"""Forces as the published scenes have them, where their numbers rest on a slip or an approximation of the original.

`held` says an approximation: what is held is a constant to whatever differentiates it. Each force knows what is right:
`PointForce`, `SpringDamper` and `LimitSpring` of the library, or `CornersOnGround`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from ...forces import JointForce, LimitSpring, PointForce, SpringDamper
from ...joints import Joint
from ...spatial.dual import held
from ...spatial.gate import number
from ...spatial.scalar import Scalar, Vector, dot, stack, where
from ...spatial.se3 import SE3
from .elements import CornersOnGround, pull
from .slips import Slip


class UncountedPointForce(Slip, PointForce):
    """The energy of a constant force at a point of a body is not counted (scene 10)."""

    def energy(self, poses: Sequence[SE3]) -> Scalar:
        return 0.0

    def right(self) -> PointForce:
        return PointForce(self.bodies[0], self.point, self.constant)


class ExplicitPointForce(UncountedPointForce):
    """The energy of a constant force at a point of a body is not counted, its stiffness matrix taken as zero (scene 10)."""

    def wrenches(self, poses: Sequence[SE3], twists: Sequence[Vector], t: Scalar, u: Vector) -> Sequence[Vector]:
        return [held(w) for w in super().wrenches(poses, twists, t, u)]


class StrainSpring(Slip, SpringDamper):
    """Energy k e^2 / 2 of the strain e = (l - L) / L, without the factor L that belongs to the force k e (scene 24)."""

    def stored(self, length: Scalar) -> Scalar:
        return super().stored(length) / self.rest_length

    def right(self) -> SpringDamper:
        return self._right(self.stiffness)

    def _right(self, stiffness: float) -> SpringDamper:
        a, b = self.bodies
        given: dict[str, Any] = {"stiffness": stiffness, "damping": self.damping, "rest_length": self.rest_length}
        return SpringDamper(a, b, self.point_a, self.point_b, **given)


class ExplicitStrainSpring(StrainSpring):
    """A segment of a deformable, force k e / L, is taken explicitly by a method that is implicit otherwise (scene 12)."""

    kinds: ClassVar[tuple[str, ...]] = ("EULER",)

    def tension(self, length: Scalar, rate: Scalar, t: Scalar, u: Vector) -> Scalar:
        return super().tension(length, rate, t, u) / self.rest_length

    def wrenches(self, poses: Sequence[SE3], twists: Sequence[Vector], t: Scalar, u: Vector) -> Sequence[Vector]:
        return [held(w) for w in super().wrenches(poses, twists, t, u)]

    def right(self) -> SpringDamper:
        """Force and energy are those of a stiffness k / L."""
        return self._right(self.stiffness / self.rest_length)


class ReversedDamper(StrainSpring):
    """The damping of a spring and damper drives instead of braking; its energy lacks the factor L (scene 24, ode45)."""

    def tension(self, length: Scalar, rate: Scalar, t: Scalar, u: Vector) -> Scalar:
        return super().tension(length, -rate, t, u)


class AddedMassDamper(StrainSpring):
    """The damper of a spring and damper resists acceleration instead of motion; its energy lacks the factor L (scene 24).

    With D = (d/L) N N^T on the left and +D v in the explicit force, what is left of the damping is -D (v' - v): its value is zero
    and its derivative -D. The stiffness is k/L N N^T; how the direction N of the spring turns is left out.
    """

    def wrenches(self, poses: Sequence[SE3], twists: Sequence[Vector], t: Scalar, u: Vector) -> Sequence[Vector]:
        ends = poses[0] @ self.point_a, poses[1] @ self.point_b
        d = ends[1] - ends[0]
        length = np.sqrt(dot(d, d))
        n = held(d / length)
        still = [SE3(R=held(E.R), p=held(E.p)) for E in poses]
        N = [pull(still[0], self.point_a, -n), pull(still[1], self.point_b, n)]
        rate = dot(N[0], twists[0]) + dot(N[1], twists[1])
        tension = (self.stiffness * (length - self.rest_length) + self.damping * (rate - held(rate))) / self.rest_length
        return [-tension * x for x in N]


class GroundCuboid(Slip, CornersOnGround):
    """Friction of a corner that slides on the ground pushes along its velocity (bdf scene 11).

    Only this sign is the slip: friction of corners that stick brakes them, and the two meet with opposite signs at mu kn |d|.
    """

    def sliding(self, d: Scalar) -> Scalar:
        return -self.mu * self.kn * d

    def right(self) -> CornersOnGround:
        law = {"kn": self.kn, "kt": self.kt, "kd": self.kd, "mu": self.mu}
        return CornersOnGround(self.bodies[0], self.corners, self.ground, **law)


class SoftStop(Slip, JointForce):
    """Beyond a bound k (bound - q) - d v: it pulls outward what comes back fast, unlike `LimitSpring` (bdf scene 14)."""

    parameter_names: ClassVar[tuple[str, ...]] = ("lower", "upper", "stiffness", "damping")

    def __init__(self, joint: str, lower: float, upper: float, stiffness: float, damping: float) -> None:
        owner = self.on(joint)
        self.lower, self.upper = number(owner, "lower", lower), number(owner, "upper", upper)
        self.stiffness, self.damping = number(owner, "stiffness", stiffness), number(owner, "damping", damping)

    def _beyond(self, q: Scalar) -> Scalar:
        """bound - q beyond a bound, else 0."""
        return where(q < self.lower, self.lower - q, where(q > self.upper, self.upper - q, 0.0 * q))

    def energy(self, joint: Joint, q: Vector) -> Scalar:
        d = stack(*(self._beyond(x) for x in q))
        return 0.5 * self.stiffness * dot(d, d)

    def force(self, joint: Joint, q: Vector, v: Vector, t: Scalar, u: Vector) -> Vector:
        def one(x: Scalar, rate: Scalar) -> Scalar:
            push = self.stiffness * self._beyond(x) - self.damping * rate
            return where((x < self.lower) | (x > self.upper), push, 0.0 * push)

        return stack(*(one(x, rate) for x, rate in zip(q, v, strict=True)))

    def right(self) -> LimitSpring:
        """Its bounds are those that the body declares."""
        return LimitSpring(self.joint, self.stiffness, self.damping)
