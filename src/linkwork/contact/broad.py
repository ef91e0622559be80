"""The broad phase: which pairs are worth looking at, by balls and boxes that hold the shapes.

`near` is a condition on one pair, to be traced as the guard of its slots. Capsules, which are long, are told by their segments:
limbs that hang beside one another would all be near by their balls. Of many shapes, boxes that hold them (`world_box`) tell
which pairs are near, and balls as well (`geometry.sweep_and_prune`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..geometry import Capsule, Plane, Sphere
from ..spatial.scalar import Scalar, Vector, absolute, cross, dot, is_zero, maximum, zeros
from ..spatial.se3 import SE3
from .point import bounded
from .segments import nearest_parameters

ANY_SPEED = 1e30  # m/s


def near(a: Any, E_a: SE3, b: Any, E_b: SE3, margin: Scalar) -> Scalar:
    """Whether balls about two shapes, or capsules themselves, come nearer than the margin. Numbers or symbols.

    Never false where the shapes do.
    """
    if isinstance(a, Plane) and isinstance(b, Plane):
        return np.bool_(True)
    if isinstance(a, Plane):
        return near(b, E_b, a, E_a, margin)
    if isinstance(b, Capsule) and isinstance(a, Capsule | Sphere):
        d, most = _between_segments(a, E_a, b, E_b), a.radius + b.radius + margin
        return dot(d, d) <= most * most
    if isinstance(a, Capsule) and isinstance(b, Sphere):
        return near(b, E_b, a, E_a, margin)
    center, radius = a.bounding_sphere()
    x = E_a @ center
    if isinstance(b, Plane):
        return dot(E_b.rotate(b.normal), x - E_b @ b.point) <= radius + margin
    other, reach = b.bounding_sphere()
    d, most = x - E_b @ other, radius + reach + margin
    return dot(d, d) <= most * most


def _between_segments(a: Any, E_a: SE3, b: Any, E_b: SE3) -> Vector:
    """From the segment of b to that of a, or its centre, where they are nearest."""
    q, w, half_b = E_b @ b.p, E_b.rotate(b.R[:, 2]), 0.5 * b.length
    if isinstance(a, Sphere):
        d = E_a @ a.center - q
        return d - w * bounded(dot(w, d), half_b)
    p, u, half_a = E_a @ a.p, E_a.rotate(a.R[:, 2]), 0.5 * a.length
    s, t, _ = nearest_parameters(p, u, half_a, q, w, half_b)
    return p + u * s - (q + w * t)


def speed_bound(shape: Any, speeds: Vector, impacts: bool = True) -> Scalar:
    """No point of a shape is faster while its body has such speeds |v| and |w|, nor, with `impacts`, after one turned it about
    another of its points.

    |v(r)| + |w| |r| <= |v| + 2 |w| (|c| + R) for points r of the ball (c, R) about it, of which the sum of the sizes of its
    coordinates takes the place of |c|; |v(r)| itself is at most |v| + |w| (|c| + R). A plane that moves reaches everywhere.
    """
    v, w = speeds
    if is_zero(v) and is_zero(w):
        return 0.0
    if isinstance(shape, Plane):
        return ANY_SPEED
    center, radius = shape.bounding_sphere()
    return v + (2.0 if impacts else 1.0) * w * (absolute(center[0]) + absolute(center[1]) + absolute(center[2]) + radius)


def closing_bound(shapes: Sequence[Any], poses: Sequence[Any], twists: Sequence[Vector]) -> Scalar:
    """No gap of two shapes closes faster while their bodies have such twists: as their middles approach one another, and as they
    turn. Of a plane that stands still only the approach along its normal counts; one that moves reaches everywhere."""
    total: Scalar = 0.0
    way: Vector = zeros(3)
    for shape, E, phi, sign in zip(shapes, poses, twists, (1.0, -1.0), strict=True):
        if all(is_zero(x) for x in phi):
            continue
        if isinstance(shape, Plane):
            return ANY_SPEED
        w, (center, radius) = phi[:3], shape.bounding_sphere()
        way = way + sign * E.rotate(phi[3:] + cross(w, center))
        if not isinstance(shape, Sphere):  # which stays where it is as it turns; of a capsule only its segment turns
            total = total + np.sqrt(dot(w, w)) * (0.5 * shape.length if isinstance(shape, Capsule) else radius)
    for shape, E, sign in zip(shapes, poses, (1.0, -1.0), strict=True):
        if isinstance(shape, Plane):
            return total + maximum(sign * dot(E.rotate(shape.normal), way), 0.0)
    return total + np.sqrt(dot(way, way))


def world_box(shape: Any, E: SE3, margin: Scalar) -> tuple[Vector, Vector]:
    """Lowest and highest world coordinates of a shape with a margin around it. Numbers or symbols."""
    low, high = shape.moved(E).bounding_box()
    return low - margin, high + margin


def world_ball(shape: Any, E: SE3, margin: Scalar) -> tuple[Vector, Scalar]:
    """Centre in the world and radius of a ball that holds a shape with a margin around it. Numbers or symbols."""
    center, radius = shape.bounding_sphere()
    return E @ center, radius + margin
