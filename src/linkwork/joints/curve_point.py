"""Point on a curve: either body may carry the curve."""

from __future__ import annotations

from typing import Any

from .higher_pair import HigherPair, chart_pair, chosen, turn
from .revolute import Revolute
from .spherical import Spherical


class CurvePoint(HigherPair):
    """A point of one body stays on a curve of the other.

    a, b      what the inboard body and the body carry: a curve and a point (three numbers, or the frame of one), in any order
    turning   "aligned": x of the body's frame stays along the tangent, one coordinate; "roll": it turns about the tangent, two;
              "free": in any way, four (a quaternion)
    angle     about the tangent, constant

    >>> bead = lw.CurvePoint(lw.bezier_curve([(0, 0, 0), (1, 0, 0.5), (2, 0, 0.5), (3, 0, 0)]))
    >>> bead.nv
    1
    """

    def __init__(self, a: Any, b: Any = (0.0, 0.0, 0.0), turning: str = "aligned", angle: float = 0.0) -> None:
        owner = "CurvePoint"
        turnings = {"aligned": None, "roll": Revolute((1, 0, 0)), "free": Spherical()}
        pair = chart_pair(owner, a, b, {(1, 0), (0, 1)})
        super().__init__(*pair, chosen(owner, "turning", turning, turnings), turn(owner, 0, angle))
