"""Joints, one small file per family."""

from typing import TYPE_CHECKING

from ..lazy import Registry, offer_lazily

if TYPE_CHECKING:
    from .base import Joint
    from .composite import Composite, FreeExp
    from .curve_curve import CurveCurve
    from .curve_point import CurvePoint
    from .custom import CustomJoint, joint
    from .cylindrical import Cylindrical
    from .fixed import Fixed
    from .formula import FormulaJoint
    from .four_bar import FourBar
    from .free import Free
    from .helical import Helical
    from .pairs_by_name import BezierCurve, BezierSurface, SurfacePair
    from .planar import Free2D, Planar, Translational
    from .prismatic import Prismatic
    from .revolute import Revolute
    from .spherical import Spherical
    from .spherical_euler import SphericalEuler
    from .spherical_exp import SphericalExp
    from .spline_basis import SplineBasis
    from .spline_curve import SplineCurve
    from .spline_surface import SplineSurface
    from .surface_curve import SurfaceCurve
    from .surface_point import SurfacePoint
    from .surface_surface import SurfaceSurface
    from .universal import Universal

offer_lazily(__name__)
ALL_JOINTS: "Registry[type[Joint]]" = Registry(
    __name__,
    (
        "Fixed",
        "Revolute",
        "Prismatic",
        "Cylindrical",
        "Helical",
        "Planar",
        "Free2D",
        "Translational",
        "Universal",
        "Spherical",
        "SphericalExp",
        "SphericalEuler",
        "Free",
        "FreeExp",
        "Composite",
        "SurfaceSurface",
        "SurfacePoint",
        "SurfaceCurve",
        "CurveCurve",
        "CurvePoint",
        "FourBar",
        "SplineCurve",
        "SplineSurface",
    ),
)

__all__ = [
    "ALL_JOINTS",
    "BezierCurve",
    "BezierSurface",
    "Composite",
    "CurveCurve",
    "CurvePoint",
    "CustomJoint",
    "Cylindrical",
    "Fixed",
    "FormulaJoint",
    "FourBar",
    "Free",
    "Free2D",
    "FreeExp",
    "Helical",
    "Joint",
    "Planar",
    "Prismatic",
    "Revolute",
    "Spherical",
    "SphericalEuler",
    "SphericalExp",
    "SplineBasis",
    "SplineCurve",
    "SplineSurface",
    "SurfaceCurve",
    "SurfacePair",
    "SurfacePoint",
    "SurfaceSurface",
    "Translational",
    "Universal",
    "joint",
]
