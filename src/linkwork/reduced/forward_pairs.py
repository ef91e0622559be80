"""Derivatives of forward dynamics, pair by pair of degrees of freedom: the loops of `forward_derivatives`.

`answers` are the X_i, wherever they are felt: rows of M^-1, and of derivatives with respect to what does not carry i. `descents`
are columns, at what a displacement or velocity carries along.
"""

from __future__ import annotations

from ..kernel.loops import Arrays, Lane, Table, loops
from .pairs import dot3, dot6


class Dofs(Arrays):
    """Degrees of freedom in the tree; see `dof_tree`."""

    dof_before: Table
    dof_end: Table
    dof_count: Table
    dof_shoots: Table
    dof_forks: Table
    dof_body: Table


class Answers(Arrays):
    """What answers are made of, at the root; their ways, of two rows; and where they go."""

    J_root: Lane
    K_root: Lane
    p_q: Lane
    p_v: Lane
    trail: Lane
    trail_v: Lane
    da_dq: Lane
    da_dv: Lane
    da_dtau: Lane


@loops
def answers(nv: int, dofs: Dofs, X: Lane, own_response: Lane, Lambda: Lane, to: Answers) -> None:
    """Rows of M^-1, and of derivatives with respect to all that does not carry them: X_i goes wherever it is felt.

    Two rows at a time, i and the next, where that is all that hangs on i: then both go the same ways.
    """
    i = 0
    while i < nv:
        k = i
        if i + 1 < nv and dofs.dof_before[i + 1] == i and dofs.dof_end[i + 1] == dofs.dof_end[i]:
            k = i + 1
        o = 6 * k
        to.da_dtau[i * nv + i] = own_response[i]
        to.da_dtau[k * nv + k] = own_response[k]
        for c in range(6):
            to.trail[o + c] = X[6 * i + c]
            to.trail_v[o + c] = X[o + c]
        if k > i:
            x0 = X[6 * i]
            x1 = X[6 * i + 1]
            x2 = X[6 * i + 2]
            x3 = X[6 * i + 3]
            x4 = X[6 * i + 4]
            x5 = X[6 * i + 5]
            for e in range(k, k + dofs.dof_count[k]):
                to.da_dq[i * nv + e] = -dot6(to.p_q, 6 * e, x0, x1, x2, x3, x4, x5)
                to.da_dv[i * nv + e] = -dot6(to.p_v, 6 * e, x0, x1, x2, x3, x4, x5)
            y = -dot6(to.K_root, o, x0, x1, x2, x3, x4, x5)
            to.da_dtau[i * nv + k] = y
            to.da_dtau[k * nv + i] = y
            for c in range(6):
                to.trail[o + c] += to.J_root[o + c] * y
        spread_answers(i, k, k, k + 1, dofs.dof_end[k], nv, dofs, to)
        if dofs.dof_forks[i] >= 0:
            climb_answers(i, k, dofs.dof_forks[i], nv, dofs, Lambda, to)
        i = k + 1


@loops
def climb_answers(i: int, k: int, top: int, nv: int, dofs: Dofs, Lambda: Lane, to: Answers) -> None:
    """X_i and X_k in branches that part from their way to the root: at `top`, nearest to the root, the last of them do."""
    p0 = to.K_root[6 * i]
    p1 = to.K_root[6 * i + 1]
    p2 = to.K_root[6 * i + 2]
    p3 = to.K_root[6 * i + 3]
    p4 = to.K_root[6 * i + 4]
    p5 = to.K_root[6 * i + 5]
    r0 = to.K_root[6 * k]
    r1 = to.K_root[6 * k + 1]
    r2 = to.K_root[6 * k + 2]
    r3 = to.K_root[6 * k + 3]
    r4 = to.K_root[6 * k + 4]
    r5 = to.K_root[6 * k + 5]
    if k > i:
        y = dot6(to.J_root, 6 * i, r0, r1, r2, r3, r4, r5)
        r0 -= p0 * y
        r1 -= p1 * y
        r2 -= p2 * y
        r3 -= p3 * y
        r4 -= p4 * y
        r5 -= p5 * y
    child = i
    a = dofs.dof_before[i]
    while a >= top and a >= 0:
        if a + 1 < child or dofs.dof_end[child] < dofs.dof_end[a]:
            yield_to(Lambda, 21 * dofs.dof_body[a], to.trail, 6 * a, p0, p1, p2, p3, p4, p5)
            yield_to(Lambda, 21 * dofs.dof_body[a], to.trail_v, 6 * a, r0, r1, r2, r3, r4, r5)
            spread_answers(i, k, a, a + 1, child, nv, dofs, to)
            spread_answers(i, k, a, dofs.dof_end[child], dofs.dof_end[a], nv, dofs, to)
        o = 6 * a
        y = dot6(to.J_root, o, p0, p1, p2, p3, p4, p5)
        u = dot6(to.J_root, o, r0, r1, r2, r3, r4, r5)
        p0 -= to.K_root[o] * y
        p1 -= to.K_root[o + 1] * y
        p2 -= to.K_root[o + 2] * y
        p3 -= to.K_root[o + 3] * y
        p4 -= to.K_root[o + 4] * y
        p5 -= to.K_root[o + 5] * y
        r0 -= to.K_root[o] * u
        r1 -= to.K_root[o + 1] * u
        r2 -= to.K_root[o + 2] * u
        r3 -= to.K_root[o + 3] * u
        r4 -= to.K_root[o + 4] * u
        r5 -= to.K_root[o + 5] * u
        child = a
        a = dofs.dof_before[a]


@loops
def yield_to(Lambda: Lane, o: int, trail: Lane, t: int, p0: float, p1: float, p2: float, p3: float, p4: float, p5: float) -> None:
    """The acceleration -Lambda p, of a symmetric matrix in blocks as `Articulated` packs them."""
    trail[t] = -(dot3(Lambda, o, p0, p1, p2) + dot3(Lambda, o + 6, p3, p4, p5))
    trail[t + 1] = -(dot3(Lambda, o + 9, p3, p4, p5) + Lambda[o + 1] * p0 + Lambda[o + 3] * p1 + Lambda[o + 4] * p2)
    trail[t + 2] = -(dot3(Lambda, o + 12, p3, p4, p5) + Lambda[o + 2] * p0 + Lambda[o + 4] * p1 + Lambda[o + 5] * p2)
    force = dot3(Lambda, o + 15, p3, p4, p5)
    trail[t + 3] = -(force + Lambda[o + 6] * p0 + Lambda[o + 9] * p1 + Lambda[o + 12] * p2)
    force = Lambda[o + 16] * p3 + Lambda[o + 18] * p4 + Lambda[o + 19] * p5
    trail[t + 4] = -(force + Lambda[o + 7] * p0 + Lambda[o + 10] * p1 + Lambda[o + 13] * p2)
    force = Lambda[o + 17] * p3 + Lambda[o + 19] * p4 + Lambda[o + 20] * p5
    trail[t + 5] = -(force + Lambda[o + 8] * p0 + Lambda[o + 11] * p1 + Lambda[o + 14] * p2)


@loops
def spread_answers(i: int, k: int, start: int, first: int, end: int, nv: int, dofs: Dofs, to: Answers) -> None:
    """X_i and X_k outward through the degrees of freedom `first` to `end`, which hang on `start`."""
    at = start
    x0 = to.trail[6 * at]
    x1 = to.trail[6 * at + 1]
    x2 = to.trail[6 * at + 2]
    x3 = to.trail[6 * at + 3]
    x4 = to.trail[6 * at + 4]
    x5 = to.trail[6 * at + 5]
    z0 = to.trail_v[6 * at]
    z1 = to.trail_v[6 * at + 1]
    z2 = to.trail_v[6 * at + 2]
    z3 = to.trail_v[6 * at + 3]
    z4 = to.trail_v[6 * at + 4]
    z5 = to.trail_v[6 * at + 5]
    for j in range(first, end):
        if dofs.dof_before[j] != at:
            at = dofs.dof_before[j]
            x0 = to.trail[6 * at]
            x1 = to.trail[6 * at + 1]
            x2 = to.trail[6 * at + 2]
            x3 = to.trail[6 * at + 3]
            x4 = to.trail[6 * at + 4]
            x5 = to.trail[6 * at + 5]
            z0 = to.trail_v[6 * at]
            z1 = to.trail_v[6 * at + 1]
            z2 = to.trail_v[6 * at + 2]
            z3 = to.trail_v[6 * at + 3]
            z4 = to.trail_v[6 * at + 4]
            z5 = to.trail_v[6 * at + 5]
        for e in range(j, j + dofs.dof_count[j]):
            o = 6 * e
            to.da_dq[i * nv + e] = -dot6(to.p_q, o, x0, x1, x2, x3, x4, x5)
            to.da_dq[k * nv + e] = -dot6(to.p_q, o, z0, z1, z2, z3, z4, z5)
            to.da_dv[i * nv + e] = -dot6(to.p_v, o, x0, x1, x2, x3, x4, x5)
            to.da_dv[k * nv + e] = -dot6(to.p_v, o, z0, z1, z2, z3, z4, z5)
        o = 6 * j
        y = -dot6(to.K_root, o, x0, x1, x2, x3, x4, x5)
        u = -dot6(to.K_root, o, z0, z1, z2, z3, z4, z5)
        if j > i:
            to.da_dtau[i * nv + j] = y
            to.da_dtau[j * nv + i] = y
            to.da_dtau[k * nv + j] = u
            to.da_dtau[j * nv + k] = u
        x0 += to.J_root[o] * y
        x1 += to.J_root[o + 1] * y
        x2 += to.J_root[o + 2] * y
        x3 += to.J_root[o + 3] * y
        x4 += to.J_root[o + 4] * y
        x5 += to.J_root[o + 5] * y
        z0 += to.J_root[o] * u
        z1 += to.J_root[o + 1] * u
        z2 += to.J_root[o + 2] * u
        z3 += to.J_root[o + 3] * u
        z4 += to.J_root[o + 4] * u
        z5 += to.J_root[o + 5] * u
        at = j
        if dofs.dof_shoots[j] > 0:
            to.trail[o] = x0
            to.trail[o + 1] = x1
            to.trail[o + 2] = x2
            to.trail[o + 3] = x3
            to.trail[o + 4] = x4
            to.trail[o + 5] = x5
            to.trail_v[o] = z0
            to.trail_v[o + 1] = z1
            to.trail_v[o + 2] = z2
            to.trail_v[o + 3] = z3
            to.trail_v[o + 4] = z4
            to.trail_v[o + 5] = z5


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
