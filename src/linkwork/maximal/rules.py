"""The local rules of maximal coordinates: bodies are free, joints are constraint rows T^T on relative twists.

For a joint between parent p and body j, with E_pj the actual relative pose, S and its complement T at the joint coordinate
that fits best:

    phi_rel = phi_j - Ad(E_jp) phi_p,     T^T (phi_dot_j - Ad(E_jp) phi_dot_p) = T^T zeta,
    zeta    = S_dot v + ad(phi_j) phi_rel.

The force of the joint on its body is T lam. The inertia A of a drive adds rows: its force s = A v_dot acts through
-S (S^T S)^-1, and its condition is v_dot = s / A, a compliance 1 / A on the diagonal.

Eliminating a body, then its joint, leaves the parent with a 6x6 block and a right-hand side: Baraff's sparse factorisation as
one inward sweep [Baraff, section 7; errata 001].
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..joints.base import subspace_fit
from ..joints.complement import complement
from ..model.rules import inertia_of, joint_of
from ..solvers.elimination import back_substitute, eliminate, forward_substitute
from ..spatial.inertia import Articulated
from ..spatial.scalar import Vector, cross, inv_spd, is_zero, solve_spd, stack
from ..spatial.se3 import bracket


def weight_of(n: Any) -> Vector:
    """The wrench of gravity about the body's origin."""
    g = n.poses.unrotate(n.gravity)
    return np.concatenate([cross(n.first_moment, g), g * n.mass])


def geometry(n: Any, parent: Any) -> None:
    """Relative pose, S and T."""
    joint = joint_of(n)
    n.E = (parent.poses.inverse() @ n.poses).collapsed()
    S = joint.motion(n.q_fit, np.zeros(joint.nv)).tangent.S
    T = complement(S)
    geared = [k for k in range(joint.nv) if not is_zero(n.armature[k])]
    drives = -(S @ inv_spd(S.T @ S))[:, geared]
    n.S, n.T, n.rows = S, T, np.concatenate([T, drives], axis=1)
    n.compliance = stack(*[0.0] * T.shape[1], *(1.0 / n.armature[k] for k in geared))


def loads(n: Any, parent: Any) -> None:
    """The wrench on each body (external, gravity, gyroscopic, joint forces) and the joint's bias zeta."""
    joint = joint_of(n)
    twist = n.twists
    relative = twist - n.E.pull_twist(parent.twists)
    v = subspace_fit(n.S, relative)
    n.v_fit = v
    n.zeta = joint.motion(n.q_fit, v).tangent.bias + bracket(twist, relative)
    momentum = inertia_of(n) @ twist
    w, u = twist[:3], twist[3:]
    gyroscopic = np.concatenate([cross(w, momentum[:3]) + cross(u, momentum[3:]), cross(w, momentum[3:])])
    n.f = n.external + weight_of(n) - gyroscopic


def joint_forces(n: Any, parent: Any) -> None:
    """Joint forces as a pair of wrenches: the one on the body is S (S^T S)^-1 tau, along the freedoms."""
    n.f_tau = n.S @ solve_spd(n.S.T @ n.S, n.tau)


def damped_joint_forces(n: Any, parent: Any) -> None:
    """The same, less damping."""
    n.f_tau = n.S @ solve_spd(n.S.T @ n.S, n.tau - n.damping * n.v_fit)


def factor(n: Any, parent: Any) -> None:
    """Eliminate the body, then its joint."""
    D = inertia_of(n).matrix + n.D.matrix
    n.body, block = eliminate(D, n.rows)
    block = np.array(block, dtype=object)
    for k, c in enumerate(n.compliance):
        block[k, k] = block[k, k] - c
    n.joint_pivot, change = eliminate(block, -n.rows.T)
    parent.D = parent.D + n.E.move_inertia(Articulated.of_matrix(change))


def forward(n: Any, parent: Any) -> None:
    """Right-hand sides, leaves to root."""
    x, row = forward_substitute(n.body, n.f + n.f_tau + n.r)
    mu, change = forward_substitute(n.joint_pivot, n.rows.T @ n.zeta + row)
    n.x, n.mu = x, mu
    parent.r = parent.r + n.E.move_wrench(change - n.f_tau)


def back(n: Any, parent: Any) -> None:
    """Accelerations and multipliers, root to leaves."""
    inward_acceleration = n.E.pull_twist(parent.acc)
    mu = back_substitute(n.joint_pivot, n.mu, inward_acceleration)
    acc = back_substitute(n.body, n.x, mu)
    n.acc = acc
    n.twists_dot = acc
    n.lam = -mu[: n.T.shape[1]]
    n.wrenches = n.f_tau - n.rows @ mu
    n.a = subspace_fit(n.S, acc - inward_acceleration - n.zeta)
