"""Discs: groups of rows whose force x_d is bounded by its length, |x_d| <= m, against slips u_d of any direction alike.

    u_d = 0 and |x_d| <= m,      or      |u_d| x_d = -m u_d.

Solvers know rows with bounds. So a disc is posed in axes Q of which the first is along the force, and softer across it,

    |x_1| <= m,      u_k + s x_k = 0, |x_k| <= m    for the others,      s = |u_d| / m where it slides, 0 where it sticks,

and posed again at what that leads to: with y = x_d - u_d / a, a the mean diagonal of its rows, Q takes y to its first axis, and
s = a (|y| / m - 1) if |y| > m. That is Newton's method on x_d = P(y), P the projection on the disc: what is left falls with its
square. At the solution x_k = 0 across the force, so that softness changes nothing, and derivatives of the posed problem at the
same Q and s are those of the disc.

Q is a reflection, its own inverse: 1 - v v^T with v = (y / |y| + sign(y_1) e_1) / sqrt(1 + |y_1| / |y|), which `aim` holds; zero,
where nothing is known, is the identity.
"""

from __future__ import annotations

from ..kernel.loops import Ints, Lane, Table, loops, sqrt, where
from .extremes import larger, smaller
from .gram import entry

SOFTEST = 1e6  # times the diagonal of a row: rows that are softer answer nothing beside others


@loops
def reflect(rows: int, first: int, aim: Lane, x: Lane) -> None:
    """x of the rows of a disc becomes Q x."""
    along = aim[first] * x[first]
    for j in range(1, rows):
        along += aim[first + j] * x[first + j]
    for j in range(rows):
        x[first + j] -= along * aim[first + j]


@loops
def reflect_matrix(m: int, rows: int, i: int, first: int, aim: Lane, A: Lane, Av: Lane) -> None:
    """Rows and columns i, ... of a packed symmetric A (m, m) become those in the axes of a disc; Av is scratch."""
    for k in range(m):
        if k < i or k >= i + rows:
            along = 0.0 * aim[first]
            for j in range(rows):
                along += aim[first + j] * entry(A, i + j, k)
            for j in range(rows):
                if k < i:
                    A[(i + j) * (i + j + 1) // 2 + k] -= along * aim[first + j]
                else:
                    A[k * (k + 1) // 2 + i + j] -= along * aim[first + j]
    both = 0.0 * aim[first]
    for j in range(rows):
        total = 0.0 * aim[first]
        for k in range(rows):
            total += entry(A, i + j, i + k) * aim[first + k]
        Av[first + j] = total
        both += total * aim[first + j]
    for j in range(rows):
        for k in range(j + 1):
            e = (i + j) * (i + j + 1) // 2 + i + k
            A[e] += both * aim[first + j] * aim[first + k] - aim[first + j] * Av[first + k] - Av[first + j] * aim[first + k]


@loops
def pose_discs(active: Ints, discs: Table, aim: Lane, soft_across: Lane, A: Lane, b: Lane, x: Lane, Av: Lane) -> None:
    """The problem of rows, some of which are discs, as one of rows with bounds; `discs`: the sizes of those that begin there."""
    m = active[0]
    for i in range(m):
        r = active[i + 1]
        if discs[r] > 1:
            reflect_matrix(m, discs[r], i, r, aim, A, Av)
            reflect(discs[r], r, aim, b)
            reflect(discs[r], r, aim, x)
            for j in range(1, discs[r]):
                e = (i + j) * (i + j + 1) // 2 + i + j
                A[e] = A[e] + soft_across[r]


@loops
def restore_discs(active: Ints, discs: Table, aim: Lane, A_kept: Lane, b_kept: Lane, A: Lane, b: Lane, x: Lane) -> None:
    """The multipliers in the axes of the rows, and the problem as it was, which is kept."""
    m = active[0]
    some = 0
    for i in range(m):
        r = active[i + 1]
        if discs[r] > 1:
            some = 1
            reflect(discs[r], r, aim, x)
            for j in range(discs[r]):
                b[r + j] = b_kept[r + j]
    if some == 1:
        for k in range(m * (m + 1) // 2):
            A[k] = A_kept[k]


@loops
def disc_rest(rows: int, first: int, d: float, wanted: Lane, x: Lane, y: Lane) -> float:
    """|x - P(y)| d of a disc with the bound `wanted`."""
    size = disc_length(rows, first, y)
    part = where(size > wanted[first], wanted[first] / where(size > 0.0, size, 1.0), 1.0)
    square = 0.0 * d
    for j in range(rows):
        off = x[first + j] - part * y[first + j]
        square += off * off
    return sqrt(square) * d


@loops
def disc_length(rows: int, first: int, y: Lane) -> float:
    """|y| of the rows of a disc."""
    square = y[first] * y[first]
    for j in range(1, rows):
        square += y[first + j] * y[first + j]
    return sqrt(square)


@loops
def aim_disc(rows: int, first: int, d: float, most: Lane, y: Lane, aim: Lane, soft_across: Lane, go: float) -> None:
    """How a disc with the bound `most` is posed next, in lanes that go: along y, where that is outside."""
    size = disc_length(rows, first, y)
    slides = (size > most[first]) & (go > 0.0)
    unit = 1.0 / where(size > 0.0, size, 1.0)
    u = y[first] * unit
    shorter = unit / sqrt(1.0 + abs(u))
    side = where(u < 0.0, -1.0, 1.0) / sqrt(1.0 + abs(u))
    soft = smaller(SOFTEST, (size - most[first]) / larger(most[first], 1e-300))
    soft_across[first] = where(slides, d * soft, where(go > 0.0, 0.0, soft_across[first]))
    for j in range(rows):
        v = y[first + j] * shorter
        if j == 0:
            v = v + side
        aim[first + j] = where(slides, v, aim[first + j])
