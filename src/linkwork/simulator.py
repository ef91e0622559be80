"""A model that is stepped from Python, one step at a time: for loops of one's own, handles that follow a hand, games."""

from __future__ import annotations

from typing import Any

import numpy as np

from .errors import InputError
from .forces.set import force_set
from .model import MaximalState, Model, State
from .model.arrays import SCALAR64
from .simulate import checked_force, checked_start, chosen_stepper
from .steppers import AdaptiveStepper, Program, SequentialStepper


class Simulator:
    """Where a model is, and how it goes on; what a stepper hands from step to step is kept.

    >>> sim = Simulator(model, dt=1e-3, method="maximal-implicit")
    >>> sim.step(tau=...)

    model, dt, method, stepper, options   as in `simulate`; steppers that choose their own steps are refused
    state   to begin with, and to return to; the neutral position at rest by default
    """

    def __init__(
        self,
        model: Model,
        state: State | MaximalState | None = None,
        dt: float = 1e-3,
        method: str = "reduced",
        *,
        stepper: str | None = None,
        **options: Any,
    ) -> None:
        if not (np.isfinite(dt) and dt > 0):
            raise InputError(f"dt must be positive and finite, not {dt!r}")
        self.dt, self.method = dt, method
        start = State(model.neutral(), np.zeros(model.nv)) if state is None else state
        self._first = checked_start(model, start, method)
        self._stepper = chosen_stepper(model, method, stepper, options)
        if isinstance(self._stepper, AdaptiveStepper):
            raise InputError(
                f"the stepper {self._stepper.name!r} chooses its own steps; use simulate, or a stepper with fixed steps"
            )
        if np.ndim(self._first.v if isinstance(self._first, State) else self._first.q_fit) > 1:
            raise InputError("a Simulator steps one state; use simulate for a batch")
        self._driven = self._stepper.driven(model, lambda t, s: force_set(model).initial_inputs)
        self.model = self._driven.model
        compiled = not isinstance(self._stepper, SequentialStepper) and self._stepper.compiles(model)
        self._program = self._stepper.program(method, model) if compiled else None
        self.reset()

    def reset(self, state: State | MaximalState | None = None) -> None:
        """Back to the start, or to another state; nothing is remembered."""
        self.state = self._first if state is None else checked_start(self.model, state, self.method)
        self._memory: Any = None if self._program is None else self._program.entered(self.model, self._parts(), self.state.t)

    def _parts(self) -> dict[str, np.ndarray]:
        names = ("q", "v") if isinstance(self.state, State) else ("poses", "twists", "q_fit")
        return {name: np.ascontiguousarray(getattr(self.state, name)).reshape(1, -1) for name in names}

    def step(self, steps: int = 1, tau: Any = None, external: Any = None, inputs: Any = None) -> State | MaximalState:
        """The state after some steps under constant joint forces (nv,), wrenches (bodies, 6) and inputs of forces.

        inputs   in the order of `lw.force_set(model)`; once given they stay
        """
        tau = checked_force(tau, "tau", (self.model.nv,), ())
        external = checked_force(external, "external", (self.model.nb, 6), ())
        if inputs is not None:
            u = checked_force(inputs, "inputs", (len(force_set(self.model).initial_inputs),), ())
            assert u is not None
            self._driven.tell(u)
        if self._program is not None:
            self._run(self._program, steps, tau, external)
            return self.state
        for _ in range(steps):
            one = self._stepper.step if isinstance(self._stepper, SequentialStepper) else self._stepper.remembering_step
            self.state, self._memory, _ = one(self.model, self.state, self._memory, self.dt, tau, external)  # pyright: ignore
        return self.state

    def _run(self, program: Program, steps: int, tau: np.ndarray | None, external: np.ndarray | None) -> None:
        """All steps in one call into compiled code."""
        forces = {"tau": tau, "external": external}
        inputs = self._memory | program.given(self.model, self.dt)
        inputs |= {name: x.reshape(-1) for name, x in forces.items() if x is not None}
        plan = program.plan(self.model, SCALAR64, tuple(name for name, x in forces.items() if x is None))
        after = {name: np.empty_like(x) for name, x in self._memory.items()}
        plan.run(inputs, after, 1, 1, steps * program.passes)
        self._memory = after
        parts = program.left(self.model, after)
        shaped = {name: parts[name].reshape(np.shape(getattr(self.state, name))) for name in self._parts()}
        self.state = type(self.state)(t=self.state.t + steps * self.dt, **shaped)
