"""Rows whose bounds follow from what joints carry (friction inside joints), solved together with it.

    in turn     the multipliers of all rows within the bounds found so far (none at first), and the motion that they cause
                Newton and Euler for every body, leaves to root: f_j = I_j a_j + gyroscopic wrench - loads - rows + sum of move(f_k)
                what a joint carries without work, w_j = f_j - S (S^T S)^-1 S^T f_j; a loop, G^T x of its rows
                the bounds that these set (`RowLaw.largest`)

until bounds no longer change, to rounding: O(n) for every turn besides the solver, on one factor and one matrix of the rows. The
fixed point is that of bilateral staggered projections [Sueda, Alg. 8; errata 26-33]: there friction waits for a turn of its own.

Friction is a small part of what a joint carries, and turns settle by as large a factor each. Where they do not, `left` tells by
how much rows would move under the bounds that were wanted last. Lanes that are done stay as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..elements.nodes import STILL
from ..joints import Joint
from ..kernel.loops import Ints, Lane, Table, loops, maximum, where
from ..kernel.sweep import SCALAR, Field, Repeat, Routine, Step, each, inward, vector
from ..model.rules import inertia_of
from ..spatial.scalar import Vector, inv_spd, zeros
from .rules import gyroscopic

TURNS = 200
ENOUGH = 1e-14  # of the largest bound: a change that counts as none
ROUNDING = 1e-11  # the same, where it does not fall any more


# --- bounds ------------------------------------------------------------------------------------------------------------------
@loops
def begin_turns(rows: int, most: Lane, bound_change: Lane, pressing: Lane) -> None:
    """No bounds yet."""
    for r in range(rows):
        most[r] = 0.0
    bound_change[0] = 0.0
    pressing[0] = 1.0


@loops
def keep_matrix(active: Ints, A: Lane, A_kept: Lane) -> None:
    """The matrix of the rows, as solvers use it up."""
    for k in range(active[0] * (active[0] + 1) // 2):
        A_kept[k] = A[k]


@loops
def begin_turn(active: Ints, A_kept: Lane, A: Lane, x: Lane) -> None:
    """The matrix, and no multipliers yet."""
    for k in range(active[0] * (active[0] + 1) // 2):
        A[k] = A_kept[k]
    for i in range(active[0]):
        x[active[i + 1]] = 0.0


@loops
def end_turn(
    rows: int, by_reaction: Table, most: Lane, wanted: Lane, lower: Lane, upper: Lane, bound_change: Lane, pressing: Lane
) -> None:
    """Take the bounds that are wanted, in lanes where they are not those that were."""
    last = bound_change[0]
    size = 0.0 * last
    bound_change[0] = 0.0
    for r in range(rows):
        if by_reaction[r] == 1:
            bound_change[0] = maximum(bound_change[0], abs(wanted[r] - most[r]))
            size = maximum(size, wanted[r])
    stands = (bound_change[0] <= ENOUGH * size) | ((bound_change[0] >= last) & (last > 0.0) & (bound_change[0] <= ROUNDING * size))
    pressing[0] = where(stands, 0.0, pressing[0])
    for r in range(rows):
        if by_reaction[r] == 1:
            most[r] = where(pressing[0] > 0.0, wanted[r], most[r])
            lower[r] = -most[r]
            upper[r] = most[r]


@loops
def tell_rest(active: Ints, by_reaction: Table, A_kept: Lane, bound_change: Lane, pressing: Lane, left: Lane) -> None:
    """In lanes that did not settle, how fast rows would move under the last change of the bounds."""
    for i in range(active[0]):
        if by_reaction[active[i + 1]] == 1:
            off = A_kept[i * (i + 1) // 2 + i] * bound_change[0]
            left[0] = maximum(left[0], where(pressing[0] > 0.0, off, 0.0))


def bound(n: Any) -> None:
    """The bounds found so far, where they follow from what is carried."""
    if n.law.by_reaction:
        n.lower, n.upper = -n.most, n.most


def press(n: Any, first: Any, carrier: Any) -> None:
    """The bounds of a law that follow from what the joint of its first body, or another constraint, carries."""
    if n.law.by_reaction:
        law = n.law.at_node(n)
        n.wanted = law.largest(carrier.exerted if law.closes else first.reaction)


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
    """What a joint carries without work in a step, of the whole wrench through it, which is handed to the parent."""
    S = n.S
    along = S @ (inv_spd(S.T @ S) @ (S.T @ wrench)) if S.shape[1] else zeros(6)
    n.reaction = n.h * (wrench - along)
    parent.held_up = parent.held_up + n.E.move_wrench(wrench)


def carry_loaded(n: Any, parent: Any) -> None:
    """Newton and Euler for one body under all loads, with what its children carry."""
    _carry(n, parent, n.load)


def carry(n: Any, parent: Any) -> None:
    """The same where no forces act."""
    _carry(n, parent, n.external)


def _carry(n: Any, parent: Any, load: Vector) -> None:
    own, rate = inertia_of(n), 1.0 / n.h
    wrench = own @ (n.acc + rate * n.jump) + gyroscopic(n.w, n.first_moment, own.J) - load - rate * n.row_load + n.held_up
    transmit(n, parent, wrench)


# --- the program -------------------------------------------------------------------------------------------------------------
def pressing_fields() -> dict[str, Field]:
    """Those of steps in which joints rub under what they carry."""
    six = vector(6)
    return {
        **{name: Field("work", "rows", of="constraint") for name in ("most", "wanted")},
        "exerted": Field("work", "node", six, of="constraint"),
        **{name: Field("work", "node", six) for name in ("row_load", "reaction")},
        "held_up": Field("gathered", codec=six),
        "A_kept": Field("work", "pair", SCALAR),
        **{name: Field("work", "global", SCALAR) for name in ("bound_change", "pressing")},
    }


BEGIN = Routine(begin_turns, ("rows", "most", "bound_change", "pressing"))
KEEP = Routine(keep_matrix, ("active", "A", "A_kept"))
JUDGE: list[Step] = [
    each(press, "p0", "carrier", on="constraint"),
    Routine(end_turn, ("rows", "by_reaction", "most", "wanted", "lower", "upper", "bound_change", "pressing")),
]
TELL = Routine(tell_rest, ("active", "by_reaction", "A_kept", "bound_change", "pressing", "left"))


def in_turns(solver: Sequence[Step], motion: Sequence[Step], ports: Sequence[str], carried: Callable[..., None]) -> list[Step]:
    """The multipliers of all rows, by a solver within bounds that follow from them.

    motion    makes the change of the motion of their multipliers
    carried   the rule that finds what joints carry then, inward: it ends with `transmit`
    """
    turn = [
        Routine(begin_turn, ("active", "A_kept", "A", "x")),
        *solver,
        *motion,
        each(clear_row_loads),
        each(bear_rows, *ports, on="constraint", when=("own", "awake")),
        inward(carried),
        *JUDGE,
    ]
    return [BEGIN, KEEP, Repeat(tuple(turn), TURNS, "pressing"), TELL]
