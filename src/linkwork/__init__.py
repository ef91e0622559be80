"""linkwork: dynamics of articulated bodies. A joint, force or constraint is a few lines; everything else is derived."""

from .constraints import Constraint, Coupling, Loop
from .contact import Contact
from .energy import Energy, energy
from .errors import CompileError, InputError, LinkworkError, ModelError, SolverError, SymbolError
from .geometry import Mesh, Plane, Sphere, mesh_inertia
from .io import load
from .joints import (
    Composite,
    Cylindrical,
    Fixed,
    Free,
    Free2D,
    FreeExp,
    Helical,
    Joint,
    Planar,
    Prismatic,
    Revolute,
    Spherical,
    SphericalEuler,
    SphericalExp,
    Translational,
    Universal,
    joint,
)
from .maximal import factor_maximal as _factor_maximal
from .maximal import maximal_dynamics, to_maximal, to_reduced
from .model import Body, MaximalState, Model, ModelBuilder, Motion, Response, Rows, State
from .model.kinematics import Kinematics, kinematics
from .reduced import (
    bias_forces,
    body_jacobian,
    body_jacobian_dot,
    forward_dynamics,
    frame_pose,
    gravity_forces,
    hybrid_dynamics,
    inverse_dynamics,
    inverse_inertia_product,
    inverse_mass_matrix,
    jacobian,
    jacobian_dot_product,
    jacobian_product,
    jacobian_transpose_product,
    joint_wrenches,
    mass_matrix,
    mass_matrix_factor,
    tree_dynamics,
)
from .reduced import factor_reduced as _factor_reduced
from .simulate import simulate
from .spatial import SE3, Ad, Inertia, ad
from .spatial import scalar as math
from .steppers import Event
from .trajectory import Health, Trajectory

__version__ = "0.1.0"


def factor(model, q, v=None, tau=None, external=None, dt=None):
    """The `Response` of a model at a configuration, or at a `MaximalState`: how it answers forces, in O(n).

    Without `dt` its free motion is an acceleration and it answers forces; with `dt`, a velocity after a step, and impulses.
    """
    if isinstance(q, MaximalState):
        return _factor_maximal(model, q, tau, external, dt)
    return _factor_reduced(model, q, v, tau, external, dt)


__all__ = [
    "SE3",
    "Ad",
    "Body",
    "CompileError",
    "Composite",
    "Constraint",
    "Contact",
    "Coupling",
    "Cylindrical",
    "Energy",
    "Event",
    "Fixed",
    "Free",
    "Free2D",
    "FreeExp",
    "Health",
    "Helical",
    "Inertia",
    "InputError",
    "Joint",
    "Kinematics",
    "LinkworkError",
    "Loop",
    "MaximalState",
    "Mesh",
    "Model",
    "ModelBuilder",
    "ModelError",
    "Motion",
    "Planar",
    "Plane",
    "Prismatic",
    "Response",
    "Revolute",
    "Rows",
    "SolverError",
    "Sphere",
    "Spherical",
    "SphericalEuler",
    "SphericalExp",
    "State",
    "SymbolError",
    "Trajectory",
    "Translational",
    "Universal",
    "ad",
    "bias_forces",
    "body_jacobian",
    "body_jacobian_dot",
    "energy",
    "factor",
    "forward_dynamics",
    "frame_pose",
    "gravity_forces",
    "hybrid_dynamics",
    "inverse_dynamics",
    "inverse_inertia_product",
    "inverse_mass_matrix",
    "jacobian",
    "jacobian_dot_product",
    "jacobian_product",
    "jacobian_transpose_product",
    "joint",
    "joint_wrenches",
    "kinematics",
    "load",
    "mass_matrix",
    "mass_matrix_factor",
    "math",
    "maximal_dynamics",
    "mesh_inertia",
    "simulate",
    "to_maximal",
    "to_reduced",
    "tree_dynamics",
]
