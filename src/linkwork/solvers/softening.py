"""What the search for modes leaves unsolved, by way of softer problems, in all lanes at once: the last resort of the default.

With A + s 1 in scaled rows every force answers itself: a Coulomb problem with s > 0 has a solution, near s = 1 an easy one. From
s = 1 on s is lowered, each search beginning where the one before ended; where one fails, s is lowered by less. At last s = 0.
Forces tend to those of the problem, if it has a solution; else they grow as 1 / s, and the ladder ends where they are GROWN. So
jammed contacts are found whose forces are 1e5 times what the motion asks for, on which Newton, Gauss-Seidel and alternating
directions creep.
"""

from __future__ import annotations

from ..kernel.lane_by_lane import lanes_at_once
from ..kernel.loops import Arrays, Lane, Strided, any, loops, sqrt, where
from .cone_modes import Modes
from .cone_rows import Rows, Search, motions, natural_map, take_over, tell_left
from .cone_search import CHANGES, search_modes
from .extremes import larger

UNSOLVED = 1e-7  # of b: the natural map of a problem that is tried once more
SOLVED = 1e-9  # of b: that of a rung that leads on
RUNGS = 40
STEEP = 0.1  # ratio of s of two rungs, where all goes well
FLAT = 0.95  # the same where the ladder ends
SOFTEST, STIFFEST = 1.0, 1e-9  # s
GROWN = 1e7  # of b: forces of a problem without a solution


class Rungs(Arrays):
    """What is kept between the rungs of the ladder: the best x, that of the last rung that led on, and the diagonal of A."""

    kept: Lane
    start: Lane
    stiff: Lane


@loops
def solve_slots(
    m: int,
    rows: Rows,
    s: Search,
    modes: Modes,
    A: Lane,
    At: Lane,
    left: Strided,
    rounds: Strided,
    T: Lane,
    rungs: Rungs,
    patience: int,
    boldness: int,
    unsolved: float,
) -> None:
    """The multipliers of scaled rows, which become those of unscaled ones, in `best`; from xs on.

    At                   A transposed; A itself if it is symmetric
    patience, boldness   of the first search: see `cone_search.search_modes`
    unsolved             of b: a natural map above is tried once more
    """
    go = 1.0 + 0.0 * A[0]
    rounds[0] = 0.0
    soft = 0.0 * go
    solved_at = SOFTEST + 0.0 * go
    ratio = STEEP + 0.0 * go
    given = 0.0 * go
    for i in range(m):
        given = larger(given, abs(rows.bs[i]))
    least = 0.0 * go
    spent = patience
    may_rise = boldness
    softened = 0
    for rung in range(RUNGS):
        off = search_modes(m, rows, s, modes, A, At, rounds, T, spent, may_rise, go)
        if rung == 0:
            for i in range(m):
                rungs.kept[i] = s.best[i]
                rungs.stiff[i] = A[i * m + i]
                rungs.start[i] = 0.0
            least = off
            go = where(off > unsolved * given, go, 0.0)
            if lanes_at_once() > 1:
                rounds[0] = where(go > 0.0, -1.0, rounds[0])
                break
            if not any(go > 0.0):
                break
            soft = SOFTEST + 0.0 * go
            spent = CHANGES
            may_rise = 0
        else:
            size = 0.0 * go
            for i in range(m):
                size = larger(size, abs(s.best[i]))
            grown = ~(size <= GROWN * given)
            ends = (go > 0.0) & ~(soft > 0.0)
            better = ends & (off < least) & ~grown
            leads = (go > 0.0) & (off <= SOLVED * given)
            take_over(m, better, s.best, rungs.kept)
            take_over(m, leads, s.best, rungs.start)
            least = where(better, off, least)
            solved_at = where(leads, soft, solved_at)
            ratio = where(leads, larger(STEEP, ratio * sqrt(ratio)), sqrt(ratio))
            go = where(ends | grown | (ratio > FLAT) | (~leads & (soft >= SOFTEST)), 0.0, go)
            if not any(go > 0.0):
                break
            soft = solved_at * ratio
            soft = where(soft < STIFFEST, 0.0, soft)
        softened = 1
        for i in range(m):
            A[i * m + i] = where(go > 0.0, rungs.stiff[i] + soft, rungs.stiff[i])
            At[i * m + i] = A[i * m + i]
            s.xs[i] = rungs.start[i]
    if softened == 1:
        for i in range(m):
            A[i * m + i] = rungs.stiff[i]
            At[i * m + i] = rungs.stiff[i]
            s.best[i] = rungs.kept[i]
        motions(m, At, rows.bs, s.best, s.u)
        natural_map(m, rows, s.best, s.u, s.z)
    tell_left(m, rows, s.best, s.z, left)
