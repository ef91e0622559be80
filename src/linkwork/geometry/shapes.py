"""Simple solids, in the coordinates of whatever they are attached to."""

from __future__ import annotations

import copy
from typing import Any, ClassVar

import numpy as np

from ..errors import ModelError


class Shape:
    """Base of all shapes."""

    parameter_names: ClassVar[tuple[str, ...]] = ()
    friction: float | None = None
    restitution: float | None = None

    def parameters(self) -> dict[str, np.ndarray]:
        """Its numbers, by name."""
        return {name: np.asarray(getattr(self, name), float) for name in self.parameter_names}

    def bound(self, values: Any) -> Any:
        """The same shape with other numbers, symbols too; they are not checked."""
        other = copy.copy(self)
        other.__dict__.update(values)
        return other


class Box(Shape):
    """A solid box."""

    parameter_names = ("size", "R", "p")

    def __init__(self, size: Any, pose: Any = None) -> None:
        self.size = _point("Box size", size)
        self.R, self.p = (np.eye(3), np.zeros(3)) if pose is None else (pose.R, pose.p)


class Sphere(Shape):
    """A solid ball."""

    parameter_names = ("radius", "center")

    def __init__(self, radius: float, center: Any = (0.0, 0.0, 0.0)) -> None:
        self.radius = float(radius)
        self.center = _point("Sphere center", center)
        if not (np.isfinite(self.radius) and self.radius > 0):
            raise ModelError(f"Sphere: the radius {radius!r} must be positive")


class Plane(Shape):
    """The half-space below a plane; `normal` points out of it."""

    parameter_names = ("point", "normal")

    def __init__(self, point: Any = (0.0, 0.0, 0.0), normal: Any = (0.0, 0.0, 1.0)) -> None:
        self.point = _point("Plane point", point)
        self.normal = _point("Plane normal", normal)
        length = float(np.linalg.norm(self.normal))
        if abs(length - 1.0) > 1e-6:
            raise ModelError(f"Plane: the normal {self.normal.tolist()} has length {length:.6g}; give a unit vector")
        self.normal = self.normal / length


def _point(what: str, x: Any) -> np.ndarray:
    a = np.asarray(x, dtype=float)
    if a.shape != (3,) or not np.all(np.isfinite(a)):
        raise ModelError(f"{what} must be three finite numbers, not {x!r}")
    return a
