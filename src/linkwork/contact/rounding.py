"""How the point in which a shape is farthest along a direction moves as that direction turns: the slope of its support point.

It is the Hessian of the support function: along a principal direction of a smooth surface the radius of curvature, 0 across edges
and at corners.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..geometry import Capsule, Cylinder, Ellipsoid, Shape, Sphere
from .patches import FLAT


def rolling(shape: Shape, d: np.ndarray) -> np.ndarray:
    """The slope (3, 3) at a unit direction, both in the axes of the body; 0 of shapes of faces, edges and corners alone."""
    found = _LOCAL.get(type(shape))
    if found is None:
        return np.zeros((3, 3))
    R = np.asarray(getattr(shape, "R", np.eye(3)), float)
    return R @ found(shape, R.T @ d) @ R.T


def _cylinder(s: Cylinder, d: np.ndarray) -> np.ndarray:
    """Along the rim: its radius over the sine of the angle between axis and direction [Meusnier]."""
    across = np.hypot(d[0], d[1])
    if across < FLAT:
        return np.zeros((3, 3))
    t = np.array([-d[1], d[0], 0.0]) / across
    return s.radius / across * np.outer(t, t)


def _ellipsoid(s: Ellipsoid, d: np.ndarray) -> np.ndarray:
    """Of A^2 d / |A d|."""
    x, size = s.radii**2 * d, np.linalg.norm(s.radii * d)
    return np.diag(s.radii**2) / size - np.outer(x, x) / size**3


_LOCAL: dict[type[Shape], Any] = {
    Sphere: lambda s, d: s.radius * np.eye(3),
    Capsule: lambda s, d: s.radius * np.eye(3),
    Cylinder: _cylinder,
    Ellipsoid: _ellipsoid,
}
