"""Closed states: a state is put where its constraints hold, in position and velocity.

Gauss-Newton steps (`reduced.projection`) with a line search: a step is halved until the sum of the squared errors falls, so that
an assembly far from closed, or one that cannot close, ends where nothing near is better instead of jumping about.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from ..constraints.report import constraint_report
from ..constraints.rows import constraint_set
from ..elements.collection import collection
from ..errors import SolverError
from ..maximal.convert import to_maximal, to_reduced
from ..model import MaximalState, Model, State, check_state
from ..model.accepts import check_model
from ..reduced.projection import POSITIONS, RATES, Projection, projection
from ..spatial.gate import given_count, given_positive
from .tangent import recharted

HALVINGS = 30  # of a step, at most
ENOUGH = 1e-4  # of the fall that a step promises: it is taken then
RATE = 1e-9  # of the largest velocity: rates that stay contradict one another
Kind = TypeVar("Kind", bound=State | MaximalState)


def assemble(model: Model, state: Kind, tolerance: float = 1e-10, iterations: int = 100) -> Kind:
    """The closed state near a given one, or near each of a batch: equality constraints hold, those that only push do not overlap.

    Every step is the shortest in the metric of the mass, and velocities are the nearest in that metric; constraints are those at
    the time state.t. A `MaximalState` is closed at its joints, too.

    tolerance    largest residual (m or rad) that may remain
    iterations   Gauss-Newton steps at most
    Raises SolverError where residuals stay, with the constraint that keeps the largest of them.

    >>> closed = model.add(lw.Loop("lower", "world", (1, 0, 0), (1.5, 0, 0)))
    >>> start = lw.assemble(closed, state)
    >>> bool(lw.constraint_report(closed, start.q).residual < 1e-9)
    True
    """
    check_model(model)
    given_positive("tolerance", tolerance)
    given_count("iterations", iterations, 0)
    if isinstance(state, MaximalState):
        found = to_maximal(model, assemble(model, to_reduced(model, state), tolerance, iterations))
        return replace(found, t=state.t)  # type: ignore[return-value]
    check_state(model, state)
    if not collection(model).rows:
        return state
    single = state.q.ndim == 1
    q, v = (np.array(np.atleast_2d(x)) for x in (state.q, state.v))
    batch = max(len(q), len(v))
    q, v = (np.ascontiguousarray(np.broadcast_to(x, (batch, x.shape[1]))) for x in (q, v))
    closing = _Closing(model, state.t, q)
    for _ in range(iterations):
        if not closing.step(tolerance):
            break
    closing.check(tolerance)
    q, v = recharted(model, closing.q, v)
    out = closing.steps.step(RATES, q, v, state.t, closing.unknown)
    v = v + out["free_v"]
    _check_rates(model, state.t, q, out, v)
    return replace(state, q=q[0] if single and state.v.ndim == 1 else q, v=v[0] if single and state.v.ndim == 1 else v)


def violated(model: Model, error: np.ndarray) -> np.ndarray:
    """The part of errors (..., rows) that counts: of rows that only push what is negative, of rows on velocities none."""
    c = constraint_set(model)
    return np.where(c.holonomic, np.where(c.unilateral, np.minimum(error, 0.0), error), 0.0)


class _Closing:
    """Configurations (batch, nq) on their way."""

    def __init__(self, model: Model, t: float, q: np.ndarray) -> None:
        self.model, self.t, self.q = model, t, q
        self.steps: Projection = projection(model)
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
        share = np.where(open_ones & np.isfinite(self.change).all(axis=1), 1.0, 0.0)
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

    def check(self, tolerance: float) -> None:
        """Raise where a residual stays, with what keeps it."""
        left = np.abs(self.error).max(axis=1, initial=0.0)
        worst = int(np.argmax(np.where(np.isfinite(left), left, np.inf)))
        if left[worst] <= tolerance:
            return
        row = int(np.argmax(np.abs(self.error[worst])))
        law = _owner(self.model, row)
        one = f" of state {worst}" if len(left) > 1 else ""
        also = _inconsistent(self.model, self.q[worst], self.t, law)
        raise SolverError(
            f"{law}{one} is still violated by {left[worst]:.3g}, and nothing near is better{also}: the constraints contradict "
            "one another, or the start is too far away. lw.constraint_report says more"
        )


def _owner(model: Model, row: int) -> str:
    """The constraint of a row."""
    return [repr(c) for c in collection(model).rows for _ in range(c.size)][row]


def _inconsistent(model: Model, q: np.ndarray, t: float, law: str) -> str:
    """Other constraints that no motion satisfies together with this one."""
    found = constraint_report(model, q, t).inconsistent
    others = dict.fromkeys(name.rpartition(" row ")[0] for name in found)
    names = [name for name in others if name != law]
    return f" (with {', '.join(names[:4])}{', ...' if len(names) > 4 else ''})" if names else ""


def _check_rates(model: Model, t: float, q: np.ndarray, out: dict[str, np.ndarray], v: np.ndarray) -> None:
    """Raise where velocities that constraints ask for contradict one another."""
    allowed: Any = RATE * (1.0 + np.abs(v).max(axis=1) + np.abs(out["error"]).max(axis=1, initial=0.0))
    wrong = out["left"][:, 0] > allowed
    if wrong.any():
        worst = int(np.argmax(out["left"][:, 0] - allowed))
        after = projection(model).step(RATES, q, v, t, out["foot"])["error"][worst]
        row = int(np.argmax(np.abs(after)))
        raise SolverError(
            f"no velocity satisfies {_owner(model, row)} together with the others: a rate of {abs(after[row]):.3g} stays. "
            "lw.constraint_report says which contradict one another"
        )
