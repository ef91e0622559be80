"""A spring and damper in all six directions between frames of two bodies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from ..model.model import WORLD
from ..spatial import so3
from ..spatial.gate import semidefinite
from ..spatial.scalar import Scalar, Vector, dot
from ..spatial.se3 import SE3, rigid_parts
from .force import Force


class Bushing(Force):
    """Energy xi^T K xi / 2 of the pose E_ab of frame b in frame a; wrench -D phi_ab against its twist.

    xi = (log R, p): the rotation vector of E_ab and its position in the axes of frame a. The twist phi_ab of b relative to a, and
    the wrench of the damper, are those of frame b, about its origin in its axes. The rotation vector is the shortest,
    |log R| <= pi: half a turn away from rest the moment changes its sign, and derivatives are those of the side on which it is.

    body_a, body_b       names of the bodies; either may be "world"
    frame_a, frame_b     poses of the frames in their bodies
    stiffness, damping   K and D: a number, six (angular, linear) or a symmetric 6x6 matrix without negative eigenvalues

    >>> soft = model.add(lw.Bushing("lower", "world", stiffness=[5, 5, 5, 100, 100, 100], damping=0.1))
    """

    pairs = True
    parameter_names: ClassVar[tuple[str, ...]] = ("R_a", "p_a", "R_b", "p_b", "K", "D")

    def __init__(
        self,
        body_a: str,
        body_b: str = WORLD,
        frame_a: SE3 | None = None,
        frame_b: SE3 | None = None,
        *,
        stiffness: Any,
        damping: Any = 0.0,
        name: str = "",
    ) -> None:
        owner = self.between(body_a, body_b, name=name)
        (self.R_a, self.p_a), (self.R_b, self.p_b) = (
            rigid_parts(owner, "frame_a", frame_a),
            rigid_parts(owner, "frame_b", frame_b),
        )
        self.K, self.D = semidefinite(owner, "stiffness", stiffness), semidefinite(owner, "damping", damping)

    def _frames(self) -> tuple[SE3, SE3]:
        return SE3(R=self.R_a, p=self.p_a), SE3(R=self.R_b, p=self.p_b)

    def energy(self, poses: Sequence[SE3]) -> Scalar:
        A, B = self._frames()
        return pose_energy((poses[0] @ A).inverse() @ poses[1] @ B, self.K)

    def wrenches(self, poses: Sequence[SE3], twists: Sequence[Vector], t: Scalar, u: Vector) -> Sequence[Vector]:
        A, B = self._frames()
        E = (poses[0] @ A).inverse() @ poses[1] @ B
        wrench = pose_wrench(E, A.pull_twist(twists[0]), B.pull_twist(twists[1]), self.K, self.D)
        return [-A.move_wrench(E.move_wrench(wrench)), B.move_wrench(wrench)]


def pose_energy(E_ab: SE3, K: np.ndarray) -> Scalar:
    """xi^T K xi / 2 with xi = (log R, p)."""
    xi = np.concatenate([so3.log(E_ab.R), E_ab.p])
    return 0.5 * dot(xi, K @ xi)


def pose_wrench(E_ab: SE3, phi_a: Vector, phi_b: Vector, K: np.ndarray, D: np.ndarray) -> Vector:
    """The wrench on frame b, in its axes: minus the gradient of `pose_energy`, minus D times the relative twist.

    With phi = phi_b - Ad(E_ab)^-1 phi_a, xi moves as (J_r(log R)^-1 w, R v), and J_r^-T = J_l^-1.
    """
    w = so3.log(E_ab.R)
    pull = K @ np.concatenate([w, E_ab.p])
    elastic = np.concatenate([so3.left_jacobian_inverse(w) @ pull[:3], E_ab.unrotate(pull[3:])])
    return -(elastic + D @ (phi_b - E_ab.pull_twist(phi_a)))
