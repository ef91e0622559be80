"""Which pairs of shapes are near, each held by a segment with a radius around it: of capsules themselves, of others a ball.

Of two segments c + s u, |s| <= half, the balls about their middles are looked at first, which hold all of them: two numbers are
compared. Where these meet, so may the segments, whose nearest points are found as in `contact.segments`.
"""

from __future__ import annotations

from ..kernel.loops import Lane, Table, any, loops, maximum, minimum, where

SINGULAR = 1e-12  # sin^2 of the angle of segments whose nearest points are looked for near the middle of where they overlap


@loops
def within(x: float, half: float) -> float:
    """The number nearest to x in [-half, half]."""
    return minimum(maximum(x, 0.0 - half), half)


@loops
def squared_distance(
    rx: float, ry: float, rz: float, ux: float, uy: float, uz: float, a: float, wx: float, wy: float, wz: float, b: float
) -> float:
    """Of segments of half lengths a and b along u and w, the first of which has its middle at r from that of the second."""
    c = ux * wx + uy * wy + uz * wz
    along_u = ux * rx + uy * ry + uz * rz
    along_w = wx * rx + wy * ry + wz * rz
    across = uy * wz - uz * wy
    square = across * across
    across = uz * wx - ux * wz
    square += across * across
    across = ux * wy - uy * wx
    square += across * across
    overlap = b * abs(c)
    middle = 0.5 * (within(0.0 - along_u - overlap, a) + within(overlap - along_u, a))
    s = within((c * along_w - along_u + SINGULAR * middle) / (square + SINGULAR), a)
    t = within(c * s + along_w, b)
    s = within(c * t - along_u, a)
    dx = rx + ux * s - wx * t
    dy = ry + uy * s - wy * t
    dz = rz + uz * s - wz * t
    return dx * dx + dy * dy + dz * dz


@loops
def find_near_segments(
    count: int,
    starts: Table,
    second: Table,
    number: Table,
    middle: Lane,
    axis: Lane,
    half: Lane,
    reach: Lane,
    near: Lane,
) -> None:
    """1 for pairs that come nearer than the sum of their reaches, else 0.

    starts, second, number   the partners of every shape, and which pairs they are (`sweep_and_prune.partners`)
    middle, axis, half       (3 count), (3 count), (count): of the segments, of which no axis is longer than 1
    reach                    (count): around them
    """
    for i in range(count):
        x = middle[3 * i]
        y = middle[3 * i + 1]
        z = middle[3 * i + 2]
        ux = axis[3 * i]
        uy = axis[3 * i + 1]
        uz = axis[3 * i + 2]
        a = half[i]
        own = reach[i]
        for k in range(starts[i], starts[i + 1]):
            j = second[k]
            rx = x - middle[3 * j]
            ry = y - middle[3 * j + 1]
            rz = z - middle[3 * j + 2]
            both = own + reach[j]
            b = half[j]
            most = both + a + b
            balls = rx * rx + ry * ry + rz * rz <= most * most
            near[number[k]] = 0.0
            if any(balls):
                wx = axis[3 * j]
                wy = axis[3 * j + 1]
                wz = axis[3 * j + 2]
                square = squared_distance(rx, ry, rz, ux, uy, uz, a, wx, wy, wz, b)
                near[number[k]] = where(balls & (square <= both * both), 1.0, 0.0)
