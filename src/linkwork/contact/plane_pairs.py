"""Solids on a half-space: exact, as the height over a plane is linear. Shape b is the plane in all of them.

gap = n . (x - point),   x the lowest points of the solid

Where shapes that may touch at several points do so is said on the plane. So the tangents of all points of a body see its motion
along the plane and its turn about the normal alone, whatever their gaps are: they may all stick while some of its points still
fall. Half way up, points of different heights would ask for motions along the plane that no rigid body has, by
(g_1 - g_2)^2 / (2 h length). What has one lowest point touches there: in the step in which it lands, its lever arm is what it
will be on the plane.
"""

from __future__ import annotations

import numpy as np

from ..geometry import Box, Capsule, Cylinder, Ellipsoid, Plane, Sphere
from ..spatial.scalar import Scalar, Vector, dot
from ..spatial.se3 import SE3
from .point import ContactPoint, flag, square_root

SIGNS = [(x, y, z) for z in (-1.0, 1.0) for y in (-1.0, 1.0) for x in (-1.0, 1.0)]
TURN = 1e-9  # sine of the angle by which a cap has to be tilted for a lowest point
RIM = tuple((float(np.cos(k * np.pi / 3)), float(np.sin(k * np.pi / 3))) for k in range(6))  # of radius 1: points of a cap


def sphere_plane(a: Sphere, E_a: SE3, b: Plane, E_b: SE3) -> tuple[ContactPoint, ...]:
    """One slot: the lowest point."""
    point, n = _plane(b, E_b)
    lowest = E_a @ a.center - n * a.radius
    return (ContactPoint(lowest, n, dot(n, lowest - point), 1.0),)


def capsule_plane(a: Capsule, E_a: SE3, b: Plane, E_b: SE3) -> tuple[ContactPoint, ...]:
    """Two slots: the lowest points of the balls at both ends."""
    center, half = E_a @ a.p, E_a.rotate(a.R[:, 2]) * (0.5 * a.length)
    plane = _plane(b, E_b)
    return _ball(center - half, a.radius, *plane), _ball(center + half, a.radius, *plane)


def box_plane(a: Box, E_a: SE3, b: Plane, E_b: SE3) -> tuple[ContactPoint, ...]:
    """Eight slots: the corners, x first, then y, then z from minus to plus."""
    E = E_a @ a.pose
    point, n = _plane(b, E_b)
    edges = E.R * (0.5 * a.size)  # columns: half edges
    height, rise = dot(n, E.p - point), [dot(n, edges[:, k]) for k in range(3)]
    slots = []
    for x, y, z in SIGNS:
        corner = E.p + edges[:, 0] * x + edges[:, 1] * y + edges[:, 2] * z
        slots.append(_touch(corner, height + rise[0] * x + rise[1] * y + rise[2] * z, n))
    return tuple(slots)


def cylinder_plane(a: Cylinder, E_a: SE3, b: Plane, E_b: SE3) -> tuple[ContactPoint, ...]:
    """Fourteen slots, seven on the rim of each cap: six that move with it, and its lowest point.

    On a cap that lies flat, whose rim has no lowest point, the last one is off: a rigid cap is carried by its rim alone.
    """
    E = E_a @ a.pose
    point, n = _plane(b, E_b)
    x, y, z = (E.R[:, k] for k in range(3))
    across, aside = dot(n, x), dot(n, y)
    square = across * across + aside * aside
    is_tilted = square > TURN * TURN
    tilt = square_root(square, is_tilted)
    around = (*((u, v, 1.0) for u, v in RIM), (-across / tilt, -aside / tilt, flag(is_tilted)))
    slots = []
    for end in (-0.5, 0.5):
        middle = E.p + z * (end * a.length)
        for u, v, on in around:
            place = middle + (x * u + y * v) * a.radius
            slots.append(_touch(place, dot(n, place - point), n)._replace(on=on))
    return tuple(slots)


def ellipsoid_plane(a: Ellipsoid, E_a: SE3, b: Plane, E_b: SE3) -> tuple[ContactPoint, ...]:
    """One slot: the lowest point, c - A n / sqrt(n . A n) with A = R diag(radii^2) R^T."""
    E = E_a @ a.pose
    point, n = _plane(b, E_b)
    m = E.unrotate(n) * a.radii
    down = E.rotate(m * a.radii / np.sqrt(dot(m, m)))
    lowest = E.p - down
    return (ContactPoint(lowest, n, dot(n, lowest - point), 1.0),)


def _plane(b: Plane, E_b: SE3) -> tuple[Vector, Vector]:
    """A point of the plane and its normal, in the world."""
    return E_b @ b.point, E_b.rotate(b.normal)


def _ball(center: Vector, radius: Scalar, point: Vector, n: Vector) -> ContactPoint:
    """The lowest point of the ball at an end, on the plane."""
    gap = dot(n, center - point) - radius
    return ContactPoint(center - n * (radius + gap), n, gap, 1.0)


def _touch(x: Vector, gap: Scalar, n: Vector) -> ContactPoint:
    """A point of the surface at a height over the plane, on it."""
    return ContactPoint(x - n * gap, n, gap, 1.0)
