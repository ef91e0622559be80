"""All shapes."""

from __future__ import annotations

from .convex import Convex
from .height_field import HeightField
from .mesh import Mesh
from .shapes import Plane, Sphere
from .solids import Box, Capsule, Cylinder, Ellipsoid, Torus

ALL_SHAPES = (Plane, Sphere, Box, Capsule, Cylinder, Ellipsoid, Torus, Convex, Mesh, HeightField)
