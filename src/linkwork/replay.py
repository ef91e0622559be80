"""The steps of a run between its records, made again to be looked at, when somebody asks how healthy it was.

A run keeps every so many of its states. What happens between them is found by making the same steps once more, in pieces, to
the bit: each piece has all its states, adds up to a `Tally`, and is forgotten. So steps pay nothing for it, and memory stays
bounded. What Python was asked for during the run (joint forces, inputs of forces) is noted step by step; if it fills its room,
the steps until there are looked at during the run.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import inf
from typing import Any

import numpy as np

from .elements.collection import collection
from .model import Model, State
from .steppers.fixed import FixedRun, Times
from .steppers.inputs import Inputs
from .steppers.recording import Place
from .steppers.row_forces import RowForces
from .steppers.stepper import AdaptiveStepper, Solution
from .tally import Tally, window_steps
from .trajectory import Trajectory

PIECE = 2_000_000  # numbers that are held of the steps of a piece, with poses and rows of all of them
NOTES = 1 << 25  # bytes of what Python was asked for: fuller notes are looked at during the run


def noted_inputs(told: Iterator[np.ndarray]) -> Inputs:
    """Inputs of forces as they were told in a run, step by step."""
    return Inputs(lambda t, state: next(told))


class StepReplay:
    """The steps of a run with steps of one length.

    run      that is made again
    times    of its steps: (start, number of the first, how many follow)
    stepper  the name of the time discretisation
    begin    where it begins; the start of the run by default
    """

    def __init__(self, run: FixedRun, times: Times, stepper: str, begin: Place | None = None) -> None:
        begin = run.begin if begin is None else begin
        self._stepper, self._every, self._window = stepper, run.every, window_steps(run.records * run.every)
        self._place = Place(begin.record * run.every + begin.steps, 0, begin.kept)
        self._run = run.in_steps(times)
        self._tau, self._inputs = list[bytes](), list[np.ndarray]()
        self._found: Tally | None = None
        numbers = run.record_bytes // 8 + run.batch * (40 * run.model.nb + 4 * collection(run.model).row_count)
        self._piece = max(1, PIECE // numbers)

    def note(self, tau: bytes, inputs: np.ndarray | None) -> None:
        """A step was made under joint forces, in bytes, and inputs of forces."""
        self._tau.append(tau)
        if inputs is not None:
            self._inputs.append(inputs)
        if len(self._tau) * (len(tau) + (0 if inputs is None else inputs.nbytes)) > NOTES:
            self.look(self._place.record + len(self._tau))

    def tally(self, records: int) -> Tally:
        """What all steps up to a record add up to."""
        self.look(records * self._every)
        assert self._found is not None
        return self._found

    def look(self, step: int) -> None:
        """Make all steps up to one again, and add them up."""
        while self._place.record < step:
            count = min(self._piece, step - self._place.record)
            piece, end = self._made(count)
            found = piece.tallied(self._place.record, self._every, self._window)
            self._found = found if self._found is None else self._found + found
            self._place = Place(self._place.record + end.record, 0, end.kept)
            if end.record < count:
                return

    def taken(self) -> Tally | None:
        """What was added up since this was asked for last."""
        found, self._found = self._found, None
        return found

    def _made(self, count: int) -> tuple[Trajectory, Place]:
        """So many more steps, with all their states, and where they end."""
        run = self._run.part(self._place, count, inf)
        control = None
        if self._tau:
            taus = np.frombuffer(b"".join(self._tau[:count])).reshape(count, run.batch, -1)
            taus = iter(taus if run.batched else taus[:, 0])
            control = lambda t, state: next(taus)  # noqa: E731
            if self._inputs:
                run.driven = noted_inputs(iter(self._inputs[:count]))
        found = run.solve(control)
        if found.stopped:
            raise KeyboardInterrupt
        del self._tau[:count], self._inputs[:count]
        return self._trajectory(run, found, control is not None), run.end

    def _trajectory(self, run: FixedRun, found: Solution, asked: bool) -> Trajectory:
        count, tau, inputs = len(found.t), found.tau, found.inputs
        if asked:
            taus, told = (_held(x, count) for x in run.asked)
            tau = None if not len(taus) else taus.swapaxes(0, 1) if run.batched else taus[:, 0]
            inputs = told if told.size else None
        rows = found.forces.averaged() if isinstance(found.forces, RowForces) else found.forces
        return Trajectory(
            run.model,
            found.t,
            "reduced" if run.kind is State else "maximal",
            found.arrays,
            tau,
            rows,
            run.external,
            inputs=inputs,
            left=found.left,
            stepper=self._stepper,
        )


def _held(x: np.ndarray, count: int) -> np.ndarray:
    """What was asked for at the start of every step; at the end what was held before."""
    return np.concatenate([x, x[-1:]])[:count]


class MotionReplay:
    """The motion of a stepper that chooses its own steps, at times between its records.

    times     equally spaced; some of them are those of the records
    every     of them lie from one record to the next
    """

    def __init__(
        self, model: Model, stepper: AdaptiveStepper, start: State, times: np.ndarray, every: int, tau: Any, external: Any
    ) -> None:
        self._model, self._stepper, self._start = model, stepper, start
        self._times, self._every, self._tau, self._external = times, every, tau, external

    def tally(self, records: int) -> Tally:
        """What the motion up to a record adds up to."""
        times = self._times[: records * self._every + 1]
        found = self._stepper.solve(self._model, self._start, times, None, self._external, None, self._tau)
        if found.stopped:
            raise KeyboardInterrupt
        run = Trajectory(
            self._model,
            found.t,
            "reduced",
            found.arrays,
            found.tau,
            found.forces,
            self._external,
            held=False,
            stepper=self._stepper.name,
        )
        return run.tallied(0, self._every, window_steps(len(self._times) - 1))
