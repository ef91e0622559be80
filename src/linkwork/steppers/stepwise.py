"""Methods that choose their steps, driven from Python: where a control, inputs that change or events are part of the equation.

Coefficients and routines are those of the program (`adaptive`): which step is tried, which is accepted and what is interpolated
is said there. Only the slopes of the stages are asked for one by one.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..errors import SolverError
from ..kernel.call import Call
from ..kernel.sweep import SCALAR, Algorithm, Field, Routine, each, vector
from ..kernel.widths import SCALAR64
from ..model import State
from .adaptive import CHOOSE, JUDGE, AdaptiveRun, StepControl, adaptive_plans
from .events import Event, EventFunction, Watch
from .tangent import recharted

Slope = Callable[[State, np.ndarray | None], np.ndarray]  # (u, v)_dot at a state that a move u has reached


Reason = Callable[[State], str]  # why no step from a state is short enough, to follow these words


class StepError(SolverError):
    """No step from a state is short enough."""


TRIALS = 5_000  # trial steps since the last record, and again so many, after which the rest of them is foretold
MOST = 1e9  # trial steps to the next record: hours
NUMBERS = tuple(sorted({*CHOOSE, *JUDGE} - {"width", "settings", "fault", "move_size", "gain_size"}))
PLACES = ("base_q", "base_v", "stage_q", "stage_v")


@functools.cache
def control_program(control: StepControl, tried: bool) -> Algorithm:
    """How long the next step is; if one was tried, whether it is good enough besides."""
    found = {name: Field("state", "global", SCALAR) for name in NUMBERS}
    found["settings"] = Field("input", "global", vector(control.settings))
    steps: list[Any] = [Routine(control.choose, CHOOSE)]
    if tried:
        found |= {name: Field("input", name[-1]) for name in PLACES} | {"shift": Field("input", "v")}
        found |= {"fault": Field("input", "faults", SCALAR)} | {n: Field("work", "v") for n in ("move_size", "gain_size")}
        steps = [each(control.measure), Routine(control.judge, JUDGE), *steps]
    return Algorithm(f"control_{control.name}_{int(tried)}", found, {"run": steps})


class Stepwise:
    """One motion; arrays are named as in the program.

    records   states at the times that were passed since it began, or since somebody took them away
    count     of all records, with those that were taken away
    over      whether an event has ended the motion
    stopped   whether somebody pressed Ctrl-C
    """

    records: list[State]
    count: int
    watch: Watch
    over = False
    stopped = False
    _trials = 0  # since the last record

    def __init__(self, run: AdaptiveRun, slope: Slope, memory: np.ndarray, keep: Callable[[], None], reason: Reason) -> None:
        """
        memory   what the equation remembers between its steps: where constraints look for their unknowns
        keep     is called after the last slope of every step that is accepted
        reason   says why no step from a state is short enough
        """
        self.reason = reason
        self.model, self.method, self.control, self.slope, self.keep = run.model, run.method, run.control, slope, keep
        self.back = run.back
        plans, m, settings = adaptive_plans(run.model, run.method), run.model, {"settings": np.array(run.settings, float)}
        self.lanes = {name: np.zeros((1, 1)) for name in NUMBERS}
        self.tried = {name: np.zeros((1, m.nq if name[-1] == "q" else m.nv)) for name in (*PLACES, "shift")}
        self.tried["fault"] = np.zeros((1, 2 * len(run.method.errors) * m.nv))
        self._memory = memory

        def call(tried: bool, given: dict[str, np.ndarray]) -> Call:
            plan = plans(control_program(run.control, tried), SCALAR64, ("run",), ())
            return Call(plan, self.lanes | settings | given, self.lanes, 1)

        self.choose, self.judge = call(False, {}), call(True, self.tried)

    def begin(self, state: State, times: np.ndarray, h: float, first: np.ndarray, events: Sequence[EventFunction] = ()) -> None:
        """Be at the start, which is the first record.

        state   where it begins, in coordinates away from singularities
        h       the length of the first step
        first   the slope at the start
        """
        lanes, self._times = self.lanes, times
        numbers = {"t": state.t, "end": times[-1], "running": 1.0, "next_h": h}
        for name in NUMBERS:
            lanes[name][...] = numbers.get(name, 0.0)
        self.choose()
        self.records, self.count, self.watch = [state], 1, Watch(events, state)
        self._reach(state, first)

    @property
    def memory(self) -> np.ndarray:
        """Where constraints look for their unknowns."""
        return self._memory[0]

    @property
    def there(self) -> bool:
        """Whether the motion is at its end."""
        return self.over or self._state.t >= self._times[-1]

    def to_the_end(self) -> None:
        """All steps that are left, or those until somebody presses Ctrl-C."""
        try:
            while not self.there:
                self.step()
        except KeyboardInterrupt:
            self.stopped = True

    def step(self) -> None:
        """One step. Where it is interrupted, the motion is where the last one ended."""
        self._memory[...] = self._kept["memory"]
        for name, x in zip(NUMBERS, self._kept["numbers"], strict=True):
            self.lanes[name][...] = x
        state, events, times, values = self._state, self.watch.functions, self._times, self.watch.values
        found = len(self.watch.found)
        try:
            step = self._accepted(state, self._first)
            due = times[self.count : np.searchsorted(times, step.end.t, side="right")]
            ended = self.watch.step(state.t, step.end.t, step.at) if events else None
            new = [step.at(t) for t in (due if ended is None else due[due < ended.t])]
            q, v = recharted(self.model, step.end.q, step.end.v)
            same = self.back is None and np.array_equal(q, step.end.q) and np.array_equal(v, step.end.v)
            reached, last = State(q, v, step.end.t), step.k[self.method.stages - 1, self.model.nv :]
            first = np.concatenate([v, last]) if same or ended is not None else self.slope(reached, None)
        except BaseException:
            self.watch.values = values
            del self.watch.found[found:]
            raise
        self.records += new if ended is None else [*new, ended.state]
        self.count += len(new) + (ended is not None)
        self._trials = 0 if new else self._trials
        self.over = ended is not None
        self._reach(reached, first)

    def _reach(self, state: State, first: np.ndarray) -> None:
        """Be at the end of a step, and remember all that the next one needs."""
        numbers = np.concatenate([self.lanes[name][0] for name in NUMBERS])
        self._state, self._first = state, first
        self._kept = {"numbers": numbers, "memory": self._memory.copy()}

    def kept(self) -> dict[str, np.ndarray]:
        """All that the motion goes on from."""
        events = [[e.index, e.t, *e.state.q, *e.state.v] for e in self.watch.found]
        numbers = np.array([self._state.t, float(self.over), self.count])
        found = {"q": self._state.q, "v": self._state.v, "first": self._first, "place": numbers}
        width = 2 + self.model.nq + self.model.nv
        return found | self._kept | {"values": np.array(self.watch.values), "events": np.array(events).reshape(-1, width)}

    def restore(self, kept: dict[str, np.ndarray], times: np.ndarray, events: Sequence[EventFunction]) -> None:
        """Go on from what another one kept."""
        t, over, count = kept["place"].tolist()
        state, nq = State(kept["q"], kept["v"], t), self.model.nq
        self.records, self.count, self.over, self._times = [], int(count), bool(over), times
        self.watch = Watch(events, state, kept["values"].tolist())
        self.watch.found += [Event(int(k), float(at), State(x[:nq], x[nq:], at)) for k, at, *x in kept["events"].tolist()]
        self._state, self._first = state, kept["first"]
        self._kept = {name: kept[name] for name in ("numbers", "memory")}

    def _steps_ahead(self, t: float) -> float:
        """How many trial steps the next record takes, as fast as they came nearer to it since the last."""
        last, due = self._times[min(self.count, len(self._times) - 1) - 1 : min(self.count, len(self._times) - 1) + 1]
        return self._trials * float(due - last) / max(t - float(last), 1e-300)

    def _accepted(self, state: State, first: np.ndarray) -> Step:
        """The next step that is good enough."""
        while not self.lanes["status"][0, 0]:
            self._trials += 1
            if self._trials % TRIALS == 0 and self._steps_ahead(state.t) > MOST:
                raise StepError(
                    f"{self.control.name} stopped at t = {state.t:.9g}: the next record would take more than {MOST:g} steps of "
                    f"{self.lanes['h'][0, 0]:.3g} s; the motion is too fast or too stiff"
                )
            step = Step(self, state, first, float(self.lanes["h"][0, 0]), float(self.lanes["reached"][0, 0]))
            places = (state.q, state.v, step.end.q, step.end.v, step.shift, step.fault)
            for array, x in zip(self.tried.values(), places, strict=True):
                array[0] = x
            self.judge()
            if self.lanes["accepted"][0, 0]:
                self.keep()
                return step
        raise StepError(f"{self.control.name} stopped at t = {state.t:.9g}: no step is short enough{self.reason(state)}")


class Step:
    """One step: the slopes k (stages, 2 nv), its end, the move of coordinates that leads there, its errors by h."""

    def __init__(self, run: Stepwise, start: State, first: np.ndarray, h: float, reached: float) -> None:
        self.run, self.start, self.h, self.end = run, start, h, start
        method, self.k = run.method, np.zeros((len(run.method.matrix), len(first)))
        self.k[0] = first
        move = first
        for i in range(1, method.stages):
            move = self._stage(i, reached if i == method.stages - 1 else start.t + method.nodes[i] * h)
            if not np.isfinite(self.k[i]).all():
                break  # the step is too long: what follows means nothing
        good = bool(np.isfinite(self.k).all())
        faults = (method.errors @ self.k).reshape(-1) if good else np.full(method.errors.shape[0] * len(first), np.inf)
        if good and run.back is not None:
            self.end, back = run.back(self.end, run.memory)
            faults += np.where(faults < 0.0, -1.0, 1.0) * np.tile(np.abs(back) / h, len(method.errors))
        self.fault = faults if np.isfinite(faults).all() else np.full_like(faults, np.inf)
        self.shift = move[: run.model.nv]
        self.dense = method.stages == len(method.matrix)

    def _stage(self, i: int, t: float) -> np.ndarray:
        """The slope of a stage, and the move that leads there."""
        move = self.h * (self.run.method.matrix[i, :i] @ self.k[:i])
        there = self._moved(move, t)
        self.k[i] = self.run.slope(there, move[: self.run.model.nv])
        self.end = there if i < self.run.method.stages else self.end
        return move

    def _moved(self, move: np.ndarray, t: float) -> State:
        nv = self.run.model.nv
        return State(self.run.model.integrate(self.start.q, move[:nv]), self.start.v + move[nv:], t)

    def at(self, t: float) -> State:
        """The state within the step."""
        if t == self.end.t:
            return self.end
        method = self.run.method
        if not self.dense:
            for i in range(method.stages, len(method.matrix)):
                self._stage(i, self.start.t + method.nodes[i] * self.h)
            self.dense = True
        x = (t - self.start.t) / self.h
        factors: Any = np.cumprod(np.where(method.turns > 0.0, 1.0 - x, x))
        return self._moved(self.h * ((factors @ method.dense) @ self.k), t)
