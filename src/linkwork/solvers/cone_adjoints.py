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
from ..kernel.loops import Ints, Lane, Table, loops, where
from .box_adjoints import keep_matrix
from .box_tangents import NEAR, ROUNDS, SOFT, entry
from .boxes import HUGE
from .cone_tangents import across, find_modes, modal_row
from .coulomb import solve_packed_cones
from .gram_adjoints import WEIGHTS, add_products
from .lu import factor_lu, solve_lu


@adjoint_of(solve_packed_cones, keep=keep_matrix, then=(add_products,), weights=WEIGHTS)
@loops
def cones_adjoint(
    active: Ints,
    cones: Table,
    mu: Lane,
    on: Lane,
    b: Lane,
    lower: Lane,
    upper: Lane,
    x: Lane,
    T: Lane,
    bs: Lane,
    lo: Lane,
    hi: Lane,
    xs: Lane,
    u: Lane,
    xn: Lane,
    un: Lane,
    best: Lane,
    z: Lane,
    keep: Lane,
    kept_A: Lane,
    weights: Lane,
    bar_mu: Lane,
    bar_b: Lane,
    bar_lower: Lane,
    bar_upper: Lane,
    bar_x: Lane,
) -> None:
    """Weights of the module's text: holds, slides, e, f are `lo`, `hi`, `un`, `best`; `xs` is y, `weights` are bar_g."""
    m = active[0]
    for i in range(m):
        xn[i] = x[active[i + 1]]
        xs[i] = 0.0
    find_modes(active, cones, mu, on, b, lower, upper, kept_A, xn, u, lo, hi, un, best)
    for i in range(m):
        bs[i] = bar_x[active[i + 1]]
        bar_x[active[i + 1]] = 0.0
        keep[i] = where(lo[i] > 0.0, SOFT * entry(kept_A, i, i), 0.0)
    for k in range(m):
        for i in range(m):
            z[i] = 0.0
            u[i] = entry(kept_A, i, k)
        z[k] = 1.0
        for i in range(m):
            soft = 0.0 * z[i]
            if i == k:
                soft = keep[i]
            T[k * m + i] = modal_row(active, cones, mu, i, lo, hi, un, best, z, u) + soft
    factor_lu(m, T)
    for _ in range(ROUNDS):
        for i in range(m):
            z[i] = bs[i]
        solve_lu(m, T, z)
        for i in range(m):
            xs[i] += z[i]
            bs[i] = keep[i] * z[i]
    for i in range(m):
        r = active[i + 1]
        kind = cones[r]
        g = where(lo[i] > 0.0, -xs[i], 0.0)
        if kind == 0:
            low = where(abs(lower[r]) < HUGE, NEAR * abs(lower[r]), 0.0)
            bound = where((on[r] > 0.0) & ~(lo[i] > 0.0), xs[i], 0.0)
            below = xn[i] <= lower[r] + low
            bar_lower[r] += where(below, bound, 0.0)
            bar_upper[r] += where(below, 0.0, bound)
        if kind == 2 or kind == 3:
            first = i + 2 - kind
            g = where(hi[i] > 0.0, -best[i] * across(active, cones, i, un, xs), g)
            bar_mu[active[first + 1]] -= where(hi[i] > 0.0, xn[first - 1] * un[i] * xs[i], 0.0)
        if kind < 0:
            bar_mu[r] += where(hi[i] > 0.0, un[i] * xn[i + kind] * xs[i], 0.0)
        weights[i] = g
        bar_b[r] += g
