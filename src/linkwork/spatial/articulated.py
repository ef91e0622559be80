"""The inertia of a subtree seen through its joints: a symmetric 6x6 matrix in blocks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .scalar import Scalar, Vector, array, zeros
from .stage import Shift, Stage, move_matrix, move_symmetric, skew


@dataclass(frozen=True, slots=True, eq=False)
class Articulated:
    """The symmetric 6x6 matrix [[J, H], [H^T, M]] in blocks: wrench (moment, force) from acceleration."""

    J: np.ndarray
    H: np.ndarray
    M: np.ndarray

    @staticmethod
    def rigid(mass: Scalar, first_moment: Vector, J: np.ndarray) -> Articulated:
        """Of a rigid body: mass, first moment m c, rotational inertia about the origin [Si & Guenter, Eq. 5]."""
        M = zeros(3, 3)
        M[0, 0] = M[1, 1] = M[2, 2] = mass
        return Articulated(J, skew(first_moment), M)

    def __add__(self, other: Articulated) -> Articulated:
        return Articulated(self.J + other.J, self.H + other.H, self.M + other.M)

    def __matmul__(self, x: Vector) -> Vector:
        w, v = x[:3], x[3:]
        return np.concatenate([self.J @ w + self.H @ v, self.H.T @ w + self.M @ v])

    @property
    def matrix(self) -> np.ndarray:
        """The 6x6 matrix."""
        return np.block([[self.J, self.H], [self.H.T, self.M]])

    @staticmethod
    def of_matrix(A: np.ndarray) -> Articulated:
        """The blocks of a symmetric 6x6 matrix; its upper triangle is read, the lower mirrors it."""
        A = np.array(A)
        for r in range(6):
            for c in range(r):
                A[r, c] = A[c, r]
        return Articulated(A[:3, :3], A[:3, 3:], A[3:, 3:])

    def moved(self, stage: Stage) -> Articulated:
        """The inertia in the outer coordinates of one elementary stage."""
        if not isinstance(stage, Shift):
            return Articulated(move_symmetric(stage, self.J), move_matrix(stage, self.H), move_symmetric(stage, self.M))
        P = skew(stage.p)
        H = self.H + P @ self.M
        upper = self.J + P @ H.T - self.H @ P
        J = np.array(upper)
        for r in range(3):
            for c in range(r):
                J[r, c] = J[c, r]
        return Articulated(J, H, self.M)

    def packed(self) -> list[Scalar]:
        """The 21 independent entries."""
        upper = [(r, c) for r in range(3) for c in range(r, 3)]
        return [self.J[i] for i in upper] + list(self.H.flat) + [self.M[i] for i in upper]

    @staticmethod
    def unpacked(x: Any) -> Articulated:
        """The inverse of `packed`."""
        return Articulated(symmetric(x[:6]), array(x[6:15]).reshape(3, 3), symmetric(x[15:21]))


def symmetric(x: Any) -> np.ndarray:
    """The symmetric 3x3 matrix with upper triangle x = (xx, xy, xz, yy, yz, zz)."""
    return array([[x[0], x[1], x[2]], [x[1], x[3], x[4]], [x[2], x[4], x[5]]])
