"""Runs of a stepper with fixed steps: all steps in one call into compiled code, or one by one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..constraints.rows import constraint_set
from ..elements.collection import collection
from ..errors import InputError
from ..maximal.convert import to_reduced
from ..model import MaximalState, Model, State
from ..model.arrays import lanes_for, thread_count
from ..reduced.loaded import constrained_dynamics
from .constrained import accelerated
from .inputs import DrivenModel
from .stepper import Program, Solution, Stepper
from .stepping import Stepping

Control = Callable[[float, State | MaximalState], Any]
Parts = dict[str, np.ndarray]


class FixedRun:
    """One simulation: arrays of all records, filled by compiled programs or step by step."""

    def __init__(
        self, model: Model, state: State | MaximalState, stepper: Stepper, method: str, dt: float, steps: int, every: int
    ) -> None:
        self.model, self.stepper, self.kind, self.dt, self.every = model, stepper, type(state), dt, every
        self.program = stepper.program(method, model) if stepper.compiles(model, method) else None
        self.start, self.records = state, steps // every
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
        self.parts = {name: np.ascontiguousarray(getattr(state, name).reshape(self.batch, -1)) for name in names}

    def solve(self, control: Control | None) -> Solution:
        """Run all steps in the fastest way that the model and the control allow."""
        if self.program is None:
            return self.step_by_step(control)
        steady = control is None and self.driven is None and not collection(self.model).told_count
        return self.compiled(self.program) if steady else self.controlled(self.program, control)

    def _recorded(self, first: Parts) -> Parts:
        """Arrays for all records, with the first ones in place."""
        arrays = {name: np.empty((self.batch, self.records + 1, a.shape[1])) for name, a in first.items()}
        for name, a in first.items():
            arrays[name][:, 0] = a
        return arrays

    def compiled(self, program: Program) -> Solution:
        """All steps in one call into compiled code."""
        kept = self._kept(program)
        given = {"tau": self.tau, "external": self.external}
        inputs = kept | program.given(self.model, self.dt)
        inputs |= {name: flat(x, self.batch, self.batched) for name, x in given.items() if x is not None}
        arrays = self._recorded({name: kept[name] for name in program.recorded})
        reports = {name: np.empty((self.batch, self.records + 1, n)) for name, n in program.report_sizes(self.model).items()}
        plan = program.plan(self.model, lanes_for(self.batch, np.float64), tuple(n for n, x in given.items() if x is None))
        outputs = {name: a[:, 1:] for name, a in (arrays | reports).items()}
        memory = {name: np.empty((self.batch, self.records, kept[name].shape[1])) for name in program.memory}
        passes = self.every * program.passes
        plan.run(inputs, outputs | memory, self.batch, self.records, passes, thread_count(self.threads))
        tau = None if self.tau is None else self._constant_tau()
        return self._solution(arrays, tau, self._forces(reports, self.tau), memory={n: a[:, -1] for n, a in memory.items()})

    def _kept(self, program: Program) -> Parts:
        """What the program keeps at the start."""
        kept = program.entered(self.model, self.parts, self.start.t)
        return program.resumed(kept, getattr(self.start, "memory", None))

    def controlled(self, program: Program, control: Control | None) -> Solution:
        """Python is entered at every step, to ask for the joint forces and the inputs of forces."""
        run = Stepping(self.model, program, self._kept(program), self.dt, self.threads)
        arrays = self._recorded({name: run.now[name] for name in program.recorded})
        reports = {name: np.empty((self.batch, self.records + 1, a.shape[1])) for name, a in run.reports.items()}
        applied = np.zeros((self.batch, self.records + 1, self.model.nv))
        told: list[np.ndarray] = []
        tau, constant = self.tau, control is None
        for record in range(self.records):
            for k in range(self.every):
                t = self.t[record] + k * self.dt
                state = self._state(t, program.left(self.model, run.now))
                if control is not None:
                    tau = self._asked(control, t, state)
                if self.driven:
                    run.tell(self.driven.asked(state))
                run.tell_rows(t)
                if k == 0:
                    applied[:, record] = 0.0 if tau is None else tau
                    if self.driven:
                        told.append(self.driven.last)
                run.go(1, tau, self.external)
            for name, a in arrays.items():
                a[:, record + 1] = run.now[name]
            for name, a in reports.items():
                a[:, record + 1] = run.reports[name]
        held = None if constant and self.tau is None else applied
        memory = {name: run.now[name] for name in program.memory}
        return self._solution(arrays, held, self._forces(reports, applied[:, 0]), told, memory)

    def _forces(self, reports: Parts, tau: np.ndarray | None) -> np.ndarray | None:
        """Forces of the rows, averaged over the steps before every record; the first are those at the start."""
        if "x" not in reports:
            return None
        forces = reports["x"] / self.dt
        start = self.start if isinstance(self.start, State) else to_reduced(self.model, self.start)
        u = None if self.driven is None else self.driven.last
        lone = tau if tau is None or self.batched else np.reshape(tau, -1)
        _, first = constrained_dynamics(self.model, start.q, start.v, lone, self.external, t=self.start.t, inputs=u)
        forces[:, 0] = first.reshape(self.batch, -1)
        return forces if self.batched else forces[0]

    def step_by_step(self, control: Control | None) -> Solution:
        """Models with forces or constraints: their problem is posed in Python at every step."""
        if self.batched:
            raise InputError("models with forces or constraints are simulated one state at a time; pass a single state")
        arrays = self._recorded(self.parts)
        applied = np.zeros((1, self.records + 1, self.model.nv)) if control or self.tau is not None else None
        forces = np.zeros((self.records + 1, constraint_set(self.model).count))
        now, memory, told = {name: a[:, 0] for name, a in arrays.items()}, None, []
        for record in range(self.records):
            for k in range(self.every):
                t = self.t[record] + k * self.dt
                state = self._state(t, now)
                tau = self._asked(control, t, state)[0] if control else self.tau
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
                arrays[name][:, record + 1] = now[name]
        return self._solution(arrays, applied, forces, told)

    def _asked(self, control: Control, t: float, state: State | MaximalState) -> np.ndarray:
        nv = self.model.nv
        tau = control(t, state)
        if type(tau) is not np.ndarray or tau.shape != (nv,) or self.batched:
            tau = shaped_force(tau, t, (self.batch, nv) if self.batched else (nv,), (nv,))
        if not np.isfinite(np.vdot(tau, tau)) and not np.all(np.isfinite(tau)):
            raise InputError(f"control returned a value that is not finite at t = {t:g}")
        return np.ascontiguousarray(np.broadcast_to(tau, (self.batch, nv)))

    def _state(self, t: float, now: Parts) -> State | MaximalState:
        lead = (self.batch,) if self.batched else ()
        parts: Any = {name: a.reshape(lead + self.tails[name]).copy() for name, a in now.items()}
        return self.kind(t=t, **parts)

    def _constant_tau(self) -> np.ndarray:
        assert self.tau is not None
        tau = np.broadcast_to(self.tau.reshape(-1, self.model.nv), (self.batch, self.model.nv))
        return np.repeat(tau[:, None], self.records + 1, axis=1)

    def _solution(
        self,
        arrays: Parts,
        tau: np.ndarray | None,
        forces: np.ndarray | None = None,
        told: Sequence[Any] = (),
        memory: Parts | None = None,
    ) -> Solution:
        lead = (self.batch,) if self.batched else ()
        parts = self.program.left(self.model, arrays) if self.program else arrays
        shaped = {name: a.reshape(*lead, self.records + 1, *self.tails[name]) for name, a in parts.items()}
        inputs = np.array([*told, told[-1]]) if self.driven else None
        held = tau if tau is None or self.batched else tau[0]
        return Solution(self.t, shaped, held, forces, inputs=inputs, memory=memory)


def flat(x: np.ndarray, batch: int, batched: bool) -> np.ndarray:
    """One value for all states (size,), or one for each (batch, size)."""
    return x.reshape(batch, -1) if batched and x.ndim > 1 and len(x) == batch and x.size % batch == 0 else x.reshape(-1)


def shaped_force(tau: Any, t: float, *shapes: tuple[int, ...]) -> np.ndarray:
    """What a control returned, as an array of one of the shapes."""
    tau = np.asarray(tau, dtype=float)
    if tau.shape not in shapes:
        raise InputError(f"control returned shape {tau.shape} at t = {t:g}; expected {shapes[0]}")
    return tau
