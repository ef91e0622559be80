"""Reduced coordinates in O(n)."""

from typing import TYPE_CHECKING

from ..lazy import offer_lazily

if TYPE_CHECKING:
    from .derivatives import (
        DynamicsDerivatives,
        tree_dynamics_derivatives,
        tree_inverse_dynamics_derivatives,
        tree_linearised_dynamics,
    )
    from .dynamics import (
        forward_dynamics,
        forward_dynamics_derivatives,
        hybrid_dynamics,
        inverse_dynamics,
        inverse_dynamics_derivatives,
        linearised_dynamics,
    )
    from .forward import tree_dynamics
    from .hybrid import tree_hybrid_dynamics
    from .inertia_product import InertiaProduct, inverse_inertia_product
    from .inverse import bias_forces, gravity_forces, joint_wrenches, tree_inverse_dynamics
    from .inverse_mass_matrix import inverse_mass_matrix
    from .jacobian import (
        body_jacobian,
        body_jacobian_dot,
        frame_pose,
        jacobian,
        jacobian_dot_product,
        jacobian_product,
        jacobian_transpose_product,
    )
    from .mass_matrix import mass_matrix, mass_matrix_factor
    from .response import factor_reduced

offer_lazily(__name__)
__all__ = [
    "DynamicsDerivatives",
    "InertiaProduct",
    "bias_forces",
    "body_jacobian",
    "body_jacobian_dot",
    "factor_reduced",
    "forward_dynamics",
    "forward_dynamics_derivatives",
    "frame_pose",
    "gravity_forces",
    "hybrid_dynamics",
    "inverse_dynamics",
    "inverse_dynamics_derivatives",
    "inverse_inertia_product",
    "inverse_mass_matrix",
    "jacobian",
    "jacobian_dot_product",
    "jacobian_product",
    "jacobian_transpose_product",
    "joint_wrenches",
    "linearised_dynamics",
    "mass_matrix",
    "mass_matrix_factor",
    "tree_dynamics",
    "tree_dynamics_derivatives",
    "tree_hybrid_dynamics",
    "tree_inverse_dynamics",
    "tree_inverse_dynamics_derivatives",
    "tree_linearised_dynamics",
]
