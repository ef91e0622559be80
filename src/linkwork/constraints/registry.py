"""All constraints on bodies, by name."""

from __future__ import annotations

from .closure import Closure
from .constraint import Constraint
from .custom import CustomConstraint
from .gear import Gear
from .loop import Loop
from .on_shape import PointOnCurve, PointOnSurface, TangentSurfaces

ALL_CONSTRAINTS: dict[str, type[Constraint]] = {
    cls.__name__: cls for cls in (Loop, Closure, Gear, PointOnCurve, PointOnSurface, TangentSurfaces, CustomConstraint)
}
