"""Shapes. They know no mechanics."""

from .mesh import Mesh, mesh_inertia
from .shapes import Plane, Shape, Sphere

__all__ = ["Mesh", "Plane", "Shape", "Sphere", "mesh_inertia"]
