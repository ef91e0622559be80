"""Implicit stages with any forces and equality constraints, solved by Newton's method: what bdf1, bdf2 and sdirk2 share.

With u the move of the coordinates in the step, s of order 1/h, and v_c, a_c from states before, a stage is

    v = s u + v_c,     a = s^2 u + a_c,     M(q + u) a = f(q + u, v) + G^T lam,     g(q + u, t) = 0.

Constraints hold as positions at the end of a step; those that have none (prescribed twists) as velocities. Unknowns are u and
lam / s^2. Derivatives of the forces are exact; of G^T lam, body wrenches are held in body axes: what is left out is of order
h^2 lam, so that with constraints Newton's method converges linearly, by that factor. Joint forces are held during a step; time
functions are those of the stage. Charts of joints change between steps; the state before is then put into the new one too.

A step whose stage has no solution is taken in halves, quarters, ... by the method's own single steps.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from ..constraints.rows import ConstraintRows, constraint_set
from ..errors import InputError, SolverError
from ..model import Model, State
from ..redmax.implicit import motion_derivatives, motion_residual
from ..redmax.program import stiff_laws
from ..redmax.system import Dynamics, dynamics
from ..solvers.kkt import constrained_solve
from ..solvers.newton import newton
from .efforts import Efforts
from .fixed import Control, FixedRun
from .implicit_program import CLOSED, Scheme, UnsolvedError, implicit_program
from .inputs import DrivenModel
from .sequential import SequentialStepper
from .stepper import Program, Solution, StepInfo
from .tangent import adds

HALVINGS = 4

Conditions = Callable[[ConstraintRows, np.ndarray, float], np.ndarray]


def positions(c: ConstraintRows, holonomic: np.ndarray, s: float) -> np.ndarray:
    """What must vanish at the end of a step, in units of positions."""
    return np.where(holonomic, c.residual, c.rate / s)


def velocities(c: ConstraintRows, holonomic: np.ndarray, s: float) -> np.ndarray:
    """The rates of all constraints instead, in the same units."""
    return c.rate / s


@dataclass(frozen=True, eq=False)
class Reached:
    """Where a stage or step leads, and the forces of the constraints on the way."""

    state: State
    forces: np.ndarray


@dataclass(frozen=True)
class ImplicitStepper(SequentialStepper):
    """Base of methods made of implicit stages; `taken` is one step of theirs.

    tolerance    residual of u, in units of mass times coordinates, that is small enough; 0: every stage is solved to rounding
    iterations   of Newton's method, at most
    """

    tolerance: float = 0.0
    iterations: int = 50

    formulations: ClassVar[tuple[str, ...]] = ("reduced", "redmax")
    scheme: ClassVar[Scheme | None] = None

    def compiles(self, model: Model, method: str) -> bool:
        """Where every stage is solved to rounding, and no force couples distant bodies."""
        plain = self.tolerance == 0.0 and self.iterations == 50
        return self.scheme is not None and plain and stiff_laws(model).solvable

    def program(self, method: str, model: Model) -> Program:
        assert self.scheme is not None
        return implicit_program(model, self.scheme)

    def solve(
        self,
        model: Model,
        state: State,
        h: float,
        steps: int,
        every: int,
        control: Control | None,
        tau: Any,
        external: Any,
        driven: DrivenModel | None = None,
    ) -> Solution:
        """As a program, or where a stage has no solution in Python, by shorter steps."""
        if self.compiles(model, "redmax"):
            run = FixedRun(model, state, self, "redmax", h, steps, every, Efforts(model))
            run.tau, run.external, run.driven = tau, external, driven
            try:
                return run.solve(control)
            except UnsolvedError:
                if state.q.ndim > 1:
                    raise
        return super().solve(model, state, h, steps, every, control, tau, external, driven)

    def taken(self, stage: Stage, state: State, before: State | None, h: float) -> Reached:
        """The end of a step; `before` is the state one step earlier, if there is one."""
        raise TypeError(f"{type(self).__name__} must define taken")

    def check(self, model: Model) -> None:
        for body in model.bodies:
            if not adds(body.joint):
                raise InputError(
                    f"the stepper {self.name!r} needs joints whose velocities are the rates of their coordinates; "
                    f"joint {body.joint_name!r} ({body.joint!r}) is none, SphericalExp and FreeExp are"
                )

    def step(self, model: Model, state: State, memory: Any, h: float, tau: Any, external: Any) -> tuple[State, Any, StepInfo]:
        end = self.reached(Stage(self, model, state.q, tau, external), state, memory, h)
        return *together(model, end.state, state), StepInfo(end.forces)

    def reached(self, stage: Stage, state: State, before: State | None, h: float, halvings: int = HALVINGS) -> Reached:
        """The end of a step, or of shorter steps where it has no solution."""
        try:
            return self.taken(stage, state, before, h)
        except SolverError as error:
            if not halvings:
                raise SolverError(f"{error}, though the step was halved {HALVINGS} times; try a shorter step") from None
        middle = self.reached(stage, state, None, 0.5 * h, halvings - 1)
        end = self.reached(stage.moved(middle.state), middle.state, None, 0.5 * h, halvings - 1)
        return Reached(end.state, 0.5 * (middle.forces + end.forces))


@dataclass(frozen=True, eq=False)
class Stage:
    """Stages that move from q, with the forces of one step."""

    method: ImplicitStepper
    model: Model
    q: np.ndarray
    tau: Any
    external: Any

    def moved(self, state: State) -> Stage:
        """The same from another state."""
        return Stage(self.method, self.model, state.q, self.tau, self.external)

    def solved(
        self, s: float, v_c: np.ndarray, a_c: np.ndarray, guess: np.ndarray, t: float, conditions: Conditions = positions
    ) -> Reached:
        """The state with v = s u + v_c and a = s^2 u + a_c that obeys the equation of motion and the constraints."""
        model, nv, count = self.model, self.model.nv, constraint_set(self.model).count
        problem = _Problem(self, s, v_c, a_c, t, conditions)
        x = np.concatenate([guess, np.zeros(count)])
        try:
            if count:
                x = newton(problem.residual, problem.jacobian, x, self.method.tolerance, self.method.iterations, problem.step)
                self._closed(problem.residual(x)[nv:])
            else:
                x = newton(problem.residual, problem.jacobian, x, self.method.tolerance, self.method.iterations)
        except SolverError as error:
            raise SolverError(f"{self.method.name} at t = {t:.9g}: {error}") from None
        return Reached(problem.state(model.integrate(self.q, x[:nv]), x), s * s * x[nv:])

    def _closed(self, gap: np.ndarray) -> None:
        """Raise if constraints that contradict one another were left open."""
        if not np.abs(gap).max() <= max(CLOSED, self.method.tolerance):
            raise SolverError(f"the constraints cannot all hold, {np.abs(gap).max():.3g} is left")


@dataclass(frozen=True, eq=False)
class _Problem:
    """The equations of one stage in x = (u, lam / s^2)."""

    stage: Stage
    s: float
    v_c: np.ndarray
    a_c: np.ndarray
    t: float
    conditions: Conditions

    def state(self, q: np.ndarray, x: np.ndarray) -> State:
        return State(q, self.s * x[: self.stage.model.nv] + self.v_c, self.t)

    def _at(self, x: np.ndarray) -> tuple[Dynamics, np.ndarray, np.ndarray, np.ndarray]:
        """The dynamics with the forces of the constraints, accelerations, and the rows and residuals of the constraints."""
        model, given = self.stage.model, self.stage
        nv, s = model.nv, self.s
        state, a = self.state(model.integrate(given.q, x[:nv]), x), s * s * x[:nv] + self.a_c
        now = dynamics(model, state, given.tau, given.external)
        if len(x) == nv:
            return now, a, np.zeros((0, nv)), np.zeros(0)
        c = now.constraints
        wrenches, tau = c.rows.transposed(s * s * x[nv:], model.nb, nv)
        held = replace(now, wrenches=now.wrenches + wrenches, forces=now.forces + tau)
        return held, a, now.dense(c.rows), self.conditions(c, constraint_set(model).holonomic, s)

    def residual(self, x: np.ndarray) -> np.ndarray:
        now, a, _, gap = self._at(x)
        return np.concatenate([motion_residual(now, a) / self.s**2, gap])

    def jacobian(self, x: np.ndarray) -> np.ndarray:
        now, a, G, gap = self._at(x)
        dq, dv, da = motion_derivatives(now, a)
        A = dq / self.s**2 + dv / self.s + da
        return np.block([[A, -G.T], [G, np.zeros((len(gap), len(gap)))]]) if len(gap) else A

    def step(self, J: np.ndarray, r: np.ndarray) -> np.ndarray:
        """J^-1 r, where redundant constraints share their forces."""
        if not (np.all(np.isfinite(J)) and np.all(np.isfinite(r))):
            raise SolverError("Newton's method met numbers that are not finite")
        nv = self.stage.model.nv
        x, y = constrained_solve(J[:nv, :nv], r[:nv], J[nv:, :nv], r[nv:], np.zeros(len(r) - nv, bool))
        return np.concatenate([x, y])


def together(model: Model, now: State, before: State) -> tuple[State, State]:
    """Two neighbouring states, in charts that suit the first and are the same for both."""
    q, v, q_before, v_before = now.q.copy(), now.v.copy(), before.q.copy(), before.v.copy()
    for body in model.bodies:
        if body.joint.charted:
            i, j = model.q_index(body.name), model.v_index(body.name)
            found = body.joint.rechart_together((q[i], v[j]), (q_before[i], v_before[j]))
            (q[i], v[j]), (q_before[i], v_before[j]) = found
    return State(q, v, now.t), State(q_before, v_before, before.t)
