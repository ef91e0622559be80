"""Steps of hyper-reduced coordinates q = f(r): the usual methods, in the space of r.

Explicit: symplectic Euler, and Runge-Kutta of order 4. Implicit: linearly implicit Euler; and bdf1, bdf2 and sdirk2, whose stages
solve for the move u of r, with r_dot = s u + v_c and r_ddot = s^2 u + a_c as in `implicit`,

    J^T R = 0,     R = M v_dot - f     at r + u,     v_dot = J r_ddot + J_dot r_dot,

by Newton's method with the exact derivative J^T dR + dJ^T R.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any, cast

import numpy as np

from ..constraints.rows import constraint_set
from ..constraints.solve import accelerations, velocities
from ..errors import InputError, SolverError
from ..model import Model, State
from ..redmax.coordinate_map import Moved
from ..redmax.hyper_reduced import HyperReduced
from ..redmax.implicit import motion_derivatives, motion_residual
from ..redmax.system import Dynamics, dynamics
from ..solvers.newton import newton
from .bdf import BDF1, BDF2
from .implicit import Conditions, ImplicitStepper, Reached, Stage, positions
from .linearly_implicit import LinearlyImplicit
from .sdirk2 import SDIRK2
from .sequential import SequentialStepper
from .stepper import StepInfo
from .tableau import KUTTA


@dataclass(frozen=True)
class HyperStepper(SequentialStepper):
    """Base of methods that step r from `start`; what they record are states of the model."""

    hyper: HyperReduced
    start: State

    def taken(self, now: State, before: State | None, h: float, tau: Any, external: Any) -> Reached:
        """Where a step of r leads; `before` is the state one step earlier, if there is one."""
        raise TypeError(f"{type(self).__name__} must define taken")

    def step(self, model: Model, state: State, memory: Any, h: float, tau: Any, external: Any) -> tuple[State, Any, StepInfo]:
        now, before = (self.start, None) if memory is None else memory
        end = self.taken(replace(now, t=state.t), before, h, tau, external)
        return self.hyper.full(end.state), (end.state, now), StepInfo(end.forces)

    def first_forces(self, model: Model, state: State, tau: Any, external: Any) -> np.ndarray:
        system = self.hyper.dynamics(self.start, tau, external)
        return accelerations(system.response(), system.constraints).multipliers


@dataclass(frozen=True)
class HyperEuler(HyperStepper):
    """r_dot' = r_dot + h r_ddot, r' = r + h r_dot'; constraints act on r_dot'."""

    name = "symplectic_euler"
    contacts = True

    def taken(self, now: State, before: State | None, h: float, tau: Any, external: Any) -> Reached:
        system = self.hyper.dynamics(now, tau, external)
        response, at_end = system.response(h), replace(system.full, t=now.t + h)
        found = velocities(response, at_end.constraints, h)
        v = response.coordinates(found.motion)
        return Reached(State(now.q + h * v, v, now.t + h), found.multipliers / h)


@dataclass(frozen=True)
class HyperRungeKutta4(HyperStepper):
    """The classical method for (r, r_dot), with constraints on accelerations."""

    name = "rk4"

    def taken(self, now: State, before: State | None, h: float, tau: Any, external: Any) -> Reached:
        y = np.stack([now.q, now.v])
        slope, move, forces = np.zeros_like(y), np.zeros_like(y), np.zeros(constraint_set(self.hyper.model).count)
        for c, weight in zip(KUTTA.nodes, KUTTA.weights, strict=False):  # every stage sees only the one before
            r, r_dot = y + c * h * slope
            system = self.hyper.dynamics(State(r, r_dot, now.t + c * h), tau, external)
            response = system.response()
            found = accelerations(response, system.constraints)
            slope = np.stack([r_dot, response.coordinates(found.motion)])
            move, forces = move + weight * slope, forces + weight * found.multipliers
        r, r_dot = y + h * move
        return Reached(State(r, r_dot, now.t + h), forces)


@dataclass(frozen=True)
class HyperLinearlyImplicit(HyperStepper):
    """The linearly implicit step of `method`."""

    method: LinearlyImplicit
    name = "linearly_implicit"
    contacts = True

    def taken(self, now: State, before: State | None, h: float, tau: Any, external: Any) -> Reached:
        v, info = self.method.velocities(self.hyper.dynamics(now, tau, external, now.t + h), h)
        return Reached(State(now.q + h * v, v, now.t + h), info.forces)


@dataclass(frozen=True)
class HyperImplicit(HyperStepper):
    """The implicit stages of `method`."""

    method: ImplicitStepper
    name = "implicit"

    def check(self, model: Model) -> None:
        if constraint_set(model).count:
            raise InputError(
                f"the stepper {self.method.name!r} steps no constraints in hyper-reduced coordinates; let the map fulfil them, "
                "or use linearly_implicit"
            )

    def taken(self, now: State, before: State | None, h: float, tau: Any, external: Any) -> Reached:
        stage = HyperStage(self.method, cast(Any, self.hyper), now.q, tau, external)  # in place of a model: nv and difference
        return self.method.reached(stage, now, before, h)


class HyperStage(Stage):
    """Stages that move from r; see the module's text."""

    def moved(self, state: State) -> Stage:
        return HyperStage(self.method, self.model, state.q, self.tau, self.external)

    def solved(
        self, s: float, v_c: np.ndarray, a_c: np.ndarray, guess: np.ndarray, t: float, conditions: Conditions = positions
    ) -> Reached:
        hyper = cast(HyperReduced, self.model)

        def motion(u: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
            return self.q + u, s * u + v_c, s * s * u + a_c

        def placed(u: np.ndarray) -> tuple[Moved, Dynamics]:
            m = hyper.map(*motion(u))
            return m, dynamics(hyper.model, State(m.q, m.v, t), self.tau, self.external)

        def residual(u: np.ndarray) -> np.ndarray:
            m, now = placed(u)
            return m.J.T @ motion_residual(now, m.a) / s**2

        def jacobian(u: np.ndarray) -> np.ndarray:
            m, now = placed(u)
            dq, dv, da = motion_derivatives(now, m.a)
            v, a, J = hyper.map.derivatives(*motion(u), (s, s * s))
            dR = dq @ m.J + dv @ v.T + da @ a.T
            return (m.J.T @ dR + np.einsum("kij,i->jk", J, motion_residual(now, m.a))) / s**2

        try:
            u = newton(residual, jacobian, guess, self.method.tolerance, self.method.iterations)
        except SolverError as error:
            raise SolverError(f"{self.method.name} at t = {t:.9g}: {error}") from None
        r, r_dot, _ = motion(u)
        return Reached(State(r, r_dot, t), np.zeros(0))


# By method and name: the stepper of r, and the one whose formulas and options it uses, if any.
STEPPERS: dict[str, dict[str, tuple[Any, Any]]] = {
    "reduced": {"symplectic_euler": (HyperEuler, None), "rk4": (HyperRungeKutta4, None)},
    "redmax": {
        "linearly_implicit": (HyperLinearlyImplicit, LinearlyImplicit),
        **{base.name: (HyperImplicit, base) for base in (BDF1, BDF2, SDIRK2)},
    },
}


def hyper_stepper(hyper: HyperReduced, start: State, method: str, name: str | None, options: dict[str, Any]) -> HyperStepper:
    """The stepper of a name for hyper-reduced coordinates; by default the first of its method."""
    if method not in STEPPERS:
        raise InputError(f"hyper-reduced coordinates have no method {method!r}; choose one of {', '.join(STEPPERS)}")
    name = name or next(iter(STEPPERS[method]))
    if name not in STEPPERS[method]:
        known = ", ".join(STEPPERS[method])
        raise InputError(
            f"there is no stepper {name!r} for hyper-reduced coordinates with method {method!r}; choose one of {known}"
        )
    kind, base = STEPPERS[method][name]
    known = [f.name for f in fields(base)] if base else []
    for option in options:
        if option not in known:
            raise InputError(f"the stepper {name!r} has no option {option!r} here; it has {', '.join(known) or 'none'}")
    chosen = kind(hyper, start, base(**options)) if base else kind(hyper, start)
    if not chosen.contacts and constraint_set(hyper.model).unilateral.any():
        raise InputError(f"the stepper {name!r} cannot step contacts or limits; symplectic_euler and linearly_implicit can")
    chosen.check(hyper.model)
    return chosen
