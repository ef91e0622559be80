"""Questions about a model: inverse kinematics, equilibrium, modes, identification, muscles, what constraints carry."""

from .conditioning import mass_matrix_condition
from .equilibrium import Equilibrium, static_equilibrium
from .identification import (
    BaseParameters,
    Identified,
    base_parameters,
    identify,
    identify_consistent,
    pseudo_inertia,
)
from .inverse_dynamics import Shared, shared_inverse_dynamics
from .inverse_kinematics import Reached, inverse_kinematics, inverse_kinematics_qp
from .modes import Linearisation, Modes, linearize, modes
from .muscles import Activations, static_optimisation
from .rows import equality_rows
from .targets import Target

__all__ = [
    "Activations",
    "BaseParameters",
    "Equilibrium",
    "Identified",
    "Linearisation",
    "Modes",
    "Reached",
    "Shared",
    "Target",
    "base_parameters",
    "equality_rows",
    "identify",
    "identify_consistent",
    "inverse_kinematics",
    "inverse_kinematics_qp",
    "linearize",
    "mass_matrix_condition",
    "modes",
    "pseudo_inertia",
    "shared_inverse_dynamics",
    "static_equilibrium",
    "static_optimisation",
]
