"""Friction and restitution of a row that only pushes, beside shapes: a gap of any kind, and the point where its bodies touch.

The normal is the direction in which the gap grows with the first body; friction acts on the point, across the normal (`derive`).
"""

from __future__ import annotations

from typing import Any

from ..elements.law import RowLaw
from ..errors import ModelError
from ..spatial.gate import number
from ..spatial.scalar import Scalar, Vector, stack


class Rubbing(RowLaw):
    """Mixed into constraints of one row; they say the point by `rub_at`."""

    friction: float = 0.0
    restitution: float = 0.0

    def _take_grip(self, owner: str, friction: Any, restitution: Any) -> None:
        """Take coefficients; after `unilateral` and `size` are known."""
        self.friction = number(owner, "friction", friction, 0.0)
        self.restitution = number(owner, "restitution", restitution, 0.0)
        if self.restitution > 1.0:
            raise ModelError(f"{owner}: restitution must be at most 1, not {restitution!r}")
        if self.gripping and not (self.unilateral and self.holonomic and self.size == 1):
            what = " and ".join(self.gripping)
            raise ModelError(f"{owner}: {what} needs one gap that only pushes, unilateral=True; it has {self.size} rows")
        self.cones = self.friction > 0.0
        self.size = 3 if self.cones else self.size

    @property
    def gripping(self) -> tuple[str, ...]:
        """Which of its coefficients act."""
        return tuple(name for name in ("friction", "restitution") if not _is_none(getattr(self, name)))

    def grip(self) -> tuple[Scalar, Scalar]:
        return self.friction, self.restitution

    def with_tangents(self, gap: Vector) -> Vector:
        """The residual of all rows: friction has none."""
        return stack(*gap, 0.0, 0.0) if self.cones else gap


def _is_none(coefficient: Any) -> bool:
    return isinstance(coefficient, float) and coefficient == 0.0
