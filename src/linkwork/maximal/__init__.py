"""Maximal coordinates in O(n)."""

from .convert import to_maximal, to_reduced
from .dynamics import MaximalAcceleration, maximal_dynamics
from .response import factor_maximal

__all__ = ["MaximalAcceleration", "factor_maximal", "maximal_dynamics", "to_maximal", "to_reduced"]
