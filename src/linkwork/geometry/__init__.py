"""Shapes, curves and surfaces. They know no mechanics."""

from .curves import Curve
from .mesh import Mesh, mesh_inertia
from .shapes import Box, Plane, Shape, Sphere
from .surfaces import ImplicitSurface, ParametricSurface, Surface, ellipsoid, torus

__all__ = [
    "Box",
    "Curve",
    "ImplicitSurface",
    "Mesh",
    "ParametricSurface",
    "Plane",
    "Shape",
    "Sphere",
    "Surface",
    "ellipsoid",
    "mesh_inertia",
    "torus",
]
