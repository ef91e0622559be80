"""The equation of motion as a residual, with its exact derivatives: what implicit methods of any order solve."""

from __future__ import annotations

import numpy as np

from ..forces.set import force_set
from ..reduced.derivatives import tree_inverse_dynamics_derivatives
from ..reduced.inverse import tree_inverse_dynamics
from ..reduced.jacobian import body_jacobian_dot
from ..spatial.se3 import ad
from .system import Dynamics


def motion_residual(now: Dynamics, a: np.ndarray) -> np.ndarray:
    """M a - f (nv,): zero if the model moves with the accelerations a."""
    return tree_inverse_dynamics(now.model, now.state.q, now.state.v, a, now.wrenches) - now.forces


def motion_derivatives(now: Dynamics, a: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """How the residual changes with displacements of the joints, velocities and accelerations: three matrices (nv, nv).

    Wrenches change with the poses and twists of the bodies, and these with q and v: d phi/dq = J_dot + ad(phi) J for every
    body, as mixed derivatives of a motion on a group differ by a bracket; d phi/dv = J.
    """
    model, state, forces = now.model, now.state, force_set(now.model)
    d_external = _wrench_derivatives(now) if forces.forces else None
    dq, dv, da = tree_inverse_dynamics_derivatives(model, state.q, state.v, a, now.wrenches, d_external)
    joint_dq, joint_dv = forces.joint_derivatives(state.q, state.v, now.t)
    return dq - joint_dq.dense(), dv - joint_dv.dense(), da


def _wrench_derivatives(now: Dynamics) -> np.ndarray:
    """The change of all wrenches (2 nv, bodies, 6) along displacements of the joints, then along velocities."""
    model, s, k, J = now.model, now.state, now.motion, now.J
    df_dq, df_dv = (B.dense(model.nb) for B in force_set(model).derivatives(k.poses, k.twists, now.t))
    turned = [np.asarray(ad(phi), float) @ J[6 * i : 6 * i + 6] for i, phi in enumerate(k.twists)]
    dphi_dq = body_jacobian_dot(model, s.q, s.v) + np.concatenate(turned)
    columns = np.concatenate([df_dq @ J + df_dv @ dphi_dq, df_dv @ J], axis=1)
    return columns.T.reshape(2 * model.nv, model.nb, 6)
