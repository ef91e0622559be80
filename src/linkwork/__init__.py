"""linkwork: dynamics of articulated bodies. A joint, force or constraint is a few lines; everything else is derived."""

from .constraints import Constraint, Loop
from .contact import Contact
from .energy import Energy, energy
from .errors import CompileError, InputError, LinkworkError, ModelError, SolverError, SymbolError
from .geometry import Plane, Sphere
from .joints import Free, Joint, Revolute, Spherical, joint
from .maximal import factor_maximal as _factor_maximal
from .maximal import maximal_dynamics, to_maximal, to_reduced
from .model import Body, MaximalState, Model, ModelBuilder, Motion, Response, Rows, State
from .model.kinematics import Kinematics, kinematics
from .reduced import factor_reduced as _factor_reduced
from .reduced import forward_dynamics, inverse_dynamics, joint_wrenches, tree_dynamics
from .simulate import simulate
from .spatial import SE3, Ad, Inertia, ad
from .spatial import scalar as math
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
    "Constraint",
    "Contact",
    "Energy",
    "Free",
    "Health",
    "Inertia",
    "InputError",
    "Joint",
    "Kinematics",
    "LinkworkError",
    "Loop",
    "MaximalState",
    "Model",
    "ModelBuilder",
    "ModelError",
    "Motion",
    "Plane",
    "Response",
    "Revolute",
    "Rows",
    "SolverError",
    "Sphere",
    "Spherical",
    "State",
    "SymbolError",
    "Trajectory",
    "ad",
    "energy",
    "factor",
    "forward_dynamics",
    "inverse_dynamics",
    "joint",
    "joint_wrenches",
    "kinematics",
    "math",
    "maximal_dynamics",
    "simulate",
    "to_maximal",
    "to_reduced",
    "tree_dynamics",
]
