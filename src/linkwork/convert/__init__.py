"""Between generalized and Cartesian coordinates: states, velocities and forces [Liu & Jain, section 6]."""

from .cartesian import Cartesian, Generalized, from_cartesian, to_cartesian
from .fit import JointFit, joint_fit
from .forces import (
    body_torques,
    cartesian_forces,
    drive_wrenches,
    external_wrenches,
    forces_at_points,
    generalized_forces,
    generalized_forces_of_joint_torques,
    joint_torques,
)
from .velocities import (
    VelocityFit,
    rotational_velocities,
    velocities_by_joints,
    velocities_by_pseudo_inverse,
    velocities_by_rows,
)

__all__ = [
    "Cartesian",
    "Generalized",
    "JointFit",
    "VelocityFit",
    "body_torques",
    "cartesian_forces",
    "drive_wrenches",
    "external_wrenches",
    "forces_at_points",
    "from_cartesian",
    "generalized_forces",
    "generalized_forces_of_joint_torques",
    "joint_fit",
    "joint_torques",
    "rotational_velocities",
    "to_cartesian",
    "velocities_by_joints",
    "velocities_by_pseudo_inverse",
    "velocities_by_rows",
]
