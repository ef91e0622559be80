"""What a joint given by a formula must be: a rigid transform of its coordinates alone, which move it independently."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import LinkworkError, ModelError
from ..spatial.advice import advice
from ..spatial.se3 import SE3
from .formula import FormulaJoint
from .independence import LOCKED, independence

RIGID = 1e-9  # how far a rotation may be from orthonormal
CHART_TRIALS = 50  # random positions at which charts are looked at
TRIALS = 2  # random positions that are looked at, besides the neutral one and one near it


def check_formula(joint: FormulaJoint, owner: str) -> None:
    """Raise, naming the joint and the position, if its transform fails, is not rigid, not finite, does not depend on q alone, is
    not the same after a period, or if its coordinates never move it independently."""
    rng, near = np.random.default_rng(0), np.full(joint.nq, 0.1)
    places = [near if joint.inside(near) else joint.neutral(), joint.neutral(), *(joint.random(rng) for _ in range(TRIALS))]
    best = 0.0
    for q in places:
        E = _matrix_at(joint, owner, q)
        _check_rigid(owner, q, E)
        if not np.array_equal(_matrix_at(joint, owner, q), E):
            raise ModelError(f"{owner}: transform({q.tolist()}) differs from call to call; it must depend on q alone")
        _check_periods(joint, owner, q, E)
        S = _subspace_at(joint, owner, q)
        if not np.all(np.isfinite(S)):
            raise ModelError(f"{owner}: the slope of transform({q.tolist()}) is not finite; leave the place out by a domain")
        share = float(independence(S))
        joint.locks_at_neutral |= np.array_equal(q, joint.neutral()) and not share > LOCKED
        best = max(best, share)
    if not best > LOCKED:
        raise ModelError(f"{owner}: its {joint.nv} coordinates do not move it independently")


def _matrix_at(joint: FormulaJoint, owner: str, q: np.ndarray) -> np.ndarray:
    try:
        with np.errstate(all="ignore"):
            E = joint.transform(q)
    except LinkworkError:
        raise
    except Exception as error:
        raise ModelError(f"{owner}: transform(q) failed for q = {q.tolist()}: {error}") from error
    if not isinstance(E, SE3):
        raise ModelError(f"{owner}: transform(q) must return an SE3, not {type(E).__name__}")
    return np.asarray(E.matrix, float)


def _subspace_at(joint: FormulaJoint, owner: str, q: np.ndarray) -> np.ndarray:
    try:
        with np.errstate(all="ignore"):
            return np.asarray(joint.motion(q, np.zeros(joint.nv)).tangent.S, float)
    except LinkworkError:
        raise
    except Exception as error:
        raise ModelError(
            f"{owner}: transform(q) cannot be differentiated at q = {q.tolist()}: {advice(error) or error}"
        ) from error


def _check_rigid(owner: str, q: np.ndarray, E: np.ndarray) -> None:
    R = E[:3, :3]
    if not np.all(np.isfinite(E)):
        raise ModelError(f"{owner}: transform({q.tolist()}) is not a rigid transform: it is not finite")
    if not np.allclose(R @ R.T, np.eye(3), atol=RIGID) or np.linalg.det(R) < 0:
        raise ModelError(f"{owner}: transform({q.tolist()}) is not a rigid transform: its R is not a rotation")


def _check_periods(joint: FormulaJoint, owner: str, q: np.ndarray, E: np.ndarray) -> None:
    cyclic = np.flatnonzero(joint.cyclic)
    for k, period in zip(cyclic, joint.period, strict=True):
        later = q.copy()
        later[k] += period
        off = float(np.abs(_matrix_at(joint, owner, later) - E).max())
        if off > 1e-9 * (1.0 + np.abs(E).max()):
            raise ModelError(f"{owner}: one period ({period:.6g}) of coordinate {k} on, its transform is off by {off:.2g}")


def check_charts(joint: Any, owner: str) -> None:
    """Raise if coordinates are replaced by others of another pose, by more or fewer, or by such as are to be replaced at once."""
    rng = np.random.default_rng(1)
    for q in (joint.neutral(), *(joint.random(rng) for _ in range(CHART_TRIALS))):
        try:
            far, new = bool(joint.leaves(q)), np.asarray(joint.other(q), float)
        except LinkworkError:
            raise
        except Exception as error:
            raise ModelError(f"{owner}: charts failed for q = {q.tolist()}: {advice(error) or error}") from error
        if new.shape != (joint.nq,):
            raise ModelError(f"{owner}: charts: other(q) must return {joint.nq} coordinates, not shape {new.shape}")
        if not far:
            continue
        off = float(np.abs(_matrix_at(joint, owner, new) - _matrix_at(joint, owner, q)).max())
        if not off < RIGID:
            raise ModelError(f"{owner}: charts: other({q.tolist()}) = {new.tolist()} has another pose, off by {off:.2g}")
        if joint.leaves(new):
            raise ModelError(
                f"{owner}: charts: other({q.tolist()}) = {new.tolist()} is to be left at once; leave(q) > 0 there, too"
            )
