"""Backward differentiation formulas: implicit steps of order 1 and 2, solved by Newton's method with exact derivatives.

All stages have the same shape. With u the move of the coordinates in the step,

    v = s u + v_c,     a = s^2 u + a_c,     M(q + u) a = f(q + u, v),

where s = 1/h for BDF1 (implicit Euler), 3/(2h) for BDF2, and v_c, a_c depend on the states before. BDF2 starts with a step of
the SDIRK method of order 2 with two stages, s = 1/(c h), c = 1 - 1/sqrt(2) [Alexander 1977]. Joint forces are held during a step;
time functions are those of the stage. Charts of joints change between steps; the state before is then put into the new one too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..constraints.rows import constraint_set
from ..errors import InputError, SolverError
from ..model import Model, State
from ..redmax.implicit import motion_derivatives, motion_residual
from ..solvers.newton import newton
from .sequential import SequentialStepper
from .stepper import StepInfo
from .tangent import adds

SDIRK = 1.0 - np.sqrt(0.5)


@dataclass(frozen=True)
class BDF1(SequentialStepper):
    """v' = (q' - q) / h, a' = (v' - v) / h.

    tolerance    residual of u, in units of mass times coordinates, that is small enough; 0: every stage is solved to rounding
    iterations   of Newton's method, at most
    """

    tolerance: float = 0.0
    iterations: int = 50

    name = "bdf1"
    order = 1

    def check(self, model: Model) -> None:
        if constraint_set(model).count:
            raise InputError(f"the stepper {self.name!r} cannot step models with constraints; linearly_implicit and others can")
        for body in model.bodies:
            if not adds(body.joint):
                raise InputError(
                    f"the stepper {self.name!r} needs joints whose velocities are the rates of their coordinates; "
                    f"joint {body.joint_name!r} ({body.joint!r}) is none, SphericalExp and FreeExp are"
                )

    def step(self, model: Model, state: State, memory: Any, h: float, tau: Any, external: Any) -> tuple[State, Any, StepInfo]:
        stage = _Stage(self, model, state.q, tau, external)
        end = stage.solved(1.0 / h, np.zeros(model.nv), -state.v / h, h * state.v, state.t + h)
        return *together(model, end, state), StepInfo()


@dataclass(frozen=True)
class BDF2(BDF1):
    """v' = (3 q' - 4 q + q_before) / 2h, a' likewise; the first step is one of SDIRK. See `BDF1`."""

    name = "bdf2"
    order = 2

    def step(self, model: Model, state: State, memory: Any, h: float, tau: Any, external: Any) -> tuple[State, Any, StepInfo]:
        stage = _Stage(self, model, state.q, tau, external)
        if memory is None:
            end = _first(stage, state, h)
        else:
            moved = model.difference(memory.q, state.q)
            a_c = (-3.0 * moved / h - 8.0 * state.v + 2.0 * memory.v) / (4.0 * h)
            end = stage.solved(1.5 / h, -moved / (2.0 * h), a_c, h * state.v, state.t + h)
        return *together(model, end, state), StepInfo()


def _first(stage: _Stage, state: State, h: float) -> State:
    """A step of SDIRK."""
    c, nv = SDIRK, stage.model.nv
    s = 1.0 / (c * h)
    middle = stage.solved(s, np.zeros(nv), -s * state.v, c * h * state.v, state.t + c * h)
    a_c = -(2.0 * (1.0 - c) * middle.v + (2.0 * c - 1.0) * state.v) * h * s * s
    return stage.solved(s, -(1.0 - c) / c * middle.v, a_c, h * state.v, state.t + h)


@dataclass(frozen=True, eq=False)
class _Stage:
    """Stages that move from q, with the forces of one step."""

    method: BDF1
    model: Model
    q: np.ndarray
    tau: Any
    external: Any

    def solved(self, s: float, v_c: np.ndarray, a_c: np.ndarray, guess: np.ndarray, t: float) -> State:
        """The state with v = s u + v_c and a = s^2 u + a_c that obeys the equation of motion."""

        def state(u: np.ndarray) -> State:
            return State(self.model.integrate(self.q, u), s * u + v_c, t)

        def residual(u: np.ndarray) -> np.ndarray:
            return motion_residual(self.model, state(u), s * s * u + a_c, self.tau, self.external) / (s * s)

        def jacobian(u: np.ndarray) -> np.ndarray:
            dq, dv, da = motion_derivatives(self.model, state(u), s * s * u + a_c, self.tau, self.external)
            return dq / (s * s) + dv / s + da

        try:
            u = newton(residual, jacobian, guess, self.method.tolerance, self.method.iterations)
        except SolverError as error:
            raise SolverError(f"{self.method.name} at t = {t:.9g}: {error}; try a shorter step") from None
        return state(u)


def together(model: Model, now: State, before: State) -> tuple[State, State]:
    """Two neighbouring states, in charts that suit the first and are the same for both."""
    q, v, q_before, v_before = now.q.copy(), now.v.copy(), before.q.copy(), before.v.copy()
    for body in model.bodies:
        if body.joint.charted:
            i, j = model.q_index(body.name), model.v_index(body.name)
            found = body.joint.rechart_together((q[i], v[j]), (q_before[i], v_before[j]))
            (q[i], v[j]), (q_before[i], v_before[j]) = found
    return State(q, v, now.t), State(q_before, v_before, before.t)
