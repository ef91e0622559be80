"""Weights of what problems with boxes are made of, given those of their solutions: the transposes of `box_tangents`.

With the rows in force inside their bounds (f), others at them (b), and g = dA x + db, dx_f = -A_ff^-1 (g + A_fb dx_b)_f. So

    bar_g = -A_ff^-1 bar_x on f,      bar_A = bar_g x^T,     bar_b = bar_g,     bar of the bounds: bar_x + A_bf bar_g on b.

Redundant rows share by the same proximal rounds, whose matrix is symmetric.
"""

from __future__ import annotations

from ..kernel.adjoint_routines import adjoint_of
from ..kernel.loops import Ints, Lane, Table, loops, where
from .box_tangents import NEAR, ROUNDS, SOFT, entry
from .box_walk import HUGE, NOTHING
from .boxes import EMPTY, gather, largest, solve_boxes, solve_soft_boxes
from .dense import factor, solve
from .few_boxes import solve_few_boxes
from .gram import gram, spread


@adjoint_of(gather)
@loops
def gather_adjoint(rows: int, bar_x: Lane) -> None:
    """Multipliers that begin at zero have no weight before."""
    for r in range(rows):
        bar_x[r] = 0.0


@adjoint_of(gram)
@loops
def gram_adjoint(
    active: Ints,
    starts: Table,
    places: Table,
    unknowns: Table,
    u: Lane,
    y: Lane,
    bar_u: Lane,
    bar_y: Lane,
    bar_A: Lane,
) -> None:
    """A_rs is u_r . y_s, r not before s, along the joints of both."""
    for i in range(active[0]):
        r = active[i + 1]
        for j in range(i + 1):
            s = active[j + 1]
            weight = bar_A[i * (i + 1) // 2 + j]
            bar_A[i * (i + 1) // 2 + j] = 0.0
            a = starts[r]
            c = starts[s]
            while a < starts[r + 1] and c < starts[s + 1]:
                if unknowns[a] == unknowns[c]:
                    bar_u[places[a]] += weight * y[places[c]]
                    bar_y[places[c]] += weight * u[places[a]]
                    a += 1
                    c += 1
                elif unknowns[a] < unknowns[c]:
                    a += 1
                else:
                    c += 1


@adjoint_of(spread)
@loops
def spread_adjoint(
    active: Ints,
    starts: Table,
    places: Table,
    unknowns: Table,
    y: Lane,
    x: Lane,
    bar_y: Lane,
    bar_x: Lane,
    bar_dy: Lane,
) -> None:
    """dy is the sum of y_r x_r."""
    for i in range(active[0]):
        r = active[i + 1]
        total = bar_x[r]
        for a in range(starts[r], starts[r + 1]):
            p = places[a]
            total += y[p] * bar_dy[unknowns[a]]
            bar_y[p] += bar_dy[unknowns[a]] * x[r]
        bar_x[r] = total


@loops
def keep_matrix(active: Ints, A: Lane, kept_A: Lane) -> None:
    """The matrix as it is, before a solver scales it."""
    m = active[0]
    for e in range(m * (m + 1) // 2):
        kept_A[e] = A[e]


@loops
def add_matrix_weights(active: Ints, x: Lane, g: Lane, bar_A: Lane) -> None:
    """bar_A of weights g of A x, in the order of the list; entries beside the diagonal stand once for two."""
    for i in range(active[0]):
        for k in range(i):
            bar_A[i * (i + 1) // 2 + k] += g[i] * x[active[k + 1]] + g[k] * x[active[i + 1]]
        bar_A[i * (i + 1) // 2 + i] += g[i] * x[active[i + 1]]


@adjoint_of(solve_boxes, solve_few_boxes, solve_soft_boxes, keep=keep_matrix)
@loops
def boxes_adjoint(
    active: Ints,
    on: Lane,
    lower: Lane,
    upper: Lane,
    x: Lane,
    L: Lane,
    d: Lane,
    xs: Lane,
    w: Lane,
    z: Lane,
    free: Lane,
    kept_A: Lane,
    bar_A: Lane,
    bar_b: Lane,
    bar_lower: Lane,
    bar_upper: Lane,
    bar_x: Lane,
) -> None:
    """Weights of the module's text; w is what proximal rounds leave, xs becomes bar_g."""
    m = active[0]
    most = largest(active, on, kept_A)
    for i in range(m):
        r = active[i + 1]
        a = kept_A[i * (i + 1) // 2 + i]
        good = (on[r] > 0.0) & (a > EMPTY * most)
        low = where(abs(lower[r]) < HUGE, NEAR * abs(lower[r]), 0.0)
        high = where(abs(upper[r]) < HUGE, NEAR * abs(upper[r]), 0.0)
        inside = (x[r] > lower[r] + low) & (x[r] < upper[r] - high)
        free[i] = where(good & inside, 1.0, 0.0)
        w[i] = bar_x[r] * free[i]
        xs[i] = 0.0
        bar_x[r] = where(good & ~inside, bar_x[r], 0.0)
    for i in range(m):
        for k in range(i):
            L[i * (i + 1) // 2 + k] = kept_A[i * (i + 1) // 2 + k] * free[i] * free[k]
        a = kept_A[i * (i + 1) // 2 + i]
        L[i * (i + 1) // 2 + i] = where(free[i] > 0.0, a * (1.0 + SOFT), 1.0)
    factor(m, L, d, NOTHING)
    for _ in range(ROUNDS):
        for i in range(m):
            z[i] = w[i]
        solve(m, L, d, z)
        for i in range(m):
            z[i] = z[i] * free[i]
            xs[i] -= z[i]
        for i in range(m):
            total = w[i]
            for k in range(m):
                total -= entry(kept_A, i, k) * z[k]
            w[i] = total * free[i]
    for i in range(m):
        r = active[i + 1]
        bar_b[r] += xs[i]
        held = bar_x[r]
        for k in range(m):
            held += entry(kept_A, i, k) * xs[k]
        low = where(abs(lower[r]) < HUGE, NEAR * abs(lower[r]), 0.0)
        good = (on[r] > 0.0) & (kept_A[i * (i + 1) // 2 + i] > EMPTY * most) & ~(free[i] > 0.0)
        below = x[r] <= lower[r] + low
        bar_lower[r] += where(good & below, held, 0.0)
        bar_upper[r] += where(good & ~below, held, 0.0)
        bar_x[r] = 0.0
    add_matrix_weights(active, x, xs, bar_A)
