"""Post-stabilisation: a state is put back where its constraints hold, nearest in the metric of the mass [Cline & Pai 2003].

Gauss-Newton steps move the coordinates, then one step the velocities; with rows G and residuals g at q,

    dq = -M^-1 G^T (G M^-1 G^T)^+ g,        dv = -M^-1 G^T (G M^-1 G^T)^+ g_dot.

Constraints that only push are left alone where they are open, and share one problem of complementarity with the others.
"""

from __future__ import annotations

from typing import TypeVar

import numpy as np

from ..constraints.rows import ConstraintRows, constraint_set
from ..constraints.solve import ACTIVE
from ..errors import InputError, SolverError
from ..maximal.convert import to_maximal, to_reduced
from ..model import MaximalState, Model, State, check_state
from ..reduced.response import factor_reduced
from ..solvers.complementarity import multipliers
from .constrained import rows_at
from .tangent import recharted

CUT = 1e-10  # of G M^-1 G^T with a unit diagonal: directions that answer less are redundant rows, seen off the manifold
Kind = TypeVar("Kind", State, MaximalState)
CHOICES = ("none", "baumgarte", "project")


def check_choice(owner: str, given: str, known: tuple[str, ...]) -> None:
    """Raise unless a way to stabilise is known."""
    if given not in known:
        raise InputError(f"{owner}: stabilise must be one of {', '.join(known)}, not {given!r}")


def project(model: Model, state: Kind, tolerance: float = 1e-10, iterations: int = 30) -> Kind:
    """The nearest state, in the metric of the mass, whose coordinates and velocities obey the constraints at the time state.t.

    tolerance    largest residual that may remain (m or rad); SolverError if `iterations` Gauss-Newton steps leave more
    A `MaximalState` is fitted to its joints first.
    """
    if isinstance(state, MaximalState):
        return to_maximal(model, project(model, to_reduced(model, state), tolerance, iterations))
    check_state(model, state)
    if state.q.ndim > 1:
        raise InputError("project: one state at a time")
    for _ in range(iterations):
        if violation(rows_at(model, state, state.t)) <= tolerance:
            return with_velocities(model, state)
        state = with_positions(model, state)
    left = violation(rows_at(model, state, state.t))
    if not left <= tolerance:
        raise SolverError(
            f"project: after {iterations} steps a constraint is still violated by {left:.3g}; the constraints contradict one "
            "another, or the start is too far away. lw.constraint_report says which do"
        )
    return with_velocities(model, state)


def post_stabilised(model: Model, state: State | MaximalState, steps: int = 1) -> State | MaximalState:
    """A state after a few Gauss-Newton steps, however far they come: what follows a step in time."""
    if isinstance(state, MaximalState):
        return to_maximal(model, _stepped(model, to_reduced(model, state), steps))
    return _stepped(model, state, steps)


def _stepped(model: Model, state: State, steps: int) -> State:
    if not constraint_set(model).count:
        return state
    for _ in range(steps):
        state = with_positions(model, state)
    return with_velocities(model, state)


def violation(c: ConstraintRows) -> float:
    """The largest residual; of constraints that only push, the deepest."""
    return float(np.where(c.unilateral, np.maximum(-c.residual, 0.0), np.abs(c.residual)).max(initial=0.0))


def with_positions(model: Model, state: State) -> State:
    """One Gauss-Newton step of the coordinates."""
    c = rows_at(model, state, state.t)
    q, v = recharted(model, model.integrate(state.q, _correction(model, state, c, c.residual)), state.v)
    return State(q, v, state.t)


def with_velocities(model: Model, state: State) -> State:
    """The nearest velocities that the constraints allow."""
    c = rows_at(model, state, state.t)
    c = c.restricted(~c.unilateral | (c.residual <= ACTIVE))
    return State(state.q, state.v + _correction(model, state, c, c.rate), state.t)


def _correction(model: Model, state: State, c: ConstraintRows, error: np.ndarray) -> np.ndarray:
    """The smallest move with G move = -error, or >= for those that only push."""
    if not c.rows.count:
        return np.zeros(model.nv)
    response = factor_reduced(model, state.q)
    x = _multipliers(response.delassus(c.rows), error, c.unilateral)
    return response.apply(*c.rows.transposed(x, model.nb, model.nv)).joints


def _multipliers(A: np.ndarray, error: np.ndarray, unilateral: np.ndarray) -> np.ndarray:
    if unilateral.any():
        return multipliers(A, error, unilateral)
    diagonal = np.diagonal(A)
    unit = 1.0 / np.sqrt(
        np.where(diagonal > 1e-20 * diagonal.max(), diagonal, np.inf)
    )  # rows of any units; empty ones do nothing
    return unit * np.linalg.lstsq(A * np.outer(unit, unit), -unit * error, rcond=CUT)[0]
