"""Dormand and Prince's adaptive method of order 8 with dense output and events, on the manifold; SciPy's DOP853.

[Hairer, Norsett & Wanner, Solving ODEs I, II.5 and II.6.] Every step starts at u = 0 in the tangent space of its own first
configuration, q = integrate(q0, u), and solves for (u, v) with the u_dot of `tangent`; so tolerances do not depend on how far
a wheel has turned, and charts are changed between steps. `control(t, state)` is part of the right-hand side: it is called at
every stage, also at trial states that are then rejected, and must be a smooth function of its arguments. Constraints act on
accelerations; nothing pulls positions back, so they drift like the error of the method. Contacts are refused.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..constraints.rows import constraint_set
from ..errors import InputError, SolverError
from ..model import Model, State
from .constrained import accelerated, is_bare
from .events import EventFunction, Watch
from .inputs import DrivenModel, told
from .stepper import AdaptiveStepper, Solution
from .tangent import recharted, tangent_dynamics, tangent_rates

if TYPE_CHECKING:
    from scipy.integrate import DOP853

SMALLEST_RTOL = 100 * float(np.finfo(float).eps)


@dataclass(frozen=True)
class DormandPrince853(AdaptiveStepper):
    """See the module's text.

    rtol, atol   error allowed per step: atol + rtol * the size of each velocity, and of each joint's move in the step
    max_step     longest step (s)
    first_step   length of the first step (s); None: by the size of the first accelerations
    events       functions g(t, state) -> float whose changes of sign are reported; see `Watch`
    """

    rtol: float = 1e-8
    atol: float = 1e-10
    max_step: float = np.inf
    first_step: float | None = None
    events: tuple[EventFunction, ...] = ()

    name = "dop853"
    order = 8

    def __post_init__(self) -> None:
        object.__setattr__(self, "events", (self.events,) if callable(self.events) else tuple(self.events or ()))
        if not self.rtol >= SMALLEST_RTOL or not np.isfinite(self.rtol):
            raise InputError(f"dop853: rtol must be at least {SMALLEST_RTOL:.2g}, not {self.rtol!r}")
        if not (self.atol > 0 and np.isfinite(self.atol)):
            raise InputError(f"dop853: atol must be positive and finite, not {self.atol!r}")
        if not self.max_step > 0:
            raise InputError(f"dop853: max_step must be positive, not {self.max_step!r}")
        if self.first_step is not None and not self.first_step > 0:
            raise InputError(f"dop853: first_step must be positive, not {self.first_step!r}")
        if not all(map(callable, self.events)):
            raise InputError("dop853: events must be functions of (t, state)")

    @property
    def methods(self) -> tuple[str, ...]:
        return ("reduced",)

    def solve(
        self,
        model: Model,
        state: State,
        times: np.ndarray,
        control: Callable[[float, State], Any] | None,
        external: Any,
        driven: DrivenModel | None = None,
    ) -> Solution:
        watch, records = Watch(self.events, state), [state]
        first_step = self.first_step
        while state.t < times[-1]:
            step = _Step(model, state, control, external, driven)
            solver = step.solver(times[-1], first_step, {"rtol": self.rtol, "atol": self.atol, "max_step": self.max_step})
            message = solver.step()
            if solver.status == "failed":
                raise SolverError(
                    f"dop853 stopped at t = {state.t:.9g}: {message} "
                    "The motion is singular there, too stiff, or control returned numbers that are not finite."
                )
            first_step = solver.h_abs
            due = times[len(records) : np.searchsorted(times, solver.t, side="right")]
            if self.events or len(due):
                dense = solver.dense_output()  # of order 7
                ended = watch.step(state.t, solver.t, lambda t, step=step, dense=dense: step.state(t, dense(t)))
                records += step.records(dense, due if ended is None else due[due < ended.t])
                if ended is not None:
                    records.append(ended.state)
                    break
            state = step.after(solver)
        return _solution(model, records, control, external, watch, driven)


class _Step:
    """One step as a differential equation for y = (u, v), with u = 0 at its first state."""

    def __init__(self, model: Model, state: State, control: Any, external: Any, driven: DrivenModel | None) -> None:
        self.model, self.start, self.control, self.external, self.driven = model, state, control, external, driven

    def solver(self, end: float, first_step: float | None, options: dict[str, Any]) -> DOP853:
        from scipy.integrate import DOP853  # slow to import, and only this stepper needs it

        y = np.concatenate([np.zeros(self.model.nv), self.start.v])
        first = None if first_step is None else min(first_step, end - self.start.t)
        solver = DOP853(self.slope, self.start.t, y, end, first_step=first, **options)
        if not np.all(np.isfinite(solver.f)):
            raise SolverError(f"dop853: the acceleration is not finite at t = {self.start.t:.9g}")
        return solver

    def state(self, t: float, y: np.ndarray) -> State:
        nv = self.model.nv
        return State(self.model.integrate(self.start.q, y[:nv]), y[nv:], t)

    def slope(self, t: float, y: np.ndarray) -> np.ndarray:
        model, u, v = self.model, y[: self.model.nv], y[self.model.nv :]
        tau = None if self.control is None else self.control(t, self.state(t, y))
        if is_bare(model):
            return tangent_dynamics(model, self.start.q, u, v, tau, self.external)
        now = self.state(t, y)
        found = accelerated(self.driven.at(t, now) if self.driven else model, now, tau, self.external)
        return np.concatenate([tangent_rates(model, u, v), found.motion.joints])

    def records(self, dense: Callable[[np.ndarray], np.ndarray], times: np.ndarray) -> list[State]:
        """The states at some times of the step."""
        if not len(times):
            return []
        u, v = np.split(dense(times).T, 2, axis=1)
        q = self.model.integrate(self.start.q, u)
        return [State(*x) for x in zip(q, v, times, strict=True)]

    def after(self, solver: DOP853) -> State:
        end = self.state(solver.t, solver.y)
        return State(*recharted(self.model, end.q, end.v), solver.t)


def _solution(
    model: Model, records: list[State], control: Any, external: Any, watch: Watch, driven: DrivenModel | None
) -> Solution:
    tau = None if control is None else np.array([control(s.t, s) for s in records])
    forces = None
    if constraint_set(model).count:
        given = [None] * len(records) if tau is None else tau
        pairs = zip(records, given, strict=True)
        found = (accelerated(driven.at(s.t, s) if driven else model, s, f, external) for s, f in pairs)
        forces = np.array([x.multipliers for x in found])
    arrays = {name: np.array([getattr(s, name) for s in records]) for name in ("q", "v")}
    times = np.array([s.t for s in records])
    return Solution(times, arrays, tau, forces, tuple(watch.found), told(driven, records))
