"""The matrices of `linear_step` for one state, of what rows add to the motion: one linear system of the rows in force.

What ports see has the four parts of `law_slopes`, whose columns are

    displacement   J dq                       velocity   J dv + N_v dq
    free motion    J dfree + N_free dq        rate       R_q dq + R_v dv + R_w dw + J da

with dfree = dv + h da and dw = dv + h/2 da1, so that with the matrices B of `linear_ports` rows change by

    g = B_q dq + B_v dv + (h G J + F) da + h/2 B_w da1 + G J M^-1 rd,      (P_u A + P_x) dx = -P_u g,

F being what rows see of accelerations and not of what is pressed, nothing as a rule. Multipliers change v' by M^-1 (G J)^T dx: by

    W^T g,      (P_u A + P_x)^T W0 = G J M^-1,      W = -P_u^T W0.

So the system has as many right-hand sides as there are velocities, not three times as many, and they agree with one another
whatever g is: rows that others imply share, and where some contradict others the motion is that which misses least.
"""

from __future__ import annotations

from ..kernel.loops import Lane, Table, any, loops
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

EXACT = 1e-11  # of the right-hand sides: what may be left of them
ROUNDS = 4  # proximal ones, at most


@loops
def forget_asleep(laws: int, parts_at: Table, awake: Lane, parts: Lane) -> None:
    """Zeros where the slopes of laws that are not awake would be."""
    for k in range(laws):
        if not any(awake[k] > 0.0):
            for i in range(parts_at[k], parts_at[k + 1]):
                parts[i] = 0.0


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
def watch_rows(
    nv: int,
    rows: int,
    row_first: Table,
    row_end: Table,
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
    """W (rows, nv): what g does to v'; a row and those that share its mode are of one law."""
    R = rows
    copy(R * R, P_x, 0, T, 0)
    for i in range(R):
        soft[i] = P_u[i * R + i] * A[i * R + i]
        for k in range(row_first[i], row_end[i]):
            if any(P_u[i * R + k] != 0.0):
                add_scaled(R, P_u[i * R + k], A, k * R, T, i * R)
    solve_transposed(R, nv, T, soft, answered, LU, rest, watched)
    clear(R * nv, W)
    for i in range(R):
        for k in range(row_first[i], row_end[i]):
            if any(P_u[i * R + k] != 0.0):
                add_scaled(nv, -P_u[i * R + k], watched, i * nv, W, k * nv)


@loops
def forces_through_rows(nv: int, rows: int, h: Lane, W: Lane, answered: Lane, X: Lane) -> None:
    """What rows make of X of v': h W^T (G J M^-1) more."""
    add_product(nv, nv, rows, h[0], W, 0, 1, nv, answered, 0, nv, X, 0, nv)


@loops
def forces_unlike(nv: int, rows: int, W: Lane, unlike_answered: Lane, lost: Lane, X: Lane) -> None:
    """The same of what rows see of accelerations alone: W^T F M^-1."""
    put_product(nv, nv, rows, 1.0, W, 0, 1, nv, unlike_answered, 0, nv, lost, 0, nv)
    add_scaled(nv * nv, 1.0, lost, 0, X, 0)


@loops
def take_unlike(rows: int, nv: int, h: Lane, X: Lane, pressed_q: Lane, out: Lane, o: int) -> None:
    """What is pressed, which X ra has in it, taken back from numbers (rows, 3 nv) that see accelerations alone."""
    add_product(rows, nv, nv, -1.0 / h[0], X, 0, nv, 1, pressed_q, 0, nv, out, o, 3 * nv)
