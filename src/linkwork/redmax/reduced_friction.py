"""Friction inside joints together with all constraints, in joint velocities; in turn with the reactions, as in `bisp`.

    minimise |v' - v_free|^2 in the metric of A,     v' - v_free = A^-1 (J^T T^T beta + G^T lam),   |beta| <= mu |alpha|,

with alpha of the reactions that the motion before leaves to the joints. The same friction as that of bilateral staggered
projections, whose two solves are one here: only the limits wait for the next round.
"""

from __future__ import annotations

import numpy as np

from ..solvers.quadratic import in_discs
from .bisp import StaggeredStep


class ReducedStep(StaggeredStep):
    """One step of a model at a state, see the module's text."""

    def project(self, friction: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The same reactions and friction."""
        B = np.concatenate([self.tangents @ self.now.J, self.G])
        if not len(B):
            return self.carried(np.linalg.solve(self.A, self.b), friction, np.zeros(0)), np.zeros(len(friction))
        Y = np.linalg.solve(self.A, np.column_stack([self.b, B.T]))
        A, free = B @ Y[:, 1:], B @ Y[:, 0]
        free[len(self.tangents) :] -= self.target
        pushes = np.where(self.constraints.unilateral, 0.0, -np.inf)
        most, reactions = np.zeros(len(self.tangents)), np.zeros(len(friction))
        for _ in range(self.stop.rounds):
            self.rounds += 1
            unbounded = np.full(len(pushes), np.inf)
            bounds = np.concatenate([-most, pushes]), np.concatenate([most, unbounded])
            x = in_discs(A, free, *bounds, self.discs_of(np.arange(len(most))))
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
