"""Conditions between parts: each is its residual, on positions or on velocities; its rows and bias are derived.

`residual(a, b, ...)` is written in terms of the parts' points, directions, velocities (see `views`). It must vanish, or not
become negative. Its acceleration form is J v_dot + c = 0 [Baraff, Eq. 2]; the force that maintains it is J^T lam, or K mu where
K^T is the Jacobian of `along(a, b, ...)`, another function of velocities.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from ..elements.law import Law
from ..errors import ModelError
from ..spatial.dual import split
from ..spatial.jet import biases, gradients, rates, values
from ..spatial.scalar import Vector, array
from .part import Part, moving
from .views import Moving, Placed


class Condition(Law):
    """Base of all conditions.

    parts        names of the parts concerned, in the order of the arguments of `residual`
    size         number of rows
    level        "position": the residual is a function of where the parts are; "velocity": of their velocities too
    unilateral   False: residual = 0.  True: residual >= 0, with forces that only push
    """

    parts: tuple[str, ...]
    size: int
    level: Literal["position", "velocity"] = "position"
    unilateral: bool = False
    directed: bool = False  # whether its forces act along directions of their own, given by `along`

    def residual(self, *parts: Any) -> Vector:
        """What must vanish (or stay non-negative)."""
        raise TypeError(f"{type(self).__name__} must define residual")

    def along(self, *parts: Any) -> Vector:
        """The velocities that the forces of a directed condition drive."""
        raise TypeError(f"{type(self).__name__} is directed and must define along")

    @property
    def signature(self) -> tuple[Any, ...]:
        """What identifies the condition's machine code, besides its parts and the shapes of its parameters."""
        return (type(self).__qualname__, self.size, self.level, self.directed)

    def check(self, parts: Sequence[Part]) -> None:
        """Raise unless these parts, in this order, can be connected so."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(repr, self.parts))})"


@dataclass(frozen=True)
class ConditionRows:
    """A condition at one state: residual, rate and bias c (size,), J and the force directions K^T (size, all velocities)."""

    residual: Vector
    rate: Vector
    bias: Vector
    J: np.ndarray
    K_T: np.ndarray


def derive(condition: Condition, parts: Sequence[Part], xs: Sequence[Vector], vs: Sequence[Vector]) -> ConditionRows:
    """The rows of a condition on parts with these coordinates and velocities."""
    count = sum(part.nv for part in parts)
    starts = np.cumsum([0, *(part.nv for part in parts)]).tolist()
    jets = [moving(part, x, v, first, count) for part, x, v, first in zip(parts, xs, vs, starts, strict=False)]

    def views() -> list[Moving]:
        return [Moving(part, x, v, first, count) for part, x, v, first in zip(parts, jets, vs, starts, strict=False)]

    if condition.level == "position":
        r = _checked(condition, condition.residual(*(Placed(part, x) for part, x in zip(parts, jets, strict=True))))
        residual, rate, bias, J = values(r), rates(r), biases(r), gradients(r, count)
    else:
        rate, slopes = split(_checked(condition, condition.residual(*views())), count + 1)
        residual, J, bias = np.zeros(condition.size), slopes[:, :count], slopes[:, count]
    if not condition.directed:
        return ConditionRows(residual, rate, bias, J, J)
    _, slopes = split(_checked(condition, condition.along(*views())), count + 1)
    return ConditionRows(residual, rate, bias, J, slopes[:, :count])


def _checked(condition: Condition, r: Any) -> Vector:
    r = array(r)
    if r.shape != (condition.size,):
        raise ModelError(f"{condition!r}: its functions must return {condition.size} numbers, not shape {r.shape}")
    return r


class FunctionCondition(Condition):
    """See `condition`."""

    def __init__(self, residual: Callable[..., Any], parts: Sequence[str], size: int, **options: Any) -> None:
        self._residual, self.parts, self.size = residual, tuple(parts), int(size)
        self.level, self.unilateral = options["level"], bool(options["unilateral"])
        self._along = options["along"]
        self.directed = self._along is not None
        self._given = {name: np.asarray(x, float) for name, x in options["parameters"].items()}
        if self.size < 1 or not self.parts or self.level not in ("position", "velocity"):
            raise ModelError(
                f"{self!r}: size {size!r} must be at least 1, level {self.level!r} 'position' or 'velocity', parts not empty"
            )
        for name in self._given:
            if hasattr(self, name):
                raise ModelError(f"{self!r}: a parameter cannot be called {name!r}; choose another name")
        self.__dict__.update(self._given)

    @property
    def built_in(self) -> bool:
        return False

    def parameters(self) -> dict[str, np.ndarray]:
        return dict(self._given)

    def _arguments(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self._given}

    def residual(self, *parts: Any) -> Vector:
        return array(self._residual(*parts, **self._arguments()))

    def along(self, *parts: Any) -> Vector:
        return array(self._along(*parts, **self._arguments()))


def condition(
    residual: Callable[..., Any],
    parts: Sequence[str],
    size: int,
    *,
    level: Literal["position", "velocity"] = "position",
    unilateral: bool = False,
    along: Callable[..., Any] | None = None,
    **parameters: Any,
) -> FunctionCondition:
    """A condition from its residual, a function of the parts (and of named parameters, numbers that may differ).

    >>> hold = condition(lambda a, b, at: a.point() - b.point(at), ["bob", "arm"], 3, at=(0, 0, -1))
    """
    return FunctionCondition(residual, parts, size, level=level, unilateral=unilateral, along=along, parameters=parameters)
