"""Derivatives of forward dynamics of the tree by recursions, O(n^2): da/dq, da/dv, da/dtau = M^-1; no matrix is factored.

Articulated bodies in the frame of the root (`root_frame`), degree of freedom by degree of freedom: those of one joint follow one
another as if massless bodies were between them. With U = IA J, D = J^T U + armature, K = U^T / D:

    inward     IA - U K,  pA + U y  and  PA - U Y  to the one before it,    y = (tau - damping v - J^T pA) / D,   Y = J^T PA / D

PA (6, 3) starts from B of every body (`Swirl`): a subtree whose velocities all turn by n, and that is carried along, needs the
wrench IA x + PA n, x its acceleration. A displacement or velocity k, as a pair (m, n), then makes all that is behind move by

    z = x_before + m at first,    da_j = -K_j z - Y_j n,    z + J_j da_j goes on

and pulls at what is before its joint by p = Ia m + (PA - U Y) n, and s x* F if it is a displacement, F the wrench of the joint.

    outward    Lambda (6, 6), the acceleration that a wrench causes where it acts:  L Lambda L^T + J J^T / D,  L = 1 - J K

says what the one before feels of p: x_before = -Lambda p. All else is told by X_i, the accelerations of bodies under a unit force
of degree of freedom i: da_i = -X_i . p for every i that does not hang on the joint of k, and X_i themselves are M^-1.
X_i begins behind i with J / D - L Lambda K^T, goes outward by x - J (K x), and into other branches from where they part, with
-Lambda p, p = K^T brought up by p - K^T (J p). A pair of which one carries the other costs 54 multiply-adds.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..kernel.sweep import INERTIA, POSE, SCALAR, Algorithm, Field, inward, matrix, outward, vector
from ..spatial.articulated import Articulated
from ..spatial.rigid import Swirl, cross_wrench
from ..spatial.scalar import Vector, array, dot, is_zero, stack, zeros
from .forward_pairs import answers, descents
from .pairs import flattened, routine, split_columns
from .root_frame import Motion, acceleration_above, carried, place_in_root, subspace_changes

Columns = tuple[list[Vector], list[Vector], list[Vector]]  # J, K and Y of the degrees of freedom of a joint


# --- rules -------------------------------------------------------------------------------------------------------------------
def place_bodies(n: Any, parent: Any) -> None:
    """Motion of every body in the frame of its root, as far as velocities say."""
    at = place_in_root(n, parent)
    n.frame, n.nu, n.J_root = at.E, at.nu, flattened(list(at.J.T))
    n.rise, n.zeta, n.own = at.rise, at.zeta, at.inertia
    n.swirl = Swirl.of(at.inertia, at.nu)
    n.bias = cross_wrench(at.nu, at.inertia @ at.nu) - at.E.move_wrench(n.external)
    n.changes = subspace_changes(n, at.E)


def eliminate(n: Any, parent: Any) -> None:
    """One degree of freedom after the other, the last one first."""
    eliminate_under(n, parent, n.tau)


def eliminate_under(n: Any, parent: Any, tau: Vector) -> None:
    """The same under any joint forces."""
    IA, pA, PA = (n.own.articulated + n.IA).matrix, n.bias + n.pA, n.swirl.matrix + n.PA
    force = tau - n.damping * n.v
    J = split_columns(n.J_root, 6)
    U, K, Y, y, d_inv = (empty(len(J)) for _ in range(5))
    for k in reversed(range(len(J))):
        s, u = J[k], IA @ J[k]
        d_inv[k] = 1.0 / (dot(s, u) + n.armature[k])
        U[k], K[k], Y[k], y[k] = u, u * d_inv[k], (s @ PA) * d_inv[k], (force[k] - dot(s, pA)) * d_inv[k]
        IA, pA, PA = less(IA, u, K[k]), pA + u * y[k], PA - np.outer(u, Y[k])
    handed = pA + IA @ n.zeta
    n.U, n.K_root, n.Y_root, n.y, n.d_inv = flattened(U), flattened(K), flattened(Y), stack(*y), stack(*d_inv)
    n.left, n.handed, n.left_swirl = Articulated.of_matrix(IA), handed, PA
    parent.IA, parent.pA, parent.PA = parent.IA + n.left, parent.pA + handed, parent.PA + PA


def empty(count: int) -> list[Any]:
    """Room for so many things that are not yet known."""
    return [None] * count


def less(A: np.ndarray, u: Vector, k: Vector) -> np.ndarray:
    """A - u k^T where that is symmetric."""
    out = np.array(A, dtype=object)
    for i in range(6):
        for j in range(i, 6):
            out[i, j] = out[j, i] = A[i, j] - u[i] * k[j]
    return array(out)


def accelerate(n: Any, parent: Any) -> None:
    """Accelerations, and the wrench that the joint passes on."""
    alpha_p = acceleration_above(n, parent, n.rise)
    alpha, a = alpha_p + n.zeta, []
    for s, k, y in zip(split_columns(n.J_root, 6), split_columns(n.K_root, 6), n.y, strict=True):
        a.append(y - dot(k, alpha))
        alpha = alpha + s * a[-1]
    n.alpha, n.a = alpha, stack(*a)
    respond(n, parent, alpha_p, stack(*a))


def respond(n: Any, parent: Any, alpha_p: Vector, a: Vector) -> None:
    """What every displacement and velocity of the joint pulls at, and how what is behind begins to move."""
    J, K, Y = split_columns(n.J_root, 6), split_columns(n.K_root, 6), split_columns(n.Y_root, 3)
    F, Lambda = n.left @ alpha_p + n.handed, parent.Lambda
    found = carried(J, n.changes, Motion(parent.nu, n.nu, alpha_p, n.v, a))
    size = range(len(J))
    held_q = [resist(n, J, [dot(C[:, i], F) for i in size]) for C in n.changes.C]
    held_v = [resist(n, J, [n.damping[e] if i == e else 0.0 for i in size]) for e in size]
    pulls = [cross_wrench(s, F) + pull for s, (_, pull) in zip(J, held_q, strict=True)]
    ways_q, p_q = follow(n, Lambda, (J, K, Y), found.m_q, found.n_q, pulls, [y for y, _ in held_q])
    turns = [s[:3] for s in J]
    ways_v, p_v = follow(n, Lambda, (J, K, Y), found.m_v, turns, [pull for _, pull in held_v], [y for y, _ in held_v])
    n.p_q, n.p_v, n.n_q = flattened(p_q), flattened(p_v), flattened(found.n_q)
    n.z_q, n.z_v = (flattened([z for z, _ in ways]) for ways in (ways_q, ways_v))
    n.block_q, n.block_v = (stack(*(a[i] for i in range(len(J)) for _, a in ways)) for ways in (ways_q, ways_v))
    n.X, n.own_response, n.Lambda = answer(J, K, n.d_inv, Lambda)


def follow(
    n: Any, Lambda: Articulated, joint: Columns, m: list[Vector], w: list[Vector], pulls: list[Vector], y: list[list[Any]]
) -> tuple[list[tuple[Vector, list[Any]]], list[Vector]]:
    """Of every pair (m, w), w the angular part of n: where its way outward begins, see `descend`, and how it pulls at what is
    before the joint."""
    p = [n.left @ a + n.left_swirl @ b + pull for a, b, pull in zip(m, w, pulls, strict=True)]
    return [descend(joint, a - Lambda @ pull, b, own) for a, b, pull, own in zip(m, w, p, y, strict=True)], p


def resist(n: Any, J: list[Vector], forces: list[Any]) -> tuple[list[Any], Vector]:
    """Forces that the degrees of freedom of one joint must give back: their accelerations, and the pull at what is before."""
    if all(is_zero(f) for f in forces):
        return [0.0] * len(J), zeros(6)
    y, p, U = [0.0] * len(J), zeros(6), split_columns(n.U, 6)
    for k in reversed(range(len(J))):
        y[k] = -(forces[k] + dot(J[k], p)) * n.d_inv[k]
        p = p + U[k] * y[k]
    return y, p


def descend(joint: Columns, z: Vector, w: Vector, y: list[Any]) -> tuple[Vector, list[Any]]:
    """Through the degrees of freedom of one joint: z behind them, and their accelerations."""
    a = []
    for s, k, turn, first in zip(*joint, y, strict=True):
        a.append(first - dot(k, z) - dot(turn, w))
        z = z + s * a[-1]
    return z, a


def answer(J: list[Vector], K: list[Vector], d_inv: Vector, Lambda: Articulated) -> tuple[Vector, Vector, Articulated]:
    """X where it begins, the diagonal of M^-1, and Lambda behind the joint."""
    L, X, own = Lambda.matrix, [], []
    for s, k, inverse in zip(J, K, d_inv, strict=True):
        t = L @ k
        own.append(dot(k, t) + inverse)
        X.append(s * own[-1] - t)
        L = less(less(L, s, w := t - s * (0.5 * own[-1])), w, s)
    return flattened(X), stack(*own), Articulated.of_matrix(L)


# --- the program ------------------------------------------------------------------------------------------------------------
FORWARD_DERIVATIVES = Algorithm(
    "forward_dynamics_derivatives",
    {
        "q": Field("input", "q"),
        "v": Field("input", "v"),
        "tau": Field("input", "v"),
        "external": Field("input", "node", vector(6)),
        "gravity": Field("input", "global", vector(3)),
        "frame": Field("shared", codec=POSE),
        "nu": Field("shared", codec=vector(6)),
        "alpha": Field("shared", codec=vector(6)),
        "IA": Field("gathered", codec=INERTIA),
        "pA": Field("gathered", codec=vector(6)),
        "PA": Field("gathered", codec=matrix(6, 3)),
        "Lambda": Field("work", "node", INERTIA),
        **{name: Field("work", "columns") for name in ("J_root", "K_root", "X", "p_q", "p_v", "z_q", "z_v", "trail", "trail_v")},
        **{name: Field("work", "points") for name in ("Y_root", "n_q")},
        **{name: Field("work", "vv") for name in ("block_q", "block_v")},
        "own_response": Field("work", "v"),
        "a": Field("output", "v"),
        **{name: Field("output", "square", SCALAR) for name in ("da_dq", "da_dv", "da_dtau")},
    },
    {"run": [outward(place_bodies), inward(eliminate), outward(accelerate), routine(answers), routine(descents)]},
)
