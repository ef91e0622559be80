"""Slopes of laws on their ports as matrices on joints: products with the columns of `port_columns`, where these are not zero.

Columns lie kind by kind, body by body, six rows of nv numbers each; those of joints are unit ones, of displacements and motions.
Tables are those of `linear_tables`.
"""

from __future__ import annotations

from ..kernel.loops import Lane, Table, loops
from ..kernel.products import add_product, add_scaled, clear
from ..reduced.port_columns import COLUMNS

N_V, N_FREE, R_Q, R_V, R_W = (COLUMNS.index(name) for name in ("N_v", "N_free", "R_q", "R_v", "R_w"))
ON_JOINTS = 4  # matrices of rows on joints that lie in one array, row by row: G J, slopes with q, with v, with accelerations
OF_Q, OF_V, OF_A = 1, 2, 3


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
def rows_on_joints(
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
    h: Lane,
    G: Lane,
    slopes: Lane,
    at_ports: Lane,
    stacked: Lane,
    on_joints: Lane,
    slid_motion: Lane,
    on_middle: Lane,
) -> None:
    """Rows with their slopes on what ports see, (rows, nv) each:

    on_joints     G J; of what is seen with q; with v; and with accelerations, h W_free + W_rate
    slid_motion   G N, N of one motion: how what it does at the ports changes with q
    on_middle     slopes with the first accelerations, h/2 W_rate R_w
    """
    n = nv
    clear(ON_JOINTS * rows * n, on_joints)
    clear(rows * n, slid_motion)
    clear(rows * n, on_middle)
    block = 6 * ports * n
    for e in range(places):
        row = place_row[e]
        count = place_rows[e]
        p = place_port[e]
        size = place_size[e]
        total = place_total[e]
        g = place_G[e]
        g_row = place_G_row[e]
        w = place_slopes[e]
        w_row = place_slopes_row[e]
        for i in range(count):
            u = w + i * w_row
            for k in range(size):
                o = ON_JOINTS * i * size + k
                stacked[o] = G[g + i * g_row + k]
                stacked[o + OF_Q * size] = slopes[u + k]
                stacked[o + OF_V * size] = slopes[u + total + k] + slopes[u + 2 * total + k]
                stacked[o + OF_A * size] = h[0] * slopes[u + 2 * total + k] + slopes[u + 3 * total + k]
        if p >= 0:
            rate = w + 3 * total
            wide = ON_JOINTS * n
            for s in range(port_segments[p], port_segments[p + 1]):
                m = port_size[s]
                c = row * n + port_at[s]
                o = ON_JOINTS * row * n + port_at[s]
                b = 6 * p * n + port_at[s]
                add_product(ON_JOINTS * count, m, 6, 1.0, stacked, 0, 6, 1, at_ports, b, n, on_joints, o, n)
                add_product(count, m, 6, 1.0, slopes, w + total, w_row, 1, at_ports, N_V * block + b, n, on_joints, o + n, wide)
                add_product(
                    count, m, 6, 1.0, slopes, w + 2 * total, w_row, 1, at_ports, N_FREE * block + b, n, on_joints, o + n, wide
                )
                add_product(count, m, 6, 1.0, slopes, rate, w_row, 1, at_ports, R_Q * block + b, n, on_joints, o + n, wide)
                add_product(count, m, 6, 1.0, slopes, rate, w_row, 1, at_ports, R_V * block + b, n, on_joints, o + 2 * n, wide)
                add_product(count, m, 6, 1.0, slopes, rate, w_row, 1, at_ports, R_W * block + b, n, on_joints, o + 2 * n, wide)
                add_product(count, m, 6, 0.5 * h[0], slopes, rate, w_row, 1, at_ports, R_W * block + b, n, on_middle, c, n)
                add_product(count, m, 6, 1.0, G, g, g_row, 1, at_ports, motion * block + b, n, slid_motion, c, n)
        else:
            for i in range(count):
                for kind in range(ON_JOINTS):
                    at = (ON_JOINTS * (row + i) + kind) * n - 1 - p
                    add_scaled(size, 1.0, stacked, (ON_JOINTS * i + kind) * size, on_joints, at)


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
