"""A marble in a bowl: a ball that rolls inside an ellipsoid."""

from __future__ import annotations

import numpy as np

import linkwork as lw
from linkwork.spatial.scalar import Scalar, Vector, dot

from .scene import CONTACT_METHODS, Scene

MARBLE, MASS = 0.012, 0.02  # m, kg
RADII = (0.3, 0.2, 0.15)  # m, of the bowl


def inside(x: Vector, radii: Vector) -> Scalar:
    """Above zero inside an ellipsoid."""
    y = x / radii
    return 1.0 - dot(y, y)


def marble(push: float = 0.35, friction: float = 0.4) -> tuple[lw.Model, lw.State]:
    """A marble on the side of the bowl, pushed along it (m/s): it rolls, on one side after the other."""
    bowl = lw.ImplicitSurface(inside, parameters={"radii": np.array(RADII)})
    b = lw.ModelBuilder().world(_drawn())
    b.body("marble", joint=lw.Free(), shapes=[lw.Sphere(MARBLE, mass=MASS, group=0, mask=0)])
    model = b.add(lw.TangentSurfaces("marble", lw.Sphere(MARBLE), bowl, unilateral=True, friction=friction)).build()
    a, _, c = RADII
    touch = np.array([0.75 * a, 0.0, -c * np.sqrt(1.0 - 0.75**2)])
    up = -touch / np.square(RADII)
    up /= np.linalg.norm(up)
    v = np.array([0.0, push, 0.0])
    spin = np.cross(up, v) / MARBLE  # it rolls
    return model, lw.State(np.array([*(touch + MARBLE * up), 1.0, 0.0, 0.0, 0.0]), np.concatenate([spin, v]))


def _drawn(lines: int = 41) -> lw.HeightField:
    """The lower half of the bowl, to be looked at: it touches nothing."""
    a, b, c = RADII
    x, y = np.meshgrid(np.linspace(-1.05, 1.05, lines), np.linspace(-1.05, 1.05, lines))
    heights = -c * np.sqrt(np.maximum(1.0 - x**2 - y**2, 0.0))
    return lw.HeightField(heights, (2.1 * a, 2.1 * b), base=0.02, group=0, mask=0)


MARBLE_IN_BOWL = Scene("marble", "a marble rolls in a bowl", marble, duration=3.0, dt=1e-3, methods=CONTACT_METHODS)
