"""Problems with boxes (`boxes`), one row at a time: slow, but it ends where sets of free rows proposed at once go about for ever.

From x inside its bounds, with some rows free: a step (A + eps 1) z = -w of the free rows, up to the first bound, where that row
stays. Where steps make w no smaller, free rows contradict one another, and the next goes on to a bound, if there is one. After a
whole step that solves the free rows, of those at their bounds the one that is pulled inward most is set free;
where none is, x solves the problem. The objective x^T A x / 2 + b^T x falls all the way [Lawson & Hanson 1974; Stark & Parker
1995].
"""

from __future__ import annotations

from ..kernel.loops import Ints, Lane, any, loops, maximum, minimum, where
from .dense import factor, solve

FINE = 1e-15  # of the right-hand side: so small a residual is rounding
TOUCHES = 1.0 + 1e-12  # times a step: a bound so near is reached
FAR = 1e12  # times a step: to a bound
NOTHING = 0.0
HUGE = 1e300


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
def factor_free(m: int, A: Lane, L: Lane, d: Lane, free: Lane, some: Ints, go: float, eps: float) -> None:
    """List the rows that are free in some lane that goes: their number, then they; and factor A + eps 1 of the free rows."""
    n = 0
    for i in range(m):
        if any((free[i] > 0.0) & (go > 0.0)):
            n += 1
            some[n] = i
    some[0] = n
    for p in range(n):
        i = some[p + 1]
        row = i * (i + 1) // 2
        a = p * (p + 1) // 2
        for q in range(p):
            L[a + q] = A[row + some[q + 1]] * free[i] * free[some[q + 1]]
        L[a + p] = where(free[i] > 0.0, A[row + i] + eps, 1.0)
    factor(n, L, d, NOTHING)


@loops
def begin_walk(m: int, A: Lane, bs: Lane, lo: Lane, hi: Lane, scale: Lane, xs: Lane, w: Lane, free: Lane, go: float) -> None:
    """From zero, or the bound next to it, in lanes that go; rows between their bounds are free."""
    for i in range(m):
        x = minimum(maximum(0.0 * go, lo[i]), hi[i])
        xs[i] = where(go > 0.0, x, xs[i])
        inside = (x > lo[i]) & (x < hi[i]) & (scale[i] > 0.0)
        free[i] = where(go > 0.0, where(inside, 1.0, 0.0), free[i])
    residuals(m, A, bs, xs, w)


@loops
def walk(
    m: int,
    A: Lane,
    L: Lane,
    d: Lane,
    bs: Lane,
    lo: Lane,
    hi: Lane,
    scale: Lane,
    xs: Lane,
    w: Lane,
    z: Lane,
    free: Lane,
    some: Ints,
    size: float,
    eps: float,
    go: float,
) -> None:
    """x of scaled rows, in lanes that go; `size` is that of the right-hand side."""
    begin_walk(m, A, bs, lo, hi, scale, xs, w, free, go)
    last = HUGE + 0.0 * go
    most = 1.0 + 0.0 * go
    for _ in range(6 * m + 40):
        if not any(go > 0.0):
            break
        factor_free(m, A, L, d, free, some, go, eps)
        n = some[0]
        step = most
        for p in range(n):
            z[p] = -w[some[p + 1]] * free[some[p + 1]]
        solve(n, L, d, z)
        for p in range(n):
            i = some[p + 1]
            z[p] = where(go > 0.0, z[p] * free[i], 0.0)
            way = abs(z[p])
            room = where(z[p] > 0.0, hi[i] - xs[i], xs[i] - lo[i])
            step = minimum(step, where(way > 0.0, room / where(way > 0.0, way, 1.0), most))
        for p in range(n):
            i = some[p + 1]
            up = z[p] > 0.0
            room = where(up, hi[i] - xs[i], xs[i] - lo[i])
            hits = (abs(z[p]) > 0.0) & (room <= step * abs(z[p]) * TOUCHES)
            xs[i] = where(hits, where(up, hi[i], lo[i]), xs[i] + step * z[p])
            free[i] = where(hits, 0.0, free[i])
        residuals(m, A, bs, xs, w)
        rest = 0.0 * go
        worst = 0.0 * go
        for i in range(m):
            rest = maximum(rest, where(free[i] > 0.0, abs(w[i]), 0.0))
            pull = where(xs[i] <= lo[i], -w[i], where(xs[i] >= hi[i], w[i], 0.0))
            worst = maximum(worst, where((free[i] > 0.0) | (lo[i] >= hi[i]), 0.0, pull))
        whole = step >= most
        stalls = whole & (rest > FINE * size) & (rest >= 0.5 * last)
        solved = (whole & (rest <= FINE * size)) | (stalls & (most > 1.0))
        most = where(stalls & ~solved, FAR, 1.0)
        last = where(solved | ~whole, HUGE, rest)
        go = where(solved & (worst <= FINE * size), 0.0, go)
        taken = where(solved & (go > 0.0), 0.0, 1.0)
        for i in range(m):
            pull = where(xs[i] <= lo[i], -w[i], where(xs[i] >= hi[i], w[i], 0.0))
            next_one = ~(taken > 0.0) & ~(free[i] > 0.0) & (lo[i] < hi[i]) & (pull >= worst)
            free[i] = where(next_one, 1.0, free[i])
            taken = where(next_one, 1.0, taken)
