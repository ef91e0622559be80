"""Weights of what problems with boxes are made of, given those of their solutions: the transposes of `box_tangents`.

With the rows in force inside their bounds (f), others at them (b), and g = dA x + db, dx_f = -A_ff^-1 (g + A_fb dx_b)_f. So

    bar_g = -A_ff^-1 bar_x on f,      bar_A = bar_g x^T,     bar_b = bar_g,     bar of the bounds: bar_x + A_bf bar_g on b.

Redundant rows share by the same proximal rounds, whose matrix is symmetric. No bar_A is ever made (`gram_adjoints`).
"""

from __future__ import annotations

from ..kernel.adjoint_routines import adjoint_of
from ..kernel.loops import Ints, Lane, any, loops, where
from .box_tangents import ROUNDS, SOFT, margin
from .box_walk import NOTHING
from .boxes import EMPTY, gather, largest, solve_boxes, solve_soft_boxes, subtract_answer
from .dense import factor, solve
from .few_boxes import solve_few_boxes
from .gram import entry
from .gram_adjoints import WEIGHTS, add_products


@adjoint_of(gather)
@loops
def gather_adjoint(rows: int, bar_x: Lane) -> None:
    """Multipliers that begin at zero have no weight before."""
    for r in range(rows):
        bar_x[r] = 0.0


@loops
def keep_matrix(active: Ints, A: Lane, kept_A: Lane) -> None:
    """The matrix as it is, before a solver scales it."""
    m = active[0]
    for e in range(m * (m + 1) // 2):
        kept_A[e] = A[e]


@loops
def find_sides(active: Ints, on: Lane, lower: Lane, upper: Lane, x: Lane, A: Lane, free: Lane, low: Lane, high: Lane) -> None:
    """Of every row that answers one of three is 1: inside its bounds, at the lower, at the upper one; all others are 0."""
    most = largest(active, on, A)
    for i in range(active[0]):
        r = active[i + 1]
        good = (on[r] > 0.0) & (A[i * (i + 1) // 2 + i] > EMPTY * most)
        above = x[r] > lower[r] + margin(lower[r])
        below = x[r] < upper[r] - margin(upper[r])
        free[i] = where(good & above & below, 1.0, 0.0)
        low[i] = where(good & ~above, 1.0, 0.0)
        high[i] = where(good & above & ~below, 1.0, 0.0)


@loops
def factor_inside(m: int, A: Lane, L: Lane, d: Lane, free: Lane, some: Ints) -> None:
    """List the rows that are free in some lane: their number, then they; and factor their matrix, a little softer."""
    n = 0
    for i in range(m):
        if any(free[i] > 0.0):
            n += 1
            some[n] = i
            row = i * (i + 1) // 2
            a = n * (n - 1) // 2
            for q in range(n - 1):
                L[a + q] = A[row + some[q + 1]] * free[i] * free[some[q + 1]]
            L[a + n - 1] = where(free[i] > 0.0, A[row + i] * (1.0 + SOFT), 1.0)
    some[0] = n
    factor(n, L, d, NOTHING)


@loops
def solve_inside(A: Lane, L: Lane, d: Lane, free: Lane, some: Ints, rest: Lane, z: Lane, g: Lane) -> None:
    """g -= A^-1 rest on the rows of the list, by proximal rounds; `rest` is what they leave."""
    for p in range(some[0]):
        z[p] = rest[p]
    for again in range(ROUNDS):
        if again > 0:
            subtract_answer(A, some, z, rest)
            for p in range(some[0]):
                rest[p] = rest[p] * free[some[p + 1]]
                z[p] = rest[p]
        solve(some[0], L, d, z)
        for p in range(some[0]):
            i = some[p + 1]
            z[p] = z[p] * free[i]
            g[i] -= z[p]


@adjoint_of(solve_boxes, solve_few_boxes, solve_soft_boxes, keep=keep_matrix, then=(add_products,), weights=WEIGHTS)
@loops
def boxes_adjoint(
    active: Ints,
    on: Lane,
    lower: Lane,
    upper: Lane,
    x: Lane,
    L: Lane,
    d: Lane,
    lo: Lane,
    hi: Lane,
    z: Lane,
    free: Lane,
    rest: Lane,
    some: Ints,
    kept_A: Lane,
    weights: Lane,
    bar_b: Lane,
    bar_lower: Lane,
    bar_upper: Lane,
    bar_x: Lane,
) -> None:
    """Weights of the module's text, where only rows that are free in some lane have a bar_g, one of the `weights`."""
    m = active[0]
    find_sides(active, on, lower, upper, x, kept_A, free, lo, hi)
    factor_inside(m, kept_A, L, d, free, some)
    for i in range(m):
        weights[i] = 0.0
    for p in range(some[0]):
        i = some[p + 1]
        rest[p] = bar_x[active[i + 1]] * free[i]
    solve_inside(kept_A, L, d, free, some, rest, z, weights)
    for i in range(m):
        r = active[i + 1]
        held = bar_x[r]
        for p in range(some[0]):
            held += entry(kept_A, i, some[p + 1]) * weights[some[p + 1]]
        bar_lower[r] += where(lo[i] > 0.0, held, 0.0)
        bar_upper[r] += where(hi[i] > 0.0, held, 0.0)
        bar_b[r] += weights[i]
        bar_x[r] = 0.0
