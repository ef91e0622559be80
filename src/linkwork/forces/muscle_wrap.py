"""Obstacles that the path of a muscle goes around: spheres and cylinders on bodies.

Where the straight line between two points would pass through, the shortest way around is a tangent, a geodesic on the surface,
and a tangent. Its length is all that is said here. Where the line just touches, length and gradient agree with those of the
straight line; the second derivative jumps. A point inside an obstacle counts as lying on its surface.

A path depends on where bodies are, not on how they came there, so it cannot count turns: somewhere on the way around a cylinder
it must come back to the other side. Where that is, the model's neutral configuration decides, from which points may turn about
the axis by half a turn either way (see `WrapCylinder`). A run that goes further says so (`reduced.muscle_lapses`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from ..errors import ModelError
from ..kernel.symbol import traced_digest
from ..spatial.frozen import FINISHED, Frozen
from ..spatial.gate import ORIGIN, number, point, positive, reals, word
from ..spatial.kinds import explained
from ..spatial.scalar import Scalar, Vector, absolute, cross, dot, read_only, stack, where
from ..spatial.se3 import SE3
from .force import distance, length_of

HALF_PI = 0.5 * np.pi
UNDECIDED = 1e-6  # rad: points that are so nearly on one side of the axis, or opposite each other, say nothing of the shorter way


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

    def fitted_at(self, a: np.ndarray, b: np.ndarray) -> Any:
        """The same obstacle, on the side on which it is passed where the model is neutral; a and b are the points there."""
        return self

    def sides(self, a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Of a motion, points a and b (..., T, 3) in the obstacle's frame: whether the path changes sides from one moment to the
        next (..., T - 1), and how deep a point is inside the obstacle (..., T). Nothing is known of classes of users."""
        return np.zeros((*a.shape[:-2], max(a.shape[-2] - 1, 0)), bool), np.zeros(a.shape[:-1])

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
    """A sphere: tangent, arc and tangent lie in the plane of the two points and the centre, on the shorter side.

    Where the points stand opposite each other, all sides are as long, and the path changes sides: its length goes on, its moment
    arms jump. No rule that looks at the state alone can do without that; a cylinder, which has an axis, can.

    body     the name of the body that carries it
    center   in the axes of the body
    radius   m

    >>> shoulder = lw.WrapSphere("upper", radius=0.03)
    """

    @explained
    def __init__(self, body: str, center: Any = ORIGIN, *, radius: float) -> None:
        owner = type(self).__name__
        self.body = word(owner, "body", body)
        self.numbers = np.array([positive(owner, "radius", radius), *point(owner, "center", center)])

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> WrapSphere:
        """The obstacle that a file says: made anew."""
        radius, *center = state["numbers"]
        return cls(state["body"], center, radius=radius)

    @property
    def frame(self) -> SE3:
        return SE3(p=self.numbers[1:4])

    def length(self, a: Vector, b: Vector) -> Scalar:
        angle = np.arctan2(length_of(cross(a, b)), dot(a, b))
        arc, around = way_around(dot(a, a), dot(b, b), angle, self.radius)
        return where(arc > 0, around, distance(a, b))

    def sides(self, a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        normal, along, r = np.cross(a, b), np.sum(a * b, axis=-1), float(self.radius)
        size, (far_a, far_b) = np.linalg.norm(normal, axis=-1), (np.linalg.norm(x, axis=-1) for x in (a, b))
        arc = np.arctan2(size, along) - _seen(far_a, r) - _seen(far_b, r)
        opposite = (np.sum(normal[..., 1:, :] * normal[..., :-1, :], axis=-1) < 0.0) & (along[..., 1:] < 0.0)
        return opposite & (along[..., :-1] < 0.0) & ((arc[..., 1:] > 0.0) | (arc[..., :-1] > 0.0)), r - np.minimum(far_a, far_b)

    def depth(self, x: np.ndarray) -> float:
        return float(self.radius - np.linalg.norm(x - self.numbers[1:4]))


class WrapCylinder(Wrap):
    """An endless cylinder: the path is straight on its developed surface.

    body     the name of the body that carries it
    center   a point of its axis, in the axes of the body
    axis     of the cylinder
    radius   m
    turn     1: from its first point to the next the path passes the axis right-handed, -1: left-handed. 0: on the side of the
             shorter way in the model's neutral configuration; give the turn if both are as long there, or a point is inside:
             else the path takes the shorter way in every state, and its moment arms jump at half a turn

    The path stays on its side while the points turn about the axis by up to half a turn from the neutral configuration, either
    way: the angle from the first point to the next, counted in the sense of the turn, goes from `begin` to `begin` + 2 pi, with
    `begin` half a turn before the neutral angle, and -pi/2 at least. Beyond, length and moment arms jump.

    >>> kneecap = lw.WrapCylinder("upper", axis=(0, 1, 0), radius=0.04, turn=1)
    """

    @explained
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
        self.numbers = np.array([r, number(owner, "turn", turn), -HALF_PI, *point(owner, "center", center), *R.reshape(-1)])

    is_record: ClassVar[bool] = True

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> WrapCylinder:
        """The obstacle that a file says: made anew, with its own numbers where they are those, to rounding."""
        numbers = reals(state["numbers"])
        if set(state) != {"body", "numbers", "sided", FINISHED} or numbers.shape not in ((14,), (15,)):
            raise ModelError("WrapCylinder: it has a body, and 15 numbers")
        radius, turn, center, axis = numbers[0], numbers[1], numbers[-12:-9], numbers[-7::3]
        made = cls(state["body"], center, axis=axis, radius=radius, turn=int(turn) if turn in (-1.0, 0.0, 1.0) else 2)
        if len(numbers) == 14:  # before it said where angles begin
            return made
        if not np.allclose(numbers, made.numbers) or state["sided"] is not made.sided:
            raise ModelError(f"WrapCylinder: its numbers {numbers.tolist()} are not those of a cylinder of this axis and turn")
        return made.with_numbers(read_only(numbers))

    @property
    def frame(self) -> SE3:
        return SE3(R=self.numbers[6:15].reshape(3, 3), p=self.numbers[3:6])

    @property
    def turn(self) -> Scalar:
        """The sense in which the path passes the axis; 0 where it takes the shorter way in every state."""
        return self.numbers[1]

    @property
    def begin(self) -> Scalar:
        """The least angle from the first point to the next, in the sense of the turn (rad)."""
        return self.numbers[2]

    @property
    def signature(self) -> tuple[Any, ...]:
        return type(self).__qualname__, self.sided

    def fitted_at(self, a: np.ndarray, b: np.ndarray) -> Any:
        turned = float(_turned(a, b))
        inside = min(np.hypot(*a[:2]), np.hypot(*b[:2])) < (1.0 - UNDECIDED) * self.radius
        if not self.sided and (inside or not UNDECIDED < abs(turned) < np.pi - UNDECIDED):
            return self
        turn = float(self.turn) if self.sided else float(np.sign(turned))
        along = turn * turned
        begin = max((along + 2.0 * np.pi if along < -HALF_PI else along) - np.pi, -HALF_PI)
        return self.with_parts(numbers=np.array([self.radius, turn, begin, *self.numbers[3:]]), sided=True)

    def length(self, a: Vector, b: Vector) -> Scalar:
        arc, flat = way_around(dot(a[:2], a[:2]), dot(b[:2], b[:2]), absolute(self.along(a, b)), self.radius)
        return where(arc > 0, length_of(stack(flat, b[2] - a[2])), distance(a, b))

    def along(self, a: Vector, b: Vector) -> Scalar:
        """The angle about the axis from a to b, in the sense of the turn."""
        turned = _turned(a, b)
        if not self.sided:
            return turned
        along = self.turn * turned
        return where(along < self.begin, along + 2.0 * np.pi, along)

    def sides(self, a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        x, y, r = np.moveaxis(a, -1, 0), np.moveaxis(b, -1, 0), float(self.radius)
        along, (far_a, far_b) = np.asarray(self.along(x, y)), (np.hypot(z[0], z[1]) for z in (x, y))
        on = np.abs(along) - _seen(far_a, r) - _seen(far_b, r) > 0.0
        return (np.abs(np.diff(along)) > np.pi) & (on[..., 1:] | on[..., :-1]), r - np.minimum(far_a, far_b)

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


def _turned(a: Vector, b: Vector) -> Scalar:
    """The angle about the third axis from a to b, from -pi to pi."""
    return np.arctan2(a[0] * b[1] - a[1] * b[0], a[0] * b[0] + a[1] * b[1])


def _seen(far: np.ndarray, r: float) -> np.ndarray:
    """The angle at the centre between a point so far away and where its tangent touches; 0 inside."""
    return np.arccos(np.minimum(r / np.maximum(far, r), 1.0))


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
