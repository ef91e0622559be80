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

from ..kernel.loops import Ints, Lane, any, loops, maximum, minimum, sqrt, where
from .block_sparse import Blocks
from .cone_modes import Modes, choose_modes, list_unknowns, right_side, start_modes
from .cone_rows import Rows, Search, largest_terms, natural_map, project_cones
from .cone_search import DECREASE, SOFTEST, STILL
from .cone_steps import RHO, SMALL, shorten
from .dense_islands import LARGEST_MATRIX, SMALL_MATRIX, solve_dense_island
from .own_rows import Listed
from .sparse_loads import EPS, ROUNDS, approach_sparse, settle_load
from .sparse_rows import (
    Entries,
    Paths,
    Turned,
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
WORTH = 1e-8  # of the largest terms: what is left above is worth a matrix, if there is room
AGAIN = 1e-6  # the same: it is looked for once more, from x = 0
LEAVINGS = 40  # of contradictions, at most


@loops
def alternate_sparse(
    m: int, rows: Rows, nb: int, entries: Entries, soft: float, s: Search, modes: Modes, w: Lane, blocks: Blocks, rounds: int
) -> None:
    """Go on with alternating directions, as `coulomb.alternate`."""
    for i in range(m):
        modes.keep[i] = 1.0
        modes.more[i] = RHO
        modes.unknowns[i] = i
    factor_sparse(m, nb, entries, Turned(entries.U, entries.Y), modes, soft, blocks)
    for _ in range(rounds):
        for i in range(m):
            s.xn[i] = RHO * s.inside[i] + s.force[i] - rows.bs[i]
        for i in range(m):
            if rows.kinds[i] == 1:
                s.xn[i] -= rows.hi[i + 1] * sqrt(s.force[i + 1] * s.force[i + 1] + s.force[i + 2] * s.force[i + 2])
        solve_sparse(m, nb, entries, Turned(entries.U, entries.Y), modes, soft, blocks, s.xn, w)
        for i in range(m):
            s.z[i] = s.xn[i] - s.force[i] / RHO
        project_cones(m, rows, s.z)
        for i in range(m):
            s.force[i] -= RHO * (s.xn[i] - s.z[i])
            s.inside[i] = s.z[i]


@loops
def null_direction(n: int, m: int, rows: Rows, modes: Modes, z: Lane, dx: Lane) -> None:
    """dx of rows from the unknowns z of their modes; friction of what slides stays on its cone."""
    for i in range(m):
        dx[i] = 0.0
    for p in range(n):
        i = modes.unknowns[p]
        kind = rows.kinds[i]
        if kind == 1:
            d1 = modes.turn[i + 1]
            d2 = modes.turn[i + 2]
            across = z[p + 1] * modes.keep[i + 1]
            along = z[p + 2] * modes.keep[i + 2] + modes.turn[i] * z[p] * modes.keep[i]
            dx[i] = z[p] * modes.keep[i]
            dx[i + 1] = d1 * along + d2 * across
            dx[i + 2] = d2 * along - d1 * across
        elif kind < 1:
            dx[i] = z[p] * modes.keep[i]


@loops
def leave_cones(m: int, rows: Rows, modes: Modes, dx: Lane, x: Lane) -> float:
    """Go along dx to where the first row that acts leaves its cone; returns the way, or HUGE where none does."""
    way = HUGE + 0.0 * dx[0]
    for i in range(m):
        kind = rows.kinds[i]
        if kind == 1 and any(modes.keep[i] > 0.0):
            mu = rows.hi[i + 1]
            falls = dx[i] < 0.0
            end = where(falls, maximum(x[i], 0.0) / where(falls, -dx[i], 1.0), HUGE)
            if any(modes.keep[i + 2] > 0.0) and any(mu > 0.0):
                m2 = mu * mu
                a = dx[i + 1] * dx[i + 1] + dx[i + 2] * dx[i + 2] - m2 * dx[i] * dx[i]
                half = x[i + 1] * dx[i + 1] + x[i + 2] * dx[i + 2] - m2 * x[i] * dx[i]
                c = minimum(x[i + 1] * x[i + 1] + x[i + 2] * x[i + 2] - m2 * x[i] * x[i], 0.0)
                square = half * half - a * c
                reach = half + sqrt(maximum(square, 0.0))
                meets = (square >= 0.0) & (reach > 0.0)
                end = minimum(end, where(meets, -c / where(meets, reach, 1.0), HUGE))
            way = minimum(way, end)
        elif kind <= 0 and any(modes.keep[i] > 0.0):
            low = rows.lo[i]
            high = rows.hi[i]
            if kind < 0:
                high = rows.hi[i] * maximum(x[i + kind], 0.0)
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
    listed: Listed,
    paths: Paths,
    nb: int,
    local: Ints,
    motion: Lane,
    soft: float,
    enough: float,
    changes: int,
    entries: Entries,
    turned: Turned,
    blocks: Blocks,
    K: Lane,
    w: Lane,
    B: Lane,
    rows: Rows,
    s: Search,
    modes: Modes,
    rest: Lane,
) -> float:
    """The multipliers x of the listed rows, from the x given; returns the largest residual, in the units of the rows.

    rows     how many, then they; the rows of one contact stand together, and are on together
    local    of every joint the number of its block, of nb
    motion   becomes A x + b
    soft     what is added to the diagonal of A in scaled rows
    enough   of the largest terms: the residual that ends the search;  changes: of modes, at most
    """
    m = listed.active[0]
    take_entries(listed, paths, local, entries)
    for i in range(m):
        rows.kinds[i] = listed.cones[listed.active[i + 1]]
    scale_sparse(listed, entries, rows, s.xs, s.z)
    zero = 0.0 * soft
    one = 1.0 + zero
    given = zero
    for i in range(m):
        given = maximum(given, abs(rows.bs[i]))
        s.best[i] = s.xs[i]
        s.xn[i] = s.xs[i]
        s.inside[i] = 0.0
        s.force[i] = rows.bs[i]
    sparse_motions(m, nb, entries, soft, rows.bs, s.xs, s.u, w)
    least = natural_map(m, rows, s.xs, s.u, s.z)
    eps = EPS + zero
    sweeping = 1
    alternating = 0
    turns = 0
    leavings = 0
    waits = 0
    mark = HUGE + zero
    forced = 0
    size = largest_terms(m, s.xs, given)
    solved = not any(least > enough * size)
    if solved or (any(soft <= 0.0) and solve_dense_island(m, SMALL_MATRIX, rows, entries, soft, s, modes, w, K)):
        changes = 0
    if changes > 0:
        contact_blocks(m, rows, entries, B)
    for change in range(2 * changes):
        if any(least <= enough * size) or (change >= changes and any(least <= AGAIN * size)):
            break
        if change == changes:  # from nothing, once more
            for i in range(m):
                s.xs[i] = 0.0
            eps = EPS + zero
            sweeping = 1
            alternating = 0
            forced = 0
            waits = 0
        if sweeping == 1:
            sweeps = min(SWEEPS + 2 * change, MOST_SWEEPS)
            sweep_sparse(m, rows, nb, entries, B, soft, s.xs, w, sweeps, CLOSE)
        if alternating == 1:
            alternate_sparse(m, rows, nb, entries, soft, s, modes, w, blocks, ALTERNATIONS + 2 * change)
            for i in range(m):
                s.xs[i] = s.inside[i]
        sparse_motions(m, nb, entries, soft, rows.bs, s.xs, s.u, w)
        off = natural_map(m, rows, s.xs, s.u, s.z)
        size = largest_terms(m, s.xs, given)
        if any(off < least):
            least = off
            for i in range(m):
                s.best[i] = s.xs[i]
        waits += 1
        if any(least < FALL * mark):
            mark = least
            waits = 0
        stalls = (waits >= PATIENCE and any(least <= STANDSTILL * size)) or (
            waits >= JAM_PATIENCE and any(least <= LARGE_JAM * size)
        )
        if any(off <= enough * size) or stalls:
            break
        choose_modes(m, rows, s.xs, s.u, eps, modes, s.z)
        n = list_unknowns(m, rows, modes)
        turn_entries(m, rows, modes, entries, turned)
        factor_sparse(n, nb, entries, turned, modes, soft, blocks)
        start_modes(m, rows, modes, s.xs, s.z, s.xn, one, one)
        approach_sparse(
            n, m, rows, nb, entries, turned, modes, soft, s, rest, w, blocks, maximum(SMALL * size, INEXACT * off), ROUNDS, eps
        )
        full = natural_map(m, rows, s.xn, s.un, s.z)
        lower_than = (1.0 - DECREASE) * off
        if forced == 1:
            lower_than = HUGE + zero
        forced = 0
        share = where((full <= enough * size) | (full < lower_than), 1.0, 0.0)
        if not any(share > 0.0) and not any(abs(full - off) <= STILL * off):  # contacts by themselves find their modes
            sweep_sparse(m, rows, nb, entries, B, soft, s.xn, w, SMOOTH, CLOSE)
            sparse_motions(m, nb, entries, soft, rows.bs, s.xn, s.un, w)
            full = natural_map(m, rows, s.xn, s.un, s.z)
            share = where(full < lower_than, 1.0, 0.0)
        share = shorten(m, rows, s, rest, share, lower_than, one)
        stands = (off <= (1.0 + STILL) * least) & (abs(full - off) <= STILL * off)
        jams = stands & (least <= JAM * size) & (eps <= EPS) & ~(share > 0.0)
        sweeping = 0
        alternating = 0
        if not any(share > 0.0) and any(abs(full - off) <= STILL * off) and leavings < LEAVINGS and any(eps <= EPS):
            leavings += 1
            right_side(n, rows, modes, s.un, s.z)
            solve_sparse(n, nb, entries, turned, modes, soft, blocks, s.z, w)
            null_direction(n, m, rows, modes, s.z, rest)
            if any(leave_cones(m, rows, modes, rest, s.xn) < LONGEST):
                forced = 1
        if forced == 1:
            for i in range(m):
                s.xs[i] = s.xn[i]
        elif any(share > 0.0):
            for i in range(m):
                s.xs[i] = where(share < 1.0, s.xs[i] + share * (s.xn[i] - s.xs[i]), s.xn[i])
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
                s.best[i] = s.xs[i]
            close_enough = where(jams, (1.0 + STILL) * off, enough * size)
            settle_load(m, rows, nb, entries, turned, modes, soft, s, rest, w, blocks, close_enough, size)
            break
    if changes > 0 and any(soft <= 0.0) and any(least > WORTH * size):
        for i in range(m):
            s.xs[i] = s.best[i]
        solve_dense_island(m, LARGEST_MATRIX, rows, entries, soft, s, modes, w, K)
    sparse_motions(m, nb, entries, soft, rows.bs, s.best, s.u, w)
    natural_map(m, rows, s.best, s.u, s.z)
    left = zero
    for i in range(m):
        unit = 1.0 / where(rows.scale[i] > 0.0, rows.scale[i], 1.0)
        left = maximum(left, abs(s.z[i]) * unit)
        listed.x[listed.active[i + 1]] = s.best[i] * rows.scale[i]
        motion[listed.active[i + 1]] = where(
            rows.scale[i] > 0.0, (s.u[i] - soft * s.best[i]) * unit, listed.b[listed.active[i + 1]]
        )
    return left
