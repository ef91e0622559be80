"""Dormand and Prince's adaptive method of order 5 with the step control of MATLAB's ode45, on the manifold.

[Dormand & Prince 1980; Shampine & Reichelt, The MATLAB ODE Suite, 1997.] For y = (q, v), a step of length h is accepted if

    err = largest of h |sum of e_i k_i| / max(|y|, |y'|, atol / rtol)  <=  rtol.

The next one is 0.8 (rtol / err)^(1/5) times as long, at most five times; after a failure the step is repeated with at least a
tenth of its length, after another with half of it. The first step is the longest allowed, a tenth of the time span, or shorter
if y would change by more than 0.8 rtol^(1/5) of itself. A step lives in the tangent space of its start, as in `tangent`; where
coordinates do not add (quaternions), q in `err` is the move from the neutral position. The last stage is the first of the next.

Without control and inputs of forces a motion is a program (`adaptive`), of one state or of a batch whose states have their own
steps; else the same steps are taken from Python (`stepwise`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from ..errors import InputError
from ..kernel.loops import Lane, loops, maximum, minimum, sqrt, where
from ..model import Model, State
from ..model.rules import joint_of
from ..spatial.scalar import absolute, array
from ..spatial.scalar import maximum as larger
from .adaptive import AdaptiveRun, Embedded, StepControl, Trial
from .equation import Equation, RungeKuttaStepper
from .post_stabilised import check_choice
from .slopes import Slopes
from .stepwise import Slope

POWER = 1 / 5
SHORTEST = 16 * float(np.finfo(float).eps)  # of the time: steps are not shorter
TINY = 1e-290  # s: the same at t = 0, so that no step is empty
ROUNDED = 1.25  # of the shortest step: t + h - t is h within so much, as t has a last digit


@dataclass(frozen=True)
class DormandPrince45(RungeKuttaStepper):
    """See the module's text; accelerations by the recursions in O(n).

    rtol, atol   error allowed per step, see above
    max_step     longest step (s); None: a tenth of the time span
    baumgarte    (b, c): constraints obey g_ddot = -2 b g_dot - c^2 g instead of 0 [Baumgarte 1972]
    stabilise    "project": every step ends where equality constraints hold (`way_back`); "none", as MATLAB steps: they drift like
                 the error. None: "none" with rates of Baumgarte, else "project"
    """

    rtol: float = 1e-4
    atol: float = 1e-6
    max_step: float | None = None
    baumgarte: tuple[float, float] = (0.0, 0.0)
    stabilise: str | None = None

    name = "ode45"
    order = 5

    def __post_init__(self) -> None:
        for what in ("rtol", "atol"):
            if not (np.isfinite(getattr(self, what)) and getattr(self, what) > 0):
                raise InputError(f"ode45: {what} must be positive and finite, not {getattr(self, what)!r}")
        if self.max_step is not None and not self.max_step > 0:
            raise InputError(f"ode45: max_step must be positive, not {self.max_step!r}")
        if self.stabilise is not None:
            check_choice(self.name, self.stabilise, ("none", "project"))
        if np.shape(self.baumgarte) != (2,) or not np.all(np.isfinite(self.baumgarte)):
            raise InputError(f"ode45: baumgarte must be two rates, not {self.baumgarte!r}")

    @property
    def methods(self) -> tuple[str, ...]:
        return ("reduced", "redmax")

    @property
    def projects(self) -> bool:
        return self.stabilise == "project" or (self.stabilise is None and not any(self.baumgarte))

    @property
    def on_accelerations(self) -> bool:
        return not any(self.baumgarte)

    def equation(self, model: Model, external: Any) -> Equation:
        return Equation(Slopes(model, external, self.baumgarte))

    def run(self, model: Model, times: np.ndarray) -> AdaptiveRun:
        settings = np.array([self.rtol, self.atol / self.rtol, self.longest(times)])
        return AdaptiveRun(model, tableau(), CONTROL, settings, self.baumgarte, self.projects)

    def longest(self, times: np.ndarray) -> float:
        return self.max_step or 0.1 * (times[-1] - times[0])

    def first_length(self, model: Model, state: State, times: np.ndarray, slope: Slope, first: np.ndarray) -> float:
        parts = [b.joint.offset(b.joint.neutral(), state.q[model.q_index(b.name)]) for b in model.bodies]
        size = np.abs(np.concatenate([*parts, state.v])).astype(float)
        rate = np.max(np.abs(first) / np.maximum(size, self.atol / self.rtol), initial=0.0)
        longest = self.longest(times)
        return min(longest, 0.8 * self.rtol**POWER / rate) if rate > 0 else longest


@cache
def tableau() -> Embedded:
    """The coefficients, and those of the interpolant (SciPy's)."""
    from scipy.integrate import RK45  # slow to import

    matrix = np.zeros((7, 7))
    matrix[:6, :5], matrix[6, :6] = RK45.A, RK45.B
    return Embedded(7, matrix, RK45.E[None], np.ascontiguousarray(RK45.P.T), np.zeros(4))


# --- step control -------------------------------------------------------------------------------------------------------------
@loops
def choose(trial: Trial) -> None:
    """The length of a step; settings are rtol, atol / rtol and the longest step. One that does not move the time has failed."""
    on = trial.running[0] > 0.0
    fresh = minimum(trial.settings[2], maximum(SHORTEST * abs(trial.t[0]) + TINY, trial.next_h[0]))
    length = where(trial.failed[0] > 0.0, trial.next_h[0], fresh)
    last = (trial.failed[0] == 0.0) & (1.1 * length >= trial.end[0] - trial.t[0])
    trial.base_t[0] = where(on, trial.t[0], trial.base_t[0])
    trial.reached[0] = where(on, where(last, trial.end[0], trial.t[0] + length), trial.reached[0])
    trial.h[0] = where(on, trial.reached[0] - trial.t[0], trial.h[0])
    lost = on & (trial.t[0] < trial.end[0]) & ~(trial.reached[0] > trial.t[0])
    trial.status[0] = where(lost, 1.0, trial.status[0])
    trial.running[0] = where(lost, 0.0, trial.running[0])


@loops
def fifth_root(x: float) -> float:
    """The fifth root of a number between 1e-6 and 1e6, by Newton's method."""
    y = sqrt(sqrt(x))
    for _ in range(16):
        y = y - 0.2 * (y - x / (y * y * y * y))
    return y


@loops
def judge(width: int, trial: Trial, fault: Lane, move_size: Lane, gain_size: Lane) -> None:
    """Accept a step or not, and say how long the next one is."""
    on = trial.running[0] > 0.0
    error = 0.0 * trial.h[0]
    for i in range(width):
        error = maximum(error, abs(fault[i]) / maximum(move_size[i], trial.settings[1]))
        error = maximum(error, abs(fault[width + i]) / maximum(gain_size[i], trial.settings[1]))
    error = error * trial.h[0] / trial.settings[0]
    good = error <= 1.0
    root = fifth_root(where(error <= 1e6, maximum(error, 1e-6), 1e6))
    shortest = SHORTEST * abs(trial.t[0]) + TINY
    longer = where(trial.failed[0] > 0.0, trial.h[0], trial.h[0] / maximum(0.2, 1.25 * root))
    shorter = maximum(shortest, trial.h[0] * where(trial.failed[0] > 0.0, 0.5, maximum(0.1, 0.8 / root)))
    trial.status[0] = where(on & ~good & (trial.h[0] <= ROUNDED * shortest), 1.0, trial.status[0])
    trial.next_h[0] = where(on, where(good, longer, shorter), trial.next_h[0])
    trial.failed[0] = where(on, where(good, 0.0, 1.0), trial.failed[0])
    trial.accepted[0] = where(on & good, 1.0, 0.0)
    trial.t[0] = where(on & good, trial.reached[0], trial.t[0])


def measure(n: Any) -> None:
    """|y| and |y'|, the larger one."""
    joint = joint_of(n)
    neutral = joint.neutral()
    moves = (joint.offset(neutral, n.base_q), joint.offset(neutral, n.stage_q))
    n.move_size = array([larger(absolute(a), absolute(b)) for a, b in zip(*moves, strict=True)])
    n.gain_size = array([larger(absolute(a), absolute(b)) for a, b in zip(n.base_v, n.stage_v, strict=True)])


CONTROL = StepControl("ode45", choose, measure, judge, 3)
