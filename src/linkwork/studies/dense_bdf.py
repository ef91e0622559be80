"""BDF step by step, with stages solved in other ways than by the steppers: what `verify_redmax` compares.

The published runs stop Newton's method, with exact derivatives, at a residual of 1e-9, and what they then leave grows where a
corner sticks and slips (bdf scene 11, which multiplies it by 1e5): their numbers need the same rounds. Scenes of BDF have no
constraints.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import SolverError
from ..io.redmax import Problem, Run
from ..model import Model, State
from ..redmax.implicit import motion_derivatives, motion_residual
from ..redmax.system import dynamics
from ..reduced.loaded import row_dynamics
from ..solvers.newton import newton
from ..steppers.bdf import BDF1, BDF2

RESIDUAL = 1e-9  # what the published runs stop at


@dataclass(frozen=True, eq=False)
class StageEquation:
    """M a = f at q + u, with v = s u + v_c and a = s^2 u + a_c; see `steppers.implicit_stage`."""

    model: Model
    q: np.ndarray
    s: float
    v_c: np.ndarray
    a_c: np.ndarray
    t: float
    tau: Any

    def state(self, u: np.ndarray) -> State:
        return State(self.model.integrate(self.q, u), self.s * u + self.v_c, self.t)

    def residual(self, u: np.ndarray) -> np.ndarray:
        return motion_residual(dynamics(self.model, self.state(u), self.tau), self.s**2 * u + self.a_c) / self.s**2

    def jacobian(self, u: np.ndarray) -> np.ndarray:
        dq, dv, da = motion_derivatives(dynamics(self.model, self.state(u), self.tau), self.s**2 * u + self.a_c)
        return dq / self.s**2 + dv / self.s + da

    def gap(self, u: np.ndarray) -> np.ndarray:
        """The residual as an acceleration of the recursions."""
        end = self.state(u)
        return u + (self.a_c - row_dynamics(self.model, end.q, end.v, self.tau, t=self.t)[0]) / self.s**2


Solve = Callable[[StageEquation, np.ndarray], np.ndarray]


def published_newton(stage: StageEquation, guess: np.ndarray) -> np.ndarray:
    """The move u, as far as the published runs solve for it."""
    return newton(stage.residual, stage.jacobian, guess, RESIDUAL)


def minpack(stage: StageEquation, guess: np.ndarray) -> np.ndarray:
    """The move u by MINPACK (Powell's hybrid method), with derivatives by differences."""
    from scipy.optimize import root

    found = root(stage.gap, guess, method="hybr", options={"xtol": 1e-15})
    if np.abs(found.fun).max() > 1e-10 * (1.0 + np.abs(found.x).max()):
        raise SolverError(f"t = {stage.t:.9g}: MINPACK found no solution ({found.message})")
    return found.x


def bdf(p: Problem, wanted: Run, solve: Solve) -> State:
    """The end of a run."""
    method, model, h = {"BDF1": BDF1, "BDF2": BDF2}[wanted.integrator], p.model, wanted.h
    now, before = p.state, None
    for _ in range(wanted.steps):
        tau = p.control(now.t, now) if p.control else None
        w = m = v_b = u = np.zeros(model.nv)
        if before is not None:
            m, v_b = model.difference(before.q, now.q) / h, before.v
        for k in method.first if before is None else method.later:
            s, v_c, a_c = k.terms(h, now.v, w, m, v_b)
            u = solve(StageEquation(model, now.q, s, v_c, a_c, now.t + k.node * h, tau), k.first * h * now.v)
            w = s * u + v_c
        now, before = together(model, State(model.integrate(now.q, u), w, now.t + h), now)
    return now


def together(model: Model, now: State, before: State) -> tuple[State, State]:
    """Two neighbouring states, in charts that suit the first and are the same for both."""
    q, v, q_before, v_before = now.q.copy(), now.v.copy(), before.q.copy(), before.v.copy()
    for body in model.bodies:
        if body.joint.charted:
            i, j = model.q_index(body.name), model.v_index(body.name)
            found = body.joint.rechart_together((q[i], v[j]), (q_before[i], v_before[j]))
            (q[i], v[j]), (q_before[i], v_before[j]) = found
    return State(q, v, now.t), State(q_before, v_before, before.t)
