"""Dormand and Prince's adaptive method of order 8 with dense output and events, on the manifold.

[Hairer, Norsett & Wanner, Solving ODEs I, II.5 and II.6.] Every step starts at u = 0 in the tangent space of its own first
configuration, q = integrate(q0, u), and solves for (u, v) with the u_dot of `tangent`; so tolerances do not depend on how far
a wheel has turned, and charts are changed between steps. `control(t, state)` is part of the right-hand side: it is called at
every stage, also at trial states that are then rejected, and must be a smooth function of its arguments. Constraints act on
accelerations; nothing pulls positions back, so they drift like the error of the method.

Without control, events and inputs of forces a motion is a program (`adaptive`), of one state or of a batch whose states have
their own steps; else the same steps are taken from Python (`stepwise`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import InputError
from ..kernel.loops import Lane, loops, maximum, minimum, sqrt, where
from ..model import Model, State
from ..spatial.scalar import absolute, array
from ..spatial.scalar import maximum as larger
from .adaptive import AdaptiveRun, Embedded, StepControl, Trial
from .equation import RungeKuttaStepper
from .events import EventFunction
from .post_stabilised import check_choice
from .stepwise import Slope

if TYPE_CHECKING:
    pass

SHORTEST = 10 * float(np.finfo(float).eps)  # of the time: steps are not shorter
TINY = 1e-290  # s: the same at t = 0, so that no step is empty
SMALLEST_RTOL = 100 * float(np.finfo(float).eps)


@dataclass(frozen=True)
class DormandPrince853(RungeKuttaStepper):
    """See the module's text.

    rtol, atol   error allowed per step: atol + rtol * the size of each velocity, and of each joint's move in the step
    max_step     longest step (s)
    first_step   length of the first step (s); None: by the size of the first accelerations
    stabilise    "project": every step ends where equality constraints hold (`way_back`); "none": they drift like the error
    events       functions g(t, state) -> float whose changes of sign are reported; see `Watch`
    """

    rtol: float = 1e-8
    atol: float = 1e-10
    max_step: float = np.inf
    first_step: float | None = None
    events: tuple[EventFunction, ...] = ()
    stabilise: str = "project"

    name = "dop853"
    order = 8

    def __post_init__(self) -> None:
        object.__setattr__(self, "events", (self.events,) if callable(self.events) else tuple(self.events or ()))
        check_choice(self.name, self.stabilise, ("none", "project"))
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
    def projects(self) -> bool:
        return self.stabilise == "project"

    @property
    def functions(self) -> tuple[EventFunction, ...]:
        return self.events

    def run(self, model: Model, times: np.ndarray) -> AdaptiveRun:
        settings = np.array([self.rtol, self.atol, self.max_step])
        return AdaptiveRun(model, tableau(), CONTROL, settings, projects=self.projects)

    def first_length(self, model: Model, state: State, times: np.ndarray, slope: Slope, first: np.ndarray) -> float:
        """By the sizes of y and of its first two derivatives [Hairer, Norsett & Wanner, II.4]."""
        left, nv = float(times[-1] - state.t), model.nv
        if self.first_step is not None:
            return min(self.first_step, left)
        y = np.concatenate([np.zeros(nv), state.v])
        scale = self.atol + self.rtol * np.abs(y)

        def size(x: np.ndarray) -> float:
            with np.errstate(over="ignore"):
                return float(np.linalg.norm(x / scale)) / max(1, len(x)) ** 0.5

        d0, d1 = size(y), size(first)
        h = min(1e-6 if min(d0, d1) < 1e-5 else 0.01 * d0 / d1, left)
        if not h > 0.0 or not np.isfinite(d1):  # so fast, or so late, that no step is: the first trial says so
            return 0.0
        y = y + h * first
        later = slope(State(model.integrate(state.q, y[:nv]), y[nv:], state.t + h), y[:nv])
        d2 = size(later - first) / h
        most = max(1e-6, 1e-3 * h) if max(d1, d2) <= 1e-15 else (0.01 / max(d1, d2)) ** (1 / self.order)
        return min(100 * h, most, left, self.max_step)


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


# --- step control -------------------------------------------------------------------------------------------------------------
@loops
def choose(trial: Trial) -> None:
    """The length of a step; settings are rtol, atol and the longest step. A step that would not move the time is a failure."""
    shortest = SHORTEST * abs(trial.t[0]) + TINY
    lost = (trial.running[0] > 0.0) & (trial.failed[0] > 0.0) & ~(trial.next_h[0] >= shortest)
    trial.status[0] = where(lost, 1.0, trial.status[0])
    trial.running[0] = where(lost, 0.0, trial.running[0])
    on = trial.running[0] > 0.0
    length = where(trial.failed[0] > 0.0, trial.next_h[0], minimum(trial.settings[2], maximum(shortest, trial.next_h[0])))
    trial.base_t[0] = where(on, trial.t[0], trial.base_t[0])
    trial.reached[0] = where(on, minimum(trial.t[0] + length, trial.end[0]), trial.reached[0])
    trial.h[0] = where(on, trial.reached[0] - trial.t[0], trial.h[0])
    lost = on & (trial.t[0] < trial.end[0]) & ~(trial.reached[0] > trial.t[0])
    trial.status[0] = where(lost, 1.0, trial.status[0])
    trial.running[0] = where(lost, 0.0, trial.running[0])


@loops
def judge(width: int, trial: Trial, fault: Lane, move_size: Lane, gain_size: Lane) -> None:
    """Accept a step or not, and say how long the next one is [Hairer, Norsett & Wanner, II.10]."""
    on = trial.running[0] > 0.0
    fifth = 0.0 * trial.h[0]
    third = 0.0 * trial.h[0]
    for i in range(width):
        move = trial.settings[1] + trial.settings[0] * move_size[i]
        gain = trial.settings[1] + trial.settings[0] * gain_size[i]
        a = fault[i] / move
        b = fault[width + i] / gain
        fifth += a * a + b * b
        a = fault[2 * width + i] / move
        b = fault[3 * width + i] / gain
        third += a * a + b * b
    size = (fifth + 0.01 * third) * (2.0 * width)
    error = where(size > 0.0, trial.h[0] * fifth / sqrt(size), size)
    good = error < 1.0
    change = 0.9 / sqrt(sqrt(sqrt(maximum(error, 1e-30))))
    longer = minimum(where(trial.failed[0] > 0.0, 1.0, 10.0), change)
    shorter = where(error >= 1.0, maximum(0.2, change), 0.2)
    trial.next_h[0] = where(on, trial.h[0] * where(good, longer, shorter), trial.next_h[0])
    trial.failed[0] = where(on, where(good, 0.0, 1.0), trial.failed[0])
    trial.accepted[0] = where(on & good, 1.0, 0.0)
    trial.t[0] = where(on & good, trial.reached[0], trial.t[0])


def measure(n: Any) -> None:
    """The move of the step, and |v| or |v'|, the larger one."""
    n.move_size = array([absolute(x) for x in n.shift])
    n.gain_size = array([larger(absolute(a), absolute(b)) for a, b in zip(n.base_v, n.stage_v, strict=True)])


CONTROL = StepControl("dop853", choose, measure, judge, 3)
