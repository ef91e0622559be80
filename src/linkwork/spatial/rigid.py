"""Rigid bodies seen from one common frame: inertia in ten numbers, and how velocities change the wrench that a motion needs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .articulated import Articulated, symmetric
from .scalar import Scalar, Vector, array, cross, dot
from .se3 import SE3
from .stage import Shift, move_symmetric, skew

UPPER = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))


@dataclass(frozen=True, slots=True, eq=False)
class RigidInertia:
    """Mass, first moment h = m c and rotational inertia J about the origin of a frame: of a body, or of several as one."""

    mass: Scalar
    h: Vector
    J: np.ndarray

    def __add__(self, other: RigidInertia) -> RigidInertia:
        return RigidInertia(self.mass + other.mass, self.h + other.h, self.J + other.J)

    def __matmul__(self, x: Vector) -> Vector:
        """The wrench (moment, force) behind an acceleration, or the momentum of a twist: (J w + h x v, m v + w x h)."""
        w, v = x[:3], x[3:]
        return np.concatenate([self.J @ w + cross(self.h, v), self.mass * v + cross(w, self.h)])

    def moved(self, E: SE3) -> RigidInertia:
        """In the outer coordinates of E = (R, p): with g = R h and u = g + m p / 2, J changes by 2 (u.p) 1 - u p^T - p u^T."""
        p, g, J = E.p, E.rotate(self.h), self.J
        for stage in reversed(E.stages):
            J = J if isinstance(stage, Shift) else move_symmetric(stage, J)
        mp = self.mass * p
        u = g + 0.5 * mp
        twice = dot(u, p) + dot(u, p)
        out = np.array(J, dtype=object)
        for i in range(3):
            for j in range(i, 3):
                change = u[i] * p[j] + p[i] * u[j]
                out[i, j] = out[j, i] = J[i, j] + (twice - change if i == j else -change)
        return RigidInertia(self.mass, g + mp, array(out))

    @property
    def articulated(self) -> Articulated:
        """The same as a symmetric 6x6 matrix in blocks."""
        return Articulated.rigid(self.mass, self.h, self.J)

    def packed(self) -> list[Scalar]:
        """The ten numbers."""
        return [self.mass, *self.h, *(self.J[i] for i in UPPER)]

    @staticmethod
    def unpacked(x: Any) -> RigidInertia:
        """The inverse of `packed`."""
        return RigidInertia(x[0], array(x[1:4]), symmetric(x[4:10]))


@dataclass(frozen=True, slots=True, eq=False)
class Swirl:
    """How moving bodies answer a turn w' of all their velocities: T = sum of v_r r^T dm, P = sum of v_r dm, r from the origin.

    Let all bodies have the twist n = (w', u') more, and the acceleration that they have by being carried along with it,
    [n, nu]. Every point gains the acceleration 2 w' x v_r, whatever u' is (a uniform velocity does not matter); the wrench is

        B w' = (2 (tr(T) w' - T w'), 2 w' x P).
    """

    T: np.ndarray
    P: Vector

    @staticmethod
    def of(inertia: RigidInertia, nu: Vector) -> Swirl:
        """Of one rigid body: T = v h^T + [w] (tr(J)/2 1 - J), P = m v + w x h."""
        w, v, J = nu[:3], nu[3:], inertia.J
        half = 0.5 * (J[0, 0] + J[1, 1] + J[2, 2])
        second = half * np.eye(3) - J
        return Swirl(np.outer(v, inertia.h) + skew(w) @ second, inertia.mass * v + cross(w, inertia.h))

    def __add__(self, other: Swirl) -> Swirl:
        return Swirl(self.T + other.T, self.P + other.P)

    def wrench(self, w: Vector) -> Vector:
        """B w."""
        trace = self.T[0, 0] + self.T[1, 1] + self.T[2, 2]
        return 2.0 * np.concatenate([trace * w - self.T @ w, cross(w, self.P)])

    def row(self, s: Vector) -> Vector:
        """B^T s, three numbers, for a twist s."""
        a, b = s[:3], s[3:]
        trace = self.T[0, 0] + self.T[1, 1] + self.T[2, 2]
        return 2.0 * (trace * a - self.T.T @ a - cross(b, self.P))

    @property
    def matrix(self) -> np.ndarray:
        """B (6, 3)."""
        return np.stack([self.wrench(e) for e in np.eye(3)], axis=1)

    def packed(self) -> list[Scalar]:
        """The twelve numbers."""
        return [*self.T.flat, *self.P]

    @staticmethod
    def unpacked(x: Any) -> Swirl:
        """The inverse of `packed`."""
        return Swirl(array(x[:9]).reshape(3, 3), array(x[9:12]))


def about(a: Vector, b: Vector) -> np.ndarray:
    """a.b 1 - (a b^T + b a^T) / 2, the symmetric part of -[a] [b]."""
    ab = dot(a, b)
    half = a * 0.5
    upper = {(i, j): half[i] * b[j] + half[j] * b[i] for i, j in UPPER}
    return symmetric([(ab - upper[i, j]) if i == j else -upper[i, j] for i, j in UPPER])


def cross_wrench(s: Vector, f: Vector) -> Vector:
    """s x* f: how a wrench changes that is carried along by the twist s."""
    return np.concatenate([cross(s[:3], f[:3]) + cross(s[3:], f[3:]), cross(s[:3], f[3:])])
