"""Between what engines say of a body (centre of mass, world axes) and what this library says (origin, body axes)."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..lagrange.links import of_poses, of_twists
from ..model.model import Model


def body_twists(model: Model, poses: np.ndarray, linear: Any, angular: Any) -> np.ndarray:
    """Body twists (..., bodies, 6) from velocities of centres of mass and angular velocities in world axes."""
    R = poses[..., :3, :3]
    w, u = (np.einsum("...kji,...kj->...ki", R, np.asarray(x, float)) for x in (angular, linear))
    return np.concatenate([w, u - np.cross(w, _centres(model))], axis=-1)


def body_poses(model: Model, positions: Any, rotations: Any) -> np.ndarray:
    """Poses (..., bodies, 4, 4) from centres of mass and rotations."""
    R, x = np.asarray(rotations, float), np.asarray(positions, float)
    out = np.zeros((*x.shape[:-1], 4, 4))
    out[..., :3, :3], out[..., 3, 3] = R, 1.0
    out[..., :3, 3] = x - np.einsum("...kij,kj->...ki", R, _centres(model))
    return out


def body_wrenches(model: Model, poses: np.ndarray, forces: Any, torques: Any, points: Any = None) -> np.ndarray:
    """Wrenches (moment, force) about the bodies' origins in their axes (..., bodies, 6), from forces at points and torques,
    all in world axes; forces act at centres of mass if no points are given."""
    f, n = np.asarray(forces, float), np.asarray(torques, float)
    at = of_poses(model, poses).positions if points is None else np.asarray(points, float)
    moment = n + np.cross(at - poses[..., :3, 3], f)
    m, g = (np.einsum("...kji,...kj->...ki", poses[..., :3, :3], x) for x in (moment, f))
    return np.concatenate([m, g], axis=-1)


def world_forces(model: Model, poses: np.ndarray, wrenches: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Forces at centres of mass and torques about them, in world axes, of wrenches as above."""
    m, g = (np.einsum("...kij,...kj->...ki", poses[..., :3, :3], x) for x in (wrenches[..., :3], wrenches[..., 3:]))
    return g, m - np.cross(of_poses(model, poses).positions - poses[..., :3, 3], g)


def _centres(model: Model) -> np.ndarray:
    return np.array([b.inertia.com for b in model.bodies])


__all__ = ["body_poses", "body_twists", "body_wrenches", "of_twists", "world_forces"]
