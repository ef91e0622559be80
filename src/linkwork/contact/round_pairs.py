"""Balls and capsules: a capsule is all points within its radius of a segment, so distances are those of points and segments."""

from __future__ import annotations

import numpy as np

from ..geometry import Capsule, Sphere
from ..spatial.scalar import Scalar, Vector, cross, dot
from ..spatial.se3 import SE3
from .point import ContactPoint, bounded, direction, flag
from .segments import nearest_parameters, overlap_on_first

PARALLEL = 0.03  # sin^2 of the angle below which segments lie along each other: ten degrees
Z = np.array([0.0, 0.0, 1.0])


def sphere_sphere(a: Sphere, E_a: SE3, b: Sphere, E_b: SE3) -> tuple[ContactPoint, ...]:
    """One slot. The normal of concentric balls is the z axis of b."""
    center = E_b @ b.center
    return (between(E_a @ a.center, a.radius, center, b.radius, E_b.rotate(Z)),)


def sphere_capsule(a: Sphere, E_a: SE3, b: Capsule, E_b: SE3) -> tuple[ContactPoint, ...]:
    """One slot: the ball and the point of the segment nearest to its centre."""
    x, p, u = E_a @ a.center, E_b @ b.p, E_b.rotate(b.R[:, 2])
    s = bounded(dot(u, x - p), 0.5 * b.length)
    return (between(x, a.radius, p + u * s, b.radius, E_b.rotate(b.R[:, 0])),)


def capsule_capsule(a: Capsule, E_a: SE3, b: Capsule, E_b: SE3) -> tuple[ContactPoint, ...]:
    """Three slots: the nearest points; and of capsules along each other, both ends of the part of a that lies beside b."""
    p, u, half_a = E_a @ a.p, E_a.rotate(a.R[:, 2]), 0.5 * a.length
    q, w, half_b = E_b @ b.p, E_b.rotate(b.R[:, 2]), 0.5 * b.length
    across = E_b.rotate(b.R[:, 0])

    def at(s: Scalar, t: Scalar, on: Scalar) -> ContactPoint:
        return between(p + u * s, a.radius, q + w * t, b.radius, across)._replace(on=on)

    s, t, _ = nearest_parameters(p, u, half_a, q, w, half_b)
    r, c, sin = p - q, dot(u, w), cross(u, w)
    first, last = overlap_on_first(dot(u, r), c, half_a, half_b)
    beside = flag((dot(sin, sin) < PARALLEL) & (first < last))
    return at(s, t, 1.0), *(at(x, bounded(c * x + dot(w, r), half_b), beside) for x in (first, last))


def between(x: Vector, radius_a: Scalar, y: Vector, radius_b: Scalar, otherwise: Vector) -> ContactPoint:
    """Two balls about x and y; the normal is given for those that are concentric."""
    n, length = direction(x - y, otherwise)
    gap = length - (radius_a + radius_b)
    return ContactPoint(y + n * (radius_b + 0.5 * gap), n, gap, 1.0)
