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
    """One motion; arrays are named as in the program."""

    stopped = False  # whether somebody pressed Ctrl-C

    def __init__(self, run: AdaptiveRun, slope: Slope, keep: Callable[[], None]) -> None:
        """`keep` is called after the last slope of every step that is accepted."""
        self.model, self.method, self.control, self.slope, self.keep = run.model, run.method, run.control, slope, keep
        plans, m, settings = adaptive_plans(run.model, run.method), run.model, {"settings": np.array(run.settings, float)}
        self.lanes = {name: np.zeros((1, 1)) for name in NUMBERS}
        self.tried = {name: np.zeros((1, m.nq if name[-1] == "q" else m.nv)) for name in (*PLACES, "shift")}
        self.tried["fault"] = np.zeros((1, 2 * len(run.method.errors) * m.nv))

        def call(tried: bool, given: dict[str, np.ndarray]) -> Call:
            plan = plans(control_program(run.control, tried), SCALAR64, ("run",), ())
            return Call(plan, self.lanes | settings | given, self.lanes, 1)

        self.choose, self.judge = call(False, {}), call(True, self.tried)

    def __call__(
        self, state: State, times: np.ndarray, h: float, first: np.ndarray, events: Sequence[EventFunction] = ()
    ) -> tuple[list[State], Sequence[Event]]:
        """The states at the times, and the events on the way.

        state   where it begins, in coordinates away from singularities
        h       the length of the first step
        first   the slope at the start
        """
        records, watch, lanes = [state], Watch(events, state), self.lanes
        for name, x in (("t", state.t), ("end", times[-1]), ("running", 1.0), ("next_h", h), ("failed", 0.0), ("status", 0.0)):
            lanes[name][...] = x
        self.choose()
        try:
            self._walk(state, times, first, events, records, watch)
        except KeyboardInterrupt:
            self.stopped = True
        return records, watch.found

    def _walk(
        self,
        state: State,
        times: np.ndarray,
        first: np.ndarray,
        events: Sequence[EventFunction],
        records: list[State],
        watch: Watch,
    ) -> None:
        """Step to the end, or to an event that ends the motion."""
        while state.t < times[-1]:
            step = self._accepted(state, first)
            due = times[len(records) : np.searchsorted(times, step.end.t, side="right")]
            ended = watch.step(state.t, step.end.t, step.at) if events else None
            records += [step.at(t) for t in (due if ended is None else due[due < ended.t])]
            if ended is not None:
                records.append(ended.state)
                break
            q, v = recharted(self.model, step.end.q, step.end.v)
            same = np.array_equal(q, step.end.q) and np.array_equal(v, step.end.v)
            state, last = State(q, v, step.end.t), step.k[self.method.stages - 1, self.model.nv :]
            first = np.concatenate([v, last]) if same else self.slope(state, None)

    def _accepted(self, state: State, first: np.ndarray) -> Step:
        """The next step that is good enough."""
        while True:
            step = Step(self, state, first, float(self.lanes["h"][0, 0]), float(self.lanes["reached"][0, 0]))
            places = (state.q, state.v, step.end.q, step.end.v, step.shift, step.fault)
            for array, x in zip(self.tried.values(), places, strict=True):
                array[0] = x
            self.judge()
            if self.lanes["accepted"][0, 0]:
                self.keep()
                return step
            if self.lanes["status"][0, 0]:
                raise SolverError(
                    f"{self.control.name} stopped at t = {state.t:.9g}: no step is short enough; the motion is singular there, "
                    "too stiff, or control returned numbers that are not finite"
                )


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
        faults = (method.errors @ self.k).reshape(-1)
        self.fault = faults if np.all(np.isfinite(faults)) else np.full_like(faults, np.inf)
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
