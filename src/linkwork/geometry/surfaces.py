"""Surfaces: where a function of space vanishes, or a function from two numbers to a point. They know no mechanics.

A surface describes its points by numbers u: two parameters, or the point itself with the equation f = 0. At u it has a `Patch`;
its normal points outward: along the gradient of f, or along dx/du_0 x dx/du_1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..errors import ModelError
from ..spatial.dual import Slope, split, variables
from ..spatial.frozen import Frozen, frozen
from ..spatial.functions import Function, Functions
from ..spatial.gate import listed
from ..spatial.kinds import explained
from ..spatial.scalar import Scalar, Vector, array, cross, dot, norm, stack, where
from .curves import digest_of, interval
from .shapes import Plane, Sphere
from .solids import Cylinder, Ellipsoid, Torus

SAMPLES = 24  # along each parameter
CELLS = 12  # along each edge of a box
NEWTON_STEPS = 8


@dataclass(frozen=True, eq=False)
class Patch:
    """A surface about one point: the point, two tangents, the normal (any length), and equations that the point must obey."""

    point: Vector
    tangents: tuple[Vector, Vector]
    normal: Vector
    equations: tuple[Scalar, ...] = ()


class Surface(Frozen):
    """Base of surfaces.

    coordinates   how many numbers describe a point
    feet          how many of them must be found for the distance of a point
    """

    coordinates: int
    feet: int
    given: Functions

    @property
    def digest(self) -> str:
        """What its function computes, traced; parameters are symbols."""
        raise NotImplementedError

    def patch(self, u: Vector) -> Patch:
        """The surface at u."""
        raise NotImplementedError

    def height(self, p: Vector, u: Vector) -> Scalar:
        """How far a point lies outside; u is its foot where `feet` are needed. Exact to first order near the surface."""
        raise NotImplementedError

    def samples(self) -> np.ndarray:
        """Coordinates (n, coordinates) of points spread over the surface."""
        raise NotImplementedError

    def bound(self, values: Mapping[str, Any]) -> Surface:
        """The same surface with other parameters."""
        return self.with_parts(given=self.given.bound(values))

    @cached_property
    def bending(self) -> int:
        """In how many directions it bends: 0 of planes, 1 of cylinders and cones, 2 of others."""
        from .bending import most_bending

        return most_bending(self)

    @cached_property
    def table(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Samples: their coordinates, points and unit normals."""
        u = self.samples()
        patches = [self.patch(x) for x in u]
        points, normals = (np.array([getattr(p, name) for p in patches], float) for name in ("point", "normal"))
        return frozen((u, points, normals / np.linalg.norm(normals, axis=1, keepdims=True)))


class ParametricSurface(Surface):
    """The points x(u), u two parameters.

    x            u -> three numbers; written with `np.sin` and friends, `lw.math`, no `if` on values
    domain       ((first, last), (first, last)) of both, where points are looked for; the surface goes on beyond it
    parameters   numbers and arrays by name, handed to x where it has an argument of that name

    >>> bowl = lw.ParametricSurface(lambda u: np.array([u[0], u[1], u[0] ** 2 + u[1] ** 2]), domain=((-1, 1), (-1, 1)))
    """

    coordinates = feet = 2

    @explained
    def __init__(self, x: Function, domain: Any = ((0.0, 1.0), (0.0, 1.0)), parameters: Mapping[str, Any] | None = None) -> None:
        self.given = Functions("ParametricSurface", {"x": x}, parameters)
        intervals = listed("ParametricSurface", "domain", domain, 2, "two intervals")
        self.domain = tuple(interval("ParametricSurface: domain", d) for d in intervals)
        if self.given.tried("x", np.array([0.6 * a + 0.4 * b for a, b in self.domain])).shape != (3,):
            raise ModelError("ParametricSurface: x(u) must be three numbers")

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Any:
        """The surface that a file says: made anew of its function."""
        given = state["given"]
        return cls(given.functions["x"], state["domain"], given.values)

    @cached_property
    def digest(self) -> str:
        return digest_of(self.given, "x", 2)

    def patch(self, u: Vector) -> Patch:
        x, slopes = split(self.given.vector("x", variables(u, 2, 0, Slope)), 2, Slope)
        a, b = slopes[:, 0], slopes[:, 1]
        return Patch(x, (a, b), cross(a, b))

    def height(self, p: Vector, u: Vector) -> Scalar:
        here = self.patch(u)
        return dot(here.normal, p - here.point) / norm(here.normal)

    def samples(self) -> np.ndarray:
        inner = [np.linspace(a, b, SAMPLES + 1)[:-1] + 0.5 * (b - a) / SAMPLES for a, b in self.domain]  # no poles, no edges
        return np.stack(np.meshgrid(*inner, indexing="ij"), axis=-1).reshape(-1, 2)


class ImplicitSurface(Surface):
    """The points x with f(x) = 0; f grows outward.

    f            x -> number, x three numbers; written with `np.sqrt` and friends, `lw.math`, no `if` on values
    box          ((x, y, z), (x, y, z)) two corners between which the surface lies; only tangency needs it, of one of the two
    parameters   numbers and arrays by name, handed to f where it has an argument of that name

    >>> ball = lw.ImplicitSurface(lambda x: x[0] ** 2 + x[1] ** 2 + x[2] ** 2 - 1.0)
    """

    coordinates, feet = 3, 0

    @explained
    def __init__(self, f: Function, box: Any = None, parameters: Mapping[str, Any] | None = None) -> None:
        self.given = Functions("ImplicitSurface", {"f": f}, parameters)
        self.box = None if box is None else np.array(box, dtype=float)
        if self.box is not None and not (self.box.shape == (2, 3) and np.all(self.box[0] < self.box[1])):
            raise ModelError(f"ImplicitSurface: box must be two corners, the first below the second, not {box!r}")
        if self.given.tried("f", np.array([0.31, 0.17, 0.23])).shape != (1,):
            raise ModelError("ImplicitSurface: f(x) must be one number")

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Any:
        """The surface that a file says: made anew of its function."""
        given = state["given"]
        return cls(given.functions["f"], state["box"], given.values)

    @cached_property
    def digest(self) -> str:
        return digest_of(self.given, "f", 3)

    def value_and_gradient(self, x: Vector) -> tuple[Scalar, Vector]:
        """f and df/dx."""
        f, slopes = split(self.given.vector("f", variables(x, 3, 0, Slope)), 3, Slope)
        return f[0], slopes[0]

    def patch(self, u: Vector) -> Patch:
        f, gradient = self.value_and_gradient(u)
        return Patch(u, tangents(gradient), gradient, (f,))

    def height(self, p: Vector, u: Vector) -> Scalar:
        f, gradient = self.value_and_gradient(p)
        return f / norm(gradient)

    def samples(self) -> np.ndarray:
        if self.box is None:
            raise ModelError("ImplicitSurface: give a box in which the surface lies, to look for where it touches another")
        cell = (self.box[1] - self.box[0]) / CELLS
        axes = [self.box[0, k] + cell[k] * (0.5 + np.arange(CELLS)) for k in range(3)]
        start = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
        x = start
        for _ in range(NEWTON_STEPS):
            x = self.heights_and_feet(x)[1]
        on = np.abs(self.heights_and_feet(x)[0]) <= 1e-6 * np.linalg.norm(cell)
        found = x[on & np.all(np.abs(x - start) <= cell, axis=1)]
        if not len(found):
            raise ModelError("ImplicitSurface: f does not vanish in the box")
        return found

    def heights_and_feet(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Of points (n, 3): how far each lies outside, and the point of the surface below it, both to first order."""
        found = self.given.call("f", variables(x.T, 3))  # entries are arrays
        gradient = np.stack(np.broadcast_arrays(*found.grad, found.x)[:3], axis=1)
        slope = np.maximum(np.linalg.norm(gradient, axis=1), np.finfo(float).tiny)
        height = found.x / slope
        return height, x - (height / slope)[:, None] * gradient


def tangents(n: Vector) -> tuple[Vector, Vector]:
    """Two vectors across a vector and across each other: made with the coordinate axis that is farthest from it."""
    x, y, z = np.abs(n[0]), np.abs(n[1]), np.abs(n[2])
    first, second = (x <= y) & (x <= z), y <= z
    e = stack(where(first, 1.0, 0.0), where(first, 0.0, where(second, 1.0, 0.0)), where(first, 0.0, where(second, 0.0, 1.0)))
    a = cross(n, e)
    return a, cross(n, a)


# --- common ones: f in the axes of what they are attached to, R and p the frame of the shape ------------------------------------
def _plane(x: Vector, point: Vector, normal: Vector) -> Scalar:
    return dot(normal, x - point)


def _quadric(x: Vector, center: Vector, radii: Vector) -> Scalar:
    d = array([(x[k] - center[k]) / radii[k] for k in range(3)])
    return dot(d, d) - 1.0


def _ellipsoid(x: Vector, radii: Vector, R: np.ndarray, p: Vector) -> Scalar:
    return _quadric(R.T @ (x - p), np.zeros(3), radii)


def _torus(x: Vector, ring: Scalar, tube: Scalar, R: np.ndarray, p: Vector) -> Scalar:
    d = R.T @ (x - p)
    out = np.sqrt(d[0] * d[0] + d[1] * d[1]) - ring
    return out * out + d[2] * d[2] - tube * tube


def _cylinder(x: Vector, radius: Scalar, R: np.ndarray, p: Vector) -> Scalar:
    d = R.T @ (x - p)
    return d[0] * d[0] + d[1] * d[1] - radius * radius


@explained
def ellipsoid(radii: Any, center: Any = (0.0, 0.0, 0.0)) -> ImplicitSurface:
    """The ellipsoid with these half axes along x, y, z.

    >>> egg = lw.ellipsoid((0.03, 0.03, 0.04))
    """
    r, c = np.array(radii, dtype=float), np.array(center, dtype=float)
    if r.shape != (3,) or c.shape != (3,) or not np.all(np.isfinite(r)) or np.any(r <= 0):
        raise ModelError(f"ellipsoid: radii must be three positive numbers, not {radii!r}")
    return ImplicitSurface(_quadric, (c - 1.1 * r, c + 1.1 * r), {"center": c, "radii": r})


@explained
def torus(ring: float, tube: float) -> ImplicitSurface:
    """The torus about z: a tube of this radius round a ring of that radius.

    >>> ring = lw.torus(ring=0.5, tube=0.1)
    """
    if not 0 < tube < ring:
        raise ModelError(f"torus: the tube {tube!r} must be thinner than the ring {ring!r}")
    return as_surface("torus", Torus(ring, tube))  # type: ignore[return-value]


def as_surface(owner: str, shape: Any) -> Surface:
    """A surface, or that of a shape; of a cylinder its side, endless."""
    if isinstance(shape, Sphere):
        return ellipsoid(np.full(3, shape.radius), shape.center)
    if isinstance(shape, Plane):
        return ImplicitSurface(_plane, None, {"point": shape.point, "normal": shape.normal})
    if isinstance(shape, (Ellipsoid, Torus)):
        half = 1.1 * shape.half_extent()
        f = _torus if isinstance(shape, Torus) else _ellipsoid
        return ImplicitSurface(f, (shape.p - half, shape.p + half), shape.parameters())
    if isinstance(shape, Cylinder):
        half = 1.1 * shape.half_extent()
        given = {name: x for name, x in shape.parameters().items() if name != "length"}
        return ImplicitSurface(_cylinder, (shape.p - half, shape.p + half), given)
    if not isinstance(shape, Surface):
        known = "ImplicitSurface, ParametricSurface, Sphere, Plane, Ellipsoid, Torus, Cylinder"
        raise ModelError(f"{owner}: a surface is needed ({known}), not {shape!r}")
    return shape
