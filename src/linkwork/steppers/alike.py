"""States of a batch whose rows act alike, side by side.

What only some lanes need runs in all of them: limits and contacts of four or eight states at once, often twice as many as each
has. So states are put in an order in which neighbours have most of them in common: of the rows that act in some states and not in
others, the most undecided ones tell states apart first. Results do not depend on neighbours, so no bit of a run changes.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import inf

import numpy as np

from ..elements.collection import EQUALITIES, collection
from ..model import Model

MULTIPLIERS = "x"  # of all rows, among what programs report
MOST = 64  # rows that tell states apart: a bit of a number each
AGAIN = 16  # steps after which an order is made anew: as many change a fifth of the contacts of what falls
WORTH = 3  # steps ahead, at least, for which it is
SLOW = 5e-6  # seconds that a step of one state takes: of those that take less, an order takes as long as it saves
BLOCKS = 4  # of lanes, at least: of fewer states all orders are much the same


def order_alike(x: np.ndarray) -> np.ndarray | None:
    """The numbers of the states in such an order, of multipliers (batch, rows); None where the same rows act in all of them."""
    acts = x != 0.0
    share = acts.mean(axis=0)
    undecided = share * (1.0 - share)
    columns = np.argsort(-undecided, kind="stable")[: min(MOST, np.count_nonzero(undecided))]
    if not len(columns):
        return None
    told = np.zeros((len(x), MOST), bool)
    told[:, : len(columns)] = acts[:, columns]
    return np.argsort(np.packbits(told, axis=1).view(">u8").reshape(-1), kind="stable")


class Order:
    """In which order the states of a batch are taken while it runs.

    numbers   of the states in this order; None as long as they are taken one after the other
    first     whether the next step is the one that tells what acts
    """

    def __init__(self) -> None:
        self.numbers: np.ndarray | None = None
        self.first, self._made = True, 0

    def go_on(self, steps: int, x: np.ndarray, ahead: float = inf) -> None:
        """So many steps were made, the last with the multipliers x (batch, rows); so many are ahead, if that is known."""
        self._made += steps
        if ahead >= WORTH and (self.first or self._made >= AGAIN):
            self.numbers, self.first, self._made = order_alike(x), False, 0


def pays(model: Model, reported: Iterable[str], batch: int, width: int) -> bool:
    """Whether an order may be worth the time that it takes to make it: of so many states, in so many lanes."""
    some_act = MULTIPLIERS in reported and collection(model).shape[3] != EQUALITIES
    return some_act and width > 1 and batch >= BLOCKS * width
