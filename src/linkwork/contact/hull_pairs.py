"""Small convex hulls on planes, boxes and each other: as boxes on boxes, with faces of any form.

The axis on which two hulls are farthest apart is the normal of a face, or across an edge of each. A face: the corners of the
polygon in which the faces that look at each other overlap. Two edges: their nearest points. Hulls apart whose nearest features
are corners, or a corner and an edge, have no such axis; these are looked for around the two faces.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..geometry import Box, Convex, Plane
from ..spatial.scalar import Scalar, Vector, absolute, array, cross, dot, norm, where
from ..spatial.se3 import SE3
from .point import ContactPoint, choose, direction, flag, larger, smaller
from .segments import nearest_parameters

MOST_VERTICES, MOST_FACES, MOST_DIRECTIONS = 16, 12, 6  # of hulls that are compiled
MOST_CORNERS = 64  # the same on a plane
PARALLEL = 1e-9  # sin^2 of the angle of two edges that span no axis
FAVOUR = 1e-6  # of the size: how much farther apart an axis has to be to be taken after an earlier one
PREFERENCE = 0.05  # of the depth: the same for edges of hulls that overlap
SLACK = 1e-7  # of the size: edges along a side that lie as little outside count as inside
ALONG = 1e-6  # of the size: how far an edge along a side goes across it at most
END = 1.0 - 1e-9  # share of an edge that is its end
STEEP = 0.1  # cosine of faces below which one is not seen from the other
NEARER = 1e-6  # of the distance: how much nearer corners have to be to count instead of faces
TOUCHING = 1e-9  # of the size: faces as near as this lie on one another, though their distance is rounding
FAR = 1e30


class Hull(NamedTuple):
    """What a hull is made of; see `Convex`."""

    vertices: Any
    normals: Any
    corners: Any
    directions: Any


def hull_of(shape: Convex | Box) -> Hull:
    """The parts of a hull, or of a box as one, in the axes of its body."""
    if isinstance(shape, Convex):
        return Hull(shape.vertices, shape.normals, shape.corners, shape.directions)
    p, edges = shape.p, shape.R * (0.5 * shape.size)
    at = {k: p + edges @ (2.0 * np.array(k) - 1.0) for k in np.ndindex(2, 2, 2)}
    normals, corners = [], []
    for axis in range(3):
        for out in (0, 1):
            ring = [(0, 0), (1, 0), (1, 1), (0, 1)] if out else [(0, 0), (0, 1), (1, 1), (1, 0)]
            keys = []
            for u, v in ring:
                key = [0, 0, 0]
                key[axis], key[(axis + 1) % 3], key[(axis + 2) % 3] = out, u, v
                keys.append(tuple(key))
            corners.append([at[k] for k in keys])
            normals.append(shape.R[:, axis] * (2.0 * out - 1.0))
    return Hull(array(list(at.values())), array(normals), array(corners), array([shape.R[:, k] for k in range(3)]))


def is_small(shape: Convex) -> bool:
    """Whether straight-line code for a hull is of sensible length."""
    if len(shape.vertices) > MOST_VERTICES:
        return False  # faces and edges of large hulls are not computed
    return len(shape.normals) <= MOST_FACES and len(shape.directions) <= MOST_DIRECTIONS


def has_few_corners(shape: Convex) -> bool:
    """The same of a hull on a plane, of which only corners touch."""
    return len(shape.vertices) <= MOST_CORNERS


def convex_plane(a: Convex, E_a: SE3, b: Plane, E_b: SE3) -> tuple[ContactPoint, ...]:
    """A slot for every corner."""
    point, n = E_b @ b.point, E_b.rotate(b.normal)
    slots = []
    for x in a.vertices:
        place = E_a @ x
        gap = dot(n, place - point)
        slots.append(ContactPoint(place - n * gap, n, gap, 1.0))
    return tuple(slots)


def hull_slots(a: Convex | Box, b: Convex | Box) -> int:
    """Two slots for every edge of a face, and one for every corner of the other."""
    return 3 * max(4 if isinstance(s, Box) else s.corners.shape[1] for s in (a, b))


def hull_hull(a: Convex | Box, E_a: SE3, b: Convex | Box, E_b: SE3) -> tuple[ContactPoint, ...]:
    """Slots with one normal: see `hull_slots`; edges, and the deepest corner where no polygon is found, use the first."""
    A, back = hull_of(a), (E_a.inverse() @ E_b).collapsed()
    B = Hull(*(_each(lambda x: back @ x, part) if k in (0, 2) else _each(back.rotate, part) for k, part in enumerate(hull_of(b))))
    size = norm(A.corners[0, 0] - A.corners[0, 1])
    gap, d, on_b = _widest_face(A, B, size)
    d_edge, gap_edge, edges, u, w = _widest_edges(A, B, gap, d, size)
    d, gap = choose(edges, d_edge, d), where(edges, gap_edge, gap)
    n_ref = d * where(on_b, -1.0, 1.0)  # out of the face that the other is seen from
    face_a, face_b = _facing(A, d), _facing(B, -d)
    points = _polygon(face_a, face_b, on_b, n_ref, size)
    least: Scalar = FAR
    for _, height, on in points:
        least = where((on > 0.5) & (height < least), height, least)
    low_a, low_b = _deepest(A.vertices, d), _deepest(B.vertices, -d)
    mid_edge, beyond = _edge_middle(A.vertices, B.vertices, d, u, w, low_a, low_b, size)
    corner = choose(on_b, low_a + d * (0.5 * gap), low_b - d * (0.5 * gap))
    x_near, y_near = _nearest_around(face_a[0], face_b[0])
    n_near, length = direction(x_near - y_near, -d)
    corners = (gap > TOUCHING * size) & (length * (1.0 + NEARER) < where(edges, where(beyond, FAR, gap), least))
    single = edges | corners | (least >= FAR)
    middle = choose(corners, (x_near + y_near) * 0.5, choose(edges, mid_edge, corner))
    gap_single = where(corners, length, gap)
    n = E_a.rotate(choose(corners, n_near, -d))
    slots = []
    for number, (x, height, on) in enumerate(points):
        if number == 0:
            x = choose(single, middle, x)
            height, on = where(single, gap_single, height), where(single, 1.0, on)
        else:
            on = where(single, 0.0, on)
        slots.append(ContactPoint(E_a @ x, n, height, on))
    return tuple(slots)


def _each(move: Any, x: Any) -> np.ndarray:
    """An array of points or vectors, each moved."""
    rows = np.asarray(x).reshape(-1, 3)
    return array([list(move(row)) for row in rows]).reshape(np.shape(x))


def _widest_face(A: Hull, B: Hull, size: Scalar) -> tuple[Scalar, Vector, Scalar]:
    """How far the hulls are apart along the best normal of a face, the direction from a to b, and whether the face is of b."""
    gap: Scalar = -FAR
    d, on_b = A.normals[0], np.bool_(False)
    for hull, other, out in ((A, B, 1.0), (B, A, -1.0)):
        for normal, corner in zip(hull.normals, hull.corners[:, 0], strict=True):
            level = dot(normal, corner)
            lowest: Scalar = FAR
            for x in other.vertices:
                lowest = smaller(lowest, dot(normal, x))
            better = lowest - level > gap + FAVOUR * size
            gap, d = where(better, lowest - level, gap), choose(better, normal * out, d)
            on_b = (better | on_b) if out < 0 else on_b
    return gap, d, on_b


def _widest_edges(A: Hull, B: Hull, gap: Scalar, d: Vector, size: Scalar) -> tuple[Vector, Scalar, Scalar, Vector, Vector]:
    """The same across edges, if that is farther: direction, distance, whether it is, and the edges of a and of b."""
    favour = FAVOUR * size + PREFERENCE * larger(-gap, 0.0)
    edges: Scalar = np.bool_(False)
    u, w = A.directions[0], B.directions[0]
    for p in A.directions:
        for q in B.directions:
            axis = cross(p, q)
            square = dot(axis, axis)
            fair = square > PARALLEL
            axis = axis / where(fair, square, 1.0) ** 0.5
            (low_a, high_a), (low_b, high_b) = (_extent(x, axis) for x in (A.vertices, B.vertices))
            ahead, behind = low_b - high_a, low_a - high_b
            apart = larger(ahead, behind)
            better = fair & (apart > gap + favour)
            d = choose(better, axis * where(ahead > behind, 1.0, -1.0), d)
            gap, favour, edges = where(better, apart, gap), where(better, FAVOUR * size, favour), better | edges
            u, w = choose(better, p, u), choose(better, q, w)
    return d, gap, edges, u, w


def _extent(x: Any, n: Vector) -> tuple[Scalar, Scalar]:
    low, high = FAR, -FAR
    for e in x:
        s = dot(n, e)
        low, high = smaller(low, s), larger(high, s)
    return low, high


def _facing(hull: Hull, d: Vector) -> tuple[list[Vector], Vector]:
    """Corners and normal of the face that looks most along d."""
    best, corners, normal = dot(hull.normals[0], d), list(hull.corners[0]), hull.normals[0]
    for n, ring in zip(hull.normals[1:], hull.corners[1:], strict=True):
        s = dot(n, d)
        better = s > best
        best, normal = where(better, s, best), choose(better, n, normal)
        corners = [choose(better, x, y) for x, y in zip(ring, corners, strict=True)]
    return corners, normal


def _deepest(vertices: Any, d: Vector) -> Vector:
    """The corner farthest along d."""
    best, found = dot(vertices[0], d), vertices[0]
    for x in vertices[1:]:
        s = dot(x, d)
        found, best = choose(s > best, x, found), larger(s, best)
    return found


def _polygon(
    face_a: tuple[list[Vector], Vector], face_b: tuple[list[Vector], Vector], on_b: Scalar, n: Vector, size: Scalar
) -> list[tuple[Vector, Scalar, Scalar]]:
    """Corners of the overlap of two faces seen along n, out of the first: a point midway, the gap, and whether it is there."""
    count = max(len(face_a[0]), len(face_b[0]))
    rings = [[*ring, *[ring[-1]] * (count - len(ring))] for ring, _ in (face_a, face_b)]
    face = [choose(on_b, y, x) for x, y in zip(*rings, strict=True)]
    other = [choose(on_b, x, y) for x, y in zip(*rings, strict=True)]
    slope = choose(on_b, face_a[1], face_b[1])
    sides = [_side(p, q, n) for p, q in zip(face, [*face[1:], face[0]], strict=True)]
    slack, across = SLACK * size, ALONG * size
    height = [dot(n, x - face[0]) for x in other]
    found = []
    for i in range(count):
        k = (i + 1) % count
        p, q = other[i], other[k]
        enter, leave = 0.0, 1.0
        for corner, inward in zip(face, sides, strict=True):
            at_p, at_q = dot(inward, p - corner), dot(inward, q - corner)
            fall = at_p - at_q
            level = absolute(fall) < across
            share = at_p / where(level, 1.0, fall)
            enter = where(level, where(at_p < -slack, 2.0, enter), where(fall < 0.0, larger(enter, share), enter))
            leave = where(level | (fall < 0.0), leave, smaller(leave, share))
        there = enter <= leave
        enter, leave = smaller(enter, 1.0), larger(leave, 0.0)
        on = flag(there & (enter < END)), flag(there & (leave < END) & (leave > enter))
        for s, k_on in zip((enter, leave), on, strict=True):
            gap = height[i] + (height[k] - height[i]) * s
            found.append((p + (q - p) * s - n * (0.5 * gap), gap, k_on))
    cosine = dot(slope, n)
    seen = cosine < -STEEP
    inner = [_side(p, q, -n) for p, q in zip(other, [*other[1:], other[0]], strict=True)]
    for k, x in enumerate(face):
        inside = seen
        for corner, inward in zip(other, inner, strict=True):
            none = dot(inward, inward) < 0.5
            inside = inside & (none | (dot(inward, x - corner) > 0.5 * slack))
        if k:
            d = x - face[k - 1]
            inside = inside & (dot(d, d) > slack * slack)  # a corner that stands again does not count
        gap = dot(slope, other[0] - x) / where(seen, cosine, -1.0)
        found.append((x + n * (0.5 * gap), gap, flag(inside)))
    return found


def _side(p: Vector, q: Vector, n: Vector) -> Vector:
    """The unit vector across an edge, to the left of it seen against n; zero where the edge has no length."""
    s = cross(n, q - p)
    square = dot(s, s)
    long = square > 1e-24
    return s * where(long, 1.0 / where(long, square, 1.0) ** 0.5, 0.0)


def _edge_middle(
    x: Any, y: Any, d: Vector, u: Vector, w: Vector, low_a: Vector, low_b: Vector, size: Scalar
) -> tuple[Vector, Scalar]:
    """Midway between the edges of a and b that reach farthest along d and against it, and whether that is at their ends."""
    near = FAVOUR * size
    (p, half_a), (q, half_b) = _edge(x, d, u, low_a, near), _edge(y, -d, w, low_b, near)
    s, t, beyond = nearest_parameters(p, u, half_a, q, w, half_b)
    return (p + u * s + q + w * t) * 0.5, beyond


def _nearest_around(face_a: list[Vector], face_b: list[Vector]) -> tuple[Vector, Vector]:
    """The nearest points of the edges of two faces."""
    least: Scalar = FAR
    x, y = face_a[0], face_b[0]
    for p, u, half_a in _segments(face_a):
        for q, w, half_b in _segments(face_b):
            s, t, _ = nearest_parameters(p, u, half_a, q, w, half_b)
            one, other = p + u * s, q + w * t
            square = dot(one - other, one - other)
            x, y = choose(square < least, one, x), choose(square < least, other, y)
            least = smaller(least, square)
    return x, y


def _segments(ring: list[Vector]) -> list[tuple[Vector, Vector, Scalar]]:
    """Middle, direction and half the length of every edge of a face."""
    found = []
    for p, q in zip(ring, [*ring[1:], ring[0]], strict=True):
        square = dot(q - p, q - p)
        long = square > 1e-24
        length = where(long, square, 1.0) ** 0.5
        found.append(((p + q) * 0.5, (q - p) / length, where(long, 0.5 * length, 0.0)))
    return found


def _edge(vertices: Any, d: Vector, u: Vector, top: Vector, near: Scalar) -> tuple[Vector, Scalar]:
    """The middle and half the length of the edge along u whose corners are farthest along d."""
    low, high = 0.0, 0.0
    for x in vertices:
        out = x - top
        s = dot(u, out)
        high_enough = dot(d, out) > -near
        low, high = where(high_enough & (s < low), s, low), where(high_enough & (s > high), s, high)
    return top + u * (0.5 * (low + high)), 0.5 * (high - low)
