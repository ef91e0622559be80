"""Derivatives of inverse dynamics of the tree by recursions, O(n depth): dtau/dq, dtau/dv, dtau/da = M.

In the frame of the root (`root_frame`) a displacement or velocity of one degree of freedom k is a pair (m, n) for all bodies
behind it: each needs the wrench I m + B n more (`Swirl`). Let I, B, F be the sums over a subtree of inertias, of B, of wrenches.

    at i behind k or of its joint     dtau_i = J_i^T (I_i m_k + B_i n_k)             + C_k^T F for displacements, at its own joint
    at i before k                     dtau_i = J_i^T (I_k m_k + B_k n_k + s_k x* F_k)        without s_k x* F_k for velocities

So six numbers I J, three J^T B and the columns of the right-hand sides are made per degree of freedom, and every pair of two of
which one carries the other is three plus two inner products: 36 multiply-adds.
"""

from __future__ import annotations

from typing import Any

from ..kernel.loops import Lane, LoopFunction, Table, loops
from ..kernel.sweep import POSE, SCALAR, Algorithm, Codec, Field, inward, outward, vector
from ..model.rules import stepped_joint_of
from ..spatial.dual import split, variables
from ..spatial.rigid import RigidInertia, Swirl, cross_wrench
from ..spatial.scalar import zeros
from .pairs import dot3, dot6, flattened, routine, split_columns
from .root_frame import (
    Motion,
    MotionOf,
    acceleration_above,
    carried,
    displaced,
    motion_in_step,
    motion_of_joint,
    place_in_root,
    subspace_changes,
)

RIGID = Codec(10, RigidInertia.packed, RigidInertia.unpacked)
SWIRL = Codec(12, Swirl.packed, Swirl.unpacked)


# --- rules -------------------------------------------------------------------------------------------------------------------
def move_as_told(n: Any, parent: Any) -> None:
    """Motion of every body in the frame of its root, the wrench that it needs, and what its joint would change."""
    _move(n, parent, motion_of_joint)
    n.bend_q = n.bend_v = zeros(len(n.v), len(n.v))


def move_in_step(n: Any, parent: Any) -> None:
    """The same where accelerations are those of a step, v_dot + bend: armature acts on v_dot."""
    _move(n, parent, motion_in_step)
    joint, count = stepped_joint_of(n), len(n.v)
    n.bend_q = split(joint.bend(displaced(joint, n.q), n.v), count)[1]
    n.bend_v = split(joint.bend(n.q, variables(n.v, count)), count)[1]


def _move(n: Any, parent: Any, motion: MotionOf) -> None:
    at = place_in_root(n, parent, motion)
    alpha_p = acceleration_above(n, parent, at.rise)
    alpha = alpha_p + at.zeta + at.J @ n.a
    n.frame, n.nu, n.alpha = at.E, at.nu, alpha
    n.own, n.swirl = at.inertia, Swirl.of(at.inertia, at.nu)
    n.wrench = at.inertia @ alpha + cross_wrench(at.nu, at.inertia @ at.nu) - at.E.move_wrench(n.external)
    n.changes = subspace_changes(n, at.E, motion)
    J = list(at.J.T)
    found = carried(J, n.changes, Motion(at.nu_p, at.nu, alpha_p, n.v, n.a))
    n.J_root = flattened(J)
    n.m_q, n.n_q, n.m_v = flattened(found.m_q), flattened(found.n_q), flattened(found.m_v)


def sum_subtrees(n: Any, parent: Any) -> None:
    """Sums over the subtree, and the columns that pairs of degrees of freedom are made of."""
    inertia, swirl, F = n.own + n.inertia, n.swirl + n.swirls, n.wrench + n.below
    parent.inertia, parent.swirls, parent.below = parent.inertia + inertia, parent.swirls + swirl, parent.below + F
    J, m_q, m_v, n_q = (split_columns(x, k) for x, k in ((n.J_root, 6), (n.m_q, 6), (n.m_v, 6), (n.n_q, 3)))
    IJ, JB = [inertia @ s for s in J], [swirl.row(s) for s in J]
    n.IJ, n.JB = flattened(IJ), flattened(JB)
    n.up_q = flattened([inertia @ m + swirl.wrench(w) + cross_wrench(s, F) for m, w, s in zip(m_q, n_q, J, strict=True)])
    n.up_v = flattened([inertia @ m + swirl.wrench(s[:3]) for m, s in zip(m_v, J, strict=True)])
    size = range(len(J))
    own_q = [[IJ[i] @ m_q[e] + JB[i] @ n_q[e] + n.changes.C[e][:, i] @ F for e in size] for i in size]
    own_v = [[IJ[i] @ m_v[e] + JB[i] @ J[e][:3] + (n.damping[i] if i == e else 0.0) for e in size] for i in size]
    n.block_q = flattened([[own_q[i][e] - n.armature[i] * n.bend_q[i, e] for e in size] for i in size])
    n.block_v = flattened([[own_v[i][e] - n.armature[i] * n.bend_v[i, e] for e in size] for i in size])
    n.block_a = flattened([[J[i] @ IJ[e] + (n.armature[i] if i == e else 0.0) for e in size] for i in size])


# --- pairs -------------------------------------------------------------------------------------------------------------------
def pairs_of(masses: int) -> LoopFunction:
    """The entries of all pairs, dtau_da among them if `masses` is 1; if it is 0, they are not made, and have no place."""

    @loops
    def inverse_pairs(
        nv: int,
        dof_above: Table,
        dof_before: Table,
        dof_first: Table,
        dof_block: Table,
        J_root: Lane,
        IJ: Lane,
        JB: Lane,
        m_q: Lane,
        n_q: Lane,
        m_v: Lane,
        up_q: Lane,
        up_v: Lane,
        block_q: Lane,
        block_v: Lane,
        block_a: Lane,
        dtau_dq: Lane,
        dtau_dv: Lane,
        dtau_da: Lane,
    ) -> None:
        """The entries of every degree of freedom k with those of its own joint, and with those i before it."""
        for k in range(nv):
            first = dof_first[k]
            i = first
            at = dof_block[k]
            size = 0
            while i < nv and dof_first[i] == first:
                size += 1
                i += 1
            row = at + (k - first) * size
            for j in range(size):
                e = k * nv + first + j
                dtau_dq[e] = block_q[row + j]
                dtau_dv[e] = block_v[row + j]
                if masses > 0:
                    dtau_da[e] = block_a[row + j]
            o = 6 * k
            a0 = IJ[o]
            a1 = IJ[o + 1]
            a2 = IJ[o + 2]
            a3 = IJ[o + 3]
            a4 = IJ[o + 4]
            a5 = IJ[o + 5]
            q0 = up_q[o]
            q1 = up_q[o + 1]
            q2 = up_q[o + 2]
            q3 = up_q[o + 3]
            q4 = up_q[o + 4]
            q5 = up_q[o + 5]
            v0 = up_v[o]
            v1 = up_v[o + 1]
            v2 = up_v[o + 2]
            v3 = up_v[o + 3]
            v4 = up_v[o + 4]
            v5 = up_v[o + 5]
            b0 = JB[3 * k]
            b1 = JB[3 * k + 1]
            b2 = JB[3 * k + 2]
            i = dof_above[k]
            while i >= 0:
                s = 6 * i
                if masses > 0:
                    mass = dot6(J_root, s, a0, a1, a2, a3, a4, a5)
                    dtau_da[i * nv + k] = mass
                    dtau_da[k * nv + i] = mass
                dtau_dq[i * nv + k] = dot6(J_root, s, q0, q1, q2, q3, q4, q5)
                dtau_dv[i * nv + k] = dot6(J_root, s, v0, v1, v2, v3, v4, v5)
                dtau_dq[k * nv + i] = dot6(m_q, s, a0, a1, a2, a3, a4, a5) + dot3(n_q, 3 * i, b0, b1, b2)
                dtau_dv[k * nv + i] = dot6(m_v, s, a0, a1, a2, a3, a4, a5) + dot3(J_root, s, b0, b1, b2)
                i = dof_before[i]

    return inverse_pairs


INVERSE_DERIVATIVES = Algorithm(
    "inverse_dynamics_derivatives",
    {
        "q": Field("input", "q"),
        "v": Field("input", "v"),
        "a": Field("input", "v"),
        "external": Field("input", "node", vector(6)),
        "gravity": Field("input", "global", vector(3)),
        "frame": Field("shared", codec=POSE),
        "nu": Field("shared", codec=vector(6)),
        "alpha": Field("shared", codec=vector(6)),
        "inertia": Field("gathered", codec=RIGID),
        "swirls": Field("gathered", codec=SWIRL),
        "below": Field("gathered", codec=vector(6)),
        **{name: Field("work", "columns") for name in ("J_root", "IJ", "m_q", "m_v", "up_q", "up_v")},
        **{name: Field("work", "points") for name in ("JB", "n_q")},
        **{name: Field("work", "vv") for name in ("block_q", "block_v", "block_a")},
        **{name: Field("output", "square", SCALAR) for name in ("dtau_dq", "dtau_dv", "dtau_da")},
    },
    {"run": [outward(move_as_told), inward(sum_subtrees), routine(pairs_of(masses=1))]},
)

SLOPES = INVERSE_DERIVATIVES.fields.keys() - {"block_a", "dtau_da"}
INVERSE_SLOPES = Algorithm(  # for steps
    "inverse_dynamics_slopes",
    {name: f for name, f in INVERSE_DERIVATIVES.fields.items() if name in SLOPES},
    {
        "run": [
            outward(move_in_step),
            inward(sum_subtrees),
            routine(pairs_of(masses=0), block_a="block_v", dtau_da="dtau_dv"),
        ]
    },
)
