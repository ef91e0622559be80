"""Curve on a surface: the curve touches the surface along its tangent; either body may carry the surface."""

from __future__ import annotations

from typing import Any

from .composite import Composite
from .higher_pair import HigherPair, chart_pair, chosen, turn
from .revolute import Revolute


class SurfaceCurve(HigherPair):
    """A curve of one body touches a surface of the other: its tangent lies in the tangent plane.

    a, b      what the inboard body and the body carry: a surface and a curve, in any order
    turning   "aligned": the tangent of the curve stays along x of the surface's frame, three coordinates; "spin": it turns about
              the normal, four; "free": the body rolls about the tangent too, five
    angle     about the normal, constant
    charts    True: if `turning` turns about the normal, coordinates of spheres and ellipsoids change to a second chart near their
              poles; False: they stay longitude and latitude, which are singular at the poles

    >>> roller = lw.SurfaceCurve(lw.bezier_surface(np.random.default_rng(0).normal(size=(4, 4, 3))),
    ...                          lw.bezier_curve([(0, 0, 0), (1, 0, 0.5), (2, 0, 0.5), (3, 0, 0)]))
    """

    def __init__(self, a: Any, b: Any, turning: str = "aligned", angle: float = 0.0, charts: bool = True) -> None:
        owner = "SurfaceCurve"
        pair = chart_pair(owner, a, b, {(2, 1), (1, 2)})
        spin, roll = Revolute((0, 0, 1)), Revolute((1, 0, 0))
        both = Composite(spin, roll) if pair[0].size == 2 else Composite(roll, spin)  # about the normal, about the tangent
        kinds = {"aligned": None, "spin": spin, "free": both}
        super().__init__(*pair, chosen(owner, "turning", turning, kinds), turn(owner, 2, angle), charts)
