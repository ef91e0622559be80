"""Rows whose bounds follow from what joints carry (friction inside joints), solved together with it.

    motion      the multipliers of all rows within the bounds found so far (none at first), and the motion that they cause
    wrenches    Newton and Euler, leaves to root: f_j = I_j a_j + gyroscopic wrench - loads - rows + sum of move(f_k) of children
    carried     by a joint without work, w_j = f_j - S (S^T S)^-1 S^T f_j; by a loop, G^T x of its rows
    bounds      that these set (`RowLaw.largest`)

in turn, until bounds no longer change, to rounding: O(n) for every turn besides the solver, on one factor and one matrix of the
rows. Rows in discs, whose force is bounded by its length, are posed anew with the bounds (`solvers.discs`). The fixed point is
that of bilateral staggered projections [Sueda, Alg. 8; errata 26-33], where friction waits for a turn of its own.

Friction is a small part of what a joint carries, and turns settle by as large a factor each; where joints stick, as soon as
bounds are wide enough. Where they settle slowly, or go about, bounds go a part of the way, or beyond, by the secant of the last
two turns [Irons and Tuck 1969]; later they widen at once and narrow ever more slowly, so that what can stick does. Where many
multipliers mean one motion (sticking joints beside sticking contacts), what a joint carries depends on which of them is found:
so a turn begins at the multipliers of the one before, and the last turn is that again which left least. `left` tells what is
left: the natural map of the rows under the bounds that they ask for. Lanes that are done stay as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..elements.nodes import STILL
from ..joints import Joint
from ..kernel.loops import Ints, Lane, Table, any, loops, maximum, minimum, where
from ..kernel.sweep import SCALAR, Field, Repeat, Routine, Step, each, inward, vector
from ..solvers.discs import aim_disc, disc_rest, pose_discs, restore_discs
from ..spatial.scalar import Vector, inv_spd, zeros

TURNS = 120
EAGER = 4  # turns after which bounds go a part of the way, or beyond, that follows from the last two [Irons and Tuck 1969]
SHORTEST, LONGEST = 0.1, 30.0  # of these parts
LATE = 15  # turns after which the best one is kept: most end before
PATIENT = 40  # turns after which they widen at once, and narrow ever more slowly
FAR = 1e300  # more than any turn leaves
ENOUGH = 1e-14  # of the largest b: so small a rest is rounding


# --- bounds ------------------------------------------------------------------------------------------------------------------
@loops
def begin_turns(
    rows: int, most: Lane, aim: Lane, soft_across: Lane, x_kept: Lane, turns: Lane, best_rest: Lane, pressing: Lane
) -> None:
    """No bounds yet, and no directions."""
    for r in range(rows):
        most[r] = 0.0
        aim[r] = 0.0
        soft_across[r] = 0.0
        x_kept[r] = 0.0
    turns[0] = 0.0
    best_rest[0] = FAR
    pressing[0] = 1.0


@loops
def keep_start(active: Ints, A: Lane, b: Lane, x: Lane, A_kept: Lane, b_kept: Lane, x_kept: Lane) -> None:
    """The problem of the rows, as solvers use it up, and the multipliers where they begin."""
    for k in range(active[0] * (active[0] + 1) // 2):
        A_kept[k] = A[k]
    for i in range(active[0]):
        x_kept[active[i + 1]] = x[active[i + 1]]
        b_kept[active[i + 1]] = b[active[i + 1]]


@loops
def keep_matrix(active: Ints, A: Lane, b: Lane, x: Lane, A_kept: Lane, b_kept: Lane, x_kept: Lane) -> None:
    """The problem of the rows, as solvers use it up, and the multipliers of the turn before, where they begin."""
    for k in range(active[0] * (active[0] + 1) // 2):
        A_kept[k] = A[k]
    for i in range(active[0]):
        x[active[i + 1]] = x_kept[active[i + 1]]
        b_kept[active[i + 1]] = b[active[i + 1]]


@loops
def begin_turn(active: Ints, A_kept: Lane, x_kept: Lane, A: Lane, x: Lane) -> None:
    """A turn begins at the matrix of the rows, and at the multipliers of the turn before."""
    for k in range(active[0] * (active[0] + 1) // 2):
        A[k] = A_kept[k]
    for i in range(active[0]):
        x[active[i + 1]] = x_kept[active[i + 1]]


@loops
def row_motion(m: int, active: Ints, on: Lane, A: Lane, b: Lane, x: Lane, i: int) -> float:
    """(A x + b)_i of the rows that are on."""
    w = 0.0 * A[0]
    w += b[active[i + 1]]
    for k in range(m):
        a = i * (i + 1) // 2 + k
        if k > i:
            a = k * (k + 1) // 2 + i
        w += where(on[active[k + 1]] > 0.0, A[a] * x[active[k + 1]], 0.0)
    return w


@loops
def end_turn(
    active: Ints,
    discs: Table,
    A_kept: Lane,
    on: Lane,
    b: Lane,
    x: Lane,
    wanted: Lane,
    most: Lane,
    lower: Lane,
    upper: Lane,
    aim: Lane,
    soft_across: Lane,
    led: Lane,
    x_kept: Lane,
    best_most: Lane,
    best_aim: Lane,
    best_soft: Lane,
    best_start: Lane,
    missing: Lane,
    turns: Lane,
    left: Lane,
    rest: Lane,
    best_rest: Lane,
    part: Lane,
    pressing: Lane,
) -> None:
    """Go toward the bounds that are wanted, in lanes where the multipliers do not solve the problem that has them.

    The rest is the natural map |x - projection of x - w / A_rr| A_rr of the rows under these bounds, w = A x + b; where a solver
    leaves as much of its own, no bounds make it better. `led` is x - w / A_rr of discs. The last turn is the one again that left
    least.
    """
    rest[0] = 0.0 * turns[0]
    fast = 0.0 * turns[0]
    for i in range(active[0]):
        r = active[i + 1]
        fast = maximum(fast, where(on[r] > 0.0, abs(b[r]), 0.0))
        if discs[r] == 1:
            w = row_motion(active[0], active, on, A_kept, b, x, i)
            d = A_kept[i * (i + 1) // 2 + i]
            good = d > 0.0
            wish = minimum(maximum(x[r] - w / where(good, d, 1.0), -wanted[r]), wanted[r])
            rest[0] = maximum(rest[0], where(good, abs(x[r] - wish) * d, 0.0))
        if discs[r] > 1:
            d = disc_diagonal(discs[r], i, A_kept)
            good = d > 0.0
            for j in range(discs[r]):
                w = row_motion(active[0], active, on, A_kept, b, x, i + j)
                led[r + j] = x[r + j] - w / where(good, d, 1.0)
                fast = maximum(fast, abs(d * x[r + j]))
            rest[0] = maximum(rest[0], where(good, disc_rest(discs[r], r, d, wanted, x, led), 0.0))
    pressing[0] = where(rest[0] <= maximum(ENOUGH * fast, 2.0 * left[0]), 0.0, pressing[0])
    turns[0] += 1.0
    better = (pressing[0] > 0.0) & (turns[0] > LATE) & (rest[0] < best_rest[0])
    if any(better):
        best_rest[0] = where(better, rest[0], best_rest[0])
        for i in range(active[0]):
            r = active[i + 1]
            best_start[r] = where(better, x_kept[r], best_start[r])
            best_most[r] = where(better, most[r], best_most[r])
            best_soft[r] = where(better, soft_across[r], best_soft[r])
            best_aim[r] = where(better, aim[r], best_aim[r])
    along = 0.0 * turns[0]
    square = 0.0 * turns[0]
    if any((pressing[0] > 0.0) & (turns[0] > EAGER - 0.5)):
        for i in range(active[0]):
            r = active[i + 1]
            if discs[r] >= 0:
                d = A_kept[i * (i + 1) // 2 + i]
                change = wanted[r] - most[r] - missing[r]
                along += d * missing[r] * change
                square += d * change * change
                missing[r] = wanted[r] - most[r]
    measured = (turns[0] > EAGER) & (square > 0.0)
    secant = minimum(maximum(-part[0] * along / where(square > 0.0, square, 1.0), SHORTEST), LONGEST)
    part[0] = where(measured, secant, 1.0)
    slow = 1.0 / maximum(turns[0] - PATIENT, 1.0)
    for i in range(active[0]):
        r = active[i + 1]
        x_kept[r] = where(pressing[0] > 0.0, x[r], x_kept[r])
        if discs[r] >= 0:
            share = where(turns[0] > PATIENT, where(wanted[r] > most[r], 1.0, slow), part[0])
            new = where(abs(share - 1.0) > 0.0, maximum(most[r] + share * (wanted[r] - most[r]), 0.0), wanted[r])
            most[r] = where(pressing[0] > 0.0, new, most[r])
            lower[r] = -most[r]
            upper[r] = most[r]
    for i in range(active[0]):
        r = active[i + 1]
        if discs[r] > 1:
            aim_disc(discs[r], r, disc_diagonal(discs[r], i, A_kept), most, led, aim, soft_across, pressing[0])
    last = (pressing[0] > 0.0) & (turns[0] > TURNS - 1.5)
    if any(last):
        for i in range(active[0]):
            r = active[i + 1]
            x_kept[r] = where(last, best_start[r], x_kept[r])
            soft_across[r] = where(last, best_soft[r], soft_across[r])
            aim[r] = where(last, best_aim[r], aim[r])
            if discs[r] >= 0:
                most[r] = where(last, best_most[r], most[r])
                lower[r] = -most[r]
                upper[r] = most[r]


@loops
def disc_diagonal(rows: int, i: int, A: Lane) -> float:
    """The mean diagonal of rows i, ... of a packed A."""
    total = A[i * (i + 1) // 2 + i]
    for j in range(1, rows):
        total += A[(i + j) * (i + j + 1) // 2 + i + j]
    return total / float(rows)


@loops
def tell_rest(rest: Lane, left: Lane) -> None:
    """What is left of all rows."""
    left[0] = maximum(left[0], rest[0])


def bound(n: Any) -> None:
    """The bounds found so far, where they follow from what is carried."""
    if n.law.by_reaction:
        n.lower, n.upper = -n.most, n.most


def press(n: Any, first: Any, second: Any, carrier: Any) -> None:
    """The bounds of a law that follow from what the joint of its first body, or another constraint, carries.

    second   the joint, of laws that look at its coordinates
    """
    if n.law.by_reaction:
        law = n.law.at_node(n)
        carried = carrier.exerted if law.closes else first.through if law.by_whole else first.reaction
        n.wanted = law.largest(carried, second.q if law.by_coordinates else zeros(0), n.x)


# --- what is carried ---------------------------------------------------------------------------------------------------------
def answer(n: Any, parent: Any) -> None:
    """The change of the motion by the rows, which stay free to change it otherwise."""
    a = n.E.pull_twist(parent.jump)
    change = n.dy - n.K @ a
    n.jump = a + n.S @ change
    n.dy = zeros(len(change))


def clear_row_loads(n: Any) -> None:
    """No rows act on bodies yet."""
    n.row_load = zeros(6)


def bear_rows(n: Any, *ports: Any) -> None:
    """The impulses of the rows of a constraint on its bodies; what it exerts on the first is kept."""
    first = 0
    for i, (kind, port) in enumerate(zip(n.kinds, ports, strict=False)):
        size = kind.nv if isinstance(kind, Joint) else 6
        block = n.G_rows[:, first : first + size]
        first += size
        if isinstance(kind, Joint) or kind == STILL:
            continue
        impulse = block.T @ n.x
        port.row_load = port.row_load + impulse
        if i == 0:
            n.exerted = impulse


def exert(n: Any) -> None:
    """The impulse of the rows of a constraint on its first body."""
    if n.kinds and not isinstance(n.kinds[0], Joint) and n.kinds[0] != STILL:
        n.exerted = n.G_rows[:, :6].T @ n.x


def transmit(n: Any, parent: Any, wrench: Vector) -> None:
    """What a joint carries in a step, the whole wrench and what of it does no work; the whole is handed to the parent."""
    S = n.S
    along = S @ (inv_spd(S.T @ S) @ (S.T @ wrench)) if S.shape[1] else zeros(6)
    n.reaction, n.through = n.h * (wrench - along), n.h * wrench
    parent.held_up = parent.held_up + n.E.move_wrench(wrench)


# --- the program -------------------------------------------------------------------------------------------------------------
def pressing_fields() -> dict[str, Field]:
    """Those of steps in which joints rub under what they carry."""
    six = vector(6)
    return {
        **{name: Field("work", "rows", of="constraint") for name in ("most", "wanted", "aim", "soft_across", "led", *BEST)},
        "exerted": Field("work", "node", six, of="constraint"),
        **{name: Field("work", "node", six) for name in ("row_load", "reaction", "through")},
        "held_up": Field("gathered", codec=six),
        "A_kept": Field("work", "pair", SCALAR),
        **{name: Field("work", "row", SCALAR) for name in ("b_kept", "x_kept")},
        **{
            name: Field("work", "global", SCALAR) for name in ("press_turns", "press_rest", "best_rest", "press_part", "pressing")
        },
    }


BEGIN = Routine(begin_turns, ("rows", "most", "aim", "soft_across", "x_kept", "press_turns", "best_rest", "pressing"))
KEEP_MATRIX = Routine(keep_matrix, ("active", "A", "b", "x", "A_kept", "b_kept", "x_kept"))
KEEP = Routine(keep_start, ("active", "A", "b", "x", "A_kept", "b_kept", "x_kept"))
POSE = Routine(pose_discs, ("active", "discs", "aim", "soft_across", "A", "b", "x", "led"))
RESTORE = Routine(restore_discs, ("active", "discs", "aim", "A_kept", "b_kept", "A", "b", "x"))
POSED = ("active", "discs", "A_kept", "on", "b", "x", "wanted", "most", "lower", "upper", "aim", "soft_across", "led")
BEST = ("best_most", "best_aim", "best_soft", "best_start", "missing")
JUDGE: list[Step] = [
    each(press, "p0", "p1", "carrier", on="constraint"),
    Routine(end_turn, (*POSED, "x_kept", *BEST, "press_turns", "left", "press_rest", "best_rest", "press_part", "pressing")),
]
TELL = Routine(tell_rest, ("press_rest", "left"))


def in_turns(solver: Sequence[Step], motion: Sequence[Step], ports: Sequence[str], carried: Callable[..., None]) -> list[Step]:
    """The multipliers of all rows, by a solver within bounds that follow from them.

    motion    makes the change of the motion of their multipliers
    carried   the rule that finds what joints carry then, inward: it ends with `transmit`
    """
    turn = [
        Routine(begin_turn, ("active", "A_kept", "x_kept", "A", "x")),
        POSE,
        *solver,
        RESTORE,
        *motion,
        each(clear_row_loads),
        each(bear_rows, *ports, on="constraint", when=("own", "awake")),
        inward(carried),
        *JUDGE,
    ]
    return [BEGIN, KEEP, Repeat(tuple(turn), TURNS, "pressing"), TELL]
