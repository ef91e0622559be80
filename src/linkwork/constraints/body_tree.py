"""Constraints as the nodes of a tree of their own, that look at the bodies they act on."""

from __future__ import annotations

from collections.abc import Sequence

from ..elements.law_tree import PLACED, BodyTree
from ..kernel.sweep import SCALAR, Field
from ..model.model import Model
from .constraint import Constraint

GIVEN = {**PLACED, "t": Field("input", "global", SCALAR), "u": Field("input", "unknowns")}


def body_tree(model: Model, constraints: Sequence[Constraint]) -> BodyTree:
    """Constraints on the bodies of a model."""
    return BodyTree(model, constraints, _sizes)


def _sizes(c: Constraint) -> dict[str, int]:
    return {"rows": c.size, "G": 6 * len(c.bodies) * c.size, "unknowns": c.unknowns, "squares": c.unknowns**2}
