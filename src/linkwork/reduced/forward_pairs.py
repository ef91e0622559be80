"""Derivatives of forward dynamics, pair by pair of degrees of freedom: the loops of `forward_derivatives`.

`answers` are the X_i, wherever they are felt: rows of M^-1, and of derivatives with respect to what does not carry i. `descents`
are columns, at what a displacement or velocity carries along.
"""

from __future__ import annotations

from ..kernel.loops import Lane, Table, loops
from .pairs import dot3, dot6


@loops
def answers(
    nv: int,
    dof_before: Table,
    dof_end: Table,
    dof_count: Table,
    dof_shoots: Table,
    dof_forks: Table,
    dof_body: Table,
    J_root: Lane,
    K_root: Lane,
    X: Lane,
    own_response: Lane,
    Lambda: Lane,
    p_q: Lane,
    p_v: Lane,
    trail: Lane,
    da_dq: Lane,
    da_dv: Lane,
    da_dtau: Lane,
) -> None:
    """Row i of M^-1, and of derivatives with respect to all that does not carry i: X_i goes wherever it is felt."""
    for i in range(nv):
        da_dtau[i * nv + i] = own_response[i]
        for c in range(6):
            trail[6 * i + c] = X[6 * i + c]
        if i + 1 < dof_end[i]:
            spread_answer(
                i,
                i,
                i + 1,
                dof_end[i],
                nv,
                dof_before,
                dof_count,
                dof_shoots,
                J_root,
                K_root,
                p_q,
                p_v,
                trail,
                da_dq,
                da_dv,
                da_dtau,
            )
        top = dof_forks[i]
        if top >= 0:
            climb_answer(
                i,
                top,
                nv,
                dof_before,
                dof_end,
                dof_count,
                dof_shoots,
                dof_forks,
                dof_body,
                J_root,
                K_root,
                Lambda,
                p_q,
                p_v,
                trail,
                da_dq,
                da_dv,
                da_dtau,
            )


@loops
def climb_answer(
    i: int,
    top: int,
    nv: int,
    dof_before: Table,
    dof_end: Table,
    dof_count: Table,
    dof_shoots: Table,
    dof_forks: Table,
    dof_body: Table,
    J_root: Lane,
    K_root: Lane,
    Lambda: Lane,
    p_q: Lane,
    p_v: Lane,
    trail: Lane,
    da_dq: Lane,
    da_dv: Lane,
    da_dtau: Lane,
) -> None:
    """X_i in branches that part from the way of i to the root: at `top`, nearest to the root, the last of them does."""
    p0 = K_root[6 * i]
    p1 = K_root[6 * i + 1]
    p2 = K_root[6 * i + 2]
    p3 = K_root[6 * i + 3]
    p4 = K_root[6 * i + 4]
    p5 = K_root[6 * i + 5]
    child = i
    a = dof_before[i]
    while a >= top and a >= 0:
        if a + 1 < child or dof_end[child] < dof_end[a]:
            o = 21 * dof_body[a]
            t = 6 * a
            trail[t] = -(dot3(Lambda, o, p0, p1, p2) + dot3(Lambda, o + 6, p3, p4, p5))
            trail[t + 1] = -(Lambda[o + 1] * p0 + dot3(Lambda, o + 9, p3, p4, p5) + Lambda[o + 3] * p1 + Lambda[o + 4] * p2)
            trail[t + 2] = -(Lambda[o + 2] * p0 + dot3(Lambda, o + 12, p3, p4, p5) + Lambda[o + 4] * p1 + Lambda[o + 5] * p2)
            trail[t + 3] = -(Lambda[o + 6] * p0 + Lambda[o + 9] * p1 + Lambda[o + 12] * p2 + dot3(Lambda, o + 15, p3, p4, p5))
            trail[t + 4] = -(
                Lambda[o + 7] * p0
                + Lambda[o + 10] * p1
                + Lambda[o + 13] * p2
                + Lambda[o + 16] * p3
                + Lambda[o + 18] * p4
                + Lambda[o + 19] * p5
            )
            trail[t + 5] = -(
                Lambda[o + 8] * p0
                + Lambda[o + 11] * p1
                + Lambda[o + 14] * p2
                + Lambda[o + 17] * p3
                + Lambda[o + 19] * p4
                + Lambda[o + 20] * p5
            )
            if a + 1 < child:
                spread_answer(
                    i,
                    a,
                    a + 1,
                    child,
                    nv,
                    dof_before,
                    dof_count,
                    dof_shoots,
                    J_root,
                    K_root,
                    p_q,
                    p_v,
                    trail,
                    da_dq,
                    da_dv,
                    da_dtau,
                )
            if dof_end[child] < dof_end[a]:
                spread_answer(
                    i,
                    a,
                    dof_end[child],
                    dof_end[a],
                    nv,
                    dof_before,
                    dof_count,
                    dof_shoots,
                    J_root,
                    K_root,
                    p_q,
                    p_v,
                    trail,
                    da_dq,
                    da_dv,
                    da_dtau,
                )
        o = 6 * a
        y = dot6(J_root, o, p0, p1, p2, p3, p4, p5)
        p0 -= K_root[o] * y
        p1 -= K_root[o + 1] * y
        p2 -= K_root[o + 2] * y
        p3 -= K_root[o + 3] * y
        p4 -= K_root[o + 4] * y
        p5 -= K_root[o + 5] * y
        child = a
        a = dof_before[a]


@loops
def spread_answer(
    i: int,
    start: int,
    first: int,
    end: int,
    nv: int,
    dof_before: Table,
    dof_count: Table,
    dof_shoots: Table,
    J_root: Lane,
    K_root: Lane,
    p_q: Lane,
    p_v: Lane,
    trail: Lane,
    da_dq: Lane,
    da_dv: Lane,
    da_dtau: Lane,
) -> None:
    """X_i outward through the degrees of freedom `first` to `end`, which hang on `start`."""
    at = start
    x0 = trail[6 * at]
    x1 = trail[6 * at + 1]
    x2 = trail[6 * at + 2]
    x3 = trail[6 * at + 3]
    x4 = trail[6 * at + 4]
    x5 = trail[6 * at + 5]
    for j in range(first, end):
        if dof_before[j] != at:
            at = dof_before[j]
            x0 = trail[6 * at]
            x1 = trail[6 * at + 1]
            x2 = trail[6 * at + 2]
            x3 = trail[6 * at + 3]
            x4 = trail[6 * at + 4]
            x5 = trail[6 * at + 5]
        for k in range(j, j + dof_count[j]):
            da_dq[i * nv + k] = -dot6(p_q, 6 * k, x0, x1, x2, x3, x4, x5)
            da_dv[i * nv + k] = -dot6(p_v, 6 * k, x0, x1, x2, x3, x4, x5)
        o = 6 * j
        y = -dot6(K_root, o, x0, x1, x2, x3, x4, x5)
        da_dtau[i * nv + j] = y
        da_dtau[j * nv + i] = y
        x0 += J_root[o] * y
        x1 += J_root[o + 1] * y
        x2 += J_root[o + 2] * y
        x3 += J_root[o + 3] * y
        x4 += J_root[o + 4] * y
        x5 += J_root[o + 5] * y
        at = j
        if dof_shoots[j] > 0:
            trail[o] = x0
            trail[o + 1] = x1
            trail[o + 2] = x2
            trail[o + 3] = x3
            trail[o + 4] = x4
            trail[o + 5] = x5


@loops
def descents(
    nv: int,
    dof_before: Table,
    dof_end: Table,
    dof_first: Table,
    dof_block: Table,
    dof_shoots: Table,
    J_root: Lane,
    K_root: Lane,
    Y_root: Lane,
    z_q: Lane,
    n_q: Lane,
    z_v: Lane,
    block_q: Lane,
    block_v: Lane,
    trail: Lane,
    trail_v: Lane,
    da_dq: Lane,
    da_dv: Lane,
) -> None:
    """Column k of both derivatives at its own joint and behind it: z goes outward with n."""
    for k in range(nv):
        first = dof_first[k]
        size = 0
        while first + size < nv and dof_first[first + size] == first:
            size += 1
        for j in range(size):
            e = dof_block[k] + j * size + k - first
            da_dq[(first + j) * nv + k] = block_q[e]
            da_dv[(first + j) * nv + k] = block_v[e]
        at = first + size - 1
        o = 6 * k
        for c in range(6):
            trail[6 * at + c] = z_q[o + c]
            trail_v[6 * at + c] = z_v[o + c]
        x0 = z_q[o]
        x1 = z_q[o + 1]
        x2 = z_q[o + 2]
        x3 = z_q[o + 3]
        x4 = z_q[o + 4]
        x5 = z_q[o + 5]
        v0 = z_v[o]
        v1 = z_v[o + 1]
        v2 = z_v[o + 2]
        v3 = z_v[o + 3]
        v4 = z_v[o + 4]
        v5 = z_v[o + 5]
        n0 = n_q[3 * k]
        n1 = n_q[3 * k + 1]
        n2 = n_q[3 * k + 2]
        w0 = J_root[o]
        w1 = J_root[o + 1]
        w2 = J_root[o + 2]
        for j in range(first + size, dof_end[k]):
            if dof_before[j] != at:
                at = dof_before[j]
                t = 6 * at
                x0 = trail[t]
                x1 = trail[t + 1]
                x2 = trail[t + 2]
                x3 = trail[t + 3]
                x4 = trail[t + 4]
                x5 = trail[t + 5]
                v0 = trail_v[t]
                v1 = trail_v[t + 1]
                v2 = trail_v[t + 2]
                v3 = trail_v[t + 3]
                v4 = trail_v[t + 4]
                v5 = trail_v[t + 5]
            b = 6 * j
            y = -(dot6(K_root, b, x0, x1, x2, x3, x4, x5) + dot3(Y_root, 3 * j, n0, n1, n2))
            u = -(dot6(K_root, b, v0, v1, v2, v3, v4, v5) + dot3(Y_root, 3 * j, w0, w1, w2))
            da_dq[j * nv + k] = y
            da_dv[j * nv + k] = u
            x0 += J_root[b] * y
            x1 += J_root[b + 1] * y
            x2 += J_root[b + 2] * y
            x3 += J_root[b + 3] * y
            x4 += J_root[b + 4] * y
            x5 += J_root[b + 5] * y
            v0 += J_root[b] * u
            v1 += J_root[b + 1] * u
            v2 += J_root[b + 2] * u
            v3 += J_root[b + 3] * u
            v4 += J_root[b + 4] * u
            v5 += J_root[b + 5] * u
            at = j
            if dof_shoots[j] > 0:
                trail[b] = x0
                trail[b + 1] = x1
                trail[b + 2] = x2
                trail[b + 3] = x3
                trail[b + 4] = x4
                trail[b + 5] = x5
                trail_v[b] = v0
                trail_v[b + 1] = v1
                trail_v[b + 2] = v2
                trail_v[b + 3] = v3
                trail_v[b + 4] = v4
                trail_v[b + 5] = v5
