"""Parametric curves: a function from a number to a point. They know no mechanics."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np

from ..errors import ModelError
from ..kernel.symbol import traced_digest
from ..spatial.dual import Slope, split
from ..spatial.frozen import Frozen, frozen
from ..spatial.functions import Function, Functions, shaped
from ..spatial.gate import real
from ..spatial.kinds import explained
from ..spatial.scalar import Scalar, Vector

SAMPLES = 257
DIRECTIONS = 200


class Curve(Frozen):
    """The points x(u), in the coordinates of whatever the curve is attached to.

    x            u -> three numbers; u is a scalar of any kind (`np.sin` and friends, `lw.math`, no `if` on values)
    domain       (first, last) u where the nearest point is looked for; beyond it the curve goes on as its function does
    parameters   numbers and arrays by name, handed to x where it has an argument of that name

    >>> circle = lw.Curve(lambda u: np.array([np.cos(u), np.sin(u), 0.0]), domain=(0.0, 2 * np.pi))
    """

    @explained
    def __init__(self, x: Function, domain: Any = (0.0, 1.0), parameters: Mapping[str, Any] | None = None) -> None:
        self.given = Functions("Curve", {"x": x}, parameters)
        self.domain = interval("Curve: domain", domain)
        for u in np.linspace(*self.domain, 5):
            if self.given.tried("x", float(u)).shape != (3,):
                raise ModelError("Curve: x(u) must be three numbers")
            if not np.linalg.norm(np.asarray(self.point_and_tangent(float(u))[1], float)) > 0:
                raise ModelError(f"Curve: x(u) does not move at u = {u:.6g}; choose a parameter along which it does")

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Any:
        """The curve that a file says: made anew of its function."""
        given = state["given"]
        return cls(given.functions["x"], state["domain"], given.values)

    def bound(self, values: Mapping[str, Any]) -> Curve:
        """The same curve with other parameters."""
        return self.with_parts(given=self.given.bound(values))

    @cached_property
    def digest(self) -> str:
        """What the function computes, traced; parameters are symbols."""
        return digest_of(self.given, "x", 1)

    def point(self, u: Scalar) -> Vector:
        """x(u)."""
        return self.given.vector("x", u)

    def point_and_tangent(self, u: Scalar) -> tuple[Vector, Vector]:
        """x(u) and dx/du."""
        x, tangent = split(self.point(Slope(u, (1.0,))), 1, Slope)
        return x, tangent[:, 0]

    @cached_property
    def table(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Samples: their parameters, points and unit tangents."""
        u = np.linspace(*self.domain, SAMPLES)
        points, tangents = np.array([self.point_and_tangent(float(x)) for x in u], float).transpose(1, 0, 2)
        return frozen((u, points, tangents / np.linalg.norm(tangents, axis=1, keepdims=True)))

    def nearest(self, p: np.ndarray) -> float:
        """About where the curve is nearest to a point: the nearest of some samples."""
        u, points, _ = self.table
        return float(u[np.argmin(np.sum((points - p) ** 2, axis=1))])

    @cached_property
    def aside(self) -> np.ndarray:
        """A unit vector that the curve stays away from running along: the best of some."""
        z = np.linspace(0.0, 1.0, DIRECTIONS)
        turn = np.pi * (3.0 - np.sqrt(5.0)) * np.arange(DIRECTIONS)  # spread evenly over half of the sphere
        some = np.stack([np.sqrt(1.0 - z * z) * np.cos(turn), np.sqrt(1.0 - z * z) * np.sin(turn), z], axis=1)
        along = np.abs(self.table[2] @ some.T).max(axis=0)
        return frozen(some[np.argmin(along)])

    def __repr__(self) -> str:
        return f"Curve(domain={self.domain})"


def interval(what: str, x: Any) -> tuple[float, float]:
    """Two finite numbers, the first below the second."""
    try:
        a, b = (real(e) for e in x)
    except (TypeError, ValueError):
        a = b = np.nan
    if not (np.isfinite(a) and np.isfinite(b) and a < b):
        raise ModelError(f"{what} must be two numbers, the first below the second, not {x!r}")
    return a, b


def digest_of(given: Functions, what: str, size: int) -> str:
    """A digest of a function of a vector of `size` (or of a scalar, for 1) and of its parameters."""
    parameters = given.parameters()

    def computed(u: Vector, *values: Vector) -> list[Scalar]:
        bound = given.bound(shaped(parameters, values))
        return list(bound.vector(what, u[0] if size == 1 else u))

    return traced_digest(computed, size, *(x.size for x in parameters.values()))
