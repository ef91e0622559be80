"""Dormand and Prince's adaptive method of order 8 with dense output and events, on the manifold; SciPy's DOP853.

[Hairer, Norsett & Wanner, Solving ODEs I, II.5 and II.6.] Every step starts at u = 0 in the tangent space of its own first
configuration, q = integrate(q0, u), and solves for (u, v) with the u_dot of `tangent`; so tolerances do not depend on how far
a wheel has turned, and charts are changed between steps. `control(t, state)` is part of the right-hand side: it is called at
every stage, also at trial states that are then rejected, and must be a smooth function of its arguments. Constraints act on
accelerations; nothing pulls positions back, so they drift like the error of the method. Contacts are refused.

Without control, events and inputs of forces a motion is a program (`adaptive`), of one state or of a batch whose states have
their own steps; else SciPy's solver takes the steps, on the compiled equation.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import InputError, SolverError
from ..kernel.loops import Lane, loops, maximum, minimum, sqrt, where
from ..model import Model, State
from ..spatial.scalar import absolute, array
from ..spatial.scalar import maximum as larger
from .adaptive import AdaptiveRun, Embedded, StepControl
from .equation import Equation, Force, RungeKuttaStepper
from .events import Event, EventFunction, Watch
from .tangent import recharted

if TYPE_CHECKING:
    from scipy.integrate import DOP853

SHORTEST = 10 * float(np.finfo(float).eps)
SMALLEST_RTOL = 100 * float(np.finfo(float).eps)


@dataclass(frozen=True)
class DormandPrince853(RungeKuttaStepper):
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

    @property
    def watches(self) -> bool:
        return bool(self.events)

    def run(self, model: Model, times: np.ndarray) -> AdaptiveRun | None:
        settings = np.array([self.rtol, self.atol, self.max_step])
        return AdaptiveRun(model, tableau(), CONTROL, settings)

    def first_length(self, equation: Equation, state: State, times: np.ndarray, force: Force) -> tuple[float, np.ndarray]:
        solver = _Step(equation, state, force).solver(times[-1], self.first_step, self._options)
        return solver.h_abs, solver.f

    @property
    def _options(self) -> dict[str, Any]:
        return {"rtol": self.rtol, "atol": self.atol, "max_step": self.max_step}

    def solve_one(self, equation: Equation, state: State, times: np.ndarray, force: Force) -> tuple[list[State], Sequence[Event]]:
        watch, records = Watch(self.events, state), [state]
        first_step = self.first_step
        while state.t < times[-1]:
            step = _Step(equation, state, force)
            solver = step.solver(times[-1], first_step, self._options)
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
        return records, watch.found


@cache
def tableau() -> Embedded:
    """The coefficients, and those of the interpolant of order 7 (SciPy's).

    That is x (F_0 + (1 - x) (F_1 + x (F_2 + (1 - x) (F_3 + ...)))) with F_0 = y' - y, F_1 = h k_0 - F_0 and
    F_2 = 2 F_0 - h (k_12 + k_0).
    """
    from scipy.integrate._ivp import dop853_coefficients as given  # slow to import

    weights, first, last = given.A[12], np.eye(16)[0], np.eye(16)[12]
    errors = np.zeros((2, 16))
    errors[:, :13] = given.E5, given.E3
    dense = np.array([weights, first - weights, 2 * weights - last - first, *given.D])
    return Embedded(13, given.A, errors, dense, np.arange(7) % 2.0)


# --- as a program -------------------------------------------------------------------------------------------------------------
@loops
def choose(
    t: Lane,
    end: Lane,
    settings: Lane,
    running: Lane,
    failed: Lane,
    next_h: Lane,
    h: Lane,
    base_t: Lane,
    reached: Lane,
    status: Lane,
) -> None:
    """The length of a step; settings are rtol, atol and the longest step."""
    shortest = SHORTEST * abs(t[0])
    lost = (running[0] > 0.0) & (failed[0] > 0.0) & ~(next_h[0] >= shortest)
    status[0] = where(lost, 1.0, status[0])
    running[0] = where(lost, 0.0, running[0])
    on = running[0] > 0.0
    length = where(failed[0] > 0.0, next_h[0], minimum(settings[2], maximum(shortest, next_h[0])))
    base_t[0] = where(on, t[0], base_t[0])
    reached[0] = where(on, minimum(t[0] + length, end[0]), reached[0])
    h[0] = where(on, reached[0] - t[0], h[0])


@loops
def judge(
    width: int,
    settings: Lane,
    fault: Lane,
    move_size: Lane,
    gain_size: Lane,
    h: Lane,
    reached: Lane,
    running: Lane,
    failed: Lane,
    next_h: Lane,
    accepted: Lane,
    t: Lane,
    status: Lane,
) -> None:
    """Accept a step or not, and say how long the next one is [Hairer, Norsett & Wanner, II.10]."""
    on = running[0] > 0.0
    fifth = 0.0 * h[0]
    third = 0.0 * h[0]
    for i in range(width):
        move = settings[1] + settings[0] * move_size[i]
        gain = settings[1] + settings[0] * gain_size[i]
        a = fault[i] / move
        b = fault[width + i] / gain
        fifth += a * a + b * b
        a = fault[2 * width + i] / move
        b = fault[3 * width + i] / gain
        third += a * a + b * b
    size = (fifth + 0.01 * third) * (2.0 * width)
    error = where(size > 0.0, h[0] * fifth / sqrt(size), size)
    good = error < 1.0
    change = 0.9 / sqrt(sqrt(sqrt(maximum(error, 1e-30))))
    longer = minimum(where(failed[0] > 0.0, 1.0, 10.0), change)
    shorter = where(error >= 1.0, maximum(0.2, change), 0.2)
    next_h[0] = where(on, h[0] * where(good, longer, shorter), next_h[0])
    failed[0] = where(on, where(good, 0.0, 1.0), failed[0])
    accepted[0] = where(on & good, 1.0, 0.0)
    t[0] = where(on & good, reached[0], t[0])


def measure(n: Any) -> None:
    """The move of the step, and |v| or |v'|, the larger one."""
    n.move_size = array([absolute(x) for x in n.shift])
    n.gain_size = array([larger(absolute(a), absolute(b)) for a, b in zip(n.base_v, n.stage_v, strict=True)])


CONTROL = StepControl("dop853", choose, measure, judge, 3)


# --- step by step -------------------------------------------------------------------------------------------------------------
class _Step:
    """One step as a differential equation for y = (u, v), with u = 0 at its first state."""

    def __init__(self, equation: Equation, state: State, force: Force) -> None:
        self.equation, self.start, self.force, self.model = equation, state, force, equation.model

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
        now = self.state(t, y)
        return self.equation(now, y[: self.model.nv], *self.force(now))

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
