"""The one time loop."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .constraints.rows import constraint_set
from .errors import InputError
from .kernel.plan import Plan
from .maximal.convert import to_maximal
from .model import MaximalState, Model, State, check_state
from .model.arrays import lanes_for
from .steppers import ALL_STEPPERS, Stepper
from .trajectory import Trajectory

METHODS = {"reduced": "symplectic_euler", "maximal": "symplectic_euler"}
Control = Callable[[float, State | MaximalState], Any]


def simulate(
    model: Model,
    state: State | MaximalState,
    duration: float,
    dt: float = 1e-3,
    method: str = "reduced",
    *,
    stepper: str | None = None,
    control: Control | None = None,
    tau: Any = None,
    external: Any = None,
    every: int = 1,
    threads: int | None = 1,
) -> Trajectory:
    """Simulate from a state and record every `every`-th step.

    state      State, or MaximalState for method="maximal" (a State is converted once, at the start); may hold a batch
    method     "reduced": O(n) recursions;  "maximal": bodies with Lagrange multipliers
    stepper    time discretisation, by name; each method has a default
    control    `control(t, state) -> tau`, called at the start of every step
    tau        constant joint forces (nv,) or (batch, nv)
    external   constant wrenches on the bodies, body axes, (bodies, 6)
    threads    for batches; None uses all cores. The result does not depend on it
    """
    steps = _steps(duration, dt)
    if not isinstance(every, int) or every < 1:
        raise InputError(f"every must be a positive integer, not {every!r}")
    run = _Run(model, _start(model, state, method), _stepper(method, stepper), method, dt, steps, every)
    run.tau, run.external = _force(model, tau, "tau", (model.nv,)), _force(model, external, "external", (model.nb, 6))
    run.threads = threads
    if control is not None and tau is not None:
        raise InputError("give either tau or control, not both")
    if constraint_set(model).count:
        return run.step_by_step(control)
    return run.compiled() if control is None else run.controlled(control)


def _steps(duration: float, dt: float) -> int:
    for name, x in (("duration", duration), ("dt", dt)):
        if not (np.isfinite(x) and x > 0):
            raise InputError(f"{name} must be positive and finite, not {x!r}")
    steps = round(duration / dt)
    if abs(steps * dt - duration) > 1e-6 * duration or steps < 1:
        raise InputError(f"duration {duration:g} is not a whole number of steps of {dt:g}")
    return steps


def _start(model: Model, state: Any, method: str) -> State | MaximalState:
    if method not in METHODS:
        raise InputError(f"there is no method {method!r}; choose one of {', '.join(METHODS)}")
    if isinstance(state, State):
        check_state(model, state)
        return state if method == "reduced" else to_maximal(model, state)
    if not isinstance(state, MaximalState):
        raise InputError(f"state must be a State or MaximalState, not {type(state).__name__}")
    if method == "reduced":
        raise InputError('a MaximalState needs method="maximal"; convert it with lw.to_reduced(model, state) first')
    if not all(np.all(np.isfinite(a)) for a in (state.poses, state.twists, state.q_fit)):
        raise InputError("the maximal state is not finite")
    return state


def _stepper(method: str, name: str | None) -> Stepper:
    name = name or METHODS[method]
    if name not in ALL_STEPPERS:
        raise InputError(f"there is no stepper {name!r}; choose one of {', '.join(ALL_STEPPERS)}")
    stepper = ALL_STEPPERS[name]()
    if method not in stepper.programs:
        raise InputError(
            f"the stepper {name!r} does not work with method {method!r}; it works with {', '.join(stepper.programs)}"
        )
    return stepper


def _force(model: Model, x: Any, name: str, tail: tuple[int, ...]) -> np.ndarray | None:
    if x is None:
        return None
    a = np.ascontiguousarray(x, dtype=float)
    if a.shape[a.ndim - len(tail) :] != tail or a.ndim > len(tail) + 1:
        raise InputError(f"{name} has shape {a.shape}; expected {tail} or (batch, {', '.join(map(str, tail))})")
    if not np.all(np.isfinite(a)):
        raise InputError(f"{name} is not finite")
    return a


class _Run:
    """One simulation: arrays of all records, filled by compiled programs or step by step."""

    def __init__(
        self, model: Model, state: State | MaximalState, stepper: Stepper, method: str, dt: float, steps: int, every: int
    ) -> None:
        self.model, self.stepper, self.method, self.dt, self.every = model, stepper, method, dt, every
        self.program = stepper.programs[method]
        self.records = steps // every
        self.t = state.t + dt * every * np.arange(self.records + 1)
        self.tau: np.ndarray | None = None
        self.external: np.ndarray | None = None
        self.threads: int | None = 1
        names = self.program.states
        first = getattr(state, names[0])
        self.batched = first.ndim > {"q": 1, "poses": 3}[names[0]]
        self.batch = len(first) if self.batched else 1
        self.tails = {name: getattr(state, name).shape[self.batched :] for name in names}
        self.arrays = {n: np.empty((self.batch, self.records + 1, int(np.prod(self.tails[n])))) for n in names}
        for name in names:
            self.arrays[name][:, 0] = getattr(state, name).reshape(self.batch, -1)

    def _plan(self, absent: tuple[str, ...]) -> Plan:
        lanes = lanes_for(self.batch, np.float64)
        return self.model.plan(self.program.algorithm, lanes, ("run",), absent)

    def _inputs(self, record: int, tau: np.ndarray | None) -> tuple[dict[str, np.ndarray], tuple[str, ...]]:
        def flat(x: np.ndarray, dims: int) -> np.ndarray:
            return x.reshape(-1) if x.ndim == dims else x.reshape(len(x), -1)

        inputs = {name: a[:, record] for name, a in self.arrays.items()}
        inputs |= {"gravity": self.model.gravity, "h": np.array([self.dt])}
        if tau is not None:
            inputs["tau"] = flat(tau, 1)
        if self.external is not None:
            inputs["external"] = flat(self.external, 2)
        absent = tuple(n for n in ("tau", "external") if n not in inputs)
        return inputs, absent

    def compiled(self) -> Trajectory:
        """All steps in one call into compiled code."""
        inputs, absent = self._inputs(0, self.tau)
        if self.records:
            outputs = {name: a[:, 1:] for name, a in self.arrays.items()}
            self._plan(absent).run(inputs, outputs, self.batch, self.records, self.every, self.threads or _cores())
        return self._trajectory(None if self.tau is None else self._constant_tau())

    def controlled(self, control: Control) -> Trajectory:
        """Python is entered at every step, to ask for the joint forces."""
        applied = np.zeros((self.batch, self.records + 1, self.model.nv))
        names = self.program.states
        now = {name: np.ascontiguousarray(a[:, 0]) for name, a in self.arrays.items()}
        for record in range(self.records):
            for k in range(self.every):
                t = self.t[record] + k * self.dt
                tau = self._asked(control, t, now)
                if k == 0:
                    applied[:, record] = tau
                inputs, absent = self._inputs(0, tau)
                inputs |= now
                following = {name: np.empty_like(now[name]) for name in names}
                self._plan(absent).run(inputs, following, self.batch, 1, 1, self.threads or _cores())
                now = following
            for name in names:
                self.arrays[name][:, record + 1] = now[name]
        return self._trajectory(applied)

    def step_by_step(self, control: Control | None) -> Trajectory:
        """Constrained models: the constraint problem is posed in Python at every step."""
        if self.batched:
            raise InputError("models with constraints are simulated one state at a time; pass a single state")
        applied = np.zeros((1, self.records + 1, self.model.nv)) if control or self.tau is not None else None
        forces = np.zeros((self.records + 1, constraint_set(self.model).count))
        now = {name: a[:, 0] for name, a in self.arrays.items()}
        for record in range(self.records):
            for k in range(self.every):
                t = self.t[record] + k * self.dt
                tau = self._asked(control, t, now)[0] if control else self.tau
                state, info = self.stepper.constrained_step(self.model, self._state(t, now), self.dt, tau, self.external)
                now = {name: getattr(state, name).reshape(1, -1) for name in now}
                if applied is not None and k == 0:
                    applied[0, record] = tau
            forces[record + 1] = info.forces
            for name in now:
                self.arrays[name][:, record + 1] = now[name]
        return self._trajectory(applied, forces)

    def _asked(self, control: Control, t: float, now: dict[str, np.ndarray]) -> np.ndarray:
        tau = np.asarray(control(t, self._state(t, now)), dtype=float)
        shape = (self.batch, self.model.nv) if self.batched else (self.model.nv,)
        if tau.shape not in (shape, (self.model.nv,)):
            raise InputError(f"control returned shape {tau.shape} at t = {t:g}; expected {shape}")
        if not np.all(np.isfinite(tau)):
            raise InputError(f"control returned a value that is not finite at t = {t:g}")
        return np.ascontiguousarray(np.broadcast_to(tau, (self.batch, self.model.nv)))

    def _state(self, t: float, now: dict[str, np.ndarray]) -> State | MaximalState:
        lead = (self.batch,) if self.batched else ()
        parts = {name: a.reshape(lead + self.tails[name]) for name, a in now.items()}
        return State(t=t, **parts) if self.method == "reduced" else MaximalState(t=t, **parts)

    def _constant_tau(self) -> np.ndarray:
        assert self.tau is not None
        tau = np.broadcast_to(self.tau.reshape(-1, self.model.nv), (self.batch, self.model.nv))
        return np.repeat(tau[:, None], self.records + 1, axis=1)

    def _trajectory(self, tau: np.ndarray | None, forces: np.ndarray | None = None) -> Trajectory:
        lead = (self.batch,) if self.batched else ()
        arrays = {name: a.reshape(*lead, self.records + 1, *self.tails[name]) for name, a in self.arrays.items()}
        tau = tau if tau is None or self.batched else tau[0]
        kind = "reduced" if self.method == "reduced" else "maximal"
        return Trajectory(self.model, self.t, kind, arrays, tau, forces, driven=self.external is not None)


def _cores() -> int:
    import os

    return os.cpu_count() or 1
