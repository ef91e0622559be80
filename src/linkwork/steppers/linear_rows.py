"""The matrices of `linear_step` for one state, of what rows add to the motion: one linear system of the rows in force.

What ports see has the four parts of `law_slopes`, whose columns are

    displacement   J dq                       velocity   J dv + N_v dq
    free motion    J dfree + N_free dq        rate       R_q dq + R_v dv + R_w dw + J da

with dfree = dv + h da and dw = dv + h/2 da1, so that with the matrices of `linear_ports`

    g = (of q + G N + G J M^-1 rd, of v, 0) + (of accelerations) da + (of the middle) M^-1 r1,      rd = d(G^T x) - E,
    (P_u A + P_x) dx = -P_u g.

Rows see accelerations as they see what they press, h times G J, or nearly: da has rd in it (`linear_free`), the rest is added.
"""

from __future__ import annotations

from ..kernel.loops import Lane, Table, any, loops, maximum, where
from ..kernel.products import add_product, add_scaled, clear, copy, largest_entry, put_scaled, solve_lower, solve_upper
from ..solvers.box_tangents import SOFT
from ..solvers.lu import factor_lu
from .linear_free import FIRST, add_answers
from .linear_ports import OF_A, OF_G, OF_Q, OF_V, PAIR

FINE = 1e-14  # softness that changes nothing where rows agree, and still decides between rows that others imply
EXACT = 1e-11  # of the right-hand sides: what may be left of them
LIKE = 1e-14  # of the entries of rows: so much is rounding
ROUNDS = 4  # proximal ones, at most
SETTLED = 1e-7  # of the right-hand sides: a round that changes rows by less leaves the square of it, and is the last


@loops
def forget_asleep(laws: int, parts_at: Table, awake: Lane, parts: Lane) -> None:
    """Zeros where the slopes of laws that are not awake would be."""
    for k in range(laws):
        if not any(awake[k] > 0.0):
            for i in range(parts_at[k], parts_at[k + 1]):
                parts[i] = 0.0


@loops
def turn_answers(nv: int, rows: int, answered: Lane, answers: Lane) -> None:
    """M^-1 (G J)^T (nv, rows) of its transpose."""
    for r in range(rows):
        for i in range(nv):
            answers[i * rows + r] = answered[r * nv + i]


@loops
def lay_pressed(nv: int, motion: int, E: Lane, pressed_q: Lane) -> None:
    """-E of a motion, to which d(G^T x) is added: rd, of q alone."""
    put_scaled(nv * nv, -1.0, E, motion * nv * nv, pressed_q, 0)


@loops
def answer(nv: int, M_inverse: Lane, pressed_q: Lane, change_q: Lane) -> None:
    """M^-1 rd (nv, nv), multipliers held."""
    clear(nv * nv, change_q)
    add_product(nv, nv, nv, 1.0, M_inverse, 0, nv, 1, pressed_q, 0, nv, change_q, 0, nv)


@loops
def notice_unlike(
    nv: int, rows: int, h: Lane, on_joints: Lane, on_motions: Lane, unlike_rows: Lane, unlike_answered: Lane, unlike: Lane
) -> None:
    """G J less what rows see of accelerations, over h: the way in which they see what is pressed, and accelerations not. 1 in
    `unlike` if that is something."""
    n = nv
    for r in range(rows):
        copy(n, on_joints, (PAIR * r + OF_G) * n, unlike_rows, r * n)
    most = largest_entry(rows * n, unlike_rows)
    for r in range(rows):
        add_scaled(n, -1.0 / h[0], on_motions, (PAIR * r + OF_A) * n, unlike_rows, r * n)
    unlike[0] = where(largest_entry(rows * n, unlike_rows) > LIKE * most, 1.0, 0.0)
    clear(rows * n, unlike_answered)


@loops
def add_unlike(nv: int, rows: int, unlike_answered: Lane, pressed_q: Lane, g: Lane) -> None:
    """What is pressed, as far as rows do not see it with accelerations."""
    add_product(rows, nv, nv, 1.0, unlike_answered, 0, nv, 1, pressed_q, 0, nv, g, 0, 3 * nv)


@loops
def lay_rows(nv: int, rows: int, on_joints: Lane, moved: Lane, g: Lane) -> None:
    """g (rows, 3 nv) without what moves at ports."""
    n = nv
    clear(3 * rows * n, g)
    for r in range(rows):
        copy(n, on_joints, (PAIR * r + OF_Q) * n, g, 3 * r * n)
        add_scaled(n, 1.0, moved, r * n, g, 3 * r * n)


@loops
def lay_velocities(nv: int, rows: int, on_motions: Lane, g: Lane) -> None:
    """What velocities do."""
    for r in range(rows):
        copy(nv, on_motions, (PAIR * r + OF_V) * nv, g, (3 * r + 1) * nv)


@loops
def add_first(nv: int, rows: int, middle_answered: Lane, E: Lane, V: Lane, K_diagonal: Lane, D_diagonal: Lane, g: Lane) -> None:
    """What the first accelerations do."""
    add_answers(nv, rows, FIRST, middle_answered, E, V, K_diagonal, D_diagonal, g)


@loops
def solve_columns(m: int, width: int, LU: Lane, x: Lane) -> None:
    """x (m, width) becomes (L U)^-1 x, of a factor of `factor_lu`: four rows against all before them, or behind, at a time."""
    w = width
    for i in range(0, m, 4):
        rows = min(4, m - i)
        if i > 0:
            add_product(rows, w, i, -1.0, LU, i * m, m, 1, x, 0, w, x, i * w, w)
        solve_lower(rows, w, LU, i * m + i, m, x, i * w)
    end = m
    while end > 0:
        rows = min(4, end)
        i = end - rows
        if end < m:
            add_product(rows, w, m - end, -1.0, LU, i * m + end, m, 1, x, end * w, w, x, i * w, w)
        solve_upper(rows, w, LU, i * m + i, m, x, i * w)
        end = i


@loops
def factor_softly(m: int, softness: float, T: Lane, soft: Lane, LU: Lane) -> None:
    """The factor of T with `softness` times `soft` added to its diagonal."""
    copy(m * m, T, 0, LU, 0)
    for i in range(m):
        LU[i * m + i] += softness * soft[i]
    factor_lu(m, LU)


@loops
def solve_softly(m: int, width: int, T: Lane, soft: Lane, LU: Lane, right: Lane, rest: Lane, step: Lane, x: Lane) -> None:
    """x with T x = right, which it is before; rows that others imply share.

    A little softness times `soft` on the diagonal of T says how they do; with a step y it leaves softness soft y of what is asked
    for. Where that is next to nothing, one step is enough. Elsewhere rows contradict one another, or nearly so: then SOFT is the
    softness, and proximal rounds take back what it changes, until they change T x no more.
    """
    size = m * width
    most = largest_entry(size, x)
    factor_softly(m, FINE + 0.0 * most, T, soft, LU)
    copy(size, x, 0, right, 0)
    solve_columns(m, width, LU, x)
    left = 0.0 * most
    for i in range(m):
        left = maximum(left, FINE * soft[i] * largest_entry(width, x[i * width :]))
    if any(left > EXACT * most):
        proximal_rounds(m, width, most, T, soft, LU, right, rest, step, x)


@loops
def proximal_rounds(
    m: int, width: int, most: float, T: Lane, soft: Lane, LU: Lane, right: Lane, rest: Lane, step: Lane, x: Lane
) -> None:
    """See `solve_softly`."""
    size = m * width
    factor_softly(m, SOFT + 0.0 * most, T, soft, LU)
    clear(size, x)
    copy(size, right, 0, rest, 0)
    for k in range(ROUNDS):
        copy(size, rest, 0, step, 0)
        solve_columns(m, width, LU, step)
        add_scaled(size, 1.0, step, 0, x, 0)
        if k > 0:
            for i in range(m):
                add_scaled(width, -SOFT * soft[i], step, i * width, rest, i * width)
            if not any(largest_entry(size, rest) > SETTLED * most):
                break
        clear(size, rest)
        for i in range(m):
            add_scaled(width, SOFT * soft[i], step, i * width, rest, i * width)


@loops
def hold_rows(
    nv: int,
    rows: int,
    row_first: Table,
    row_end: Table,
    P_u: Lane,
    P_x: Lane,
    A: Lane,
    g: Lane,
    T: Lane,
    LU: Lane,
    soft: Lane,
    right_rows: Lane,
    rest: Lane,
    step: Lane,
    multipliers: Lane,
) -> None:
    """dx; a row and those that share its mode are of one law."""
    R = rows
    w = 3 * nv
    copy(R * R, P_x, 0, T, 0)
    clear(R * w, multipliers)
    for i in range(R):
        soft[i] = P_u[i * R + i] * A[i * R + i]
        for k in range(row_first[i], row_end[i]):
            if any(P_u[i * R + k] != 0.0):
                add_scaled(R, P_u[i * R + k], A, k * R, T, i * R)
                add_scaled(w, -P_u[i * R + k], g, k * w, multipliers, i * w)
    solve_softly(R, w, T, soft, LU, right_rows, rest, step, multipliers)


@loops
def held_changes(nv: int, rows: int, answers: Lane, multipliers: Lane, result: Lane) -> None:
    """What multipliers add to dv'."""
    n = nv
    add_product(n, 3 * n, rows, 1.0, answers, 0, rows, 1, multipliers, 0, 3 * n, result, 3 * n * n, 3 * n)
