"""Dormand and Prince's adaptive method of order 5 with the step control of MATLAB's ode45, on the manifold.

[Dormand & Prince 1980; Shampine & Reichelt, The MATLAB ODE Suite, 1997.] For y = (q, v), a step of length h is accepted if

    err = largest of h |sum of e_i k_i| / max(|y|, |y'|, atol / rtol)  <=  rtol.

The next one is 0.8 (rtol / err)^(1/5) times as long, at most five times; after a failure the step is repeated with at least a
tenth of its length, after another with half of it. The first step is the longest allowed, a tenth of the time span, or shorter
if y would change by more than 0.8 rtol^(1/5) of itself. A step lives in the tangent space of its start, as in `tangent`; where
coordinates do not add (quaternions), q in `err` is the move from the neutral position. The last stage is the first of the next.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import cache
from typing import Any

import numpy as np

from ..constraints.rows import constraint_set
from ..errors import InputError, SolverError
from ..model import Model, State
from ..redmax.system import Dynamics, dynamics
from .inputs import DrivenModel, told
from .stepper import AdaptiveStepper, Solution, Stepper
from .tangent import adds, recharted, tangent_rates

POWER = 1 / 5
Control = Callable[[float, State], Any]


@dataclass(frozen=True)
class DormandPrince45(AdaptiveStepper):
    """See the module's text; accelerations by the recursions in O(n).

    rtol, atol   error allowed per step, see above
    max_step     longest step (s); None: a tenth of the time span
    baumgarte    (b, c): constraints obey g_ddot = -2 b g_dot - c^2 g instead of 0 [Baumgarte 1972]
    """

    rtol: float = 1e-4
    atol: float = 1e-6
    max_step: float | None = None
    baumgarte: tuple[float, float] = (0.0, 0.0)

    name = "ode45"
    order = 5

    def __post_init__(self) -> None:
        for what in ("rtol", "atol"):
            if not (np.isfinite(getattr(self, what)) and getattr(self, what) > 0):
                raise InputError(f"ode45: {what} must be positive and finite, not {getattr(self, what)!r}")
        if self.max_step is not None and not self.max_step > 0:
            raise InputError(f"ode45: max_step must be positive, not {self.max_step!r}")
        if np.shape(self.baumgarte) != (2,) or not np.all(np.isfinite(self.baumgarte)):
            raise InputError(f"ode45: baumgarte must be two rates, not {self.baumgarte!r}")

    @property
    def methods(self) -> tuple[str, ...]:
        return ("reduced", "redmax")

    def formulated(self, method: str) -> Stepper:
        kind = DenseDormandPrince45 if method == "redmax" else DormandPrince45
        return kind(*(getattr(self, f.name) for f in fields(self)))

    def accelerations(self, now: Dynamics, target: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Accelerations whose constraint rows meet a target, and the forces of the rows."""
        return now.recursive_accelerations(target)

    def accelerated(self, model: Model, state: State, tau: Any, external: Any) -> tuple[np.ndarray, np.ndarray]:
        """Accelerations under all constraints, and the forces of these."""
        now, (b, k) = dynamics(model, state, tau, external), self.baumgarte
        c = now.constraints
        return self.accelerations(now, -c.bias - 2.0 * b * c.rate - k * k * c.residual)

    def solve(
        self,
        model: Model,
        state: State,
        times: np.ndarray,
        control: Control | None,
        external: Any,
        driven: DrivenModel | None = None,
    ) -> Solution:
        records, run = [state], _Run(self, model, control, external, driven)
        end, longest = times[-1], self.max_step or 0.1 * (times[-1] - state.t)
        state = State(*recharted(model, state.q, state.v), state.t)
        first = run.slope(state)
        h = run.first_step(state, first, longest)
        while state.t < end:
            step, h = run.accepted(state, first, h, longest, end)
            due = times[len(records) : np.searchsorted(times, step.t, side="right")]
            records += [step.end if t == step.t else step.at(t) for t in due]
            q, v = recharted(model, step.end.q, step.end.v)
            changed = not (np.array_equal(q, step.end.q) and np.array_equal(v, step.end.v))
            state = State(q, v, step.t)
            first = run.slope(state) if changed else np.concatenate([v, step.k[-1, model.nv :]])
        return run.solution(records)


class DenseDormandPrince45(DormandPrince45):
    """The same with accelerations by the dense mass matrix."""

    def accelerations(self, now: Dynamics, target: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return now.accelerations(target)


@cache
def tableau() -> tuple[list[np.ndarray], np.ndarray, np.ndarray, np.ndarray]:
    """Weights of the seven stages, their nodes, those of the error, and those of the interpolant (SciPy's)."""
    from scipy.integrate import RK45

    weights = [*(RK45.A[i, :i] for i in range(1, 6)), RK45.B]
    return weights, np.append(RK45.C[1:], 1.0), RK45.E, RK45.P


class _Run:
    """A motion: the differential equation and its step control."""

    def __init__(
        self, method: DormandPrince45, model: Model, control: Control | None, external: Any, driven: DrivenModel | None
    ) -> None:
        self.method, self.model, self.control, self.external, self.driven = method, model, control, external, driven
        self.neutral = model.neutral()
        self.adds = all(adds(b.joint) for b in model.bodies)

    def tau(self, state: State) -> Any:
        return None if self.control is None else self.control(state.t, state)

    def accelerated(self, state: State) -> tuple[np.ndarray, np.ndarray]:
        """Accelerations, and the forces of the constraints."""
        model = self.driven.at(state.t, state) if self.driven else self.model
        return self.method.accelerated(model, state, self.tau(state), self.external)

    def slope(self, state: State, u: np.ndarray | None = None) -> np.ndarray:
        """(u_dot, v_dot) at a state that the move u of a step has reached."""
        a, _ = self.accelerated(state)
        move = state.v if u is None or self.adds else tangent_rates(self.model, u, state.v)
        found = np.concatenate([move, a])
        if not np.all(np.isfinite(found)):
            raise SolverError(f"ode45: the acceleration is not finite at t = {state.t:.9g}")
        return found

    def entries(self, state: State) -> np.ndarray:
        """|y| of the module's text."""
        return np.abs(np.concatenate([self.model.difference(self.neutral, state.q), state.v]))

    def first_step(self, state: State, slope: np.ndarray, longest: float) -> float:
        m = self.method
        rate = np.max(np.abs(slope) / np.maximum(self.entries(state), m.atol / m.rtol), initial=0.0)
        return min(longest, 0.8 * m.rtol**POWER / rate) if rate > 0 else longest

    def accepted(self, state: State, first: np.ndarray, h: float, longest: float, end: float) -> tuple[_Step, float]:
        """A step that is good enough, and the length of the next."""
        rtol, failed, shortest = self.method.rtol, False, 16 * np.spacing(abs(state.t))
        h = min(longest, max(shortest, h))
        if last := 1.1 * h >= end - state.t:
            h = end - state.t
        while True:
            step = _Step(self, state, first, h, end if last else state.t + h)
            if step.error <= rtol:
                break
            if h <= shortest:
                raise SolverError(f"ode45 stopped at t = {state.t:.9g}: no step is short enough; the motion is singular or stiff")
            h = max(shortest, h * (0.5 if failed else max(0.1, 0.8 * (rtol / step.error) ** POWER)))
            failed, last = True, False
        if not failed:
            h /= max(0.2, 1.25 * (step.error / rtol) ** POWER)
        return step, h

    def solution(self, records: list[State]) -> Solution:
        tau = None if self.control is None else np.array([self.tau(s) for s in records])
        forces = None
        if constraint_set(self.model).count:
            forces = np.array([self.accelerated(s)[1] for s in records])
        arrays = {name: np.array([getattr(s, name) for s in records]) for name in ("q", "v")}
        return Solution(np.array([s.t for s in records]), arrays, tau, forces, inputs=told(self.driven, records))


class _Step:
    """One step: its stages k (7, 2 nv), its end, its error."""

    def __init__(self, run: _Run, start: State, first: np.ndarray, h: float, t: float) -> None:
        weights, nodes, error, _ = tableau()
        self.run, self.start, self.t = run, start, t
        self.h = t - start.t
        self.k = np.empty((7, len(first)))
        self.k[0] = first
        self.end = start
        for i, (w, c) in enumerate(zip(weights, nodes, strict=True), 1):
            move = self.h * (w @ self.k[:i])
            self.end = self._moved(move, t if c == 1.0 else start.t + c * h)
            self.k[i] = run.slope(self.end, move[: run.model.nv])
        size = np.maximum(run.entries(start), run.entries(self.end))
        floor = run.method.atol / run.method.rtol
        self.error = float(h * np.max(np.abs(error @ self.k) / np.maximum(size, floor), initial=0.0))

    def _moved(self, move: np.ndarray, t: float) -> State:
        nv = self.run.model.nv
        return State(self.run.model.integrate(self.start.q, move[:nv]), self.start.v + move[nv:], t)

    def at(self, t: float) -> State:
        """The state within the step, of order 4."""
        x = (t - self.start.t) / self.h
        return self._moved(self.h * (tableau()[3] @ x ** np.arange(1, 5)) @ self.k, t)
