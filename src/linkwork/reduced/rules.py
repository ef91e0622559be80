"""Rules that several algorithms of reduced coordinates share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..joints.complement import selected_rows
from ..model.rules import motion_of
from ..spatial.inertia import Articulated
from ..spatial.scalar import Vector, array, cross, dot, is_zero, ldl, ldl_solve, stack, where
from ..spatial.se3 import SE3


def velocity_step(n: Any, w_p: Vector) -> tuple[SE3, np.ndarray, Vector, Vector]:
    """One step outward with classical accelerations: (E_pj, S, w, zeta), see `forward`.

    Linear velocities of bodies never appear: Newton's law does not see them.
    """
    E = motion_of(n)
    w, zeta = coriolis(E, E.tangent.phi, E.tangent.bias, w_p)
    return E.with_tangent(None), E.tangent.S, w, zeta


def coriolis(E: SE3, twist: Vector, bias: Vector, w_p: Vector) -> tuple[Vector, Vector]:
    """w and zeta of `forward` behind a joint with this twist and bias."""
    w_J, v_J = twist[:3], twist[3:]
    w_in = E.unrotate(w_p)
    centripetal = E.unrotate(cross(w_p, cross(w_p, E.p)))
    linear = centripetal + cross(w_in + w_in + w_J, v_J)
    zeta = np.concatenate([cross(w_in, w_J), linear]) + bias
    return w_in + w_J, zeta


def gyroscopic(w: Vector, first_moment: Vector, J: np.ndarray) -> Vector:
    """(w x J w, w x (w x m c)): the wrench that keeps a body turning, about its origin."""
    return np.concatenate([cross(w, J @ w), w * dot(w, first_moment) - first_moment * dot(w, w)])


def falling_world(n: Any) -> Vector:
    """The acceleration of a world that falls upwards: gravity, seen as the motion of the ground."""
    g = n.gravity
    return stack(0.0, 0.0, 0.0, -g[0], -g[1], -g[2])


LOST = 1e13  # D_kk by its pivot, all of them: beyond, only rounding is left of a freedom that those before it say already


@dataclass(frozen=True, slots=True, eq=False)
class JointFactor:
    """What an articulated inertia looks like through a joint.

    U = IA S,   D = S^T U + armature = L diag(1/d_inv) L^T,   K = D^-1 U^T,   Ia = IA - U K is what the parent feels.
    rows are the coordinates that S selects: as Ia S = 0, these rows of Ia vanish exactly, and those columns of K are the
    identity, with the signs of S. A trace cannot see that; it is written by hand, and only without armature, where it holds.
    """

    U: np.ndarray
    L: np.ndarray
    d_inv: Vector
    K: np.ndarray
    Ia: Articulated
    rows: list[int]

    def solve(self, u: Vector) -> Vector:
        """D^-1 u."""
        return ldl_solve(self.L, self.d_inv, u)


def factor_joint(IA: Articulated, S: np.ndarray, armature: Vector) -> JointFactor:
    """See `JointFactor`. Where D is singular (S loses rank, or no mass moves) nothing is said but NaN, never rounding."""
    n = S.shape[1]
    U = IA.matrix @ S
    D = np.array(S.T @ U, dtype=object)
    for k in range(n):
        D[k, k] = D[k, k] + armature[k]
    L, d_inv = ldl(D)
    if n > 1:
        parts = [D[k, k] * d_inv[k] for k in range(1, n)]
        d_inv[n - 1] = where(sum(x * x for x in parts) < LOST**2, d_inv[n - 1], np.nan)
    K = np.array(ldl_solve(L, d_inv, U.T), dtype=object)
    rows = selected_rows(S) or []
    if not all(is_zero(x) for x in armature):
        rows = []
    for k, row in enumerate(rows):
        K[:, row] = S[row, k] * np.eye(n)[:, k]
    A = np.array(IA.matrix - U @ K, dtype=object)
    for row in rows:
        A[row, :] = 0.0
        A[:, row] = 0.0
    return JointFactor(U, L, d_inv, array(K), Articulated.of_matrix(A), rows)
