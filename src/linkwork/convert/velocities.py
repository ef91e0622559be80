"""Generalized velocities from Cartesian ones, three ways [Liu & Jain, section 6.1].

Cartesian velocities are those of the centres of mass and the angular ones of all links, (..., links, 3) each, in world axes.
They are admissible if a v exists with V = J v; the residual V - J v says how far they are from that. Batches come first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import qr

from ..errors import InputError
from ..lagrange.links import link_jacobians, link_velocities
from ..lagrange.relative import joint_angular_jacobian, relative_angular_velocities
from ..model.accepts import takes_model
from ..model.kinematics import kinematics
from ..model.model import Model
from .bodies import body_twists
from .fit import JOINT_FIT


@dataclass(frozen=True, eq=False)
class VelocityFit:
    """v (..., nv), and what of the Cartesian velocities is left: linear and angular (..., links, 3)."""

    v: np.ndarray
    linear_left: np.ndarray
    angular_left: np.ndarray

    @property
    def residual(self) -> float:
        """The largest part that is left, m/s or rad/s: zero, but for rounding, if the velocities are admissible."""
        return float(max(np.abs(x).max(initial=0.0) for x in (self.linear_left, self.angular_left)))


@takes_model
def velocities_by_pseudo_inverse(model: Model, q: Any, linear: Any, angular: Any) -> VelocityFit:
    """J^+ V, J^+ = (J^T J)^-1 J^T: the least squares of all rows, metres and radians alike [Liu & Jain, Eqs. 60, 61]."""
    J = link_jacobians(model, q).stacked
    return _fit(model, q, np.einsum("...ij,...j->...i", np.linalg.pinv(J), _stacked(linear, angular)), linear, angular)


@takes_model
def velocities_by_rows(model: Model, q: Any, linear: Any, angular: Any, rows: Any = None) -> VelocityFit:
    """J'^+ V' from some rows of V = J v: for admissible velocities any nv independent rows say the same [Liu & Jain, section
    6.1].

    rows   indices into the stacked rows (all linear, then all angular ones); nv independent ones are chosen if None, of one state
    """
    J, V = link_jacobians(model, q).stacked, _stacked(linear, angular)
    if rows is None:
        rows = independent_rows(J)
    part = J[..., rows, :]
    if (np.linalg.matrix_rank(part) < model.nv).any():
        raise InputError(f"these {len(rows)} rows of the Jacobian do not determine all {model.nv} velocities; choose others")
    return _fit(model, q, np.einsum("...ij,...j->...i", np.linalg.pinv(part), V[..., rows]), linear, angular)


def independent_rows(J: np.ndarray) -> np.ndarray:
    """As many rows of J (rows, nv) as it has columns, the most independent ones first."""
    if J.ndim != 2:
        raise InputError("rows can be chosen for one configuration only; give `rows`")
    order: Any = qr(J.T, mode="r", pivoting=True)
    return np.sort(order[1][: J.shape[1]])


@takes_model
def velocities_by_joints(model: Model, q: Any, linear: Any, angular: Any) -> VelocityFit:
    """Joint by joint in O(n): v_k = S_k^+ (twist of the link relative to its parent) [Liu & Jain, Eqs. 62-66].

    The printed remark that a root's translation is the velocity of its centre of mass holds without rotation only [errata 003-5];
    here angular and linear parts are taken together, so translations need no special care.
    """
    poses = kinematics(model, q).poses
    twists = body_twists(model, poses, linear, angular)
    given = {"poses": poses, "twists": twists, "q_fit": np.asarray(q, float)}
    return _fit(model, q, model.call(JOINT_FIT, given, wanted=("v",))["v"], linear, angular)


@takes_model
def rotational_velocities(model: Model, q: Any, angular: Any) -> np.ndarray:
    """v_k = Jhat_wk^+ omega_hat_k from angular velocities alone (..., nv), for joints that only turn [Liu & Jain, Eq. 66]."""
    J_hat = joint_angular_jacobian(model, q)
    return np.einsum("...kni,...ki->...n", np.linalg.pinv(J_hat), relative_angular_velocities(model, q, angular))


def _stacked(linear: Any, angular: Any) -> np.ndarray:
    both = np.concatenate([np.asarray(linear, float), np.asarray(angular, float)], axis=-2)
    return both.reshape(*both.shape[:-2], -1)


def _fit(model: Model, q: Any, v: np.ndarray, linear: Any, angular: Any) -> VelocityFit:
    u, w = link_velocities(model, q, v)
    return VelocityFit(v, np.asarray(linear, float) - u, np.asarray(angular, float) - w)
