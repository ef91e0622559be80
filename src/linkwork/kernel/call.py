"""Memory that outlives a call: calls that are described once and made many times on the same arrays, and factors that are
applied many times."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from .lanes import Lanes
from .plan import Plan
from .sequence import Entry
from .workspace import Workspace

KEPT = "private:factor"  # what the phase "factor" leaves for later ones
PlanMaker = Callable[[Lanes, str, tuple[str, ...]], Plan]  # value type, phase, uniform arrays


class Call:
    """A plan on a batch of inputs and outputs (batch, size), with memory of its own.

    after    the call of a factor phase whose results this one reads, for plans of a later phase
    beside   a call of the same plan whose memory serves this one, too: nothing of either is left when the other runs
    """

    def __init__(
        self,
        plan: Plan,
        inputs: Mapping[str, np.ndarray],
        outputs: Mapping[str, np.ndarray],
        batch: int,
        after: Call | None = None,
        beside: Call | None = None,
    ) -> None:
        self._work = Workspace(plan, None if beside is None else beside._work)
        self._arrays, self._after = (inputs, outputs), after
        self._batch, self._every = batch, 1
        self._order: np.ndarray | None = None
        self._run = plan.batch
        if after is not None:
            self._work.adopt(after._work, [KEPT])
        self._work.job(inputs, outputs, batch)

    @property
    def entry(self) -> Entry:
        """It, as a part of a sequence."""
        return Entry(self._work)

    def point(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Let these arrays of one state, in one lane, stand for those of the plan: outputs that are written where they belong."""
        self._work.point(arrays)

    def __call__(self, batch: int | None = None, every: int = 1, order: np.ndarray | None = None) -> None:
        """Compute the outputs, or only the first so many of the batch, by so many passes, in an order (`Workspace.job`)."""
        if (batch or self._batch, every) != (self._batch, self._every) or order is not self._order:
            self._batch, self._every, self._order = batch or self._batch, every, order
            self._work.job(*self._arrays, self._batch, 1, every, order=order)
        else:
            struct.pack_into("q", self._work.buffer, 0, 0)  # no state is done yet
        self._run(self._work.job_at)


class Factored:
    """The memory that a factor phase left behind, for one state.

    make      the plan of a phase: `make(lanes, phase, uniform)`
    inputs    of the factor phase, flat arrays
    outputs   of the factor phase, if any: flat arrays, written in place
    """

    def __init__(
        self, make: PlanMaker, inputs: Mapping[str, np.ndarray], outputs: Mapping[str, np.ndarray] | None = None
    ) -> None:
        self._make = make
        plan = make(Lanes(1), "factor", ())
        self._work = plan.borrow()
        self._work.job(inputs, {k: a.reshape(1, -1) for k, a in (outputs or {}).items()}, 1)
        plan.batch(self._work.job_at)

    def apply(self, inputs: Mapping[str, np.ndarray], wanted: Sequence[str], phase: str = "apply") -> list[np.ndarray]:
        """The wanted outputs (batch, size) of a later phase for a batch of right-hand sides (batch, size), eight at a time."""
        batch = len(next(iter(inputs.values())))
        lanes = Lanes(8 if batch > 1 else 1)
        plan = self._make(lanes, phase, (KEPT,) if lanes.width > 1 else ())
        work = plan.borrow()
        work.adopt(self._work, [KEPT])
        outputs = {name: np.empty((batch, plan.sizes[name])) for name in wanted}
        if batch:
            work.job(inputs, outputs, batch)
            plan.batch(work.job_at)
        work.disown([KEPT])
        plan.give_back(work)
        return list(outputs.values())

    def __del__(self) -> None:
        """The memory serves the next factor."""
        work = self.__dict__.get("_work")
        if work is not None:
            work.plan.give_back(work)
