"""A call that is described once and made many times: its inputs and outputs are fixed arrays, written and read in place."""

from __future__ import annotations

import struct
from collections.abc import Mapping

import numpy as np

from .factored import KEPT
from .plan import Plan


class Call:
    """A plan on a batch of inputs and outputs (batch, size), with memory of its own.

    after   the call of a factor phase whose results this one reads, for plans of a later phase
    """

    def __init__(
        self,
        plan: Plan,
        inputs: Mapping[str, np.ndarray],
        outputs: Mapping[str, np.ndarray],
        batch: int,
        after: Call | None = None,
    ) -> None:
        self._work, self._arrays, self._after = plan.workspace(), (inputs, outputs), after
        self._batch, self._every = batch, 1
        self._run = plan.driver.batch
        if after is not None:
            self._work.adopt(after._work, [KEPT])
        self._work.job(inputs, outputs, batch)

    def __call__(self, batch: int | None = None, every: int = 1) -> None:
        """Compute the outputs, or only the first so many of the batch, by so many passes."""
        if (batch or self._batch, every) != (self._batch, self._every):
            self._batch, self._every = batch or self._batch, every
            self._work.job(*self._arrays, self._batch, 1, every)
        else:
            struct.pack_into("q", self._work.buffer, 0, 0)  # no state is done yet
        self._run(self._work.job_at)
