"""Numbers of bodies, joints and laws by name, and how each may change: what `Model.with_parameters` takes, what derivatives and
fits are of.

A quantity changes along `size` directions: an array entry by entry, a symmetric matrix as one; a unit vector by a change of its
three entries, made a unit vector again; a pose, or each of several, by a displacement of six numbers in its own axes (turns, then
shifts); a table entry by entry of its values.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import ModelError
from ..spatial.gate import meant
from ..spatial.scalar import read_only
from ..spatial.se3 import SE3
from ..spatial.table import Table

if TYPE_CHECKING:
    from .model import Model

OF_BODIES = ("mass", "com", "tensor", "placement", "armature", "damping")
NUMBERS, DIRECTION, POSES, TABLE = "numbers", "direction", "poses", "table"


@dataclass(frozen=True, eq=False)
class Quantity:
    """A number, an array, a unit vector, a pose or poses, or a table, with the directions along which it changes.

    name, what   of its body or law, and which of its numbers
    value        as it was given
    kind         NUMBERS, DIRECTION, POSES or TABLE
    is_linear    whether what kernels read of it is a polynomial of second degree in it at most
    """

    name: str
    what: str
    value: Any
    kind: str
    is_linear: bool

    @property
    def size(self) -> int:
        """The number of directions."""
        if self.kind == POSES:
            return 6 * (1 if isinstance(self.value, SE3) else len(self.value))
        return max(1, int(np.size(self.value.values if self.kind == TABLE else self.value)))

    @property
    def scale(self) -> float:
        """The size of its largest entry, 1 for poses and for zeros."""
        if self.kind in (POSES, DIRECTION):
            return 1.0
        return float(np.abs(self.value.values if self.kind == TABLE else self.value).max(initial=0.0)) or 1.0

    @property
    def start(self) -> np.ndarray:
        """The numbers (size,) that stand for the value itself in `at`: its entries, and zeros for poses."""
        if self.kind == POSES:
            return np.zeros(self.size)
        return np.array(self.value.values if self.kind == TABLE else self.value, float).reshape(-1)

    def at(self, x: np.ndarray) -> Any:
        """The value that these numbers (size,) stand for: entries, or displacements of the poses from where they are."""
        if self.kind == POSES:
            if isinstance(self.value, SE3):
                return self.value @ SE3.exp(x)
            return np.array([E @ SE3.exp(d).matrix for E, d in zip(self.value, np.reshape(x, (-1, 6)), strict=True)], float)
        if self.kind == TABLE:
            return self.value.with_values(x)
        if not np.ndim(self.value):
            return float(x[0])
        out = np.array(x, float).reshape(np.shape(self.value))
        if self.kind == DIRECTION:
            return _unit(self, out)
        return (out + out.T) / 2 if self.is_symmetric else out

    def moved(self, k: int, step: float) -> Any:
        """The value displaced by a step along direction k."""
        x = self.start
        x[k] += step
        return self.at(x)

    @property
    def is_symmetric(self) -> bool:
        """Whether it is a symmetric matrix (3, 3), which stays one."""
        return self.kind == NUMBERS and np.shape(self.value) == (3, 3) and np.array_equal(self.value, np.transpose(self.value))


def _unit(quantity: Quantity, x: np.ndarray) -> np.ndarray:
    length = float(np.linalg.norm(x))
    if not (np.isfinite(length) and length > 0.0):
        raise ModelError(f"{quantity.name!r}: its {quantity.what} must be a direction, not {x.tolist()}")
    return read_only(x / length)


def quantity_of(model: Model, name: str, what: str) -> Quantity:
    """A number of a body, its joint or a law, by name; raises where there is none."""
    laws = {getattr(e, "name", ""): e for e in model.elements}
    if name in laws and what in (known := laws[name].numbers()):
        direction = what in getattr(laws[name], "directions", ())
        return _of_value(name, what, known[what], direction, not direction)
    body = model.bodies[model.body_index(name)]
    if what in ("mass", "com", "tensor"):
        return _of_value(name, what, getattr(body.inertia, what), False, True)
    if what == "placement":
        return _of_value(name, what, body.placement, False, False)
    if what in ("armature", "damping"):
        return _of_value(name, what, getattr(body.properties, what), False, True)
    own = body.joint.numbers()
    if what not in own:
        choices = (*OF_BODIES, *own)
        raise ModelError(
            f"{name!r} has no number {what!r}; it has {', '.join(choices)}; laws have those that they were made with"
            f"{meant(what, choices)}"
        )
    return _of_value(
        name, what, own[what], what in body.joint.directions, body.joint.is_linear_in_numbers, what in body.joint.pose_lists
    )


def _of_value(name: str, what: str, value: Any, direction: bool, linear: bool, poses: bool = False) -> Quantity:
    kind = (
        POSES if poses or isinstance(value, SE3) else TABLE if isinstance(value, Table) else DIRECTION if direction else NUMBERS
    )
    if kind == NUMBERS:
        try:
            np.asarray(value, float)
        except (TypeError, ValueError):
            raise ModelError(f"{name!r}: {what!r} is no number, but {value!r}; numbers, poses and tables can change") from None
    return Quantity(name, what, np.asarray(value, float) if kind == DIRECTION else value, kind, linear and kind != POSES)
