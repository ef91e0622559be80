"""Constraints, each a residual; written once, they work in every formulation through its response."""

from .closure import Closure
from .constraint import Constraint
from .coupling import Coupling
from .direct import DirectConstraint
from .limits import Limit
from .loop import Loop
from .prescribed import PrescribedJoint, PrescribedTwist
from .report import ConstraintReport, constraint_report

__all__ = [
    "Closure",
    "Constraint",
    "ConstraintReport",
    "Coupling",
    "DirectConstraint",
    "Limit",
    "Loop",
    "PrescribedJoint",
    "PrescribedTwist",
    "constraint_report",
]
