"""Second derivatives of kinematics and of energies of the bare tree, exact: how Jacobians change, Hessians of positions and of
the potential of gravity.

A displacement e of the joints moves q to integrate(q, e). With J = (J_w, J_v) of a frame in its own axes, at R, p,

    dp/de_j = R J_v_j,      d(dp/de_j)/de_k = R (J_w_k x J_v_j + dJ_v_j/de_k).

Of two displacements one after the other, the second is in the axes that the first leaves; the Hessian of p(integrate(q, e)) is
the symmetric part. Likewise the potential V: its slopes are the forces that hold the tree still, and these change by dtau/dq.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..kernel.directional import companion, directional
from ..model.arrays import Interface
from ..model.kinematics import kinematics
from ..model.model import Model
from ..reduced.derivatives import coordinate_columns, tree_inverse_dynamics_derivatives
from ..reduced.jacobian import JACOBIAN, jacobian
from ..spatial.gate import finite_reals
from ..spatial.kinds import explained
from .equations import mass_matrix_derivatives

JACOBIAN_DIRECTIONAL = directional(JACOBIAN)


@explained
def jacobian_derivatives(model: Model, q: Any, frame: str) -> np.ndarray:
    """dJ/dq of a body or frame, (6, nv, nv) or (batch, 6, nv, nv): J of `jacobian`, the last index that of the displacement.

    >>> lw.jacobian_derivatives(model, q, "hand").shape
    (6, 2, 2)
    """
    q, nv = np.asarray(q, float), model.nv
    body, E = model.frame(frame)
    lead = q.shape[:-1]
    if body < 0:
        return np.zeros((*lead, 6, nv, nv))
    unit = np.zeros((model.nb, 36))
    unit[body] = np.concatenate([np.asarray(E.move_wrench(e), float) for e in np.eye(6)])
    tails = dict.fromkeys(("units", companion("units")), (model.nb, 36))
    tails |= dict.fromkeys(("columns", companion("columns")), (nv, 6))
    call = model.keep_as(jacobian_derivatives, lambda: Interface(model, JACOBIAN_DIRECTIONAL, tails=tails))
    many = np.repeat(q.reshape(-1, model.nq), nv, axis=0)
    along = coordinate_columns(model, q).reshape(-1, model.nq)
    given = {"q": many, "d_q": along, "units": unit, companion("units"): None}
    found = call(given, 1, (companion("columns"),))[companion("columns")]
    return np.moveaxis(found.reshape(*lead, nv, nv, 6), (-3, -2, -1), (-1, -2, -3))


@explained
def position_hessian(model: Model, q: Any, frame: str) -> np.ndarray:
    """d^2 p/de^2, (3, nv, nv) or (batch, 3, nv, nv), symmetric: of the position of a body or frame in the world, along
    displacements of the joints.

    >>> lw.position_hessian(model, q, "hand").shape
    (3, 2, 2)
    """
    q = np.asarray(q, float)
    body, E = model.frame(frame)
    if body < 0:
        return np.zeros((*q.shape[:-1], 3, model.nv, model.nv))
    R = kinematics(model, q).poses[..., body, :3, :3] @ np.asarray(E.R, float)
    J, dJ = jacobian(model, q, frame), jacobian_derivatives(model, q, frame)
    turned = np.cross(J[..., :3, None, :], J[..., 3:, :, None], axis=-3)
    H = np.einsum("...ab,...bjk->...ajk", R, turned + dJ[..., 3:, :, :])
    return 0.5 * (H + H.swapaxes(-1, -2))


@explained
def potential_hessian(model: Model, q: Any) -> np.ndarray:
    """d^2 V/de^2, (nv, nv) or (batch, nv, nv), symmetric: of the potential of gravity, along displacements of the joints.

    >>> H = lw.potential_hessian(model, q)
    >>> bool(np.allclose(H, H.T))
    True
    """
    q = np.asarray(q, float)
    still = np.zeros((*q.shape[:-1], model.nv))
    H = tree_inverse_dynamics_derivatives(model, q, still, still)[0]
    return 0.5 * (H + H.swapaxes(-1, -2))


@explained
def momentum_derivatives(model: Model, q: Any, v: Any) -> np.ndarray:
    """d^2 T/dv de = d(M v)/dq, (nv, nv) or (batch, nv, nv), of the kinetic energy T; d^2 T/dv^2 is the mass matrix.

    >>> lw.momentum_derivatives(model, q, v).shape
    (2, 2)
    """
    return np.einsum("...ijk,...j->...ik", mass_matrix_derivatives(model, q), finite_reals("momentum_derivatives: v", v))
