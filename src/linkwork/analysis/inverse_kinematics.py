"""Inverse kinematics for several targets within the limits of joints, by damped least squares and by quadratic programs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..elements.collection import collection
from ..errors import InputError
from ..model.accepts import takes_model
from ..model.model import Model
from ..solvers.quadratic import boxed
from ..spatial.gate import finite_reals, given_count
from .entrance import check_coordinates, check_some_states
from .targets import Target, Wanted

REACHED = 1e-9  # m, rad
STEP = 0.5  # rad, m: the longest step of a joint
LEAST, MOST = 1e-12, 1e6  # of the damping


@dataclass(frozen=True, eq=False)
class Reached:
    """Coordinates (..., nq), and how far every target is missed there (..., targets): the larger of metres and radians.

    missing   whether a target was missing, a NaN (..., targets); its miss is NaN
    notes     a line for every target that was missing, with the states of the batch in which it was, and for constraints that
              take no part
    """

    q: np.ndarray
    misses: np.ndarray
    rounds: int
    missing: np.ndarray
    notes: tuple[str, ...] = ()

    @property
    def reached(self) -> Any:
        """Whether all targets that are not missing are met, to 1e-8."""
        return ((self.misses < 1e-8) | self.missing).all(axis=-1)


@takes_model
def inverse_kinematics(model: Model, targets: Sequence[Target] | Target, q: Any, rounds: int = 200, restarts: int = 8) -> Reached:
    """Damped least squares (Levenberg-Marquardt) from q (nq,) or (..., nq), every state of a batch with its own damping.

    A joint at its limit that would go beyond takes no part in the step. States that do not arrive are tried again from up to
    `restarts` random configurations within the limits, and the best is kept: what then is missed cannot be reached, or only
    from elsewhere. Targets that are missing (NaN) are left out, and `notes` tells them; if all of a state are, it is an error.
    Constraints of the model take no part: `lw.assemble` closes what is found.
    """
    return _from_several(model, targets, q, rounds, restarts, _damped)


@takes_model
def inverse_kinematics_qp(
    model: Model, targets: Sequence[Target] | Target, q: Any, rounds: int = 100, restarts: int = 8
) -> Reached:
    """Inverse kinematics by quadratic programs: each step is the best within the limits of all joints, one state after the other.

    Arguments and result are those of `inverse_kinematics`.
    """
    return _from_several(model, targets, q, rounds, restarts, _by_programs)


Solve = Callable[[Wanted, np.ndarray, int], tuple[np.ndarray, int]]


def _from_several(model: Model, targets: Any, q: Any, rounds: int, restarts: int, solve: Solve) -> Reached:
    given_count("rounds", rounds)
    given_count("restarts", restarts, 0)
    listed = [targets] if isinstance(targets, Target) else list(targets)
    if not listed or not all(isinstance(t, Target) for t in listed):
        raise InputError("inverse kinematics needs at least one target, and each must be a lw.analysis.Target")
    start = finite_reals("q", q)
    check_coordinates(model, start)
    try:
        lead = np.broadcast_shapes(start.shape[:-1], *(t.lead for t in listed))
    except ValueError:
        shapes = ", ".join(str(t.lead) for t in listed)
        raise InputError(f"the batch of q is {start.shape[:-1]}, those of the targets {shapes}; they must agree") from None
    check_some_states(lead)
    wanted = Wanted(model, [t.at(lead) for t in listed])
    wanted.check_some()
    first = np.broadcast_to(start, (*lead, model.nq)).reshape(-1, model.nq)
    best, used = solve(wanted, np.clip(first, *_coordinate_limits(model)), rounds)
    for seed in range(restarts):
        missed = wanted.misses(best).max(axis=-1)
        far = np.flatnonzero(missed > 10.0 * REACHED)
        if not len(far):
            break
        part = wanted.part(far)
        other, more = solve(part, np.tile(_within(model, seed), (len(far), 1)), rounds)
        better = part.misses(other).max(axis=-1) < missed[far]
        best[far[better]], used = other[better], used + more
    shape, misses = (*lead, len(listed)), np.where(wanted.missing, np.nan, wanted.misses(best))
    notes = (*wanted.notes(bool(lead)), *_open_constraints(model))
    return Reached(best.reshape(*lead, model.nq), misses.reshape(shape), used, wanted.missing.reshape(shape), notes)


def _open_constraints(model: Model) -> tuple[str, ...]:
    """A line for equality constraints, which targets alone do not keep."""
    names = [repr(e) for e in collection(model).rows if e.holonomic and not e.unilateral]
    more = f" and {len(names) - 1} more" if len(names) > 1 else ""
    return (f"{names[0]}{more}: constraints take no part here; close what is found with lw.assemble",) if names else ()


# --- damped least squares ----------------------------------------------------------------------------------------------------
def _damped(wanted: Wanted, q: np.ndarray, rounds: int) -> tuple[np.ndarray, int]:
    model, damping = wanted.model, np.full(len(q), 1e-3)
    e = wanted.errors(q)
    for k in range(rounds):
        open_ = (np.abs(e).max(axis=-1) > REACHED) & (damping < MOST)
        if not open_.any():
            return q, k
        trial = model.integrate(q, _step(wanted, q, e, damping))
        left = wanted.errors(trial)
        better = open_ & ((left**2).sum(-1) < (e**2).sum(-1))
        q, e = np.where(better[:, None], trial, q), np.where(better[:, None], left, e)
        damping = np.where(better, np.maximum(0.1 * damping, LEAST), np.where(open_, 10.0 * damping, damping))
    return q, rounds


def _step(wanted: Wanted, q: np.ndarray, e: np.ndarray, damping: np.ndarray) -> np.ndarray:
    """(J^T J + damping)^-1 J^T e without the joints that are at a limit and would go beyond."""
    model, J = wanted.model, wanted.jacobians(q)
    low, high = _room(model, q)
    free = np.ones((len(q), model.nv))
    eye = np.eye(model.nv)
    step = np.zeros((len(q), model.nv))
    for _ in range(model.nv + 1):
        part = J * free[:, None, :]
        H = part.swapaxes(-1, -2) @ part + damping[:, None, None] * eye
        step = np.linalg.solve(H, np.einsum("bij,bi->bj", part, e)[..., None])[..., 0] * free
        beyond = ((step < 0) & (low > -1e-12)) | ((step > 0) & (high < 1e-12))
        if not (beyond & (free > 0)).any():
            break
        free = np.where(beyond, 0.0, free)
    longest = np.abs(step).max(axis=-1, initial=0.0, keepdims=True)
    return np.clip(step * np.minimum(1.0, STEP / np.maximum(longest, 1e-300)), low, high)


# --- quadratic programs ------------------------------------------------------------------------------------------------------
def _by_programs(wanted: Wanted, q: np.ndarray, rounds: int) -> tuple[np.ndarray, int]:
    found = [_by_program(wanted.part(np.array([k])), x[None], rounds) for k, x in enumerate(q)]
    return np.concatenate([x for x, _ in found]), max(k for _, k in found)


def _by_program(wanted: Wanted, q: np.ndarray, rounds: int) -> tuple[np.ndarray, int]:
    model, damping, e = wanted.model, 1e-3, wanted.errors(q)
    for k in range(rounds):
        if np.abs(e).max() <= REACHED or damping > MOST:
            return q, k
        J, (low, high) = wanted.jacobians(q)[0], _room(model, q)
        bounds = np.maximum(low[0], -STEP), np.minimum(high[0], STEP)
        step = boxed(J.T @ J + damping * np.eye(model.nv), -J.T @ e[0], *bounds)
        trial = model.integrate(q, np.clip(step, low[0], high[0])[None])
        left = wanted.errors(trial)
        better = (left**2).sum() < (e**2).sum()
        q, e, damping = (trial, left, max(0.1 * damping, LEAST)) if better else (q, e, 10.0 * damping)
    return q, rounds


# --- limits ------------------------------------------------------------------------------------------------------------------
def _coordinate_limits(model: Model) -> tuple[np.ndarray, np.ndarray]:
    low = [b.properties.lower for b in model.bodies]
    return np.concatenate([np.zeros(0), *low]), np.concatenate([np.zeros(0), *(b.properties.upper for b in model.bodies)])


def _room(model: Model, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """How far every freedom may go down and up (batch, nv); any way where a joint's coordinates are not added to."""
    low, high = (np.full((len(q), model.nv), s * np.inf) for s in (-1.0, 1.0))
    for body in model.bodies:
        if body.joint.nq == body.joint.nv:
            at, v = model.q_index(body.name), model.v_index(body.name)
            low[:, v], high[:, v] = body.properties.lower - q[:, at], body.properties.upper - q[:, at]
    return np.minimum(low, 0.0), np.maximum(high, 0.0)


def _within(model: Model, seed: int) -> np.ndarray:
    """A random configuration within the limits."""
    q, rng = model.random_configuration(seed), np.random.default_rng(seed)
    low, high = _coordinate_limits(model)
    both = np.isfinite(low) & np.isfinite(high)
    between = rng.uniform(np.where(both, low, 0.0), np.where(both, high, 1.0))
    return np.where(both, between, np.clip(q, low, high))
