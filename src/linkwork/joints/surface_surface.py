"""Surface on surface: two bodies touch where their normals are opposite."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import ModelError
from .higher_pair import HigherPair, chart_pair, chosen, turn
from .revolute import Revolute

ROUND = {"Sphere", "Ellipsoid"}  # curved everywhere in all directions
CONVEX = ROUND | {"Plane", "Cylinder"}
FACING = {"outside": np.diag([1.0, -1.0, -1.0]), "inside": np.eye(3)}


class SurfaceSurface(HigherPair):
    """A surface of the body touches one of the inboard body; q = (u_a, v_a, [spin], u_b, v_b).

    a, b      the surfaces, each in the axes of its body: Sphere, Ellipsoid, Torus, Plane, Cylinder, ParametricSurface
    turning   "aligned": the tangent frames stay aligned, four coordinates as in the paper; "spin": they turn about the normal,
              five coordinates
    angle     from x of the one frame to x of the other about the normal of a, a constant beside the spin
    side      "outside": normals are opposite; "inside": b touches a from within, normals agree
    charts    True: if `turning` turns about the normal, coordinates of spheres and ellipsoids change to a second chart near their
              poles; False: they stay longitude and latitude, which are singular at the poles

    A plane leaves to a plane or a cylinder fewer freedoms: coordinates along straight lines, which slide both alike, stay with
    the plane alone. Cylinders that are aligned need an angle: along parallel lines they slide alike too.

    >>> rolling = lw.SurfaceSurface(lw.Torus(0.5, 0.1), lw.Torus(0.5, 0.1))
    """

    def __init__(
        self, a: Any, b: Any, turning: str = "aligned", angle: float = 0.0, side: str = "outside", charts: bool = True
    ) -> None:
        owner = "SurfaceSurface"
        one, other = chart_pair(owner, a, b, {(2, 2)})
        if one.kind == ("Plane",):
            other = other.without_straight()
        elif other.kind == ("Plane",):
            one = one.without_straight()
        spin = chosen(owner, "turning", turning, {"aligned": None, "spin": Revolute((0, 0, 1))})
        kinds, free = {one.kind[0], other.kind[0]}, spin is not None and one.size == other.size == 2
        self.may_part = free and (side == "inside" or not (kinds <= CONVEX and kinds & ROUND))
        facing = turn(owner, 2, angle) @ chosen(owner, "side", side, FACING)
        try:
            super().__init__(one, other, spin, facing, charts)
        except ModelError as error:
            raise ModelError(
                f"{error}; surfaces that are straight in one direction touch along a line where these directions agree: give "
                'an angle between them, or turning="spin" and a start at which they cross; for bodies that move in one plane '
                "take TangentCurves"
            ) from error
