"""A model that is stepped from Python, one step at a time: for loops of one's own, handles that follow a hand, games."""

from __future__ import annotations

from typing import Any

import numpy as np

from .elements.collection import collection
from .errors import InputError
from .forces.set import force_set
from .model import MaximalState, Model, State
from .simulate import checked_force, checked_start, chosen_stepper
from .steppers import AdaptiveStepper, SequentialStepper
from .steppers.stepping import Stepping


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
        self.model = model
        self._driven = self._stepper.driven(model, lambda t, s: force_set(model).initial_inputs)
        self._program = self._stepper.program(method, model) if self._stepper.compiles(model, method) else None
        self._names = ("q", "v") if isinstance(self._first, State) else ("poses", "twists", "q_fit")
        self._tails = {name: getattr(self._first, name).shape for name in self._names}
        if self._program is None and np.ndim(getattr(self._first, self._names[-1])) > 1:
            raise InputError(f"the stepper {self._stepper.name!r} steps one state of this model; use simulate for a batch")
        self.reset()

    def reset(self, state: State | MaximalState | None = None) -> None:
        """Back to the start, or to another state of as many; nothing is remembered."""
        first = self._first if state is None else checked_start(self.model, state, self.method)
        shapes = {name: getattr(first, name).shape for name in self._names}
        if shapes != self._tails:
            raise InputError(f"this Simulator has states of shape {self._tails}, not {shapes}")
        self._state: State | MaximalState | None = first
        self._first_t = self._t = first.t
        self._steps, self._memory, self._stepping = 0, None, None
        if self._program is not None:
            batch = int(np.prod(shapes["q"][:-1])) if "q" in shapes else int(np.prod(shapes["twists"][:-2]))
            parts = {name: np.array(getattr(first, name), order="C").reshape(batch, -1) for name in self._names}
            kept = self._program.entered(self.model, parts, first.t)
            self._stepping = Stepping(self.model, self._program, kept, self.dt)
        self._driven.tell(force_set(self.model).initial_inputs)

    @property
    def state(self) -> State | MaximalState:
        """Where the model is."""
        if self._state is None:
            assert self._stepping is not None
            assert self._program is not None
            parts = self._program.left(self.model, self._stepping.now)
            shaped: Any = {name: parts[name].reshape(self._tails[name]).copy() for name in self._names}
            self._state = type(self._first)(t=self._t, **shaped)
        return self._state

    def step(self, steps: int = 1, tau: Any = None, external: Any = None, inputs: Any = None) -> State | MaximalState:
        """The state after some steps under constant joint forces (nv,), wrenches (bodies, 6) and inputs of forces.

        inputs   in the order of `lw.force_set(model)`; once given they stay
        """
        if tau is not None or external is not None or inputs is not None:
            tau, external = self._checked(tau, external, inputs)
        if self._stepping is not None:
            self._go(self._stepping, steps, tau, external)
            self._steps += steps
            self._t, self._state = self._first_t + self._steps * self.dt, None
            return self.state
        for _ in range(steps):
            one = self._stepper.step if isinstance(self._stepper, SequentialStepper) else self._stepper.remembering_step
            model = self._driven.model
            self._state, self._memory, _ = one(model, self.state, self._memory, self.dt, tau, external)  # pyright: ignore
        return self.state

    def _go(self, stepping: Stepping, steps: int, tau: Any, external: Any) -> None:
        laws = collection(self.model)
        if not laws.told_count:
            return stepping.go(steps, tau, external)
        for k in range(steps):
            stepping.tell_rows(self._t + k * self.dt)
            stepping.go(1, tau, external)

    def _checked(self, tau: Any, external: Any, inputs: Any) -> tuple[np.ndarray | None, np.ndarray | None]:
        lead = self._tails["v"][:-1] if "v" in self._tails else self._tails["twists"][:-2]
        tau = checked_force(tau, "tau", (self.model.nv,), lead)
        external = checked_force(external, "external", (self.model.nb, 6), lead)
        u = checked_force(inputs, "inputs", (len(force_set(self.model).initial_inputs),), lead)
        if u is not None:
            self._driven.tell(u)
            if self._stepping is not None:
                self._stepping.tell(u)
        return tau, external
