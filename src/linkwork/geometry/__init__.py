"""Shapes, curves and surfaces. They know no mechanics."""

from typing import TYPE_CHECKING

from ..lazy import offer_lazily

if TYPE_CHECKING:
    from .bezier import bezier_curve, bezier_surface
    from .convex import Convex
    from .curves import Curve
    from .height_field import HeightField
    from .mesh import Mesh, mesh_inertia
    from .mesh_file import MeshFile
    from .registry import ALL_SHAPES
    from .shapes import Plane, Shape, Sphere
    from .solids import Box, Capsule, Cylinder, Ellipsoid, Torus
    from .surfaces import ImplicitSurface, ParametricSurface, Surface, ellipsoid, torus

offer_lazily(__name__)
__all__ = [
    "ALL_SHAPES",
    "Box",
    "Capsule",
    "Convex",
    "Curve",
    "Cylinder",
    "Ellipsoid",
    "HeightField",
    "ImplicitSurface",
    "Mesh",
    "MeshFile",
    "ParametricSurface",
    "Plane",
    "Shape",
    "Sphere",
    "Surface",
    "Torus",
    "bezier_curve",
    "bezier_surface",
    "ellipsoid",
    "mesh_inertia",
    "torus",
]
