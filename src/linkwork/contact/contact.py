"""Contact of two shapes without friction: the gap is a residual that may not become negative."""

from __future__ import annotations

from typing import ClassVar

from ..constraints.constraint import WORLD, Constraint
from ..errors import ModelError
from ..geometry import Plane, Shape, Sphere
from ..spatial.scalar import Vector, dot, stack
from ..spatial.se3 import SE3


class Contact(Constraint):
    """A sphere on a plane: gap = n . (centre - point) - radius >= 0, force along n >= 0, one of them zero.

    body_a, shape_a   the body with the sphere, and the sphere in its axes
    body_b, shape_b   the body with the plane ("world" by default), and the plane in its axes
    """

    size = 1
    unilateral = True
    parameter_names: ClassVar[tuple[str, ...]] = ("center", "radius", "point", "normal")

    def __init__(self, body_a: str, shape_a: Shape, body_b: str = WORLD, shape_b: Shape | None = None) -> None:
        shape_b = Plane() if shape_b is None else shape_b
        if not (isinstance(shape_a, Sphere) and isinstance(shape_b, Plane)):
            kinds = f"{type(shape_a).__name__} on {type(shape_b).__name__}"
            raise ModelError(f"Contact: {kinds} is not available; a Sphere on a Plane is")
        self.bodies = (body_a, body_b)
        self.center, self.radius = shape_a.center, shape_a.radius
        self.point, self.normal = shape_b.point, shape_b.normal

    def residual(self, E_a: SE3, E_b: SE3) -> Vector:
        base = E_b @ self.point
        normal = E_b @ (self.point + self.normal) - base
        return stack(dot(normal, E_a @ self.center - base) - self.radius)
