"""Elements of scene files that the library does not have by itself; nothing in them is a slip."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from ...constraints.constraint import Constraint
from ...constraints.on_joints import JointConstraint, plain_joint
from ...errors import ModelError
from ...forces import Cable, Force, JointForce
from ...forces.force import push_at
from ...joints import Joint
from ...spatial.gate import number, point, reals
from ...spatial.scalar import Scalar, Vector, cross, dot, stack, where
from ...spatial.se3 import SE3


def pull(E: SE3, point: Vector, f: Vector) -> Vector:
    """The wrench of a world force f at a point of a body."""
    return push_at(point, E.unrotate(f))


class PointOnHinge(Constraint):
    """Two points meet, in two directions normal to an axis of the first body.

    The directions are [Sueda, Eq. 2.94]: with e the axis of the world that has the smallest part along the hinge's,
    v2 = (hinge x e) / |...| and v1 = (v2 x hinge) / |...|.
    """

    size = 2
    parameter_names: ClassVar[tuple[str, ...]] = ("point_a", "point_b", "axis")

    def __init__(self, body_a: str, body_b: str, point_a: np.ndarray, point_b: np.ndarray, axis: np.ndarray) -> None:
        owner = f"PointOnHinge({body_a!r}, {body_b!r})"
        self.bodies, self.axis = (body_a, body_b), point(owner, "axis", axis)
        self.point_a, self.point_b = point(owner, "point_a", point_a), point(owner, "point_b", point_b)

    def hinge(self, E_a: SE3) -> Vector:
        """The axis in the world."""
        return E_a.rotate(self.axis)

    def residual(self, E_a: SE3, E_b: SE3) -> Vector:
        gap = E_a @ self.point_a - E_b @ self.point_b
        hinge = self.hinge(E_a)
        x, y, z = np.abs(hinge)
        first, second = (x <= y) & (x <= z), y <= z
        e = stack(where(first, 1.0, 0.0), where(first, 0.0, where(second, 1.0, 0.0)), where(first, 0.0, where(second, 0.0, 1.0)))
        v2 = _unit(cross(hinge, e))
        v1 = _unit(cross(v2, hinge))
        return stack(dot(v1, gap), dot(v2, gap))


def _unit(x: Vector) -> Vector:
    return x / np.sqrt(dot(x, x))


class Multiple(JointConstraint):
    """factor q_A = q_B for joints with the same number of coordinates."""

    parameter_names: ClassVar[tuple[str, ...]] = ("factor",)

    def __init__(self, leader: str, follower: str, factor: float, size: int) -> None:
        owner = f"Multiple({leader!r}, {follower!r})"
        if isinstance(size, bool) or not isinstance(size, int) or not 1 <= size <= 6:
            raise ModelError(f"{owner}: size must be a whole number from 1 to 6, not {size!r}")
        self.joints, self.factor, self.size = (leader, follower), number(owner, "factor", factor), size

    def residual(self, q: Vector) -> Vector:
        return self.factor * q[: self.size] - q[self.size :]

    def check(self, model: Any) -> None:
        for name in self.joints:
            plain_joint(model, self, name)
            found = model.bodies[model.body_index(name)].joint.nq
            if found != self.size:
                raise ModelError(f"{self!r}: joint {name!r} has {found} coordinates, not {self.size}")


class CornersOnGround(Force):
    """The eight corners of a cuboid on a plane, by penalty, with friction.

    Where a corner is d <= 0 below the plane: -kn d n - kd (n n^T) v; with the tangential velocity a, friction -kt a while that is
    below mu kn |d|, and -mu kn |d| a / |a| beyond. Energy kn d^2 / 2 per corner.
    """

    parameter_names: ClassVar[tuple[str, ...]] = ("corners", "origin", "normal", "kn", "kt", "kd", "mu")

    def __init__(self, body: str, corners: np.ndarray, ground: SE3, *, kn: float, kt: float, kd: float, mu: float) -> None:
        owner = f"{type(self).__name__}({body!r})"
        self.bodies, self.corners, self.ground = (body,), reals(corners), ground
        if self.corners.ndim != 2 or self.corners.shape[1] != 3 or not np.isfinite(self.corners).all():
            raise ModelError(f"{owner}: corners must be finite numbers of shape (n, 3), not of shape {self.corners.shape}")
        self.origin, self.normal = np.asarray(ground.p, float), np.asarray(ground.R, float)[:, 2]
        self.kn, self.kt = number(owner, "kn", kn), number(owner, "kt", kt)
        self.kd, self.mu = number(owner, "kd", kd), number(owner, "mu", mu)

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
        factor = where(sticks, -self.kt + 0.0 * speed, self.sliding(d) / speed)
        return n * (-self.kn * d - self.kd * vn) + a * factor

    def sliding(self, d: Scalar) -> Scalar:
        """Friction along the velocity of a corner that slides at a depth d <= 0: against it."""
        return self.mu * self.kn * d


class StretchedCable(Cable):
    """A cable whose tension k e + c l_dot / L is not cut at zero while it is stretched."""

    def tension(self, length: Scalar, rate: Scalar, t: Scalar, u: Vector) -> Scalar:
        return where(length > self.rest_length, self.pull(length, rate), 0.0)


class CoordinateSpring(JointForce):
    """tau = -k (q - rest), coordinate by coordinate, also where these are rotation vectors."""

    parameter_names: ClassVar[tuple[str, ...]] = ("stiffness", "rest")

    def __init__(self, joint: str, stiffness: float, rest: np.ndarray) -> None:
        owner = self.on(joint)
        self.stiffness, self.rest = number(owner, "stiffness", stiffness), reals(rest)

    def fitted(self, body: Any) -> Any:
        if self.rest.shape != (body.joint.nq,) or not np.isfinite(self.rest).all():
            raise ModelError(f"{self!r}: rest must be {body.joint.nq} finite numbers, not {self.rest.tolist()}")
        return self

    def energy(self, joint: Joint, q: Vector) -> Scalar:
        d = q - self.rest
        return 0.5 * self.stiffness * dot(d, d)

    def force(self, joint: Joint, q: Vector, v: Vector, t: Scalar, u: Vector) -> Vector:
        return -(self.stiffness * (q - self.rest))
