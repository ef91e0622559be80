"""A cable over points of several bodies, which only pulls."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..model.kinematics import kinematics
from ..model.model import Model
from ..spatial.gate import number, positive
from ..spatial.scalar import Scalar, Vector, maximum, where
from .muscle_path import AlongPath, as_path


class Cable(AlongPath):
    """A cable of rest length L through points of bodies, that slides without friction: while its length l is beyond L, it pulls
    with the tension (k (l - L) + d l_dot) / L, never below zero, along all its segments; energy k (l - L)^2 / (2 L).

    Stiffness and damping are per relative stretch (N, N s), as those of `SpringDamper`.

    points               (body, point) in order, two or more; obstacles of muscles may stand between them
    stiffness, damping   k and d
    rest_length          L > 0; the length at the model's neutral configuration if None

    >>> cable = lw.Cable([("world", (0, 0, 1)), ("upper", (0.5, 0, 0)), ("lower", (0.5, 0, 0))], stiffness=500.0)
    >>> hung = model.add(cable)
    """

    def __init__(
        self, points: Any, stiffness: float, damping: float = 0.0, rest_length: float | None = None, *, name: str = ""
    ) -> None:
        owner = self.called(name)
        self.path = as_path(owner, points)
        self.bodies = self.path.bodies
        self.stiffness, self.damping = number(owner, "stiffness", stiffness, 0.0), number(owner, "damping", damping, 0.0)
        self.rest_length = None if rest_length is None else positive(owner, "rest_length", rest_length)

    def fitted_to(self, model: Model) -> Any:
        fitted = super().fitted_to(model)
        if self.rest_length is not None:
            return fitted
        length = fitted.path.length(self.path.poses_at(model, kinematics(model, model.neutral()).poses))
        return fitted.with_parts(rest_length=positive(repr(self), "its length at the neutral configuration", length))

    def parameters(self) -> dict[str, Any]:
        numbers = {name: np.asarray(getattr(self, name), float) for name in ("stiffness", "damping", "rest_length")}
        return numbers | {"points": self.path.numbers}

    def bound(self, values: dict[str, Any]) -> Any:
        rest = {name: x for name, x in values.items() if name != "points"}
        return super().bound(rest | {"path": self.path.with_numbers(values["points"])})

    @property
    def variant(self) -> tuple[Any, ...]:
        return self.path.signature

    def tension(self, length: Scalar, rate: Scalar, t: Scalar, u: Vector) -> Scalar:
        return where(length > self.rest_length, maximum(self.pull(length, rate), 0.0), 0.0)

    def pull(self, length: Scalar, rate: Scalar) -> Scalar:
        """The tension of a spring and damper that is never slack."""
        return (self.stiffness * (length - self.rest_length) + self.damping * rate) / self.rest_length

    def stored(self, length: Scalar) -> Scalar:
        stretch = maximum(length - self.rest_length, 0.0)
        return 0.5 * self.stiffness * stretch * stretch / self.rest_length
