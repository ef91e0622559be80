"""Balls and capsules on boxes, in the axes of the box.

The distance of a point x from a box with half edges h is |x - nearest|, nearest_k = bounded(x_k, h_k); inside it is minus that of
the nearest face, max_k (|x_k| - h_k). It is convex: along a segment it has one minimum, on a point or a piece.
"""

from __future__ import annotations

from ..geometry import Box, Capsule, Sphere
from ..spatial.scalar import Scalar, Vector, absolute, dot, stack, where
from ..spatial.se3 import SE3
from .point import NOTHING, ContactPoint, bounded, flag, larger, side, smaller, square_root

ALONG = 1e-12  # slope of the distance, and share of a direction, that count as none
OPENING = 1e3  # how much wider a slab becomes than what lies outside of it
SLACK = 1e-6  # of the radius: what lies as much beside a face still lies on it


def sphere_box(a: Sphere, E_a: SE3, b: Box, E_b: SE3) -> tuple[ContactPoint, ...]:
    """One slot; a ball whose centre is inside leaves through the nearest face."""
    E = E_b @ b.pose
    return (_ball(E.unrotate(E_a @ a.center - E.p), a.radius, 0.5 * b.size, E),)


def capsule_box(a: Capsule, E_a: SE3, b: Box, E_b: SE3) -> tuple[ContactPoint, ...]:
    """Three slots: the ball of the capsule nearest to the box; and both ends of the part beside the nearest face or edge.

    The first is off where it is one of the ends. An axis that pierces the box counts by the balls at the middle and the ends of
    the piece inside.
    """
    E, h, half = E_b @ b.pose, 0.5 * b.size, 0.5 * a.length
    x, u = E.unrotate(E_a @ a.p - E.p), E.unrotate(E_a.rotate(a.R[:, 2]))
    s = nearest_on_segment(x, u, half, h)
    first, last = beside(x, u, half, h, s, SLACK * a.radius)
    scale = SLACK * (half + a.radius)
    apart = last - first > scale
    alone = (s - first > scale) & (last - s > scale)
    on = (flag(alone | (last - first <= scale)), flag(apart), flag(apart))
    places = (s, first, last)
    return tuple(_ball(x + u * t, a.radius, h, E)._replace(on=k) for t, k in zip(places, on, strict=True))


def distance_to_box(x: Vector, h: Vector) -> tuple[Scalar, Vector]:
    """Distance of a point from a box, negative inside, and its gradient, a unit vector."""
    sides = [side(e) for e in x]
    beyond = [e * k - half for e, k, half in zip(x, sides, h, strict=True)]
    outside = [where(e > 0.0, e, 0.0) for e in beyond]
    square = dot(stack(*outside), stack(*outside))
    far = square > NOTHING
    length = square_root(square, far)
    first, second = (beyond[0] >= beyond[1]) & (beyond[0] >= beyond[2]), beyond[1] >= beyond[2]
    face = (flag(first), where(first, 0.0, flag(second)), where(first, 0.0, where(second, 0.0, 1.0)))
    depth = where(first, beyond[0], where(second, beyond[1], beyond[2]))
    normal = (where(far, out / length, f) * k for out, f, k in zip(outside, face, sides, strict=True))
    return where(far, length, depth), stack(*normal)


def nearest_on_segment(x: Vector, u: Vector, half: Scalar, h: Vector) -> Scalar:
    """The s in [-half, half] where x + s u is nearest to the box, the middle of all such.

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
    return 0.5 * (_zero(falling, level_first) + _zero(level_last, rising))


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


def _ball(x: Vector, radius: Scalar, h: Vector, E: SE3) -> ContactPoint:
    """A ball about x on a box, both in the axes E of the box."""
    distance, n = distance_to_box(x, h)
    gap = distance - radius
    return ContactPoint(E @ (x - n * (radius + 0.5 * gap)), E.rotate(n), gap, 1.0)
