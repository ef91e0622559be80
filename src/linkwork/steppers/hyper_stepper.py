"""Runs of hyper-reduced coordinates, step by step in Python: one state at a time, with a memory from step to step."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..constraints.rows import constraint_set
from ..constraints.solve import accelerations
from ..errors import InputError, SolverError
from ..model import Model, State
from ..redmax.hyper_reduced import HyperReduced
from .fixed import Control, shaped_force
from .stepper import Solution, Stepper


@dataclass(frozen=True, eq=False)
class Reached:
    """Where a step of r leads, and the forces of the constraints on the way."""

    state: State
    forces: np.ndarray


@dataclass(frozen=True)
class HyperStepper(Stepper):
    """Base of methods that step r from `start`; what they record are states of the model."""

    hyper: HyperReduced
    start: State

    @property
    def methods(self) -> tuple[str, ...]:
        return ("redmax",)

    def taken(self, now: State, before: State | None, h: float, tau: Any, external: Any) -> Reached:
        """Where a step of r leads; `before` is the state one step earlier, if there is one."""
        raise TypeError(f"{type(self).__name__} must define taken")

    def first_forces(self, tau: Any, external: Any) -> np.ndarray:
        """The forces of the constraints at the start."""
        system = self.hyper.dynamics(self.start, tau, external)
        return accelerations(system.response(), system.constraints).multipliers

    def solve(
        self,
        model: Model,
        state: State,
        h: float,
        steps: int,
        every: int,
        control: Control | None,
        tau: Any,
        external: Any,
    ) -> Solution:
        """The motion from `start`, which is `state` of the model, recorded at every `every`-th step."""
        if state.q.ndim > 1:
            raise InputError(f"the stepper {self.name!r} simulates one state at a time; pass a single state")
        r, before, count = self.start, None, constraint_set(model).count
        records, applied, forces = [state], [], []
        for k in range(steps):
            if control is not None:
                tau = shaped_force(control(state.t, state), state.t, (model.nv,))
            if k % every == 0:
                applied.append(tau)
            if k == 0:
                forces.append(self.first_forces(tau, external) if count else np.zeros(0))
            end = self.taken(replace(r, t=state.t), before, h, tau, external)
            before, r = r, end.state
            state = replace(self.hyper.full(r), t=self.start.t + h * (k + 1))
            if not np.all(np.isfinite(state.v)):
                raise SolverError(f"{self.name}: the motion is not finite at t = {state.t:.9g}; try a shorter step")
            if (k + 1) % every == 0:
                records.append(state)
                forces.append(end.forces)
        applied.append(applied[-1])
        arrays = {name: np.array([getattr(s, name) for s in records]) for name in ("q", "v")}
        held = None if applied[0] is None else np.array(applied)
        times = np.array([s.t for s in records])
        return Solution(times, arrays, held, np.array(forces) if count else None)
