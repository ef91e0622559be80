"""Shapes. They know no mechanics."""

from .shapes import Plane, Shape, Sphere

__all__ = ["Plane", "Shape", "Sphere"]
