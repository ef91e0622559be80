"""Forces as the published scenes have them, where their numbers rest on a slip or an approximation of the original.

`held` says an approximation: what is held is a constant to whatever differentiates it. The library has the same forces without
these peculiarities: `PointForce`, `SpringDamper`, `JointSpring`, `LimitSpring`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from ...forces import Force, JointForce, PointForce, SpringDamper
from ...forces.force import push_at
from ...joints import Joint
from ...spatial.scalar import Scalar, Vector, cross, dot, stack, where
from ...spatial.se3 import SE3
from ...spatial.smooth import Smooth


def held(x: Any) -> Any:
    """The value of a scalar (or of every entry of an array) without its derivatives."""
    if isinstance(x, np.ndarray):
        return stack(*(held(e) for e in x.flat)).reshape(x.shape)
    while isinstance(x, Smooth):
        x = x.x
    return x


def pull(E: SE3, point: Vector, f: Vector) -> Vector:
    """The wrench of a world force f at a point of a body."""
    return push_at(point, E.unrotate(f))


class UncountedPointForce(PointForce):
    """A constant world force at a point of a body, whose energy is not counted (scene 10)."""

    def energy(self, poses: Sequence[SE3]) -> Scalar:
        return 0.0


class ExplicitPointForce(UncountedPointForce):
    """Its stiffness matrix is taken as zero (scene 10)."""

    def wrenches(self, poses: Sequence[SE3], twists: Sequence[Vector], t: Scalar, u: Vector) -> Sequence[Vector]:
        return [held(w) for w in super().wrenches(poses, twists, t, u)]


class StrainSpring(SpringDamper):
    """Energy k e^2 / 2 of the strain e = (l - L) / L, without the factor L that `SpringDamper` has (scenes 12, 24)."""

    def stored(self, length: Scalar) -> Scalar:
        return super().stored(length) / self.rest_length


class ExplicitStrainSpring(StrainSpring):
    """A segment of a deformable: force k e / L, taken explicitly by a method that is implicit otherwise (scene 12)."""

    def tension(self, length: Scalar, rate: Scalar, t: Scalar, u: Vector) -> Scalar:
        return super().tension(length, rate, t, u) / self.rest_length

    def wrenches(self, poses: Sequence[SE3], twists: Sequence[Vector], t: Scalar, u: Vector) -> Sequence[Vector]:
        return [held(w) for w in super().wrenches(poses, twists, t, u)]


class ReversedDamper(StrainSpring):
    """A spring and damper whose explicit damping has the wrong sign, for methods that take all of it explicitly (scene 24)."""

    def tension(self, length: Scalar, rate: Scalar, t: Scalar, u: Vector) -> Scalar:
        return super().tension(length, -rate, t, u)


class AddedMassDamper(StrainSpring):
    """The same force in a linearly implicit step, where the slip makes the damper resist acceleration instead of motion.

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


class GroundCuboid(Force):
    """The eight corners of a cuboid on a plane, by penalty; sliding friction points along the velocity (bdf scene 11).

    Where a corner is d <= 0 below the plane: -kn d n - kd (n n^T) v; with the tangential velocity a, friction -kt a while that is
    below mu kn |d|, and -mu kn d a / |a| beyond, which pushes on as d is negative. Energy kn d^2 / 2 per corner.
    """

    parameter_names: ClassVar[tuple[str, ...]] = ("corners", "origin", "normal", "kn", "kt", "kd", "mu")

    def __init__(self, body: str, corners: np.ndarray, ground: SE3, *, kn: float, kt: float, kd: float, mu: float) -> None:
        self.bodies, self.corners = (body,), corners
        self.origin, self.normal = np.asarray(ground.p, float), np.asarray(ground.R, float)[:, 2]
        self.kn, self.kt, self.kd, self.mu = kn, kt, kd, mu

    def _depth(self, E: SE3, corner: Vector) -> Scalar:
        return dot(self.normal, E @ corner - self.origin)

    def energy(self, poses: Sequence[SE3]) -> Scalar:
        depths = [self._depth(poses[0], c) for c in self.corners]
        return sum(where(d <= 0.0, 0.5 * self.kn * d * d, 0.0 * d) for d in depths)

    def wrenches(self, poses: Sequence[SE3], twists: Sequence[Vector], t: Scalar, u: Vector) -> Sequence[Vector]:
        E, w, v = poses[0], twists[0][:3], twists[0][3:]
        total: Any = np.zeros(6)
        for corner in self.corners:
            d = self._depth(E, corner)
            f = self._force(d, E.rotate(v + cross(w, corner)))
            touching = stack(*(where(d <= 0.0, x, 0.0 * x) for x in f))
            total = total + pull(E, corner, touching)
        return [total]

    def _force(self, d: Scalar, v: Vector) -> Vector:
        n, vn = self.normal, dot(self.normal, v)
        a = v - n * vn
        a2 = dot(a, a)
        speed = np.sqrt(where(a2 > 0.0, a2, 1.0 + 0.0 * a2))
        sticks = self.mu * np.abs(self.kn * d) > self.kt * where(a2 > 0.0, speed, 0.0 * speed)
        factor = where(sticks, -self.kt + 0.0 * speed, -self.mu * self.kn * d / speed)
        return n * (-self.kn * d - self.kd * vn) + a * factor


class CoordinateSpring(JointForce):
    """tau = -k (q - rest), coordinate by coordinate, also where these are rotation vectors."""

    parameter_names: ClassVar[tuple[str, ...]] = ("stiffness", "rest")

    def __init__(self, joint: str, stiffness: float, rest: np.ndarray) -> None:
        self.on(joint)
        self.stiffness, self.rest = stiffness, rest

    def energy(self, joint: Joint, q: Vector) -> Scalar:
        d = q - self.rest
        return 0.5 * self.stiffness * dot(d, d)

    def force(self, joint: Joint, q: Vector, v: Vector, t: Scalar, u: Vector) -> Vector:
        return -(self.stiffness * (q - self.rest))


class SoftStop(JointForce):
    """Beyond a bound, k (bound - q) - d v on every coordinate; unlike `LimitSpring` it may pull outward (bdf scene 14)."""

    parameter_names: ClassVar[tuple[str, ...]] = ("lower", "upper", "stiffness", "damping")

    def __init__(self, joint: str, lower: float, upper: float, stiffness: float, damping: float) -> None:
        self.on(joint)
        self.lower, self.upper, self.stiffness, self.damping = lower, upper, stiffness, damping

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
