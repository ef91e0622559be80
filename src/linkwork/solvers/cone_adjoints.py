"""Weights of what problems with Coulomb cones are made of, given those of their solutions: the transpose of `cone_tangents`.

There T dx = s with one row for every row of the problem, and right-hand sides s made of g = dA x + db, bounds and coefficients.
With T^T y = bar_x,

    free, pushing, sticking     bar_g = -y
    at a bound                  bar of the bound = y
    sliding, e = u_t / |u_t|    bar_g_t = -(mu x_n / |u_t|) (1 - e e^T) y_t,    bar_mu = -x_n e . y_t
    bounded by another          bar_mu = +- x_n y

and bar_A = bar_g x^T, bar_b = bar_g. The proximal rounds are transposed as well.
"""

from __future__ import annotations

from ..kernel.adjoint_routines import adjoint_of
from ..kernel.loops import Lane, loops, where
from .box_adjoints import keep_matrix
from .box_tangents import ROUNDS, SOFT, margin
from .cone_modes import Modes
from .cone_rows import Rows, Search
from .cone_tangents import Held, across, find_modes, modal_row
from .coulomb import solve_packed_cones
from .gram import entry
from .gram_adjoints import WEIGHTS, add_products
from .lu import factor_lu, solve_lu
from .own_rows import Listed


@adjoint_of(solve_packed_cones, keep=keep_matrix, then=(add_products,), weights=WEIGHTS)
@loops
def cones_adjoint(
    listed: Listed,
    T: Lane,
    rows: Rows,
    s: Search,
    modes: Modes,
    kept_A: Lane,
    weights: Lane,
    bar_mu: Lane,
    bar_b: Lane,
    bar_lower: Lane,
    bar_upper: Lane,
    bar_x: Lane,
) -> None:
    """Weights of the module's text: holds, slides, e, f are `lo`, `hi`, `un`, `best`; `xs` is y, `weights` are bar_g."""
    m = listed.active[0]
    for i in range(m):
        s.xn[i] = listed.x[listed.active[i + 1]]
        s.xs[i] = 0.0
    find_modes(listed, kept_A, s.xn, s.u, Held(rows.lo, rows.hi, s.un, s.best))
    for i in range(m):
        rows.bs[i] = bar_x[listed.active[i + 1]]
        bar_x[listed.active[i + 1]] = 0.0
        modes.keep[i] = where(rows.lo[i] > 0.0, SOFT * entry(kept_A, i, i), 0.0)
    for k in range(m):
        for i in range(m):
            s.z[i] = 0.0
            s.u[i] = entry(kept_A, i, k)
        s.z[k] = 1.0
        for i in range(m):
            soft = 0.0 * s.z[i]
            if i == k:
                soft = modes.keep[i]
            T[k * m + i] = modal_row(listed, i, Held(rows.lo, rows.hi, s.un, s.best), s.z, s.u) + soft
    factor_lu(m, T)
    for _ in range(ROUNDS):
        for i in range(m):
            s.z[i] = rows.bs[i]
        solve_lu(m, T, s.z)
        for i in range(m):
            s.xs[i] += s.z[i]
            rows.bs[i] = modes.keep[i] * s.z[i]
    for i in range(m):
        r = listed.active[i + 1]
        kind = listed.cones[r]
        g = where(rows.lo[i] > 0.0, -s.xs[i], 0.0)
        if kind == 0:
            low = margin(listed.lower[r])
            bound = where((listed.on[r] > 0.0) & ~(rows.lo[i] > 0.0), s.xs[i], 0.0)
            below = s.xn[i] <= listed.lower[r] + low
            bar_lower[r] += where(below, bound, 0.0)
            bar_upper[r] += where(below, 0.0, bound)
        if kind == 2 or kind == 3:
            first = i + 2 - kind
            g = where(rows.hi[i] > 0.0, -s.best[i] * across(listed, i, s.un, s.xs), g)
            bar_mu[listed.active[first + 1]] -= where(rows.hi[i] > 0.0, s.xn[first - 1] * s.un[i] * s.xs[i], 0.0)
        if kind < 0:
            bar_mu[r] += where(rows.hi[i] > 0.0, s.un[i] * s.xn[i + kind] * s.xs[i], 0.0)
        weights[i] = g
        bar_b[r] += g
