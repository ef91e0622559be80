"""Constraints, each a residual; written once, they work in every formulation through its response."""

from .constraint import Constraint
from .coupling import Coupling
from .loop import Loop

__all__ = ["Constraint", "Coupling", "Loop"]
