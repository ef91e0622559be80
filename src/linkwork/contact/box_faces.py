"""A face of one box over a face of another: the corners of the polygon in which they overlap, seen along the normal of the first.

The second face is the one that looks most against the first; its four edges are cut by the four sides of the first, as [Liang and
Barsky 1984] do: every edge brings the point where it enters, and the point where it leaves if that is not its end. The corners
of the first face that lie inside the second are the rest: at most eight of twelve are there at once. The height of the second
face over the first is linear, level - lean . (u, v).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..spatial.scalar import Scalar, Vector, absolute, stack, where
from .box_axes import nth
from .point import flag, larger, side, smaller

SLACK = 1e-7  # of the face: edges along a side that lie as little outside count as inside
ALONG = 1e-6  # of the face: how far an edge along a side goes across it at most
END = 1.0 - 1e-9  # share of an edge that is its end; less outside than the slack, so that no corner is lost
THIN = 1e-12  # of the face: going across less is as much


class FacePoint(NamedTuple):
    """A corner of the polygon: coordinates along the first face, height of the second face over it, and whether it is there."""

    u: Scalar
    v: Scalar
    gap: Scalar
    on: Scalar


class Face(NamedTuple):
    """A face of a box, with the other box seen from it.

    h        half edges of the face along u and v
    place    centre of the other box: along u, v, and over the face along w
    axes     (3, 3): the axes of the other box as columns, along u, v, w
    other    half edges (3,) of the other box
    """

    h: tuple[Scalar, Scalar]
    place: Vector
    axes: np.ndarray
    other: Vector


def overlap(face: Face) -> list[FacePoint]:
    """Twelve slots: two for each edge of the face of the other box, then the four corners of the first face."""
    (hu, hv), M = face.h, face.axes
    down = [absolute(x) for x in M[2]]
    first, second = (down[0] >= down[1]) & (down[0] >= down[2]), down[1] >= down[2]
    k = where(first, 0.0, where(second, 1.0, 2.0))
    normal = [nth(k, M[r]) for r in range(3)]
    one = [nth(k, (M[r, 1], M[r, 2], M[r, 0])) for r in range(2)]  # along its edges
    two = [nth(k, (M[r, 2], M[r, 0], M[r, 1])) for r in range(2)]
    h = face.other
    depth, h1, h2 = nth(k, h), nth(k, (h[1], h[2], h[0])), nth(k, (h[2], h[0], h[1]))
    center = stack(*(face.place[r] - side(normal[2]) * depth * normal[r] for r in range(3)))
    lean = (normal[0] / normal[2], normal[1] / normal[2])  # the cosine of the faces is never small
    level = center[2] + lean[0] * center[0] + lean[1] * center[1]

    def point(u: Scalar, v: Scalar, on: Scalar) -> FacePoint:
        return FacePoint(u, v, level - lean[0] * u - lean[1] * v, on)

    slack = SLACK * smaller(hu, hv)
    e1, e2 = (one[0] * h1, one[1] * h1), (two[0] * h2, two[1] * h2)
    along = [_Slabs(e, (hu, hv), slack) for e in (e1, e2)]
    found: list[FacePoint] = []
    for s, t, which, way in ((1.0, 1.0, 0, -1.0), (-1.0, 1.0, 1, -1.0), (-1.0, -1.0, 0, 1.0), (1.0, -1.0, 1, 1.0)):
        start = (center[0] + s * e1[0] + t * e2[0], center[1] + s * e1[1] + t * e2[1])
        found += [point(*x) for x in along[which].clipped(start, way)]
    det = one[0] * two[1] - one[1] * two[0]  # that cosine, or minus it
    for s, t in ((1.0, 1.0), (-1.0, 1.0), (-1.0, -1.0), (1.0, -1.0)):
        u, v = hu * s, hv * t
        du, dv = u - center[0], v - center[1]
        a, b = (du * two[1] - dv * two[0]) / det, (dv * one[0] - du * one[1]) / det
        found.append(point(u, v, flag((absolute(a) < h1 - 0.5 * slack) & (absolute(b) < h2 - 0.5 * slack))))
    return found


class _Slabs:
    """Edges along +e or -e, 2 |e| long, cut by the sides of a rectangle with half edges h; a side that an edge runs along lets it
    lie a little outside."""

    def __init__(self, e: tuple[Scalar, Scalar], h: tuple[Scalar, Scalar], slack: Scalar) -> None:
        self.e = e
        self.wide = [where(absolute(x) < ALONG * half, half + slack, half) for x, half in zip(e, h, strict=True)]
        self.inverse = [0.5 / _apart(x, THIN * half) for x, half in zip(e, h, strict=True)]

    def clipped(self, start: tuple[Scalar, Scalar], way: float) -> list[tuple[Scalar, Scalar, Scalar]]:
        """Where the edge from this corner enters, and where it leaves before its end: u, v, and whether it does."""
        enter, leave = 0.0, 1.0
        for x, wide, inverse in zip(start, self.wide, self.inverse, strict=True):
            one, other = (wide - x) * (inverse * way), (-wide - x) * (inverse * way)
            enter, leave = larger(smaller(one, other), enter), smaller(larger(one, other), leave)
        there = enter <= leave
        enter, leave = smaller(enter, 1.0), larger(leave, 0.0)
        on = flag(there & (enter < END)), flag(there & (leave < END) & (leave > enter))
        return [(*self._at(start, way * share), k) for share, k in zip((enter, leave), on, strict=True)]

    def _at(self, start: tuple[Scalar, Scalar], share: Scalar) -> list[Scalar]:
        return [x + e * (2.0 * share) for x, e in zip(start, self.e, strict=True)]


def _apart(x: Scalar, least: Scalar) -> Scalar:
    return where((x > least) | (x < -least), x, where(x < 0.0, -least, least))
