"""What presses inside a joint, and where it rubs: bearings as rows on the relative twist, in the axes of the joint.

A wrench w that a joint carries without work is w = N^T alpha: of every bearing N has rank six, so that alpha are the parts of w;
those that press no surface have no share in friction. Tangents may turn with the motion: `TANGENTS` finds them from the twist.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..spatial.scalar import Vector, array, cross, dot, stack, where, zeros

ZERO = np.zeros(3)
RANK = 1e-10  # of the largest singular value of N: smaller ones are none
STILL = 1e-9  # m/s, rad/s: where something sticks, the direction of less is that of rounding
FIXED, BALL, POINTS = "fixed", "ball", "points"


@dataclass(frozen=True, eq=False)
class Bearing:
    """N (k, 6) in groups (k,), how much of the length |alpha| of a group a tangent feels (m, groups), and what tangents are.

    kind      FIXED, a ball (BALL), or surfaces at points (POINTS): see `TANGENTS`
    numbers   of the kind, by name
    """

    N: np.ndarray
    groups: np.ndarray
    share: np.ndarray
    kind: str
    numbers: dict[str, np.ndarray] = field(default_factory=dict)

    @property
    def pressing(self) -> tuple[np.ndarray, tuple[int, ...], np.ndarray]:
        """What finds pressures: alpha = P w (rows that press alone), their groups, and the shares of these."""
        used = np.flatnonzero(self.share.any(axis=0))
        rows = np.flatnonzero(np.isin(self.groups, used))
        P = np.linalg.pinv(self.N.T, rcond=RANK)[rows]
        return P, tuple(int(np.searchsorted(used, g)) for g in self.groups[rows]), self.share[:, used]

    def tangents(self, twist: np.ndarray) -> np.ndarray:
        """T (m, 6) at a relative twist."""
        return np.asarray(TANGENTS[self.kind](self.numbers, twist), float)


# --- tangents -----------------------------------------------------------------------------------------------------------------
def force(direction: Vector, at: Vector = ZERO) -> Vector:
    """The row of a force, or of the velocity of a point."""
    return np.concatenate([cross(at, direction), direction])


def moment(direction: Vector) -> Vector:
    """The row of a moment, or of an angular velocity."""
    return np.concatenate([direction, ZERO])


def across(axis: Vector) -> tuple[Vector, Vector]:
    """Two unit vectors that make a right-handed triad with a unit vector [Duff et al. 2017].

    They jump where z passes a value that motions in a plane do not dwell at, as they do at zero.
    """
    x, y, z = axis
    side = where(z >= -0.7, 1.0, -1.0)
    a = -1.0 / (side + z)
    b = x * y * a
    return stack(1.0 + side * x * x * a, side * b, -side * x), stack(b, side + y * y * a, -y)


def along(motion: Vector, instead: Vector) -> Vector:
    """The direction of a motion; another where there is none."""
    square = dot(motion, motion)
    moves = square > STILL**2
    length = np.sqrt(where(moves, square, 1.0))
    return stack(*(where(moves, x / length, y) for x, y in zip(motion, instead, strict=True)))


def fixed_tangents(given: Any, twist: Vector) -> np.ndarray:
    """Rows that stay where they are."""
    return given["T"]


def ball_tangents(given: Any, twist: Vector) -> np.ndarray:
    """r times the angular velocity along itself, and across."""
    axis = along(twist[:3], np.array([0.0, 0.0, 1.0]))
    return given["r"] * array([list(moment(d)) for d in (axis, *across(axis))])


def point_tangents(given: Any, twist: Vector) -> np.ndarray:
    """Of every point its slip along itself, and across."""
    rows: list[Any] = []
    for x, n in zip(given["x"], given["n"], strict=True):
        slip = twist[3:] + cross(twist[:3], x)
        first = along(slip - n * dot(n, slip), across(n)[0])
        rows += [force(first, x), force(cross(n, first), x)]
    return array([list(row) for row in rows])


TANGENTS: dict[str, Callable[[Any, Vector], np.ndarray]] = {FIXED: fixed_tangents, BALL: ball_tangents, POINTS: point_tangents}


# --- bearings -----------------------------------------------------------------------------------------------------------------
def pin(axis: np.ndarray, radius: float, length: float) -> Bearing:
    """A journal and a collar of one radius about an axis: the torque is at most mu r (|F_1| + |F_2| + |F_axial|).

    F_1 and F_2 are the radial forces at its two ends, which also carry what would tilt it; without length |F| stands for both,
    and tilting does not press.
    """
    u, w = across(axis)
    T = {"T": np.array([radius * moment(axis)], float)}
    if length == 0.0:
        N = [force(u), force(w), force(axis), moment(u), moment(w), moment(axis)]
        return Bearing(np.array(N, float), np.array([0, 0, 1, 2, 2, 2]), np.array([[1.0, 1.0, 0.0]]), FIXED, T)
    ends = 0.5 * length * axis, -0.5 * length * axis
    N = [force(d, x) for x in ends for d in (u, w)] + [force(axis), moment(axis)]
    return Bearing(np.array(N, float), np.array([0, 0, 1, 1, 2, 3]), np.array([[1.0, 1.0, 1.0, 0.0]]), FIXED, T)


def slide(axis: np.ndarray, length: float) -> Bearing:
    """A guide along an axis: the force is at most mu (|F_1| + |F_2|), with the forces across it at its two ends."""
    u, w = across(axis)
    T = {"T": np.array([force(axis)], float)}
    if length == 0.0:
        N = [force(u), force(w), force(axis), moment(u), moment(w), moment(axis)]
        return Bearing(np.array(N, float), np.array([0, 0, 1, 1, 1, 1]), np.array([[1.0, 0.0]]), FIXED, T)
    ends = 0.5 * length * axis, -0.5 * length * axis
    N = [force(d, x) for x in ends for d in (u, w)] + [force(axis), moment(axis)]
    return Bearing(np.array(N, float), np.array([0, 0, 1, 1, 2, 2]), np.array([[1.0, 1.0, 0.0]]), FIXED, T)


def socket(radius: float) -> Bearing:
    """A ball in a socket: the torque along its angular velocity is at most mu r |F|, and across it as much."""
    e = np.eye(3)
    N = np.array([*map(force, e), *map(moment, e)], float)
    return Bearing(N, np.array([0, 0, 0, 1, 1, 1]), np.array([[1.0, 0.0]] * 3), BALL, {"r": np.array(radius)})


def surfaces(points: np.ndarray, normals: np.ndarray, S: np.ndarray, M: np.ndarray) -> Bearing:
    """Contacts at points with normals: each rubs along its slip, and across it, at most mu times what presses it.

    S (6, nv) are the joint's freedoms: a force along them presses nothing. Of what the surfaces cannot carry all together they
    carry what would move the points along their normals, if the body with the inertia M (6, 6) were free; where they carry it in
    more than one way, the one with the least sum of squares.
    """
    k = len(points)
    pressed = np.array([force(n, x) for x, n in zip(points, normals, strict=True)], float)
    rest = _null(np.concatenate([S.T, pressed @ np.linalg.pinv(M)]))
    N = np.concatenate([pressed, (S / np.linalg.norm(S, axis=0)).T, rest])
    groups = np.minimum(np.arange(len(N)), k)
    share = np.concatenate([np.repeat(np.eye(k), 2, axis=0), np.zeros((2 * k, int(len(N) > k)))], axis=1)
    return Bearing(N, groups, share, POINTS, {"x": points, "n": normals})


def _null(A: np.ndarray) -> np.ndarray:
    """A basis of what A maps to zero, in rows; those of A may be of any size."""
    A = A / np.maximum(np.linalg.norm(A, axis=1, keepdims=True), 1e-300)
    _, sizes, V = np.linalg.svd(A)
    return V[int(np.sum(sizes > RANK * sizes.max(initial=0.0))) :]


def largest(limit: np.ndarray, P: np.ndarray, groups: tuple[int, ...], wrench: Vector) -> Vector:
    """The largest friction of every tangent under a wrench: limit times the lengths of the groups of alpha = P w."""
    squares = zeros(limit.shape[1])
    for a, g in zip(P @ wrench, groups, strict=True):
        squares[g] = squares[g] + a * a
    return limit @ array([np.sqrt(x) for x in squares])
