"""Rows at an edge between two modes, where the solution of a problem has one derivative on either side.

With u = A x + b: a contact that touches without pushing (x = 0 and u = 0), one that sticks with all the friction it may have
(|x_t| = mu x_n and u_t = 0), a row within bounds that has reached one and would not move without it (u = 0).
"""

from __future__ import annotations

from ..kernel.loops import Lane, loops, maximum, sqrt, where
from .boxes import HUGE
from .gram import entry
from .own_rows import Listed

FORCE_EDGE = 1e-7  # of a bound, or of the largest multiplier: so near to it a force has reached it
SPEED_EDGE = 1e-9  # of the largest right-hand side: slower than that nothing moves


@loops
def find_edges(listed: Listed, rows: int, kept_A: Lane, w: Lane, edges: Lane) -> None:
    """1 in `edges` where a row is at an edge, else 0; w are scratch."""
    m = listed.active[0]
    for i in range(m):
        w[i] = listed.b[listed.active[i + 1]]
        for k in range(m):
            w[i] += entry(kept_A, i, k) * listed.x[listed.active[k + 1]]
    mark_edges(listed, rows, w, edges)


@loops
def mark_edges(listed: Listed, rows: int, w: Lane, edges: Lane) -> None:
    """The same where w = A x + b is known, in the order of the list."""
    m = listed.active[0]
    for r in range(rows):
        edges[r] = 0.0
    push = 0.0 * listed.x[0]
    speed = 0.0 * listed.x[0]
    for i in range(m):
        r = listed.active[i + 1]
        push = maximum(push, abs(listed.x[r]))
        speed = maximum(speed, abs(listed.b[r]))
    for i in range(m):
        r = listed.active[i + 1]
        kind = listed.cones[r]
        still = abs(w[i]) <= SPEED_EDGE * speed
        low = where(abs(listed.lower[r]) < HUGE, FORCE_EDGE * maximum(abs(listed.lower[r]), push), 0.0)
        high = where(abs(listed.upper[r]) < HUGE, FORCE_EDGE * maximum(abs(listed.upper[r]), push), 0.0)
        at = ((listed.lower[r] > -HUGE) & (listed.x[r] <= listed.lower[r] + low)) | (
            (listed.upper[r] < HUGE) & (listed.x[r] >= listed.upper[r] - high)
        )
        if kind == 1:
            at = listed.x[r] <= FORCE_EDGE * push
        if kind < 0:
            limit = listed.mu[r] * listed.x[listed.active[i + kind + 1]]
            at = (limit > FORCE_EDGE * push) & (abs(listed.x[r]) >= limit * (1.0 - FORCE_EDGE))
        if kind == 2 or kind == 3:
            first = i + 2 - kind
            p = listed.x[listed.active[first + 1]]
            q = listed.x[listed.active[first + 2]]
            limit = listed.mu[listed.active[first + 1]] * listed.x[listed.active[first]]
            at = (limit > FORCE_EDGE * push) & (sqrt(p * p + q * q) >= limit * (1.0 - FORCE_EDGE))
            still = sqrt(w[first] * w[first] + w[first + 1] * w[first + 1]) <= SPEED_EDGE * speed
        edges[r] = where((listed.on[r] > 0.0) & at & still, 1.0, 0.0)
