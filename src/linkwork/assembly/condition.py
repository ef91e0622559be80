"""Conditions between parts: each is its residual, on positions or on velocities; its rows and bias are derived.

`residual(a, b, ...)` is written in terms of the parts' points, directions, velocities (see `views`). It must vanish, or not
become negative. Its acceleration form is J v_dot + c = 0 [Baraff, Eq. 2]; the force that maintains it is J^T lam, or K mu where
K^T is the Jacobian of `along(a, b, ...)`, another function of velocities. A residual that is timed has an argument `t` besides:
the time, whose derivatives are part of the rate and of c.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from inspect import signature
from typing import Any, Literal

import numpy as np

from ..elements.law import Law
from ..errors import ModelError
from ..spatial.dual import Dual, split
from ..spatial.jet import Jet, biases, gradients, rates, values
from ..spatial.scalar import Scalar, Vector, array
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
    timed: bool = False  # whether its functions depend on the time, an argument `t`

    def residual(self, *parts: Any, **passing: Any) -> Vector:
        """What must vanish (or stay non-negative)."""
        raise TypeError(f"{type(self).__name__} must define residual")

    def along(self, *parts: Any, **passing: Any) -> Vector:
        """The velocities that the forces of a directed condition drive."""
        raise TypeError(f"{type(self).__name__} is directed and must define along")

    @property
    def signature(self) -> tuple[Any, ...]:
        """What identifies the condition's machine code, besides its parts and the shapes of its parameters."""
        return (type(self).__qualname__, self.size, self.level, self.directed, self.timed)

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


def derive(
    condition: Condition, parts: Sequence[Part], xs: Sequence[Vector], vs: Sequence[Vector], t: Scalar = 0.0
) -> ConditionRows:
    """The rows of a condition on parts with these coordinates and velocities, at a time."""
    count = sum(part.nv for part in parts)
    starts = np.cumsum([0, *(part.nv for part in parts)]).tolist()
    jets = [moving(part, x, v, first, count) for part, x, v, first in zip(parts, xs, vs, starts, strict=False)]

    def of_velocities(function: Callable[..., Any]) -> tuple[Vector, np.ndarray]:
        views = [Moving(part, x, v, first, count) for part, x, v, first in zip(parts, jets, vs, starts, strict=False)]
        passing = {"t": Dual(t, (*[0.0] * count, 1.0))} if condition.timed else {}
        return split(_checked(condition, function(*views, **passing)), count + 1)

    if condition.level == "position":
        passing = {"t": Jet(t, (0.0,) * count, 1.0, 0.0)} if condition.timed else {}
        placed = (Placed(part, x) for part, x in zip(parts, jets, strict=True))
        r = _checked(condition, condition.residual(*placed, **passing))
        residual, rate, bias, J = values(r), rates(r), biases(r), gradients(r, count)
    else:
        rate, slopes = of_velocities(condition.residual)
        residual, J, bias = np.zeros(condition.size), slopes[:, :count], slopes[:, count]
    K_T = of_velocities(condition.along)[1][:, :count] if condition.directed else J
    return ConditionRows(residual, rate, bias, J, K_T)


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
        self._timed = {name for name, f in self._functions.items() if "t" in signature(f).parameters and "t" not in self._given}
        self.timed = bool(self._timed)
        if self.size < 1 or not self.parts or self.level not in ("position", "velocity"):
            raise ModelError(
                f"{self!r}: size {size!r} must be at least 1, level {self.level!r} 'position' or 'velocity', parts not empty"
            )
        for name in self._given:
            if hasattr(self, name):
                raise ModelError(f"{self!r}: a parameter cannot be called {name!r}; choose another name")
        self.__dict__.update(self._given)

    @property
    def _functions(self) -> dict[str, Callable[..., Any]]:
        return {"residual": self._residual} | ({"along": self._along} if self._along is not None else {})

    @property
    def built_in(self) -> bool:
        return False

    def parameters(self) -> dict[str, np.ndarray]:
        return dict(self._given)

    def _value(self, what: str, parts: tuple[Any, ...], passing: dict[str, Any]) -> Vector:
        time = passing if what in self._timed else {}
        return array(self._functions[what](*parts, **{name: getattr(self, name) for name in self._given}, **time))

    def residual(self, *parts: Any, **passing: Any) -> Vector:
        return self._value("residual", parts, passing)

    def along(self, *parts: Any, **passing: Any) -> Vector:
        return self._value("along", parts, passing)


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
    """A condition from its residual, a function of the parts (and of named parameters, and of the time t).

    >>> hold = condition(lambda a, b, at: a.point() - b.point(at), ["bob", "arm"], 3, at=(0, 0, -1))
    >>> lift = condition(lambda a, t: [a.point()[2] - 0.1 * t], ["bob"], 1)
    """
    return FunctionCondition(residual, parts, size, level=level, unilateral=unilateral, along=along, parameters=parameters)
