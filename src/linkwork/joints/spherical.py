"""Spherical: any rotation, by a unit quaternion."""

from __future__ import annotations

import numpy as np

from ..spatial import quaternion
from ..spatial.gate import unit_problem
from ..spatial.jet import Jet
from ..spatial.scalar import Vector, cross, stack
from ..spatial.se3 import SE3, Tangent
from .base import Joint


class Spherical(Joint):
    """q = quat_wxyz, v = angular velocity in child axes; S = (1, 0) and S_dot = 0.

    >>> lw.Spherical().nq, lw.Spherical().nv
    (4, 3)
    """

    nq, nv = 4, 3
    is_group = True
    quaternions = (0,)

    def transform(self, q: Vector) -> SE3:
        return SE3.rot_quat(q)

    def jets(self, q: Vector, v: Vector) -> Vector:
        return quaternion_jets(q, v, tuple(range(3)), 3)

    def motion(self, q: Vector, v: Vector) -> SE3:
        # By hand: the derived S is |q|^2 (1, 0), which only we know to be constant.
        S = np.eye(6)[:, :3]
        return self.transform(q).with_tangent(Tangent.constant(S, stack(*v, 0.0, 0.0, 0.0)))

    def integrate(self, q: Vector, dv: Vector) -> Vector:
        return quaternion.normalize(quaternion.multiply(q, quaternion.exp(dv)))

    def difference(self, q0: Vector, q1: Vector) -> Vector:
        return quaternion.log(quaternion.multiply(quaternion.conjugate(q0), q1))

    def bracket(self, a: Vector, b: Vector) -> Vector:
        return cross(a, b)

    def neutral(self) -> np.ndarray:
        return np.array([1.0, 0.0, 0.0, 0.0])

    def random(self, rng: np.random.Generator) -> np.ndarray:
        q = rng.normal(size=4)
        return q / np.linalg.norm(q)

    def checked(self, q: np.ndarray) -> str | None:
        return unit_problem(q)


def quaternion_jets(q: Vector, w: Vector, columns: tuple[int, ...], nv: int) -> Vector:
    """The jets of a quaternion with q_dot = q (0, w) / 2, where w are the velocities `columns` of nv."""
    units = np.eye(4)[1:]
    q_dot = 0.5 * quaternion.multiply(q, stack(0.0, *w))
    q_ddot = 0.5 * quaternion.multiply(q_dot, stack(0.0, *w))
    slopes = [0.5 * quaternion.multiply(q, e) for e in units]
    slope_rates = [0.5 * quaternion.multiply(q_dot, e) for e in units]
    jets = []
    for k in range(4):
        grad, grad_rate = [0.0] * nv, [0.0] * nv
        for j, column in enumerate(columns):
            grad[column], grad_rate[column] = slopes[j][k], slope_rates[j][k]
        jets.append(Jet(q[k], tuple(grad), q_dot[k], q_ddot[k], tuple(grad_rate)))
    return stack(*jets)
