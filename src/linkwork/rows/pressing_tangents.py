"""How friction under what joints carry changes with the step: the turns of `pressing` on changes, until these stand still, too.

Bounds m and multipliers x of a turn depend on the bounds of the turn before, and so do their changes, linearly and with the same
contraction. At the solution a disc (`solvers.discs`) is posed along its force, where softness and the turn of its axes change
nothing to first order: the solver's own tangent of the posed problem is that of the disc.
"""

from __future__ import annotations

from ..kernel.directional import tangent_of, without_tangent
from ..kernel.loops import Ints, Lane, Table, loops, maximum, where
from ..solvers.box_tangents import KEPT
from ..solvers.discs import pose_discs, reflect, reflect_matrix, restore_discs
from .pressing import TURNS, begin_turn, begin_turns, end_turn, keep_matrix, keep_start, tell_rest

UNDAMPED = 15  # turns after which changes go half of the way only
SETTLED = 1e-10  # of the largest change of a bound: a smaller difference between turns is none

without_tangent(tell_rest)


@tangent_of(begin_turns)
@loops
def begin_turns_tangent(rows: int, d_most: Lane) -> None:
    """Bounds that are not yet known do not change."""
    for r in range(rows):
        d_most[r] = 0.0


@tangent_of(keep_start, keep_matrix)
@loops
def keep_start_tangent(active: Ints, d_A: Lane, d_b: Lane, d_A_kept: Lane, d_b_kept: Lane) -> None:
    """The change of the problem, as turns use it up."""
    for k in range(active[0] * (active[0] + 1) // 2):
        d_A_kept[k] = d_A[k]
    for i in range(active[0]):
        d_b_kept[active[i + 1]] = d_b[active[i + 1]]


@tangent_of(begin_turn)
@loops
def begin_turn_tangent(active: Ints, d_A_kept: Lane, d_A: Lane) -> None:
    """The change of the matrix, as the turn before used it up."""
    for k in range(active[0] * (active[0] + 1) // 2):
        d_A[k] = d_A_kept[k]


@tangent_of(pose_discs, **KEPT)
@loops
def pose_discs_tangent(active: Ints, discs: Table, aim: Lane, A: Lane, Av: Lane, kept_A: Lane, d_A: Lane, d_b: Lane) -> None:
    """The change of the problem in the axes of the discs; `kept_A` is the matrix that its solver takes."""
    m = active[0]
    for i in range(m):
        r = active[i + 1]
        if discs[r] > 1:
            reflect_matrix(m, discs[r], i, r, aim, d_A, Av)
            reflect(discs[r], r, aim, d_b)
    for k in range(m * (m + 1) // 2):
        kept_A[k] = A[k]


@tangent_of(restore_discs, **KEPT)
@loops
def restore_discs_tangent(
    active: Ints,
    discs: Table,
    aim: Lane,
    A_kept: Lane,
    d_A_kept: Lane,
    d_b_kept: Lane,
    kept_A: Lane,
    d_A: Lane,
    d_b: Lane,
    d_x: Lane,
) -> None:
    """The change of the multipliers in the axes of the rows, and that of the problem as it was."""
    m = active[0]
    for i in range(m):
        r = active[i + 1]
        if discs[r] > 1:
            reflect(discs[r], r, aim, d_x)
            for j in range(discs[r]):
                d_b[r + j] = d_b_kept[r + j]
    for k in range(m * (m + 1) // 2):
        kept_A[k] = A_kept[k]
        d_A[k] = d_A_kept[k]


@tangent_of(end_turn)
@loops
def end_turn_tangent(
    active: Ints,
    discs: Table,
    d_wanted: Lane,
    d_most: Lane,
    d_lower: Lane,
    d_upper: Lane,
    turns: Lane,
    pressing: Lane,
) -> None:
    """The change of the bounds; lanes in which it does not stand still take another turn."""
    share = where(turns[0] > UNDAMPED, 0.5, 1.0)
    size = 0.0 * turns[0]
    off = 0.0 * turns[0]
    for i in range(active[0]):
        r = active[i + 1]
        if discs[r] >= 0:
            size = maximum(size, abs(d_wanted[r]))
            off = maximum(off, abs(d_wanted[r] - d_most[r]))
            d_most[r] += share * (d_wanted[r] - d_most[r])
            d_lower[r] = -d_most[r]
            d_upper[r] = d_most[r]
    pressing[0] = where((off > SETTLED * size) & (turns[0] < TURNS), 1.0, pressing[0])
