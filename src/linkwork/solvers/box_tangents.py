"""How the solution of a problem with boxes changes with the problem: the implicit function theorem on the rows in force.

Rows inside their bounds stay solved, those at a bound stay there:

    A_ff dx_f = -(dA x + db + A_fb dx_b)_f,      dx_b that of the bounds.

A row that has just reached a bound has the derivative of the side on which it is. Rows that others imply share as in `boxes`:
proximal rounds on scaled rows lead to the solution of least norm.
"""

from __future__ import annotations

from ..kernel.directional import tangent_of
from ..kernel.loops import Ints, Lane, loops, where
from ..kernel.sweep import SCALAR, Field
from .box_walk import HUGE, NOTHING
from .boxes import EMPTY, gather, largest, solve_boxes, solve_soft_boxes
from .dense import factor, solve
from .few_boxes import solve_few_boxes
from .gram import RowPaths, entry, gram, spread

NEAR = 1e-11  # of a bound: there a row has reached it
SOFT = 1e-10  # relative weight of the last solution in a proximal round
ROUNDS = 4
KEPT = {"kept_A": Field("work", "pair", SCALAR)}


@tangent_of(gather)
@loops
def gather_tangent(rows: int, d_x: Lane) -> None:
    """All multipliers begin at zero."""
    for r in range(rows):
        d_x[r] = 0.0


@tangent_of(gram, **KEPT)
@loops
def gram_tangent(paths: RowPaths, u: Lane, y: Lane, d_u: Lane, d_y: Lane, A: Lane, kept_A: Lane, d_A: Lane) -> None:
    """dA_rs, the sum of du_r . y_s + u_r . dy_s over the joints on both paths; and A as it is, before solvers scale it."""
    for i in range(paths.active[0]):
        r = paths.active[i + 1]
        for j in range(i + 1):
            s = paths.active[j + 1]
            total = 0.0 * A[0]
            a = paths.starts[r]
            c = paths.starts[s]
            while a < paths.starts[r + 1] and c < paths.starts[s + 1]:
                if paths.unknowns[a] == paths.unknowns[c]:
                    total += d_u[paths.places[a]] * y[paths.places[c]]
                    total += u[paths.places[a]] * d_y[paths.places[c]]
                    a += 1
                    c += 1
                elif paths.unknowns[a] < paths.unknowns[c]:
                    a += 1
                else:
                    c += 1
            e = i * (i + 1) // 2 + j
            kept_A[e] = A[e]
            d_A[e] = total


@tangent_of(spread)
@loops
def spread_tangent(paths: RowPaths, y: Lane, x: Lane, d_y: Lane, d_x: Lane, d_dy: Lane) -> None:
    """d(dy) += dy_r x_r + y_r dx_r at every joint on the path of every row."""
    for i in range(paths.active[0]):
        r = paths.active[i + 1]
        for a in range(paths.starts[r], paths.starts[r + 1]):
            p = paths.places[a]
            d_dy[paths.unknowns[a]] += d_y[p] * x[r] + y[p] * d_x[r]


@loops
def margin(bound: float) -> float:
    """So near to a bound a row has reached it."""
    return where(abs(bound) < HUGE, NEAR * abs(bound), 0.0)


@tangent_of(solve_boxes, solve_few_boxes, solve_soft_boxes, **KEPT)
@loops
def boxes_tangent(
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
    d_A: Lane,
    d_b: Lane,
    d_lower: Lane,
    d_upper: Lane,
    d_x: Lane,
) -> None:
    """dx of the module's text; w are right-hand sides, xs the solution in scaled rows."""
    m = active[0]
    most = largest(active, on, kept_A)
    for i in range(m):
        r = active[i + 1]
        a = kept_A[i * (i + 1) // 2 + i]
        good = (on[r] > 0.0) & (a > EMPTY * most)
        low = margin(lower[r])
        high = margin(upper[r])
        above = x[r] > lower[r] + low
        below = x[r] < upper[r] - high
        free[i] = where(good & above & below, 1.0, 0.0)
        d_x[r] = where(good & ~above, d_lower[r], where(good & ~below, d_upper[r], 0.0))
        xs[i] = 0.0
    for i in range(m):
        r = active[i + 1]
        total = d_b[r]
        for k in range(m):
            s = active[k + 1]
            total += entry(d_A, i, k) * x[s] + entry(kept_A, i, k) * d_x[s]
        w[i] = -total * free[i]
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
            xs[i] += z[i]
        for i in range(m):
            total = w[i]
            for k in range(m):
                total -= entry(kept_A, i, k) * z[k]
            w[i] = total * free[i]
    for i in range(m):
        r = active[i + 1]
        d_x[r] = where(free[i] > 0.0, xs[i], d_x[r])
