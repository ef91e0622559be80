"""Post-stabilisation: a state is put back where its constraints hold, nearest in the metric of the mass [Cline & Pai 2003].

Gauss-Newton steps move the coordinates, then one step the velocities; with rows G and residuals g at q,

    dq = -M^-1 G^T (G M^-1 G^T)^+ g,        dv = -M^-1 G^T (G M^-1 G^T)^+ g_dot.

In reduced coordinates that is a program (`reduced.projection`). In maximal coordinates the rows of the joints are among them:
`closing` answers those, constraints see the response that is left.
Constraints that only push are left alone where they are open, and share one problem of complementarity with the others.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

import numpy as np

from ..constraints.rows import ConstraintRows, constraint_set
from ..constraints.solve import ACTIVE
from ..elements.collection import collection
from ..errors import InputError, SolverError
from ..kernel.sweep import Algorithm
from ..maximal.closing import CLOSE_POSITIONS, CLOSE_VELOCITIES, closing_motion, displaced
from ..maximal.convert import to_reduced
from ..maximal.response import MaximalResponse
from ..model import MaximalState, Model, Motion, State
from ..reduced.projection import POSITIONS, RATES, projection
from ..solvers.complementarity import multipliers
from .assemble import assemble
from .constrained import rows_at
from .tangent import recharted

CUT = 1e-10  # of G M^-1 G^T with a unit diagonal: directions that answer less are redundant rows, seen off the manifold
Kind = TypeVar("Kind", bound=State | MaximalState)
CHOICES = ("none", "baumgarte", "project")


def check_choice(owner: str, given: str, known: tuple[str, ...]) -> None:
    """Raise unless a way to stabilise is known."""
    if given not in known:
        raise InputError(f"{owner}: stabilise must be one of {', '.join(known)}, not {given!r}")


def project(model: Model, state: Kind, tolerance: float = 1e-10, iterations: int = 30) -> Kind:
    """The nearest state, in the metric of the mass, whose coordinates and velocities obey the constraints at the time state.t.

    tolerance    largest residual that may remain (m or rad); SolverError if `iterations` Gauss-Newton steps leave more
    `assemble` does the same for reduced states. In a `MaximalState` joints are constraints, too, and poses move by themselves.
    """
    if isinstance(state, State):
        return assemble(model, state, tolerance, iterations)
    state = _refitted(model, state)
    for _ in range(iterations):
        if _error(model, state) <= tolerance:
            return with_velocities(model, state)
        state = with_positions(model, state)
    left = _error(model, state)
    if not left <= tolerance:
        raise SolverError(
            f"project: after {iterations} steps a constraint is still violated by {left:.3g}; the constraints contradict one "
            "another, or the start is too far away. lw.constraint_report says which do"
        )
    return with_velocities(model, state)


def post_stabilised(model: Model, state: Kind, steps: int = 1) -> Kind:
    """A state after a few Gauss-Newton steps, however far they come: what follows a step in time."""
    if isinstance(state, State):
        return _post_stabilised(model, state, steps) if constraint_set(model).count else state
    state = _refitted(model, state)
    for _ in range(steps):
        state = with_positions(model, state)
    return with_velocities(model, state)


def _post_stabilised(model: Model, state: State, steps: int) -> State:
    by, q, v = projection(model), state.q[None], state.v[None]
    unknown = collection(model).first_unknowns(q)
    for _ in range(steps):
        out = by.step(POSITIONS, q, v, state.t, unknown)
        unknown = out["foot"]
        q, v = recharted(model, model.integrate(q, out["free_v"]), v)
    v = v + by.step(RATES, q, v, state.t, unknown)["free_v"]
    return replace(state, q=q[0], v=v[0])


def _refitted(model: Model, state: MaximalState) -> MaximalState:
    """The state with the joint coordinates that fit best, far from singularities of their charts."""
    fit = to_reduced(model, state)
    return replace(state, q_fit=recharted(model, fit.q, fit.v)[0])


def _error(model: Model, state: MaximalState) -> float:
    """The largest residual of constraints and joints."""
    joints = np.abs(closing_motion(model, state, CLOSE_POSITIONS)[1]).max(initial=0.0)
    return max(violation(rows_at(model, state, state.t)), float(joints))


def violation(c: ConstraintRows) -> float:
    """The largest residual; of constraints that only push, the deepest."""
    return float(np.where(c.unilateral, np.maximum(-c.residual, 0.0), np.abs(c.residual)).max(initial=0.0))


def with_positions(model: Model, state: MaximalState) -> MaximalState:
    """One Gauss-Newton step of the poses."""
    c = rows_at(model, state, state.t)
    move = _shortest(model, state, CLOSE_POSITIONS, c, c.residual)
    return _refitted(model, replace(state, poses=displaced(model, state.poses, move.bodies)))


def with_velocities(model: Model, state: MaximalState) -> MaximalState:
    """The nearest velocities that the constraints allow."""
    c = rows_at(model, state, state.t)
    c = c.restricted(~c.unilateral | (c.residual <= ACTIVE))
    move = _shortest(model, state, CLOSE_VELOCITIES, c, c.rate)
    return replace(state, twists=state.twists + move.bodies)


def _shortest(model: Model, state: MaximalState, joints: Algorithm, c: ConstraintRows, error: np.ndarray) -> Motion:
    """The smallest move with G move = -error, or >= for those that only push; `joints` says what joints ask for besides."""
    response = MaximalResponse(model, state, closing_motion(model, state, joints)[0])
    if not c.rows.count:
        return response.free
    x = _multipliers(response.delassus(c.rows), c.rows @ response.free + error, c.unilateral)
    return response.corrected(c.rows, x)


def _multipliers(A: np.ndarray, error: np.ndarray, unilateral: np.ndarray) -> np.ndarray:
    if unilateral.any():
        return multipliers(A, error, unilateral)
    diagonal = np.diagonal(A)
    unit = 1.0 / np.sqrt(
        np.where(diagonal > 1e-20 * diagonal.max(), diagonal, np.inf)
    )  # rows of any units; empty ones do nothing
    return unit * np.linalg.lstsq(A * np.outer(unit, unit), -unit * error, rcond=CUT)[0]
