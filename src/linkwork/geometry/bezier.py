"""Bezier curves and surfaces of any degree: sums of control points, weighted by Bernstein's polynomials."""

from __future__ import annotations

from math import comb
from typing import Any

import numpy as np

from ..errors import ModelError
from ..spatial.gate import listed, reals, shape_of
from ..spatial.kinds import explained
from ..spatial.scalar import Scalar, Vector, stack
from .curves import Curve, interval
from .surfaces import ParametricSurface


def bernstein(s: Scalar, degree: int) -> list[Scalar]:
    """The weights comb(n, k) s^k (1 - s)^(n - k) for k = 0 ... n, n the degree."""
    up: list[Scalar] = [1.0]
    down: list[Scalar] = [1.0]
    for _ in range(degree):
        up.append(up[-1] * s)
        down.append(down[-1] * (1.0 - s))
    return [float(comb(degree, k)) * (up[k] * down[degree - k]) for k in range(degree + 1)]


def weighted(weights: list[Scalar], points: np.ndarray) -> Vector:
    """The sum of points (n, 3) or of their coordinates, in order."""
    total = [weights[0] * x for x in points[0]]
    for w, p in zip(weights[1:], points[1:], strict=True):
        total = [a + w * x for a, x in zip(total, p, strict=True)]
    return stack(*total)


@explained
def bezier_curve(points: Any, domain: Any = (0.0, 1.0)) -> Curve:
    """The Bezier curve of n control points (n, 3), of degree n - 1: from the first to the last as u goes over the domain.

    The points are parameters: curves with as many points share their machine code.

    >>> wire = lw.bezier_curve([(0, 0, 0), (1, 0, 0.5), (2, 0, 0.5), (3, 0, 0)])
    """
    P = _control("bezier_curve", points, 2)
    first, last = interval("bezier_curve: domain", domain)

    def x(u: Scalar, points: np.ndarray, first: Scalar, last: Scalar) -> Vector:
        return weighted(bernstein((u - first) / (last - first), len(P) - 1), points)

    return Curve(x, (first, last), {"points": P, "first": first, "last": last})


@explained
def bezier_surface(points: Any, domain: Any = ((0.0, 1.0), (0.0, 1.0))) -> ParametricSurface:
    """The Bezier surface of control points (m, n, 3): u_0 goes along the first index, u_1 along the second.

    >>> grid = np.stack([*np.meshgrid(np.arange(4.0), np.arange(4.0), indexing="ij"), np.zeros((4, 4))], axis=-1)
    >>> sheet = lw.bezier_surface(grid)
    """
    P = _control("bezier_surface", points, 3)
    D = np.array([interval("bezier_surface: domain", d) for d in listed("bezier_surface", "domain", domain, 2, "two intervals")])

    def x(u: Vector, points: np.ndarray, ends: np.ndarray) -> Vector:
        rows, columns = (bernstein((u[k] - ends[k, 0]) / (ends[k, 1] - ends[k, 0]), P.shape[k] - 1) for k in range(2))
        lines = np.array([weighted(columns, points[i]) for i in range(len(rows))], dtype=object)
        return weighted(rows, lines)

    return ParametricSurface(x, tuple(map(tuple, D)), {"points": P, "ends": D})


def _control(owner: str, points: Any, ndim: int) -> np.ndarray:
    try:
        P = reals(points)
    except (TypeError, ValueError):
        P = np.zeros(0)
    if P.ndim != ndim or P.shape[-1] != 3 or min(P.shape[:-1]) < 2:
        grid = "(n, 3)" if ndim == 2 else "(m, n, 3)"
        raise ModelError(
            f"{owner}: the control points must be numbers {grid}, two or more each way, not of shape {shape_of(points)}"
        )
    if not np.all(np.isfinite(P)):
        raise ModelError(f"{owner}: the control points must be finite")
    return P
