"""Staggered projections (`solvers.staggered`) in all lanes at once: contact and friction in turn, each a problem with boxes.

    contact    rows that push and rows with bounds of their own, with friction as it is
    friction   rows of friction within mu x_n, with normals as they are, and rows with bounds of their own once more

until the normals stand still. Both are `boxes.solve_scaled` on the same scaled matrix: rows that wait have a lower bound that is
above the upper one, their x, so that they stay there and are never free. Every turn begins where the last one ended.

Tangents have bounds of their own, |x_t| <= mu x_n each: a pyramid around Coulomb's cone. Nothing says that turns settle;
where they do not, `left` tells.
"""

from __future__ import annotations

from ..kernel.loops import Lane, any, loops, maximum, minimum, where
from .box_walk import Scaled
from .boxes import EPS, HUGE, residuals, scale_rows, solve_scaled, unit_scales
from .own_rows import Listed

TURNS = 200
ENOUGH = 1e-12  # of the largest normal force: a change that counts as none


@loops
def friction_bound(i: int, kind: int, r: int, mu: Lane, scale: Lane, xs: Lane) -> float:
    """mu x_n of a row of friction, in scaled rows."""
    normal = i + kind
    if kind > 0:
        normal = i + 1 - kind
    unit = 1.0 / where(scale[i] > 0.0, scale[i], 1.0)
    return where(scale[i] > 0.0, mu[r] * (scale[normal] * unit) * maximum(xs[normal], 0.0), 0.0)


@loops
def take_turn(friction: bool, listed: Listed, A: Lane, s: Scaled, go: float) -> None:
    """Bounds of one turn, and which rows are free at its start; lanes that do not go wait."""
    m = listed.active[0]
    for i in range(m):
        r = listed.active[i + 1]
        kind = listed.cones[r]
        good = (s.scale[i] > 0.0) & (go > 0.0)
        unit = 1.0 / where(s.scale[i] > 0.0, s.scale[i], 1.0)
        s.lo[i] = HUGE
        s.hi[i] = s.xs[i]
        if kind == 0 or (kind == 1 and not friction):
            s.lo[i] = where(good, listed.lower[r] * unit, s.lo[i])
            s.hi[i] = where(good, listed.upper[r] * unit, s.hi[i])
        if (kind > 1 or kind < 0) and friction:
            most = friction_bound(i, kind, r, listed.mu, s.scale, s.xs)
            s.lo[i] = where(good, -most, s.lo[i])
            s.hi[i] = where(good, most, s.hi[i])
        s.xs[i] = minimum(maximum(s.xs[i], s.lo[i]), s.hi[i])
    residuals(m, A, s.bs, s.xs, s.w)
    for i in range(m):
        wish = s.xs[i] - s.w[i]
        s.free[i] = where((wish >= s.lo[i]) & (wish <= s.hi[i]) & (s.scale[i] > 0.0), 1.0, 0.0)


@loops
def solve_in_turns(listed: Listed, A: Lane, left: Lane, s: Scaled, last: Lane) -> None:
    """The multipliers x of the listed rows; arguments as in `boxes.solve_boxes`, cones and mu as in `coulomb.solve_cones`."""
    m = listed.active[0]
    unit_scales(listed.active, listed.on, A, s.scale)
    scale_rows(listed.active, listed.b, listed.lower, listed.upper, A, s)
    go = 1.0 + 0.0 * A[0]
    for i in range(m):
        s.xs[i] = 0.0
    for _ in range(TURNS):
        for i in range(m):
            last[i] = s.xs[i]
        take_turn(False, listed, A, s, go)
        solve_scaled(listed.active, listed.x, A, left, s, EPS)
        change = 0.0 * go
        size = 0.0 * go
        for i in range(m):
            kind = listed.cones[listed.active[i + 1]]
            if kind == 0 or kind == 1:
                change = maximum(change, abs(s.xs[i] - last[i]))
                size = maximum(size, abs(s.xs[i]))
        go = where(change > ENOUGH * size, go, 0.0)
        if not any(go > 0.0):
            break
        take_turn(True, listed, A, s, go)
        solve_scaled(listed.active, listed.x, A, left, s, EPS)
    residuals(m, A, s.bs, s.xs, s.w)
    left[0] = 0.0
    for i in range(m):
        r = listed.active[i + 1]
        kind = listed.cones[r]
        unit = 1.0 / where(s.scale[i] > 0.0, s.scale[i], 1.0)
        low = listed.lower[r] * unit
        high = listed.upper[r] * unit
        if kind > 1 or kind < 0:
            high = friction_bound(i, kind, r, listed.mu, s.scale, s.xs)
            low = -high
        off = abs(s.xs[i] - minimum(maximum(s.xs[i] - s.w[i], low), high)) * unit
        left[0] = maximum(left[0], where(s.scale[i] > 0.0, off, 0.0))
        listed.x[r] = s.xs[i] * s.scale[i]
