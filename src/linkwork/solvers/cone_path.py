"""Coulomb problems along a path of smoothed cones, in all lanes at once: slow and sure, for what Newton on modes leaves.

Points of one body that should all stick may ask for motions that no rigid body has, by 1e-6 m/s, say, where one end of a rod
touches while the other still falls. Then some of them slide by as little, and friction depends on the direction of slips that are
next to nothing: modes and directions change with every step, and a search among them does not end.

With p = (mu x_n, x_t) and d = (u_n / mu + |u_t|, u_t) Coulomb's law is p in K, d in K, p . d = 0 on the round cone K. Both are
functions of one y:  p = P(y), d = P(y) - y  with the projection P on K. With its eigenvalues l = y_0 -+ |y_t| and

    plus(l) = (l + sqrt(l^2 + 4 tau^2)) / 2                 instead of max(l, 0)

P is smooth, p and d are inside K, and p o d = tau^2 on its axis: the central path of interior point methods, on which no step can
leave the cones. Newton's method solves A p + b + |d_t| e_0 = d for y while tau goes to zero; the shift is differentiated as it
stands [Fukushima, Luo, Tseng 2001]. Rows with bounds are smoothed alike.
"""

from __future__ import annotations

from ..kernel.loops import Lane, Strided, any, loops, sqrt, where
from ..kernel.products import add_scaled, put_scaled, put_three
from .cone_modes import Modes
from .cone_rows import Rows, Search, motions, natural_map, take_over
from .extremes import larger
from .lu import factor_lu, solve_transposed_lu

FIRST = 1e-2  # of the largest of b: tau at the start
SHRINK = 0.2  # of tau, where the path is reached
NEAR = 0.1  # of tau: a residual so small is on the path
LONGEST, STUCK = 100, 35  # Newton steps: of all, and without reaching the path once more
SHORTENINGS = 10  # of a step by half; then it is taken as it is
PIVOT = 1e-11  # on the diagonal
LEAST_FRICTION = 1e-4  # less is this much, here
UNBOUNDED = 1e200
TINY = 1e-300


@loops
def plus(l: float, tau: float) -> float:
    """The smoothed max(l, 0)."""
    r = sqrt(l * l + 4.0 * tau * tau)
    return where(l > 0.0, 0.5 * (l + r), 2.0 * tau * tau / larger(r - l, TINY))


@loops
def plus_slope(l: float, tau: float) -> float:
    """Its derivative."""
    return plus(l, tau) / larger(sqrt(l * l + 4.0 * tau * tau), TINY)


@loops
def start_path(m: int, rows: Rows, x: Lane, u: Lane, y: Lane) -> None:
    """y = p - d of a point."""
    for i in range(m):
        kind = rows.kinds[i]
        if kind == 1:
            mu = larger(rows.hi[i + 1], LEAST_FRICTION)
            y[i] = mu * x[i] - u[i] / mu - sqrt(u[i + 1] * u[i + 1] + u[i + 2] * u[i + 2])
        else:
            y[i] = x[i] - u[i]


@loops
def path_residual(m: int, rows: Rows, At: Lane, y: Lane, tau: float, x: Lane, u: Lane, f: Lane) -> float:
    """x of y and u = A x + b; f = A p + b + |d_t| e_0 - d, and its length."""
    for i in range(m):
        kind = rows.kinds[i]
        good = rows.scale[i] > 0.0
        if kind == 1:
            mu = larger(rows.hi[i + 1], LEAST_FRICTION)
            h = sqrt(y[i + 1] * y[i + 1] + y[i + 2] * y[i + 2])
            l1 = y[i] - h
            l2 = y[i] + h
            both = larger(sqrt(l1 * l1 + 4.0 * tau * tau) + sqrt(l2 * l2 + 4.0 * tau * tau), TINY)
            p = plus(l1, tau) + plus(l2, tau)
            d = plus(-l1, tau) + plus(-l2, tau)
            x[i] = where(good, 0.5 * p / mu, 0.0)
            x[i + 1] = where(good, p / both * y[i + 1], 0.0)
            x[i + 2] = where(good, p / both * y[i + 2], 0.0)
            f[i] = d / both * h - 0.5 * d
            f[i + 1] = d / both * y[i + 1]
            f[i + 2] = d / both * y[i + 2]
        elif kind <= 0:
            low = rows.lo[i]
            high = rows.hi[i]
            if kind < 0:
                high = rows.hi[i] * x[i + kind]
                low = -high
            above = low > -UNBOUNDED
            below = high < UNBOUNDED
            a = where(above, low, 0.0)
            b = where(below, high, 0.0)
            at_low = where(above, plus(a - y[i], tau), 0.0)
            at_high = where(below, plus(y[i] - b, tau), 0.0)
            x[i] = where(good, y[i] + at_low - at_high, 0.0)
            f[i] = at_high - at_low
    motions(m, At, rows.bs, x, u)
    square = 0.0 * tau
    for i in range(m):
        mu = 1.0 + 0.0 * tau
        if rows.kinds[i] == 1:
            mu = larger(rows.hi[i + 1], LEAST_FRICTION)
        f[i] = where(rows.scale[i] > 0.0, u[i] / mu + f[i], 0.0)
        square += f[i] * f[i]
    return sqrt(square)


@loops
def path_slopes(m: int, rows: Rows, y: Lane, tau: float, x: Lane, modes: Modes) -> None:
    """dp/dy. Of a cone  c, e, a  in keep and the direction of y_t in turn:  [[c, e t'], [e t, a 1 + (c - a) t t']].

    Of a row with bounds its slope in keep; if another sets them, its slope with x of that one in more.
    """
    for i in range(m):
        kind = rows.kinds[i]
        good = rows.scale[i] > 0.0
        if kind == 1:
            h = sqrt(y[i + 1] * y[i + 1] + y[i + 2] * y[i + 2])
            l1 = y[i] - h
            l2 = y[i] + h
            both = larger(sqrt(l1 * l1 + 4.0 * tau * tau) + sqrt(l2 * l2 + 4.0 * tau * tau), TINY)
            first = plus_slope(l1, tau)
            second = plus_slope(l2, tau)
            modes.keep[i] = where(good, 0.5 * (first + second), 0.0)
            modes.keep[i + 1] = where(good, 0.5 * (second - first), 0.0)
            modes.keep[i + 2] = where(good, (plus(l1, tau) + plus(l2, tau)) / both, 0.0)
            modes.turn[i + 1] = where(h > 0.0, y[i + 1] / larger(h, TINY), 1.0)
            modes.turn[i + 2] = where(h > 0.0, y[i + 2] / larger(h, TINY), 0.0)
        elif kind <= 0:
            low = rows.lo[i]
            high = rows.hi[i]
            if kind < 0:
                high = rows.hi[i] * x[i + kind]
                low = -high
            above = low > -UNBOUNDED
            below = high < UNBOUNDED
            at_low = where(above, plus_slope(where(above, low, 0.0) - y[i], tau), 0.0)
            at_high = where(below, plus_slope(y[i] - where(below, high, 0.0), tau), 0.0)
            modes.keep[i] = where(good, 1.0 - at_low - at_high, 0.0)
            modes.more[i] = where(good, at_high - at_low, 0.0)


@loops
def follow(m: int, k: int, part: float, At: Lane, T: Lane, i: int) -> None:
    """Row k follows row i, by a part of its slope."""
    add_scaled(m, part, At, k * m, T, i * m)
    T[i * m + k] -= part


@loops
def path_matrix(m: int, rows: Rows, At: Lane, modes: Modes, T: Lane) -> None:
    """df/dy = A dp + (1 + e_0 t') (1 - dp), with p and d in place of x and u, transposed: rows are sums of rows of At."""
    for k in range(m):
        kind = rows.kinds[k]
        r = k * m
        if kind == 1:
            mu = larger(rows.hi[k + 1], LEAST_FRICTION)
            c = modes.keep[k]
            e = modes.keep[k + 1]
            a = modes.keep[k + 2]
            t1 = modes.turn[k + 1]
            t2 = modes.turn[k + 2]
            put_three(m, c / mu, e * t1, e * t2, At, r, T, r)
            put_three(m, e / mu * t1, a + (c - a) * t1 * t1, (c - a) * t1 * t2, At, r, T, r + m)
            put_three(m, e / mu * t2, (c - a) * t1 * t2, a + (c - a) * t2 * t2, At, r, T, r + 2 * m)
        elif kind <= 0:
            put_scaled(m, modes.keep[k], At, r, T, r)
    for k in range(m):  # what follows a row that bounds it
        kind = rows.kinds[k]
        if kind < 0:
            normal = k + kind
            follows = modes.more[k] * rows.hi[k]
            if rows.kinds[normal] == 1:
                mu = larger(rows.hi[normal + 1], LEAST_FRICTION)
                e = modes.keep[normal + 1] / mu
                follow(m, k, follows * e * modes.turn[normal + 1], At, T, normal + 1)
                follow(m, k, follows * e * modes.turn[normal + 2], At, T, normal + 2)
                follows = follows / mu
            follow(m, k, follows * modes.keep[normal], At, T, normal)
    for i in range(m):
        kind = rows.kinds[i]
        r = i * m + i
        if kind == 1:
            less = 1.0 / larger(rows.hi[i + 1], LEAST_FRICTION)
            for k in range(m):
                T[k * m + i] = T[k * m + i] * less
            c = modes.keep[i]
            e = modes.keep[i + 1]
            a = modes.keep[i + 2]
            t1 = modes.turn[i + 1]
            t2 = modes.turn[i + 2]
            T[r] += 1.0 - c - e
            T[r + m] += (1.0 - c - e) * t1
            T[r + 2 * m] += (1.0 - c - e) * t2
            T[r + 1] -= e * t1
            T[r + 2] -= e * t2
            T[r + m + 1] += 1.0 - a - (c - a) * t1 * t1
            T[r + m + 2] -= (c - a) * t1 * t2
            T[r + 2 * m + 1] -= (c - a) * t1 * t2
            T[r + 2 * m + 2] += 1.0 - a - (c - a) * t2 * t2
        elif kind <= 0:
            T[r] += 1.0 - modes.keep[i]
        T[r] += PIVOT


@loops
def follow_path(
    m: int,
    rows: Rows,
    modes: Modes,
    At: Lane,
    s: Search,
    T: Lane,
    rounds: Strided,
    given: float,
    least: float,
    enough: float,
    last: float,
    go: float,
) -> float:
    """From x = best along the path, in lanes that go; best becomes the x with the least natural map, which is returned.

    s        y is in `inside`, a step in `force`, where it leads in `xs`; x and u of y in `xn` and `un`, the residual in `u`
    given    the largest of |b|, in scaled rows
    least    the natural map at the start; `enough` ends the search
    last     tau at the end, of `given`
    """
    motions(m, At, rows.bs, s.best, s.un)
    start_path(m, rows, s.best, s.un, s.inside)
    tau = FIRST * given
    off = path_residual(m, rows, At, s.inside, tau, s.xn, s.un, s.u)
    aside = 0.0 * go
    for _ in range(LONGEST):
        if not any(go > 0.0):
            break
        new = natural_map(m, rows, s.xn, s.un, s.z)
        better = (go > 0.0) & (new < least)
        take_over(m, better, s.xn, s.best)
        least = where(better, new, least)
        reached = off <= NEAR * tau
        aside = where(reached, 0.0, aside + 1.0)
        go = where((least <= enough) | ((tau <= last * given) & reached) | (aside > STUCK), 0.0, go)
        if any(reached & (go > 0.0)):
            tau = where(reached, larger(SHRINK * tau, last * given), tau)
            off = path_residual(m, rows, At, s.inside, tau, s.xn, s.un, s.u)
        path_slopes(m, rows, s.inside, tau, s.xn, modes)
        path_matrix(m, rows, At, modes, T)
        factor_lu(m, T)
        rounds[0] += go
        for i in range(m):
            s.force[i] = -s.u[i]
        solve_transposed_lu(m, T, s.force)
        share = 1.0 + 0.0 * go
        sought = go
        length = off
        for _ in range(SHORTENINGS):
            if not any(sought > 0.0):
                break
            for i in range(m):
                s.xs[i] = s.inside[i] + share * s.force[i]
            length = path_residual(m, rows, At, s.xs, tau, s.xn, s.un, s.u)
            sought = where(length < (1.0 - 0.1 * share) * off, 0.0, sought)
            share = where(sought > 0.0, 0.5 * share, share)
        for i in range(m):
            s.inside[i] = where(go > 0.0, s.inside[i] + share * s.force[i], s.inside[i])
        off = length
        if any(sought > 0.0):
            off = path_residual(m, rows, At, s.inside, tau, s.xn, s.un, s.u)
    return least
