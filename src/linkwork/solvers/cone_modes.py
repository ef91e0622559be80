"""Given the modes of rows with cones, the linear system that they make, in all lanes at once.

A row with bounds is free (u = 0) or at a bound. A contact is open (x = 0), sticks (u = 0) or slides: x_t = mu x_n d with a unit
vector d along friction, and with e across d, in unknowns x_n and an angle,

    u_n = 0,    e . u_t = 0,    dx = dx_n (1, mu d) + dz e,    dz = mu x_n dangle
    e . A_t dx + k dz = -e . u_t,    k = |u_t| / (mu x_n)          as e turns with d, which is against u_t in the end

So columns and rows of A are turned into d and e, some are left out, and some added to on the diagonal.
"""

from __future__ import annotations

from ..kernel.loops import Arrays, Ints, Lane, any, loops, sqrt, where
from ..kernel.products import put_scaled, turn_rows
from .cone_rows import Rows, motions
from .extremes import clipped, larger, smaller
from .lu import factor_lu, solve_lu

SMALL_PIVOT = 1e-3  # of the diagonal: a pivot below tells of redundant rows
ON_CONE = 2e-14  # of its limit: friction that is beyond it by rounding sticks, so that directions of no slip are not followed
STIFFEST = 1e12  # k at most: beyond, the direction of sliding does not move
HUGE = 1e300
STANDS = 0.5  # of the residual: where a round leaves more, it stands still
TERMS = 3  # of a series, in the first proximal round
TURN = 0.5  # rad: by so much friction turns at most while x goes along a contradiction


class Modes(Arrays):
    """The modes of rows.

    keep       1 for unknowns: of a contact x_n, that across d, that along d (sticking alone); 0 for what is left out
    turn       of tangents d, (0, 1) where it sticks; of normal rows mu if it slides, else 0; of rows at a bound that another row
               sets, the signed coefficient
    more       on the diagonal
    unknowns   the rows that are unknown in some lane; the three of a contact together
    """

    keep: Lane
    turn: Lane
    more: Lane
    unknowns: Ints


@loops
def choose_modes(m: int, rows: Rows, xs: Lane, u: Lane, eps: float, modes: Modes, z: Lane) -> None:
    """The modes that y = x - u tells; z becomes x of rows that are left out, their bound."""
    for i in range(m):
        kind = rows.kinds[i]
        good = rows.scale[i] > 0.0
        if kind == 1:
            mu = rows.hi[i + 1]
            n = xs[i] - u[i]
            t1 = xs[i + 1] - u[i + 1]
            t2 = xs[i + 2] - u[i + 2]
            t = sqrt(t1 * t1 + t2 * t2)
            acts = good & (n > 0.0)
            slides = acts & (t > mu * n * (1.0 + ON_CONE))
            k = sqrt(u[i + 1] * u[i + 1] + u[i + 2] * u[i + 2]) / where(mu * n > 0.0, mu * n, 1.0)
            modes.keep[i] = where(acts, 1.0, 0.0)
            modes.keep[i + 1] = modes.keep[i]
            modes.keep[i + 2] = where(slides, 0.0, modes.keep[i])
            modes.turn[i] = where(slides, mu, 0.0)
            modes.turn[i + 1] = where(slides, t1 / where(slides, t, 1.0), 0.0)
            modes.turn[i + 2] = where(slides, t2 / where(slides, t, 1.0), 1.0)
            modes.more[i] = where(acts, eps, 1.0)
            modes.more[i + 1] = where(slides, eps + where(mu * n * STIFFEST > t, k, STIFFEST), modes.more[i])
            modes.more[i + 2] = where(slides, 1.0, modes.more[i])
            z[i] = 0.0
            z[i + 1] = 0.0
            z[i + 2] = 0.0
        elif kind <= 0:
            y = xs[i] - u[i]
            low = rows.lo[i]
            high = rows.hi[i]
            if kind < 0:
                high = rows.hi[i] * larger(xs[i + kind], 0.0)
                low = -high
            free = good & (y >= low) & (y <= high)
            modes.keep[i] = where(free, 1.0, 0.0)
            modes.more[i] = where(free, eps, 1.0)
            modes.turn[i] = 0.0
            z[i] = where(free | ~good, 0.0, clipped(y, low, high))
            if kind < 0:
                modes.turn[i] = where(free | ~good, 0.0, where(y > high, rows.hi[i], -rows.hi[i]))
                z[i] = 0.0


@loops
def list_unknowns(m: int, rows: Rows, modes: Modes) -> int:
    """The list of unknowns. Returns how many there are."""
    n = 0
    for i in range(m):
        kind = rows.kinds[i]
        if (kind < 2 and any(modes.keep[i] > 0.0)) or (kind > 1 and any(modes.keep[i + 1 - kind] > 0.0)):
            modes.unknowns[n] = i
            n += 1
    return n


@loops
def modal_matrix(n: int, m: int, rows: Rows, A: Lane, modes: Modes, T: Lane) -> None:
    """The system of the modes, T (n, n): columns and rows of A turned, left out, and added to."""
    for q in range(n):  # columns; of a contact that slides n + mu d, across d, along d
        k = modes.unknowns[q]
        kind = rows.kinds[k]
        if kind == 1 and any(modes.keep[k + 2] < 1.0):
            d1 = modes.turn[k + 1]
            d2 = modes.turn[k + 2]
            mu = modes.turn[k]
            normal = modes.keep[k]
            across = modes.keep[k + 1]
            sticks = modes.keep[k + 2]
            for p in range(n):
                t = p * n + q
                a = modes.unknowns[p] * m + k
                along = d1 * A[a + 1] + d2 * A[a + 2]
                T[t] = (A[a] + mu * along) * normal
                T[t + 1] = (d2 * A[a + 1] - d1 * A[a + 2]) * across
                T[t + 2] = along * sticks
        elif kind == 1:
            for p in range(n):
                t = p * n + q
                a = modes.unknowns[p] * m + k
                T[t] = A[a]
                T[t + 1] = A[a + 1]
                T[t + 2] = A[a + 2]
        elif kind < 1:
            here = modes.keep[k]
            for p in range(n):
                T[p * n + q] = A[modes.unknowns[p] * m + k] * here
    for i in range(m):  # what follows a normal row at its bound
        kind = rows.kinds[i]
        if kind < 0 and any(abs(modes.turn[i]) > 0.0):
            for q in range(n):
                if modes.unknowns[q] == i + kind:
                    for p in range(n):
                        T[p * n + q] += modes.turn[i] * A[modes.unknowns[p] * m + i] * modes.keep[modes.unknowns[q]]
    for p in range(n):  # rows
        i = modes.unknowns[p]
        kind = rows.kinds[i]
        if kind == 1 and any(modes.keep[i + 2] < modes.keep[i]):
            turn_rows(n, modes.turn[i + 1], modes.turn[i + 2], T, (p + 1) * n, (p + 2) * n)
    for p in range(n):
        here = modes.keep[modes.unknowns[p]]
        if any(here < 1.0):
            put_scaled(n, here, T, p * n, T, p * n)
    for p in range(n):
        T[p * n + p] += modes.more[modes.unknowns[p]]


@loops
def factor_modes(m: int, rows: Rows, A: Lane, xs: Lane, u: Lane, eps: float, modes: Modes, z: Lane, T: Lane) -> int:
    """The modes that x and u tell, and the factor of their system in T. Returns how many unknowns it has."""
    choose_modes(m, rows, xs, u, eps, modes, z)
    n = list_unknowns(m, rows, modes)
    modal_matrix(n, m, rows, A, modes, T)
    factor_lu(n, T)
    return n


@loops
def right_side(n: int, rows: Rows, modes: Modes, u: Lane, z: Lane) -> float:
    """-u of the unknowns, turned as the rows of the matrix are; returns the largest."""
    most = 0.0 * u[0]
    for p in range(n):
        i = modes.unknowns[p]
        kind = rows.kinds[i]
        if kind == 1:
            z[p] = -u[i] * modes.keep[i]
            z[p + 1] = (modes.turn[i + 1] * u[i + 2] - modes.turn[i + 2] * u[i + 1]) * modes.keep[i + 1]
            z[p + 2] = -(modes.turn[i + 1] * u[i + 1] + modes.turn[i + 2] * u[i + 2]) * modes.keep[i + 2]
        elif kind < 1:
            z[p] = -u[i] * modes.keep[i]
        most = larger(most, abs(z[p]))
    return most


@loops
def move(n: int, m: int, rows: Rows, modes: Modes, z: Lane, x: Lane, go: float) -> None:
    """Add what was found to x, in lanes that go; where a contact slides, d turns, and friction stays on the cone."""
    for p in range(n):
        i = modes.unknowns[p]
        kind = rows.kinds[i]
        if kind == 1:
            slides = modes.keep[i + 2] < modes.keep[i]
            new = x[i] + z[p] * modes.keep[i]
            t1 = x[i + 1] + z[p + 1] * modes.keep[i + 1]
            t2 = x[i + 2] + z[p + 2] * modes.keep[i + 2]
            if any(slides):
                d1 = modes.turn[i + 1]
                d2 = modes.turn[i + 2]
                most = larger(modes.turn[i] * new, 0.0)
                f1 = d1 * most + d2 * z[p + 1]
                f2 = d2 * most - d1 * z[p + 1]
                f = sqrt(f1 * f1 + f2 * f2)
                turns = slides & (go > 0.0) & (most > 0.0)
                d1 = where(turns, f1 / where(turns, f, 1.0), d1)
                d2 = where(turns, f2 / where(turns, f, 1.0), d2)
                modes.turn[i + 1] = d1
                modes.turn[i + 2] = d2
                t1 = where(slides, most * d1, t1)
                t2 = where(slides, most * d2, t2)
            x[i] = where(go > 0.0, new, x[i])
            x[i + 1] = where(go > 0.0, t1, x[i + 1])
            x[i + 2] = where(go > 0.0, t2, x[i + 2])
        elif kind < 1:
            x[i] = where(go > 0.0, x[i] + z[p] * modes.keep[i], x[i])
    for i in range(m):
        kind = rows.kinds[i]
        if kind < 0:
            bound = (go > 0.0) & (abs(modes.turn[i]) > 0.0)
            x[i] = where(bound, modes.turn[i] * larger(x[i + kind], 0.0), x[i])


@loops
def start_modes(m: int, rows: Rows, modes: Modes, xs: Lane, z: Lane, xn: Lane, part: float, go: float) -> None:
    """Where the unknowns of given modes begin: at a part of xs, friction on its cone; what is left out as z says."""
    for i in range(m):
        kind = rows.kinds[i]
        if kind == 1:
            slides = modes.keep[i + 2] < modes.keep[i]
            new = part * xs[i] * modes.keep[i]
            most = larger(modes.turn[i] * new, 0.0)
            t1 = where(slides, most * modes.turn[i + 1], part * xs[i + 1] * modes.keep[i + 1])
            t2 = where(slides, most * modes.turn[i + 2], part * xs[i + 2] * modes.keep[i + 2])
            xn[i] = where(go > 0.0, new, xn[i])
            xn[i + 1] = where(go > 0.0, t1, xn[i + 1])
            xn[i + 2] = where(go > 0.0, t2, xn[i + 2])
        elif kind < 1:
            new = where(modes.keep[i] > 0.0, part * xs[i], z[i])
            if kind < 0:
                new = where(modes.keep[i] > 0.0, new, modes.turn[i] * larger(part * xs[i + kind], 0.0))
            xn[i] = where(go > 0.0, new, xn[i])


@loops
def sliding(m: int, rows: Rows, modes: Modes) -> float:
    """1 where some contact slides, else 0."""
    found = 0.0 * modes.keep[0]
    for i in range(m):
        if rows.kinds[i] == 1:
            found = larger(found, modes.keep[i] - modes.keep[i + 2])
    return found


@loops
def redundant(n: int, T: Lane) -> float:
    """1 where a pivot of the factor is small: then x of these modes is not the only one."""
    most = 0.0 * T[0]
    for p in range(n):
        most = larger(most, abs(T[p * n + p]))
    return where(most * SMALL_PIVOT > 1.0, 1.0, 0.0)


@loops
def approach(
    n: int,
    m: int,
    rows: Rows,
    At: Lane,
    modes: Modes,
    xn: Lane,
    un: Lane,
    z: Lane,
    T: Lane,
    enough: float,
    rounds: int,
    slow: float,
    eps: float,
    go: float,
) -> float:
    """x of given modes by proximal rounds on one factor, in lanes that go, until the residual is small or falls slowly.

    Returns the largest residual of the rows of these modes if it stood still: above rounding where they contradict one another.

    T = B + eps 1. What of a residual r no x can mend would move x by r / eps along rows that answer nothing. With t = eps T^-1,

        dx = T^-1 (1 + t + ... + t^(k-1) - k t^k) r

    has nothing of it, as t is 1 there; elsewhere t is small, and a residual of (k + 1) t^k r is left. TERMS = k of the first
    round reach rounding unless friction turns or rows answer little, which one term more in every other round mends. Where no
    pivot is small all rows answer, and dx = T^-1 r of every round leaves t r.
    """
    last = HUGE + 0.0 * go
    still = go
    terms = TERMS
    loose = redundant(n, T)
    begun = 0.0 * go
    for i in range(m):
        begun = larger(begun, abs(xn[i]))
        un[i] = rows.bs[i]
    if any(begun > 0.0):
        motions(m, At, rows.bs, xn, un)
    size = right_side(n, rows, modes, un, z)
    for _ in range(rounds):
        still = where((size < slow * last) & (size > enough), still, 0.0)
        if not any(still > 0.0):
            break
        last = where(still > 0.0, size, last)
        solve_lu(n, T, z)
        if any((loose > 0.0) & (still > 0.0)):
            for p in range(n):
                un[p] = z[p]
            for k in range(1, terms + 1):
                for p in range(n):
                    z[p] = eps * z[p]
                solve_lu(n, T, z)
                part = 1.0
                if k == terms:
                    part = -float(terms)
                for p in range(n):
                    un[p] += where(loose > 0.0, part * z[p], 0.0)
            for p in range(n):
                z[p] = un[p]
        terms = 1
        move(n, m, rows, modes, z, xn, still)
        motions(m, At, rows.bs, xn, un)
        size = right_side(n, rows, modes, un, z)
    return where(size > STANDS * last, size, 0.0)


@loops
def leaves_cone(x: float, x1: float, x2: float, d: float, d1: float, d2: float, mu: float) -> float:
    """The t > 0 at which x + t d leaves |x_t| = mu x_n, for an x that is inside; HUGE if it never does.

    It is the first zero of a t^2 + 2 h t + c with c <= 0.
    """
    a = d1 * d1 + d2 * d2 - mu * mu * d * d
    h = x1 * d1 + x2 * d2 - mu * mu * x * d
    c = smaller(x1 * x1 + x2 * x2 - mu * mu * x * x, 0.0)
    under = h * h - a * c
    root = sqrt(larger(under, 0.0))
    outward = (h > 0.0) & (under >= 0.0)
    curves = ~(h > 0.0) & (a > 0.0)
    meets = where(outward, -c / where(outward, h + root, 1.0), (root - h) / where(curves, a, 1.0))
    return where(outward | curves, meets, HUGE)


@loops
def leaves_bounds(x: float, d: float, low: float, high: float) -> float:
    """The t >= 0 at which x + t d leaves its bounds, for an x that is inside; HUGE if it never does."""
    up = where(d > 0.0, (high - x) / where(d > 0.0, d, 1.0), HUGE)
    return larger(where(d < 0.0, (x - low) / where(d < 0.0, -d, 1.0), up), 0.0)


@loops
def part_inside(m: int, rows: Rows, modes: Modes, xs: Lane, xn: Lane) -> float:
    """The part of the way from xs to xn that unknowns stay within their cones and bounds; more than 1 if they do all the way."""
    way = HUGE + 0.0 * xs[0]
    for i in range(m):
        kind = rows.kinds[i]
        if kind == 1:
            n = xn[i] - xs[i]
            t1 = xn[i + 1] - xs[i + 1]
            t2 = xn[i + 2] - xs[i + 2]
            leaves = leaves_cone(xs[i], xs[i + 1], xs[i + 2], n, t1, t2, rows.hi[i + 1])
            sticks = (modes.keep[i + 2] > 0.0) & (leaves < way)
            way = where(sticks, leaves, way)
            opens = leaves_bounds(xs[i], n, 0.0 * way, HUGE + 0.0 * way)
            way = where((modes.keep[i] > 0.0) & (opens < way), opens, way)
        elif kind == 0:
            leaves = leaves_bounds(xs[i], xn[i] - xs[i], rows.lo[i], rows.hi[i])
            way = where((modes.keep[i] > 0.0) & (leaves < way), leaves, way)
    return way


@loops
def walk(n: int, m: int, rows: Rows, modes: Modes, x: Lane, u: Lane, z: Lane, T: Lane, eps: float, go: float) -> float:
    """Where modes contradict one another, x goes along what no x of theirs can mend, until the first row meets its bound.

    z = (eps T^-1)^2 (-u) is the part of the residual that the rows do not answer: along it u stays, and the work of u falls. The
    row at its bound has another mode, which y = x - u tells. Returns 1 where there is such a row, in lanes that go; else 0, and
    x stays: it could go on for ever.
    """
    right_side(n, rows, modes, u, z)
    solve_lu(n, T, z)
    for p in range(n):
        z[p] = z[p] * eps
    solve_lu(n, T, z)
    way = HUGE + 0.0 * go
    for p in range(n):
        i = modes.unknowns[p]
        kind = rows.kinds[i]
        d = eps * z[p]
        if kind == 1:
            acts = modes.keep[i] > 0.0
            slides = modes.keep[i + 2] < modes.keep[i]
            d1 = eps * z[p + 1]
            leaves = leaves_cone(x[i], x[i + 1], x[i + 2], d, d1, eps * z[p + 2], rows.hi[i + 1])
            way = where(acts & ~slides & (leaves < way), leaves, way)
            leaves = leaves_bounds(x[i], d, 0.0 * way, HUGE + 0.0 * way)
            way = where(acts & (leaves < way), leaves, way)
            turns = TURN * modes.turn[i] * x[i] / where(slides & (abs(d1) > 0.0), abs(d1), 1.0)
            way = where(slides & (abs(d1) > 0.0) & (turns < way), turns, way)
        elif kind < 1:
            high = rows.hi[i]
            low = rows.lo[i]
            if kind < 0:
                high = rows.hi[i] * larger(x[i + kind], 0.0)
                low = -high
            leaves = leaves_bounds(x[i], d, low, high)
            way = where((modes.keep[i] > 0.0) & (leaves < way), leaves, way)
    ends = (go > 0.0) & (way < HUGE)
    share = where(ends, way * eps, 0.0)
    for p in range(n):
        z[p] = z[p] * share
    move(n, m, rows, modes, z, x, where(ends, 1.0, 0.0))
    return where(ends, 1.0, 0.0)
