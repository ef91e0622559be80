"""EulerCharts: any rotation by Euler angles, of whichever of the twelve sequences is farthest from gimbal lock."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..errors import ModelError
from ..spatial.gate import meant
from ..spatial.scalar import Scalar, Vector, absolute, atan2, clip, cross, dot, inv, minimum, stack, where
from ..spatial.se3 import SE3
from .base import Joint, Pair
from .spherical_euler import AXES, nearest_turn, picked
from .steady_turns import advance_angles, bend_of_angles, turning_steadily

SEQUENCES = ("xyx", "xzx", "yzy", "yxy", "zxz", "zyz", "xyz", "xzy", "yzx", "yxz", "zxy", "zyx")
THRESHOLD = 0.5  # |det S| at which the sequence is changed


class EulerCharts(Joint):
    """q = (three angles, number of their sequence), v = rates of the angles.

    Q(q) = turn about the first, the second, the third axis, each carried by the ones before. |det S| is |cos| of the middle
    angle, or |sin| where the first axis comes again. When it falls to 0.5, the sequence with the largest one takes over (the
    first of those that are equal).
    """

    nq, nv = 4, 3
    charted = True

    def __init__(self, sequence: str = "xyz") -> None:
        name = str(sequence).lower()
        if name not in SEQUENCES:
            raise ModelError(
                f"EulerCharts: {sequence!r} is no sequence of axes; choose one of {', '.join(SEQUENCES)}"
                f"{meant(sequence, SEQUENCES)}"
            )
        self.start = SEQUENCES.index(name)

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> EulerCharts:
        """The joint that a file says: made anew."""
        start = state["start"]
        if type(start) is not int or not 0 <= start < len(SEQUENCES):
            raise ModelError(f"EulerCharts: {start!r} is no number of a sequence of axes")
        return cls(SEQUENCES[start])

    def transform(self, q: Vector) -> SE3:
        turns = [SE3.rot_axis(axis, angle) for axis, angle in zip(axes(q[3]), q, strict=False)]
        return turns[0] @ turns[1] @ turns[2]

    def jets(self, q: Vector, v: Vector) -> Vector:
        return stack(*super().jets(q[:3], v), q[3])

    def integrate(self, q: Vector, dv: Vector) -> Vector:
        return stack(*(q[:3] + dv), q[3])

    def difference(self, q0: Vector, q1: Vector) -> Vector:
        return q1[:3] - q0[:3]

    def bend(self, q: Vector, v: Vector) -> Vector:
        return bend_of_angles(self, q, v)

    def steady_motion(self, q: Vector, v: Vector) -> SE3:
        return turning_steadily(self.motion(q, v))

    def advance(self, q: Vector, way: Vector, *velocities: Vector) -> tuple[Vector, ...]:
        return advance_angles(self, q, way, velocities, _is_proper(q), lambda R: angles(axes(q[3]), R))

    def rechart(self, q: Vector, v: Vector) -> tuple[Vector, Vector]:
        E = self.motion(q, v)
        best = _largest([margin2(k, E.R) for k in range(len(SEQUENCES))])
        number = where(_margin2(q) <= THRESHOLD**2, best, q[3])
        q_new, v_new = self._in_chart(number, E)
        kept = number <= q[3]
        kept = kept & (number >= q[3])
        return picked(kept, q, q_new), picked(kept, v, v_new)

    def rechart_together(self, now: Pair, before: Pair) -> tuple[Pair, Pair]:
        """The chart is the one whose smaller |det S| of both moments is the largest."""
        A, B, number = self.motion(*now), self.motion(*before), now[0][3]
        best = _largest([minimum(margin2(k, A.R), margin2(k, B.R)) for k in range(len(SEQUENCES))])
        best = where(_margin2(now[0]) <= THRESHOLD**2, best, number)
        q, v = self._in_chart(best, A)
        angle = [nearest_turn(x, y) for x, y in zip(angles(axes(best), B.R), q, strict=False)]
        q_before = stack(*angle, best)
        v_before = inv(self.motion(q_before, v).tangent.S[:3]) @ B.tangent.phi[:3]
        kept = absolute(best - number) < 0.5
        end = picked(kept, now[0], q), picked(kept, now[1], v)
        return end, (picked(kept, before[0], q_before), picked(kept, before[1], v_before))

    def _in_chart(self, number: Scalar, E: SE3) -> tuple[Vector, Vector]:
        """Coordinates and rates of a moving rotation in a sequence."""
        q = stack(*angles(axes(number), E.R), number)
        return q, inv(self.motion(q, np.zeros(3)).tangent.S[:3]) @ E.tangent.phi[:3]

    def neutral(self) -> np.ndarray:
        q = np.array([0.0, 0.0, 0.0, self.start])
        if SEQUENCES[self.start][0] == SEQUENCES[self.start][2]:  # away from lock
            q[3] = SEQUENCES.index("xyz")
        return q

    def random(self, rng: np.random.Generator) -> np.ndarray:
        k = int(rng.integers(len(SEQUENCES)))
        proper = SEQUENCES[k][0] == SEQUENCES[k][2]
        middle = rng.uniform(0.6, np.pi - 0.6) if proper else rng.uniform(-0.9, 0.9)
        return np.array([rng.uniform(-np.pi, np.pi), middle, rng.uniform(-np.pi, np.pi), k])

    def checked(self, q: np.ndarray) -> str | None:
        bad = ~np.isin(q[..., 3], np.arange(len(SEQUENCES)))
        return f"its fourth coordinate must be a whole number from 0 to 11, not {q[..., 3][bad].flat[0]:g}" if bad.any() else None

    def __repr__(self) -> str:
        return f"EulerCharts({SEQUENCES[self.start]!r})"


def axes(number: Scalar) -> list[Vector]:
    """The three axes of a sequence, unit vectors."""
    table = np.eye(3)[np.array([[AXES[c] for c in s] for s in SEQUENCES])]
    picked = table[-1].reshape(-1)
    for k in range(len(SEQUENCES) - 2, -1, -1):
        picked = stack(*(where(number < k + 0.5, a, b) for a, b in zip(table[k].reshape(-1), picked, strict=True)))
    return [picked[:3], picked[3:6], picked[6:]]


def angles(axis: list[Vector], R: np.ndarray) -> list[Scalar]:
    """The angles of a rotation matrix about three axes, away from lock."""
    a, b, c = axis
    third = cross(a, b)
    sign = dot(third, c)  # 1 or -1, and 0 where the first axis comes again

    def entry(x: Vector, y: Vector) -> Scalar:
        return dot(x, R @ y)

    middle = np.arcsin(clip(sign * entry(a, c), -1.0, 1.0))
    three = [atan2(-sign * entry(b, c), entry(c, c)), middle, atan2(-sign * entry(a, b), entry(a, a))]
    two = [atan2(entry(b, a), -entry(third, a)), np.arccos(clip(entry(a, a), -1.0, 1.0)), atan2(entry(a, b), entry(a, third))]
    again = sign * sign < 0.5
    return [where(again, x, y) for x, y in zip(two, three, strict=True)]


def margin2(k: int, R: np.ndarray) -> Scalar:
    """|det S|^2 of a rotation in sequence k: zero at gimbal lock."""
    s = SEQUENCES[k]
    x = R[AXES[s[0]], AXES[s[2]]]
    return 1.0 - x * x


def _is_proper(q: Vector) -> Scalar:
    return q[3] < 5.5  # the first six sequences begin and end with one axis


def _margin2(q: Vector) -> Scalar:
    """|det S|^2 at coordinates q."""
    return where(_is_proper(q), np.sin(q[1]), np.cos(q[1])) ** 2


def _largest(values: list[Scalar]) -> Scalar:
    """The number of the first largest value."""
    best, number = values[0], 0.0
    for k, x in enumerate(values[1:], 1):
        better = x > best
        best, number = where(better, x, best), where(better, float(k), number)
    return number
