"""Streams of methods that choose their steps and are driven from Python: under a control, inputs that change, or events.

All motions of a batch go on together, the one that is behind first, each by its own steps. What is written are the records that
every motion has passed; those that are ahead of others are among what is kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from time import perf_counter
from typing import Any

import numpy as np

from ..elements.collection import collection
from ..errors import InputError, SolverError
from ..model import State
from ..prepared import Prepared
from ..steppers.departures import Domains, has_domains
from ..steppers.equation import Motion, RungeKuttaStepper
from ..steppers.events import Event
from ..steppers.inputs import Inputs
from ..steppers.recording import Place
from ..steppers.stepper import Solution
from ..steppers.stepwise import Stepwise
from .adaptive import AdaptiveStream, Parts, Write
from .checks import restoring

EVENTS = "events"  # (index, t, q, v) of every event
AHEAD = "ahead"  # (motion, t, q, v) of records that not all motions have passed


class StepwiseStream:
    """A run of a method that chooses its steps, driven from Python, in parts."""

    def __init__(self, ready: Prepared, stepper: RungeKuttaStepper, start: State) -> None:
        self.ready, self.stepper, self.start, self.batched = ready, stepper, start, start.q.ndim > 1
        stepper.check_stepwise(ready.model, self.batched)
        given = (ready.continuous_control(), ready.external, ready.driven, ready.tau)
        self.motions = stepper.motions(ready.model, start, *given)

    @cached_property
    def times(self) -> np.ndarray:
        """Of all records, for who makes them."""
        return self.ready.times

    def walk(self, place: Place | None, room: int, seconds: float, write: Write) -> tuple[str | None, bool]:
        """Go on from a place to the end: why it was not reached, and whether somebody pressed Ctrl-C."""
        runs = [self.stepper.stepwise(m, self.times) for m in self.motions]
        done, events, failure, stopped = 0, 0, None, False
        if place is None:
            for m, run in zip(self.motions, runs, strict=True):
                begin, h, first = self.stepper.begun(m, self.times)
                run.begin(begin, self.times, h, first, self.stepper.functions)
                run.records = [m.start]
        else:
            with restoring():
                done, events = place.record + 1, len(place.kept[EVENTS])
                self._restore(runs, place.kept)
        most = max(1, room // (8 * len(runs) * (self.ready.model.nq + self.ready.model.nv + 2)))
        written = place is not None
        while not written or not (all(run.there for run in runs) or failure or stopped):
            if written:
                failure, stopped = self._go(runs, perf_counter() + seconds, most)
            count = min(len(run.records) for run in runs)
            records = [run.records[:count] for run in runs]
            for run in runs:
                run.records = run.records[count:]
            arrays, left = self._arrays(records, runs[0].watch.found[events:])
            failure, done, events = failure or left, done + count, len(runs[0].watch.found)
            end = Place(done - 1, 0, self._kept(runs))
            stopped = write(end, arrays, end.kept, failure is None) or stopped
            written = True
        return failure, stopped

    def _go(self, runs: list[Stepwise], deadline: float, most: int) -> tuple[str | None, bool]:
        """So many more records, or as many as are made in a time; at least one step."""
        try:
            while True:
                behind = min((run for run in runs if not run.there), key=lambda run: run.count, default=None)
                if behind is None:
                    return None, False
                behind.step()
                if perf_counter() > deadline or min(len(run.records) for run in runs) >= most:
                    return None, False
        except KeyboardInterrupt:
            return None, True
        except SolverError as error:
            return str(error), False

    def _arrays(self, records: list[list[State]], events: list[Event]) -> tuple[Parts, str | None]:
        """Records of all motions as they are written, and what is wrong with them."""
        model, driven = self.ready.model, self.ready.driven
        found: Parts = {"t": np.array([s.t for s in records[0]])}
        pairs, departure = list(zip(self.motions, records, strict=True)), None
        if records[0]:
            q, v = (np.array([[getattr(s, name) for s in own] for own in records]) for name in ("q", "v"))
            found |= {name: x if self.batched else x[0] for name, x in (("q", q), ("v", v))}
            departure = Domains(model).first_departure(q, found["t"]) if has_domains(model) else None
            if self.ready.control is not None or self.ready.tau is not None:
                found["tau"] = np.array([[m.force(s)[0] for s in own] for m, own in pairs]).swapaxes(0, 1)
            if driven is not None:
                found["inputs"] = np.array([[driven.asked(s) for s in own] for own in records]).swapaxes(0, 1)
        if events:
            found[EVENTS] = np.array([[e.index, e.t, *e.state.q, *e.state.v] for e in events])
        return found, None if departure is None else departure[1]

    def _kept(self, runs: list[Stepwise]) -> Parts:
        """What all motions go on from."""
        own = [run.kept() for run in runs]
        found = {name: np.array([x[name] for x in own]) for name in own[0] if name != EVENTS}
        ahead = [[k, s.t, *s.q, *s.v] for k, run in enumerate(runs) for s in run.records]
        width = 2 + self.ready.model.nq + self.ready.model.nv
        return found | {EVENTS: own[0][EVENTS], AHEAD: np.array(ahead).reshape(-1, width)}

    def _restore(self, runs: list[Stepwise], kept: Parts) -> None:
        nq = self.ready.model.nq
        for k, run in enumerate(runs):
            own = {name: a[k] for name, a in kept.items() if name not in (EVENTS, AHEAD)}
            run.restore(own | {EVENTS: kept[EVENTS]}, self.times, self.stepper.functions)
            rows = kept[AHEAD][kept[AHEAD][:, 0] == k]
            run.records = [State(x[2 : 2 + nq], x[2 + nq :], float(x[1])) for x in rows]

    def solution(self, found: Parts) -> Solution:
        """Records as they were written, as a solution: what was asked then is not asked again."""
        model, t, nq = self.ready.model, found["t"], self.ready.model.nq
        q, v = (found[name] if self.batched else found[name][None] for name in ("q", "v"))
        told = {name: found[name].swapaxes(0, 1) for name in ("tau", "inputs") if name in found}
        forces = None
        if collection(model).rows:
            forces = np.array([self._multipliers(m, k, q[k], v[k], t, told) for k, m in enumerate(self.motions)])
        rows = found.get(EVENTS, np.zeros((0, 2)))
        events = tuple(Event(int(x[0]), float(x[1]), State(x[2 : 2 + nq], x[2 + nq :], float(x[1]))) for x in rows)

        def part(x: np.ndarray | None) -> np.ndarray | None:
            return None if x is None else x if self.batched else x[0]

        arrays = {"q": found["q"], "v": found["v"]}
        return Solution(t, arrays, part(told.get("tau")), part(forces), events, part(told.get("inputs")))

    def _multipliers(self, motion: Motion, k: int, q: np.ndarray, v: np.ndarray, t: np.ndarray, told: Parts) -> np.ndarray:
        """The forces of all rows of a motion at its records."""

        def forces() -> Iterator[Any]:
            for i in range(len(t)):
                u = told["inputs"][k, i] if "inputs" in told else None
                yield told["tau"][k, i] if "tau" in told else None, None if u is None else Inputs(lambda t, s, u=u: u)

        asked = forces()
        motion.force = lambda state: next(asked)
        motion.records = [State(*x) for x in zip(q, v, t, strict=True)]
        return np.array(motion.multipliers())


def adaptive_stream(ready: Prepared) -> AdaptiveStream | StepwiseStream:
    """A run of a method that chooses its steps, in parts: by its program, or driven from Python."""
    stepper, start = ready.stepper, ready.start
    if not isinstance(stepper, RungeKuttaStepper) or not isinstance(start, State):
        raise InputError(f"runs of the stepper {stepper.name!r} are not written as they are made; leave out= away")
    asked = ready.control is not None or ready.driven is not None
    made = StepwiseStream if stepper.from_python(ready.model, asked) else AdaptiveStream
    return made(ready, stepper, start)
