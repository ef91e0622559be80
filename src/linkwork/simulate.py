"""The one time loop."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np

from .constraints.rows import constraint_set
from .errors import InputError
from .maximal.convert import to_maximal
from .model import MaximalState, Model, State, check_state
from .steppers import ALL_STEPPERS, AdaptiveStepper, SequentialStepper, Solution, Stepper
from .steppers.fixed import Control, FixedRun, shaped_force
from .trajectory import Trajectory

METHODS = {"reduced": "symplectic_euler", "maximal": "symplectic_euler", "redmax": "linearly_implicit"}


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
    **options: Any,
) -> Trajectory:
    """Simulate from a state and record every `every`-th step.

    state      State, or MaximalState for method="maximal" (a State is converted once, at the start); may hold a batch
    method     "reduced": O(n) recursions;  "maximal": bodies with Lagrange multipliers;
               "redmax": the dense reduced system, with stiff forces taken implicitly
    stepper    time discretisation, by name; each method has a default:
               "symplectic_euler" (order 1, any model);  "rk4" (order 4, no contacts);
               "dop853" and "ode45" (order 8 and 5, their own steps: dt only says where to record; no contacts, single states);
               with method "redmax": "linearly_implicit" (order 1), "bdf1", "bdf2", "sdirk2" (no contacts), "ode45"; single states
    control    `control(t, state) -> tau`, called at the start of every step and held during it (dop853, ode45: at every stage)
    tau        constant joint forces (nv,) or (batch, nv)
    external   constant wrenches on the bodies, body axes, (bodies, 6)
    threads    for batches; None uses all cores. The result does not depend on it
    options    of the stepper; dop853: rtol, atol, max_step, events (see `DormandPrince853`); ode45: rtol, atol, max_step
    """
    steps = _steps(duration, dt)
    if not isinstance(every, int) or every < 1:
        raise InputError(f"every must be a positive integer, not {every!r}")
    if steps % every:
        raise InputError(f"every = {every} does not divide the {steps} steps; the last {steps % every} would not be recorded")
    start = _start(model, state, method)
    batch = start.v.shape[:-1] if isinstance(start, State) else start.twists.shape[:-2]
    chosen = _stepper(model, method, stepper, options)
    tau = _force(tau, "tau", (model.nv,), batch)
    external = _force(external, "external", (model.nb, 6), batch)
    if control is not None and tau is not None:
        raise InputError("give either tau or control, not both")
    if isinstance(chosen, AdaptiveStepper):
        assert isinstance(start, State)
        times = start.t + dt * every * np.arange(steps // every + 1)
        found, held = _adaptive(model, start, chosen, times, control, tau, external), control is None
    elif isinstance(chosen, SequentialStepper):
        assert isinstance(start, State)
        found, held = chosen.solve(model, start, dt, steps, every, control, tau, external), True
    else:
        run = FixedRun(model, start, chosen, method, dt, steps, every)
        run.tau, run.external, run.threads = tau, external, threads
        found, held = run.solve(control), True
    kind, driven = "reduced" if isinstance(start, State) else "maximal", external is not None
    return Trajectory(model, found.t, kind, found.arrays, found.tau, found.forces, driven, found.events, held)


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
        state = _broadcast(state)
        return to_maximal(model, state) if method == "maximal" else state
    if not isinstance(state, MaximalState):
        raise InputError(f"state must be a State or MaximalState, not {type(state).__name__}")
    if method != "maximal":
        raise InputError('a MaximalState needs method="maximal"; convert it with lw.to_reduced(model, state) first')
    batch = state.twists.shape[:-2]
    for name, tail in (("poses", (model.nb, 4, 4)), ("twists", (model.nb, 6)), ("q_fit", (model.nq,))):
        shape = getattr(state, name).shape
        if shape != batch + tail or len(batch) > 1:
            raise InputError(f"state.{name} has shape {shape}; this model needs {tail}, or a batch of them, for all parts alike")
        if not np.all(np.isfinite(getattr(state, name))):
            raise InputError(f"the maximal state is not finite: {name}")
    return state


def _broadcast(state: State) -> State:
    """The same state with q and v of one batch size."""
    try:
        lead = np.broadcast_shapes(state.q.shape[:-1], state.v.shape[:-1])
    except ValueError:
        raise InputError(f"state.q is a batch of {len(state.q)}, state.v of {len(state.v)}") from None
    q, v = (np.broadcast_to(x, lead + x.shape[-1:]) for x in (state.q, state.v))
    return State(q, v, state.t)


def _stepper(model: Model, method: str, name: str | None, options: dict[str, Any]) -> Stepper:
    name = name or METHODS[method]
    if name not in ALL_STEPPERS:
        raise InputError(f"there is no stepper {name!r}; choose one of {', '.join(ALL_STEPPERS)}")
    known = [f.name for f in fields(ALL_STEPPERS[name])]
    for option in options:
        if option not in known:
            theirs = f"its options are {', '.join(known)}" if known else "it has none"
            raise InputError(f"simulate has no argument {option!r}, and the stepper {name!r} no such option: {theirs}")
    stepper = ALL_STEPPERS[name](**options).formulated(method)
    if method not in stepper.methods:
        raise InputError(f"the stepper {name!r} does not work with method {method!r}; it works with {', '.join(stepper.methods)}")
    if not stepper.contacts and constraint_set(model).unilateral.any():
        able = ", ".join(other for other, cls in ALL_STEPPERS.items() if cls.contacts)
        raise InputError(f"the stepper {name!r} cannot step models with contacts; these can: {able}")
    stepper.check(model)
    return stepper


def _force(x: Any, name: str, tail: tuple[int, ...], batch: tuple[int, ...]) -> np.ndarray | None:
    if x is None:
        return None
    try:
        a = np.ascontiguousarray(x, dtype=float)
    except (TypeError, ValueError):
        raise InputError(f"{name} must be an array of numbers, not {x!r}") from None
    if a.shape not in (tail, batch + tail):
        expected = f"{tail} or {batch + tail}" if batch else f"{tail}"
        raise InputError(f"{name} has shape {a.shape}; expected {expected}")
    if not np.all(np.isfinite(a)):
        raise InputError(f"{name} is not finite")
    return a


def _adaptive(
    model: Model, state: State, stepper: AdaptiveStepper, times: np.ndarray, control: Any, tau: Any, external: Any
) -> Solution:
    """A stepper that chooses its own steps."""
    if state.q.ndim > 1:
        fixed = ", ".join(name for name, cls in ALL_STEPPERS.items() if not issubclass(cls, AdaptiveStepper))
        raise InputError(
            f"the stepper {stepper.name!r} simulates one state at a time; pass a single state, or use one of {fixed} for a batch"
        )

    def force(t: float, now: State) -> Any:
        return tau if control is None else shaped_force(control(t, now), t, (model.nv,))

    return stepper.solve(model, state, times, None if control is None and tau is None else force, external)
