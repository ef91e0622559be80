"""Units of coordinates and residuals: metres or radians."""

from __future__ import annotations

import numpy as np

from ..elements.law import RowLaw
from ..model import Model
from ..model.kinematics import kinematics
from .custom import Given
from .limits import Limit
from .loop import Loop
from .on_joints import JointConstraint
from .on_shape import OnShape
from .rows import constraint_set

METRES, RADIANS, EITHER = "m", "rad", "m or rad"
TURNS = 1e-9  # rad per unit of a coordinate: one that turns its body less is a length


def coordinate_units(model: Model, name: str) -> tuple[str, ...]:
    """The unit of every velocity of a joint (of a body, or by its own name), and of its coordinate where these are as many:
    radians if it turns the body."""
    return model.keep_as((coordinate_units, name), lambda: _coordinate_units(model, name))


def _coordinate_units(model: Model, name: str) -> tuple[str, ...]:
    k = model.body_index(name)
    own = model.v_index(model.bodies[k].name)
    v = np.eye(model.nv)[own]
    found = kinematics(model, np.tile(model.neutral(), (len(v), 1)), v).twists[:, k, :3]
    return tuple(RADIANS if turn > TURNS else METRES for turn in np.linalg.norm(found, axis=1))


def row_units(model: Model) -> tuple[str, ...]:
    """The unit of the residual of every constraint row."""
    return model.keep_as(row_units, lambda: tuple(u for law, n in constraint_set(model).sizes() for u in _units(model, law, n)))


def _units(model: Model, law: RowLaw, size: int) -> tuple[str, ...]:
    if isinstance(law, Limit):
        own = coordinate_units(model, law.joint)
        return tuple(own[i] for i, _ in law.sides)
    if isinstance(law, Given):
        return (EITHER,) * size
    if isinstance(law, JointConstraint):
        return (_one({u for joint in law.joints for u in coordinate_units(model, joint)}),) * size
    lengths = law.unilateral or isinstance(law, (Loop, OnShape))
    return (METRES if lengths else EITHER,) * size


def residual_unit(model: Model) -> str:
    """The unit of the residuals of all equality constraints."""
    rows, units = constraint_set(model), row_units(model)
    return _one({u for u, pushes, known in zip(units, rows.unilateral, rows.holonomic, strict=True) if known and not pushes})


def rate_unit(model: Model) -> str:
    """The unit of the rates of all equality constraints."""
    rows, units = constraint_set(model), row_units(model)
    equal = ~rows.unilateral & ~rows.of("bounded")
    one = _one({u for u, keep in zip(units, equal, strict=True) if keep})
    return " or ".join(f"{unit}/s" for unit in one.split(" or "))


def _one(units: set[str]) -> str:
    return units.pop() if len(units) == 1 else EITHER if units else METRES
