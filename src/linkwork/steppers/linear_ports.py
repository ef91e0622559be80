"""Slopes of laws on their ports as matrices on joints: products with the columns of `port_columns`, where these are not zero.

Columns lie kind by kind, body by body, six rows of nv numbers each; those of joints are unit ones, of displacements and motions.
Tables are those of `linear_tables`.
"""

from __future__ import annotations

from ..kernel.loops import Lane, Table, loops, where
from ..kernel.products import add_product, add_scaled, clear, largest_entry
from ..reduced.law_slopes import SEEN
from ..reduced.port_columns import COLUMNS

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
    places: int,
    place_row: Table,
    place_rows: Table,
    place_port: Table,
    place_size: Table,
    place_total: Table,
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
) -> None:
    """Rows on joints, G J, with their slopes where velocities and accelerations of ports do not depend on positions: with q
    W J + G N, N of one motion, how what it does at the ports changes with q; with v (W_velocity + W_free) J."""
    n = nv
    wide = THREE * n
    clear(wide * rows, on_joints)
    for e in range(places):
        row = place_row[e]
        count = place_rows[e]
        p = place_port[e]
        size = place_size[e]
        total = place_total[e]
        for i in range(count):
            w = place_slopes[e] + i * place_slopes_row[e]
            for k in range(size):
                stacked[(THREE * i + OF_G) * size + k] = G[place_G[e] + i * place_G_row[e] + k]
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
                add_product(count, m, 6, 1.0, G, place_G[e], place_G_row[e], 1, at_ports, b, n, on_joints, o, wide)
        else:
            add_units(count, THREE, n, size, -1 - p, stacked, on_joints, wide * row)


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
    place_total: Table,
    place_slopes: Table,
    place_slopes_row: Table,
    rows: int,
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
    clear(rows * n, on_middle)
    block = 6 * ports * n
    for e in range(places):
        row = place_row[e]
        count = place_rows[e]
        p = place_port[e]
        step = place_slopes_row[e]
        velocity = place_slopes[e] + place_total[e]
        free = velocity + place_total[e]
        rate = free + place_total[e]
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
    for r in range(rows):
        add_scaled(n, 1.0, on_middle, r * n, on_joints, (THREE * r + OF_V) * n)


@loops
def rows_in_acceleration(
    nv: int,
    port_segments: Table,
    port_at: Table,
    port_size: Table,
    places: int,
    place_row: Table,
    place_rows: Table,
    place_port: Table,
    place_size: Table,
    place_total: Table,
    place_G: Table,
    place_G_row: Table,
    place_slopes: Table,
    place_slopes_row: Table,
    rows: int,
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
    clear(rows * n, on_accelerations)
    for e in range(places):
        row = place_row[e]
        p = place_port[e]
        size = place_size[e]
        free = place_slopes[e] + 2 * place_total[e]
        for i in range(place_rows[e]):
            w = free + i * place_slopes_row[e]
            for k in range(size):
                seen = h[0] * slopes[w + k] + slopes[w + place_total[e] + k]
                if like > 0:
                    seen -= h[0] * G[place_G[e] + i * place_G_row[e] + k]
                stacked[i * size + k] = seen
        if p >= 0:
            for s in range(port_segments[p], port_segments[p + 1]):
                b = 6 * p * n + port_at[s]
                o = row * n + port_at[s]
                add_product(place_rows[e], port_size[s], 6, 1.0, stacked, 0, 6, 1, at_ports, b, n, on_accelerations, o, n)
        else:
            add_units(place_rows[e], 1, n, size, -1 - p, stacked, on_accelerations, row * n)


@loops
def notice_unlike(
    laws: int,
    parts_at: Table,
    places: int,
    place_rows: Table,
    place_size: Table,
    place_total: Table,
    place_G: Table,
    place_G_row: Table,
    place_slopes: Table,
    place_slopes_row: Table,
    h: Lane,
    G: Lane,
    slopes: Lane,
    unlike: Lane,
) -> None:
    """Whether rows see accelerations otherwise than by h G: 1, else 0."""
    unlike[0] = 0.0
    often = 1.0 / h[0]
    most = LIKE * largest_entry(parts_at[laws], G)
    for e in range(places):
        for i in range(place_rows[e]):
            g = place_G[e] + i * place_G_row[e]
            w = place_slopes[e] + i * place_slopes_row[e] + 2 * place_total[e]
            for k in range(place_size[e]):
                more = slopes[w + k] + slopes[w + place_total[e] + k] * often - G[g + k]
                unlike[0] = where(abs(more) > most, 1.0, unlike[0])


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
    c: int,
    C_row: int,
) -> None:
    """C (rows, width) += A B, of rows that see some degrees of freedom; B (nv, width)."""
    for e in range(groups):
        r = group_row[e]
        m = group_rows[e]
        o = c + r * C_row
        for s in range(group_segments[e], group_segments[e + 1]):
            k = group_at[s]
            add_product(m, width, group_size[s], 1.0, A, a + r * A_row + k, A_row, 1, B, k * width, width, C, o, C_row)


@loops
def add_watched_product(
    nv: int,
    groups: int,
    group_row: Table,
    group_rows: Table,
    group_segments: Table,
    group_at: Table,
    group_size: Table,
    W: Lane,
    A: Lane,
    a: int,
    A_row: int,
    C: Lane,
    c: int,
    C_row: int,
) -> None:
    """C (nv, nv) += W^T A, of rows of A that see some degrees of freedom; W (rows, nv)."""
    for e in range(groups):
        r = group_row[e]
        m = group_rows[e]
        for s in range(group_segments[e], group_segments[e + 1]):
            k = group_at[s]
            add_product(nv, group_size[s], m, 1.0, W, r * nv, 1, nv, A, a + r * A_row + k, A_row, C, c + k, C_row)
