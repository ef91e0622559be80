"""Rows at an edge between two modes, where the solution of a problem has one derivative on either side.

With u = A x + b: a contact that touches without pushing (x = 0 and u = 0), one that sticks with all the friction it may have
(|x_t| = mu x_n and u_t = 0), a row within bounds that has reached one and would not move without it (u = 0).
"""

from __future__ import annotations

from ..kernel.loops import Ints, Lane, Table, loops, maximum, sqrt, where
from .box_tangents import entry
from .boxes import HUGE

FORCE_EDGE = 1e-7  # of a bound, or of the largest multiplier: so near to it a force has reached it
SPEED_EDGE = 1e-9  # of the largest right-hand side: slower than that nothing moves


@loops
def find_edges(
    active: Ints,
    rows: int,
    cones: Table,
    mu: Lane,
    on: Lane,
    b: Lane,
    lower: Lane,
    upper: Lane,
    x: Lane,
    kept_A: Lane,
    w: Lane,
    edges: Lane,
) -> None:
    """1 in `edges` where a row is at an edge, else 0; w are scratch."""
    m = active[0]
    for i in range(m):
        w[i] = b[active[i + 1]]
        for k in range(m):
            w[i] += entry(kept_A, i, k) * x[active[k + 1]]
    mark_edges(active, rows, cones, mu, on, b, lower, upper, x, w, edges)


@loops
def mark_edges(
    active: Ints,
    rows: int,
    cones: Table,
    mu: Lane,
    on: Lane,
    b: Lane,
    lower: Lane,
    upper: Lane,
    x: Lane,
    w: Lane,
    edges: Lane,
) -> None:
    """The same where w = A x + b is known, in the order of the list."""
    m = active[0]
    for r in range(rows):
        edges[r] = 0.0
    push = 0.0 * x[0]
    speed = 0.0 * x[0]
    for i in range(m):
        r = active[i + 1]
        push = maximum(push, abs(x[r]))
        speed = maximum(speed, abs(b[r]))
    for i in range(m):
        r = active[i + 1]
        kind = cones[r]
        still = abs(w[i]) <= SPEED_EDGE * speed
        low = where(abs(lower[r]) < HUGE, FORCE_EDGE * maximum(abs(lower[r]), push), 0.0)
        high = where(abs(upper[r]) < HUGE, FORCE_EDGE * maximum(abs(upper[r]), push), 0.0)
        at = ((lower[r] > -HUGE) & (x[r] <= lower[r] + low)) | ((upper[r] < HUGE) & (x[r] >= upper[r] - high))
        if kind == 1:
            at = x[r] <= FORCE_EDGE * push
        if kind < 0:
            limit = mu[r] * x[active[i + kind + 1]]
            at = (limit > FORCE_EDGE * push) & (abs(x[r]) >= limit * (1.0 - FORCE_EDGE))
        if kind == 2 or kind == 3:
            first = i + 2 - kind
            p = x[active[first + 1]]
            q = x[active[first + 2]]
            limit = mu[active[first + 1]] * x[active[first]]
            at = (limit > FORCE_EDGE * push) & (sqrt(p * p + q * q) >= limit * (1.0 - FORCE_EDGE))
            still = sqrt(w[first] * w[first] + w[first + 1] * w[first + 1]) <= SPEED_EDGE * speed
        edges[r] = where((on[r] > 0.0) & at & still, 1.0, 0.0)
