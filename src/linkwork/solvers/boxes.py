"""Problems with boxes, in all lanes at once: w = A x + b, lower <= x <= upper, and

    w = 0 where x is inside its bounds,    w >= 0 at the lower bound,    w <= 0 at the upper one.

Without bounds a row is an equality; with (0, inf) it only pushes; with (-f, f) it is dry friction. A is symmetric and
semidefinite. Only the rows of a list take part, and of these in every lane only those that are on.

Rows are scaled to a unit diagonal. Which rows are free (inside their bounds) is found by Newton's method on the complementarity
(a primal-dual active set): with the others at their bounds, free rows are solved directly, then a row whose x left its bounds
goes to the bound, and one whose w pulls it inward is set free, until nothing changes. Where that does not settle, Gauss-Seidel
sweeps propose the next set.

Redundant rows need no pivoting: free rows are solved by proximal rounds (A + eps 1) dx = -w from x = 0 with one factor, until the
residual stands still; they reach the solution of least norm in scaled rows. Lanes that are done stay as they are: a result
does not depend on its neighbours.
"""

from __future__ import annotations

import numpy as np

from ..kernel.loops import Ints, Lane, Table, any, loops, maximum, minimum, sqrt, where
from .dense import factor, solve

EPS = 1e-9  # relative weight of the last solution in a proximal round
ROUNDS = 8  # proximal rounds
CHANGES = 40  # of the set of free rows, at most
PATIENCE = 6  # changes before Gauss-Seidel proposes the next set, and between such proposals
SWEEPS = 30
EMPTY = 1e-14  # of the largest diagonal: rows that answer less drop out
NOTHING = 0.0
INFINITE = np.inf
HUGE = 1e300


@loops
def gather(rows: int, on: Lane, x: Lane, busy: Lane, left: Lane, active: Ints) -> None:
    """List the rows that are on in some lane: their number, then they; all multipliers begin at zero."""
    busy[0] = 0.0
    left[0] = 0.0
    m = 0
    for r in range(rows):
        x[r] = 0.0
        if any(on[r] > 0.0):
            m += 1
            active[m] = r
            busy[0] = maximum(busy[0], on[r])
    active[0] = m


@loops
def gram(active: Ints, starts: Table, bodies: Table, places: Table, freedoms: Table, u: Lane, y: Lane, A: Lane) -> None:
    """A_rs: the sum of u_r . y_s over the bodies on both paths (`elements.supports`), packed by the order of the list."""
    for i in range(active[0]):
        r = active[i + 1]
        for j in range(i + 1):
            s = active[j + 1]
            total = 0.0 * u[0]
            a = starts[r]
            b = starts[s]
            while a < starts[r + 1] and b < starts[s + 1]:
                if bodies[a] == bodies[b]:
                    for k in range(freedoms[a]):
                        total += u[places[a] + k] * y[places[b] + k]
                    a += 1
                    b += 1
                elif bodies[starts[r + 1] - 1] < bodies[b] or bodies[starts[s + 1] - 1] < bodies[a]:
                    break  # the rest of one path lies before that of the other
                elif bodies[a] < bodies[b]:
                    a += 1
                else:
                    b += 1
            A[i * (i + 1) // 2 + j] = total


@loops
def spread(active: Ints, starts: Table, places: Table, freedoms: Table, v_at: Table, y: Lane, x: Lane, dy: Lane) -> None:
    """dy += y_r x_r at every joint on the path of every row."""
    for i in range(active[0]):
        r = active[i + 1]
        for a in range(starts[r], starts[r + 1]):
            for k in range(freedoms[a]):
                dy[v_at[a] + k] += y[places[a] + k] * x[r]


@loops
def residuals(m: int, A: Lane, b: Lane, x: Lane, w: Lane) -> None:
    """w = A x + b of a packed symmetric matrix."""
    for i in range(m):
        w[i] = b[i]
    for i in range(m):
        a = i * (i + 1) // 2
        s = w[i] + A[a + i] * x[i]
        for k in range(i):
            s += A[a + k] * x[k]
            w[k] += A[a + k] * x[i]
        w[i] = s


@loops
def gauss_seidel(m: int, A: Lane, b: Lane, lower: Lane, upper: Lane, x: Lane, go: float) -> None:
    """Sweeps over all rows of a matrix with a unit diagonal, in lanes that go."""
    for _ in range(SWEEPS):
        for i in range(m):
            a = i * (i + 1) // 2
            w = b[i] + x[i]
            for k in range(i):
                w += A[a + k] * x[k]
            for k in range(i + 1, m):
                w += A[k * (k + 1) // 2 + i] * x[k]
            new = minimum(maximum(x[i] - w, lower[i]), upper[i])
            x[i] = where(go > 0.0, new, x[i])


@loops
def solve_free(m: int, A: Lane, L: Lane, d: Lane, b: Lane, free: Lane, x: Lane, w: Lane, z: Lane, go: float) -> None:
    """The free rows, with the others as they are, by proximal rounds, in lanes that go; w is left as it is found."""
    for i in range(m):
        a = i * (i + 1) // 2
        for k in range(i):
            L[a + k] = A[a + k] * free[i] * free[k]
        L[a + i] = where(free[i] > 0.0, A[a + i] + EPS, 1.0)
    factor(m, L, d, NOTHING)
    last = HUGE + 0.0 * go
    still = go
    for _ in range(ROUNDS):
        residuals(m, A, b, x, w)
        size = 0.0 * go
        for i in range(m):
            z[i] = -w[i] * free[i]
            size = maximum(size, abs(z[i]))
        still = where((size < 0.5 * last) & (size > 0.0), still, 0.0)
        if not any(still > 0.0):
            break
        last = size
        solve(m, L, d, z)
        for i in range(m):
            x[i] = where(still > 0.0, x[i] + z[i] * free[i], x[i])
    residuals(m, A, b, x, w)


@loops
def solve_boxes(
    active: Ints,
    on: Lane,
    b: Lane,
    lower: Lane,
    upper: Lane,
    x: Lane,
    A: Lane,
    left: Lane,
    L: Lane,
    d: Lane,
    scale: Lane,
    bs: Lane,
    lo: Lane,
    hi: Lane,
    xs: Lane,
    w: Lane,
    z: Lane,
    free: Lane,
) -> None:
    """The multipliers x of the listed rows; `left` is the largest residual, in the units of the rows; all else is scratch."""
    m = active[0]
    most = 0.0 * A[0]
    for i in range(m):
        most = maximum(most, where(on[active[i + 1]] > 0.0, A[i * (i + 1) // 2 + i], 0.0))
    for i in range(m):
        r = active[i + 1]
        a = i * (i + 1) // 2
        good = (on[r] > 0.0) & (A[a + i] > EMPTY * most)
        scale[i] = where(good, 1.0 / sqrt(where(good, A[a + i], 1.0)), 0.0)
        for k in range(i):
            A[a + k] = A[a + k] * (scale[i] * scale[k])
        A[a + i] = 1.0
        bs[i] = b[r] * scale[i]
        lo[i] = where(good, lower[r] / where(good, scale[i], 1.0), 0.0)
        hi[i] = where(good, upper[r] / where(good, scale[i], 1.0), 0.0)
        inside = (-bs[i] >= lo[i]) & (-bs[i] <= hi[i])
        free[i] = where(good & inside, 1.0, 0.0)
        xs[i] = where(free[i] > 0.0, 0.0, minimum(maximum(-bs[i], lo[i]), hi[i]))
    go = 1.0 + 0.0 * most
    for change in range(CHANGES):
        solve_free(m, A, L, d, bs, free, xs, w, z, go)
        if change % PATIENCE == PATIENCE - 1:
            for i in range(m):
                xs[i] = where(go > 0.0, minimum(maximum(xs[i], lo[i]), hi[i]), xs[i])
            gauss_seidel(m, A, bs, lo, hi, xs, go)
            residuals(m, A, bs, xs, w)
        changed = 0.0 * most
        for i in range(m):
            wish = xs[i] - w[i]
            inside = (wish >= lo[i]) & (wish <= hi[i])
            bound = minimum(maximum(wish, lo[i]), hi[i])
            now = where(inside & (scale[i] > 0.0), 1.0, 0.0)
            off = where(now > 0.0, 0.0, abs(bound - xs[i]))
            different = (go > 0.0) & ((now < free[i]) | (now > free[i]) | (off > 0.0))
            changed = where(different, 1.0, changed)
            xs[i] = where((go > 0.0) & ~(now > 0.0), bound, xs[i])
            free[i] = where(go > 0.0, now, free[i])
        go = where(changed > 0.0, go, 0.0)
        if not any(go > 0.0):
            break
    residuals(m, A, bs, xs, w)
    left[0] = 0.0
    for i in range(m):
        wish = minimum(maximum(xs[i] - w[i], lo[i]), hi[i])
        off = abs(xs[i] - wish) / where(scale[i] > 0.0, scale[i], 1.0)
        left[0] = maximum(left[0], where(scale[i] > 0.0, off, 0.0))
        x[active[i + 1]] = xs[i] * scale[i]
