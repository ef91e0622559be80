"""SphericalEuler: any rotation, by Euler angles of any sequence, with a second sequence near gimbal lock."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..errors import ModelError
from ..spatial.scalar import Scalar, Vector, absolute, array, atan2, clip, inv, stack, where
from ..spatial.se3 import SE3, Tangent
from .axis import number
from .base import Joint, Pair
from .steady_turns import advance_angles, bend_of_angles, turning_steadily

AXES = {"x": 0, "y": 1, "z": 2}


class SphericalEuler(Joint):
    """Q(q) = turn by q1, q2, q3 about the axes of `sequence` ("xyz", "xzx", ...), each carried by the ones before.

    Without `alternate` the coordinates are the three angles, v their rates, and the joint is singular where the middle
    angle aligns the outer axes. With `alternate`, another sequence, a fourth coordinate tells which sequence is in use
    (0 or 1); the joint changes to the other one when its sine or cosine of lock falls below `threshold`.

    >>> lw.SphericalEuler("zyx").nq
    3
    """

    nv = 3

    def __init__(self, sequence: str = "xyz", alternate: str | None = None, threshold: float = 0.3) -> None:
        self.sequences = [_checked(sequence), *([] if alternate is None else [_checked(alternate)])]
        self.threshold = number(threshold, "SphericalEuler", "threshold")
        self.nq = 3 if alternate is None else 4
        self.charted = self.is_group = alternate is not None
        self.may_lock = alternate is None
        if not 0.0 < self.threshold < 0.7:
            raise ModelError(f"SphericalEuler: the threshold {threshold!r} must lie between 0 and 0.7")
        if alternate is not None and not _lock_apart(*self.sequences):
            raise ModelError(
                f"SphericalEuler: {sequence!r} and {alternate!r} lock together; pair a sequence of three axes with one that "
                "repeats its first or last axis at both ends"
            )

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> SphericalEuler:
        """The joint that a file says: made anew."""
        first, *rest = state["sequences"]
        return cls(first, rest[0] if rest else None, state["threshold"])

    def __repr__(self) -> str:
        return f"SphericalEuler({', '.join(map(repr, self.sequences))})"

    @property
    def signature(self) -> tuple[object, ...]:
        return (type(self).__name__, *self.sequences, self.threshold)

    def transform(self, q: Vector) -> SE3:
        first = turned(self.sequences[0], q)
        if self.nq == 3:
            return first
        return blended(q[3] < 0.5, first, turned(self.sequences[1], q))

    def jets(self, q: Vector, v: Vector) -> Vector:
        moving = super().jets(q[:3], v)
        return moving if self.nq == 3 else stack(*moving, q[3])

    def integrate(self, q: Vector, dv: Vector) -> Vector:
        return q + dv if self.nq == 3 else stack(*(q[:3] + dv), q[3])

    def difference(self, q0: Vector, q1: Vector) -> Vector:
        return q1[:3] - q0[:3]

    def bend(self, q: Vector, v: Vector) -> Vector:
        return bend_of_angles(self, q, v) if self.charted else super().bend(q, v)

    def steady_motion(self, q: Vector, v: Vector) -> SE3:
        E = self.motion(q, v)
        return turning_steadily(E) if self.charted else E

    def advance(self, q: Vector, way: Vector, *velocities: Vector) -> tuple[Vector, ...]:
        if not self.charted:
            return super().advance(q, way, *velocities)
        first, proper = q[3] < 0.5, [1.0 if s[0] == s[2] else 0.0 for s in self.sequences]

        def here(R: np.ndarray) -> Vector:
            return picked(first, *(angles(s, R) for s in self.sequences))

        return advance_angles(self, q, way, velocities, where(first, *proper) > 0.5, here)

    def rechart(self, q: Vector, v: Vector) -> tuple[Vector, Vector]:
        if self.nq == 3:
            return q, v
        E = self.motion(q, v)
        margins = [lock_margin(s, q) for s in self.sequences]
        locked = where(q[3] < 0.5, margins[0], margins[1]) < self.threshold
        first = q[3] < 0.5
        others = [angles(s, E.R) for s in self.sequences]
        q_new = stack(*(where(first, b, a) for a, b in zip(*others, strict=True)), where(first, 1.0, 0.0))
        S = self.motion(q_new, v).tangent.S[:3]
        v_new = inv(S) @ E.tangent.phi[:3]
        return picked(locked, q_new, q), picked(locked, v_new, v)

    def rechart_together(self, now: Pair, before: Pair) -> tuple[Pair, Pair]:
        if self.nq == 3:
            return now, before
        q, v = self.rechart(*now)
        E, second = self.motion(*before), q[3] > 0.5
        others = zip(*(angles(s, E.R) for s in self.sequences), strict=True)
        angle = [where(second, b, a) for a, b in others]
        q_before = stack(*(nearest_turn(x, y) for x, y in zip(angle, q, strict=False)), q[3])
        v_before = inv(self.motion(q_before, v).tangent.S[:3]) @ E.tangent.phi[:3]
        kept = absolute(q[3] - before[0][3]) < 0.5
        return (q, v), (picked(kept, before[0], q_before), picked(kept, before[1], v_before))

    def random(self, rng: np.random.Generator) -> np.ndarray:
        """Angles whose middle one is away from lock."""
        a, _, c = self.sequences[0]
        middle = rng.uniform(0.5, np.pi - 0.5) if a == c else rng.uniform(-1.0, 1.0)
        return np.array([rng.uniform(-np.pi, np.pi), middle, rng.uniform(-np.pi, np.pi), 0.0])[: self.nq]


def _checked(sequence: str) -> str:
    s = str(sequence).lower()
    if len(s) != 3 or any(c not in AXES for c in s) or s[0] == s[1] or s[1] == s[2]:
        raise ModelError(
            f"SphericalEuler: {sequence!r} is not a sequence of three axes, neighbours different (as 'xyz' or 'zxz')"
        )
    return s


def _lock_apart(a: str, b: str) -> bool:
    """Whether two sequences never lock in one pose: one locks where two of its axes meet, the other must be clear there."""
    three, repeating = (a, b) if a[0] != a[2] else (b, a)
    return three[0] != three[2] and repeating[0] == repeating[2] and repeating[0] in (three[0], three[2])


def turned(sequence: str, q: Vector) -> SE3:
    """The product of the three turns."""
    turns = (SE3.rot_x, SE3.rot_y, SE3.rot_z)
    a, b, c = (turns[AXES[s]](q[k]) for k, s in enumerate(sequence))
    return a @ b @ c


def lock_margin(sequence: str, q: Vector) -> object:
    """|sin| (first axis repeated) or |cos| (three axes) of the middle angle: zero at gimbal lock."""
    return abs(np.sin(q[1])) if sequence[0] == sequence[2] else abs(np.cos(q[1]))


def angles(sequence: str, R: np.ndarray) -> Vector:
    """The angles of a rotation matrix in a sequence, away from its lock."""
    i, j, k = (AXES[s] for s in sequence)
    if i != k:
        sign = 1.0 if (j - i) % 3 == 1 else -1.0
        s2 = clip(sign * R[i, k], -1.0, 1.0)
        return stack(atan2(-sign * R[j, k], R[k, k]), np.arcsin(s2), atan2(-sign * R[i, j], R[i, i]))
    m = 3 - i - j
    sign = 1.0 if (j - i) % 3 == 1 else -1.0
    return stack(atan2(R[j, i], -sign * R[m, i]), np.arccos(clip(R[i, i], -1.0, 1.0)), atan2(R[i, j], sign * R[i, m]))


def nearest_turn(angle: Scalar, near: Scalar) -> Scalar:
    """The angle, a turn added or taken, that lies nearest to another."""
    away, turn = near - angle, 2.0 * np.pi
    return where(away > np.pi, angle + turn, where(away < -np.pi, angle - turn, angle))


def picked(condition: Scalar, a: Vector, b: Vector) -> Vector:
    """`where` for two vectors."""
    return stack(*(where(condition, x, y) for x, y in zip(a, b, strict=True)))


def blended(condition: object, A: SE3, B: SE3) -> SE3:
    """`where` for two rotations and their tangents."""

    def pick(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return array([where(condition, a, b) for a, b in zip(x.flat, y.flat, strict=True)]).reshape(x.shape)

    E = SE3(R=pick(A.R, B.R))
    if A.carried is None or B.carried is None:
        return E
    a, b = A.carried, B.carried
    return E.with_tangent(Tangent(pick(a.S, b.S), pick(a.phi, b.phi), pick(a.bias, b.bias), pick(a.S_dot, b.S_dot)))
