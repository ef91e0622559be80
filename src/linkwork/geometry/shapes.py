"""Simple solids, in the coordinates of whatever they are attached to."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import ModelError


class Shape:
    """Base of all shapes."""


class Sphere(Shape):
    """A solid ball."""

    def __init__(self, radius: float, center: Any = (0.0, 0.0, 0.0)) -> None:
        self.radius = float(radius)
        self.center = _point("Sphere center", center)
        if not (np.isfinite(self.radius) and self.radius > 0):
            raise ModelError(f"Sphere: the radius {radius!r} must be positive")


class Plane(Shape):
    """The half-space below a plane; `normal` points out of it."""

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
