"""The local rules of implicit maximal coordinates: one linear solve per step [Hernandez et al. 2011; errata noted below].

Unknowns are the new body twists y = (w, v), in the axes of the body as the step begins, and the impulses T lam of the joints. A
step h turns a body by exp(h w) and moves its centre of mass by h (v + w x c), straight in the world, where momentum is constant:

    A y + T mu = b,                    A = M + h^2 K_geo - h df_dv - h^2 df_dq,        mu = -lam,
    T^T (y_j - Ad(E_jp) y_p) = -T^T gap / h,

so the joint is closed at the end of the step, to first order; its rows are the complement T of S at the coordinate that fits
best, and gap = log(Q(q_fit)^-1 E_joint). What is between a body and its parent is written in child axes, with a = Ad(E_jp) y_p.

K_geo is the derivative of the joints' own forces, which the printed method leaves out; without it chains explode (errata 000-9).
A force f at the place r, seen from the centre of mass, answers a turn t of the body by -(r . f) t + (r f^T + f r^T) t / 2; its
positive part has the closed form of `pull_stiffness`, for the force of the step before.

Turning bodies take their gyroscopic moment implicitly, each by itself: I (w* - w) + h w* x I w* = 0, one step of Newton's method.
Where several limits are met in one step, the solve may be repeated with the velocities found for a better guess of which act.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..elements.derive import load_slopes
from ..elements.ports import BodyAt, JointAt
from ..forces.joint import JointForce
from ..joints.complement import complement
from ..model.rules import inertia_of, joint_of, placement_of
from ..solvers.elimination import back_substitute, eliminate, forward_substitute
from ..spatial import so3
from ..spatial.inertia import Articulated, symmetric
from ..spatial.scalar import Vector, array, cross, dot, inv, inv_spd, where, zeros
from ..spatial.se3 import SE3, Ad
from .implicit_tree import OWN, PARENT
from .rules import centre_of, weight_of


# --- one body ---------------------------------------------------------------------------------------------------------------
def central_inertia(n: Any) -> np.ndarray:
    """The rotational inertia about the centre of mass."""
    c = centre_of(n)
    return symmetric(n.J) - n.mass * (dot(c, c) * np.eye(3) - np.outer(c, c))


def unforced_turning(n: Any) -> Vector:
    """w* of the module's text."""
    I, w, h = central_inertia(n), n.twists[:3], n.h
    L = I @ w
    slope = I + h * (so3.hat(w) @ I - so3.hat(L)) + (1e-13 * (I[0, 0] + I[1, 1] + I[2, 2]) + 1e-200) * np.eye(3)  # rods, points
    return w - inv(slope) @ (h * cross(w, L))


def pull_stiffness(r: Vector, f: Vector) -> np.ndarray:
    """The positive part of (r . f) 1 - (r f^T + f r^T) / 2.

    Its eigenvalues are r . f along r x f, and (r . f +- |r| |f|) / 2 along r/|r| -+ f/|f|. What is left if both that are negative
    are set to zero has no singularity but that of the lengths.
    """
    s, r2, f2 = dot(r, f), dot(r, r), dot(f, f)
    some = (r2 > 1e-30) & (f2 > 1e-30)
    r2, f2 = where(some, r2, 1.0), where(some, f2, 1.0)
    both, ratio = np.sqrt(r2 * f2), np.sqrt(f2 / r2)
    n = cross(r, f)
    K = 0.5 * (s + both) * np.eye(3) - 0.25 * (ratio * np.outer(r, r) + np.outer(r, f) + np.outer(f, r) + np.outer(f, f) / ratio)
    return where(some, 1.0, 0.0) * (K - np.outer(n, n) * (0.5 / (both + np.abs(s))))


# --- the forces of a node ---------------------------------------------------------------------------------------------------
def linearised(n: Any, joint: Any, move: Vector, v: Vector) -> tuple[np.ndarray, Vector]:
    """K (nv, nv) and x of the impulse x - K v' that all forces on a joint give at a new velocity v'.

    Linearised where a velocity `move` leads in the step, at the velocity v.
    """
    h, q = n.h, joint.integrate(n.q_fit, n.h * move)
    K, x = zeros(joint.nv, joint.nv), zeros(joint.nv)
    for carried in n.carried:
        if isinstance(carried.law, JointForce):
            law, u = carried.at(n)
            df_dq, df_dv = load_slopes(law, [JointAt(joint, q, v)], n.t + h, u)
            K_q, K_v = mirrored(-h * h * df_dq), mirrored(-h * df_dv)
            K, x = K + K_q + K_v, x + h * law.force(joint, q, v, n.t + h, u) + K_q @ move + K_v @ v
    return K, x


def either(condition: Any, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The one array where the condition holds, else the other."""
    return array([where(condition, x, y) for x, y in zip(a.flat, b.flat, strict=True)]).reshape(a.shape)


def body_forces(n: Any, poses: dict[str, SE3], twists: dict[str, Vector]) -> list[tuple[Any, Vector, np.ndarray, np.ndarray]]:
    """Of each force between bodies: its sides, wrenches (6k,), df_dq and df_dv (6k, 6k), all in body axes.

    poses, twists   of the node's own body and of its parent
    """
    found = []
    for carried in n.carried:
        if not isinstance(carried.law, JointForce):
            law, u = carried.at(n)
            at = [poses.get(side, SE3()) for side in carried.sides], [twists.get(side, np.zeros(6)) for side in carried.sides]
            wrenches = np.concatenate([np.asarray(w, dtype=object) for w in law.wrenches(*at, n.t + n.h, u)])
            found.append((carried.sides, wrenches, *load_slopes(law, [BodyAt(*x) for x in zip(*at, strict=True)], n.t + n.h, u)))
    return found


def mirrored(A: np.ndarray) -> np.ndarray:
    """(A + A^T) / 2."""
    return 0.5 * (A + A.T)


def blocks_of(sides: tuple[str, ...], A: np.ndarray, x: Vector) -> dict[Any, Any]:
    """The parts of a matrix (6k, 6k) and a vector (6k,) by side; what concerns the world is left out."""
    at = {side: slice(6 * i, 6 * i + 6) for i, side in enumerate(sides) if side in (OWN, PARENT)}
    out: dict[Any, Any] = {side: x[at[side]] for side in at}
    return out | {(r, c): A[at[r], at[c]] for r in at for c in at}


# --- sweeps -----------------------------------------------------------------------------------------------------------------
def hold(n: Any, q: Vector) -> None:
    """S, T and the rate that closes the joint of a placed body, at a joint coordinate."""
    joint = joint_of(n)
    Q = joint.motion(q, np.zeros(joint.nv))
    S = Q.tangent.S
    n.S, n.T, n.S_hat = S, complement(S), S @ inv_spd(S.T @ S)
    gap = (Q.with_tangent(None).inverse() @ (placement_of(n).inverse() @ n.E)).log()
    n.rate = n.T.T @ gap * (-1.0 / n.h)


def place(n: Any, parent: Any) -> None:
    """Relative pose, S, T and the gap of the joint."""
    n.E = (parent.poses.inverse() @ n.poses).collapsed()
    hold(n, n.q_fit)
    n.centre = centre_of(n)
    n.v = n.S_hat.T @ (n.twists - n.E.pull_twist(parent.twists))
    n.base, n.base_v, n.guess = np.zeros(joint_of(n).nv), n.v, n.v


def load(n: Any, parent: Any) -> None:
    """The matrix and right-hand side that the node and its forces add: A_jj, A_ja, A_aa, b_j, b_a.

    Forces on the joint are linearised where it is or where it goes, q or q + h guess, whichever is stiffer: a limit acts in the
    step in which it is met, and until it has pulled. Of the derivatives of a force between bodies the symmetric part is kept,
    and what damps in the matrix is the damping that the right-hand side is without: half of one alone would be a force that no
    small step is rid of. Where nothing but body and parent is concerned, the force depends on their relative pose: in child axes
    its derivatives are (D, -D; -D^T, D^T), and of D that couples the two the symmetric part is kept too: then the whole is
    positive if D is.
    """
    joint, h = joint_of(n), n.h
    K, force = linearised(n, joint, n.base, n.base_v)
    K_guess, force_guess = linearised(n, joint, n.guess, n.guess)
    stiffer = np.trace(K_guess) > np.trace(K)
    K, force = either(stiffer, K_guess, K), either(stiffer, force_guess, force)
    n.base, n.base_v = either(stiffer, n.guess, n.base), either(stiffer, n.guess, n.base_v)
    impulse = n.S_hat @ (force + h * n.tau + n.armature * n.v)
    stiff = n.S_hat @ (K + np.diag(n.armature + h * n.damping)) @ n.S_hat.T
    w = unforced_turning(n)
    momentum = inertia_of(n) @ np.concatenate([w, n.twists[3:] + cross(n.twists[:3] - w, n.centre)])
    A_jj, A_ja, A_aa = stiff, -stiff, stiff
    b_j, b_a = momentum + h * (n.external + weight_of(n)) + impulse, -impulse
    A_pj = Ad(n.E)
    poses, twists = {OWN: n.poses, PARENT: parent.poses}, {OWN: n.twists, PARENT: parent.twists}
    a = n.E.pull_twist(parent.twists)
    for sides, wrenches, df_dq, df_dv in body_forces(n, poses, twists):
        damper = blocks_of(sides, mirrored(-h * df_dv), h * wrenches)
        spring = blocks_of(sides, mirrored(-h * h * df_dq), h * wrenches)
        if OWN in damper:
            D = damper[OWN, OWN]
            A_jj, b_j = A_jj + D + spring[OWN, OWN], b_j + damper[OWN] + D @ n.twists
        if PARENT in damper:
            kept = mirrored if set(sides) == {OWN, PARENT} else np.asarray
            D_aa, D_ja = A_pj.T @ damper[PARENT, PARENT] @ A_pj, kept(damper[OWN, PARENT] @ A_pj)
            A_aa = A_aa + D_aa + A_pj.T @ spring[PARENT, PARENT] @ A_pj
            A_ja = A_ja + D_ja + kept(spring[OWN, PARENT] @ A_pj)
            b_j = b_j + D_ja @ a
            b_a = b_a + n.E.pull_wrench(damper[PARENT]) + D_ja.T @ n.twists + D_aa @ a
    n.A_jj, n.A_ja, n.A_aa, n.b_j, n.b_a = A_jj, A_ja, A_aa, b_j, b_a


def factor(n: Any, parent: Any) -> None:
    """Eliminate the body, then its joint; the parent keeps a 6x6 block [Hernandez, section 4]."""
    f, h2, rows = n.held[3:], n.h * n.h, n.T.shape[1]
    own = pull_stiffness(-n.centre, f)
    A = inertia_of(n).matrix + n.D.matrix + n.A_jj
    A[:3, :3] = A[:3, :3] + h2 * own
    n.body, above = eliminate(A, np.concatenate([n.T, n.A_ja], axis=1))
    n.joint_pivot, change = eliminate(above[:rows, :rows], above[:rows, rows:] - n.T.T)
    K = pull_stiffness(n.E.p - parent.centre, -n.E.rotate(f))
    moved = n.E.move_inertia(Articulated.of_matrix(n.A_aa + above[rows:, rows:] + change))
    parent.D = parent.D + moved + Articulated(h2 * K, np.zeros((3, 3)), np.zeros((3, 3)))


def forward(n: Any, parent: Any) -> None:
    """Right-hand sides, leaves to root."""
    rows = n.T.shape[1]
    x, above = forward_substitute(n.body, n.b_j + n.r)
    mu, change = forward_substitute(n.joint_pivot, n.rate + above[:rows])
    n.x, n.mu = x, mu
    parent.r = parent.r + n.E.move_wrench(n.b_a + above[rows:] + change)


def back(n: Any, parent: Any) -> None:
    """New twists and the impulses T lam of the joints, root to leaves."""
    a = n.E.pull_twist(parent.y)
    mu = back_substitute(n.joint_pivot, n.mu, a)
    y = back_substitute(n.body, n.x, np.concatenate([mu, a]))
    n.y, n.reactions = y, -(n.T @ mu)
    n.guess = n.S_hat.T @ (y - a)
    n.y_new, n.v_new = y, n.guess


def moved(n: Any, E: SE3, y: Vector) -> tuple[SE3, Vector]:
    """The pose after a step with twist y from a pose, and the twist in the new axes."""
    c, w = centre_of(n), y[:3]
    v_c = y[3:] + cross(w, c)
    turn = so3.exp(n.h * w)
    R = E.R @ turn
    return SE3(R=R, p=E.p + E.rotate(c + n.h * v_c) - R @ c), np.concatenate([w, turn.T @ v_c - cross(w, c)])
