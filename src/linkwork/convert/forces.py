"""Generalized forces from Cartesian ones and back [Liu & Jain, section 6.2].

Forces f and body torques tau' are (..., links, 3) in world axes; forces act at `points` of the world (..., links, 3), or at the
centres of mass. Joint torques tau_hat (..., links, 3) are in axes of the parent: they act on the link, and the opposite on
the parent. Many Cartesian forces amount to the same Q; which of them a function returns, it says. Batches come first.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import InputError
from ..kernel.sweep import Algorithm, Field, inward, vector
from ..lagrange.links import link_jacobians, links
from ..lagrange.relative import joint_angular_jacobian, parent_rotations
from ..lagrange.rules import still_of
from ..model.accepts import takes_model
from ..model.kinematics import kinematics
from ..model.model import Model
from ..reduced.jacobian import jacobian_transpose_product
from ..spatial.gate import finite_reals
from ..spatial.scalar import solve_spd
from .bodies import body_wrenches


# --- Cartesian to generalized ------------------------------------------------------------------------------------------------
@takes_model
def generalized_forces(model: Model, q: Any, forces: Any, torques: Any, points: Any = None) -> np.ndarray:
    """Q = sum J'_vk^T f_k + J_wk^T tau'_k, (..., nv), in O(n) [Liu & Jain, Eqs. 3, 48, 67].

    `torques` do not include those of the forces about the centre of mass: tau = tau' + (r - x) x f.
    """
    poses = kinematics(model, q).poses
    return jacobian_transpose_product(model, q, body_wrenches(model, poses, forces, torques, points))


@takes_model
def external_wrenches(model: Model, q: Any, forces: Any, torques: Any = None, points: Any = None) -> np.ndarray:
    """The `external` of dynamics functions, (..., bodies, 6) about the bodies' origins in their axes: forces and torques on all
    bodies in world axes, (..., bodies, 3) each; forces act at the centres of mass, or at points of the world.

    >>> push = lw.convert.external_wrenches(model, q, [(0, 0, 0), (0, 0, 5.0)])
    >>> a = lw.forward_dynamics(model, q, v, external=push)
    """
    given = {"forces": forces, "torques": np.zeros((model.nb, 3)) if torques is None else torques, "points": points}
    found = [None if x is None else _of_bodies(model, f"external_wrenches: {name}", x) for name, x in given.items()]
    return body_wrenches(model, kinematics(model, q).poses, *found)


def _of_bodies(model: Model, what: str, x: Any) -> np.ndarray:
    x = finite_reals(what, x)
    if x.shape[-2:] != (model.nb, 3):
        raise InputError(f"{what} has shape {x.shape}; expected ({model.nb}, 3) or (batch, {model.nb}, 3)")
    return x


@takes_model
def body_torques(model: Model, q: Any, joint_torques: Any) -> np.ndarray:
    """tau' = D^T R tau_hat (..., links, 3): what joint torques do to each link, in world axes [Liu & Jain, Eq. 68]."""
    turned = np.einsum("...kij,...kj->...ki", parent_rotations(model, q), np.asarray(joint_torques, float))
    tree = np.eye(model.nb)
    below = np.flatnonzero(model.parents >= 0)
    tree[below, model.parents[below]] = -1.0
    return np.einsum("kl,...kj->...lj", tree, turned)


@takes_model
def generalized_forces_of_joint_torques(model: Model, q: Any, forces: Any, joint_torques: Any, points: Any = None) -> np.ndarray:
    """Q = J'_v^T f + Jhat_w^T tau_hat, (..., nv) [Liu & Jain, Eq. 69]."""
    torques = np.asarray(joint_torques, float)
    own = np.einsum("...kin,...ki->...n", joint_angular_jacobian(model, q), torques)
    return generalized_forces(model, q, forces, np.zeros_like(torques), points) + own


# --- generalized to Cartesian ------------------------------------------------------------------------------------------------
@takes_model
def cartesian_forces(model: Model, q: Any, Q: Any) -> tuple[np.ndarray, np.ndarray]:
    """Forces at the centres of mass and torques about them, (..., links, 3) each, with J_v^T f + J_w^T tau = Q [Liu & Jain,
    Eq. 70].

    Of all solutions that with the least sum of squares, newtons and newton metres alike: A^+ = A^T (A A^T)^-1 with A = J^T,
    as the matrix is wide; the (J^T J)^-1 J^T of the tutorial cannot be used here [errata 003-4].
    """
    J = link_jacobians(model, q).stacked
    x = np.einsum("...ji,...j->...i", np.linalg.pinv(J), np.asarray(Q, float))
    f, n = np.split(x.reshape(*x.shape[:-1], 2 * model.nb, 3), 2, axis=-2)
    return f, n


@takes_model
def forces_at_points(model: Model, q: Any, Q: Any, points: Any) -> tuple[np.ndarray, np.ndarray]:
    """Forces at known points and joint torques in axes of the parents, with J'_v^T f + Jhat_w^T tau_hat = Q: the solution of
    least squares [Liu & Jain, Eq. 69 inverted]."""
    J = link_jacobians(model, q)
    arm = np.asarray(points, float) - links(model, q).positions
    at_points = J.linear + np.cross(J.angular, arm[..., None], axis=-2)
    both = np.concatenate([at_points, joint_angular_jacobian(model, q)], axis=-3)
    A = both.reshape(*both.shape[:-3], -1, model.nv)
    x = np.einsum("...ji,...j->...i", np.linalg.pinv(A), np.asarray(Q, float))
    f, n = np.split(x.reshape(*x.shape[:-1], 2 * model.nb, 3), 2, axis=-2)
    return f, n


@takes_model
def joint_torques(model: Model, q: Any, Q: Any) -> np.ndarray:
    """tau_hat_k = (Jhat_wk^T)^+ Q_k (..., links, 3): the least torque at each joint that only turns [Liu & Jain, Eq. 71]."""
    J_hat = joint_angular_jacobian(model, q)
    return np.einsum("...kni,...n->...ki", np.linalg.pinv(J_hat), np.asarray(Q, float))


def act_and_react(n: Any, parent: Any) -> None:
    """The least wrench w with S^T w = Q on the body, the opposite on the parent."""
    E, S = still_of(n)
    w = S @ solve_spd(S.T @ S, n.Q)
    n.wrench = w - n.reaction
    parent.reaction = parent.reaction + E.move_wrench(w)


DRIVE_WRENCHES = Algorithm(
    "drive_wrenches",
    {
        "q": Field("input", "q"),
        "Q": Field("input", "v"),
        "reaction": Field("gathered", codec=vector(6)),
        "wrench": Field("output", "node", vector(6)),
    },
    {"run": [inward(act_and_react)]},
)


@takes_model
def drive_wrenches(model: Model, q: Any, Q: Any, threads: int | None = 1) -> np.ndarray:
    """The wrenches (moment, force) on all bodies, (..., bodies, 6) about their origins in their axes, by which drives exert Q.

    Each joint exerts w = S (S^T S)^-1 Q on its body and the opposite on its parent, so that J^T w = Q and nothing acts on the
    whole but what the roots' joints do. This is (68) and (71) for any joint, translations included, in O(n).
    """
    return model.call(DRIVE_WRENCHES, {"q": q, "Q": Q}, threads)["wrench"]
