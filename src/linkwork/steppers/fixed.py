"""Runs of a stepper with fixed steps: all steps in one call into compiled code, or one by one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..constraints.rows import constraint_set
from ..errors import InputError
from ..kernel.plan import Plan
from ..model import MaximalState, Model, State
from ..model.arrays import lanes_for, thread_count
from .constrained import accelerated
from .inputs import DrivenModel
from .stepper import Program, Solution, Stepper

Control = Callable[[float, State | MaximalState], Any]


class FixedRun:
    """One simulation: arrays of all records, filled by compiled programs or step by step."""

    def __init__(
        self, model: Model, state: State | MaximalState, stepper: Stepper, method: str, dt: float, steps: int, every: int
    ) -> None:
        self.model, self.stepper, self.kind, self.dt, self.every = model, stepper, type(state), dt, every
        self.program = stepper.program(method, model) if stepper.compiles(model) else None
        self._given = self.program.given(model, dt) if self.program else {}
        self.records = steps // every
        self.t = state.t + dt * every * np.arange(self.records + 1)
        self.tau: np.ndarray | None = None
        self.external: np.ndarray | None = None
        self.driven: DrivenModel | None = None
        self.threads: int | None = 1
        names = ("q", "v") if isinstance(state, State) else ("poses", "twists", "q_fit")
        first = getattr(state, names[0])
        self.batched = first.ndim > {"q": 1, "poses": 3}[names[0]]
        self.batch = len(first) if self.batched else 1
        self.tails = {name: getattr(state, name).shape[self.batched :] for name in names}
        parts = {name: np.ascontiguousarray(getattr(state, name).reshape(self.batch, -1)) for name in names}
        kept = self.program.entered(model, parts, state.t) if self.program else parts
        self.arrays = {n: np.empty((self.batch, self.records + 1, a.shape[1])) for n, a in kept.items()}
        for name, a in kept.items():
            self.arrays[name][:, 0] = a

    def solve(self, control: Control | None) -> Solution:
        """Run all steps in the fastest way that the model and the control allow."""
        if self.program is None:
            return self.step_by_step(control)
        steady = control is None and self.driven is None
        return self.compiled(self.program) if steady else self.controlled(self.program, control)

    def _plan(self, program: Program, absent: tuple[str, ...]) -> Plan:
        return program.plan(self.model, lanes_for(self.batch, np.float64), absent)

    def _inputs(self, record: int, tau: np.ndarray | None) -> tuple[dict[str, np.ndarray], tuple[str, ...]]:
        def flat(x: np.ndarray, dims: int) -> np.ndarray:
            return x.reshape(-1) if x.ndim == dims else x.reshape(len(x), -1)

        inputs = {name: a[:, record] for name, a in self.arrays.items()}
        inputs |= self._given
        if tau is not None:
            inputs["tau"] = flat(tau, 1)
        if self.external is not None:
            inputs["external"] = flat(self.external, 2)
        absent = tuple(n for n in ("tau", "external") if n not in inputs)
        return inputs, absent

    def compiled(self, program: Program) -> Solution:
        """All steps in one call into compiled code."""
        inputs, absent = self._inputs(0, self.tau)
        outputs = {name: a[:, 1:] for name, a in self.arrays.items()}
        self._plan(program, absent).run(inputs, outputs, self.batch, self.records, self.every * program.passes, self._cores)
        return self._solution(None if self.tau is None else self._constant_tau())

    def controlled(self, program: Program, control: Control | None) -> Solution:
        """Python is entered at every step, to ask for the joint forces and the inputs of forces."""
        applied, told = np.zeros((self.batch, self.records + 1, self.model.nv)), []
        names = program.states
        now = {name: np.ascontiguousarray(a[:, 0]) for name, a in self.arrays.items()}
        for record in range(self.records):
            for k in range(self.every):
                t = self.t[record] + k * self.dt
                tau = self._asked(control, t, self._parts(now)) if control else self.tau
                if self.driven:
                    model = self.driven.at(t, self._state(t, self._parts(now)))
                    self._given = program.given(model, self.dt)
                if k == 0:
                    applied[:, record] = 0.0 if tau is None else tau
                    told.append(self.driven and self.driven.u)
                inputs, absent = self._inputs(0, tau)
                inputs |= now
                following = {name: np.empty_like(now[name]) for name in names}
                self._plan(program, absent).run(inputs, following, self.batch, 1, program.passes, self._cores)
                now = following
            for name in names:
                self.arrays[name][:, record + 1] = now[name]
        return self._solution(None if control is None and self.tau is None else applied, None, told)

    def step_by_step(self, control: Control | None) -> Solution:
        """Models with forces or constraints: their problem is posed in Python at every step."""
        if self.batched:
            raise InputError("models with forces or constraints are simulated one state at a time; pass a single state")
        applied = np.zeros((1, self.records + 1, self.model.nv)) if control or self.tau is not None else None
        forces = np.zeros((self.records + 1, constraint_set(self.model).count))
        now, memory, told = {name: a[:, 0] for name, a in self.arrays.items()}, None, []
        for record in range(self.records):
            for k in range(self.every):
                t = self.t[record] + k * self.dt
                tau = self._asked(control, t, now)[0] if control else self.tau
                state = self._state(t, now)
                model = self.driven.at(t, state) if self.driven else self.model
                if record == k == 0 and forces.size:
                    forces[0] = accelerated(model, state, tau, self.external).multipliers
                state, memory, info = self.stepper.remembering_step(model, state, memory, self.dt, tau, self.external)
                now = {name: getattr(state, name).reshape(1, -1) for name in now}
                if applied is not None and k == 0:
                    applied[0, record] = tau
                if k == 0:
                    told.append(self.driven and self.driven.u)
                forces[record + 1] = info.forces
            for name in now:
                self.arrays[name][:, record + 1] = now[name]
        return self._solution(applied, forces, told)

    def _asked(self, control: Control, t: float, now: dict[str, np.ndarray]) -> np.ndarray:
        shape = (self.batch, self.model.nv) if self.batched else (self.model.nv,)
        tau = shaped_force(control(t, self._state(t, now)), t, shape, (self.model.nv,))
        if not np.all(np.isfinite(tau)):
            raise InputError(f"control returned a value that is not finite at t = {t:g}")
        return np.ascontiguousarray(np.broadcast_to(tau, (self.batch, self.model.nv)))

    def _parts(self, now: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        """The parts of a state that the program keeps in its own way."""
        return self.program.left(self.model, now) if self.program else now

    def _state(self, t: float, now: dict[str, np.ndarray]) -> State | MaximalState:
        lead = (self.batch,) if self.batched else ()
        return self.kind(t=t, **{name: a.reshape(lead + self.tails[name]) for name, a in now.items()})

    def _constant_tau(self) -> np.ndarray:
        assert self.tau is not None
        tau = np.broadcast_to(self.tau.reshape(-1, self.model.nv), (self.batch, self.model.nv))
        return np.repeat(tau[:, None], self.records + 1, axis=1)

    def _solution(self, tau: np.ndarray | None, forces: np.ndarray | None = None, told: Sequence[Any] = ()) -> Solution:
        lead = (self.batch,) if self.batched else ()
        parts = self._parts(self.arrays)
        arrays = {name: a.reshape(*lead, self.records + 1, *self.tails[name]) for name, a in parts.items()}
        inputs = np.array([*told, told[-1]]) if self.driven else None
        return Solution(self.t, arrays, tau if tau is None or self.batched else tau[0], forces, inputs=inputs)

    @property
    def _cores(self) -> int:
        return thread_count(self.threads)


def shaped_force(tau: Any, t: float, *shapes: tuple[int, ...]) -> np.ndarray:
    """What a control returned, as an array of one of the shapes."""
    tau = np.asarray(tau, dtype=float)
    if tau.shape not in shapes:
        raise InputError(f"control returned shape {tau.shape} at t = {t:g}; expected {shapes[0]}")
    return tau
