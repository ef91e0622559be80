"""The interactions that come with the library."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from ..errors import ModelError
from ..spatial.scalar import Scalar, Vector, dot, norm
from .conditions import WORLD
from .interaction import Interaction, interaction

__all__ = ["ALL_INTERACTIONS", "Interaction", "Spring", "interaction"]


class Spring(Interaction):
    """A spring, and a damper, between points of two parts, or of a part and the world.

    stiffness   N/m; damping N s/m along the line between the points; length at rest m
    """

    parameter_names: ClassVar[tuple[str, ...]] = ("stiffness", "length", "damping", "at_a", "at_b")

    def __init__(
        self, a: str, b: str, stiffness: float, length: float = 0.0, damping: float = 0.0, at_a: Any = (), at_b: Any = ()
    ) -> None:
        """`at_a`, `at_b` in body axes, empty for particles; `at_b` in world axes if b is "world"."""
        self.parts = (a,) if b == WORLD else (a, b)
        self.stiffness, self.length, self.damping = float(stiffness), float(length), float(damping)
        self.at_a, self.at_b = np.asarray(at_a, float), np.asarray(at_b, float)
        self.dissipates, self._slack = self.damping != 0.0, self.length == 0.0
        if not (self.stiffness >= 0 and self.length >= 0 and self.damping >= 0):
            raise ModelError(f"{self!r}: stiffness, length and damping must not be negative")
        if b == WORLD and not self.at_b.size:
            raise ModelError(f"{self!r}: it needs the point of the world that it leads to, at_b")

    @property
    def signature(self) -> tuple[Any, ...]:
        return (*super().signature, self._slack)

    def _apart(self, a: Any, b: Any) -> Vector:
        return a.point(self.at_a) - (self.at_b if b is None else b.point(self.at_b))

    def energy(self, a: Any, b: Any = None) -> Scalar:
        d = self._apart(a, b)
        if self._slack:  # smooth where the points meet
            return 0.5 * self.stiffness * dot(d, d)
        stretch = norm(d) - self.length
        return 0.5 * self.stiffness * stretch * stretch

    def dissipation(self, a: Any, b: Any = None) -> Scalar:
        d, speed = self._apart(a, b), a.velocity(self.at_a)
        if b is not None:
            speed = speed - b.velocity(self.at_b)
        if self._slack:
            return 0.5 * self.damping * dot(speed, speed)
        rate = dot(d, speed)
        return 0.5 * self.damping * rate * rate / dot(d, d)


ALL_INTERACTIONS = (Spring,)
