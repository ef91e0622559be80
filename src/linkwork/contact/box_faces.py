"""A face of one box over a face of another: the corners of the polygon in which they overlap, seen along the normal of the first.

The second face is the one that looks most against the first; its four edges are cut by the four sides of the first, as [Liang and
Barsky 1984] do: every edge brings the point where it enters, and the point where it leaves if that is not its end. The corners
of the first face that lie inside the second are the rest: at most eight of twelve are there at once.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..spatial.scalar import Scalar, Vector, absolute, stack, where
from .box_axes import nth
from .point import flag, larger, side, smaller

SLACK = 1e-6  # of the face: corners that lie as little outside count as inside
THIN = 1e-12  # of the face: an edge that runs along a side


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
    one = [nth(k, (M[r, 1], M[r, 2], M[r, 0])) for r in range(3)]  # unit vectors along its edges
    two = [nth(k, (M[r, 2], M[r, 0], M[r, 1])) for r in range(3)]
    h = face.other
    depth, h1, h2 = nth(k, h), nth(k, (h[1], h[2], h[0])), nth(k, (h[2], h[0], h[1]))
    center = stack(*(face.place[r] - side(normal[2]) * depth * normal[r] for r in range(3)))
    slack = SLACK * smaller(hu, hv)
    e1, e2 = stack(*(x * h1 for x in one)), stack(*(x * h2 for x in two))
    along = [_Slabs(e1, hu + slack, hv + slack), _Slabs(e2, hu + slack, hv + slack)]
    found: list[FacePoint] = []
    for start, which, way in ((e1 + e2, 0, -1.0), (e2 - e1, 1, -1.0), (-e1 - e2, 0, 1.0), (e1 - e2, 1, 1.0)):
        found += along[which].clipped(center + start, way)
    det = one[0] * two[1] - one[1] * two[0]  # the cosine of the faces, never small
    for su, sv in ((1.0, 1.0), (-1.0, 1.0), (-1.0, -1.0), (1.0, -1.0)):
        du, dv = hu * su - center[0], hv * sv - center[1]
        a, b = (du * two[1] - dv * two[0]) / det, (dv * one[0] - du * one[1]) / det
        inside = (absolute(a) < h1 - 0.5 * slack) & (absolute(b) < h2 - 0.5 * slack)
        found.append(FacePoint(hu * su, hv * sv, center[2] + a * one[2] + b * two[2], flag(inside)))
    return found


class _Slabs:
    """Edges along +e or -e, 2 |e| long, cut by |u| <= hu and |v| <= hv."""

    def __init__(self, e: Vector, hu: Scalar, hv: Scalar) -> None:
        self.e, self.bounds = e, (hu, hv)
        self.inverse = [0.5 / _apart(x, THIN * h) for x, h in zip(e[:2], self.bounds, strict=True)]

    def clipped(self, start: Vector, way: float) -> tuple[FacePoint, FacePoint]:
        """Where the edge from this corner enters, and where it leaves before its end."""
        enter, leave = 0.0, 1.0
        for x, h, inverse in zip(start[:2], self.bounds, self.inverse, strict=True):
            one, other = (h - x) * (inverse * way), (-h - x) * (inverse * way)
            enter, leave = larger(smaller(one, other), enter), smaller(larger(one, other), leave)
        there = enter <= leave
        enter, leave = smaller(enter, 1.0), larger(leave, 0.0)
        last = there & (leave < 1.0) & (leave > enter)
        return self._point(start, way * enter, flag(there & (enter < 1.0))), self._point(start, way * leave, flag(last))

    def _point(self, start: Vector, share: Scalar, on: Scalar) -> FacePoint:
        u, v, w = start + self.e * (2.0 * share)
        return FacePoint(u, v, w, on)


def _apart(x: Scalar, least: Scalar) -> Scalar:
    return where((x > least) | (x < -least), x, where(x < 0.0, -least, least))
