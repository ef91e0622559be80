"""Steppers that run step by step in Python, with a memory of their own from step to step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..constraints.rows import constraint_set
from ..errors import InputError, SolverError
from ..model import Model, State
from .constrained import accelerated
from .fixed import Control, shaped_force
from .inputs import DrivenModel
from .stepper import Solution, StepInfo, Stepper


@dataclass(frozen=True)
class SequentialStepper(Stepper):
    """Base of steppers of single states; `step` gets and returns its memory, which is None at the start.

    formulations   the methods of `simulate` that it steps
    """

    formulations: ClassVar[tuple[str, ...]] = ("redmax",)

    @property
    def methods(self) -> tuple[str, ...]:
        return self.formulations

    def compiles(self, model: Model, method: str) -> bool:
        return False

    def step(self, model: Model, state: State, memory: Any, h: float, tau: Any, external: Any) -> tuple[State, Any, StepInfo]:
        """The state after h, the memory of the next step, and the forces of the constraints."""
        raise TypeError(f"{type(self).__name__} must define step")

    def first_forces(self, model: Model, state: State, tau: Any, external: Any) -> np.ndarray:
        """The forces of the constraints at the start."""
        return accelerated(model, state, tau, external).multipliers

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
        driven: DrivenModel | None = None,
    ) -> Solution:
        """The motion from `state`, recorded at every `every`-th step; `driven` is the model under inputs of its forces."""
        if state.q.ndim > 1:
            raise InputError(f"the stepper {self.name!r} simulates one state at a time; pass a single state")
        start, memory, count = state.t, None, constraint_set(model).count
        records, applied, forces, told = [state], [], [], []
        for k in range(steps):
            if control is not None:
                tau = shaped_force(control(state.t, state), state.t, (model.nv,))
            model = driven.at(state.t, state) if driven else model
            if k % every == 0:
                applied.append(tau)
                told.append(driven and driven.u)
            if k == 0:
                forces.append(self.first_forces(model, state, tau, external) if count else np.zeros(0))
            state, memory, info = self.step(model, state, memory, h, tau, external)
            state = State(state.q, state.v, start + h * (k + 1))
            if not np.all(np.isfinite(state.v)):
                raise SolverError(f"{self.name}: the motion is not finite at t = {state.t:.9g}; try a shorter step")
            if (k + 1) % every == 0:
                records.append(state)
                forces.append(info.forces)
        applied.append(applied[-1])
        arrays = {name: np.array([getattr(s, name) for s in records]) for name in ("q", "v")}
        held = None if applied[0] is None else np.array(applied)
        inputs = np.array([*told, told[-1]]) if driven else None
        times = np.array([s.t for s in records])
        return Solution(times, arrays, held, np.array(forces) if count else None, inputs=inputs)
