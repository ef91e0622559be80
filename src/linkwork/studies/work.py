"""The work of a study: all that says what its runs are, and how some of them are made and measured."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any

import numpy as np

from ..errors import InputError, SolverError
from ..model import Model, State
from ..model.state import is_finite
from ..simulate import checked_start, chosen_stepper, simulate
from ..step_derivatives import acting_model
from ..steppers.admissible import admissible
from ..steppers.varied import packs, varied_runs
from ..trajectory import Trajectory
from .columns import Column, column, states
from .design import Design
from .packs import Pack, Packer

CHUNK = 1024  # runs that are made together, at most
AT_ONCE = 64_000_000  # bytes of records of a chunk, about
FAILURE = "failure"

Rows = dict[str, np.ndarray]


@dataclass(frozen=True, eq=False)
class Runs:
    """Some runs of a study, as a measure `together` sees them.

    model     the model that the study was given; what differs from run to run is in the columns
    columns   of the design, (runs,) or (runs, size)
    t         times (T,)
    q, v, tau (runs, T, size); tau is None without a control

    >>> found = lw.study(model, lw.Design({"lower.mass": [0.5, 1.0]}), lambda run: {"last": run.q[:, 0].max()}, duration=0.1)
    """

    model: Model
    columns: Rows
    t: np.ndarray
    q: np.ndarray
    v: np.ndarray
    tau: np.ndarray | None

    def __len__(self) -> int:
        return len(self.q)


@dataclass(frozen=True, eq=False)
class Work:
    """All that says what the runs of a study are: travels to other processes.

    model, design, measure, state, control, together   as `study` has them
    duration, dt, method, stepper, every, options       as `simulate` has them
    """

    model: Model
    design: Design
    measure: Callable[..., Any] | None
    state: State | Callable[[Rows], State] | None
    control: Callable[[Rows], Callable[[float, State], Any]] | None
    together: bool
    duration: float
    dt: float
    method: str
    stepper: str | None
    every: int
    threads: int | None
    options: dict[str, Any] = field(default_factory=dict)

    def __getstate__(self) -> dict[str, Any]:
        """What was given; all else is found again where it arrives."""
        return {f.name: getattr(self, f.name) for f in fields(self)}

    def __setstate__(self, given: dict[str, Any]) -> None:
        self.__dict__.update(given)

    @cached_property
    def columns(self) -> list[Column]:
        """What the columns of the design mean."""
        asks = any(callable(f) for f in (self.state, self.control, self.measure))
        return [column(self.model, name, asks) for name in self.design.columns]

    @property
    def steps(self) -> int:
        return round(self.duration / self.dt)

    @cached_property
    def _packed(self) -> bool:
        if self.method != "reduced":
            return False
        acting = self._acting(self.model)
        return packs(acting, chosen_stepper(acting, self.method, self.stepper, self._stepper_options), self.method)

    @cached_property
    def _stepper_options(self) -> dict[str, Any]:
        return {name: x for name, x in self.options.items() if name not in ("limit_model", "contact", "open_loops")}

    def _acting(self, model: Model) -> Model:
        own = self.options
        return acting_model(
            model, self.dt, self.stepper, own.get("limit_model", "hard"), own.get("contact", "exact"), self._stepper_options
        )

    @cached_property
    def _packer(self) -> Packer:
        return Packer(self.model, self.columns, self._acting, self.design.columns)

    def check(self) -> None:
        """Refuse at once what would fail in every run: names, numbers, states, options; the first run makes a step."""
        first = self.design.rows(slice(0, 1))
        begin, own = self.start(first), self._packer.model_of(first, 0)
        one = State(begin.q[0], begin.v[0], begin.t)
        simulate(own, one, self.dt, self.dt, self.method, stepper=self.stepper, **self.options)
        if self.together and self.measure is None:
            raise InputError("together=True needs a measure: a function of Runs")
        if self.together and not self._packed:
            raise InputError(
                f"together=True needs runs that go side by side; with method {self.method!r} and this stepper they do not"
            )

    def start(self, rows: Rows) -> State:
        """The initial states of some runs."""
        model = self.model
        if callable(self.state):
            first = self.state(rows)
            if not isinstance(first, State):
                raise InputError(f"state(columns) must return a State of all runs, not {type(first).__name__}")
        else:
            first = State(model.neutral(), np.zeros(model.nv)) if self.state is None else self.state
        return states(model, self.columns, rows, first)

    # --- a chunk -------------------------------------------------------------------------------------------------------------
    def chunk_size(self, chunk: int | None) -> int:
        """How many runs are made together."""
        if chunk is not None:
            return chunk
        records = self.steps // self.every + 1
        return int(np.clip(AT_ONCE // (8 * records * (self.model.nq + self.model.nv)), 1, CHUNK))

    def chunk(self, which: np.ndarray) -> dict[str, np.ndarray]:
        """What is measured of some runs, by name, with what went wrong in the column of failures."""
        rows = self.design.rows(which)
        begin = self.start(rows)
        if self._packed:
            checked = checked_start(self.model, begin, self.method)
            assert isinstance(checked, State)
            parts = [(pack.which, self._pack(pack, rows, checked)) for pack in self._packer.packs(rows, len(which))]
        else:
            parts = [(np.array([i]), self._single(rows, begin, i)) for i in range(len(which))]
        return _merged(parts, len(which))

    def _pack(self, pack: Pack, rows: Rows, begin: State) -> dict[str, np.ndarray]:
        own = {name: x[pack.which] for name, x in rows.items()}
        stepper = chosen_stepper(pack.model, self.method, self.stepper, self._stepper_options)
        runs = varied_runs(pack.model, stepper, pack.names)
        start = State(begin.q[pack.which], begin.v[pack.which], begin.t)
        if stepper.on_accelerations:
            start = self._admissible(pack, rows, start)
        records = self.steps // self.every
        if self.control is None:
            found = runs.run(start, pack.varied, self.dt, records, self.every, self.threads)
        else:
            found = runs.controlled(start, pack.varied, self.dt, records, self.every, self.control(own))
        good = np.array([is_finite(x) for x in np.concatenate([found.v[:, -1], found.q[:, -1]], axis=-1)])
        failures = np.where(good, "", "the motion is not finite; try a shorter step, or another stepper").astype(object)
        if self.together:
            assert self.measure is not None
            measured = self._shaped_together(self.measure(Runs(self.model, own, found.t, found.q, found.v, found.tau)), len(good))
            return measured | {FAILURE: failures}
        one = []
        for k, i in enumerate(pack.which):
            if not good[k]:
                one.append({})
                continue
            if self.measure is None:
                one.append({"q": found.q[k, -1], "v": found.v[k, -1]})
                continue
            model = self._acting(self._packer.model_of(rows, int(i))) if pack.varied else pack.model
            tau = None if found.tau is None else found.tau[k]
            one.append(self._measured(Trajectory(model, found.t, "reduced", {"q": found.q[k], "v": found.v[k]}, tau), own, k))
        return _columns(one) | {FAILURE: failures}

    def _admissible(self, pack: Pack, rows: Rows, start: State) -> State:
        """The starts of a pack, with velocities that the constraints of each run allow."""
        found, broke = admissible(pack.model, start)
        if pack.varied and (broke or "constraint" in pack.names):
            models = (self._acting(self._packer.model_of(rows, int(i))) for i in pack.which)
            ones: Any = [admissible(m, State(start.q[k], start.v[k], start.t))[0] for k, m in enumerate(models)]
            return State(start.q, np.array([one.v for one in ones]), start.t)
        assert isinstance(found, State)
        return found

    def _single(self, rows: Rows, begin: State, i: int) -> dict[str, np.ndarray]:
        """One run by itself."""
        state, own = State(begin.q[i], begin.v[i], begin.t), {name: x[i : i + 1] for name, x in rows.items()}
        control = None if self.control is None else _of_one(self.control(own), self.model.nv)
        try:
            run = simulate(
                self._packer.model_of(rows, i),
                state,
                self.duration,
                self.dt,
                self.method,
                stepper=self.stepper,
                control=control,
                every=self.every,
                **self.options,
            )
        except SolverError as error:
            return {FAILURE: np.array([str(error)], object)}
        if self.measure is None:
            return _columns([{"q": run.q[-1], "v": run.v[-1]}]) | {FAILURE: np.array([""], object)}
        return _columns([self._measured(run, own, 0)]) | {FAILURE: np.array([""], object)}

    def _measured(self, run: Trajectory, rows: Rows, k: int) -> dict[str, Any]:
        assert self.measure is not None
        found = self.measure(run, {name: x[k] for name, x in rows.items()}) if self._takes_row else self.measure(run)
        return dict(found) if isinstance(found, Mapping) else {"measure": found}

    @cached_property
    def _takes_row(self) -> bool:
        """Whether the measure wants the row of the design beside the run."""
        try:
            parameters = inspect.signature(self.measure).parameters.values()  # pyright: ignore[reportArgumentType]
        except (TypeError, ValueError):
            return False
        needed = [p for p in parameters if p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
        return len(needed) > 1

    @staticmethod
    def _shaped_together(found: Any, count: int) -> dict[str, np.ndarray]:
        found = dict(found) if isinstance(found, Mapping) else {"measure": found}
        out = {name: np.asarray(x, float) for name, x in found.items()}
        for name, x in out.items():
            if x.shape[:1] != (count,):
                raise InputError(
                    f"the measure of {count} runs returned {name} of shape {x.shape}; it needs a value for each: ({count}, ...)"
                )
        return out


def _of_one(control: Callable[[float, State], Any], nv: int) -> Callable[[float, Any], np.ndarray]:
    """A control of a batch, asked for one state."""

    def asked(t: float, state: Any) -> np.ndarray:
        return np.broadcast_to(np.asarray(control(t, State(state.q[None], state.v[None], t)), float), (1, nv))[0]

    return asked


def _columns(found: Sequence[Mapping[str, Any]]) -> dict[str, np.ndarray]:
    """Measures of single runs as columns; those of runs that failed are no numbers."""
    shapes: dict[str, tuple[int, ...]] = {}
    for own in found:
        for name, x in own.items():
            try:
                shape = np.shape(np.asarray(x, float))
            except (TypeError, ValueError):
                raise InputError(f"the measure {name!r} of a run must be a number or an array of numbers, not {x!r}") from None
            if shapes.setdefault(name, shape) != shape:
                raise InputError(
                    f"the measure {name!r} has shape {shape} in one run and {shapes[name]} in another; give all runs the same"
                )
    out = {name: np.full((len(found), *shape), np.nan) for name, shape in shapes.items()}
    for k, own in enumerate(found):
        for name, x in own.items():
            out[name][k] = x
    return out


def _merged(parts: Sequence[tuple[np.ndarray, dict[str, np.ndarray]]], count: int) -> dict[str, np.ndarray]:
    """What was found of parts of a chunk, in the order of its runs."""
    tails: dict[str, tuple[int, ...]] = {}
    for _, found in parts:
        for name, x in found.items():
            if tails.setdefault(name, x.shape[1:]) != x.shape[1:]:
                raise InputError(f"the measure {name!r} has shape {x.shape[1:]} in one run and {tails[name]} in another")
    out = {
        name: np.full((count, *tail), "" if name == FAILURE else np.nan, object if name == FAILURE else float)
        for name, tail in tails.items()
    }
    for which, found in parts:
        for name, x in found.items():
            out[name][which] = x
    return out
