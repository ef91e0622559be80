"""Gauss-Newton steps to where constraints hold (`reduced.projection`), of a batch, with a line search.

A step turns no joint by more than STEP, and is halved until the sum of the squared errors falls, so that an assembly far from
closed, or one that cannot close, ends where nothing near is better instead of jumping about.
"""

from __future__ import annotations

import numpy as np

from ..constraints.report import constraint_report
from ..constraints.rows import constraint_set
from ..elements.collection import collection
from ..errors import SolverError
from ..model import Model
from ..model.degrees import turning_velocities
from ..reduced.projection import POSITIONS, Projection, projection

STEP = 0.5  # rad: the longest turn of a joint in a step; longer ones wind joints where rows are nearly singular
HALVINGS = 30  # of a step, at most
ENOUGH = 1e-4  # of the fall that a step promises: it is taken then


def violated(model: Model, error: np.ndarray) -> np.ndarray:
    """The part of errors (..., rows) that counts: of rows that only push what is negative, of rows on velocities none."""
    c = constraint_set(model)
    return np.where(c.holonomic, np.where(c.unilateral, np.minimum(error, 0.0), error), 0.0)


class Closing:
    """Configurations (batch, nq) on their way."""

    def __init__(self, model: Model, t: float, q: np.ndarray) -> None:
        self.model, self.t, self.q = model, t, q
        self.steps: Projection = projection(model)
        self.turning = turning(model)
        self.still = np.zeros((len(q), model.nv))
        self.unknown = collection(model).first_unknowns(q)
        self.change, self.error = self._look(q, np.ones(len(q), bool))

    def _look(self, q: np.ndarray, keep: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        out = self.steps.step(POSITIONS, q, self.still, self.t, self.unknown)
        self.unknown = np.where(keep[:, None], out["foot"], self.unknown)
        return out["free_v"], violated(self.model, out["error"])

    def step(self, tolerance: float) -> bool:
        """One step of those that are open; False once none moves."""
        size = np.sum(self.error**2, axis=1)
        open_ones = np.abs(self.error).max(axis=1, initial=0.0) > tolerance
        turn = np.abs(np.where(self.turning, self.change, 0.0)).max(axis=1, initial=0.0)
        share = np.where(open_ones & np.isfinite(turn), np.minimum(1.0, STEP / np.maximum(turn, STEP)), 0.0)
        waiting, moved = share > 0.0, False
        for _ in range(HALVINGS):
            if not waiting.any():
                break
            q = self.model.integrate(self.q, np.where(waiting[:, None], share[:, None] * self.change, 0.0))
            change, error = self._look(q, waiting)
            better = waiting & (np.sum(error**2, axis=1) <= (1.0 - ENOUGH * share) * size)
            moved = moved or bool(better.any())
            self.q = np.where(better[:, None], q, self.q)
            self.change, self.error = (np.where(better[:, None], a, b) for a, b in ((change, self.change), (error, self.error)))
            waiting, share = waiting & ~better, 0.5 * share
        return moved

    def run(self, tolerance: float, iterations: int) -> Closing:
        """Steps until all are closed or nothing moves."""
        for _ in range(iterations):
            if not self.step(tolerance):
                break
        return self

    def closed(self, tolerance: float) -> np.ndarray:
        """Which are closed (batch,)."""
        return np.abs(self.error).max(axis=1, initial=0.0) <= tolerance

    def take(self, states: np.ndarray, others: Closing, chosen: np.ndarray) -> None:
        """Put some of other configurations in the place of these."""
        for name in ("q", "unknown", "change", "error"):
            getattr(self, name)[states] = getattr(others, name)[chosen]

    def check(self, tolerance: float) -> None:
        """Raise where a residual stays, with what keeps it."""
        left = np.abs(self.error).max(axis=1, initial=0.0)
        worst = int(np.argmax(np.where(np.isfinite(left), left, np.inf)))
        if left[worst] <= tolerance:
            return
        row = int(np.argmax(np.abs(self.error[worst])))
        law = owner(self.model, row)
        one = f" of state {worst}" if len(left) > 1 else ""
        also = _inconsistent(self.model, self.q[worst], self.t, law)
        raise SolverError(
            f"{law}{one} is still violated by {left[worst]:.3g}, and nothing near is better{also}: the constraints contradict "
            "one another, or the start is too far away. lw.constraint_report says more"
        )


def turning(model: Model) -> np.ndarray:
    """Whether each velocity (nv,) turns a body."""
    return model.keep_as(
        turning, lambda: np.concatenate([np.zeros(0, bool), *(turning_velocities(b.joint) for b in model.bodies)])
    )


def owner(model: Model, row: int) -> str:
    """The constraint of a row."""
    return [repr(c) for c in collection(model).rows for _ in range(c.size)][row]


def _inconsistent(model: Model, q: np.ndarray, t: float, law: str) -> str:
    """Other constraints that no motion satisfies together with this one."""
    found = constraint_report(model, q, t).inconsistent
    others = dict.fromkeys(name.rpartition(" row ")[0] for name in found)
    names = [name for name in others if name != law]
    return f" (with {', '.join(names[:4])}{', ...' if len(names) > 4 else ''})" if names else ""
