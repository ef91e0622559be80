"""The parts that come with the library: particles, rigid bodies in the plane and in space, bodies that scale, affine bodies."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import ModelError
from ..spatial.inertia import Inertia
from ..spatial.scalar import Vector, array, cross, numeric, stack
from ..spatial.se3 import SE3
from ..spatial.stage import skew
from .part import Framed, Part


class Particle(Framed):
    """A mass at x, in a plane or in space."""

    def __init__(self, mass: float, space: int = 3) -> None:
        if space not in (2, 3) or not mass > 0:
            raise ModelError(f"Particle: mass {mass!r} must be positive and space {space!r} must be 2 or 3")
        self.moments = np.array([[float(mass)]])
        self.nx = self.nv = self.space = space

    def frame(self, x: Vector) -> np.ndarray:
        return x.reshape(self.space, 1)


class Body2D(Framed):
    """A rigid body in the plane: x = (position, angle).

    inertia   about the centre of mass, which lies at `com` in body axes
    """

    nx = nv = 3
    space = 2

    def __init__(self, mass: float, inertia: float, com: Any = (0.0, 0.0)) -> None:
        c = np.asarray(com, float)
        if not (mass > 0 and inertia > 0) or c.shape != (2,):
            raise ModelError(f"Body2D: mass {mass!r} and inertia {inertia!r} must be positive, com {com!r} two numbers")
        second = 0.5 * inertia * np.eye(2) + mass * np.outer(c, c)  # any second moments with this trace move alike
        self.moments = np.block([[second, mass * c[:, None]], [mass * c[None], np.full((1, 1), float(mass))]])

    def frame(self, x: Vector) -> np.ndarray:
        c, s = np.cos(x[2]), np.sin(x[2])
        return array([[c, -s, x[0]], [s, c, x[1]]])

    def inertia(self, x: Vector, v: Vector) -> tuple[np.ndarray, Vector]:
        """The same in closed form: with arm = R m c, M = [[m, perp(arm)], [., J]] and h = -(arm theta_dot^2, 0)."""
        P, m = self.moments, self.moments[2, 2]
        c, s = np.cos(x[2]), np.sin(x[2])
        arm = stack(c * P[0, 2] - s * P[1, 2], s * P[0, 2] + c * P[1, 2])
        M = array([[m, 0.0, -arm[1]], [0.0, m, arm[0]], [-arm[1], arm[0], P[0, 0] + P[1, 1]]])
        return M, stack(*(-arm * (v[2] * v[2])), 0.0)

    def spin(self, x: Vector, v: Vector) -> Any:
        return v[2]


class Turning(Framed):
    """A body in space with a rotation: x = (position, rows of R, ...), v = (angular, linear velocity in body axes, ...)."""

    sizes = 0  # further coordinates, whose rates are velocities

    def __init__(self, inertia: Inertia) -> None:
        """`inertia` in body axes, before any change of size."""
        self.nx, self.nv = 12 + self.sizes, 6 + self.sizes
        m, c = inertia.mass, inertia.com
        second = 0.5 * np.trace(inertia.tensor) * np.eye(3) - inertia.tensor + m * np.outer(c, c)
        self.moments = np.block([[second, m * c[:, None]], [m * c[None], np.full((1, 1), m)]])

    def coordinates(self, pose: SE3, *sizes: float) -> np.ndarray:
        """x of a pose."""
        return np.concatenate([np.asarray(pose.p, float), np.asarray(pose.R, float).reshape(-1), np.array(sizes, float)])

    def velocity_map(self, x: Vector) -> np.ndarray:
        R, unit = x[3:12].reshape(3, 3), np.eye(3)
        N = np.full((self.nx, self.nv), 0.0, dtype=object)
        N[:3, 3:6] = R
        for k in range(3):
            N[3:12, k] = (R @ skew(unit[k])).reshape(-1)
        N[12:, 6:] = np.eye(self.sizes)
        return N

    def stretch(self, x: Vector) -> np.ndarray:
        """What is applied to local points before the rotation, along the axes (3,)."""
        return np.ones(3)

    def frame(self, x: Vector) -> np.ndarray:
        return np.column_stack([x[3:12].reshape(3, 3) * self.stretch(x), x[:3]])

    def spin(self, x: Vector, v: Vector) -> Any:
        return x[3:12].reshape(3, 3) @ v[:3]

    def normalised(self, x: np.ndarray) -> np.ndarray:
        """One Newton step to the nearest rotation: R (3 - R^T R) / 2."""
        R = x[3:12].reshape(3, 3)
        return np.concatenate([x[:3], (R @ (1.5 * np.eye(3) - 0.5 * R.T @ R)).reshape(-1), x[12:]])


class Body3D(Turning):
    """A rigid body in space."""

    def inertia(self, x: Vector, v: Vector) -> tuple[np.ndarray, Vector]:
        """The same in closed form: M is constant in body axes, h = (w x a + u x l, w x l) with momentum (a, l) = M v."""
        P = self.moments
        arm = skew(P[:3, 3])
        J = (P[0, 0] + P[1, 1] + P[2, 2]) * np.eye(3) - P[:3, :3]
        M = np.block([[J, arm], [-arm, P[3, 3] * np.eye(3)]])
        momentum, w, u = M @ v, v[:3], v[3:]
        angular, linear = momentum[:3], momentum[3:]
        return numeric(M), np.concatenate([cross(w, angular) + cross(u, linear), cross(w, linear)])


class ScaledBody(Turning):
    """A rigid body that may also grow: local points are scaled by x[12], whose rate is v[6]."""

    sizes = 1

    def stretch(self, x: Vector) -> np.ndarray:
        return stack(x[12], x[12], x[12])


class StretchedBody(Turning):
    """A rigid body that may also be stretched along its axes by x[12:15], whose rates are v[6:9]."""

    sizes = 3

    def stretch(self, x: Vector) -> np.ndarray:
        return x[12:15]


class AffineBody(Framed):
    """A body whose points are A local + p for any matrix A: x = (p, rows of A), v = x_dot."""

    nx = nv = 12

    def __init__(self, inertia: Inertia) -> None:
        self.moments = Body3D(inertia).moments

    def coordinates(self, pose: SE3) -> np.ndarray:
        """x of a pose."""
        return np.concatenate([np.asarray(pose.p, float), np.asarray(pose.R, float).reshape(-1)])

    def frame(self, x: Vector) -> np.ndarray:
        return np.column_stack([x[3:].reshape(3, 3), x[:3]])


__all__ = ["ALL_PARTS", "AffineBody", "Body2D", "Body3D", "Framed", "Part", "Particle", "ScaledBody", "StretchedBody"]

ALL_PARTS = (Particle, Body2D, Body3D, ScaledBody, StretchedBody, AffineBody)
