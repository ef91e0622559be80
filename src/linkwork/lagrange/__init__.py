"""The Lagrangian side: Jacobians in any axes, equations of motion term by term, momentum, regressor [Liu & Jain]."""

from .centre_of_mass import center_of_mass, com_jacobian, com_jacobian_dot
from .centroidal import centroidal_momentum_matrix, centroidal_momentum_matrix_dot, momentum
from .coriolis import coriolis_forces, coriolis_matrix
from .equations import (
    coriolis_forces_from_mass_matrix,
    coriolis_matrix_by_links,
    kinetic_energy,
    lagrange_forces,
    mass_matrix_by_links,
    mass_matrix_derivatives,
)
from .explain import Explanation, explain
from .frames import frame_acceleration, frame_forces, frame_jacobian, frame_jacobian_dot, frame_velocity, point_jacobian
from .global_form import GlobalForm, global_form
from .link_dynamics import LinkDynamics, link_dynamics
from .links import LinkJacobians, Links, link_inertias, link_jacobians, link_jacobians_dot, link_velocities, links
from .regressor import inertial_parameters, regressor, regressor_blocks, regressor_pairs
from .relative import connectivity, joint_angular_jacobian, parent_rotations, relative_angular_velocities

__all__ = [
    "Explanation",
    "GlobalForm",
    "LinkDynamics",
    "LinkJacobians",
    "Links",
    "center_of_mass",
    "centroidal_momentum_matrix",
    "centroidal_momentum_matrix_dot",
    "com_jacobian",
    "com_jacobian_dot",
    "connectivity",
    "coriolis_forces",
    "coriolis_forces_from_mass_matrix",
    "coriolis_matrix",
    "coriolis_matrix_by_links",
    "explain",
    "frame_acceleration",
    "frame_forces",
    "frame_jacobian",
    "frame_jacobian_dot",
    "frame_velocity",
    "global_form",
    "inertial_parameters",
    "joint_angular_jacobian",
    "kinetic_energy",
    "lagrange_forces",
    "link_dynamics",
    "link_inertias",
    "link_jacobians",
    "link_jacobians_dot",
    "link_velocities",
    "links",
    "mass_matrix_by_links",
    "mass_matrix_derivatives",
    "momentum",
    "parent_rotations",
    "point_jacobian",
    "regressor",
    "regressor_blocks",
    "regressor_pairs",
    "relative_angular_velocities",
]
