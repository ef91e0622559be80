"""Reduced coordinates in O(n)."""

from .dynamics import forward_dynamics
from .forward import tree_dynamics
from .inverse import inverse_dynamics, joint_wrenches
from .kinematics import Kinematics, kinematics
from .response import factor_reduced

__all__ = [
    "Kinematics",
    "factor_reduced",
    "forward_dynamics",
    "inverse_dynamics",
    "joint_wrenches",
    "kinematics",
    "tree_dynamics",
]
