"""Runs of scene files with friction, step by step: as published, and twice as they should be.

The second of the right ones shares the contacts of `redmax.bisp`, not the projections: friction is found together with all
constraints, in joint velocities, and what joints carry from the motion that is left,

    minimise |v' - v_free|^2 in the metric of A,  v' - v_free = A^-1 (J^T T^T beta + G^T lam),  |beta| <= mu |alpha|.
"""

from __future__ import annotations

import numpy as np

from ..io.redmax import Problem, Run
from ..io.redmax.published_friction import PublishedStep
from ..model import State
from ..redmax.bisp import StaggeredStep, Stop
from ..solvers.quadratic import boxed
from ..steppers.tangent import recharted

CONVERGED = Stop(rounds=400, enough=1e-20)


class ReducedStep(StaggeredStep):
    """See the module's text."""

    def project(self, friction: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The same reactions and friction."""
        B = np.concatenate([self.tangents @ self.now.J, self.G])
        Y = np.linalg.solve(self.A, np.column_stack([self.b, B.T]))
        A, free = B @ Y[:, 1:], B @ Y[:, 0]
        free[len(self.tangents) :] -= self.target
        pushes = np.where(self.constraints.unilateral, 0.0, -np.inf)
        most, reactions = np.zeros(len(self.tangents)), np.zeros(len(friction))
        for _ in range(self.stop.rounds):
            self.rounds += 1
            unbounded = np.full(len(pushes), np.inf)
            x = boxed(A, free, np.concatenate([-most, pushes]), np.concatenate([most, unbounded]))
            friction, lam = self.tangents.T @ x[: len(most)] / self.h, x[len(most) :]
            before, reactions = reactions, self.carried(Y[:, 0] + Y[:, 1:] @ x, friction, lam)
            if np.abs(reactions - before).max() <= np.sqrt(self.stop.enough) * np.abs(reactions).max():
                break
            most = self.limits(self.pressures(reactions, lam), lam)
        return reactions, friction

    def carried(self, v: np.ndarray, friction: np.ndarray, lam: np.ndarray) -> np.ndarray:
        """The reactions on the bodies with v' = v."""
        gained = self.mass @ (self.now.J @ v) + self.turning - self.momentum - self.G_m.T @ lam
        return gained / self.h - friction


ROUTES: dict[str, tuple[type[StaggeredStep], Stop | None]] = {
    "published": (PublishedStep, None),
    "staggered": (StaggeredStep, CONVERGED),
    "reduced": (ReducedStep, CONVERGED),
}


def friction_run(p: Problem, wanted: Run, route: str) -> State:
    """The end of a run by one of the routes; the friction of a step begins with that of the one before."""
    assert p.friction is not None
    kind, stop = ROUTES[route]
    now, wrenches, h = p.state, np.zeros(6 * p.model.nb), wanted.h
    for _ in range(wanted.steps):
        tau = p.control(now.t, now) if p.control else None
        step = p.friction.step(kind, p.model, now, tau, h, wanted.baumgarte[2], stop or p.friction.stop)
        reactions, wrenches = step.project(wrenches)
        v = step.end(reactions, wrenches)
        now = State(*recharted(p.model, p.model.integrate(now.q, h * v), v), now.t + h)
    return now
