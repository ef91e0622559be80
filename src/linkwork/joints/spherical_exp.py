"""SphericalExp: any rotation, by exponential coordinates that are changed before they become singular."""

from __future__ import annotations

import numpy as np

from ..errors import ModelError
from ..spatial import quaternion, so3
from ..spatial.scalar import Scalar, Vector, dot, where
from ..spatial.se3 import SE3
from .axis import number
from .base import Joint, Pair
from .spherical_euler import picked
from .steady_turns import turning_steadily


class SphericalExp(Joint):
    """Q(q) = exp([q]), v = q_dot [Sueda, 2.4.8; errata 004-24].

    The coordinates are singular at |q| = 2 pi. Beyond `radius` (pi < radius < 2 pi) they are replaced by the same rotation the
    other way round, q (1 - 2 pi / |q|), with v changed so that the angular velocity stays.

    >>> lw.SphericalExp().nq
    3
    """

    nq = nv = 3
    is_group = True
    charted = True

    def __init__(self, radius: float = 1.5 * np.pi) -> None:
        self.radius = number(radius, "SphericalExp", "radius")
        if not np.pi < self.radius < 2 * np.pi:
            raise ModelError(f"SphericalExp: the radius {radius!r} must lie between pi and 2 pi")

    @property
    def signature(self) -> tuple[object, ...]:
        return (type(self).__name__, self.radius)

    def transform(self, q: Vector) -> SE3:
        return SE3.rot_exp(q)

    def bend(self, q: Vector, v: Vector) -> Vector:
        return so3.right_jacobian_inverse(q) @ self.motion(q, v).tangent.bias[:3]

    def steady_motion(self, q: Vector, v: Vector) -> SE3:
        return turning_steadily(self.motion(q, v))

    def advance(self, q: Vector, way: Vector, *velocities: Vector) -> tuple[Vector, ...]:
        """A v is the angular velocity: the rotation goes along it, by quaternions, whose sign tells the way round."""
        A = so3.right_jacobian(q)
        turned = quaternion.multiply(quaternion.exp(q), quaternion.exp(A @ way))
        short = quaternion.log(turned)
        length2 = dot(short, short)
        far = (turned[0] < 0.0) & (length2 > (2.0 * np.pi - self.radius) ** 2)
        q_new = picked(far, short * (1.0 - 2.0 * np.pi / np.sqrt(where(far, length2, 1.0))), short)
        back = so3.right_jacobian_inverse(q_new)
        return q_new, *(back @ (A @ v) for v in velocities)

    def rechart(self, q: Vector, v: Vector) -> tuple[Vector, Vector]:
        return self.rechart_together((q, v), (q, v))[0]

    def rechart_together(self, now: Pair, before: Pair) -> tuple[Pair, Pair]:
        far = dot(now[0], now[0]) > self.radius**2

        def turned(q: Vector, v: Vector) -> Pair:
            q_new, v_new = _other_way(q, v, np.sqrt(where(far, dot(q, q), self.radius**2)))
            return picked(far, q_new, q), picked(far, v_new, v)

        return turned(*now), turned(*before)

    def random(self, rng: np.random.Generator) -> np.ndarray:
        w = rng.normal(size=3)
        return w * (rng.uniform(0, np.pi) / np.linalg.norm(w))


def _other_way(q: Vector, v: Vector, length: Scalar) -> tuple[Vector, Vector]:
    """The same rotation and angular velocity by the turn the other way round, given |q|."""
    q_new = q * (1.0 - 2.0 * np.pi / length)
    return q_new, so3.right_jacobian_inverse(q_new) @ (so3.right_jacobian(q) @ v)
