"""The matrices of `linear_step` for one state, of what rows add to the motion: one linear system of the rows in force.

What ports see has the four parts of `law_slopes`, whose columns are

    displacement   J dq                       velocity   J dv + N_v dq
    free motion    J dfree + N_free dq        rate       R_q dq + R_v dv + R_w dw + J da

with dfree = dv + h da and dw = dv + h/2 da1, so that with the matrices B of `linear_ports` rows change by

    g = B_q dq + B_v dv + (h G J + F) da + h/2 B_w da1 + G J M^-1 rd,      (P_u A + P_x) dx = -P_u g,

F being what rows see of accelerations and not of what is pressed, nothing as a rule. Multipliers change v' by M^-1 (G J)^T dx: by

    W^T g,      (P_u A + P_x)^T W0 = G J M^-1,      W = -P_u^T W0.

So the system has as many right-hand sides as there are velocities, not three times as many, and they agree with one another
whatever g is: rows that others imply share, and where some contradict others the motion is that which misses least. Rows are
those that act (`linear_lists`), numbered among these.
"""

from __future__ import annotations

from ..kernel.loops import Ints, Lane, Table, any, loops
from ..kernel.matrix_rows import scale_rows
from ..kernel.products import (
    add_product,
    add_scaled,
    clear,
    copy,
    largest_entry,
    put_product,
    put_scaled,
    solve_lower,
    solve_upper,
)
from ..kernel.transposes import put_transposed
from ..solvers.box_tangents import SOFT
from ..solvers.lu import factor_lu
from .linear_free import FREE
from .linear_ports import THREE, add_seen_product

EXACT = 1e-11  # of the right-hand sides: what may be left of them
ROUNDS = 4  # proximal ones, at most


@loops
def lay_pressed(nv: int, motion: int, E: Lane, pressed_q: Lane) -> None:
    """-E of a motion, to which d(G^T x) is added: rd, of q alone."""
    put_scaled(nv * nv, -1.0, E, motion * nv * nv, pressed_q, 0)


@loops
def take_pressed(nv: int, h: Lane, pressed_q: Lane, E: Lane) -> None:
    """E - d(G^T x) / h instead of E of the motion of the step, which has that of rows in it."""
    add_scaled(nv * nv, -1.0 / h[0], pressed_q, 0, E, FREE * nv * nv)


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
def solve_transposed(m: int, width: int, T: Lane, soft: Lane, right: Lane, LU: Lane, rest: Lane, x: Lane) -> None:
    """x with T^T x = right (m, width), right-hand sides that do not contradict one another; rows that others imply share.

    A little softness times `soft` on the diagonal of T says how they do, and proximal rounds take back what it changes.
    """
    size = m * width
    if m == 0:
        return
    put_transposed(m, m, T, LU)
    for i in range(m):
        LU[i * m + i] += SOFT * soft[i]
    factor_lu(m, LU)
    copy(size, right, 0, x, 0)
    solve_columns(m, width, LU, x)
    left = scale_rows(m, width, SOFT, soft, x, rest)
    most = largest_entry(size, right)
    for _ in range(1, ROUNDS):
        solve_columns(m, width, LU, rest)
        add_scaled(size, 1.0, rest, 0, x, 0)
        left = scale_rows(m, width, SOFT, soft, rest, rest)
        if not any(left > EXACT * most):
            break


@loops
def answer_rows(
    nv: int,
    groups: int,
    group_row: Table,
    group_rows: Table,
    group_segments: Table,
    group_at: Table,
    group_size: Table,
    acting: Ints,
    before: Ints,
    on_joints: Lane,
    M_inverse: Lane,
    answered: Lane,
    answers: Lane,
    A: Lane,
) -> None:
    """G J M^-1 (rows, nv), `answered`, and A = G J M^-1 (G J)^T of rows that act."""
    m = acting[0]
    wide = THREE * nv
    clear(m * nv, answered)
    clear(m * m, A)
    if m > 0:
        add_seen_product(
            groups, group_row, group_rows, group_segments, group_at, group_size, before, on_joints, wide, M_inverse, nv, answered
        )
        put_transposed(m, nv, answered, answers)
        add_seen_product(
            groups, group_row, group_rows, group_segments, group_at, group_size, before, on_joints, wide, answers, m, A
        )


@loops
def answer_unlike(
    nv: int,
    groups: int,
    group_row: Table,
    group_rows: Table,
    group_segments: Table,
    group_at: Table,
    group_size: Table,
    acting: Ints,
    before: Ints,
    on_accelerations: Lane,
    M_inverse: Lane,
    unlike_answered: Lane,
) -> None:
    """F M^-1 (rows, nv), of what rows see of accelerations alone."""
    n = nv
    clear(acting[0] * n, unlike_answered)
    add_seen_product(
        groups,
        group_row,
        group_rows,
        group_segments,
        group_at,
        group_size,
        before,
        on_accelerations,
        n,
        M_inverse,
        n,
        unlike_answered,
    )


@loops
def watch_rows(
    nv: int,
    modal_width: int,
    row_first: Table,
    row_end: Table,
    acting: Ints,
    before: Ints,
    P_u: Lane,
    P_x: Lane,
    A: Lane,
    answered: Lane,
    T: Lane,
    LU: Lane,
    soft: Lane,
    rest: Lane,
    watched: Lane,
    W: Lane,
) -> None:
    """W (rows, nv): what g does to v', of rows that act; a row and those that share its mode are of one law."""
    m = acting[0]
    clear(m * m, T)
    for i in range(m):
        r = acting[i + 1]
        at = r * modal_width - row_first[r]
        soft[i] = P_u[at + r] * A[i * m + i]
        for j in range(before[row_first[r]], before[row_end[r]]):
            k = at + acting[j + 1]
            T[i * m + j] += P_x[k]
            if any(P_u[k] != 0.0):
                add_scaled(m, P_u[k], A, j * m, T, i * m)
    solve_transposed(m, nv, T, soft, answered, LU, rest, watched)
    clear(m * nv, W)
    for i in range(m):
        r = acting[i + 1]
        at = r * modal_width - row_first[r]
        for j in range(before[row_first[r]], before[row_end[r]]):
            k = at + acting[j + 1]
            if any(P_u[k] != 0.0):
                add_scaled(nv, -P_u[k], watched, i * nv, W, j * nv)


@loops
def forces_through_rows(nv: int, acting: Ints, h: Lane, W: Lane, answered: Lane, X: Lane) -> None:
    """What rows make of X of v': h W^T (G J M^-1) more."""
    if acting[0] > 0:
        add_product(nv, nv, acting[0], h[0], W, 0, 1, nv, answered, 0, nv, X, 0, nv)


@loops
def forces_unlike(nv: int, acting: Ints, W: Lane, unlike_answered: Lane, lost: Lane, X: Lane) -> None:
    """The same of what rows see of accelerations alone: W^T F M^-1."""
    put_product(nv, nv, acting[0], 1.0, W, 0, 1, nv, unlike_answered, 0, nv, lost, 0, nv)
    add_scaled(nv * nv, 1.0, lost, 0, X, 0)


@loops
def take_unlike(rows: int, nv: int, h: Lane, X: Lane, pressed_q: Lane, out: Lane, o: int) -> None:
    """What is pressed, which X ra has in it, taken back from numbers (rows, 3 nv) that see accelerations alone."""
    add_product(rows, nv, nv, -1.0 / h[0], X, 0, nv, 1, pressed_q, 0, nv, out, o, 3 * nv)
