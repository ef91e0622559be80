"""Inverse kinematics for several targets within the limits of joints, by damped least squares and by quadratic programs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from ..errors import InputError
from ..lagrange.frames import frame_jacobian
from ..model.accepts import takes_model
from ..model.model import Model
from ..reduced.jacobian import frame_pose
from ..solvers.quadratic import boxed

REACHED = 1e-9  # m, rad
STEP = 0.5  # rad, m: the longest step of a joint
LEAST, MOST = 1e-12, 1e6  # of the damping


@dataclass(frozen=True, eq=False)
class Target:
    """Where a frame is wanted: a position (3,), a rotation (3, 3), or both; `point` is an offset from the frame, in its axes.

    weight   of a metre or a radian of this target beside others that cannot be reached together with it
    """

    frame: str
    position: Any = None
    rotation: Any = None
    point: Any = (0.0, 0.0, 0.0)
    weight: float = 1.0

    def __post_init__(self) -> None:
        if self.position is None and self.rotation is None:
            raise InputError(f"a target for {self.frame!r} needs a position, a rotation, or both")

    def error(self, model: Model, q: np.ndarray) -> np.ndarray:
        """What is missing (batch, 3 or 6), in world axes: the rotation vector, then the way."""
        E = frame_pose(model, q, self.frame)
        parts = []
        if self.rotation is not None:
            left = np.asarray(self.rotation, float) @ E[:, :3, :3].swapaxes(-1, -2)
            parts.append(Rotation.from_matrix(left).as_rotvec())
        if self.position is not None:
            parts.append(np.asarray(self.position, float) - E[:, :3, 3] - E[:, :3, :3] @ np.asarray(self.point, float))
        return np.concatenate(parts, axis=-1)

    def jacobian(self, model: Model, q: np.ndarray) -> np.ndarray:
        """How much of it joints bring (batch, 3 or 6, nv)."""
        J = frame_jacobian(model, q, self.frame, "aligned", self.point)
        first, last = 0 if self.rotation is not None else 3, 6 if self.position is not None else 3
        return J[:, first:last]


@dataclass(frozen=True, eq=False)
class Reached:
    """Coordinates (..., nq), and how far every target is missed there (..., targets): the larger of metres and radians."""

    q: np.ndarray
    misses: np.ndarray
    rounds: int

    @property
    def reached(self) -> Any:
        """Whether all targets are met, to 1e-8."""
        return (self.misses < 1e-8).all(axis=-1)


@takes_model
def inverse_kinematics(model: Model, targets: Sequence[Target] | Target, q: Any, rounds: int = 200, restarts: int = 8) -> Reached:
    """Damped least squares (Levenberg-Marquardt) from q (nq,) or (batch, nq), every state with its own damping.

    A joint at its limit that would go beyond takes no part in the step. States that do not arrive are tried again from up to
    `restarts` random configurations within the limits, and the best is kept: what then is missed cannot be reached, or only
    from elsewhere.
    """
    return _from_several(model, targets, q, restarts, lambda start, wanted: _damped(model, wanted, start, rounds))


@takes_model
def inverse_kinematics_qp(
    model: Model, targets: Sequence[Target] | Target, q: Any, rounds: int = 100, restarts: int = 8
) -> Reached:
    """The same by quadratic programs: each step is the best within the limits of all joints, one state after the other."""
    return _from_several(model, targets, q, restarts, lambda start, wanted: _by_programs(model, wanted, start, rounds))


def _from_several(model: Model, targets: Any, q: Any, restarts: int, solve: Any) -> Reached:
    wanted = [targets] if isinstance(targets, Target) else list(targets)
    if not wanted:
        raise InputError("inverse kinematics needs at least one target")
    start = np.asarray(q, float)
    lead = start.shape[:-1]
    q_low, q_high = _coordinate_limits(model)
    best, rounds = solve(np.clip(start.reshape(-1, model.nq), q_low, q_high), wanted)
    for seed in range(restarts):
        missed = _misses(model, wanted, best).max(axis=-1)
        far = np.flatnonzero(missed > 10.0 * REACHED)
        if not len(far):
            break
        other, more = solve(np.tile(_within(model, seed), (len(far), 1)), wanted)
        better = _misses(model, wanted, other).max(axis=-1) < missed[far]
        best[far[better]], rounds = other[better], rounds + more
    return Reached(best.reshape(*lead, model.nq), _misses(model, wanted, best).reshape(*lead, len(wanted)), rounds)


# --- damped least squares ----------------------------------------------------------------------------------------------------
def _damped(model: Model, targets: list[Target], q: np.ndarray, rounds: int) -> tuple[np.ndarray, int]:
    damping = np.full(len(q), 1e-3)
    e = _errors(model, targets, q)
    for k in range(rounds):
        open_ = (np.abs(e).max(axis=-1) > REACHED) & (damping < MOST)
        if not open_.any():
            return q, k
        trial = model.integrate(q, _step(model, targets, q, e, damping))
        left = _errors(model, targets, trial)
        better = open_ & ((left**2).sum(-1) < (e**2).sum(-1))
        q, e = np.where(better[:, None], trial, q), np.where(better[:, None], left, e)
        damping = np.where(better, np.maximum(0.1 * damping, LEAST), np.where(open_, 10.0 * damping, damping))
    return q, rounds


def _step(model: Model, targets: list[Target], q: np.ndarray, e: np.ndarray, damping: np.ndarray) -> np.ndarray:
    """(J^T J + damping)^-1 J^T e without the joints that are at a limit and would go beyond."""
    J = _jacobians(model, targets, q)
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
def _by_programs(model: Model, targets: list[Target], q: np.ndarray, rounds: int) -> tuple[np.ndarray, int]:
    found = [_by_program(model, targets, x[None], rounds) for x in q]
    return np.concatenate([x for x, _ in found]), max(k for _, k in found)


def _by_program(model: Model, targets: list[Target], q: np.ndarray, rounds: int) -> tuple[np.ndarray, int]:
    damping, e = 1e-3, _errors(model, targets, q)
    for k in range(rounds):
        if np.abs(e).max() <= REACHED or damping > MOST:
            return q, k
        J, (low, high) = _jacobians(model, targets, q)[0], _room(model, q)
        bounds = np.maximum(low[0], -STEP), np.minimum(high[0], STEP)
        step = boxed(J.T @ J + damping * np.eye(model.nv), -J.T @ e[0], *bounds)
        trial = model.integrate(q, np.clip(step, low[0], high[0])[None])
        left = _errors(model, targets, trial)
        better = (left**2).sum() < (e**2).sum()
        q, e, damping = (trial, left, max(0.1 * damping, LEAST)) if better else (q, e, 10.0 * damping)
    return q, rounds


# --- both --------------------------------------------------------------------------------------------------------------------
def _errors(model: Model, targets: list[Target], q: np.ndarray) -> np.ndarray:
    return np.concatenate([t.weight * t.error(model, q) for t in targets], axis=-1)


def _jacobians(model: Model, targets: list[Target], q: np.ndarray) -> np.ndarray:
    return np.concatenate([t.weight * t.jacobian(model, q) for t in targets], axis=-2)


def _misses(model: Model, targets: list[Target], q: np.ndarray) -> np.ndarray:
    """(batch, targets)."""
    missed = [t.error(model, q).reshape(len(q), -1, 3) for t in targets]
    return np.stack([np.linalg.norm(x, axis=-1).max(axis=-1) for x in missed], axis=-1)


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
