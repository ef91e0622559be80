"""Problems with Coulomb cones on rows that touch few joints each, solved as `coulomb` solves them, without a matrix of the rows.

Newton's method on the modes of the rows, with the natural map of the complementarity problem as what must fall. Sweeps of block
Gauss-Seidel come first, after steps that do not lead down, and, in turn with alternating directions, where none does. Products
with A, sweeps, and systems of given modes are those of `sparse_rows`: all of it costs about as much as there are contacts. For
one lane.

**Contradictions.** Modes may ask more of a motion than it has freedoms, as points of two faces do. What then is left of u no x of
these modes removes; along the x that their matrix does not see, motion does not change, and what should open or slide comes to
its cone (`leave_cones`). There modes are looked for anew. But points of two faces may contradict one another by the part h w of
their speed, as bodies turn in a step: no modes remove that, so a search whose residual is small and stands still has ended;
what is left is told.

**Redundant rows** are no obstacle: systems are solved by proximal rounds. Where contacts slide, the load of least norm is
chosen, of all that friction allows (`settle_load`), whatever the order of the contacts and the start. Where all stick or are
open, motion does not depend on it, and x stays near where it began.
"""

from __future__ import annotations

from ..kernel.loops import Ints, Lane, Table, any, loops, maximum, minimum, sqrt, where
from .cone_modes import choose_modes, list_unknowns, right_side, start_modes
from .cone_rows import largest_terms, natural_map, project_cones
from .cone_search import (
    DECREASE,
    RHO,
    SMALL,
    SOFTEST,
    STILL,
    shorten,
)
from .dense_islands import LARGEST_MATRIX, MEDIUM_MATRIX, SMALL_MATRIX, solve_dense_island
from .sparse_loads import EPS, ROUNDS, approach_sparse, settle_load
from .sparse_rows import (
    contact_blocks,
    factor_sparse,
    scale_sparse,
    solve_sparse,
    sparse_motions,
    sweep_sparse,
    take_entries,
    turn_entries,
)

SWEEPS, MOST_SWEEPS = 3, 9  # of Gauss-Seidel: at first, and later
INEXACT = 1e-6  # of the residual before: what proximal rounds need reach in one change of modes
SMOOTH = 4  # the same after a step that does not lead down
ALTERNATIONS = 60  # of directions, and more later
CLOSE = 1e-3  # relative: how well they need to know sliding
HUGE = 1e300
JAM = 1e-7  # of the largest terms: a contradiction that no step of its modes changes ends the search
LONGEST = 1e12  # of the ways along what modes leave; farther away nothing leaves its cone
BEYOND = 1e-9  # of such a way, so that what is at its cone is outside
ROUGH = 1e-4  # of the largest terms: alternating directions serve no better residual
FALL = 0.1  # of a residual: if it does not fall to this, it stands still
PATIENCE, JAM_PATIENCE = 3, 6  # changes of modes without such a fall that end a search: where the residual is below
STANDSTILL, LARGE_JAM = 1e-6, 1e-5  # of the largest terms
WORTH = 1e-7  # of the largest terms: what is left above is worth a matrix, if there is room
GROSS = 2e-5  # of the largest terms: what is left above is worth a large one
AGAIN = 1e-6  # the same: it is looked for once more, from x = 0
LEAVINGS = 40  # of contradictions, at most


@loops
def alternate_sparse(
    m: int,
    kinds: Ints,
    nb: int,
    at: Ints,
    block: Ints,
    U: Lane,
    Y: Lane,
    soft: float,
    bs: Lane,
    lo: Lane,
    hi: Lane,
    scale: Lane,
    inside: Lane,
    force: Lane,
    d: Lane,
    xn: Lane,
    z: Lane,
    w: Lane,
    unknowns: Ints,
    slot: Ints,
    degree: Ints,
    gone: Ints,
    order: Ints,
    first: Ints,
    near: Ints,
    pivots: Ints,
    H: Lane,
    rounds: int,
) -> None:
    """Go on with alternating directions, as `coulomb.alternate`."""
    for i in range(m):
        d[i] = RHO
        unknowns[i] = i
    factor_sparse(m, nb, unknowns, at, block, U, Y, d, d, soft, slot, degree, gone, order, first, near, pivots, H)
    for _ in range(rounds):
        for i in range(m):
            xn[i] = RHO * inside[i] + force[i] - bs[i]
        for i in range(m):
            if kinds[i] == 1:
                xn[i] -= hi[i + 1] * sqrt(force[i + 1] * force[i + 1] + force[i + 2] * force[i + 2])
        solve_sparse(m, nb, unknowns, at, block, U, Y, d, soft, slot, order, first, near, H, xn, w)
        for i in range(m):
            z[i] = xn[i] - force[i] / RHO
        project_cones(m, kinds, lo, hi, scale, z)
        for i in range(m):
            force[i] -= RHO * (xn[i] - z[i])
            inside[i] = z[i]


@loops
def null_direction(n: int, m: int, kinds: Ints, keep: Lane, turn: Lane, unknowns: Ints, z: Lane, dx: Lane) -> None:
    """dx of rows from the unknowns z of their modes; friction of what slides stays on its cone."""
    for i in range(m):
        dx[i] = 0.0
    for p in range(n):
        i = unknowns[p]
        kind = kinds[i]
        if kind == 1:
            d1 = turn[i + 1]
            d2 = turn[i + 2]
            across = z[p + 1] * keep[i + 1]
            along = z[p + 2] * keep[i + 2] + turn[i] * z[p] * keep[i]
            dx[i] = z[p] * keep[i]
            dx[i + 1] = d1 * along + d2 * across
            dx[i + 2] = d2 * along - d1 * across
        elif kind < 1:
            dx[i] = z[p] * keep[i]


@loops
def leave_cones(m: int, kinds: Ints, lo: Lane, hi: Lane, keep: Lane, dx: Lane, x: Lane) -> float:
    """Go along dx to where the first row that acts leaves its cone; returns the way, or HUGE where none does."""
    way = HUGE + 0.0 * dx[0]
    for i in range(m):
        kind = kinds[i]
        if kind == 1 and any(keep[i] > 0.0):
            mu = hi[i + 1]
            falls = dx[i] < 0.0
            end = where(falls, maximum(x[i], 0.0) / where(falls, -dx[i], 1.0), HUGE)
            if any(keep[i + 2] > 0.0) and any(mu > 0.0):
                m2 = mu * mu
                a = dx[i + 1] * dx[i + 1] + dx[i + 2] * dx[i + 2] - m2 * dx[i] * dx[i]
                half = x[i + 1] * dx[i + 1] + x[i + 2] * dx[i + 2] - m2 * x[i] * dx[i]
                c = minimum(x[i + 1] * x[i + 1] + x[i + 2] * x[i + 2] - m2 * x[i] * x[i], 0.0)
                square = half * half - a * c
                reach = half + sqrt(maximum(square, 0.0))
                meets = (square >= 0.0) & (reach > 0.0)
                end = minimum(end, where(meets, -c / where(meets, reach, 1.0), HUGE))
            way = minimum(way, end)
        elif kind <= 0 and any(keep[i] > 0.0):
            low = lo[i]
            high = hi[i]
            if kind < 0:
                high = hi[i] * maximum(x[i + kind], 0.0)
                low = -high
            moves = abs(dx[i]) > 0.0
            room = where(dx[i] < 0.0, x[i] - low, high - x[i])
            way = minimum(way, where(moves, maximum(room, 0.0) / where(moves, abs(dx[i]), 1.0), HUGE))
    if any(way < LONGEST):
        for i in range(m):
            x[i] += (1.0 + BEYOND) * way * dx[i]
    return way


@loops
def solve_sparse_cones(
    rows: Ints,
    starts: Table,
    places: Table,
    freedoms: Table,
    joints: Table,
    cones: Table,
    nb: int,
    local: Ints,
    u_rows: Lane,
    y_rows: Lane,
    mu: Lane,
    on: Lane,
    b: Lane,
    lower: Lane,
    upper: Lane,
    x: Lane,
    motion: Lane,
    soft: float,
    enough: float,
    changes: int,
    at: Ints,
    block: Ints,
    kinds: Ints,
    unknowns: Ints,
    slot: Ints,
    degree: Ints,
    gone: Ints,
    order: Ints,
    first: Ints,
    near: Ints,
    pivots: Ints,
    U: Lane,
    Y: Lane,
    R: Lane,
    C: Lane,
    H: Lane,
    K: Lane,
    w: Lane,
    B: Lane,
    scale: Lane,
    bs: Lane,
    lo: Lane,
    hi: Lane,
    xs: Lane,
    u: Lane,
    xn: Lane,
    un: Lane,
    best: Lane,
    inside: Lane,
    force: Lane,
    z: Lane,
    keep: Lane,
    turn: Lane,
    d: Lane,
    rest: Lane,
) -> float:
    """The multipliers x of the listed rows, from the x given; returns the largest residual, in the units of the rows.

    rows     how many, then they; the rows of one contact stand together, and are on together
    local    of every joint the number of its block, of nb
    motion   becomes A x + b
    soft     what is added to the diagonal of A in scaled rows
    enough   of the largest terms: the residual that ends the search;  changes: of modes, at most
    """
    m = rows[0]
    take_entries(rows, starts, places, freedoms, joints, local, u_rows, y_rows, at, block, U, Y)
    for i in range(m):
        kinds[i] = cones[rows[i + 1]]
    scale_sparse(rows, cones, mu, on, b, lower, upper, x, at, U, Y, scale, bs, lo, hi, xs, z)
    zero = 0.0 * soft
    one = 1.0 + zero
    given = zero
    for i in range(m):
        given = maximum(given, abs(bs[i]))
        best[i] = xs[i]
        xn[i] = xs[i]
        inside[i] = 0.0
        force[i] = bs[i]
    sparse_motions(m, nb, at, block, U, Y, soft, bs, xs, u, w)
    least = natural_map(m, kinds, lo, hi, scale, xs, u, z)
    eps = EPS + zero
    sweeping = 1
    alternating = 0
    turns = 0
    leavings = 0
    waits = 0
    mark = HUGE + zero
    forced = 0
    size = largest_terms(m, xs, given)
    solved = not any(least > enough * size)
    if solved or (any(soft <= 0.0) and solve_dense_island(
        m, SMALL_MATRIX, kinds, at, block, U, Y, soft, bs, lo, hi, scale, xs, u, xn, un, best, inside, force, z, keep, turn,
        d, w, unknowns, K,
    )):  # fmt: skip
        changes = 0
    if changes > 0:
        contact_blocks(m, kinds, at, U, Y, scale, B)
    for change in range(2 * changes):
        if any(least <= enough * size) or (change >= changes and any(least <= AGAIN * size)):
            break
        if change == changes:  # from nothing, once more
            for i in range(m):
                xs[i] = 0.0
            eps = EPS + zero
            sweeping = 1
            alternating = 0
            forced = 0
            waits = 0
        if sweeping == 1:
            sweeps = min(SWEEPS + 2 * change, MOST_SWEEPS)
            sweep_sparse(m, kinds, nb, at, block, U, Y, B, soft, bs, lo, hi, scale, xs, w, sweeps, CLOSE)
        if alternating == 1:
            alternate_sparse(
                m, kinds, nb, at, block, U, Y, soft, bs, lo, hi, scale, inside, force, d, xn, z, w,
                unknowns, slot, degree, gone, order, first, near, pivots, H, ALTERNATIONS + 2 * change,
            )  # fmt: skip
            for i in range(m):
                xs[i] = inside[i]
        sparse_motions(m, nb, at, block, U, Y, soft, bs, xs, u, w)
        off = natural_map(m, kinds, lo, hi, scale, xs, u, z)
        size = largest_terms(m, xs, given)
        if any(off < least):
            least = off
            for i in range(m):
                best[i] = xs[i]
        waits += 1
        if any(least < FALL * mark):
            mark = least
            waits = 0
        stalls = (waits >= PATIENCE and any(least <= STANDSTILL * size)) or (
            waits >= JAM_PATIENCE and any(least <= LARGE_JAM * size)
        )
        if any(off <= enough * size) or stalls:
            break
        choose_modes(m, kinds, lo, hi, scale, xs, u, eps, keep, turn, d, z)
        n = list_unknowns(m, kinds, keep, unknowns)
        turn_entries(m, kinds, at, keep, turn, U, Y, R, C)
        factor_sparse(n, nb, unknowns, at, block, R, C, keep, d, soft, slot, degree, gone, order, first, near, pivots, H)
        start_modes(m, kinds, keep, turn, xs, z, xn, one, one)
        approach_sparse(
            n, m, kinds, nb, at, block, U, Y, R, C, soft, bs, keep, turn, d, xn, un, z, rest, w,
            unknowns, slot, order, first, near, H, maximum(SMALL * size, INEXACT * off), ROUNDS, eps,
        )  # fmt: skip
        full = natural_map(m, kinds, lo, hi, scale, xn, un, z)
        lower_than = (1.0 - DECREASE) * off
        if forced == 1:
            lower_than = HUGE + zero
        forced = 0
        share = where((full <= enough * size) | (full < lower_than), 1.0, 0.0)
        if not any(share > 0.0) and not any(abs(full - off) <= STILL * off):  # contacts by themselves find their modes
            sweep_sparse(m, kinds, nb, at, block, U, Y, B, soft, bs, lo, hi, scale, xn, w, SMOOTH, CLOSE)
            sparse_motions(m, nb, at, block, U, Y, soft, bs, xn, un, w)
            full = natural_map(m, kinds, lo, hi, scale, xn, un, z)
            share = where(full < lower_than, 1.0, 0.0)
        share = shorten(m, kinds, lo, hi, scale, xs, u, xn, un, rest, z, share, lower_than, one)
        stands = (off <= (1.0 + STILL) * least) & (abs(full - off) <= STILL * off)
        jams = stands & (least <= JAM * size) & (eps <= EPS) & ~(share > 0.0)
        sweeping = 0
        alternating = 0
        if not any(share > 0.0) and any(abs(full - off) <= STILL * off) and leavings < LEAVINGS and any(eps <= EPS):
            leavings += 1
            right_side(n, m, kinds, keep, turn, un, unknowns, z)
            solve_sparse(n, nb, unknowns, at, block, R, C, d, soft, slot, order, first, near, H, z, w)
            null_direction(n, m, kinds, keep, turn, unknowns, z, rest)
            if any(leave_cones(m, kinds, lo, hi, keep, rest, xn) < LONGEST):
                forced = 1
        if forced == 1:
            for i in range(m):
                xs[i] = xn[i]
        elif any(share > 0.0):
            for i in range(m):
                xs[i] = where(share < 1.0, xs[i] + share * (xn[i] - xs[i]), xn[i])
            eps = maximum(where(share < 1.0, eps, 0.1 * eps), EPS)
        else:
            eps = minimum(10.0 * eps, SOFTEST)
            alternating = 0
            if turns == 1 and any(least > ROUGH * size):
                alternating = 1
            sweeping = 1 - alternating
            turns = 1 - turns
        if any(full <= enough * size) or (any(jams) and forced == 0):
            for i in range(m):
                best[i] = xs[i]
            close_enough = where(jams, (1.0 + STILL) * off, enough * size)
            settle_load(
                m, kinds, nb, at, block, U, Y, R, C, soft, bs, lo, hi, scale, keep, turn, d, best, xs, xn, un, z, rest,
                w, unknowns, slot, degree, gone, order, first, near, pivots, H, close_enough, size,
            )  # fmt: skip
            break
    if changes > 0 and any(soft <= 0.0) and any(least > WORTH * size):
        most = MEDIUM_MATRIX
        if any(least > GROSS * size):
            most = LARGEST_MATRIX
        for i in range(m):
            xs[i] = best[i]
        solve_dense_island(
            m, most, kinds, at, block, U, Y, soft, bs, lo, hi, scale, xs, u, xn, un, best, inside, force, z, keep, turn,
            d, w, unknowns, K,
        )  # fmt: skip
    sparse_motions(m, nb, at, block, U, Y, soft, bs, best, u, w)
    natural_map(m, kinds, lo, hi, scale, best, u, z)
    left = zero
    for i in range(m):
        unit = 1.0 / where(scale[i] > 0.0, scale[i], 1.0)
        left = maximum(left, abs(z[i]) * unit)
        x[rows[i + 1]] = best[i] * scale[i]
        motion[rows[i + 1]] = where(scale[i] > 0.0, (u[i] - soft * best[i]) * unit, b[rows[i + 1]])
    return left
