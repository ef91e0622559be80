"""The inertia of a rigid body, or of several that are welded together: ten numbers that move without becoming full."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .articulated import symmetric
from .scalar import Scalar, Vector, array, cross, dot
from .se3 import SE3
from .stage import Shift, Stage, move_symmetric, move_vector

UPPER = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))


@dataclass(frozen=True, slots=True, eq=False)
class Rigid:
    """The 6x6 matrix [[J, [h]], [[h]^T, m 1]]: momentum (moment, force) from a twist (angular, linear).

    h   first moment m c;   J   rotational inertia about the origin
    """

    m: Scalar
    h: Vector
    J: np.ndarray

    def __add__(self, other: Rigid) -> Rigid:
        return Rigid(self.m + other.m, self.h + other.h, self.J + other.J)

    def __matmul__(self, x: Vector) -> Vector:
        w, v = x[:3], x[3:]
        return np.concatenate([self.J @ w + cross(self.h, v), v * self.m + cross(w, self.h)])

    def moved(self, E: SE3) -> Rigid:
        """From inner to outer coordinates."""
        inertia = self
        for stage in reversed(E.stages):
            inertia = inertia._through(stage)
        return inertia

    def _through(self, stage: Stage) -> Rigid:
        if not isinstance(stage, Shift):
            return Rigid(self.m, move_vector(stage, self.h), move_symmetric(stage, self.J))
        return Rigid(self.m, self.h + stage.p * self.m, self.J + about(stage.p, self.h * 2.0 + stage.p * self.m))

    def packed(self) -> list[Scalar]:
        """The ten numbers."""
        return [self.m, *self.h, *(self.J[i] for i in UPPER)]

    @staticmethod
    def unpacked(x: Any) -> Rigid:
        """The inverse of `packed`."""
        return Rigid(x[0], array(x[1:4]), symmetric(x[4:10]))


def about(a: Vector, b: Vector) -> np.ndarray:
    """a.b 1 - (a b^T + b a^T) / 2, the symmetric part of -[a] [b]."""
    ab = dot(a, b)
    half = a * 0.5
    upper = {(i, j): half[i] * b[j] + half[j] * b[i] for i, j in UPPER}
    return symmetric([(ab - upper[i, j]) if i == j else -upper[i, j] for i, j in UPPER])
