"""Maximal coordinates in O(n)."""

from . import conditions, parts
from .assembly import Assembly
from .convert import to_maximal, to_reduced
from .dynamics import MaximalAcceleration, maximal_dynamics
from .implicit_response import factor_implicit
from .implicit_tree import force_report
from .response import factor_maximal
from .system import Solution

__all__ = [
    "Assembly",
    "MaximalAcceleration",
    "Solution",
    "conditions",
    "factor_implicit",
    "factor_maximal",
    "force_report",
    "maximal_dynamics",
    "parts",
    "to_maximal",
    "to_reduced",
]
