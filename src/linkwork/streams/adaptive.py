"""Streams of methods that choose their steps: parts of the program that moves all states to the next records."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from time import perf_counter

import numpy as np

from ..model import State
from ..prepared import Prepared
from ..steppers.departures import Domains, has_domains
from ..steppers.equation import RungeKuttaStepper
from ..steppers.recording import Place
from ..steppers.stepper import Solution
from .checks import check_kept

Parts = dict[str, np.ndarray]
Write = Callable[..., bool]  # (where it goes on, records, what is kept there, whether it can, what its steps add up to)
MODES = "report.modes"


class AdaptiveStream:
    """A run of a method that chooses its steps, in parts."""

    def __init__(self, ready: Prepared, stepper: RungeKuttaStepper, start: State) -> None:
        self.ready, self.stepper, self.start = ready, stepper, start
        self.batched = start.q.ndim > 1
        self.motions = stepper.motions(ready.model, start, None, ready.external, None, ready.tau)

    @cached_property
    def times(self) -> np.ndarray:
        """Of all records, for who makes them."""
        return self.ready.times

    @property
    def records(self) -> int:
        return len(self.times) - 1

    @property
    def record_bytes(self) -> int:
        """The room that a record takes."""
        return 8 * len(self.motions) * (self.ready.model.nq + self.ready.model.nv + 2)

    def first(self) -> Parts:
        """The first record: the start."""
        found = {"q": self.start.q, "v": self.start.v}
        return {"t": self.times[:1], **{name: np.expand_dims(a, int(self.batched)) for name, a in found.items()}}

    def walk(self, place: Place | None, room: int, seconds: float, write: Write) -> tuple[str | None, bool]:
        """Go on from a place to the end: why it was not reached, and whether somebody pressed Ctrl-C."""
        ready, run = self.ready, self.stepper.run(self.ready.model, self.times)
        entered, stopped, failure = self.stepper.entered(run, self.motions, self.times), False, None
        states = [name for name, f in run.program.fields.items() if f.kind == "state"]
        begun = {name: entered[name] for name in states if name in entered}
        if place is None:
            place = Place(0, 0, begun)
            stopped = write(place, self.first(), place.kept, True)
        else:
            check_kept(place, begun, self.records, optional=states)
        most, domains = max(1, room // self.record_bytes), Domains(ready.model)
        while place.record < self.records and failure is None and not stopped:
            times = self.times[place.record : place.record + most + 1]
            given, deadline = entered | place.kept, perf_counter() + seconds
            found = run(given, times, ready.tau, ready.external, ready.threads, deadline)
            count = found.q.shape[1]
            failure = found.failure
            if failure is None and has_domains(ready.model):
                departure = domains.first_departure(found.q, times[1:])
                failure = None if departure is None else departure[1]
            arrays = {"t": times[1 : count + 1], "q": found.q, "v": found.v}
            arrays = {name: a if self.batched or name == "t" else a[0] for name, a in arrays.items()}
            arrays |= {} if found.modes is None else {MODES: found.modes}
            place = Place(place.record + count, 0, dict(found.end))
            stopped = write(place, arrays, place.kept, failure is None) or found.stopped
        return failure, stopped

    def solution(self, found: Parts) -> Solution:
        """Records as they were written, as a solution."""
        q, v = (found[name] if self.batched else found[name][None] for name in ("q", "v"))
        modes = found.get(MODES)
        for k, m in enumerate(self.motions):
            m.records = [m.start, *(State(*x) for x in zip(q[k, 1:], v[k, 1:], found["t"][1:], strict=True))]
            m.modes = None if modes is None else modes[k]
        return self.stepper.solution(self.ready.model, self.motions, self.batched, self.ready.tau is not None)
