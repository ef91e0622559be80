"""Problems with boxes (`boxes`), one row at a time: slow, but it ends where sets of free rows proposed at once go about for ever.

From x inside its bounds, with some rows free: a step (A + eps 1) z = -w of the free rows, up to the first bound, where that row
stays. Where steps make w no smaller, free rows contradict one another, and the next goes on to a bound, if there is one. After a
whole step that solves the free rows, of those at their bounds the one that is pulled inward most is set free;
where none is, x solves the problem. The objective x^T A x / 2 + b^T x falls all the way [Lawson & Hanson 1974; Stark & Parker
1995].
"""

from __future__ import annotations

from ..kernel.loops import Arrays, Ints, Lane, any, loops, maximum, minimum, where
from .dense import factor, solve

FINE = 1e-15  # of the right-hand side: so small a residual is rounding
TOUCHES = 1.0 + 1e-12  # times a step: a bound so near is reached
FAR = 1e12  # times a step: to a bound
NOTHING = 0.0
HUGE = 1e300


class Scaled(Arrays):
    """A problem in scaled rows, and what solvers need for it, in the order of the list.

    L, d         the factor of the free rows, and z what it is applied to
    scale        of every row; zero of those that drop out
    bs, lo, hi   b and bounds
    xs, w        multipliers, and w = A x + b
    free         1 of rows that are inside their bounds
    some         how many are free in some lane, then they; rest is scratch
    """

    L: Lane
    d: Lane
    scale: Lane
    bs: Lane
    lo: Lane
    hi: Lane
    xs: Lane
    w: Lane
    z: Lane
    free: Lane
    rest: Lane
    some: Ints


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
def factor_free(m: int, A: Lane, s: Scaled, go: float, eps: float) -> None:
    """List the rows that are free in some lane that goes: their number, then they; and factor A + eps 1 of the free rows."""
    n = 0
    for i in range(m):
        if any((s.free[i] > 0.0) & (go > 0.0)):
            n += 1
            s.some[n] = i
    s.some[0] = n
    for p in range(n):
        i = s.some[p + 1]
        row = i * (i + 1) // 2
        a = p * (p + 1) // 2
        for q in range(p):
            s.L[a + q] = A[row + s.some[q + 1]] * s.free[i] * s.free[s.some[q + 1]]
        s.L[a + p] = where(s.free[i] > 0.0, A[row + i] + eps, 1.0)
    factor(n, s.L, s.d, NOTHING)


@loops
def begin_walk(m: int, A: Lane, s: Scaled, go: float) -> None:
    """From zero, or the bound next to it, in lanes that go; rows between their bounds are free."""
    for i in range(m):
        x = minimum(maximum(0.0 * go, s.lo[i]), s.hi[i])
        s.xs[i] = where(go > 0.0, x, s.xs[i])
        inside = (x > s.lo[i]) & (x < s.hi[i]) & (s.scale[i] > 0.0)
        s.free[i] = where(go > 0.0, where(inside, 1.0, 0.0), s.free[i])
    residuals(m, A, s.bs, s.xs, s.w)


@loops
def walk(m: int, A: Lane, s: Scaled, size: float, eps: float, go: float) -> None:
    """x of scaled rows, in lanes that go; `size` is that of the right-hand side."""
    begin_walk(m, A, s, go)
    last = HUGE + 0.0 * go
    most = 1.0 + 0.0 * go
    steps = 40.0 + 0.0 * go  # by the rows of each lane: others may have more
    for i in range(m):
        steps += where(s.scale[i] > 0.0, 6.0, 0.0)
    for k in range(6 * m + 40):
        go = where(k < steps, go, 0.0)
        if not any(go > 0.0):
            break
        factor_free(m, A, s, go, eps)
        n = s.some[0]
        step = most
        for p in range(n):
            s.z[p] = -s.w[s.some[p + 1]] * s.free[s.some[p + 1]]
        solve(n, s.L, s.d, s.z)
        for p in range(n):
            i = s.some[p + 1]
            s.z[p] = where(go > 0.0, s.z[p] * s.free[i], 0.0)
            way = abs(s.z[p])
            room = where(s.z[p] > 0.0, s.hi[i] - s.xs[i], s.xs[i] - s.lo[i])
            step = minimum(step, where(way > 0.0, room / where(way > 0.0, way, 1.0), most))
        for p in range(n):
            i = s.some[p + 1]
            up = s.z[p] > 0.0
            room = where(up, s.hi[i] - s.xs[i], s.xs[i] - s.lo[i])
            hits = (abs(s.z[p]) > 0.0) & (room <= step * abs(s.z[p]) * TOUCHES)
            s.xs[i] = where(hits, where(up, s.hi[i], s.lo[i]), s.xs[i] + step * s.z[p])
            s.free[i] = where(hits, 0.0, s.free[i])
        residuals(m, A, s.bs, s.xs, s.w)
        rest = 0.0 * go
        worst = 0.0 * go
        for i in range(m):
            rest = maximum(rest, where(s.free[i] > 0.0, abs(s.w[i]), 0.0))
            pull = where(s.xs[i] <= s.lo[i], -s.w[i], where(s.xs[i] >= s.hi[i], s.w[i], 0.0))
            worst = maximum(worst, where((s.free[i] > 0.0) | (s.lo[i] >= s.hi[i]), 0.0, pull))
        whole = step >= most
        stalls = whole & (rest > FINE * size) & (rest >= 0.5 * last)
        solved = (whole & (rest <= FINE * size)) | (stalls & (most > 1.0))
        most = where(stalls & ~solved, FAR, 1.0)
        last = where(solved | ~whole, HUGE, rest)
        go = where(solved & (worst <= FINE * size), 0.0, go)
        taken = where(solved & (go > 0.0), 0.0, 1.0)
        for i in range(m):
            pull = where(s.xs[i] <= s.lo[i], -s.w[i], where(s.xs[i] >= s.hi[i], s.w[i], 0.0))
            next_one = ~(taken > 0.0) & ~(s.free[i] > 0.0) & (s.lo[i] < s.hi[i]) & (pull >= worst)
            s.free[i] = where(next_one, 1.0, s.free[i])
            taken = where(next_one, 1.0, taken)
