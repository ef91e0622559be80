"""Implicit steps written out with dense matrices: what programs are compared with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import linkwork as lw
from linkwork.constraints.rows import constraint_set
from linkwork.elements.law import ForceLaw
from linkwork.redmax.definite import nonpositive
from linkwork.redmax.system import Dynamics, dynamics
from linkwork.solvers.kkt import constrained_solve
from linkwork.steppers.implicit_program import ImplicitStepper
from linkwork.steppers.implicit_stage import Stage
from linkwork.steppers.rosenbrock import GAMMA
from linkwork.steppers.tangent import recharted, tangent_rates

DIFFERENCE = 1e-6
CLOSED = 1e-13


# --- linearly implicit ------------------------------------------------------------------------------------------------------
def definite_slopes(now: Dynamics) -> tuple[np.ndarray, np.ndarray]:
    """K and D of the model, where the derivatives of every force have no positive eigenvalue: force by force."""
    model, nv = now.model, now.model.nv
    K, D = np.zeros((nv, nv)), np.diag(model.damping)
    for f in model.elements_of(ForceLaw):
        one = dynamics(model.replace(elements=(f,)), now.state, t=now.t)
        ports = sorted({model.body_index(b) for b in getattr(f, "bodies", ()) if b != "world"})
        (dq, dv), (joint_dq, joint_dv) = one.force_derivatives
        J = now.J.reshape(-1, 6, nv)[ports].reshape(-1, nv)
        at = [6 * i + k for i in ports for k in range(6)]
        for out, B, Bj, sign in ((K, dq, joint_dq, 1.0), (D, dv, joint_dv, -1.0)):
            block = B.dense(model.nb)[np.ix_(at, at)]
            out += sign * (J.T @ nonpositive(block) @ J if at else 0.0) + sign * nonpositive(Bj.dense())
    return K, D


class Middle:
    """Velocity terms at the middle of a step: predicted by the acceleration of the step before, and looked for once more."""

    def __init__(self, model: lw.Model) -> None:
        self.model, self.last, self.pull = model, np.zeros(model.nv), np.zeros(model.nv)

    def terms(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """With the weight, and without damping."""
        return lw.tree_inverse_dynamics(self.model, q, v, np.zeros_like(v)) - self.model.damping * v

    def forces(self, now: Dynamics, h: float, A: np.ndarray, b: np.ndarray) -> np.ndarray:
        """The right-hand side b with velocity terms at the middle instead of at the start."""
        q, v, a, side = now.state.q, now.state.v, self.last, b
        for _ in range(2):
            side = b + h * (self.terms(q, v) - self.terms(q, v + 0.5 * h * a))
            self.free = (np.linalg.solve(A, side) - v) / h
            a = self.free + self.pull
        return side

    def keep(self, a: np.ndarray) -> None:
        self.last, self.pull = a, a - self.free


def implicit_velocities(
    now: Dynamics,
    h: float,
    rows: Any,
    target: np.ndarray,
    slopes: tuple[np.ndarray, np.ndarray] | None = None,
    middle: Middle | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Velocities after a linearly implicit step, (M + h D - h^2 K) v' = M v + h (f + D v), and the impulses of some rows."""
    v, (K, D) = now.state.v, slopes or now.stiffness_and_damping
    A, b = now.M + h * D - h * h * K, now.M @ v + h * (now.f + D @ v)
    if middle is not None:
        b = middle.forces(now, h, A, b)
    found = constrained_solve(A, b, now.dense(rows.rows), target, rows.unilateral)
    if middle is not None:
        middle.keep((found[0] - v) / h)
    return found


def linearly_implicit(
    model: lw.Model,
    state: lw.State,
    h: float,
    tau: Any = None,
    external: Any = None,
    rate: float | None = None,
    slopes: Callable[[Dynamics], tuple[np.ndarray, np.ndarray]] | None = None,
    middle: Middle | None = None,
) -> tuple[lw.State, np.ndarray]:
    """A step, and the forces of the rows; `rate` is that of RedMax, a fifth of the error in a step if None."""
    q, v = recharted(model, state.q, state.v)
    now = dynamics(model, lw.State(q, v, state.t), tau, external, state.t + h)
    touched = ~now.constraints.unilateral | (now.constraints.residual <= 0.0)
    active, forces = now.constraints.restricted(touched), np.zeros(len(touched))
    target = active.given - (0.2 / h if rate is None else rate) * active.residual
    v, impulses = implicit_velocities(now, h, active, target, slopes and slopes(now), middle)
    forces[touched] = impulses / h
    return lw.State(model.integrate(q, h * v), v, state.t + h), forces


# --- rosenbrock -------------------------------------------------------------------------------------------------------------
def rosenbrock(model: lw.Model, state: lw.State, h: float) -> tuple[lw.State, np.ndarray]:
    """A step with any forces and equality constraints, and the forces of the constraints.

    Put in velocities w instead of accelerations, kv = (w - r_q) / g h, both stages have one form,

        (M + g h D - g^2 h^2 K) w = M (r_q + g h r_v) + g h D r_q + G^T x,     G w = G (r_q + g h r_v),     kq = w.
    """
    gh, now = GAMMA * h, dynamics(model, state)
    c, (K, D) = now.constraints, now.stiffness_and_damping
    G, A = now.dense(now.constraints.rows), now.M + gh * D - gh * gh * K
    fell = c.rows @ lw.Motion(now.motion.twists_dot, np.zeros(model.nv))  # G J_dot v
    v, none = state.v, np.zeros(len(G), bool)
    kq, first = constrained_solve(A, now.M @ v + gh * (now.f + D @ v), G, G @ v - gh * (c.bias + fell), none)
    kv = (kq - v) / gh
    end = lw.State(model.integrate(state.q, h * kq), v + h * kv, state.t + h)
    later = dynamics(model, end)
    a, forces = later.accelerations(-later.constraints.bias)
    r_q, r_v = tangent_rates(model, h * kq, end.v) - 2.0 * kq, a - 2.0 * kv
    moved = r_q + gh * r_v
    w, _ = constrained_solve(A, now.M @ moved + gh * D @ r_q, G, G @ moved, none)
    move, gain = 1.5 * kq + 0.5 * w, 1.5 * kv + 0.5 * (w - r_q) / gh
    q, v = recharted(model, model.integrate(state.q, h * move), v + h * gain)
    return lw.State(q, v, state.t + h), 0.5 * (first / gh + forces)


# --- stages by Newton's method ----------------------------------------------------------------------------------------------
class StageProblem:
    """The equations of a stage in x = (u, lam / s^2): M a = f + G^T lam, and the constraints as positions or velocities."""

    def __init__(self, model: lw.Model, q: np.ndarray, stage: Stage, h: float, t: float) -> None:
        self.model, self.q, self.stage, self.t, self.s = model, q, stage, t, 1.0 / (stage.span * h)
        self.v_c = self.a_c = np.zeros(model.nv)

    def state(self, u: np.ndarray) -> lw.State:
        return lw.State(self.model.integrate(self.q, u), self.s * u + self.v_c, self.t)

    def residual(self, x: np.ndarray) -> np.ndarray:
        nv, s = self.model.nv, self.s
        now, a = dynamics(self.model, self.state(x[:nv])), s * s * x[:nv] + self.a_c
        c = now.constraints
        rate, gap = c.rate / s, np.where(constraint_set(self.model).holonomic, c.residual, c.rate / s)
        force = now.f + s * s * now.dense(c.rows).T @ x[nv:]
        return np.concatenate([(now.M @ a - force) / (s * s), rate if self.stage.rates else gap])

    def solve(self, guess: np.ndarray, count: int) -> np.ndarray:
        """By differences of order 2; redundant rows share their forces."""
        x = np.concatenate([guess, np.zeros(count)])
        for _ in range(30):
            columns = [self.residual(x + d) - self.residual(x - d) for d in DIFFERENCE * np.eye(len(x))]
            step = np.linalg.lstsq(np.transpose(columns) / (2 * DIFFERENCE), self.residual(x), rcond=1e-10)[0]
            x = x - step
            if np.abs(step[: len(guess)]).max() < CLOSED:
                return x
        raise AssertionError("the dense stage was not solved")


def implicit_step(
    method: type[ImplicitStepper], model: lw.Model, now: lw.State, before: lw.State | None, h: float
) -> tuple[lw.State, np.ndarray]:
    """A step of bdf1, bdf2 or sdirk2, and the forces of the constraints."""
    nv, count = model.nv, constraint_set(model).count
    w = m = v_b = u = np.zeros(nv)
    if before is not None:
        m, v_b = model.difference(before.q, now.q) / h, before.v
    stages: Sequence[Stage] = method.first if before is None else method.later
    forces = np.zeros(count)
    for k in stages:
        problem = StageProblem(model, now.q, k, h, now.t + k.node * h)
        _, problem.v_c, problem.a_c = k.terms(h, now.v, w, m, v_b)
        x = problem.solve(k.first * h * now.v, count)
        u, w = x[:nv], problem.s * x[:nv] + problem.v_c
        forces = forces + k.weight * problem.s**2 * x[nv:]
    return lw.State(model.integrate(now.q, u), w, now.t + h), forces
