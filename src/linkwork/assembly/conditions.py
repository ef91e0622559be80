"""The conditions that come with the library."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from ..errors import ModelError
from ..spatial.scalar import Vector, array, cross, dot, norm, stack
from .condition import Condition, condition
from .part import Part

__all__ = [
    "ALL_CONDITIONS",
    "Above",
    "Condition",
    "Distance",
    "Gear",
    "Hinge",
    "Pin",
    "Rolling",
    "TurnLimit",
    "condition",
]

WORLD = "world"


class Pin(Condition):
    """A point of one part coincides with a point of another, or of the world."""

    parameter_names: ClassVar[tuple[str, ...]] = ("at_a", "at_b")

    def __init__(self, a: str, b: str = WORLD, at_a: Any = (), at_b: Any = (), space: int = 3) -> None:
        """`at_a`, `at_b` in body axes, empty for particles; `at_b` in world axes if b is the world. `space` is 2 or 3."""
        self.parts = (a,) if b == WORLD else (a, b)
        self.at_a, self.at_b = np.asarray(at_a, float), np.asarray(at_b, float)
        self.size = space
        if b == WORLD and self.at_b.shape != (space,):
            raise ModelError(f"{self!r}: the point of the world must be {space} numbers, not {at_b!r}")

    def residual(self, a: Any, b: Any = None) -> Vector:
        return a.point(self.at_a) - (self.at_b if b is None else b.point(self.at_b))

    def check(self, parts: Sequence[Part]) -> None:
        if any(part.space != self.size for part in parts):
            raise ModelError(f"{self!r}: it holds points of space {self.size}, its parts live in {[p.space for p in parts]}")


class Distance(Condition):
    """Two points of two parts keep their distance: (|d|^2 / length - length) / 2 = 0."""

    size = 1
    parameter_names: ClassVar[tuple[str, ...]] = ("at_a", "at_b", "length")

    def __init__(self, a: str, b: str, length: float, at_a: Any = (), at_b: Any = ()) -> None:
        self.parts, self.length = (a, b), float(length)
        self.at_a, self.at_b = np.asarray(at_a, float), np.asarray(at_b, float)
        if not self.length > 0:
            raise ModelError(f"{self!r}: the length {length!r} must be positive")

    def residual(self, a: Any, b: Any) -> Vector:
        d = a.point(self.at_a) - b.point(self.at_b)
        return array([0.5 * (dot(d, d) * (1.0 / self.length) - self.length)])


class Hinge(Condition):
    """Two parts in space share a point and an axis."""

    size = 5
    parameter_names: ClassVar[tuple[str, ...]] = ("at_a", "at_b", "axis_a", "across", "over")

    def __init__(self, a: str, b: str, at_a: Any, at_b: Any, axis_a: Any, axis_b: Any) -> None:
        """Points and axes in body axes."""
        self.parts = (a, b)
        self.at_a, self.at_b = np.asarray(at_a, float), np.asarray(at_b, float)
        self.axis_a, axis = unit(self, "axis_a", axis_a), unit(self, "axis_b", axis_b)
        self.across = np.cross(axis, np.eye(3)[np.argmin(np.abs(axis))])
        self.over = np.cross(axis, self.across)

    def residual(self, a: Any, b: Any) -> Vector:
        d, w = a.point(self.at_a) - b.point(self.at_b), a.direction(self.axis_a)
        return stack(*d, dot(w, b.direction(self.across)), dot(w, b.direction(self.over)))


class Gear(Condition):
    """The spins of two parts have a fixed ratio: spin_a = ratio * spin_b, about axes fixed in the parts if they are in space."""

    size, level = 1, "velocity"
    parameter_names: ClassVar[tuple[str, ...]] = ("ratio", "axis_a", "axis_b")

    def __init__(self, a: str, b: str, ratio: float, axis_a: Any = (), axis_b: Any = ()) -> None:
        self.parts, self.ratio = (a, b), float(ratio)
        self.axis_a, self.axis_b = np.asarray(axis_a, float), np.asarray(axis_b, float)

    def residual(self, a: Any, b: Any) -> Vector:
        return array([self._about(a, self.axis_a) - self.ratio * self._about(b, self.axis_b)])

    @staticmethod
    def _about(part: Any, axis: Any) -> Any:
        return dot(part.spin, part.direction(axis)) if len(axis) else part.spin

    def check(self, parts: Sequence[Part]) -> None:
        if any(len(axis) != (3 if p.space == 3 else 0) for p, axis in zip(parts, (self.axis_a, self.axis_b), strict=True)):
            raise ModelError(f"{self!r}: a part in space needs the axis about which it spins, a part in the plane none")


class Rolling(Condition):
    """A disc rolls without slipping on the ground, a line (y = 0) or a plane (z = 0): its point of contact is at rest.

    radius   of the disc, whose centre is the origin of the part
    axis     of the disc in body axes, in space
    """

    level = "velocity"
    parameter_names: ClassVar[tuple[str, ...]] = ("radius", "axis")

    def __init__(self, disc: str, radius: float, axis: Any = ()) -> None:
        self.parts, self.radius = (disc,), float(radius)
        self.axis = unit(self, "axis", axis) if len(axis) else np.zeros(0)
        self.size = 3 if len(self.axis) else 2
        if not self.radius > 0:
            raise ModelError(f"{self!r}: the radius {radius!r} must be positive")

    def residual(self, disc: Any) -> Vector:
        v = disc.velocity(np.zeros(self.size))
        if self.size == 2:
            return stack(v[0] + disc.spin * self.radius, v[1])
        e = disc.direction(self.axis)
        up = np.array([0.0, 0.0, 1.0]) - e[2] * e  # in the plane of the disc
        return v + cross(disc.spin, -self.radius / norm(up) * up)

    def check(self, parts: Sequence[Part]) -> None:
        if parts[0].space != self.size:
            raise ModelError(f"{self!r}: a disc in space needs its axis, a disc in the plane none")


class TurnLimit(Condition):
    """The angle of one body in the plane against another stays between two stops."""

    size, unilateral = 2, True
    parameter_names: ClassVar[tuple[str, ...]] = ("lower", "upper")

    def __init__(self, a: str, b: str, lower: float, upper: float) -> None:
        self.parts, self.lower, self.upper = (a, b), float(lower), float(upper)
        if not self.lower <= self.upper:
            raise ModelError(f"{self!r}: the lower stop {lower!r} must not lie above the upper one {upper!r}")

    def residual(self, a: Any, b: Any) -> Vector:
        angle = a.x[2] - b.x[2]
        return stack(angle - self.lower, self.upper - angle)

    def check(self, parts: Sequence[Part]) -> None:
        if any(part.space != 2 or part.nx != 3 for part in parts):
            raise ModelError(f"{self!r}: it needs two bodies in the plane")


class Above(Condition):
    """A point of a part stays on the side of a plane (or line) to which its normal points, without friction."""

    size, unilateral = 1, True
    parameter_names: ClassVar[tuple[str, ...]] = ("at", "normal", "height")

    def __init__(self, a: str, at: Any = (), normal: Any = (0.0, 0.0, 1.0), height: float = 0.0) -> None:
        self.parts, self.at, self.height = (a,), np.asarray(at, float), float(height)
        self.normal = unit(self, "normal", normal)

    def residual(self, a: Any) -> Vector:
        return array([dot(a.point(self.at), self.normal) - self.height])

    def check(self, parts: Sequence[Part]) -> None:
        if parts[0].space != len(self.normal):
            raise ModelError(f"{self!r}: the normal has {len(self.normal)} entries, the part lives in space {parts[0].space}")


def unit(owner: Condition, what: str, x: Any) -> np.ndarray:
    """A direction of a condition, of length one."""
    a = np.asarray(x, float)
    size = np.linalg.norm(a)
    if a.ndim != 1 or not (np.isfinite(size) and size > 0):
        raise ModelError(f"{owner!r}: {what} must be a direction, not {x!r}")
    return a / size


ALL_CONDITIONS = (Pin, Distance, Hinge, Gear, Rolling, TurnLimit, Above)
