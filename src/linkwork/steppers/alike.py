"""States of a batch whose rows act alike, side by side.

What only some lanes need runs in all of them: limits and contacts of four or eight states at once, often twice as many as each
has. So states are put in an order in which neighbours have most of them in common: of the rows that take part in some states and
not in others, the most undecided ones tell states apart first, as digits of a Gray code, so that states on both sides of a border
differ in little. Results do not depend on neighbours, so no bit of a run changes.
"""

from __future__ import annotations

from math import inf

import numpy as np

from ..elements.collection import EQUALITIES, collection
from ..kernel.plan import Plan
from ..model import Model

PART = "on"  # of all rows, in the memory of programs: 1 where it takes part in a step, else 0
MOST = 64  # rows that tell states apart: a bit of a number each
AGAIN = 16  # steps after which an order is made anew: as many change a fifth of the contacts of what falls
WORTH = 3  # steps ahead, at least, for which it is
SLOW = 5e-6  # seconds that a step of one state takes: of those that take less, an order takes as long as it saves
BLOCKS = 4  # of lanes, at least: of fewer states all orders are much the same


def order_alike(on: np.ndarray) -> np.ndarray | None:
    """The numbers of the states in such an order, of what is on (batch, rows); None where the same rows are in all of them."""
    share = on.mean(axis=0)
    undecided = share * (1.0 - share)
    columns = np.argsort(-undecided, kind="stable")[: min(MOST, np.count_nonzero(undecided))]
    if not len(columns):
        return None
    told = np.zeros((len(on), MOST), bool)
    told[:, : len(columns)] = on[:, columns] > 0.0
    told = np.logical_xor.accumulate(told, axis=1)
    return np.argsort(np.packbits(told, axis=1).view(">u8").reshape(-1), kind="stable")


class Order:
    """In which order the states of a batch are taken while it runs.

    numbers   of the states in this order; None as long as they are taken one after the other
    first     whether the next step is the one that tells what takes part
    """

    def __init__(self) -> None:
        self.numbers: np.ndarray | None = None
        self.first, self._made = True, 0

    def go_on(self, steps: int, on: np.ndarray, ahead: float = inf) -> None:
        """So many steps were made, in the last of which rows were on (batch, rows); so many are ahead, if that is known."""
        self._made += steps
        if ahead >= WORTH and (self.first or self._made >= AGAIN):
            self.numbers, self.first, self._made = order_alike(on), False, 0


def taking_part(model: Model, plan: Plan, batch: int) -> np.ndarray | None:
    """Room for what is on in so many states (batch, rows), if an order may be worth the time that it takes to make it."""
    some_change = PART in plan.sizes and collection(model).shape[3] != EQUALITIES
    worth = some_change and plan.lanes.width > 1 and batch >= BLOCKS * plan.lanes.width
    return np.zeros((batch, plan.sizes[PART])) if worth else None
