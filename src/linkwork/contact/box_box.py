"""Boxes on boxes: the axis on which they are farthest apart says which features meet.

A face: the corners of the polygon where the faces overlap, each with its own gap. Two edges: their nearest points. Boxes apart
whose nearest features are corners, or a corner and an edge, have no such axis: their nearest points are found by projecting
a point to both boxes in turns, which ends after few turns as corners stay where they are.
"""

from __future__ import annotations

import numpy as np

from ..geometry import Box
from ..spatial.scalar import Scalar, Vector, absolute, dot, numeric, stack, where
from ..spatial.se3 import SE3
from .box_axes import Axis, edge_points, nth, widest_axis
from .box_faces import Face, overlap
from .point import ContactPoint, bounded, choose, direction, flag, side

TURNS = 6  # projections to both boxes
NEARER = 1e-6  # of the distance: how much nearer corners have to be to count instead of faces
FAR = 1e30


def box_box(a: Box, E_a: SE3, b: Box, E_b: SE3) -> tuple[ContactPoint, ...]:
    """Twelve slots with one normal; see `box_faces.overlap`. Edges, and boxes that are apart at corners, use the first."""
    A, B = E_a @ a.pose, E_b @ b.pose
    h, k = 0.5 * a.size, 0.5 * b.size
    R_a, R_b = A.R, B.R
    R, t = R_a.T @ R_b, A.unrotate(B.p - A.p)
    axis = widest_axis(t, R, h, k)
    on_b = axis.on_b > 0.5
    U, V, W, h_w, face = _frame(axis, R_a, R_b, R, t, h, k)
    origin = choose(on_b, B.p, A.p)
    points = overlap(face)

    least: Scalar = FAR
    for x in points:
        least = where((x.on > 0.5) & (x.gap < least), x.gap, least)
    edges = axis.edges > 0.5
    x_e, y_e, apart_e = _edges(axis, t, R, h, k)
    x_n, y_n = _nearest(t, R, h, k)
    n_n, length = direction(x_n - y_n, axis.normal)
    reached = where(edges, apart_e, least)
    corners = (axis.gap > 0.0) & (length * (1.0 + NEARER) < reached)
    lonely = (least >= FAR) & (axis.gap <= 0.0)
    single = edges | corners

    n_face = W * where(on_b, 1.0, -1.0)
    n_single = choose(corners, n_n, axis.normal)
    n = choose(single, stack(*(dot(R_a[r], n_single) for r in range(3))), n_face)
    middle = choose(corners, x_n + y_n, x_e + y_e) * 0.5
    one = stack(*(dot(R_a[r], middle) for r in range(3))) + A.p
    one_gap = where(corners, length, axis.gap)
    corner = _lowest(face)
    slots = []
    for number, x in enumerate(points):
        u, v, gap, on = x
        if number == 0:
            u, v = where(lonely, corner[0], u), where(lonely, corner[1], v)
            gap, on = where(lonely, axis.gap, gap), where(lonely, 1.0, on)
        place = origin + U * u + V * v + W * (h_w + 0.5 * gap)
        if number == 0:
            place, gap, on = choose(single, one, place), where(single, one_gap, gap), where(single, 1.0, on)
        else:
            on = where(single, 0.0, on)
        slots.append(ContactPoint(place, n, gap, on))
    return tuple(slots)


def _frame(
    axis: Axis, R_a: np.ndarray, R_b: np.ndarray, R: np.ndarray, t: Vector, h: Vector, k: Vector
) -> tuple[Vector, Vector, Vector, Scalar, Face]:
    """The face that the axis stands on: its axes u, v, outward w in the world, its height, and what is seen from it."""
    on_b = axis.on_b > 0.5
    back = stack(*(-dot(R[:, j], t) for j in range(3)))
    M = _chosen(on_b, R.T, R)
    place, own, other = choose(on_b, back, t), choose(on_b, k, h), choose(on_b, h, k)
    world = _chosen(on_b, R_b, R_a)
    rows = [
        [nth(axis.face, (x[r], x[(r + 1) % 3], x[(r + 2) % 3])) for x in (M[:, 0], M[:, 1], M[:, 2], place, own, *world)]
        for r in (1, 2, 0)
    ]
    out = side(rows[2][3])
    w = [x * out for x in rows[2]]
    h_u, h_v, h_w = rows[0][4], rows[1][4], rows[2][4]
    axes = numeric(np.array([rows[0][:3], rows[1][:3], w[:3]], dtype=object))
    seen = Face((h_u, h_v), stack(rows[0][3], rows[1][3], w[3] - h_w), axes, other)
    return stack(*rows[0][5:]), stack(*rows[1][5:]), stack(*w[5:]), h_w, seen


def _lowest(face: Face) -> tuple[Scalar, Scalar]:
    """Where the deepest corner of the other box lies over the face, moved onto it."""
    ends = stack(*(-side(face.axes[2, j]) * face.other[j] for j in range(3)))
    u, v = (face.place[r] + dot(face.axes[r], ends) for r in (0, 1))
    return bounded(u, face.h[0]), bounded(v, face.h[1])


def _edges(axis: Axis, t: Vector, R: np.ndarray, h: Vector, k: Vector) -> tuple[Vector, Vector, Scalar]:
    """In the axes of a: the nearest points of the two edges, and how far they are apart; far if that is beyond their ends."""
    p, q = edge_points(axis, t, R, h, k)
    u = stack(*(flag((axis.i > i - 0.5) & (axis.i < i + 0.5)) for i in range(3)))
    w = stack(*(nth(axis.j, R[r]) for r in range(3)))
    half_a, half_b = nth(axis.i, h), nth(axis.j, k)
    r, c = p - q, dot(u, w)
    along_u, along_w = dot(u, r), dot(w, r)
    square = 1.0 - c * c
    s = (c * along_w - along_u) / where(square > 1e-9, square, 1.0)
    z = c * s + along_w
    beyond = (absolute(s) > half_a) | (absolute(z) > half_b)
    s, z = bounded(s, half_a), bounded(z, half_b)
    return p + u * s, q + w * z, where(beyond, FAR, axis.gap)


def _nearest(t: Vector, R: np.ndarray, h: Vector, k: Vector) -> tuple[Vector, Vector]:
    """In the axes of a: points of a and b that are nearest to each other, where these are corners, or a corner and an edge."""
    x = stack(*(bounded(e, half) for e, half in zip(t, h, strict=True)))
    y = x
    for _ in range(TURNS):
        d = x - t
        local = stack(*(bounded(dot(R[:, j], d), k[j]) for j in range(3)))
        y = t + stack(*(dot(R[i], local) for i in range(3)))
        x = stack(*(bounded(e, half) for e, half in zip(y, h, strict=True)))
    return x, y


def _chosen(condition: Scalar, A: np.ndarray, B: np.ndarray) -> np.ndarray:
    flat = choose(condition, A.reshape(-1), B.reshape(-1))
    return flat.reshape(3, 3)
