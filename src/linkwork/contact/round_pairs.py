"""Balls and capsules: a capsule is all points within its radius of a segment, so distances are those of points and segments."""

from __future__ import annotations

import numpy as np

from ..geometry import Capsule, Sphere
from ..spatial.scalar import Scalar, Vector, absolute, cross, dot
from ..spatial.se3 import SE3
from .point import ContactPoint, bounded, direction, flag

SINGULAR = 1e-12  # sin^2 of the angle of two segments whose nearest points are looked for near the middle of where they overlap
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
    beside = E_b.rotate(b.R[:, 0])
    r, c = p - q, dot(u, w)
    along_u, along_w = dot(u, r), dot(w, r)
    sin = cross(u, w)
    square = dot(sin, sin)
    reach = half_b * absolute(c)
    first, last = bounded(-along_u - reach, half_a), bounded(reach - along_u, half_a)

    def at(s: Scalar, t: Scalar, on: Scalar) -> ContactPoint:
        touch = between(p + u * s, a.radius, q + w * t, b.radius, beside)
        return touch._replace(on=on)

    middle = 0.5 * (first + last)
    s = bounded((c * along_w - along_u + SINGULAR * middle) / (square + SINGULAR), half_a)
    t = bounded(c * s + along_w, half_b)
    s = bounded(c * t - along_u, half_a)  # moves only where t met its bound
    long = flag((square < PARALLEL) & (first < last))
    ends = [at(x, bounded(c * x + along_w, half_b), long) for x in (first, last)]
    return at(s, t, 1.0), *ends


def between(x: Vector, radius_a: Scalar, y: Vector, radius_b: Scalar, otherwise: Vector) -> ContactPoint:
    """Two balls about x and y; the normal is given for those that are concentric."""
    n, length = direction(x - y, otherwise)
    gap = length - (radius_a + radius_b)
    return ContactPoint(y + n * (radius_b + 0.5 * gap), n, gap, 1.0)
