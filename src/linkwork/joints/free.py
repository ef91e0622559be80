"""Free: six degrees of freedom, position and unit quaternion."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..spatial import quaternion, so3
from ..spatial.gate import unit_problem
from ..spatial.jet import Jet
from ..spatial.scalar import Vector, cross, stack, zeros
from ..spatial.se3 import SE3, Tangent, bracket
from ..spatial.stage import skew
from .base import Joint
from .spherical import quaternion_jets


class Free(Joint):
    """q = (position, quat_wxyz), v = twist (angular, linear) in child axes; S = 1 and S_dot = 0.

    Steps keep A v = (w, R (v + w x c)): the angular velocity in child axes, and the velocity of the centre of mass c in axes of
    the parent. What no force acts on flies straight, however fast it spins. Stepped in v, which turns by h w, it would stray by
    as much, and from h w = 2 on without bound; with the origin in place of c the energy of what turns about c would swing by h w.

    >>> lw.Free().nq, lw.Free().nv
    (7, 6)
    """

    nq, nv = 7, 6
    is_group = True
    quaternions = (3,)
    centre = zeros(3)

    def transform(self, q: Vector) -> SE3:
        return SE3(p=q[:3]) @ SE3.rot_quat(q[3:])

    def jets(self, q: Vector, v: Vector) -> Vector:
        R = quaternion.to_rotation(q[3:])
        p_dot = R @ v[3:]
        R_dot = R @ skew(v[:3])
        p_ddot = R_dot @ v[3:]
        o = (0.0, 0.0, 0.0)
        position = [Jet(q[k], (*o, *R[k]), p_dot[k], p_ddot[k], (*o, *R_dot[k])) for k in range(3)]
        return stack(*position, *quaternion_jets(q[3:], v[:3], (0, 1, 2), 6))

    def motion(self, q: Vector, v: Vector) -> SE3:
        # By hand, as for Spherical: the derived S equals 1 only for unit quaternions.
        return self.transform(q).with_tangent(Tangent.constant(np.eye(6), v))

    @property
    def keeps_velocities(self) -> bool:
        return False

    def about(self, centre: Vector) -> Free:
        return self.with_parts(centre=centre)

    def of_centre(self, v: Vector) -> Vector:
        """The linear velocity of the centre, in child axes."""
        return v[3:] + cross(v[:3], self.centre)

    def bend(self, q: Vector, v: Vector) -> Vector:
        return np.concatenate([zeros(3), cross(v[:3], self.of_centre(v))])

    def steady_motion(self, q: Vector, v: Vector) -> SE3:
        E = self.motion(q, v)
        return E.with_tangent(replace(E.tangent, bias=-self.bend(q, v)))

    def advance(self, q: Vector, way: Vector, *velocities: Vector) -> tuple[Vector, ...]:
        turn = quaternion.exp(way[:3])
        quat, back = quaternion.normalize(quaternion.multiply(q[3:], turn)), quaternion.to_rotation(turn).T
        centre = q[:3] + quaternion.to_rotation(q[3:]) @ (self.centre + self.of_centre(way))
        p = centre - quaternion.to_rotation(quat) @ self.centre
        return stack(*p, *quat), *(self._seen_by(back, v) for v in velocities)

    def seen_from(self, q: Vector, q_new: Vector, v: Vector) -> Vector:
        turn = quaternion.multiply(quaternion.conjugate(q[3:]), q_new[3:])
        return self._seen_by(quaternion.to_rotation(turn), v)

    def _seen_by(self, R: np.ndarray, v: Vector) -> Vector:
        """Velocities in axes that have turned about v[:3]: that of the centre is turned, to R times what it was."""
        return np.concatenate([v[:3], R @ self.of_centre(v) - cross(v[:3], self.centre)])

    def integrate(self, q: Vector, dv: Vector) -> Vector:
        p = q[:3] + quaternion.to_rotation(q[3:]) @ (so3.left_jacobian(dv[:3]) @ dv[3:])
        return stack(*p, *quaternion.normalize(quaternion.multiply(q[3:], quaternion.exp(dv[:3]))))

    def difference(self, q0: Vector, q1: Vector) -> Vector:
        w = quaternion.log(quaternion.multiply(quaternion.conjugate(q0[3:]), q1[3:]))
        p = quaternion.to_rotation(q0[3:]).T @ (q1[:3] - q0[:3])
        return np.concatenate([w, so3.left_jacobian_inverse(w) @ p])

    def bracket(self, a: Vector, b: Vector) -> Vector:
        return bracket(a, b)

    def neutral(self) -> np.ndarray:
        return np.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0])

    def random(self, rng: np.random.Generator) -> np.ndarray:
        q = rng.normal(size=4)
        return np.concatenate([rng.uniform(-1, 1, 3), q / np.linalg.norm(q)])

    def checked(self, q: np.ndarray) -> str | None:
        return unit_problem(q[..., 3:])
