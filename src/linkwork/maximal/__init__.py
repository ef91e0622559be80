"""Maximal coordinates in O(n)."""

from typing import TYPE_CHECKING

from ..lazy import offer_lazily

if TYPE_CHECKING:
    from .convert import to_maximal, to_reduced
    from .dynamics import MaximalAcceleration, maximal_dynamics, tree_maximal_dynamics
    from .implicit_laws import force_report
    from .response import factor_maximal

offer_lazily(__name__)
__all__ = [
    "MaximalAcceleration",
    "factor_maximal",
    "force_report",
    "maximal_dynamics",
    "to_maximal",
    "to_reduced",
    "tree_maximal_dynamics",
]
