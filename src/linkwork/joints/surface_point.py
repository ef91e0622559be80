"""Point on a surface: either body may carry the surface."""

from __future__ import annotations

from typing import Any

from .higher_pair import HigherPair, chart_pair, chosen, turn
from .revolute import Revolute
from .spherical import Spherical


class SurfacePoint(HigherPair):
    """A point of one body stays on a surface of the other.

    a, b      what the inboard body and the body carry: a surface and a point (three numbers, or the frame of one), in any order
    turning   "aligned": the body is tangent to the surface, its z along the normal, two coordinates; "spin": it turns about the
              normal, three; "free": in any way, five (a quaternion)
    angle     about the normal, constant
    charts    True: if `turning` turns about the normal, coordinates of spheres and ellipsoids change to a second chart near their
              poles; False: they stay longitude and latitude, which are singular at the poles

    >>> grid = np.stack([*np.meshgrid(np.arange(4.0), np.arange(4.0), indexing="ij"), np.zeros((4, 4))], axis=-1)
    >>> lw.SurfacePoint(lw.bezier_surface(grid)).nv
    2
    """

    def __init__(
        self, a: Any, b: Any = (0.0, 0.0, 0.0), turning: str = "aligned", angle: float = 0.0, charts: bool = True
    ) -> None:
        owner = "SurfacePoint"
        turnings = {"aligned": None, "spin": Revolute((0, 0, 1)), "free": Spherical()}
        pair = chart_pair(owner, a, b, {(2, 0), (0, 2)})
        super().__init__(*pair, chosen(owner, "turning", turning, turnings), turn(owner, 2, angle), charts)
