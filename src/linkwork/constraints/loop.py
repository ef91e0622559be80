"""Loop closure: a point of one body stays at a point of another."""

from __future__ import annotations

from typing import Any, ClassVar

from ..model.model import WORLD
from ..spatial.gate import ORIGIN, point
from ..spatial.scalar import Vector
from ..spatial.se3 import SE3
from .constraint import Constraint


class Loop(Constraint):
    """E_a x_a = E_b x_b: three rows, in world axes.

    body_a, body_b     names of the bodies; either may be "world"
    point_a, point_b   the points that meet, in the axes of their bodies

    >>> closed = model.add(lw.Loop("lower", "world", point_a=(1, 0, 0), point_b=(1.5, 0, 0)))
    >>> start = lw.assemble(closed, state)
    """

    size = 3
    parameter_names: ClassVar[tuple[str, ...]] = ("point_a", "point_b")

    def __init__(self, body_a: str, body_b: str = WORLD, point_a: Any = ORIGIN, point_b: Any = ORIGIN, *, name: str = "") -> None:
        self.called(name)
        self.bodies = (body_a, body_b)
        self.point_a = point("Loop", "point_a", point_a)
        self.point_b = point("Loop", "point_b", point_b)

    @property
    def groups(self) -> tuple[int, ...]:
        return (0, 0, 0)

    def residual(self, E_a: SE3, E_b: SE3) -> Vector:
        return E_a @ self.point_a - E_b @ self.point_b
