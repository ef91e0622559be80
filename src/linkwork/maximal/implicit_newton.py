"""The local rules of a converged implicit step: one round of Newton's method on backward Euler, in O(n).

The end of the step is E = `poses`, reached from `start` by R = R_0 exp(h w), x_c = x_c0 + h R u, with (w, u) the twist of the
centre of mass in the axes of E. It solves, body by body and in the axes of E,

    I w - (R_0^T R)^T I w_0 = moments about the centre of mass,     m (u - (R_0^T R)^T u_0) = forces,     T^T gap = 0,

where all forces are those at the end. A round finds twists y that improve E as a step of length h would, and the impulses T lam
of the joints. The derivatives are taken in axes that stay where E is (terms that multiply a body's own residual are left out:
they vanish at the solution), so a wrench (m, f) about the origin that the body carries along answers a turn t by

    (t x m - (t x c) x f,  t x f),

and its reaction on the parent changes with the turn of the child that carries it and with the place at which it acts. The matrix
is not symmetric (errata 000-3): blocks are eliminated by LDU. Where S moves with the joint, its wrench W = T lam + S^+T tau turns
with it, and along S that is -S^+T (dS^T W).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..elements.derive import load_slopes
from ..elements.ports import JointAt
from ..forces.joint import JointForce
from ..joints.complement import selected_rows
from ..model.rules import inertia_of, joint_of
from ..solvers.elimination import eliminate_general
from ..spatial import so3
from ..spatial.scalar import Vector, cross, numeric, zeros
from ..spatial.se3 import SE3, Ad
from . import implicit_rules as single
from .convert import fitted
from .implicit_tree import OWN, PARENT
from .rules import centre_of, weight_of


def columns(rule: Any) -> np.ndarray:
    """The matrix (6, 6) of a linear map of twists."""
    return numeric(np.stack([rule(e) for e in np.eye(6)], axis=1))


def carried_along(W: Vector, c: Vector) -> np.ndarray:
    """How a wrench that a body carries changes with the body's twist: see the module's text."""
    m, f = W[:3], W[3:]
    return columns(lambda y: np.concatenate([cross(y[:3], m) - cross(cross(y[:3], c), f), cross(y[:3], f)]))


def travelled(n: Any) -> None:
    """The twist of a body that reached its pose from the start of the step, and the momenta of both ends."""
    c, h, E_0, E = centre_of(n), n.h, n.start, n.poses
    X = E_0.R.T @ E.R
    turn = so3.log(X)
    w, w_0 = turn * (1.0 / h), n.twists[:3]
    u = E.unrotate(E @ c - E_0 @ c) * (1.0 / h)
    u_0 = X.T @ (n.twists[3:] + cross(w_0, c))
    I = single.central_inertia(n)
    spin, push = I @ w - X.T @ (I @ w_0), n.mass * (u - u_0)
    n.change = np.concatenate([spin + cross(c, push), push])
    A = inertia_of(n).matrix
    A[:3, :3] = A[:3, :3] + I @ so3.right_jacobian_inverse(turn) - I - h * so3.hat(I @ w)
    n.A_own = A
    n.phi, n.centre = np.concatenate([w, u - cross(w, c)]), c
    n.twists_end = n.phi


def place(n: Any, parent: Any) -> None:
    """Relative pose, the joint coordinate and velocity at the end, S, T and the gap."""
    joint = joint_of(n)
    n.E = (parent.poses.inverse() @ n.poses).collapsed()
    q = fitted(n, n.E)
    single.hold(n, q)
    n.q, n.q_end = q, q
    n.v = joint.difference(n.q_fit, q) * (1.0 / n.h)


def joint_forces(n: Any, joint: Any) -> tuple[Vector, np.ndarray]:
    """All that acts along the joint (nv,), and its resistance -h df_dv - h^2 df_dq to a new velocity."""
    force, K = n.tau, zeros(joint.nv, joint.nv)
    for carried in n.carried:
        if isinstance(carried.law, JointForce):
            law, u = carried.at(n)
            df_dq, df_dv = load_slopes(law, [JointAt(joint, n.q, n.v)], n.t + n.h, u)
            force, K = force + law.force(joint, n.q, n.v, n.t + n.h, u), K - n.h * df_dv - n.h * n.h * df_dq
    return force, K


def moving_subspace(n: Any, joint: Any, W: Vector) -> np.ndarray:
    """(nv, nv): dS^T W along every coordinate; zero where S does not move."""
    out = zeros(joint.nv, joint.nv)
    if selected_rows(n.S) is None:
        for k, e in enumerate(np.eye(joint.nv)):
            out[:, k] = joint.motion(n.q, e).tangent.S_dot.T @ W
    return out


def load(n: Any, parent: Any) -> None:
    """Residual and derivatives of the node and its forces: A_jj, A_ja, A_aj, A_aa, b_j, b_a."""
    joint, h = joint_of(n), n.h
    force, K = joint_forces(n, joint)
    impulse = n.S_hat @ (h * (force - n.damping * n.v) - n.armature * (n.v - n.v_start))
    W = h * n.held + impulse
    K = K + np.diag(n.armature + h * n.damping) + h * moving_subspace(n, joint, W)
    stiff = n.S_hat @ K @ n.S_hat.T
    f = W[3:]
    reach = n.E.unrotate(parent.centre - n.E.p)  # the parent's centre of mass from the joint, in child axes
    turned = columns(lambda y: np.concatenate([cross(y[:3], W[:3]) + cross(y[3:], f), cross(y[:3], f)]))
    left = columns(lambda a: np.concatenate([cross(a[3:] + cross(a[:3], reach), f), np.zeros(3)]))
    n.A_jj = n.A_own + stiff - h * carried_along(W + h * n.external, n.centre)
    n.A_ja, n.A_aj, n.A_aa = -stiff, h * turned - stiff, stiff - h * left
    n.b_j, n.b_a = h * (n.external + weight_of(n)) + impulse - n.change, -impulse


def load_bodies(n: Any, parent: Any) -> None:
    """What forces between bodies add to it."""
    h, A_pj = n.h, Ad(n.E)
    A_jj, A_ja, A_aj, A_aa, b_j, b_a = n.A_jj, n.A_ja, n.A_aj, n.A_aa, n.b_j, n.b_a
    poses, twists = {OWN: n.poses, PARENT: parent.poses}, {OWN: n.phi, PARENT: parent.phi}
    for sides, wrenches, df_dq, df_dv in single.body_forces(n, poses, twists):
        part = single.blocks_of(sides, -h * df_dv - h * h * df_dq, h * wrenches)
        if OWN in part:
            A_jj = A_jj + part[OWN, OWN] - h * carried_along(part[OWN], n.centre)
            b_j = b_j + part[OWN]
        if PARENT in part:
            A_pp = part[PARENT, PARENT] - h * carried_along(part[PARENT], parent.centre)
            A_ja, A_aj = A_ja + part[OWN, PARENT] @ A_pj, A_aj + A_pj.T @ part[PARENT, OWN]
            A_aa, b_a = A_aa + A_pj.T @ A_pp @ A_pj, b_a + n.E.pull_wrench(part[PARENT])
    n.A_jj, n.A_ja, n.A_aj, n.A_aa, n.b_j, n.b_a = A_jj, A_ja, A_aj, A_aa, b_j, b_a


def moved_block(E: SE3, A: np.ndarray) -> np.ndarray:
    """Ad(E)^-T A Ad(E)^-1 of any 6x6 matrix."""
    A = np.stack([E.move_wrench(column) for column in A.T], axis=1)
    return np.stack([E.move_wrench(row) for row in A], axis=0)


def factor(n: Any, parent: Any) -> None:
    """Eliminate the body, then its joint."""
    T, rows = n.T, n.T.shape[1]
    right, down = np.concatenate([T, n.A_ja], axis=1), np.concatenate([T.T, n.A_aj], axis=0)
    n.body, above = eliminate_general(n.A_jj + n.D, right, down)
    n.joint_pivot, change = eliminate_general(above[:rows, :rows], above[:rows, rows:] - T.T, above[rows:, :rows] - T)
    parent.D = parent.D + moved_block(n.E, n.A_aa + above[rows:, rows:] + change)
