"""Constraints, each a residual; written once, they work in every formulation through its response."""

from typing import TYPE_CHECKING

from ..lazy import Registry, offer_lazily

if TYPE_CHECKING:
    from .closure import Closure
    from .constraint import Constraint
    from .coupling import Coupling
    from .custom import CustomConstraint, constraint, joint_constraint
    from .friction import DryFriction
    from .gear import Gear
    from .joint_friction import JointFriction
    from .limits import Limit
    from .loop import Loop
    from .on_joints import JointConstraint
    from .on_plane import TangentCurves
    from .on_shape import PointOnCurve, PointOnSurface, TangentSurfaces
    from .prescribed import PrescribedJoint, PrescribedTwist
    from .report import ConstraintReport, constraint_report

offer_lazily(__name__)
ALL_CONSTRAINTS: "Registry[type[Constraint]]" = Registry(
    __name__,
    ("Loop", "Closure", "Gear", "PointOnCurve", "PointOnSurface", "TangentSurfaces", "TangentCurves", "CustomConstraint"),
)

__all__ = [
    "ALL_CONSTRAINTS",
    "Closure",
    "Constraint",
    "ConstraintReport",
    "Coupling",
    "CustomConstraint",
    "DryFriction",
    "Gear",
    "JointConstraint",
    "JointFriction",
    "Limit",
    "Loop",
    "PointOnCurve",
    "PointOnSurface",
    "PrescribedJoint",
    "PrescribedTwist",
    "TangentCurves",
    "TangentSurfaces",
    "constraint",
    "constraint_report",
    "joint_constraint",
]
