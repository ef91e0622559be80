"""All steps of a run in one call into compiled code, described once and made many times.

To describe a call, array by array, takes as long as forty steps of a small robot. So inputs are copied into memory that stays,
and all records of a run lie in one new piece of memory: a run that has as many of them as the last one changes one address.
"""

from __future__ import annotations

from math import prod

import numpy as np

from ..kernel.workspace import address_of
from ..model import Model
from .stepper import Program
from .stepping import constants

Parts = dict[str, np.ndarray]
Shapes = dict[str, tuple[int, ...]]
NONE = (0.0, 0, 0)  # no run is described


class Recording:
    """The runs of a program on batches of one size, one after the other: it has memory of its own.

    kept    what a run starts from (batch, size), with joint forces, wrenches and inputs; those of all runs have such shapes
    """

    def __init__(self, model: Model, program: Program, kept: Parts) -> None:
        self.model, self.program, self._batch = model, program, len(kept[program.states[0]])
        absent = tuple(name for name in ("tau", "external") if name not in kept)
        self._plan = program.plan(model, program.lanes(model, self._batch), absent)
        self._work = self._plan.workspace()
        self._given = np.empty(sum(a.size for a in kept.values()))
        self._inputs = cut(self._given, {name: a.shape for name, a in kept.items()})
        self._sizes = {name: kept[name].shape[1] for name in program.recorded} | program.report_sizes(model)
        self._memory: Shapes = {name: kept[name].shape for name in program.memory}
        self._form, self._shapes, self._size, self._at = NONE, Shapes(), 0, 0

    def __call__(self, kept: Parts, h: float, records: int, every: int, threads: int) -> tuple[Parts, Parts, Parts]:
        """The states that are recorded (batch, 1 + records, size), what is reported besides, and what the next run needs."""
        np.concatenate([a.reshape(-1) for a in kept.values()], out=self._given)
        known = self._form == (h, records, every)
        if not known:
            self._shapes = {name: (self._batch, 1 + records, size) for name, size in self._sizes.items()} | self._memory
            self._size = sum(map(prod, self._shapes.values()))
        block = np.empty(self._size)
        found, counts = cut(block, self._shapes), (self._batch, records, every * self.program.passes)
        if threads > 1:
            self._plan.run(*self._arrays(found, h), *counts, threads)
            self._form = NONE
        else:
            at = address_of(block)
            if known:
                self._work.move_outputs(at - self._at)
            else:
                self._work.job(*self._arrays(found, h), *counts)
                self._form = (h, records, every)
            self._at = at
            self._plan.driver.batch(self._work.job_at)
        arrays = {name: found[name] for name in self.program.recorded}
        for name, a in arrays.items():
            a[:, 0] = kept[name]
        reports = {name: found[name] for name in self._sizes if name not in arrays}
        for a in reports.values():
            a[:, 0] = 0.0  # no step ends at the start
        return arrays, reports, {name: found[name] for name in self._memory}

    def _arrays(self, found: Parts, h: float) -> tuple[Parts, Parts]:
        """Inputs and outputs of the compiled code."""
        inputs = constants(self.model, self.program, h) | self._inputs
        return inputs, {name: a if name in self._memory else a[:, 1:] for name, a in found.items()}


def cut(memory: np.ndarray, shapes: Shapes) -> Parts:
    """Arrays of these shapes, one after the other in one piece of memory."""
    found, first = {}, 0
    for name, shape in shapes.items():
        end = first + prod(shape)
        found[name] = memory[first:end].reshape(shape)
        first = end
    return found
