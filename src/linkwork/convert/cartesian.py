"""States and forces as engines in maximal coordinates hold them: one free body per link [Liu & Jain, section 6]."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from ..errors import InputError
from ..lagrange.links import of_poses, of_twists
from ..model.accepts import takes_model
from ..model.kinematics import kinematics
from ..model.model import Model
from ..reduced.jacobian import jacobian_transpose_product
from ..spatial.gate import given_number
from .bodies import body_poses, body_twists, body_wrenches, world_forces
from .fit import JointFit, joint_fit
from .forces import drive_wrenches


@dataclass(frozen=True, eq=False)
class Cartesian:
    """All links of a model, in world axes; a batch has its axis first.

    positions         of the centres of mass (..., links, 3)
    quaternions_wxyz  rotations of the links' frames (..., links, 4)
    linear, angular   velocities of the centres of mass and angular velocities (..., links, 3)
    forces, torques   at the centres of mass and about them (..., links, 3)

    >>> links = lw.to_cartesian(model, q, v)
    >>> links.positions.shape, links.quaternions_wxyz.shape
    ((2, 3), (2, 4))
    """

    positions: np.ndarray
    quaternions_wxyz: np.ndarray
    linear: np.ndarray
    angular: np.ndarray
    forces: np.ndarray
    torques: np.ndarray

    @property
    def rotations(self) -> np.ndarray:
        """(..., links, 3, 3)."""
        return rotations_of(self.quaternions_wxyz)


@dataclass(frozen=True, eq=False)
class Generalized(JointFit):
    """q, v, and the joint forces tau that Cartesian forces amount to; gaps and slips as of `JointFit`."""

    tau: np.ndarray = field(default_factory=lambda: np.zeros(0))


@takes_model
def to_cartesian(model: Model, q: Any, v: Any = None, tau: Any = None) -> Cartesian:
    """Where the links are, how they move, and the forces on them by which drives exert joint forces `tau` (see
    `drive_wrenches`).

    >>> lw.to_cartesian(model, q, v).linear.shape
    (2, 3)
    """
    v = np.zeros(model.nv) if v is None else v
    k = kinematics(model, q, v)
    at = of_poses(model, k.poses)
    linear, angular = of_twists(model, k.poses, k.twists)
    if tau is None:
        forces, torques = np.zeros_like(linear), np.zeros_like(linear)
    else:
        forces, torques = world_forces(model, k.poses, drive_wrenches(model, q, tau))
    return Cartesian(at.positions, quaternions_of(at.rotations), linear, angular, forces, torques)


@takes_model
def from_cartesian(model: Model, state: Cartesian, q_near: Any = None, tolerance: float | None = None) -> Generalized:
    """The generalized state that fits best, joint by joint, with the residuals that tell whether joints allow the poses and
    velocities; and the joint forces that the forces amount to [Liu & Jain, Eqs. 66, 67].

    q_near      where to begin (..., nq): it chooses turns and branches
    tolerance   raise `InputError` with the worst link if a residual (rad, m, rad/s, m/s) is larger

    >>> back = lw.from_cartesian(model, lw.to_cartesian(model, q, v))
    >>> bool(np.allclose(back.q, q))
    True
    """
    poses = body_poses(model, state.positions, state.rotations)
    twists = body_twists(model, poses, state.linear, state.angular)
    fit = joint_fit(model, poses, twists, q_near)
    if tolerance is not None:
        _require(model, fit, given_number("from_cartesian: tolerance", tolerance, 0.0))
    tau = jacobian_transpose_product(model, fit.q, body_wrenches(model, poses, state.forces, state.torques))
    return Generalized(fit.q, fit.v, fit.gaps, fit.slips, tau)


def _require(model: Model, fit: JointFit, tolerance: float) -> None:
    for what, unit, left in (("pose", "m or rad", fit.gaps), ("velocity", "m/s or rad/s", fit.slips)):
        worst = np.abs(left).max(axis=-1)
        if worst.size and not worst.max() <= tolerance:
            link = int(np.unravel_index(np.argmax(worst), worst.shape)[-1])
            raise InputError(
                f"the {what} of link {model.bodies[link].name!r} is not one that its joint allows: {worst.max():.3g} {unit} are "
                f"left, more than {tolerance:g}. Project it, or accept the nearest one with tolerance=None"
            )


def quaternions_of(rotations: np.ndarray) -> np.ndarray:
    """wxyz (..., 4) of rotations (..., 3, 3), with w >= 0."""
    flat = Rotation.from_matrix(rotations.reshape(-1, 3, 3)).as_quat(canonical=True)
    return np.roll(flat, 1, axis=-1).reshape(*rotations.shape[:-2], 4)


def rotations_of(quaternions_wxyz: Any) -> np.ndarray:
    """(..., 3, 3) of unit quaternions (..., 4)."""
    q = np.asarray(quaternions_wxyz, float)
    return Rotation.from_quat(np.roll(q.reshape(-1, 4), -1, axis=-1)).as_matrix().reshape(*q.shape[:-1], 3, 3)
