"""Inertia of a rigid body; that of a subtree is `Articulated`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ..errors import ModelError
from .articulated import Articulated, symmetric
from .checks import check_tensor, finite, not_negative, positive, rotation, unit

if TYPE_CHECKING:  # se3 imports this module
    from .se3 import SE3

__all__ = ["Articulated", "Inertia", "symmetric"]

ORIGIN = (0.0, 0.0, 0.0)
Z = (0.0, 0.0, 1.0)


class Inertia:
    """Mass, centre of mass and inertia tensor of a rigid body.

    mass     kg, positive
    com      centre of mass in body axes (3,)
    tensor   (3, 3) about the centre of mass in body axes

    The arrays are copies, and cannot be written to; nor can another number be set.

    >>> rod = lw.Inertia.cuboid(mass=1.0, size=(1, 0.1, 0.1), com=(0.5, 0, 0))
    >>> ball = lw.Inertia(2.0, com=(0, 0, 0), tensor=np.eye(3) * 0.02)
    """

    __slots__ = ("com", "mass", "tensor")
    mass: float
    com: np.ndarray
    tensor: np.ndarray

    def __init__(self, mass: float, com: Any = ORIGIN, tensor: Any = None) -> None:
        self._take(mass, com, tensor)
        if not self.mass > 0:
            raise ModelError(f"inertia: the mass {self.mass:g} must be positive")
        check_tensor(self.tensor)

    def _take(self, mass: float, com: Any, tensor: Any) -> None:
        object.__setattr__(self, "mass", finite("mass", mass, ()))
        object.__setattr__(self, "com", finite("com", com, (3,)))
        object.__setattr__(self, "tensor", finite("tensor", np.zeros((3, 3)) if tensor is None else tensor, (3, 3)))

    def __setattr__(self, name: str, value: Any) -> None:
        raise ModelError(f"Inertia.{name} cannot be set: what a model is made of does not change; make another")

    def __deepcopy__(self, memo: Any) -> Inertia:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return Inertia.unchecked, (self.mass, self.com, self.tensor)

    @staticmethod
    def unchecked(mass: float, com: Any = ORIGIN, tensor: Any = None) -> Inertia:
        """Finite numbers kept as they are, even if no body has them: for files whose impossible inertias are accepted."""
        inertia = object.__new__(Inertia)
        inertia._take(mass, com, tensor)
        return inertia

    is_record: ClassVar[bool] = True

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Inertia:
        """The inertia that a file says, of finite numbers; whether a body can have it, a model decides for all of its bodies."""
        if set(state) != {"mass", "com", "tensor"}:
            raise ModelError(f"inertia: it has a mass, a centre of mass and a tensor, not {', '.join(map(str, state))[:80]}")
        inertia = cls.unchecked(state["mass"], state["com"], state["tensor"])
        if inertia.mass < 0:
            raise ModelError(f"inertia: the mass {inertia.mass:g} must not be negative")
        return inertia

    # --- solids of uniform density ------------------------------------------------------------------------------------
    @staticmethod
    def cuboid(mass: float, size: Any, com: Any = ORIGIN) -> Inertia:
        """A solid cuboid with edge lengths `size`, centred at `com` [Sueda, Eq. 1.24]."""
        m = positive("cuboid mass", mass)
        x, y, z = positive("cuboid size", size, (3,)) ** 2
        return Inertia(m, com, np.diag([y + z, x + z, x + y]) * m / 12.0)

    @staticmethod
    def sphere(mass: float, radius: float, com: Any = ORIGIN) -> Inertia:
        """A solid sphere centred at `com`."""
        m, r = positive("sphere mass", mass), positive("sphere radius", radius)
        return Inertia(m, com, np.eye(3) * 0.4 * m * r * r)

    @staticmethod
    def ellipsoid(mass: float, radii: Any, com: Any = ORIGIN) -> Inertia:
        """A solid ellipsoid with half axes `radii` along the body axes, centred at `com`."""
        m = positive("ellipsoid mass", mass)
        x, y, z = positive("ellipsoid radii", radii, (3,)) ** 2
        return Inertia(m, com, np.diag([y + z, x + z, x + y]) * m / 5.0)

    @staticmethod
    def cylinder(mass: float, radius: float, length: float, axis: Any = Z, com: Any = ORIGIN) -> Inertia:
        """A solid cylinder along the unit vector `axis`, centred at `com`."""
        m, r, h = positive("cylinder mass", mass), positive("cylinder radius", radius), positive("cylinder length", length)
        return Inertia(m, com, _round(unit("cylinder axis", axis), m * r * r / 2.0, m * (r * r / 4.0 + h * h / 12.0)))

    @staticmethod
    def capsule(mass: float, radius: float, length: float, axis: Any = Z, com: Any = ORIGIN) -> Inertia:
        """A solid cylinder along the unit vector `axis` with a half ball on each end, centred at `com`.

        length   of the cylindrical part; 0 is a ball

        A half ball has its centre of mass 3/8 r above its base and, like the ball, 2/5 m r^2 about any axis in its base.
        """
        m, r = positive("capsule mass", mass), positive("capsule radius", radius)
        h = not_negative("capsule length", length)
        tube = m * 3.0 * h / (3.0 * h + 4.0 * r)
        ball = m - tube
        along = tube * r * r / 2.0 + ball * 0.4 * r * r
        across = tube * (r * r / 4.0 + h * h / 12.0) + ball * (0.4 * r * r + h * h / 4.0 + 0.375 * r * h)
        return Inertia(m, com, _round(unit("capsule axis", axis), along, across))

    @staticmethod
    def torus(mass: float, ring: float, tube: float, axis: Any = Z, com: Any = ORIGIN) -> Inertia:
        """A solid torus about the unit vector `axis`, centred at `com`: a tube of this radius round a ring of that radius."""
        m, r, a = positive("torus mass", mass), positive("torus ring", ring), positive("torus tube", tube)
        along, across = m * (r * r + 0.75 * a * a), m * (0.5 * r * r + 0.625 * a * a)
        return Inertia(m, com, _round(unit("torus axis", axis), along, across))

    # --- other descriptions ---------------------------------------------------------------------------------------------
    @staticmethod
    def from_moments(mass: float, com: Any, moments: Any, R: Any = None) -> Inertia:
        """From principal moments (3,) about the centre of mass; the columns of R are their axes, in body axes."""
        D = np.diag(finite("principal moments", moments, (3,)))
        if R is None:
            return Inertia(mass, com, D)
        return Inertia(mass, com, _turned(rotation("principal axes", R), D))

    def principal(self) -> tuple[np.ndarray, np.ndarray]:
        """Principal moments (3,), ascending, and their axes, the columns of a rotation R: tensor = R diag(moments) R^T.

        The first two axes point to the side where their largest entry is positive, the third makes R right-handed.
        """
        moments, R = np.linalg.eigh(self.tensor)
        largest = R[np.abs(R).argmax(axis=0), np.arange(3)]
        R = R * np.where(largest < 0, -1.0, 1.0)
        R[:, 2] = np.cross(R[:, 0], R[:, 1])
        return moments, R

    # --- composition ----------------------------------------------------------------------------------------------------
    def moved(self, R: Any, p: Any = ORIGIN) -> Inertia:
        """The same body, possible or not, described in the axes in which its own frame has rotation R and position p."""
        R, p = rotation("R", R), finite("p", p, (3,))
        return Inertia.unchecked(self.mass, R @ self.com + p, _turned(R, self.tensor))

    def __add__(self, other: Inertia) -> Inertia:
        """Both bodies welded together, described in the axes that they share."""
        if not isinstance(other, Inertia):
            return NotImplemented
        mass = self.mass + other.mass
        d = other.com - self.com
        apart = self.mass * (other.mass / mass) * _about(d)  # two points of mass about their centre, without cancellation
        return Inertia(mass, self.com + d * (other.mass / mass), self.tensor + other.tensor + apart)

    @staticmethod
    def combined(parts: Iterable[tuple[Inertia, SE3]]) -> Inertia:
        """Bodies welded together, each with the pose of its frame in the common one [Sueda, Eqs. 1.25, 1.26]."""
        total: Inertia | None = None
        for part in parts:
            if not (isinstance(part, tuple) and len(part) == 2 and isinstance(part[0], Inertia) and hasattr(part[1], "R")):
                raise ModelError(f"inertia: a part of combined(...) must be (Inertia, SE3), not {part!r}")
            moved = part[0].moved(np.asarray(part[1].R, float), np.asarray(part[1].p, float))
            total = moved if total is None else total + moved
        if total is None:
            raise ModelError("inertia: combined(...) of no parts has no mass; give at least one")
        return total

    # --- as the kernels take it -----------------------------------------------------------------------------------------
    @property
    def first_moment(self) -> np.ndarray:
        """m c."""
        return self.mass * self.com

    @property
    def about_origin(self) -> np.ndarray:
        """The rotational inertia about the body origin: tensor + m (c.c 1 - c c^T)."""
        return self.tensor + self.mass * _about(self.com)

    @property
    def matrix(self) -> np.ndarray:
        """The 6x6 spatial inertia [[J, [m c]], [[m c]^T, m 1]]."""
        return Articulated.rigid(self.mass, self.first_moment, self.about_origin).matrix.astype(float)

    def __repr__(self) -> str:
        return f"Inertia(mass={float(self.mass):g}, com={self.com.tolist()}, tensor={self.tensor.tolist()})"


def _about(c: np.ndarray) -> np.ndarray:
    """c.c 1 - c c^T: the tensor of a unit mass at c about the origin."""
    return c @ c * np.eye(3) - np.outer(c, c)


def _round(axis: np.ndarray, along: float, across: float) -> np.ndarray:
    """The tensor of a solid of revolution: `along` about its axis, `across` about every axis normal to it."""
    return across * np.eye(3) + (along - across) * np.outer(axis, axis)


def _turned(R: np.ndarray, tensor: np.ndarray) -> np.ndarray:
    """R T R^T, symmetric to the last bit."""
    T = R @ tensor @ R.T
    return (T + T.T) / 2.0
