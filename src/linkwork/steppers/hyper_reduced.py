"""Steps of hyper-reduced coordinates q = f(r): the usual methods, in the space of r.

Explicit: symplectic Euler, and Runge-Kutta of order 4. Implicit: linearly implicit Euler; and bdf1, bdf2 and sdirk2, whose stages
solve for the move u of r, with r_dot = s u + v_c and r_ddot = s^2 u + a_c as in `implicit_stage`,

    J^T R = 0,     R = M v_dot - f     at r + u,     v_dot = J r_ddot + J_dot r_dot,

by Newton's method with the exact derivative J^T dR + dJ^T R.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from ..constraints.rows import constraint_set
from ..constraints.solve import CORRECTION, accelerations, velocities
from ..errors import InputError, SolverError
from ..model import Model, State
from ..redmax.coordinate_map import Moved
from ..redmax.definite import nonpositive
from ..redmax.hyper_reduced import HyperReduced
from ..redmax.implicit import motion_derivatives, motion_residual
from ..redmax.system import Dynamics, dynamics
from ..solvers.newton import newton
from .bdf import BDF1, BDF2
from .hyper_stepper import HyperStepper, Reached
from .implicit_program import HALVINGS, ImplicitStepper
from .linearly_implicit import LinearlyImplicit
from .sdirk2 import SDIRK2
from .tableau import KUTTA


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
        m, system = self.method, self.hyper.dynamics(now, tau, external, now.t + h)
        pull, c = CORRECTION / h if m.baumgarte is None else m.baumgarte, system.constraints
        touched = ~c.unilateral | (c.residual <= 0.0)
        active, forces = c.restricted(touched), np.zeros(len(touched))
        kept = nonpositive if m.stiffness == "definite" else None
        v, impulses = system.implicit_velocities(h, active, active.given - pull * active.residual, kept)
        forces[touched] = impulses / h
        return Reached(State(now.q + h * v, v, now.t + h), forces)


@dataclass(frozen=True)
class HyperImplicit(HyperStepper):
    """The implicit stages of `method`; a step whose stage has no solution is taken in halves."""

    method: ImplicitStepper
    name = "implicit"

    def check(self, model: Model) -> None:
        if constraint_set(model).count:
            raise InputError(
                f"the stepper {self.method.name!r} steps no constraints in hyper-reduced coordinates; let the map fulfil them, "
                "or use linearly_implicit"
            )

    def taken(self, now: State, before: State | None, h: float, tau: Any, external: Any) -> Reached:
        return Reached(self._reached(now, before, h, tau, external, HALVINGS), np.zeros(0))

    def _reached(self, now: State, before: State | None, h: float, tau: Any, external: Any, halvings: int) -> State:
        """The end of a step, or of shorter steps where it has no solution."""
        try:
            return self._stages(now, before, h, tau, external)
        except SolverError as error:
            if not halvings:
                raise SolverError(f"{error}, though the step was halved {HALVINGS} times; try a shorter step") from None
        middle = self._reached(now, None, 0.5 * h, tau, external, halvings - 1)
        return self._reached(middle, None, 0.5 * h, tau, external, halvings - 1)

    def _stages(self, now: State, before: State | None, h: float, tau: Any, external: Any) -> State:
        v, w, u = now.v, 0.0 * now.v, now.v
        m, v_b = (w, w) if before is None else ((now.q - before.q) / h, before.v)
        for k in self.method.first if before is None else self.method.later:
            s, v_c, a_c = k.terms(h, v, w, m, v_b)
            stage = HyperStage(self.hyper, now.q, s, v_c, a_c, now.t + k.node * h, tau, external)
            try:
                u = newton(stage.residual, stage.jacobian, k.first * h * v, self.method.tolerance, self.method.iterations)
            except SolverError as error:
                raise SolverError(f"{self.method.name} at t = {stage.t:.9g}: {error}") from None
            w = s * u + v_c
        return State(now.q + u, w, now.t + h)


@dataclass(frozen=True, eq=False)
class HyperStage:
    """The equation of a stage that moves from r; see the module's text."""

    hyper: HyperReduced
    r: np.ndarray
    s: float
    v_c: np.ndarray
    a_c: np.ndarray
    t: float
    tau: Any
    external: Any

    def motion(self, u: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """r, r_dot and r_ddot."""
        return self.r + u, self.s * u + self.v_c, self.s * self.s * u + self.a_c

    def placed(self, u: np.ndarray) -> tuple[Moved, Dynamics]:
        """The model there."""
        m = self.hyper.map(*self.motion(u))
        return m, dynamics(self.hyper.model, State(m.q, m.v, self.t), self.tau, self.external)

    def residual(self, u: np.ndarray) -> np.ndarray:
        m, now = self.placed(u)
        return m.J.T @ motion_residual(now, m.a) / self.s**2

    def jacobian(self, u: np.ndarray) -> np.ndarray:
        m, now = self.placed(u)
        dq, dv, da = motion_derivatives(now, m.a)
        v, a, J = self.hyper.map.derivatives(*self.motion(u), (self.s, self.s**2))
        dR = dq @ m.J + dv @ v.T + da @ a.T
        return (m.J.T @ dR + np.einsum("kij,i->jk", J, motion_residual(now, m.a))) / self.s**2


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
