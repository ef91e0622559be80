"""States of a batch whose rows act alike, side by side.

What only some lanes need runs in all of them: limits and contacts of four or eight states at once, often twice as many as each
has. So states are put in an order in which neighbours have most of them in common. Of the rows that take part in some states and
not in others, the most undecided ones tell states apart first, as digits of a Gray code, so that states on both sides of a border
differ in little. In this order every block of lanes begins with the first state that is left, and takes of the next ones, one by
one, that which differs least from all that it has. Results do not depend on neighbours, so no bit of a run changes.
"""

from __future__ import annotations

from math import inf

import numpy as np

from ..elements.collection import EQUALITIES, collection
from ..kernel.lanes import Lanes
from ..kernel.loops import Ints, Lane, any, loops, minimum
from ..kernel.plan import Plan
from ..kernel.row_sums import row_motion
from ..model import Model

PART = "on"  # of all rows, in the memory of programs: 1 where it takes part in a step, else 0
MOST = 64  # rows that tell states apart: a bit of a number each
COMPARED = 128  # the same of states within the window of a block
WINDOW = 32  # states
AGAIN = 16  # steps after which an order is made anew: as many change a fifth of the contacts of what falls
WORTH = 3  # steps ahead, at least, for which it is
SLOW = 1.5e-6  # seconds that a step of one state takes: of those that take less, an order takes as long as it saves
LONG = 5e-3  # seconds: shorter runs are made as they come
BLOCKS = 4  # of lanes, at least: of fewer states all orders are much the same


@loops
def choose_neighbours(count: int, rows: int, width: int, on: Lane, sizes: Lane, union: Lane, order: Ints) -> None:
    """The order of so many states, in which each takes part with rows (count, rows) and as many as `sizes` says, becomes one in
    which blocks of so many are much alike. Of states a and a union u of others, |a| + |u| - 2 a . u rows are not in both."""
    for place in range(count):
        best = place
        first = place - place % width
        if place == first:
            for r in range(rows):
                union[r] = 0.0
        else:
            least = row_motion(rows, order[place], on, sizes, union)
            for k in range(place + 1, min(first + WINDOW, count)):
                apart = row_motion(rows, order[k], on, sizes, union)
                if any(apart < least):
                    least = apart
                    best = k
        found = order[best]
        for k in range(best, place, -1):
            order[k] = order[k - 1]
        order[place] = found
        for r in range(rows):
            union[r] = minimum(union[r], -2.0 * on[found * rows + r])


def order_alike(on: np.ndarray, width: int) -> np.ndarray | None:
    """The numbers of the states in such an order, of what is on (batch, rows); None where the same rows are in all of them."""
    share = on.mean(axis=0)
    undecided = share * (1.0 - share)
    columns = np.argsort(-undecided, kind="stable")[: min(COMPARED, np.count_nonzero(undecided))]
    if not len(columns):
        return None
    told, acts = np.zeros((len(on), MOST), bool), on[:, columns]
    told[:, : len(columns)] = acts[:, :MOST] > 0.0
    order = np.argsort(np.packbits(np.logical_xor.accumulate(told, axis=1), axis=1).view(">u8").reshape(-1), kind="stable")
    sizes, union = acts.sum(axis=1), np.zeros(len(columns))
    choose_neighbours.call(Lanes(1), *acts.shape, width, np.ascontiguousarray(acts).reshape(-1), sizes, union, order)
    return order


class Order:
    """In which order the states of a batch are taken while it runs.

    on        (batch, rows): what takes part in the last step that was made; programs write it (`taking_part`)
    width     how many states go side by side
    numbers   of the states in this order; None as long as they are taken one after the other
    first     whether the next step is the one that tells what takes part
    """

    def __init__(self, on: np.ndarray, width: int) -> None:
        self.on, self.width = on, width
        self.numbers: np.ndarray | None = None
        self.first, self._made = True, 0

    def go_on(self, steps: int, ahead: float = inf) -> None:
        """So many steps were made, and so many are ahead, if that is known."""
        self._made += steps
        if ahead >= WORTH and (self.first or self._made >= AGAIN):
            self.numbers, self.first, self._made = order_alike(self.on, self.width), False, 0


def taking_part(model: Model, plan: Plan, batch: int) -> np.ndarray | None:
    """Room for what is on in so many states (batch, rows), if an order may be worth the time that it takes to make it."""
    some_change = PART in plan.sizes and collection(model).shape[3] != EQUALITIES
    worth = some_change and plan.lanes.width > 1 and batch >= BLOCKS * plan.lanes.width
    return np.zeros((batch, plan.sizes[PART])) if worth else None
