"""Problems with Coulomb cones (`solvers.problem`), solved exactly, in all lanes at once: the default of contact with friction.

Newton's method on the modes of the rows. A row with bounds is free (u = 0) or at a bound. A contact is open (x = 0), sticks
(u = 0) or slides: x_t = mu x_n d with a unit vector d along friction, and with e across d, in unknowns x_n and an angle,

    u_n = 0,    e . u_t = 0,    dx = dx_n (1, mu d) + dz e,    dz = mu x_n dangle
    e . A_t dx + k dz = -e . u_t,    k = |u_t| / (mu x_n)          as e turns with d

These are all linear systems of one kind: columns and rows of A turned into d and e, some left out, some added to the diagonal.
With x found, y = x - u in scaled rows tells the modes: y_n <= 0 opens, |y_t| <= mu y_n sticks, else d = y_t / |y_t|. Where that
does not settle, sweeps of block Gauss-Seidel with exact solves of every contact (`contact_block`) propose the next modes,
more of them each time.

Rows are scaled to a unit diagonal, the three of a cone alike. Redundant rows need no pivoting: the rows of given modes are
solved from x = 0 by proximal rounds (A + eps 1) dx = -u with one factor, until the residual stands still; the result is the
solution of least norm, whatever the order of the contacts and the start. A is any matrix whose symmetric part is semidefinite.

Measured is the natural map of the complementarity problem; the x with the least is kept, and `left` tells it, in the units of u.
A problem without a solution (contacts that ask for contradicting motions) shows there. Lanes that are done stay as they are: a
result does not depend on its neighbours.
"""

from __future__ import annotations

import numpy as np

from ..kernel.lanes import Lanes
from ..kernel.loops import Ints, Lane, Table, all, any, loops, maximum, minimum, sqrt, where
from .contact_block import solve_contact
from .lu import factor_lu, solve_lu
from .problem import Info, Problem

EPS = 1e-6  # relative weight of the last solution in a proximal round
SOFTEST = 1e-2  # the same at most, where steps do not lead down
BLOCK = 1e-10  # the same in the solve of one contact
ROUNDS = 3  # proximal rounds on one factor
CHANGES = 60  # of modes, at most
SWEEPS = 6  # of Gauss-Seidel at first; later some more
DECREASE = 0.1  # of the residual: the least that a step is to bring
HALVINGS = 8  # of a step
ENOUGH = 5e-14  # of the largest terms: the residual that ends the search
ROUNDING = 1e-11  # of the largest terms: the same where no step leads down
SMALL = 1e-15  # of the largest terms: what proximal rounds are to reach
EMPTY = 1e-14  # of the largest diagonal: rows that answer less drop out
STIFFEST = 1e12  # k at most: beyond, the direction of sliding does not move
HUGE = 1e300
INFINITE = np.inf


@loops
def mirror(active: Ints, packed: Lane, A: Lane) -> None:
    """The whole of a packed symmetric matrix (`boxes.gram`), row by row."""
    m = active[0]
    for i in range(m):
        for k in range(i + 1):
            A[i * m + k] = packed[i * (i + 1) // 2 + k]
            A[k * m + i] = packed[i * (i + 1) // 2 + k]


@loops
def motions(m: int, A: Lane, b: Lane, x: Lane, u: Lane) -> None:
    """u = A x + b."""
    for i in range(m):
        s = b[i]
        for k in range(m):
            s += A[i * m + k] * x[k]
        u[i] = s


@loops
def scale_cones(
    active: Ints,
    cones: Table,
    mu: Lane,
    on: Lane,
    b: Lane,
    lower: Lane,
    upper: Lane,
    x: Lane,
    A: Lane,
    scale: Lane,
    bs: Lane,
    lo: Lane,
    hi: Lane,
    xs: Lane,
) -> None:
    """The problem in scaled rows; those with scale zero drop out. Rows bounded by another have their coefficient in `hi`."""
    m = active[0]
    most = 0.0 * A[0]
    for i in range(m):
        most = maximum(most, where(on[active[i + 1]] > 0.0, A[i * m + i], 0.0))
    for i in range(m):
        r = active[i + 1]
        first = i
        if cones[r] > 1:
            first = i + 1 - cones[r]
        size = A[i * m + i]
        if cones[r] > 0:
            size = (A[first * m + first] + A[(first + 1) * m + first + 1] + A[(first + 2) * m + first + 2]) / 3.0
        good = (on[r] > 0.0) & (A[first * m + first] > EMPTY * most)
        scale[i] = where(good, 1.0 / sqrt(where(good, size, 1.0)), 0.0)
    for i in range(m):
        r = active[i + 1]
        good = scale[i] > 0.0
        unit = 1.0 / where(good, scale[i], 1.0)
        for k in range(m):
            A[i * m + k] = where(good, A[i * m + k] * (scale[i] * scale[k]), 0.0)
        A[i * m + i] = where(good, A[i * m + i], 1.0)
        bs[i] = where(good, b[r] * scale[i], 0.0)
        xs[i] = where(good, x[r] * unit, 0.0)
        if cones[r] == 0:
            lo[i] = where(good, lower[r] * unit, 0.0)
            hi[i] = where(good, upper[r] * unit, 0.0)
        else:
            normal = i
            if cones[r] < 0:
                normal = i + cones[r]
            lo[i] = -HUGE
            hi[i] = where(good, mu[r] * (scale[normal] * unit), 0.0)


@loops
def sweep_cones(
    active: Ints, cones: Table, A: Lane, bs: Lane, lo: Lane, hi: Lane, scale: Lane, xs: Lane, sweeps: int, go: float
) -> None:
    """Block Gauss-Seidel in lanes that go: every contact, every row, given the others."""
    m = active[0]
    for _ in range(sweeps):
        for i in range(m):
            kind = cones[active[i + 1]]
            live = where(scale[i] > 0.0, go, 0.0)
            if kind == 1:
                c0 = bs[i]
                c1 = bs[i + 1]
                c2 = bs[i + 2]
                for k in range(i):
                    c0 += A[i * m + k] * xs[k]
                    c1 += A[i * m + m + k] * xs[k]
                    c2 += A[i * m + 2 * m + k] * xs[k]
                for k in range(i + 3, m):
                    c0 += A[i * m + k] * xs[k]
                    c1 += A[i * m + m + k] * xs[k]
                    c2 += A[i * m + 2 * m + k] * xs[k]
                c0 -= BLOCK * xs[i]
                c1 -= BLOCK * xs[i + 1]
                c2 -= BLOCK * xs[i + 2]
                solve_contact(m, i, A, hi[i + 1], c0, c1, c2, BLOCK, xs, live)
            elif kind <= 0:
                u = bs[i]
                for k in range(m):
                    u += A[i * m + k] * xs[k]
                low = lo[i]
                high = hi[i]
                if kind < 0:
                    high = hi[i] * maximum(xs[i + kind], 0.0)
                    low = -high
                xs[i] = where(live > 0.0, minimum(maximum(xs[i] - u, low), high), xs[i])


@loops
def natural_map(
    active: Ints, cones: Table, lo: Lane, hi: Lane, scale: Lane, xs: Lane, u: Lane, xn: Lane, un: Lane, share: float, z: Lane
) -> float:
    """z = x - P(x - u - s) in scaled rows, and its length: P projects on the cones, s is the shift mu |u_t| of normal rows.

    x and u are those between xs, u and xn, un at a share of the way.
    """
    square = 0.0 * share
    for i in range(active[0]):
        kind = cones[active[i + 1]]
        good = scale[i] > 0.0
        x0 = xs[i] + share * (xn[i] - xs[i])
        y0 = x0 - (u[i] + share * (un[i] - u[i]))
        if kind == 1:
            mu = hi[i + 1]
            x1 = xs[i + 1] + share * (xn[i + 1] - xs[i + 1])
            x2 = xs[i + 2] + share * (xn[i + 2] - xs[i + 2])
            u1 = u[i + 1] + share * (un[i + 1] - u[i + 1])
            u2 = u[i + 2] + share * (un[i + 2] - u[i + 2])
            t1 = x1 - u1
            t2 = x2 - u2
            n = y0 - mu * sqrt(u1 * u1 + u2 * u2)
            t = sqrt(t1 * t1 + t2 * t2)
            inside = t <= mu * n
            along = maximum((n + mu * t) / (1.0 + mu * mu), 0.0)
            part = where(inside, 1.0, mu * along / where(inside | ~(t > 0.0), 1.0, t))
            z[i] = where(good, x0 - where(inside, n, along), 0.0)
            z[i + 1] = where(good, x1 - part * t1, 0.0)
            z[i + 2] = where(good, x2 - part * t2, 0.0)
            square += z[i] * z[i] + z[i + 1] * z[i + 1] + z[i + 2] * z[i + 2]
        elif kind <= 0:
            low = lo[i]
            high = hi[i]
            if kind < 0:
                high = hi[i] * maximum(xs[i + kind] + share * (xn[i + kind] - xs[i + kind]), 0.0)
                low = -high
            z[i] = where(good, x0 - minimum(maximum(y0, low), high), 0.0)
            square += z[i] * z[i]
    return sqrt(square)


@loops
def choose_modes(
    active: Ints,
    cones: Table,
    lo: Lane,
    hi: Lane,
    scale: Lane,
    xs: Lane,
    u: Lane,
    eps: float,
    keep: Lane,
    turn: Lane,
    more: Lane,
    z: Lane,
) -> None:
    """The modes that y = x - u tells.

    keep   1 for unknowns: of a contact x_n, that across d, that along d (sticking alone); 0 for what is left out
    turn   of tangents d, (0, 1) where it sticks; of normal rows mu if it slides, else 0; of rows at a bound that another row
           sets, the signed coefficient
    more   on the diagonal
    z      x of rows that are left out: their bound
    """
    for i in range(active[0]):
        kind = cones[active[i + 1]]
        good = scale[i] > 0.0
        if kind == 1:
            mu = hi[i + 1]
            n = xs[i] - u[i]
            t1 = xs[i + 1] - u[i + 1]
            t2 = xs[i + 2] - u[i + 2]
            t = sqrt(t1 * t1 + t2 * t2)
            acts = good & (n > 0.0)
            slides = acts & (t > mu * n)
            k = t / where(mu * n > 0.0, mu * n, 1.0) - 1.0
            keep[i] = where(acts, 1.0, 0.0)
            keep[i + 1] = keep[i]
            keep[i + 2] = where(slides, 0.0, keep[i])
            turn[i] = where(slides, mu, 0.0)
            turn[i + 1] = where(slides, t1 / where(slides, t, 1.0), 0.0)
            turn[i + 2] = where(slides, t2 / where(slides, t, 1.0), 1.0)
            more[i] = where(acts, eps, 1.0)
            more[i + 1] = where(slides, eps + where(mu * n * STIFFEST > t, k, STIFFEST), more[i])
            more[i + 2] = where(slides, 1.0, more[i])
            z[i] = 0.0
            z[i + 1] = 0.0
            z[i + 2] = 0.0
        elif kind <= 0:
            y = xs[i] - u[i]
            low = lo[i]
            high = hi[i]
            if kind < 0:
                high = hi[i] * maximum(xs[i + kind], 0.0)
                low = -high
            free = good & (y >= low) & (y <= high)
            keep[i] = where(free, 1.0, 0.0)
            more[i] = where(free, eps, 1.0)
            turn[i] = 0.0
            z[i] = where(free | ~good, 0.0, minimum(maximum(y, low), high))
            if kind < 0:
                turn[i] = where(free | ~good, 0.0, where(y > high, hi[i], -hi[i]))
                z[i] = 0.0


@loops
def list_unknowns(active: Ints, cones: Table, keep: Lane, order: Ints) -> int:
    """The rows that are unknown in some lane; the three of a contact together. Returns how many."""
    n = 0
    for i in range(active[0]):
        kind = cones[active[i + 1]]
        if (kind < 2 and any(keep[i] > 0.0)) or (kind > 1 and any(keep[i + 1 - kind] > 0.0)):
            order[n] = i
            n += 1
    return n


@loops
def modal_matrix(n: int, active: Ints, cones: Table, A: Lane, keep: Lane, turn: Lane, more: Lane, order: Ints, T: Lane) -> None:
    """The system of the modes, T (n, n): columns and rows of A turned, left out, and added to."""
    m = active[0]
    for p in range(n):
        for q in range(n):
            T[p * n + q] = A[order[p] * m + order[q]]
    for q in range(n):  # columns: n + mu d, across d, along d
        i = order[q]
        kind = cones[active[i + 1]]
        if kind == 1 and any(keep[i + 2] < keep[i]):
            d1 = turn[i + 1]
            d2 = turn[i + 2]
            for p in range(n):
                a = p * n + q
                along = d1 * T[a + 1] + d2 * T[a + 2]
                T[a] += turn[i] * along
                T[a + 1] = d2 * T[a + 1] - d1 * T[a + 2]
                T[a + 2] = along
    for i in range(m):  # what follows a normal row at its bound
        kind = cones[active[i + 1]]
        if kind < 0 and any(abs(turn[i]) > 0.0):
            for q in range(n):
                if order[q] == i + kind:
                    for p in range(n):
                        T[p * n + q] += turn[i] * A[order[p] * m + i]
    for p in range(n):  # rows
        i = order[p]
        kind = cones[active[i + 1]]
        if kind == 1 and any(keep[i + 2] < keep[i]):
            d1 = turn[i + 1]
            d2 = turn[i + 2]
            for q in range(n):
                a = p * n + q
                across = d2 * T[a + n] - d1 * T[a + 2 * n]
                T[a + 2 * n] = d1 * T[a + n] + d2 * T[a + 2 * n]
                T[a + n] = across
    for p in range(n):
        for q in range(n):
            T[p * n + q] = T[p * n + q] * (keep[order[p]] * keep[order[q]])
        T[p * n + p] += more[order[p]]


@loops
def right_side(n: int, active: Ints, cones: Table, keep: Lane, turn: Lane, u: Lane, order: Ints, z: Lane) -> float:
    """-u of the unknowns, turned as the rows of the matrix are; returns the largest."""
    most = 0.0 * u[0]
    for p in range(n):
        i = order[p]
        kind = cones[active[i + 1]]
        if kind == 1:
            z[p] = -u[i] * keep[i]
            z[p + 1] = (turn[i + 1] * u[i + 2] - turn[i + 2] * u[i + 1]) * keep[i + 1]
            z[p + 2] = -(turn[i + 1] * u[i + 1] + turn[i + 2] * u[i + 2]) * keep[i + 2]
        elif kind < 1:
            z[p] = -u[i] * keep[i]
        most = maximum(most, abs(z[p]))
    return most


@loops
def move(n: int, active: Ints, cones: Table, keep: Lane, turn: Lane, order: Ints, z: Lane, x: Lane, go: float) -> None:
    """Add what was found to x, in lanes that go; where a contact slides, d turns, and friction stays on the cone."""
    for p in range(n):
        i = order[p]
        kind = cones[active[i + 1]]
        if kind == 1:
            slides = keep[i + 2] < keep[i]
            d1 = turn[i + 1]
            d2 = turn[i + 2]
            new = x[i] + z[p] * keep[i]
            most = maximum(turn[i] * new, 0.0)
            f1 = d1 * most + d2 * z[p + 1]
            f2 = d2 * most - d1 * z[p + 1]
            f = sqrt(f1 * f1 + f2 * f2)
            turns = slides & (go > 0.0) & (most > 0.0)
            turn[i + 1] = where(turns, f1 / where(turns, f, 1.0), d1)
            turn[i + 2] = where(turns, f2 / where(turns, f, 1.0), d2)
            t1 = where(slides, most * turn[i + 1], x[i + 1] + z[p + 1] * keep[i + 1])
            t2 = where(slides, most * turn[i + 2], x[i + 2] + z[p + 2] * keep[i + 2])
            x[i] = where(go > 0.0, new, x[i])
            x[i + 1] = where(go > 0.0, t1, x[i + 1])
            x[i + 2] = where(go > 0.0, t2, x[i + 2])
        elif kind < 1:
            x[i] = where(go > 0.0, x[i] + z[p] * keep[i], x[i])
    for i in range(active[0]):
        kind = cones[active[i + 1]]
        if kind < 0:
            bound = (go > 0.0) & (abs(turn[i]) > 0.0)
            x[i] = where(bound, turn[i] * maximum(x[i + kind], 0.0), x[i])


@loops
def start_modes(active: Ints, cones: Table, keep: Lane, turn: Lane, xs: Lane, z: Lane, xn: Lane, part: float, go: float) -> None:
    """Where the unknowns of given modes begin: at a part of xs, friction on its cone; what is left out as z says."""
    for i in range(active[0]):
        kind = cones[active[i + 1]]
        if kind == 1:
            slides = keep[i + 2] < keep[i]
            new = part * xs[i] * keep[i]
            most = maximum(turn[i] * new, 0.0)
            t1 = where(slides, most * turn[i + 1], part * xs[i + 1] * keep[i + 1])
            t2 = where(slides, most * turn[i + 2], part * xs[i + 2] * keep[i + 2])
            xn[i] = where(go > 0.0, new, xn[i])
            xn[i + 1] = where(go > 0.0, t1, xn[i + 1])
            xn[i + 2] = where(go > 0.0, t2, xn[i + 2])
        elif kind < 1:
            new = where(keep[i] > 0.0, part * xs[i], z[i])
            if kind < 0:
                new = where(keep[i] > 0.0, new, turn[i] * maximum(part * xs[i + kind], 0.0))
            xn[i] = where(go > 0.0, new, xn[i])


@loops
def approach(
    n: int,
    active: Ints,
    cones: Table,
    A: Lane,
    bs: Lane,
    keep: Lane,
    turn: Lane,
    xn: Lane,
    un: Lane,
    z: Lane,
    order: Ints,
    T: Lane,
    enough: float,
    go: float,
) -> None:
    """x of given modes by proximal rounds on one factor, in lanes that go, until the residual is small or stands still."""
    m = active[0]
    last = HUGE + 0.0 * go
    still = go
    motions(m, A, bs, xn, un)
    for _ in range(ROUNDS):
        size = right_side(n, active, cones, keep, turn, un, order, z)
        still = where((size < 0.5 * last) & (size > enough), still, 0.0)
        if not any(still > 0.0):
            break
        last = size
        solve_lu(n, T, z)
        move(n, active, cones, keep, turn, order, z, xn, still)
        motions(m, A, bs, xn, un)


@loops
def solve_cones(
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
    rounds: Lane,
    T: Lane,
    scale: Lane,
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
    turn: Lane,
    more: Lane,
    order: Ints,
) -> None:
    """The multipliers x of the listed rows, from the x given (zero, or those of the step before).

    active   how many rows take part, then they; the rows of one contact stand together, and are on together
    cones    of every row what it is: see `problem`
    mu       coefficients of rows that others bound; of a Coulomb cone that of its first tangent
    A        (m, m), row by row in the order of the list; it is used up
    left     the largest residual, in the units of the rows
    rounds   how many systems were solved
    The rest is scratch: T (m, m), `order` whole numbers, the others a record per row.
    """
    m = active[0]
    scale_cones(active, cones, mu, on, b, lower, upper, x, A, scale, bs, lo, hi, xs)
    go = 1.0 + 0.0 * A[0]
    sweeping = go
    eps = EPS * go
    given = 0.0 * go
    rounds[0] = 0.0
    for i in range(m):
        given = maximum(given, abs(bs[i]))
        best[i] = xs[i]
        xn[i] = xs[i]
    least = HUGE * go
    for change in range(CHANGES):
        if any(sweeping > 0.0):
            sweep_cones(active, cones, A, bs, lo, hi, scale, xs, SWEEPS + change // 2, sweeping)
        motions(m, A, bs, xs, u)
        off = natural_map(active, cones, lo, hi, scale, xs, u, xs, u, 0.0 * go, z)
        size = given
        for i in range(m):
            size = maximum(size, abs(xs[i]))
        better = (go > 0.0) & (off < least)
        for i in range(m):
            best[i] = where(better, xs[i], best[i])
        least = where(better, off, least)
        go = where(least <= ENOUGH * size, 0.0, go)
        if not any(go > 0.0):
            break
        choose_modes(active, cones, lo, hi, scale, xs, u, eps, keep, turn, more, z)
        n = list_unknowns(active, cones, keep, order)
        modal_matrix(n, active, cones, A, keep, turn, more, order, T)
        factor_lu(n, T)
        rounds[0] += go
        start_modes(active, cones, keep, turn, xs, z, xn, 1.0, go)
        approach(n, active, cones, A, bs, keep, turn, xn, un, z, order, T, SMALL * size, go)
        share = 0.0 * go
        trial = 1.0 + 0.0 * go
        for _ in range(HALVINGS):
            new = natural_map(active, cones, lo, hi, scale, xs, u, xn, un, trial, z)
            share = where((new < (1.0 - DECREASE) * off) & ~(share > 0.0), trial, share)
            if all((share > 0.0) | ~(go > 0.0)):
                break
            trial = 0.5 * trial
        moves = (go > 0.0) & (share > 0.0)
        go = where(~moves & (least <= ROUNDING * size), 0.0, go)
        sweeping = where(moves, 0.0, go)
        eps = where(moves, maximum(where(share < 1.0, eps, 0.1 * eps), EPS), minimum(10.0 * eps, SOFTEST))
        for i in range(m):
            xs[i] = where(moves, where(share < 1.0, xs[i] + share * (xn[i] - xs[i]), xn[i]), xs[i])
    motions(m, A, bs, best, u)
    natural_map(active, cones, lo, hi, scale, best, u, best, u, 0.0 * go, z)
    left[0] = 0.0
    for i in range(m):
        left[0] = maximum(left[0], abs(z[i]) / where(scale[i] > 0.0, scale[i], 1.0))
        x[active[i + 1]] = best[i] * scale[i]


def solve(problem: Problem, warm: np.ndarray | None = None) -> tuple[np.ndarray, Info]:
    """x of one problem, and how it ended."""
    x, left, rounds = solve_all([problem], None if warm is None else [warm])
    return x[0], Info(float(left[0]), int(rounds[0]))


def solve_all(problems: list[Problem], warm: list[np.ndarray] | None = None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """x (problems, rows), what is left and rounds of problems with the same rows, in as many lanes."""
    first, W = problems[0].cones, len(problems)
    m, rows = len(first.rows), [(p.cones.mu, np.ones(len(p.b)), p.b, p.cones.lower, p.cones.upper) for p in problems]
    mu, on, b, lower, upper = (np.ascontiguousarray(np.stack(given, axis=-1)) for given in zip(*rows, strict=True))
    x = np.zeros((m, W)) if warm is None else np.ascontiguousarray(np.stack(warm, axis=-1))
    A = np.ascontiguousarray(np.stack([p.A.reshape(-1) for p in problems], axis=-1))
    left, rounds, T, scratch = np.zeros((1, W)), np.zeros((1, W)), np.zeros((m * m, W)), np.zeros((13, m, W))
    active = np.arange(-1, m)
    active[0], order = m, np.zeros(m, np.int64)
    tables = active, np.ascontiguousarray(first.rows, np.int32)
    solve_cones.call(Lanes(W), *tables, mu, on, b, lower, upper, x, A, left, rounds, T, *scratch, order)
    return x.T.copy(), left[0], rounds[0]
