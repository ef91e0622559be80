"""Slopes of laws on their ports as matrices on joints: products with the columns of `port_columns`, where these are not zero.

Columns lie kind by kind, body by body, six rows of nv numbers each; those of joints are unit ones, of displacements and motions.
Tables are those of `linear_tables`, lists those of `linear_lists`: rows are those that act, numbered among these.
"""

from __future__ import annotations

from ..kernel.loops import Ints, Lane, Table, any, loops, where
from ..kernel.products import add_product, add_scaled, clear
from ..reduced.law_slopes import SEEN
from ..reduced.port_columns import COLUMNS
from .linear_tables import AT_PORT, FROM_G, FROM_SLOPES, G_STEP, PLACE, PLACE_ROW, PLACE_ROWS, SEEN_SIZE, SEEN_TOTAL, SLOPES_STEP

N_V, N_FREE, R_Q, R_V, R_W = (COLUMNS.index(name) for name in ("N_v", "N_free", "R_q", "R_v", "R_w"))
THREE = 3  # matrices of rows lie beside one another, row by row: G J, the slopes with q and those with v
OF_G, OF_Q, OF_V = range(THREE)
LIKE = 1e-14  # of the entries of rows: so much is rounding


@loops
def add_pairs(
    nv: int,
    ports: int,
    port_segments: Table,
    port_at: Table,
    port_size: Table,
    pairs: int,
    pair_a: Table,
    pair_a_size: Table,
    pair_a_at: Table,
    pair_b: Table,
    pair_b_size: Table,
    pair_b_at: Table,
    S: int,
    F: Lane,
    kind: int,
    at_ports: Lane,
    slid: Lane,
    out: Lane,
) -> None:
    """out (nv, nv) += J^T F X, F (S, S) on ports, X the columns of a kind."""
    for e in range(pairs):
        a = pair_a[e]
        b = pair_b[e]
        f = pair_a_at[e] * S + pair_b_at[e]
        rows = pair_a_size[e]
        if b >= 0:
            for s in range(port_segments[b], port_segments[b + 1]):
                c = port_at[s]
                count = port_size[s]
                clear(rows * count, slid)
                add_product(rows, count, 6, 1.0, F, f, S, 1, at_ports, 6 * (kind * ports + b) * nv + c, nv, slid, 0, count)
                if a >= 0:
                    for t in range(port_segments[a], port_segments[a + 1]):
                        r = port_at[t]
                        add_product(
                            port_size[t], count, 6, 1.0, at_ports, 6 * a * nv + r, 1, nv, slid, 0, count, out, r * nv + c, nv
                        )
                else:
                    for i in range(rows):
                        add_scaled(count, 1.0, slid, i * count, out, (i - 1 - a) * nv + c)
        elif kind == 0:
            c = -1 - b
            if a >= 0:
                for t in range(port_segments[a], port_segments[a + 1]):
                    r = port_at[t]
                    add_product(
                        port_size[t], pair_b_size[e], 6, 1.0, at_ports, 6 * a * nv + r, 1, nv, F, f, S, out, r * nv + c, nv
                    )
            else:
                for i in range(rows):
                    add_scaled(pair_b_size[e], 1.0, F, f + i * S, out, (i - 1 - a) * nv + c)


@loops
def add_units(rows: int, count: int, nv: int, size: int, dof: int, slopes: Lane, out: Lane, first: int) -> None:
    """Rows on a joint, whose columns are unit ones: `count` blocks of nv numbers for each of them, from record `first` on."""
    for i in range(count * rows):
        add_scaled(size, 1.0, slopes, i * size, out, first + i * nv + dof)


@loops
def rows_at_positions(
    nv: int,
    ports: int,
    port_segments: Table,
    port_at: Table,
    port_size: Table,
    acting: Ints,
    runs: Ints,
    motion: int,
    G: Lane,
    slopes: Lane,
    at_ports: Lane,
    stacked: Lane,
    on_joints: Lane,
) -> None:
    """Rows on joints, G J, with their slopes where velocities and accelerations of ports do not depend on positions: with q
    W J + G N, N of one motion, how what it does at the ports changes with q; with v (W_velocity + W_free) J."""
    n = nv
    wide = THREE * n
    clear(wide * acting[0], on_joints)
    for e in range(runs[0]):
        at = 1 + PLACE * e
        row = runs[at + PLACE_ROW]
        count = runs[at + PLACE_ROWS]
        p = runs[at + AT_PORT]
        size = runs[at + SEEN_SIZE]
        total = runs[at + SEEN_TOTAL]
        first = runs[at + FROM_G]
        step = runs[at + G_STEP]
        for i in range(count):
            w = runs[at + FROM_SLOPES] + i * runs[at + SLOPES_STEP]
            for k in range(size):
                stacked[(THREE * i + OF_G) * size + k] = G[first + i * step + k]
                stacked[(THREE * i + OF_Q) * size + k] = slopes[w + k]
                stacked[(THREE * i + OF_V) * size + k] = slopes[w + total + k] + slopes[w + 2 * total + k]
        if p >= 0:
            for s in range(port_segments[p], port_segments[p + 1]):
                m = port_size[s]
                b = 6 * p * n + port_at[s]
                o = wide * row + port_at[s]
                add_product(THREE * count, m, 6, 1.0, stacked, 0, 6, 1, at_ports, b, n, on_joints, o, n)
                b += 6 * motion * ports * n
                o += OF_Q * n
                add_product(count, m, 6, 1.0, G, first, step, 1, at_ports, b, n, on_joints, o, wide)
        else:
            add_units(count, THREE, n, size, -1 - p, stacked, on_joints, wide * row)


@loops
def rows_in_motion(
    nv: int,
    ports: int,
    port_segments: Table,
    port_at: Table,
    port_size: Table,
    acting: Ints,
    runs: Ints,
    slopes: Lane,
    at_ports: Lane,
    on_joints: Lane,
    on_middle: Lane,
) -> None:
    """What velocities and accelerations of ports add to these, as they depend on q and v.

    on_middle   the slopes with the velocities of the middle of the step, W_rate R_w; part of those with v
    """
    n = nv
    wide = THREE * n
    clear(acting[0] * n, on_middle)
    block = 6 * ports * n
    for e in range(runs[0]):
        at = 1 + PLACE * e
        row = runs[at + PLACE_ROW]
        count = runs[at + PLACE_ROWS]
        p = runs[at + AT_PORT]
        total = runs[at + SEEN_TOTAL]
        step = runs[at + SLOPES_STEP]
        velocity = runs[at + FROM_SLOPES] + total
        free = velocity + total
        rate = free + total
        if p >= 0:
            for s in range(port_segments[p], port_segments[p + 1]):
                m = port_size[s]
                b = 6 * p * n + port_at[s]
                c = row * n + port_at[s]
                q = wide * row + OF_Q * n + port_at[s]
                v = wide * row + OF_V * n + port_at[s]
                add_product(count, m, 6, 1.0, slopes, velocity, step, 1, at_ports, N_V * block + b, n, on_joints, q, wide)
                add_product(count, m, 6, 1.0, slopes, free, step, 1, at_ports, N_FREE * block + b, n, on_joints, q, wide)
                add_product(count, m, 6, 1.0, slopes, rate, step, 1, at_ports, R_Q * block + b, n, on_joints, q, wide)
                add_product(count, m, 6, 1.0, slopes, rate, step, 1, at_ports, R_V * block + b, n, on_joints, v, wide)
                add_product(count, m, 6, 1.0, slopes, rate, step, 1, at_ports, R_W * block + b, n, on_middle, c, n)
    for r in range(acting[0]):
        add_scaled(n, 1.0, on_middle, r * n, on_joints, (THREE * r + OF_V) * n)


@loops
def rows_in_acceleration(
    nv: int,
    port_segments: Table,
    port_at: Table,
    port_size: Table,
    acting: Ints,
    runs: Ints,
    like: int,
    h: Lane,
    G: Lane,
    slopes: Lane,
    at_ports: Lane,
    stacked: Lane,
    on_accelerations: Lane,
) -> None:
    """The slopes of rows with free accelerations (rows, nv), (h W_free + W_rate) J; where they are like h G J, what is more."""
    n = nv
    clear(acting[0] * n, on_accelerations)
    for e in range(runs[0]):
        at = 1 + PLACE * e
        row = runs[at + PLACE_ROW]
        count = runs[at + PLACE_ROWS]
        p = runs[at + AT_PORT]
        size = runs[at + SEEN_SIZE]
        total = runs[at + SEEN_TOTAL]
        for i in range(count):
            g = runs[at + FROM_G] + i * runs[at + G_STEP]
            w = runs[at + FROM_SLOPES] + i * runs[at + SLOPES_STEP] + 2 * total
            for k in range(size):
                seen = h[0] * slopes[w + k] + slopes[w + total + k]
                if like > 0:
                    seen -= h[0] * G[g + k]
                stacked[i * size + k] = seen
        if p >= 0:
            for s in range(port_segments[p], port_segments[p + 1]):
                b = 6 * p * n + port_at[s]
                o = row * n + port_at[s]
                add_product(count, port_size[s], 6, 1.0, stacked, 0, 6, 1, at_ports, b, n, on_accelerations, o, n)
        else:
            add_units(count, 1, n, size, -1 - p, stacked, on_accelerations, row * n)


@loops
def notice_unlike(runs: Ints, h: Lane, G: Lane, slopes: Lane, unlike: Lane) -> None:
    """Whether rows see accelerations otherwise than by h G: 1, else 0."""
    often = 1.0 / h[0]
    largest = 0.0 * often
    most = 0.0 * often
    for e in range(runs[0]):
        at = 1 + PLACE * e
        total = runs[at + SEEN_TOTAL]
        for i in range(runs[at + PLACE_ROWS]):
            g = runs[at + FROM_G] + i * runs[at + G_STEP]
            w = runs[at + FROM_SLOPES] + i * runs[at + SLOPES_STEP] + 2 * total
            for k in range(runs[at + SEEN_SIZE]):
                entry = abs(G[g + k])
                more = abs(slopes[w + k] + slopes[w + total + k] * often - G[g + k])
                if any(entry > largest):  # seldom, and no entry waits for the one before
                    largest = entry
                if any(more > most):
                    most = more
    unlike[0] = where(most > LIKE * largest, 1.0, 0.0)


@loops
def notice_motion(acting: Ints, runs: Ints, slopes: Lane, moves: Lane) -> None:
    """Of every row whether its slopes with what moves are not zero anywhere: 1, else 0."""
    clear(acting[0], moves)
    for e in range(runs[0]):
        at = 1 + PLACE * e
        total = runs[at + SEEN_TOTAL]
        for i in range(runs[at + PLACE_ROWS]):
            w = runs[at + FROM_SLOPES] + i * runs[at + SLOPES_STEP]
            for part in range(1, SEEN):
                for k in range(runs[at + SEEN_SIZE]):
                    if any(slopes[w + part * total + k] != 0.0):
                        moves[runs[at + PLACE_ROW] + i] = 1.0


@loops
def add_seen_product(
    groups: int,
    group_row: Table,
    group_rows: Table,
    group_segments: Table,
    group_at: Table,
    group_size: Table,
    before: Ints,
    A: Lane,
    A_row: int,
    B: Lane,
    width: int,
    C: Lane,
) -> None:
    """C (rows, width) += A B, of rows that act and see some degrees of freedom; B (nv, width)."""
    for e in range(groups):
        r = before[group_row[e]]
        m = before[group_row[e] + group_rows[e]] - r
        if m > 0:
            for s in range(group_segments[e], group_segments[e + 1]):
                k = group_at[s]
                add_product(m, width, group_size[s], 1.0, A, r * A_row + k, A_row, 1, B, k * width, width, C, r * width, width)


@loops
def add_watched_product(
    nv: int,
    groups: int,
    group_row: Table,
    group_rows: Table,
    group_segments: Table,
    group_at: Table,
    group_size: Table,
    before: Ints,
    W: Lane,
    A: Lane,
    a: int,
    A_row: int,
    C: Lane,
    c: int,
    C_row: int,
) -> None:
    """C (nv, nv) += W^T A, of rows of A that act and see some degrees of freedom; W (rows, nv)."""
    for e in range(groups):
        r = before[group_row[e]]
        m = before[group_row[e] + group_rows[e]] - r
        if m > 0:
            for s in range(group_segments[e], group_segments[e + 1]):
                k = group_at[s]
                add_product(nv, group_size[s], m, 1.0, W, r * nv, 1, nv, A, a + r * A_row + k, A_row, C, c + k, C_row)
