"""Solids with a frame of their own: box, capsule, cylinder, ellipsoid, torus. Each is centred at the origin of its frame."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Unpack

import numpy as np

from ..errors import ModelError
from ..spatial.inertia import Inertia
from ..spatial.scalar import Scalar, maximum, norm, stack
from ..spatial.se3 import SE3
from . import checks
from .shapes import Attributes, Shape


class Placed(Shape):
    """A solid about the origin of a frame, whose rotation R and position p are given in the axes of what it is attached to."""

    R: np.ndarray
    p: np.ndarray

    def __init__(self, pose: SE3 | None, attributes: Attributes) -> None:
        super().__init__(**attributes)
        self.R, self.p = checks.pose(self.name, pose)

    @classmethod
    def given_form(cls, state: Mapping[str, Any]) -> dict[str, Any]:
        return {**super().given_form(state), "pose": SE3(R=state["R"], p=state["p"])}

    @property
    def pose(self) -> SE3:
        """The frame."""
        return SE3(self.R, self.p)

    def moved(self, E: SE3) -> Any:
        placed = E @ self.pose
        return self.bound({"R": placed.R, "p": placed.p})

    @property
    def com(self) -> np.ndarray:
        return self.p

    def half_extent(self) -> np.ndarray:
        """Half of what it measures along the axes of what it is attached to (3,)."""
        raise NotImplementedError

    def bounding_box(self) -> tuple[np.ndarray, np.ndarray]:
        half = self.half_extent()
        return self.p - half, self.p + half

    def bounding_sphere(self) -> tuple[np.ndarray, Scalar]:
        return self.p, self.reach()

    def reach(self) -> Scalar:
        """The distance of its farthest point from its centre."""
        raise NotImplementedError


class Box(Placed):
    """A solid box.

    size   edge lengths (3,) along the axes of its frame
    pose   of its frame, which has its origin in the middle

    >>> crate = lw.Box((0.4, 0.3, 0.2), density=500.0, friction=0.6)
    >>> round(crate.inertia().mass, 6)
    12.0
    """

    kind = "box"
    parameter_names = ("size", "R", "p")

    def __init__(self, size: Any, pose: SE3 | None = None, **attributes: Unpack[Attributes]) -> None:
        super().__init__(pose, attributes)
        self.size = checks.lengths(self.name, "size", size)

    @property
    def volume(self) -> float:
        return float(np.prod(self.size))

    def inertia_of(self, mass: float) -> Inertia:
        return Inertia.cuboid(mass, self.size).moved(self.R, self.p)

    def half_extent(self) -> np.ndarray:
        return np.abs(self.R) @ (0.5 * self.size)

    def reach(self) -> Scalar:
        return 0.5 * norm(self.size)


class Capsule(Placed):
    """A solid cylinder with a half ball on each end: all points within `radius` of a segment.

    length   of the cylinder between the half balls, along the z axis of its frame; 0 is a ball
    pose     of its frame, which has its origin in the middle

    >>> limb = lw.Capsule(radius=0.05, length=0.4, density=1000.0)
    """

    kind = "capsule"
    parameter_names = ("radius", "length", "R", "p")

    def __init__(self, radius: float, length: float, pose: SE3 | None = None, **attributes: Unpack[Attributes]) -> None:
        super().__init__(pose, attributes)
        self.radius = checks.length(self.name, "radius", radius)
        self.length = checks.number(self.name, "length", length, 0.0, checks.LARGEST)

    @property
    def volume(self) -> float:
        return np.pi * self.radius**2 * (self.length + 4.0 / 3.0 * self.radius)

    def inertia_of(self, mass: float) -> Inertia:
        return Inertia.capsule(mass, self.radius, self.length).moved(self.R, self.p)

    def half_extent(self) -> np.ndarray:
        return np.abs(self.R[:, 2]) * (0.5 * self.length) + self.radius

    def reach(self) -> Scalar:
        return 0.5 * self.length + self.radius


class Cylinder(Placed):
    """A solid cylinder.

    length   along the z axis of its frame
    pose     of its frame, which has its origin in the middle

    >>> axle = lw.Cylinder(radius=0.05, length=0.3, mass=2.0)
    """

    kind = "cylinder"
    parameter_names = ("radius", "length", "R", "p")

    def __init__(self, radius: float, length: float, pose: SE3 | None = None, **attributes: Unpack[Attributes]) -> None:
        super().__init__(pose, attributes)
        self.radius = checks.length(self.name, "radius", radius)
        self.length = checks.length(self.name, "length", length)

    @property
    def volume(self) -> float:
        return np.pi * self.radius**2 * self.length

    def inertia_of(self, mass: float) -> Inertia:
        return Inertia.cylinder(mass, self.radius, self.length).moved(self.R, self.p)

    def half_extent(self) -> np.ndarray:
        z = self.R[:, 2]
        across = stack(*(maximum(1.0 - e * e, 0.0) for e in z))
        return np.abs(z) * (0.5 * self.length) + np.sqrt(across) * self.radius

    def reach(self) -> Scalar:
        return np.sqrt(0.25 * self.length * self.length + self.radius * self.radius)


class Ellipsoid(Placed):
    """A solid ellipsoid.

    radii   half axes (3,) along the axes of its frame
    pose    of its frame, which has its origin in the middle

    >>> egg = lw.Ellipsoid((0.03, 0.03, 0.04), density=1000.0)
    """

    kind = "ellipsoid"
    parameter_names = ("radii", "R", "p")

    def __init__(self, radii: Any, pose: SE3 | None = None, **attributes: Unpack[Attributes]) -> None:
        super().__init__(pose, attributes)
        self.radii = checks.lengths(self.name, "radii", radii)

    @property
    def volume(self) -> float:
        return 4.0 / 3.0 * np.pi * float(np.prod(self.radii))

    def inertia_of(self, mass: float) -> Inertia:
        return Inertia.ellipsoid(mass, self.radii).moved(self.R, self.p)

    def half_extent(self) -> np.ndarray:
        return np.sqrt((self.R * self.R) @ (self.radii * self.radii))

    def reach(self) -> Scalar:
        return maximum(maximum(self.radii[0], self.radii[1]), self.radii[2])


class Torus(Placed):
    """A solid torus: all points within `tube` of a circle of radius `ring`.

    ring, tube   radii of the circle, about the z axis of its frame, and of the tube round it
    pose         of its frame, which has its origin in the middle

    >>> ring = lw.Torus(ring=0.5, tube=0.1, density=1000.0)
    """

    kind = "torus"
    parameter_names = ("ring", "tube", "R", "p")

    def __init__(self, ring: float, tube: float, pose: SE3 | None = None, **attributes: Unpack[Attributes]) -> None:
        super().__init__(pose, attributes)
        self.ring = checks.length(self.name, "ring", ring)
        self.tube = checks.length(self.name, "tube", tube)
        if not self.tube < self.ring:
            raise ModelError(f"{self.name}: the tube {tube!r} must be thinner than the ring {ring!r}")

    @property
    def volume(self) -> float:
        return 2.0 * np.pi**2 * self.ring * self.tube**2

    def inertia_of(self, mass: float) -> Inertia:
        return Inertia.torus(mass, self.ring, self.tube).moved(self.R, self.p)

    def half_extent(self) -> np.ndarray:
        across = stack(*(maximum(1.0 - e * e, 0.0) for e in self.R[:, 2]))
        return np.sqrt(across) * self.ring + self.tube

    def reach(self) -> Scalar:
        return self.ring + self.tube
