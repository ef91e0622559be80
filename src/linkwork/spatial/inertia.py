"""Inertia: of a rigid body (`Inertia`), and of a subtree seen through its joints (`Articulated`)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import ModelError
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


class Inertia:
    """Mass, centre of mass and inertia tensor of a rigid body.

    mass     kg, positive
    com      centre of mass in body axes (3,)
    tensor   (3, 3) about the centre of mass in body axes
    """

    __slots__ = ("com", "mass", "tensor")

    def __init__(self, mass: float, com: Any = (0.0, 0.0, 0.0), tensor: Any = None) -> None:
        self.mass = _finite("mass", mass, ())
        if not self.mass > 0:
            raise ModelError(f"inertia: the mass {self.mass:g} must be positive")
        self.com = _finite("com", com, (3,))
        self.tensor = _finite("tensor", np.zeros((3, 3)) if tensor is None else tensor, (3, 3))
        _check_tensor(self.tensor)

    @staticmethod
    def cuboid(mass: float, size: Any, com: Any = (0.0, 0.0, 0.0)) -> Inertia:
        """A solid cuboid with edge lengths `size`, centred at `com`."""
        x, y, z = _positive("cuboid size", size, (3,)) ** 2
        return Inertia(mass, com, np.diag([y + z, x + z, x + y]) * float(mass) / 12.0)

    @staticmethod
    def sphere(mass: float, radius: float, com: Any = (0.0, 0.0, 0.0)) -> Inertia:
        """A solid sphere centred at `com`."""
        r = float(_positive("sphere radius", radius, ()))
        return Inertia(mass, com, np.eye(3) * 0.4 * float(mass) * r * r)

    @property
    def first_moment(self) -> np.ndarray:
        """m c."""
        return self.mass * self.com

    @property
    def about_origin(self) -> np.ndarray:
        """The rotational inertia about the body origin: tensor + m (c.c 1 - c c^T)."""
        c = self.com
        return self.tensor + self.mass * (c @ c * np.eye(3) - np.outer(c, c))

    @property
    def matrix(self) -> np.ndarray:
        """The 6x6 spatial inertia [[J, [m c]], [[m c]^T, m 1]]."""
        return Articulated.rigid(self.mass, self.first_moment, self.about_origin).matrix.astype(float)

    def __repr__(self) -> str:
        return f"Inertia(mass={float(self.mass):g}, com={self.com.tolist()}, tensor={self.tensor.tolist()})"


def _finite(name: str, x: Any, shape: tuple[int, ...]) -> Any:
    try:
        a = np.array(x, dtype=float)
    except (TypeError, ValueError):
        raise ModelError(f"inertia: {name} must be numbers, not {x!r}") from None
    if a.shape != shape:
        raise ModelError(f"inertia: {name} must have shape {shape}, not {a.shape}")
    if not np.all(np.isfinite(a)):
        raise ModelError(f"inertia: {name} = {a.tolist()} is not finite")
    return a if shape else float(a)


def _positive(name: str, x: Any, shape: tuple[int, ...]) -> Any:
    a = _finite(name, x, shape)
    if np.any(np.asarray(a) <= 0):
        raise ModelError(f"inertia: {name} = {np.asarray(a).tolist()} must be positive")
    return a


def _check_tensor(tensor: np.ndarray) -> None:
    """Symmetric, no negative principal moment, and no moment larger than the sum of the other two."""
    if not np.allclose(tensor, tensor.T, rtol=0, atol=1e-9 * max(1e-300, np.abs(tensor).max())):
        raise ModelError(f"inertia: the tensor {tensor.tolist()} is not symmetric")
    a, b, c = np.linalg.eigvalsh(tensor)
    slack = 1e-9 * max(c, 1e-300)
    if a < -slack:
        raise ModelError(f"inertia: the tensor has a negative principal moment {a:g}")
    if a + b < c - slack:
        raise ModelError(f"inertia: principal moments {a:g}, {b:g}, {c:g} violate the triangle inequality; no body has them")
