"""Coulomb cones by plain sweeps, in all lanes at once."""

from __future__ import annotations

from ..kernel.loops import Ints, Lane, Table, any, loops, maximum, minimum, sqrt, where

SWEEPS = 20000
CLOSE = 1e-15


@loops
def entry(A: Lane, i: int, k: int) -> float:
    """A_ik of a packed symmetric matrix."""
    if i >= k:
        return A[i * (i + 1) // 2 + k]
    return A[k * (k + 1) // 2 + i]


@loops
def row_rate(m: int, A: Lane, b: float, x: Lane, i: int) -> float:
    """b + (A x)_i."""
    w = b
    for k in range(m):
        w += entry(A, i, k) * x[k]
    return w


@loops
def solve_sweeps(
    active: Ints,
    cones: Table,
    mu: Lane,
    on: Lane,
    b: Lane,
    lower: Lane,
    upper: Lane,
    x: Lane,
    A: Lane,
    left: Lane,
    xs: Lane,
) -> None:
    m = active[0]
    for i in range(m):
        xs[i] = 0.0
    live = 1.0 + 0.0 * A[0]
    change = 0.0 * live
    for _ in range(SWEEPS):
        change = 0.0 * live
        for i in range(m):
            r = active[i + 1]
            go = (on[r] > 0.0) & (live > 0.0)
            d = entry(A, i, i)
            if cones[r] < 2:
                w = row_rate(m, A, b[r], xs, i)
                new = minimum(maximum(xs[i] - w / d, lower[r]), upper[r])
                new = where(go, new, xs[i])
                change = maximum(change, abs(new - xs[i]) * d)
                xs[i] = new
            elif cones[r] == 2:
                size = 1.0 / (d + entry(A, i + 1, i + 1))
                t1 = xs[i] - row_rate(m, A, b[r], xs, i) * size
                t2 = xs[i + 1] - row_rate(m, A, b[r + 1], xs, i + 1) * size
                t = sqrt(t1 * t1 + t2 * t2)
                most = mu[r] * xs[i - 1]
                share = where(t > most, most / where(t > most, t, 1.0), 1.0)
                t1 = where(go, t1 * share, xs[i])
                t2 = where(go, t2 * share, xs[i + 1])
                change = maximum(change, maximum(abs(t1 - xs[i]), abs(t2 - xs[i + 1])) * d)
                xs[i] = t1
                xs[i + 1] = t2
        live = where(change > CLOSE, live, 0.0)
        if not any(live > 0.0):
            break
    left[0] = change
    for i in range(m):
        x[active[i + 1]] = xs[i]
