"""The matrices of `linear_step`, for one state: columns are those of q, v and tau, nv each.

What ports see has the four parts of `law_slopes`, whose columns are

    displacement   J dq                       velocity   J dv + N_v dq
    free motion    J dfree + N_free dq        rate       R_q dq + R_v dv + R_w dw + J da

with dfree = dv + h da and dw = dv + h/2 da1. Matrices lie row by row: n is nv, S the size of the space of ports, R the number of
rows.
"""

from __future__ import annotations

from ..kernel.loops import Lane, Table, any, loops, maximum
from ..kernel.products import add_product, clear, copy
from ..reduced.law_slopes import SEEN
from ..reduced.port_columns import COLUMNS
from ..reduced.push_out import SOFT as PUSH_SOFT
from ..solvers.box_tangents import SOFT
from ..solvers.lu import factor_lu

COUNT = len(COLUMNS)
R_V, R_W, N_HELD, N_OUT = (COLUMNS.index(name) for name in ("R_v", "R_w", "N_held", "N_out"))
FREE, FIRST = 0, 1  # motions of the tree
ROUNDS = 4  # proximal ones, at most
SETTLED = 1e-7  # of the right-hand sides: a round that changes rows by less leaves the square of it, and is the last


# --- ports -------------------------------------------------------------------------------------------------------------------
@loops
def spread_columns(kinds: int, size: int, nv: int, ports: int, port_of: Table, at_ports: Lane, columns: Lane) -> None:
    """The first kinds of columns at the ports of a space: of bodies, and unit ones of joints (-1 - dof in the table)."""
    for kind in range(kinds):
        for s in range(size):
            o = (kind * size + s) * nv
            p = port_of[s]
            if p >= 0:
                copy(nv, at_ports, (kind * ports + p) * nv, columns, o)
            else:
                for j in range(nv):
                    columns[o + j] = 0.0
                if kind == 0:
                    columns[o - 1 - p] = 1.0


# --- free motion -------------------------------------------------------------------------------------------------------------
@loops
def joint_slopes(nv: int, K_ports: Lane, D_ports: Lane, K_joints: Lane, D_joints: Lane) -> None:
    """Slopes of forces where all of them act on joints."""
    copy(nv * nv, K_ports, 0, K_joints, 0)
    copy(nv * nv, D_ports, 0, D_joints, 0)


@loops
def body_slopes(
    nv: int, force_ports: int, force_columns: Lane, K_ports: Lane, D_ports: Lane, slid: Lane, K_joints: Lane, D_joints: Lane
) -> None:
    """J^T (K J + D N_v) and J^T D J of forces on any ports."""
    n = nv
    S = force_ports
    clear(n * n, K_joints)
    clear(n * n, D_joints)
    clear(S * n, slid)
    add_product(S, n, S, 1.0, D_ports, 0, S, 1, force_columns, 0, n, slid, 0, n)
    add_product(n, n, S, 1.0, force_columns, 0, 1, n, slid, 0, n, D_joints, 0, n)
    clear(S * n, slid)
    add_product(S, n, S, 1.0, K_ports, 0, S, 1, force_columns, 0, n, slid, 0, n)
    add_product(S, n, S, 1.0, D_ports, 0, S, 1, force_columns, S * n, n, slid, 0, n)
    add_product(n, n, S, 1.0, force_columns, 0, 1, n, slid, 0, n, K_joints, 0, n)


@loops
def no_slopes(nv: int, K_joints: Lane, D_joints: Lane) -> None:
    """No forces."""
    clear(nv * nv, K_joints)
    clear(nv * nv, D_joints)


@loops
def lay_right(n: int, motion: int, E: Lane, V: Lane, K: Lane, D: Lane, right: Lane) -> None:
    """(K - E, D - V, 1)."""
    clear(3 * n * n, right)
    e = motion * n * n
    for i in range(n):
        for j in range(n):
            right[3 * i * n + j] = K[i * n + j] - E[e + i * n + j]
            right[3 * i * n + n + j] = D[i * n + j] - V[e + i * n + j]
        right[3 * i * n + 2 * n + i] = 1.0


@loops
def first_accelerations(
    nv: int,
    h: Lane,
    E: Lane,
    V: Lane,
    K_joints: Lane,
    D_joints: Lane,
    M_inverse: Lane,
    damping: Lane,
    coriolis: Lane,
    right: Lane,
    first: Lane,
) -> None:
    """da1 (nv, 3 nv), and the right-hand sides of da."""
    n = nv
    lay_right(n, FIRST, E, V, K_joints, D_joints, right)
    clear(3 * n * n, first)
    add_product(n, 2 * n, n, 1.0, M_inverse, 0, n, 1, right, 0, 3 * n, first, 0, 3 * n)
    for i in range(n):
        copy(n, M_inverse, i * n, first, 3 * i * n + 2 * n)
        copy(n, V, FREE * n * n + i * n, coriolis, i * n)
        coriolis[i * n + i] -= damping[i]
    lay_right(n, FREE, E, V, K_joints, D_joints, right)
    add_product(n, 3 * n, n, -0.5 * h[0], coriolis, 0, n, 1, first, 0, 3 * n, right, 0, 3 * n)


@loops
def only_accelerations(nv: int, E: Lane, V: Lane, K_joints: Lane, D_joints: Lane, right: Lane) -> None:
    """The right-hand sides of da where velocity terms are those of the start."""
    lay_right(nv, FREE, E, V, K_joints, D_joints, right)


@loops
def free_changes(nv: int, h: Lane, M_inverse: Lane, right: Lane, accelerations: Lane, result: Lane) -> None:
    """da, and dv' = dv + h da in the lower half of the result."""
    n = nv
    clear(3 * n * n, accelerations)
    add_product(n, 3 * n, n, 1.0, M_inverse, 0, n, 1, right, 0, 3 * n, accelerations, 0, 3 * n)
    for i in range(n):
        for j in range(3 * n):
            result[3 * (n + i) * n + j] = h[0] * accelerations[3 * i * n + j]
        result[3 * (n + i) * n + n + i] += 1.0


# --- rows --------------------------------------------------------------------------------------------------------------------
@loops
def row_answers(
    nv: int,
    rows: int,
    row_ports: int,
    G_ports: Lane,
    columns: Lane,
    M_inverse: Lane,
    slid: Lane,
    joint_rows: Lane,
    answers: Lane,
    A: Lane,
) -> None:
    """G J, M^-1 (G J)^T and A."""
    n = nv
    clear(rows * n, joint_rows)
    clear(rows * rows, A)
    add_product(rows, n, row_ports, 1.0, G_ports, 0, row_ports, 1, columns, 0, n, joint_rows, 0, n)
    clear(rows * n, slid)
    add_product(rows, n, n, 1.0, joint_rows, 0, n, 1, M_inverse, 0, n, slid, 0, n)
    for r in range(rows):
        for i in range(n):
            answers[i * rows + r] = slid[r * n + i]
    add_product(rows, rows, n, 1.0, joint_rows, 0, n, 1, answers, 0, rows, A, 0, rows)


@loops
def response(
    n: int,
    S: int,
    motion: int,
    slopes: Lane,
    columns: Lane,
    E: Lane,
    M_inverse: Lane,
    slid: Lane,
    right: Lane,
    change: Lane,
) -> None:
    """M^-1 (d(G^T x) - E dq) (n, 3 n), multipliers held, of motion number `motion`: only q matters."""
    clear(S * n, slid)
    clear(n * n, right)
    add_product(S, n, S, 1.0, slopes, 0, S, 1, columns, 0, n, slid, 0, n)
    add_product(n, n, S, 1.0, columns, 0, 1, n, slid, 0, n, right, 0, n)
    for i in range(n * n):
        right[i] -= E[motion * n * n + i]
    clear(3 * n * n, change)
    add_product(n, n, n, 1.0, M_inverse, 0, n, 1, right, 0, n, change, 0, 3 * n)


@loops
def seen(
    n: int,
    S: int,
    count: int,
    middle: int,
    h: Lane,
    slopes: Lane,
    columns: Lane,
    accelerations: Lane,
    first: Lane,
    slid: Lane,
    g: Lane,
) -> None:
    """Slopes (count, 4 S) of rows on what ports see, as those with q, v and tau: g (count, 3 n)."""
    W = SEEN * S
    half = count * n
    clear(3 * count * n, g)
    add_product(count, n, W, 1.0, slopes, 0, W, 1, columns, 0, n, g, 0, 3 * n)
    clear(2 * half, slid)
    add_product(count, n, S, 1.0, slopes, 3 * S, W, 1, columns, R_W * S * n, n, slid, 0, n)
    for r in range(count):
        copy(n, slid, r * n, g, 3 * r * n + n)
    if middle > 0:
        add_product(count, 3 * n, n, 0.5 * h[0], slid, 0, n, 1, first, 0, 3 * n, g, 0, 3 * n)
    add_product(count, n, S, 1.0, slopes, 3 * S, W, 1, columns, R_V * S * n, n, g, n, 3 * n)
    add_product(count, n, S, 1.0, slopes, S, W, 1, columns, 0, n, g, n, 3 * n)
    add_product(count, n, S, 1.0, slopes, 2 * S, W, 1, columns, 0, n, slid, half, n)
    for r in range(count):
        for j in range(n):
            g[3 * r * n + n + j] += slid[half + r * n + j]
            slid[half + r * n + j] = h[0] * slid[half + r * n + j]
    add_product(count, n, S, 1.0, slopes, 3 * S, W, 1, columns, 0, n, slid, half, n)
    add_product(count, 3 * n, n, 1.0, slid, half, n, 1, accelerations, 0, 3 * n, g, 0, 3 * n)


@loops
def solve_columns(m: int, width: int, LU: Lane, x: Lane) -> None:
    """x (m, width) becomes (L U)^-1 x, of a factor of `factor_lu`: four rows against all before them, or
    behind, at a time."""
    w = width
    for i in range(0, m, 4):
        rows = min(4, m - i)
        add_product(rows, w, i, -1.0, LU, i * m, m, 1, x, 0, w, x, i * w, w)
        for r in range(1, rows):
            add_product(1, w, r, -1.0, LU, (i + r) * m + i, m, 1, x, i * w, w, x, (i + r) * w, w)
    end = m
    while end > 0:
        rows = min(4, end)
        i = end - rows
        add_product(rows, w, m - end, -1.0, LU, i * m + end, m, 1, x, end * w, w, x, i * w, w)
        for back in range(rows):
            k = end - 1 - back
            add_product(1, w, back, -1.0, LU, k * m + k + 1, m, 1, x, (k + 1) * w, w, x, k * w, w)
            pivot = LU[k * m + k]
            for j in range(w):
                x[k * w + j] = x[k * w + j] * pivot
        end = i


@loops
def largest_entry(count: int, A: Lane) -> float:
    """The largest size of so many numbers, four at a time."""
    a = 0.0 * A[0]
    b = a
    c = a
    d = a
    for i in range(0, count - 3, 4):
        a = maximum(a, abs(A[i]))
        b = maximum(b, abs(A[i + 1]))
        c = maximum(c, abs(A[i + 2]))
        d = maximum(d, abs(A[i + 3]))
    for i in range(count - count % 4, count):
        a = maximum(a, abs(A[i]))
    return maximum(maximum(a, b), maximum(c, d))


@loops
def solve_softly(
    m: int, width: int, T: Lane, soft: Lane, LU: Lane, right: Lane, rest: Lane, step: Lane, answer: Lane, x: Lane
) -> None:
    """x with T x = -right; rows that others imply share: SOFT times `soft` is added to the diagonal, and proximal rounds take
    back what it changes, until they change T x no more."""
    copy(m * m, T, 0, LU, 0)
    for i in range(m):
        LU[i * m + i] += SOFT * soft[i]
    factor_lu(m, LU)
    clear(m * width, x)
    copy(m * width, right, 0, rest, 0)
    least = SETTLED * largest_entry(m * width, right)
    for _ in range(ROUNDS):
        copy(m * width, rest, 0, step, 0)
        solve_columns(m, width, LU, step)
        for i in range(m * width):
            x[i] -= step[i]
        clear(m * width, answer)
        add_product(m, width, m, 1.0, T, 0, m, 1, step, 0, width, answer, 0, width)
        if not any(largest_entry(m * width, answer) > least):
            break
        for i in range(m * width):
            rest[i] -= answer[i]


@loops
def held_changes(
    nv: int,
    rows: int,
    row_ports: int,
    middle: int,
    held_motion: int,
    h: Lane,
    G_ports: Lane,
    w_ports: Lane,
    f_ports: Lane,
    columns: Lane,
    E: Lane,
    M_inverse: Lane,
    accelerations: Lane,
    first: Lane,
    joint_rows: Lane,
    answers: Lane,
    A: Lane,
    P_u: Lane,
    P_x: Lane,
    slid: Lane,
    right: Lane,
    change: Lane,
    moved: Lane,
    T: Lane,
    LU: Lane,
    soft: Lane,
    g: Lane,
    right_rows: Lane,
    rest: Lane,
    step: Lane,
    settled: Lane,
    multipliers: Lane,
    result: Lane,
) -> None:
    """What rows add to dv'; `moved` is how their motion G (J d) changes, G itself and multipliers apart."""
    n = nv
    R = rows
    S = row_ports
    response(n, S, held_motion, f_ports, columns, E, M_inverse, slid, right, change)
    clear(3 * R * n, moved)
    add_product(R, n, n, 1.0, joint_rows, 0, n, 1, change, 0, 3 * n, moved, 0, 3 * n)
    add_product(R, n, S, 1.0, G_ports, 0, S, 1, columns, N_HELD * S * n, n, moved, 0, 3 * n)
    seen(n, S, R, middle, h, w_ports, columns, accelerations, first, slid, g)
    for i in range(3 * R * n):
        g[i] += moved[i]
    copy(R * R, P_x, 0, T, 0)
    clear(3 * R * n, right_rows)
    for i in range(R):
        soft[i] = P_u[i * R + i] * A[i * R + i]
        for k in range(R):
            if any(P_u[i * R + k] != 0.0):
                add_product(1, R, 1, 1.0, P_u, i * R + k, R, 1, A, k * R, R, T, i * R, R)
                add_product(1, 3 * n, 1, 1.0, P_u, i * R + k, R, 1, g, 3 * k * n, 3 * n, right_rows, 3 * i * n, 3 * n)
    solve_softly(R, 3 * n, T, soft, LU, right_rows, rest, step, settled, multipliers)
    add_product(n, 3 * n, R, 1.0, answers, 0, R, 1, multipliers, 0, 3 * n, change, 0, 3 * n)
    for i in range(3 * n * n):
        result[3 * n * n + i] += change[i]


# --- what is too deep --------------------------------------------------------------------------------------------------------
@loops
def pushed_answers(
    nv: int,
    nb: int,
    rows: int,
    row_ports: int,
    pushing: int,
    pushing_rows: Table,
    wrench_at: Table,
    G_ports: Lane,
    answers: Lane,
    pushed_v: Lane,
    pushed_wrench: Lane,
) -> None:
    """M^-1 G^T and the wrenches of rows that push, each a motion of the tree, see `diagonal_changes`."""
    clear(pushing * nb * 6, pushed_wrench)
    for p in range(pushing):
        r = pushing_rows[p]
        for i in range(nv):
            pushed_v[p * nv + i] = answers[i * rows + r]
        for s in range(row_ports):
            if wrench_at[s] >= 0:
                pushed_wrench[p * nb * 6 + wrench_at[s]] = G_ports[r * row_ports + s]


@loops
def pushed_changes(
    nv: int,
    rows: int,
    row_ports: int,
    middle: int,
    out_motion: int,
    displaced: int,
    displaced_rows: Table,
    pushing_among: Table,
    h: Lane,
    G_ports: Lane,
    out_ports: Lane,
    out_f_ports: Lane,
    turns_ports: Lane,
    columns: Lane,
    E: Lane,
    M_inverse: Lane,
    accelerations: Lane,
    first: Lane,
    joint_rows: Lane,
    answers: Lane,
    A: Lane,
    moved: Lane,
    multipliers: Lane,
    out_free: Lane,
    out_x: Lane,
    slow: Lane,
    diagonal_changes: Lane,
    slid: Lane,
    right: Lane,
    change: Lane,
    T: Lane,
    LU: Lane,
    soft: Lane,
    g: Lane,
    rest: Lane,
    step: Lane,
    settled: Lane,
    x: Lane,
) -> None:
    """The displacement that pushes out, `change`: its rows are some of all, in a list."""
    n = nv
    R = rows
    S = row_ports
    Q = displaced
    response(n, S, out_motion, out_f_ports, columns, E, M_inverse, slid, right, change)
    seen(n, S, Q, middle, h, out_ports, columns, accelerations, first, slid, g)
    for i in range(Q):
        r = displaced_rows[i]
        add_product(1, n, n, 1.0, joint_rows, r * n, n, 1, change, 0, 3 * n, g, 3 * i * n, 3 * n)
        add_product(1, n, S, 1.0, G_ports, r * S, S, 1, columns, N_OUT * S * n, n, g, 3 * i * n, 3 * n)
        if any(slow[r] > 0.0):
            late = h[0] * slow[r]
            add_product(1, 3 * n, R, late, A, r * R, R, 1, multipliers, 0, 3 * n, g, 3 * i * n, 3 * n)
            for j in range(3 * n):
                g[3 * i * n + j] += late * moved[3 * r * n + j]
        p = pushing_among[i]
        if p >= 0:
            # dA_ii: as bodies move, and as the row itself turns
            clear(S, slid)
            for s in range(S):
                for k in range(n):
                    slid[s] += columns[s * n + k] * answers[k * R + r]
            clear(S, rest)
            add_product(1, S, S, 2.0, slid, 0, S, 1, turns_ports, p * S * S, S, rest, 0, S)
            add_product(1, n, S, 1.0, rest, 0, S, 1, columns, 0, n, diagonal_changes, p * n, n)
            for j in range(n):
                g[3 * i * n + j] += (PUSH_SOFT * out_x[r]) * diagonal_changes[p * n + j]
        for k in range(Q):
            T[i * Q + k] = out_free[r] * A[r * R + displaced_rows[k]]
        soft[i] = out_free[r] * A[r * R + r]
        T[i * Q + i] += 1.0 - out_free[r]
        if p >= 0:
            T[i * Q + i] += PUSH_SOFT * soft[i]
        for j in range(3 * n):
            g[3 * i * n + j] = out_free[r] * g[3 * i * n + j]
    solve_softly(Q, 3 * n, T, soft, LU, g, rest, step, settled, x)
    for i in range(n):
        for k in range(Q):
            right[i * Q + k] = answers[i * R + displaced_rows[k]]
    add_product(n, 3 * n, Q, 1.0, right, 0, Q, 1, x, 0, 3 * n, change, 0, 3 * n)


# --- update ------------------------------------------------------------------------------------------------------------------
@loops
def no_displacement(nv: int, change: Lane) -> None:
    """Nothing is pushed out."""
    clear(3 * nv * nv, change)


@loops
def updated(
    nv: int,
    unusual: int,
    unusual_at: Table,
    unusual_size: Table,
    unusual_square: Table,
    h: Lane,
    change: Lane,
    q_by_q: Lane,
    q_by_way: Lane,
    q_by_v: Lane,
    v_by_q: Lane,
    v_by_way: Lane,
    v_by_v: Lane,
    right: Lane,
    result: Lane,
) -> None:
    """The derivatives of q' above those of v': of joints that add their way, and of others."""
    n = nv
    w = 3 * n
    for i in range(n * w):
        result[i] = h[0] * result[n * w + i] + change[i]
    for u in range(unusual):
        at = unusual_at[u]
        k = unusual_size[u]
        s = unusual_square[u]
        clear(2 * k * w, right)
        add_product(k, w, k, 1.0, q_by_way, s, k, 1, result, at * w, w, right, 0, w)
        add_product(k, w, k, 1.0, q_by_v, s, k, 1, result, (n + at) * w, w, right, 0, w)
        add_product(k, w, k, 1.0, v_by_way, s, k, 1, result, at * w, w, right, k * w, w)
        add_product(k, w, k, 1.0, v_by_v, s, k, 1, result, (n + at) * w, w, right, k * w, w)
        for i in range(k):
            for j in range(k):
                right[i * w + at + j] += q_by_q[s + i * k + j]
                right[(k + i) * w + at + j] += v_by_q[s + i * k + j]
        copy(k * w, right, 0, result, at * w)
        copy(k * w, right, k * w, result, (n + at) * w)
        for i in range(k):
            result[(at + i) * w + at + i] -= 1.0
    for i in range(n):
        result[i * w + i] += 1.0
