"""The matrices of `linear_step` for one state, of what is pushed out, and the update of joints.

The displacement y' that pushes out obeys some of all rows, `displaced`, in a list: those that push ask for G y' + room + h w = 0,
where they may do so as fast. Where rows hold, w does not change; where they do not, see `linear_moving`.

Rows are those that are free (`linear_lists`), numbered among these.
"""

from __future__ import annotations

from ..kernel.loops import Ints, Lane, Table, loops
from ..kernel.products import add_product, add_scaled, clear, copy, put_product, put_scaled
from ..rows.push_out import SOFT as PUSH_SOFT
from .linear_pattern import add_sparse
from .linear_ports import OF_Q, THREE
from .linear_rows import solve_transposed


@loops
def pushed_answers(
    nq: int,
    nv: int,
    nb: int,
    pushing_rows: Table,
    wrenches: int,
    wrench_push: Table,
    wrench_from: Table,
    wrench_to: Table,
    before: Ints,
    pushed: Ints,
    pushed_before: Ints,
    q: Lane,
    G_seen: Lane,
    answered: Lane,
    pushed_q: Lane,
    pushed_v: Lane,
    pushed_wrench: Lane,
) -> None:
    """M^-1 G^T and the wrenches of rows that push, each a motion of the tree, see `diagonal_changes`."""
    if pushed[0] > 0:
        copy(nq, q, 0, pushed_q, 0)
        clear(pushed[0] * nb * 6, pushed_wrench)
        for i in range(pushed[0]):
            copy(nv, answered, before[pushing_rows[pushed[i + 1]]] * nv, pushed_v, i * nv)
        for e in range(wrenches):
            i = pushed_before[wrench_push[e]]
            if pushed_before[wrench_push[e] + 1] > i:
                for k in range(6):
                    pushed_wrench[6 * (i * nb + wrench_to[e]) + k] += G_seen[wrench_from[e] + k]


@loops
def turning_rows(
    nv: int,
    port_segments: Table,
    port_at: Table,
    port_size: Table,
    pushing_rows: Table,
    turns_count: int,
    turn_push: Table,
    turn_a: Table,
    turn_a_size: Table,
    turn_b: Table,
    turn_b_size: Table,
    turn_at: Table,
    turn_row: Table,
    before: Ints,
    pushed_before: Ints,
    answered: Lane,
    turns: Lane,
    at_ports: Lane,
    slid: Lane,
    diagonal_changes: Lane,
) -> None:
    """What it adds to the changes of diagonals of A that rows themselves turn: 2 (J z)^T dG_i, z = M^-1 G_i^T.

    turn_a, turn_b   the port of a part of a row, and that of the displacements that turn it
    """
    n = nv
    for e in range(turns_count):
        p = pushed_before[turn_push[e]]
        if pushed_before[turn_push[e] + 1] == p:
            continue
        z = before[pushing_rows[turn_push[e]]] * n
        a = turn_a[e]
        b = turn_b[e]
        seen = turn_a_size[e]
        turned = turn_b_size[e]
        clear(seen + turned, slid)
        if a >= 0:
            for s in range(port_segments[a], port_segments[a + 1]):
                for i in range(6):
                    seen_there = 0.0 * answered[z]
                    for k in range(port_size[s]):
                        seen_there += at_ports[(6 * a + i) * n + port_at[s] + k] * answered[z + port_at[s] + k]
                    slid[i] += seen_there
        else:
            for i in range(seen):
                slid[i] = answered[z + i - 1 - a]
        for i in range(seen):
            for k in range(turned):
                slid[seen + k] += 2.0 * slid[i] * turns[turn_at[e] + i * turn_row[e] + k]
        if b >= 0:
            for s in range(port_segments[b], port_segments[b + 1]):
                c = port_at[s]
                add_product(1, port_size[s], 6, 1.0, slid, seen, 6, 1, at_ports, 6 * b * n + c, n, diagonal_changes, p * n + c, n)
        else:
            for k in range(turned):
                diagonal_changes[p * n + k - 1 - b] += slid[seen + k]


@loops
def watch_displaced(
    nv: int,
    displaced_rows: Table,
    pushing_among: Table,
    acting: Ints,
    out_acting: Ints,
    out_among: Ints,
    pushed_before: Ints,
    answered: Lane,
    A: Lane,
    out_x: Lane,
    diagonal_changes: Lane,
    out_answered: Lane,
    T: Lane,
    LU: Lane,
    soft: Lane,
    rest: Lane,
    W: Lane,
    out_on_joints: Lane,
) -> None:
    """W (rows, nv) of the displacement, as that of v' (`linear_rows`); to the slopes of rows with q that of their softness is
    added."""
    n = nv
    m = out_acting[0]
    for i in range(m):
        a = out_among[i]
        p = pushing_among[out_acting[i + 1]]
        copy(n, answered, a * n, out_answered, i * n)
        for k in range(m):
            T[i * m + k] = A[a * acting[0] + out_among[k]]
        soft[i] = T[i * m + i]
        if p >= 0:
            T[i * m + i] += PUSH_SOFT * soft[i]
            changed = PUSH_SOFT * out_x[displaced_rows[out_acting[i + 1]]]
            add_scaled(n, changed, diagonal_changes, pushed_before[p] * n, out_on_joints, (THREE * i + OF_Q) * n)
    solve_transposed(m, n, T, soft, out_answered, LU, rest, W)
    put_scaled(m * n, -1.0, W, 0, W, 0)


@loops
def add_displacement(
    nv: int,
    parts: int,
    part_at: Table,
    part_size: Table,
    part_list: Table,
    part_rows: Table,
    listed_rows: Table,
    out_acting: Ints,
    pressed_q: Lane,
    M_inverse: Lane,
    W: Lane,
    out_answered: Lane,
    out_on_joints: Lane,
    result: Lane,
) -> None:
    """The displacement that pushes out, with q, beside what v' does: M^-1 rd and W^T (B_q + G J M^-1 rd)."""
    n = nv
    w = 3 * n
    q = OF_Q * n
    m = out_acting[0]
    add_sparse(n, n, parts, part_at, part_size, part_list, part_rows, listed_rows, 1.0, M_inverse, pressed_q, 0, result, 0, w)
    if m > 0:
        add_sparse(
            m,
            n,
            parts,
            part_at,
            part_size,
            part_list,
            part_rows,
            listed_rows,
            1.0,
            out_answered,
            pressed_q,
            0,
            out_on_joints,
            q,
            w,
        )
        add_product(n, n, m, 1.0, W, 0, 1, n, out_on_joints, q, w, result, 0, w)


@loops
def lay_ways(h: Lane, result: Lane, lower_half: int) -> None:
    """The ways of joints above their velocities: h v'."""
    put_scaled(lower_half, h[0], result, lower_half, result, 0)


@loops
def updated(
    nv: int,
    rows: int,
    unusual: int,
    unusual_at: Table,
    unusual_size: Table,
    unusual_square: Table,
    unusual_changes: Table,
    q_by_q: Lane,
    q_by_way: Lane,
    q_by_v: Lane,
    v_by_q: Lane,
    v_by_way: Lane,
    v_by_v: Lane,
    edges: Lane,
    right: Lane,
    result: Lane,
) -> None:
    """The derivatives of q' above those of v': of joints that add their way, and of others, some of which change their
    velocities, too. Behind them, which rows are at an edge."""
    n = nv
    w = 3 * n
    copy(rows, edges, 0, result, 2 * n * w)
    for u in range(unusual):
        at = unusual_at[u]
        k = unusual_size[u]
        s = unusual_square[u]
        put_product(k, w, k, 1.0, q_by_way, s, k, 1, result, at * w, w, right, 0, w)
        for i in range(k):
            for j in range(k):
                right[i * w + at + j] += q_by_q[s + i * k + j]
        if unusual_changes[u] > 0:
            add_product(k, w, k, 1.0, q_by_v, s, k, 1, result, (n + at) * w, w, right, 0, w)
            put_product(k, w, k, 1.0, v_by_way, s, k, 1, result, at * w, w, right, k * w, w)
            add_product(k, w, k, 1.0, v_by_v, s, k, 1, result, (n + at) * w, w, right, k * w, w)
            for i in range(k):
                for j in range(k):
                    right[(k + i) * w + at + j] += v_by_q[s + i * k + j]
            copy(k * w, right, k * w, result, (n + at) * w)
        copy(k * w, right, 0, result, at * w)
        for i in range(k):
            result[(at + i) * w + at + i] -= 1.0
    for i in range(n):
        result[i * w + i] += 1.0
