"""Slopes of laws on their ports as matrices on joints: products with the columns of `port_columns`, where these are not zero.

Columns lie kind by kind, body by body, six rows of nv numbers each; those of joints are unit ones, of displacements and motions.
Tables are those of `linear_tables`.
"""

from __future__ import annotations

from ..kernel.loops import Lane, Table, loops, where
from ..kernel.products import add_product, add_scaled, clear
from ..reduced.law_slopes import SEEN
from ..reduced.port_columns import COLUMNS

N_V, N_FREE, R_Q, R_V, R_W = (COLUMNS.index(name) for name in ("N_v", "N_free", "R_q", "R_v", "R_w"))
PAIR = 2  # matrices of rows lie in pairs, row by row: G J with slopes of q; slopes of v with those of accelerations
OF_G, OF_Q = 0, 1
OF_V, OF_A = 0, 1


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
def add_units(rows: int, nv: int, size: int, first: int, dof: int, stacked: Lane, out: Lane) -> None:
    """Pairs of rows of a joint, whose columns are unit ones."""
    for i in range(PAIR * rows):
        add_scaled(size, 1.0, stacked, i * size, out, (PAIR * first + i) * nv + dof)


@loops
def rows_at_positions(
    nv: int,
    ports: int,
    port_segments: Table,
    port_at: Table,
    port_size: Table,
    places: int,
    place_row: Table,
    place_rows: Table,
    place_port: Table,
    place_size: Table,
    place_G: Table,
    place_G_row: Table,
    place_slopes: Table,
    place_slopes_row: Table,
    rows: int,
    motion: int,
    G: Lane,
    slopes: Lane,
    at_ports: Lane,
    stacked: Lane,
    on_joints: Lane,
    moved: Lane,
) -> None:
    """Rows, and their slopes with displacements of ports, on joints: pairs of G J and slopes of q.

    moved   G N, N of one motion: how what it does at the ports changes with q
    """
    n = nv
    clear(PAIR * rows * n, on_joints)
    clear(rows * n, moved)
    for e in range(places):
        row = place_row[e]
        count = place_rows[e]
        p = place_port[e]
        size = place_size[e]
        for i in range(count):
            for k in range(size):
                stacked[(PAIR * i + OF_G) * size + k] = G[place_G[e] + i * place_G_row[e] + k]
                stacked[(PAIR * i + OF_Q) * size + k] = slopes[place_slopes[e] + i * place_slopes_row[e] + k]
        if p >= 0:
            for s in range(port_segments[p], port_segments[p + 1]):
                m = port_size[s]
                c = port_at[s]
                b = 6 * p * n + c
                add_product(PAIR * count, m, 6, 1.0, stacked, 0, 6, 1, at_ports, b, n, on_joints, PAIR * row * n + c, n)
                b = 6 * (motion * ports + p) * n + c
                add_product(count, m, 6, 1.0, G, place_G[e], place_G_row[e], 1, at_ports, b, n, moved, row * n + c, n)
        else:
            add_units(count, n, size, row, -1 - p, stacked, on_joints)


@loops
def rows_in_motion(
    nv: int,
    ports: int,
    port_segments: Table,
    port_at: Table,
    port_size: Table,
    places: int,
    place_row: Table,
    place_rows: Table,
    place_port: Table,
    place_size: Table,
    place_total: Table,
    place_slopes: Table,
    place_slopes_row: Table,
    rows: int,
    h: Lane,
    slopes: Lane,
    at_ports: Lane,
    stacked: Lane,
    on_joints: Lane,
    on_motions: Lane,
    on_middle: Lane,
) -> None:
    """Slopes of rows with what moves at ports: more of those of q.

    on_motions   pairs of those of v and of accelerations, h W_free + W_rate
    on_middle    those of the first accelerations, h/2 W_rate R_w
    """
    n = nv
    wide = PAIR * n
    clear(wide * rows, on_motions)
    clear(rows * n, on_middle)
    block = 6 * ports * n
    for e in range(places):
        row = place_row[e]
        count = place_rows[e]
        p = place_port[e]
        size = place_size[e]
        total = place_total[e]
        step = place_slopes_row[e]
        velocity = place_slopes[e] + total
        free = velocity + total
        rate = free + total
        for i in range(count):
            for k in range(size):
                o = i * step + k
                stacked[(PAIR * i + OF_V) * size + k] = slopes[velocity + o] + slopes[free + o]
                stacked[(PAIR * i + OF_A) * size + k] = h[0] * slopes[free + o] + slopes[rate + o]
        if p >= 0:
            for s in range(port_segments[p], port_segments[p + 1]):
                m = port_size[s]
                b = 6 * p * n + port_at[s]
                o = wide * row + port_at[s]
                q = o + OF_Q * n
                v = o + OF_V * n
                c = row * n + port_at[s]
                add_product(PAIR * count, m, 6, 1.0, stacked, 0, 6, 1, at_ports, b, n, on_motions, o, n)
                add_product(count, m, 6, 1.0, slopes, velocity, step, 1, at_ports, N_V * block + b, n, on_joints, q, wide)
                add_product(count, m, 6, 1.0, slopes, free, step, 1, at_ports, N_FREE * block + b, n, on_joints, q, wide)
                add_product(count, m, 6, 1.0, slopes, rate, step, 1, at_ports, R_Q * block + b, n, on_joints, q, wide)
                add_product(count, m, 6, 1.0, slopes, rate, step, 1, at_ports, R_V * block + b, n, on_motions, v, wide)
                add_product(count, m, 6, 1.0, slopes, rate, step, 1, at_ports, R_W * block + b, n, on_motions, v, wide)
                add_product(count, m, 6, 0.5 * h[0], slopes, rate, step, 1, at_ports, R_W * block + b, n, on_middle, c, n)
        else:
            add_units(count, n, size, row, -1 - p, stacked, on_motions)


@loops
def notice_motion(
    places: int,
    place_rows: Table,
    place_size: Table,
    place_total: Table,
    place_slopes: Table,
    place_slopes_row: Table,
    slopes: Lane,
    moves: Lane,
) -> None:
    """Whether slopes with what moves are not zero anywhere: 1, else 0."""
    moves[0] = 0.0
    for e in range(places):
        for i in range(place_rows[e]):
            for part in range(1, SEEN):
                for k in range(place_size[e]):
                    x = slopes[place_slopes[e] + i * place_slopes_row[e] + part * place_total[e] + k]
                    moves[0] = where(x != 0.0, 1.0, moves[0])


@loops
def add_seen_product(
    nv: int,
    groups: int,
    group_row: Table,
    group_rows: Table,
    group_segments: Table,
    group_at: Table,
    group_size: Table,
    A: Lane,
    a: int,
    A_row: int,
    B: Lane,
    width: int,
    C: Lane,
    C_row: int,
) -> None:
    """C (rows, width) += A B, of rows that see some of nv degrees of freedom; B (nv, width)."""
    for e in range(groups):
        r = group_row[e]
        for s in range(group_segments[e], group_segments[e + 1]):
            k = group_at[s]
            add_product(
                group_rows[e], width, group_size[s], 1.0, A, a + r * A_row + k, A_row, 1, B, k * width, width, C, r * C_row, C_row
            )
