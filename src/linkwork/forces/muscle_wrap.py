"""Obstacles that the path of a muscle goes around: spheres and cylinders on bodies.

Where the straight line between two points would pass through, the shortest way around is a tangent, a geodesic on the surface,
and a tangent. Its length is all that is said here. Where the line just touches, length and gradient agree with those of the
straight line; the second derivative jumps. A point inside an obstacle counts as lying on its surface.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import ModelError
from ..kernel.symbol import traced_digest
from ..spatial.frozen import Frozen
from ..spatial.gate import ORIGIN, number, point, positive, word
from ..spatial.scalar import Scalar, Vector, absolute, cross, dot, stack, where
from ..spatial.se3 import SE3
from .force import distance, length_of

HALF_PI = 0.5 * np.pi


class Wrap(Frozen):
    """Base of all obstacles: a frame on a body, and the length of the way between two points given in that frame.

    numbers   its run-time data: radius, and the pose of its frame in the body
    """

    body: str
    numbers: np.ndarray

    @property
    def frame(self) -> SE3:
        """The obstacle's frame in its body."""
        raise TypeError(f"{type(self).__name__} must define frame")

    def length(self, a: Vector, b: Vector) -> Scalar:
        """The length of the path from a to b, points in the obstacle's frame."""
        raise TypeError(f"{type(self).__name__} must define length(a, b)")

    def depth(self, x: np.ndarray) -> float:
        """How deep a point of its body lies inside it; negative outside."""
        raise TypeError(f"{type(self).__name__} must define depth(x)")

    @property
    def signature(self) -> tuple[Any, ...]:
        """What identifies its machine code; of classes of users, what they compute."""
        own = (type(self).__qualname__,)
        if type(self).__module__.startswith("linkwork."):
            return own
        return *own, traced_digest(lambda x, n: [self.with_numbers(n).length(x[:3], x[3:])], 6, len(self.numbers))

    def with_numbers(self, numbers: Vector) -> Any:
        """The same obstacle with other run-time data."""
        return self.with_parts(numbers=numbers)

    @property
    def radius(self) -> Scalar:
        return self.numbers[0]


class WrapSphere(Wrap):
    """A sphere: tangent, arc and tangent lie in the plane of the two points and the centre.

    body     the name of the body that carries it
    center   in the axes of the body
    radius   m

    >>> shoulder = lw.WrapSphere("upper", radius=0.03)
    """

    def __init__(self, body: str, center: Any = ORIGIN, *, radius: float) -> None:
        owner = type(self).__name__
        self.body = word(owner, "body", body)
        self.numbers = np.array([positive(owner, "radius", radius), *point(owner, "center", center)])

    @property
    def frame(self) -> SE3:
        return SE3(p=self.numbers[1:4])

    def length(self, a: Vector, b: Vector) -> Scalar:
        angle = np.arctan2(length_of(cross(a, b)), dot(a, b))
        arc, around = way_around(dot(a, a), dot(b, b), angle, self.radius)
        return where(arc > 0, around, distance(a, b))

    def depth(self, x: np.ndarray) -> float:
        return float(self.radius - np.linalg.norm(x - self.numbers[1:4]))


class WrapCylinder(Wrap):
    """An endless cylinder: the path is straight on its developed surface.

    body     the name of the body that carries it
    center   a point of its axis, in the axes of the body
    axis     of the cylinder
    radius   m
    turn     1: from its first point to the next the path passes the axis right-handed, -1: left-handed; from a quarter turn
             against this sense to three quarters along it there is no jump. 0: the shorter way, which jumps at half a turn

    >>> kneecap = lw.WrapCylinder("upper", axis=(0, 1, 0), radius=0.04, turn=1)
    """

    def __init__(self, body: str, center: Any = ORIGIN, *, axis: Any, radius: float, turn: int = 0) -> None:
        owner = type(self).__name__
        self.body = word(owner, "body", body)
        direction = point(owner, "axis", axis)
        if np.linalg.norm(direction) < np.finfo(float).tiny:
            raise ModelError(f"{owner}: axis must not be zero")
        if turn not in (-1, 0, 1) or isinstance(turn, bool):
            raise ModelError(f"{owner}: turn must be 1, -1 or 0, not {turn!r}")
        self.sided = turn != 0
        R = frame_along(direction)
        r = positive(owner, "radius", radius)
        self.numbers = np.array([r, number(owner, "turn", turn), *point(owner, "center", center), *R.reshape(-1)])

    @property
    def frame(self) -> SE3:
        return SE3(R=self.numbers[5:14].reshape(3, 3), p=self.numbers[2:5])

    @property
    def signature(self) -> tuple[Any, ...]:
        return type(self).__qualname__, self.sided

    def length(self, a: Vector, b: Vector) -> Scalar:
        turned = np.arctan2(a[0] * b[1] - a[1] * b[0], a[0] * b[0] + a[1] * b[1])
        if self.sided:
            along = self.numbers[1] * turned
            turned = where(along < -HALF_PI, along + 2.0 * np.pi, along)
        arc, flat = way_around(dot(a[:2], a[:2]), dot(b[:2], b[:2]), absolute(turned), self.radius)
        return where(arc > 0, length_of(stack(flat, b[2] - a[2])), distance(a, b))

    def depth(self, x: np.ndarray) -> float:
        local = self.frame.inverse() @ x
        return float(self.radius - np.hypot(local[0], local[1]))


def way_around(a2: Scalar, b2: Scalar, angle: Scalar, r: Scalar) -> tuple[Scalar, Scalar]:
    """Around a circle between points of squared distances a2 and b2, an angle apart: the arc's angle and the whole length.

    The arc is negative where the straight line passes by.
    """
    t_a, t_b = (_tangent(x, r) for x in (a2, b2))
    arc = angle - np.arctan2(t_a, r) - np.arctan2(t_b, r)
    return arc, t_a + t_b + r * arc


def _tangent(x2: Scalar, r: Scalar) -> Scalar:
    """The length of the tangent from a point at squared distance x2: sqrt(x2 - r^2), 0 inside."""
    square = x2 - r * r
    outside = square > np.finfo(float).tiny
    return where(outside, np.sqrt(where(outside, square, 1.0)), 0.0)


def frame_along(axis: np.ndarray) -> np.ndarray:
    """A rotation whose third column is along an axis."""
    z = axis / np.linalg.norm(axis)
    x = np.cross(z, np.eye(3)[np.argmin(np.abs(z))])
    x /= np.linalg.norm(x)
    return np.column_stack([x, np.cross(z, x), z])
