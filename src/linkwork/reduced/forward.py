"""Forward dynamics in reduced coordinates, O(n): the articulated-body recursions.

These are the recursions of [Si & Guenter, Eqs. 18-35; errata 002] in a frame that moves with each body, with classical
accelerations: as Newton's law does not see a uniform velocity, linear velocities of the bodies never appear. For a node
with E_pj = (R, p), joint twist (w_J, v_J) = S v and bias c = S_dot v:

    w     = R^T w_p + w_J
    zeta  = (w x w_J, R^T (w_p x (w_p x p)) + 2 (R^T w_p) x v_J + w_J x v_J) + c
    pA    = (w x J w, w x (w x m c)) - external + sum of the children's
    U     = IA S,   D = S^T U,   K = D^-1 U^T,   y = D^-1 (tau - S^T pA)
    to the parent:  IA - U K  and  pA + (IA - U K) zeta + K^T D y, moved by E_pj
    a'    = (R^T alpha_p, R^T (a_p + alpha_p x p)) + zeta,   v_dot = y - K a',   a = a' + S v_dot

Gravity enters as the acceleration (0, -g) of the world.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..joints.complement import selected_rows
from ..kernel.sweep import INERTIA, Algorithm, Field, inward, outward, vector
from ..model.model import Model
from ..model.rules import inertia_of
from ..spatial.inertia import Articulated
from ..spatial.scalar import Vector, array, ldl, ldl_solve
from .rules import falling_world, gyroscopic, velocity_step


def velocities(n: Any, parent: Any) -> None:
    """Angular velocity and the velocity-dependent acceleration zeta."""
    n.E, n.S, n.w, n.zeta = velocity_step(n, parent.w)


def articulated_inertia(n: Any, parent: Any) -> None:
    """Articulated inertia and bias force of the subtree, handed to the parent."""
    own = inertia_of(n)
    IA = own + n.IA
    pA = gyroscopic(n.w, n.first_moment, own.J) - n.external + n.pA
    S = n.S
    U = IA.matrix @ S
    K, y = joint_solve(S, U, n.tau - S.T @ pA)
    n.K, n.y = K, y
    Ia, pa = projected(IA, pA, S, U, K, y, n.zeta, n.tau)
    parent.IA = parent.IA + n.E.move_inertia(Ia)
    parent.pA = parent.pA + n.E.move_wrench(pa)


def accelerations(n: Any, parent: Any) -> None:
    """Joint accelerations, root to leaves."""
    a = n.E.pull_twist(parent.acc) + n.zeta
    v_dot = n.y - n.K @ a
    n.acc = a + n.S @ v_dot
    n.a = v_dot


def joint_solve(S: np.ndarray, U: np.ndarray, u: Vector) -> tuple[np.ndarray, Vector]:
    """K = D^-1 U^T and y = D^-1 u with D = S^T U. Where S selects coordinates, those columns of K are the identity."""
    L, d_inv = ldl(S.T @ U)
    K = np.array(ldl_solve(L, d_inv, U.T), dtype=object)
    for k, row in enumerate(selected_rows(S) or ()):
        K[:, row] = np.eye(S.shape[1])[:, k]
    return array(K), ldl_solve(L, d_inv, u)


def projected(
    IA: Articulated, pA: Vector, S: np.ndarray, U: np.ndarray, K: np.ndarray, y: Vector, zeta: Vector, tau: Vector
) -> tuple[Articulated, Vector]:
    """What the parent feels through the joint: inertia IA - U K and force pA + (IA - U K) zeta + U y.

    As (IA - U K) S = 0, rows that S selects vanish exactly and the force there is tau: known here, not to CasADi.
    """
    A = np.array(IA.matrix - U @ K, dtype=object)
    rows = selected_rows(S) or []
    for row in rows:
        A[row, :] = 0.0
        A[:, row] = 0.0
    Ia = Articulated.of_matrix(A)
    pa = np.array(pA + Ia @ zeta + U @ y, dtype=object)
    for k, row in enumerate(rows):
        pa[row] = tau[k]
    return Ia, array(pa)


FORWARD_DYNAMICS = Algorithm(
    "forward_dynamics",
    {
        "q": Field("input", "q"),
        "v": Field("input", "v"),
        "tau": Field("input", "v"),
        "external": Field("input", "node", vector(6)),
        "gravity": Field("input", "global", vector(3)),
        "w": Field("shared", codec=vector(3)),
        "acc": Field("shared", codec=vector(6), world=falling_world),
        "IA": Field("gathered", codec=INERTIA),
        "pA": Field("gathered", codec=vector(6)),
        "a": Field("output", "v"),
    },
    {"run": [outward(velocities), inward(articulated_inertia), outward(accelerations)]},
)


def tree_dynamics(model: Model, q: Any, v: Any, tau: Any = None, external: Any = None, threads: int | None = 1) -> np.ndarray:
    """The joint accelerations (nv,) or (batch, nv) of the bare tree: gravity, tau and external wrenches, no constraints.

    external   wrenches (moment, force) on the bodies, about their origins in their axes: (bodies, 6)
    """
    inputs = {"q": q, "v": v, "tau": tau, "external": external, "gravity": model.gravity}
    return model.call(FORWARD_DYNAMICS, inputs, threads)["a"]
