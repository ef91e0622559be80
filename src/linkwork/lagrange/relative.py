"""Rotations between neighbours: what a joint turns, seen from the parent [Liu & Jain, Eqs. 49-51, 62-65].

omega_hat_k = Jhat_wk q_dot_k,      omega_k = omega_p(k) + R_p(k) omega_hat_k,
D omega = R Jhat_w q_dot,           omega_hat = R^T D omega,      Jhat_w = R^T D J_w.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..model.kinematics import kinematics
from ..model.model import Model
from .links import link_jacobians


def connectivity(model: Model) -> np.ndarray:
    """D (3 links, 3 links): 1 on the diagonal, -1 at the parent [Liu & Jain, Eqs. 63, 64]."""
    tree = np.eye(model.nb)
    below = np.flatnonzero(model.parents >= 0)
    tree[below, model.parents[below]] = -1.0
    return np.kron(tree, np.eye(3))


def parent_rotations(model: Model, q: Any) -> np.ndarray:
    """R_p(k) of every link, (..., links, 3, 3): from axes of its parent to those of the world."""
    R = kinematics(model, q).poses[..., :3, :3]
    ahead = np.concatenate([np.broadcast_to(np.eye(3), (*R.shape[:-3], 1, 3, 3)), R], axis=-3)
    return ahead[..., model.parents + 1, :, :]


def joint_angular_jacobian(model: Model, q: Any) -> np.ndarray:
    """Jhat_wk of every joint in axes of its parent, (..., links, 3, nv): zero but for the joint's own freedoms
    [Liu & Jain, Eqs. 49-51, 63, 65]."""
    w = link_jacobians(model, q).angular
    step = np.concatenate([np.zeros((*w.shape[:-3], 1, *w.shape[-2:])), w], axis=-3)
    own = w - step[..., model.parents + 1, :, :]
    return np.einsum("...kji,...kjn->...kin", parent_rotations(model, q), own * _own(model)[:, None, :])


def relative_angular_velocities(model: Model, q: Any, angular: Any) -> np.ndarray:
    """omega_hat (..., links, 3) = R^T D omega, from angular velocities of all links in world axes [Liu & Jain, Eqs. 62, 65]."""
    w = np.asarray(angular, float)
    step = np.concatenate([np.zeros((*w.shape[:-2], 1, 3)), w], axis=-2)
    return np.einsum("...kji,...kj->...ki", parent_rotations(model, q), w - step[..., model.parents + 1, :])


def _own(model: Model) -> np.ndarray:
    """(links, nv): whether a freedom is the link's own joint's, as 1 or 0."""

    def make() -> np.ndarray:
        out, starts = np.zeros((model.nb, model.nv)), model.tree.offsets("v")
        for i in range(model.nb):
            out[i, starts[i] : starts[i + 1]] = 1.0
        return out

    return model.keep_as(_own, make)
