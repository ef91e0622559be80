"""The coordinates of a joint from a pose: by Gauss and Newton, on the manifold of the coordinates, from several starts."""

from __future__ import annotations

import numpy as np

from ..spatial.se3 import SE3
from .base import Joint

STARTS = 6  # random positions of a joint from which its coordinates are looked for, besides its neutral one
ROUNDS = 30
CLOSED = 1e-3  # m, rad: a fit as good as this is not improved by another start


def coordinates_at(joint: Joint, E: SE3) -> np.ndarray:
    """The coordinates whose pose fits E best; the first fit that is good is taken."""
    rng, fits = np.random.default_rng(0), []
    starts = [joint.neutral(), *(joint.random(rng) for _ in range(STARTS))]
    while starts:
        q = _fitted(joint, E, starts.pop(0))
        fits.append((float(np.linalg.norm(misfit(joint, E, q))), q))
        if fits[-1][0] < CLOSED:
            break
        if len(fits) == 1:  # another turn of the same thread: where the shift alone would fit
            starts.insert(0, np.asarray(joint.integrate(q, _step(joint, E, q, slice(3, 6))), float))
    return min(fits, key=lambda fit: fit[0] if np.isfinite(fit[0]) else np.inf)[1]


def misfit(joint: Joint, E: SE3, q: np.ndarray) -> np.ndarray:
    """The twist (turn, shift) from the pose at q to E, in axes of the body."""
    return np.asarray((joint.transform(q).inverse() @ E).log(), float)


def _step(joint: Joint, E: SE3, q: np.ndarray, rows: slice = slice(6)) -> np.ndarray:
    """What best removes some of the error at q, to first order."""
    moving = joint.motion(q, np.zeros(joint.nv))
    gap = np.asarray((moving.with_tangent(None).inverse() @ E).log(), float)
    return np.linalg.lstsq(np.asarray(moving.tangent.S, float)[rows], gap[rows], rcond=1e-9)[0]


def _fitted(joint: Joint, E: SE3, q: np.ndarray) -> np.ndarray:
    for _ in range(ROUNDS):
        step = _step(joint, E, q)
        q = np.asarray(joint.integrate(q, step), float)
        if np.abs(step).max() < 1e-9:
            break
    return q
