"""Curve on curve: two bodies meet where their curves do."""

from __future__ import annotations

from typing import Any

from .higher_pair import HigherPair, chart_pair, chosen, turn
from .revolute import Revolute
from .spherical import Spherical


class CurveCurve(HigherPair):
    """A curve of the body meets one of the inboard body.

    a, b      the curves, each in the axes of its body
    turning   "aligned": their tangents agree and so do their frames, two coordinates; "roll": the body turns about the common
              tangent, three; "free": curves cross at any angle, five (a quaternion)
    angle     about the common tangent, constant

    >>> rail = lw.bezier_curve([(0, 0, 0), (1, 0, 0.5), (2, 0, 0.5), (3, 0, 0)])
    >>> sledge = lw.CurveCurve(rail, lw.bezier_curve([(0, 0, 0), (0.1, 0, 0), (0.2, 0, 0), (0.3, 0, 0)]))
    """

    def __init__(self, a: Any, b: Any, turning: str = "aligned", angle: float = 0.0) -> None:
        owner = "CurveCurve"
        turnings = {"aligned": None, "roll": Revolute((1, 0, 0)), "free": Spherical()}
        pair = chart_pair(owner, a, b, {(1, 1)})
        super().__init__(*pair, chosen(owner, "turning", turning, turnings), turn(owner, 0, angle))
