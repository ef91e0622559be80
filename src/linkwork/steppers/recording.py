"""All steps of a run in calls into compiled code, described once and made many times.

To describe a call, array by array, takes as long as forty steps of a small robot. So inputs are copied into memory that stays,
and all records of a run lie in one piece of memory. Few of them stay there and are copied: a run that has as many of them as the
last needs no new description. Of many the memory is new, and one address is changed. A run that takes long is made in pieces
(`pace`); between them states whose rows act now and then find their neighbours (`alike`).
"""

from __future__ import annotations

from math import inf, prod
from time import perf_counter
from typing import NamedTuple

import numpy as np

from ..kernel.workspace import address_of
from ..model import Model
from .alike import LONG, PART, SLOW, WORTH, Order, taking_part
from .pace import Pace
from .progress import listener
from .stepper import Program
from .stepping import constants

Parts = dict[str, np.ndarray]
Shapes = dict[str, tuple[int, ...]]
NONE = (0.0, 0, 0)  # no run is described
SEVERAL, CALLS = 16, 16  # steps of a piece that is made in several calls, and as many of these at most
FEW = 1 << 13  # numbers of records: to copy them takes less than to describe where they go


class Place(NamedTuple):
    """A place in a run: after so many records and further steps, with what its program kept there (batch, size)."""

    record: int
    steps: int
    kept: Parts


class Recording:
    """The runs of a program on batches of one size, one after the other: it has memory of its own.

    kept    what a run starts from (batch, size), with joint forces, wrenches and inputs; those of all runs have such shapes
    done    how many records the last run made
    before  a place of the last run after which it never came back to Python, but for its end
    stopped whether the last run was stopped by Ctrl-C
    """

    done: int
    before: Place
    stopped: bool

    def __init__(self, model: Model, program: Program, kept: Parts) -> None:
        self.model, self.program, self._batch = model, program, len(kept[program.states[0]])
        absent = tuple(name for name in ("tau", "external") if name not in kept)
        self._lanes = program.lanes(model, self._batch)
        self._plan = program.plan(model, self._lanes, absent)
        self._work = self._plan.workspace()
        self._given = np.empty(sum(a.size for a in kept.values()))
        self._inputs = cut(self._given, {name: a.shape for name, a in kept.items()})
        self._sizes = {name: kept[name].shape[1] for name in program.recorded} | program.report_sizes(model)
        self._states = tuple(name for name in program.states if name not in self._sizes)
        self._reported = tuple(name for name in self._sizes if name not in program.recorded)
        self._form, self._shapes, self._size, self._at = NONE, Shapes(), 0, 0
        self._own: np.ndarray | None = None  # the memory of few records
        self._firsts: list[tuple[str, np.ndarray]] = []  # in it, where the states go at which a run starts
        self._pace, self._found = Pace(model.nb), Parts()
        self._order: Order | None = None
        self._on = taking_part(model, self._plan, self._batch)

    def __call__(
        self, kept: Parts, h: float, records: int, every: int, threads: int, steps: int = 0, deadline: float = inf
    ) -> tuple[Parts, Parts]:
        """The states that are recorded (batch, 1 + records, size), and what is reported besides, as far as `done`.

        A run ends early where the motion of no state is finite any more, and where somebody presses Ctrl-C.

        steps      that were made already towards the first record
        deadline   when to end, if not everything is done by then (`perf_counter`)
        """
        np.concatenate([kept[name].reshape(-1) for name in self._inputs], out=self._given)
        self.before, self.done, self.stopped, self._steps = Place(0, steps, kept), 0, False, steps
        self._ahead = records * every - steps
        self._order = Order(self._on, self._lanes.width) if self._on is not None and self._may_sort() else None
        fits = self._pace.state_steps() >= self._batch * records * every
        at_once = threads == 1 and not steps and fits and self._order is None
        if at_once and self._form == (h, records, every) and self._own is not None:
            self._once_more(self._own, kept, records, every)
        else:
            self._anew(kept, h, records, every, threads, deadline, at_once)
        found = self._found
        return {name: found[name] for name in self.program.recorded}, {name: found[name] for name in self._reported}

    def _may_sort(self) -> bool:
        """Whether states may find their neighbours after the first step: a run of some time and steps."""
        seconds = self._pace.seconds
        return self._ahead > WORTH and seconds >= SLOW and seconds * self._batch * self._ahead >= LONG

    def _once_more(self, own: np.ndarray, kept: Parts, records: int, every: int) -> None:
        """A run of few records that is described: as many as the last one had, each after as many steps."""
        for name, first in self._firsts:
            first[...] = kept[name]
        begin = perf_counter()
        self._work.do_again()
        self._plan.batch(self._work.job_at)
        self._pace.took(self._batch * records * every, perf_counter() - begin)
        self._found = cut(own.copy(), self._shapes)
        self.done = records
        _tell(records * every)

    def _anew(self, kept: Parts, h: float, records: int, every: int, threads: int, deadline: float, at_once: bool) -> None:
        """A run in new memory; one of few records in memory that stays if they are made at once."""
        known = self._form == (h, records, every)
        if not known:
            self._shapes = {name: (self._batch, 1 + records, size) for name, size in self._sizes.items()}
            self._size = sum(map(prod, self._shapes.values()))
        self._own = None
        block = np.empty(self._size)
        found = self._found = cut(block, self._shapes)
        for name in self.program.recorded:
            found[name][:, 0] = kept[name]
        for name in self._reported:
            found[name][:, 0] = 0.0  # no step ends at the start
        if not at_once:
            self._form = NONE
            self._in_pieces(h, records, every, threads, deadline)
            return
        self._all_at_once(block, known, h, records, every)
        if self._size <= FEW:
            self._own, self._firsts = block, [(name, found[name][:, 0]) for name in self.program.recorded]
            self._found = cut(block.copy(), self._shapes)

    def _all_at_once(self, block: np.ndarray, known: bool, h: float, records: int, every: int) -> None:
        """All records of a short run in one call."""
        at, begin = address_of(block), perf_counter()
        if known:
            self._work.move_outputs(at - self._at, len(self._sizes))
        else:
            counts = (self._batch, records, every * self.program.passes)
            self._work.job(*self._arrays(h, slice(1, None), slice(None)), *counts)
            self._form = (h, records, every)
        self._at = at
        self._plan.batch(self._work.job_at)
        self._pace.took(self._batch * records * every, perf_counter() - begin)
        self.done = records
        _tell(records * every)

    def _in_pieces(self, h: float, records: int, every: int, threads: int, deadline: float) -> None:
        moving = next(name for name in ("v", "twists", self.program.recorded[-1]) if name in self._sizes)
        try:
            while self.done < records:
                count = 0 if self._steps else min(self._steps_at_once() // every, records - self.done)
                if count:
                    self._piece(h, count, every, threads)
                elif not self._one_record(h, every, threads, deadline):
                    break
                self._steps, count = 0, count or 1
                finite = np.isfinite(self._found[moving][:, self.done + count]).all(axis=-1).any()  # of any state
                if finite and self.done + count < records:
                    self.before = Place(self.done + count, 0, self.states(self.program.states))
                self.done += count
                if not finite or perf_counter() > deadline:
                    break
        except KeyboardInterrupt:
            self.stopped, self.done, self._steps = True, self.before.record, self.before.steps

    def _one_record(self, h: float, every: int, threads: int, deadline: float) -> bool:
        """The next record, in several calls: whether it was reached before the deadline."""
        while self._steps < every:
            steps = min(every - self._steps, max(1, self._steps_at_once()))
            self._piece(h, 1, steps, threads)
            self._steps += steps
            if self._steps < every and perf_counter() > deadline:
                return False
        return True

    def _steps_at_once(self) -> int:
        """How many steps of all states make a piece; the first one alone where it tells which states are alike.

        Of many states some at a time make several steps, as those find their memory near: so pieces may be longer than calls.
        """
        if self._order is not None and self._order.first:
            return 1
        fitting = self._pace.state_steps()
        return max(fitting // self._batch, min(SEVERAL, CALLS * fitting // self._batch))

    def _piece(self, h: float, count: int, steps: int, threads: int) -> None:
        """So many records, each after so many steps; what they leave is where the next piece begins."""
        first = 1 + self.done
        self._calls(h, slice(first, first + count), count, steps, threads)
        for name in self.program.recorded:
            self._inputs[name][...] = self._found[name][:, first + count - 1]
        self._ahead -= count * steps
        if self._order is not None:
            self._order.go_on(count * steps, self._ahead)
        _tell(count * steps)

    def _calls(self, h: float, place: slice, count: int, steps: int, threads: int) -> None:
        """So many records, each after so many steps; of very many states some at a time."""
        done, steps_in_all = 0, count * steps
        order = None if self._order is None else self._order.numbers
        while done < self._batch:
            begin, fitting = perf_counter(), self._pace.state_steps() // steps_in_all
            width = self._batch if fitting >= self._batch else max(1, fitting // self._lanes.width) * self._lanes.width
            some = slice(done, min(done + width, self._batch))
            size = some.stop - done
            counts, who = (size, count, steps * self.program.passes), None if order is None else order[some]
            arrays = self._arrays(h, place, some if who is None else slice(None))
            if threads > 1:
                self._plan.run(*arrays, *counts, threads, who)
            else:
                self._work.job(*arrays, *counts, order=who)
                self._plan.batch(self._work.job_at)
            self._pace.took(size * steps_in_all, perf_counter() - begin)
            done = some.stop

    def end(self, names: tuple[str, ...]) -> Place:
        """Where the last run ended."""
        if self.stopped:
            return self.before
        if self._steps:
            return Place(self.done, self._steps, self.states(names))
        found, own, done = self._found, self._inputs, self.done
        return Place(done, 0, {name: (found[name][:, done] if name in found else own[name]).copy() for name in names})

    def given(self, name: str) -> np.ndarray | None:
        """What the last run was given besides its states."""
        found = self._inputs.get(name)
        return None if found is None else found.copy()

    def states(self, names: tuple[str, ...]) -> Parts:
        """What the program keeps where the last piece ended: copies."""
        return {name: self._inputs[name].copy() for name in names}

    def _arrays(self, h: float, place: slice, some: slice) -> tuple[Parts, Parts]:
        """Inputs and outputs of the compiled code, of some states; what is not recorded is kept where it comes from."""
        inputs = {name: a[some] if a.ndim > 1 else a for name, a in self._inputs.items()}
        outputs = {name: a[some, place] for name, a in self._found.items()}
        told = {} if self._order is None else {PART: self._order.on[some]}
        return constants(self.model, self.program, h) | inputs, outputs | {name: inputs[name] for name in self._states} | told


def _tell(steps: int) -> None:
    """Say how many steps were made to whoever listens."""
    told = listener()
    if told:
        told(steps)


def cut(memory: np.ndarray, shapes: Shapes) -> Parts:
    """Arrays of these shapes, one after the other in one piece of memory."""
    found, first = {}, 0
    for name, shape in shapes.items():
        end = first + prod(shape)
        found[name] = memory[first:end].reshape(shape)
        first = end
    return found
