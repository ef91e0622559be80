"""Staggered projections (`solvers.staggered`) in all lanes at once: contact and friction in turn, each a problem with boxes.

    contact    rows that push and rows with bounds of their own, with friction as it is
    friction   rows of friction within mu x_n, with normals as they are, and rows with bounds of their own once more

until the normals stand still. Both are `boxes.solve_scaled` on the same scaled matrix: rows that wait have a lower bound that is
above the upper one, their x, so that they stay there and are never free. Every turn begins where the last one ended.

Tangents have bounds of their own, |x_t| <= mu x_n each: a pyramid around Coulomb's cone. Nothing says that turns settle;
where they do not, `left` tells.
"""

from __future__ import annotations

from ..kernel.loops import Ints, Lane, Table, any, loops, maximum, minimum, where
from .boxes import EPS, HUGE, residuals, scale_rows, solve_scaled, unit_scales

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
def take_turn(
    friction: bool,
    active: Ints,
    cones: Table,
    mu: Lane,
    lower: Lane,
    upper: Lane,
    A: Lane,
    scale: Lane,
    bs: Lane,
    lo: Lane,
    hi: Lane,
    xs: Lane,
    w: Lane,
    free: Lane,
    go: float,
) -> None:
    """Bounds of one turn, and which rows are free at its start; lanes that do not go wait."""
    m = active[0]
    for i in range(m):
        r = active[i + 1]
        kind = cones[r]
        good = (scale[i] > 0.0) & (go > 0.0)
        unit = 1.0 / where(scale[i] > 0.0, scale[i], 1.0)
        lo[i] = HUGE
        hi[i] = xs[i]
        if kind == 0 or (kind == 1 and not friction):
            lo[i] = where(good, lower[r] * unit, lo[i])
            hi[i] = where(good, upper[r] * unit, hi[i])
        if (kind > 1 or kind < 0) and friction:
            most = friction_bound(i, kind, r, mu, scale, xs)
            lo[i] = where(good, -most, lo[i])
            hi[i] = where(good, most, hi[i])
        xs[i] = minimum(maximum(xs[i], lo[i]), hi[i])
    residuals(m, A, bs, xs, w)
    for i in range(m):
        wish = xs[i] - w[i]
        free[i] = where((wish >= lo[i]) & (wish <= hi[i]) & (scale[i] > 0.0), 1.0, 0.0)


@loops
def solve_in_turns(
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
    rest: Lane,
    some: Ints,
    last: Lane,
) -> None:
    """The multipliers x of the listed rows; arguments as in `boxes.solve_boxes`, cones and mu as in `coulomb.solve_cones`."""
    m = active[0]
    unit_scales(active, on, A, scale)
    scale_rows(active, b, lower, upper, A, scale, bs, lo, hi, xs, free)
    go = 1.0 + 0.0 * A[0]
    for i in range(m):
        xs[i] = 0.0
    for _ in range(TURNS):
        for i in range(m):
            last[i] = xs[i]
        take_turn(False, active, cones, mu, lower, upper, A, scale, bs, lo, hi, xs, w, free, go)
        solve_scaled(active, x, A, left, L, d, scale, bs, lo, hi, xs, w, z, free, rest, some, EPS)
        change = 0.0 * go
        size = 0.0 * go
        for i in range(m):
            kind = cones[active[i + 1]]
            if kind == 0 or kind == 1:
                change = maximum(change, abs(xs[i] - last[i]))
                size = maximum(size, abs(xs[i]))
        go = where(change > ENOUGH * size, go, 0.0)
        if not any(go > 0.0):
            break
        take_turn(True, active, cones, mu, lower, upper, A, scale, bs, lo, hi, xs, w, free, go)
        solve_scaled(active, x, A, left, L, d, scale, bs, lo, hi, xs, w, z, free, rest, some, EPS)
    residuals(m, A, bs, xs, w)
    left[0] = 0.0
    for i in range(m):
        r = active[i + 1]
        kind = cones[r]
        unit = 1.0 / where(scale[i] > 0.0, scale[i], 1.0)
        low = lower[r] * unit
        high = upper[r] * unit
        if kind > 1 or kind < 0:
            high = friction_bound(i, kind, r, mu, scale, xs)
            low = -high
        off = abs(xs[i] - minimum(maximum(xs[i] - w[i], low), high)) * unit
        left[0] = maximum(left[0], where(scale[i] > 0.0, off, 0.0))
        x[r] = xs[i] * scale[i]
