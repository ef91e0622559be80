"""Pairs that touch in the way that is asked for most often, each by a name of its own."""

from __future__ import annotations

from typing import Any

from ..geometry import bezier_curve, bezier_surface
from ..spatial.gate import given_truth
from ..spatial.kinds import explained
from .curve_point import CurvePoint
from .surface_point import SurfacePoint
from .surface_surface import SurfaceSurface


class SurfacePair(SurfaceSurface):
    """Two surfaces that touch, aligned (four coordinates), or free to spin about their normal (five): see `SurfaceSurface`.

    >>> lw.SurfacePair(lw.Torus(0.5, 0.1), lw.Torus(0.5, 0.1), spin=True).nv
    5
    """

    @explained
    def __init__(self, a: Any, b: Any, spin: bool = False) -> None:
        super().__init__(a, b, "spin" if given_truth("SurfacePair: spin", spin) else "aligned")


class BezierCurve(CurvePoint):
    """The body runs along a Bezier curve, its x axis along the tangent: see `CurvePoint`.

    points   (n, 3): control points, in the axes of the inboard body

    >>> lw.BezierCurve([(0, 0, 1), (0.5, 0.3, 0), (1, -0.3, 0), (1.5, 0, 1)]).nv
    1
    """

    def __init__(self, points: Any) -> None:
        super().__init__(bezier_curve(points))


class BezierSurface(SurfacePoint):
    """The body runs over a Bezier surface, tangent to it: see `SurfacePoint`.

    points   (m, n, 3): control points, in the axes of the inboard body

    >>> lw.BezierSurface([[(x, y, x * x + y * y) for y in (-1, 0, 1)] for x in (-1, 0, 1)]).nv
    2
    """

    def __init__(self, points: Any) -> None:
        super().__init__(bezier_surface(points))
