"""What the search for modes leaves unsolved, by way of softer problems, in all lanes at once: the last resort of the default.

With A + s 1 in scaled rows every force answers itself: a Coulomb problem with s > 0 has a solution, near s = 1 an easy one. From
s = 1 on s is lowered, each search beginning where the one before ended; where one fails, s is lowered by less. At last s = 0.
Forces tend to those of the problem, if it has a solution; else they grow as 1 / s, and the ladder ends where they are GROWN. So
jammed contacts are found whose forces are 1e5 times what the motion asks for, on which Newton, Gauss-Seidel and alternating
directions creep.
"""

from __future__ import annotations

from ..kernel.lane_by_lane import lanes_at_once
from ..kernel.loops import Ints, Lane, Strided, any, loops, sqrt, where
from .cone_rows import motions, natural_map, tell_left
from .cone_search import CHANGES, search_modes
from .extremes import larger

UNSOLVED = 1e-7  # of b: the natural map of a problem that is tried once more
SOLVED = 1e-9  # of b: that of a rung that leads on
RUNGS = 40
STEEP = 0.1  # ratio of s of two rungs, where all goes well
FLAT = 0.95  # the same where the ladder ends
SOFTEST, STIFFEST = 1.0, 1e-9  # s
GROWN = 1e7  # of b: forces of a problem without a solution


@loops
def solve_slots(
    m: int,
    kinds: Ints,
    xs: Lane,
    A: Lane,
    left: Strided,
    rounds: Strided,
    T: Lane,
    scale: Lane,
    bs: Lane,
    lo: Lane,
    hi: Lane,
    u: Lane,
    xn: Lane,
    un: Lane,
    best: Lane,
    inside: Lane,
    force: Lane,
    z: Lane,
    keep: Lane,
    turn: Lane,
    more: Lane,
    kept: Lane,
    start: Lane,
    stiff: Lane,
    order: Ints,
    patience: int,
    unsolved: float,
) -> None:
    """The multipliers of scaled rows, which become those of unscaled ones, in `best`; from xs on.

    patience   of the first search: see `cone_search.search_modes`
    unsolved   of b: a natural map above is tried once more
    """
    go = 1.0 + 0.0 * A[0]
    rounds[0] = 0.0
    soft = 0.0 * go
    solved_at = SOFTEST + 0.0 * go
    ratio = STEEP + 0.0 * go
    given = 0.0 * go
    for i in range(m):
        given = larger(given, abs(bs[i]))
    least = 0.0 * go
    spent = patience
    softened = 0
    for rung in range(RUNGS):
        search_modes(
            m, kinds, xs, A, rounds, T, scale, bs, lo, hi, u, xn, un, best, inside, force, z, keep, turn, more, order, spent, go
        )  # fmt: skip
        motions(m, A, bs, best, u)
        off = natural_map(m, kinds, lo, hi, scale, best, u, z)
        if rung == 0:
            for i in range(m):
                kept[i] = best[i]
                stiff[i] = A[i * m + i]
                start[i] = 0.0
            least = off
            go = where(off > unsolved * given, go, 0.0)
            if lanes_at_once() > 1:
                rounds[0] = where(go > 0.0, -1.0, rounds[0])
                break
            if not any(go > 0.0):
                break
            soft = SOFTEST + 0.0 * go
            spent = CHANGES
        else:
            size = 0.0 * go
            for i in range(m):
                size = larger(size, abs(best[i]))
            grown = ~(size <= GROWN * given)
            ends = (go > 0.0) & ~(soft > 0.0)
            better = ends & (off < least) & ~grown
            leads = (go > 0.0) & (off <= SOLVED * given)
            for i in range(m):
                kept[i] = where(better, best[i], kept[i])
                start[i] = where(leads, best[i], start[i])
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
            A[i * m + i] = where(go > 0.0, stiff[i] + soft, stiff[i])
            xs[i] = start[i]
    if softened == 1:
        for i in range(m):
            A[i * m + i] = stiff[i]
            best[i] = kept[i]
        motions(m, A, bs, best, u)
        natural_map(m, kinds, lo, hi, scale, best, u, z)
    tell_left(m, kinds, scale, best, z, left)
