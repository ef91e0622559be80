"""Motions by methods that choose their steps: a program where nothing asks Python, else `stepwise` on a compiled equation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..elements.collection import collection
from ..errors import InputError, SolverError
from ..model import Model, State
from ..reduced.loaded import row_dynamics
from .adaptive import AdaptiveRun
from .departures import CLOSE, reason_to_stop, suspects
from .events import Event, EventFunction
from .fixed import refusal
from .inputs import Inputs, told
from .slopes import Slopes
from .stepper import AdaptiveStepper, Solution
from .stepwise import Slope, StepError, Stepwise
from .tangent import recharted
from .way_back import closed_start

Control = Callable[[float, State], Any]
Force = Callable[[State], tuple[Any, Inputs | None]]  # the joint forces at a state, and who says the inputs of forces there


class Equation:
    """(u, v)_dot of a model at a state that a move u has reached; `multipliers` are those of the last evaluation."""

    model: Model
    multipliers: np.ndarray

    def __init__(self, slopes: Slopes) -> None:
        self.model, self.external, self._slopes = slopes.model, slopes.external, slopes

    def begin(self, q: np.ndarray) -> None:
        """A motion begins here: nothing is left of one before."""
        self._slopes.begin(q)

    @property
    def memory(self) -> np.ndarray:
        """What it remembers from one step to the next."""
        return self._slopes.memory

    def keep(self) -> None:
        """A good step has ended where it was asked last."""
        self._slopes.keep()

    def __call__(
        self, state: State, u: np.ndarray | None, tau: Any, driven: Inputs | None, modes: np.ndarray | None = None
    ) -> np.ndarray:
        found = self._slopes(state.q, u, state.v, state.t, tau, None if driven is None else driven.asked(state), modes)
        self.multipliers = self._slopes.multipliers
        return found


@dataclass(eq=False)
class Motion:
    """One motion: where it begins, its equation and forces; and what was found of it.

    modes     of rows that only push or have a largest force, at all records but the first (records - 1, rows)
    refused   when a control last returned joint forces that are not finite, and these
    """

    start: State
    equation: Equation
    force: Force
    records: Sequence[State] = ()
    events: Sequence[Event] = ()
    modes: np.ndarray | None = None
    refused: tuple[float, np.ndarray] | None = None

    def slope(self, state: State, u: np.ndarray | None) -> np.ndarray:
        """(u, v)_dot at a state that a move u of a step has reached."""
        tau, driven = self.force(state)
        if tau is not None and not np.isfinite(tau).all():
            self.refused = (state.t, np.array(tau))
        return self.equation(state, u, tau, driven)

    def reason(self, state: State) -> str:
        """Why no step from a state is short enough, to follow these words."""
        if self.refused is not None and abs(self.refused[0] - state.t) <= CLOSE * (1.0 + abs(state.t)):
            return f": {refusal(*self.refused)}"
        return reason_to_stop(self.equation.model, state.q, state.v, state.t)

    def multipliers(self) -> list[np.ndarray]:
        """The forces of all rows at the records."""
        found = []
        for k, s in enumerate(self.records):
            self.equation.begin(s.q)  # records may be far apart
            if self.modes is not None and k == 0:
                found.append(self._first_multipliers(s))
                continue
            self.equation(s, None, *self.force(s), None if self.modes is None else self.modes[k - 1])
            found.append(self.equation.multipliers)
        return found

    def _first_multipliers(self, s: State) -> np.ndarray:
        """The forces of all rows where no step says their modes."""
        tau, _ = self.force(s)
        return row_dynamics(self.equation.model, s.q, s.v, tau, self.equation.external, t=s.t)[1]


def _check_recorded(motions: list[Motion], tau: list[list[Any]]) -> None:
    """Raise if a control returned joint forces that are not finite at a record, which no stage of a step asked for."""
    for m, own in zip(motions, tau, strict=True):
        for s, x in zip(m.records, own, strict=True):
            if not np.isfinite(x).all():
                raise SolverError(refusal(s.t, np.asarray(x)))


@dataclass(frozen=True)
class RungeKuttaStepper(AdaptiveStepper):
    """Base of explicit methods that choose their steps."""

    contacts = True
    bounces = True

    @property
    def on_accelerations(self) -> bool:
        return True

    def equation(self, model: Model, external: Any) -> Equation:
        """The equation that is solved, under wrenches (bodies, 6)."""
        return Equation(Slopes(model, external))

    @property
    def projects(self) -> bool:
        """Whether steps end where equality constraints hold."""
        return False

    @property
    def functions(self) -> tuple[EventFunction, ...]:
        """Those whose changes of sign are events."""
        return ()

    def from_python(self, model: Model, asked: bool) -> bool:
        return asked or bool(self.functions) or collection(model).told_count > 0

    def run(self, model: Model, times: np.ndarray) -> AdaptiveRun:
        """The method as a program."""
        raise NotImplementedError

    def first_length(self, model: Model, state: State, times: np.ndarray, slope: Slope, first: np.ndarray) -> float:
        """The length of the first step, from the slope (u, v)_dot at the start."""
        raise NotImplementedError

    def begun(self, motion: Motion, times: np.ndarray) -> tuple[State, float, np.ndarray]:
        """Where a motion begins, away from singularities of coordinates, the length of its first step, and its slope there."""
        motion.equation.begin(motion.start.q)
        model = motion.equation.model
        begin = closed_start(model, motion.start) if self.projects else motion.start
        start = State(*recharted(model, begin.q, begin.v), motion.start.t)
        first = motion.slope(start, None)
        if not np.all(np.isfinite(first)):
            why = suspects(model, start.q, start.v, start.t, CLOSE)
            raise SolverError(f"{self.name}: the acceleration is not finite at t = {start.t:.9g}{why}")
        return start, self.first_length(model, start, times, motion.slope, first), first

    def solve_one(self, motion: Motion, times: np.ndarray) -> bool:
        """Find a motion step by step: whether somebody pressed Ctrl-C on the way."""
        run = self.stepwise(motion, times)
        start, h, first = self.begun(motion, times)
        run.begin(start, times, h, first, self.functions)
        try:
            run.to_the_end()
        finally:
            motion.records, motion.events = [motion.start, *run.records[1:]], run.watch.found
        return run.stopped

    def stepwise(self, motion: Motion, times: np.ndarray) -> Stepwise:
        """Who steps a motion from Python."""
        run, equation = self.run(motion.equation.model, times), motion.equation
        return Stepwise(run, motion.slope, equation.memory, equation.keep, motion.reason)

    def solve(
        self,
        model: Model,
        state: State,
        times: np.ndarray,
        control: Control | None,
        external: Any,
        driven: Inputs | None = None,
        tau: Any = None,
        threads: int | None = 1,
    ) -> Solution:
        batched = state.q.ndim > 1
        motions = self.motions(model, state, control, external, driven, tau)
        if self.from_python(model, control is not None or driven is not None):
            self.check_stepwise(model, batched)
            failure, stopped = None, False
            for k, m in enumerate(motions):
                m.records = [m.start]
                try:
                    stopped = stopped or self.solve_one(m, times)
                except StepError as error:
                    failure = failure or f"{error}{f', in state {k} of the batch' if batched else ''}"
        else:
            failure, stopped = self._program(self.run(model, times), motions, times, tau, external, threads)
        return self.solution(model, motions, batched, control is not None or tau is not None, driven, failure, stopped)

    def check_stepwise(self, model: Model, batched: bool) -> None:
        """Raise if a motion cannot be driven from Python."""
        if batched and self.functions:
            raise InputError(f"{self.name}: events are looked for in one motion at a time; pass a single state")
        if collection(model).shape[3]:
            raise InputError(
                f"{self.name}: under a control, inputs or events, contacts, limits and dry friction are not stepped; rk4 does"
            )

    def solution(
        self,
        model: Model,
        motions: list[Motion],
        batched: bool,
        pushed: bool,
        driven: Inputs | None = None,
        failure: str | None = None,
        stopped: bool = False,
    ) -> Solution:
        """Motions as a solution, as far as all of them got.

        pushed   whether joint forces act
        """
        count = min(len(m.records) for m in motions)
        for m in motions:
            m.records = m.records[:count]
        found: dict[str, Any] = {name: [[getattr(s, name) for s in m.records] for m in motions] for name in ("q", "v")}
        if pushed:
            found["tau"] = [[m.force(s)[0] for s in m.records] for m in motions]
            if failure is None:
                _check_recorded(motions, found["tau"])
        if collection(model).rows:
            found["forces"] = [m.multipliers() for m in motions]
        if driven is not None:
            found["inputs"] = [told(driven, m.records) for m in motions]
        arrays = {name: np.array(x if batched else x[0]) for name, x in found.items()}
        q, v, t = arrays.pop("q"), arrays.pop("v"), np.array([s.t for s in motions[0].records])
        parts, events = {"q": q, "v": v}, tuple(motions[0].events)
        given = (arrays.get("tau"), arrays.get("forces"), events, arrays.get("inputs"))
        return Solution(t, parts, *given, failure=failure, stopped=stopped)

    def motions(
        self, model: Model, state: State, control: Control | None, external: Any, driven: Inputs | None, tau: Any
    ) -> list[Motion]:
        """The motion of every state; they share an equation unless each has wrenches of its own."""
        q, v = np.atleast_2d(state.q), np.atleast_2d(state.v)
        one = np.ndim(external) < 3
        equations = [self.equation(model, external)] * len(q) if one else [self.equation(model, x) for x in external]
        taus = [tau] * len(q) if np.ndim(tau) < 2 else list(tau)

        def force(mine: Any) -> Force:
            return lambda s: (mine if control is None else control(s.t, s), driven)

        return [Motion(State(a, b, state.t), e, force(f)) for a, b, e, f in zip(q, v, equations, taus, strict=True)]

    def _program(
        self, run: AdaptiveRun, motions: list[Motion], times: np.ndarray, tau: Any, external: Any, threads: int | None
    ) -> tuple[str | None, bool]:
        """All motions at once: why they did not get to the end, and whether somebody pressed Ctrl-C."""
        found = run(self.entered(run, motions, times), times, tau, external, threads)
        for k, m in enumerate(motions):
            m.records = [m.start, *(State(*x) for x in zip(found.q[k], found.v[k], times[1:], strict=False))]
            m.modes = None if found.modes is None else found.modes[k]
        return found.failure, found.stopped

    def entered(self, run: AdaptiveRun, motions: list[Motion], times: np.ndarray) -> dict[str, np.ndarray]:
        """What a program takes at the start of motions."""
        starts, lengths, slopes = zip(*(self.begun(m, times) for m in motions), strict=True)
        begin = State(np.array([s.q for s in starts]), np.array([s.v for s in starts]), times[0])
        rates = np.array([slope[run.model.nv :] for slope in slopes])
        return run.inputs(begin, times, np.array(lengths), rates)
