"""Balls and capsules on boxes, in the axes of the box.

The distance of a point x from a box with half edges h is |x - nearest|, nearest_k = bounded(x_k, h_k); inside it is minus that of
the nearest face, max_k (|x_k| - h_k). It is convex: along a segment it has one minimum, on a point or a piece.
"""

from __future__ import annotations

import numpy as np

from ..geometry import Box, Capsule, Sphere
from ..spatial.scalar import Scalar, Vector, absolute, dot, logical_not, stack, where
from ..spatial.se3 import SE3
from .point import NOTHING, ContactPoint, bounded, choose, flag, larger, side, smaller, square_root

ALONG = 1e-12  # slope of the distance, and share of a direction, that count as none
OPENING = 1e3  # how much wider a slab becomes than what lies outside of it
LEVEL = 1e-9  # of the radius: what is nearer by less is as near
SLACK = 1e-6  # of the radius: what lies as much beside a face still lies on it


def sphere_box(a: Sphere, E_a: SE3, b: Box, E_b: SE3) -> tuple[ContactPoint, ...]:
    """One slot; a ball whose centre is inside leaves through the nearest face."""
    E = E_b @ b.pose
    x = E.unrotate(E_a @ a.center - E.p)
    return (_ball(x, a.radius, *distance_to_box(x, 0.5 * b.size), E, 1.0),)


def capsule_box(a: Capsule, E_a: SE3, b: Box, E_b: SE3) -> tuple[ContactPoint, ...]:
    """Three slots: the ball of the capsule nearest to the box; and both ends of the part beside the nearest face or edge.

    The first is off where it is one of the ends, or no nearer than both: what lies along a face is carried by its ends. A capsule
    whose axis pierces the box leaves with all of them through one face, the one that the piece inside has the shortest way to; of
    two opposite ones between which it reaches, as through a plate, the one on whose side the middle of the capsule is.
    """
    E, h, half = E_b @ b.pose, 0.5 * b.size, 0.5 * a.length
    x, u = E.unrotate(E_a @ a.p - E.p), E.unrotate(E_a.rotate(a.R[:, 2]))
    low, high = nearest_on_segment(x, u, half, h)
    s = 0.5 * (low + high)
    first, last = beside(x, u, half, h, s, SLACK * a.radius)
    scale = SLACK * (half + a.radius)
    apart = last - first > scale
    alone = (s - first > scale) & (last - s > scale)
    middle = x + u * s
    toward = stack(*(where(absolute(e) <= SLACK * k, c, e) for e, c, k in zip(middle, x, h, strict=True)))
    depth, way = nearest_face(middle, h, absolute(u * (0.5 * (high - low))), toward)
    pierced = distance_to_box(middle, h)[0] <= 0.0
    slots = []
    for t in (s, first, last):
        place = x + u * t
        distance, n = distance_to_box(place, h)
        distance = where(pierced, depth + dot(way, place - middle), distance)
        slots.append(_ball(place, a.radius, distance, choose(pierced, way, n), E, flag(apart)))
    nearer = larger(slots[1].gap, slots[2].gap) - slots[0].gap > LEVEL * a.radius
    return slots[0]._replace(on=flag((alone & nearer) | logical_not(apart))), slots[1], slots[2]


def distance_to_box(x: Vector, h: Vector) -> tuple[Scalar, Vector]:
    """Distance of a point from a box, negative inside, and its gradient, a unit vector."""
    sides = [side(e) for e in x]
    outside = stack(*(where(e * k > half, e * k - half, 0.0) for e, k, half in zip(x, sides, h, strict=True)))
    square = dot(outside, outside)
    far = square > NOTHING
    length = square_root(square, far)
    depth, way = nearest_face(x, h, np.zeros(3), x)
    normal = stack(*(out / length * k for out, k in zip(outside, sides, strict=True)))
    return where(far, length, depth), choose(far, normal, way)


def nearest_face(x: Vector, h: Vector, handicap: Vector, toward: Vector) -> tuple[Scalar, Vector]:
    """How far a point lies beyond the nearest face, and the normal of that; every direction looks farther by its handicap. Of
    opposite faces those on the side of `toward` are looked at."""
    sides = [side(e) for e in toward]
    beyond = [e * k - half for e, k, half in zip(x, sides, h, strict=True)]
    seen = [e - more for e, more in zip(beyond, handicap, strict=True)]
    first, second = (seen[0] >= seen[1]) & (seen[0] >= seen[2]), seen[1] >= seen[2]
    normal = where(first, sides[0], 0.0), where(first, 0.0, where(second, sides[1], 0.0)), where(first | second, 0.0, sides[2])
    return where(first, beyond[0], where(second, beyond[1], beyond[2])), stack(*normal)


def nearest_on_segment(x: Vector, u: Vector, half: Scalar, h: Vector) -> tuple[Scalar, Scalar]:
    """The first and the last s in [-half, half] where x + s u is nearest to the box.

    Half the slope of the square of the distance, f(s) = sum_k u_k (x_k - nearest_k), grows, and is linear between the places
    where the line crosses the planes of the faces. The first and the last zero lie on the pieces where f leaves the negative
    numbers and enters the positive ones.
    """

    def slope(s: Scalar) -> Scalar:
        total: Scalar = 0.0
        for k in range(3):
            e = x[k] + s * u[k]
            total = total + u[k] * (e - bounded(e, h[k]))
        return where((total < level) & (total > -level), 0.0, total)

    level = ALONG * (half + h[0] + h[1] + h[2])
    breaks = [-half, half]
    for k in range(3):
        away = 1.0 / apart_from_zero(u[k])
        breaks += [bounded((h[k] - x[k]) * away, half), bounded((-h[k] - x[k]) * away, half)]
    slopes = [slope(s) for s in breaks]
    falling, level_first, level_last, rising = (-half, 0.0), (half, 0.0), (-half, 0.0), (half, 0.0)
    for s, f in zip(breaks, slopes, strict=True):
        falling = _pair((f < 0.0) & (s >= falling[0]), (s, f), falling)
        level_first = _pair((f >= 0.0) & (s <= level_first[0]), (s, f), level_first)
        level_last = _pair((f <= 0.0) & (s >= level_last[0]), (s, f), level_last)
        rising = _pair((f > 0.0) & (s <= rising[0]), (s, f), rising)
    return _zero(falling, level_first), _zero(level_last, rising)


def beside(x: Vector, u: Vector, half: Scalar, h: Vector, s: Scalar, slack: Scalar) -> tuple[Scalar, Scalar]:
    """First and last s of the part of a segment that lies beside the face, edge or corner nearest to it.

    Those points lie between the planes of opposite faces, of all but the directions in which the nearest point itself lies
    outside: these planes move out of the way as it does.
    """
    first, last = -half, half
    for k in range(3):
        e = x[k] + s * u[k]
        out = absolute(e) - h[k]
        bound = h[k] + slack + OPENING * where(out > 0.0, out, 0.0)
        turned = (u[k] > ALONG) | (u[k] < -ALONG)
        away = 1.0 / apart_from_zero(u[k])
        one, other = (bound - x[k]) * away, (-bound - x[k]) * away
        first = larger(first, where(turned, smaller(one, other), -half))
        last = smaller(last, where(turned, larger(one, other), half))
    return bounded(first, half), bounded(last, half)


def apart_from_zero(x: Scalar) -> Scalar:
    """The number, or a small one of the same sign where it is smaller."""
    return where((x > ALONG) | (x < -ALONG), x, where(x < 0.0, -ALONG, ALONG))


def _pair(condition: Scalar, a: tuple[Scalar, Scalar], b: tuple[Scalar, Scalar]) -> tuple[Scalar, Scalar]:
    return where(condition, a[0], b[0]), where(condition, a[1], b[1])


def _zero(low: tuple[Scalar, Scalar], high: tuple[Scalar, Scalar]) -> Scalar:
    """Where a line through two points crosses zero; the low one where it is level."""
    rise = high[1] - low[1]
    return low[0] - (high[0] - low[0]) * low[1] / where(rise > 0.0, rise, 1.0)


def _ball(x: Vector, radius: Scalar, distance: Scalar, n: Vector, E: SE3, on: Scalar) -> ContactPoint:
    """A ball about x whose centre has this distance from a box, along n, all in the axes E of the box."""
    gap = distance - radius
    return ContactPoint(E @ (x - n * (radius + 0.5 * gap)), E.rotate(n), gap, on)
