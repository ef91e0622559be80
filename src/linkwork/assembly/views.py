"""What a condition sees of a part: numbers that know how they change with the velocities of all parts concerned.

A condition on positions works with jets: whatever it computes has a gradient (its row), a rate and a bias. A condition on
velocities works with duals that hold the derivatives by every velocity, and by time at constant velocity as one more.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..spatial.dual import Dual
from ..spatial.jet import lift
from ..spatial.scalar import Vector, stack
from .part import Part


class Placed:
    """A part and its coordinates `x`, for conditions on positions."""

    def __init__(self, part: Part, x: Vector) -> None:
        self.part, self.x = part, x

    def point(self, local: Any = ()) -> Vector:
        """Where a material point is: the origin of the part, if `local` is left out."""
        return self.part.point(self.x, np.asarray(local))

    def direction(self, local: Any) -> Vector:
        """A vector that is fixed in the part."""
        local = np.asarray(local)
        return self.point(local) - self.point(np.zeros(len(local)))


class Moving(Placed):
    """A part, its coordinates `x` and velocities `v`, for conditions on velocities."""

    def __init__(self, part: Part, jets: Vector, v: Vector, first: int, count: int) -> None:
        """The velocities of the part are number `first`, ... of `count`."""
        self._jets, self._count = jets, count
        super().__init__(part, self._positions(jets))
        units = np.eye(count + 1)[first : first + part.nv]
        self.v = stack(*(Dual(v[k], tuple(units[k])) for k in range(part.nv)))

    def _positions(self, jets: Vector) -> Vector:
        full = (lift(j, self._count) for j in jets)
        return stack(*(Dual(j.x, (*[0.0] * self._count, j.rate)) for j in full))

    def rate(self, quantity: Callable[[Vector], Vector]) -> Vector:
        """The time derivative of a vector that is a function of the coordinates."""
        full = (lift(j, self._count) for j in quantity(self._jets))
        return stack(*(Dual(j.rate, (*j.grad, j.bias)) for j in full))

    def velocity(self, local: Any = ()) -> Vector:
        """The velocity of a material point."""
        return self.rate(lambda x: self.part.point(x, np.asarray(local)))

    @property
    def spin(self) -> Any:
        """The angular velocity in world axes."""
        return self.part.spin(self.x, self.v)


# --- in rules: laws and parts with the numbers of a node -----------------------------------------------------------------
def bound_parts(n: Any) -> list[Part]:
    """The parts of a node with their parameters."""
    return [p.bound({name: getattr(n, f"p{k}_{name}") for name in p.parameter_names}) for k, p in enumerate(n.parts)]


def bound_law(n: Any, k: int = 0) -> Any:
    """A law of a node with its parameters."""
    law = n.laws[k]
    return law.bound({name: getattr(n, f"law{k}_{name}") for name in law.parameters()})
