"""Closed states: a state is put where its constraints hold, in position (`nearest`) and velocity."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from ..elements.collection import collection
from ..errors import InputError, SolverError
from ..maximal.convert import to_maximal, to_reduced
from ..model import MaximalState, Model, State, check_state
from ..model.accepts import check_model
from ..model.kinematics import kinematics
from ..reduced.projection import RATES, projection
from ..spatial.gate import finite_reals, given_count, given_positive, shown
from .closing import owner, turning
from .nearest import nearest
from .tangent import recharted

RATE = 1e-9  # of the largest velocity: rates that stay contradict one another
Kind = TypeVar("Kind", bound=State | MaximalState)


def assemble(model: Model, state: Kind, tolerance: float = 1e-10, iterations: int = 100, *, weights: Any = None) -> Kind:
    """The closed state nearest to a given one, or to each of a batch: equality constraints hold, those that only push do not
    overlap.

    The distance is the root of the sum of the squares of all displacements of joints, in radians, and in metres over the size of
    the model. States that must move far are closed from several starts, and the nearest is taken; joints do not wind: an angle
    stays within half a turn of where it was, if constraints and limits let it. A state that is closed stays as it is. Velocities
    are the nearest in the metric of the mass. Constraints are those at the time state.t. A `MaximalState` is closed at its
    joints, too.

    tolerance    largest residual (m or rad) that may remain
    iterations   Gauss-Newton steps at most
    weights      of the squares of the displacements (nv,); or "mass": the distance is that in the metric of the mass at `state`
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
        found = to_maximal(model, assemble(model, to_reduced(model, state), tolerance, iterations, weights=weights))
        return replace(found, t=state.t)  # type: ignore[return-value]
    check_state(model, state)
    if not collection(model).rows:
        return state
    single = state.q.ndim == 1
    q, v = (np.array(np.atleast_2d(x)) for x in (state.q, state.v))
    batch = max(len(q), len(v))
    q, v = (np.ascontiguousarray(np.broadcast_to(x, (batch, x.shape[1]))) for x in (q, v))
    found = nearest(model, state.t, q, tolerance, iterations, _weights(model, q, weights))
    found.check(tolerance)
    q, v = recharted(model, found.q, v)
    out = found.steps.step(RATES, q, v, state.t, found.unknown)
    v = v + out["free_v"]
    _check_rates(model, state.t, q, out, v)
    return replace(state, q=q[0] if single and state.v.ndim == 1 else q, v=v[0] if single and state.v.ndim == 1 else v)


def _weights(model: Model, q: np.ndarray, weights: Any) -> np.ndarray | None:
    """The matrix of the squared distance (nv, nv); None for the mass matrix."""
    if isinstance(weights, str) and weights == "mass":
        return None
    if weights is None:
        extent = np.ptp(kinematics(model, q[0]).poses[:, :3, 3], axis=0).max() if model.nb else 0.0
        return np.diag(np.where(turning(model), 1.0, 1.0 / (extent or 1.0) ** 2))
    given = finite_reals("weights", weights)
    if given.shape != (model.nv,) or (given <= 0.0).any():
        raise InputError(f'weights must be ({model.nv},) numbers above 0, or "mass", not {shown(weights)}')
    return np.diag(given)


def _check_rates(model: Model, t: float, q: np.ndarray, out: dict[str, np.ndarray], v: np.ndarray) -> None:
    """Raise where velocities that constraints ask for contradict one another."""
    allowed: Any = RATE * (1.0 + np.abs(v).max(axis=1) + np.abs(out["error"]).max(axis=1, initial=0.0))
    wrong = out["left"][:, 0] > allowed
    if wrong.any():
        worst = int(np.argmax(out["left"][:, 0] - allowed))
        after = projection(model).step(RATES, q, v, t, out["foot"])["error"][worst]
        row = int(np.argmax(np.abs(after)))
        raise SolverError(
            f"no velocity satisfies {owner(model, row)} together with the others: a rate of {abs(after[row]):.3g} stays. "
            "lw.constraint_report says which contradict one another"
        )
