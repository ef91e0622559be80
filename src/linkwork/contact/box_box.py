"""Boxes on boxes: the axis on which they are farthest apart says which features meet.

A face: the corners of the polygon where the faces overlap, each with its own gap. Two edges: their nearest points. Boxes apart
whose nearest features are corners, or a corner and an edge, have no such axis; then the features that the best axis stands on
are near enough to find them by projecting a point to both boxes in turns.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..geometry import Box
from ..spatial.scalar import Scalar, Vector, dot, numeric, stack, where
from ..spatial.se3 import SE3
from .box_axes import Axis, nth, widest_axis
from .box_faces import Face, overlap
from .point import ContactPoint, bounded, choose, direction, flag, side
from .segments import nearest_parameters

TURNS = 2  # projections to both boxes
NEARER = 1e-6  # of the distance: how much nearer corners have to be to count instead of faces
FAR = 1e30
TOUCHING = 1e-9  # of the boxes: faces as near as this lie on one another, though their distance is rounding


class Boxes(NamedTuple):
    """Two boxes in the axes of a: t the centre of b, R its axes as columns, half edges h and k."""

    t: Vector
    R: np.ndarray
    h: Vector
    k: Vector

    def on_a(self, x: Vector) -> Vector:
        """The point of a nearest to x."""
        return stack(*(bounded(e, half) for e, half in zip(x, self.h, strict=True)))

    def on_b(self, x: Vector) -> Vector:
        """The point of b nearest to x."""
        d = x - self.t
        return self.from_b(stack(*(bounded(dot(self.R[:, j], d), self.k[j]) for j in range(3))))

    def from_b(self, x: Vector) -> Vector:
        """A point given in the axes of b."""
        return self.t + turned(self.R, x)


def box_box(a: Box, E_a: SE3, b: Box, E_b: SE3) -> tuple[ContactPoint, ...]:
    """Twelve slots; see `box_faces.overlap`. Edges, and boxes that are apart at corners, use the first.

    Beside two edges, corners that are over a face keep their slots and the normal of that face: boxes that turn come down on it
    within a step, where the edges do not hold them.
    """
    A, B = E_a @ a.pose, E_b @ b.pose
    R_a, R_b = A.R, B.R
    boxes = Boxes(A.unrotate(B.p - A.p), R_a.T @ R_b, 0.5 * a.size, 0.5 * b.size)
    axis = widest_axis(*boxes)
    on_b, edges = axis.on_b > 0.5, axis.edges > 0.5
    polygon = overlap(_face(axis, boxes))
    least: Scalar = FAR
    for x in polygon:
        least = where((x.on > 0.5) & (x.gap < least), x.gap, least)

    n, x, y, apart = _features(axis, boxes)
    for _ in range(TURNS):
        y_near = boxes.on_b(x)
        x = boxes.on_a(y_near)
    n_near, length = direction(x - y_near, n)
    size = sum(boxes.h) + sum(boxes.k)
    corners = (axis.gap > TOUCHING * size) & (length * (1.0 + NEARER) < where(edges, apart, least))
    single = edges | corners | (least >= FAR)  # a polygon without corners: one point, the deepest
    middle = choose(corners, (x + y_near) * 0.5, y)
    gap_single = where(corners, length, axis.gap)
    n = turned(R_a, choose(corners, n_near, n))
    place_single = A.p + turned(R_a, middle)

    U, V, W, height = _face_axes(axis, R_a, R_b, boxes)
    n_face = W * where(on_b, 1.0, -1.0)
    origin = choose(on_b, B.p, A.p)
    beside = edges & ~corners
    slots = []
    for number, (u, v, gap, on) in enumerate(polygon):
        place, normal = origin + U * u + V * v + W * (height + 0.5 * gap), n_face
        if number == 0:
            place, gap, on = choose(single, place_single, place), where(single, gap_single, gap), where(single, 1.0, on)
            normal = choose(single, n, n_face)
        else:
            on = where(single & ~(beside & (gap > 0.0)), 0.0, on)
        slots.append(ContactPoint(place, normal, gap, on))
    return tuple(slots)


def _features(axis: Axis, boxes: Boxes) -> tuple[Vector, Vector, Vector, Scalar]:
    """Of the features that the axis stands on, in the axes of a: the normal from b to a, the point of a where to begin to look
    for the nearest one, the middle of the contact, and how far edges are apart; far if their nearest points are their ends.
    """
    t, R, h, k = boxes
    on_b, edges = axis.on_b > 0.5, axis.edges > 0.5
    is_i, is_j, is_face = ([_is(x, number) for number in range(3)] for x in (axis.i, axis.j, axis.face))
    out = nth(axis.face, [side(dot(R[:, j], t)) for j in range(3)])
    of_b = [nth(axis.face, R[r]) * -out for r in range(3)]
    of_a = [where(is_face[r], -side(t[r]), 0.0) for r in range(3)]
    n = choose(edges, axis.normal, choose(on_b, stack(*of_b), stack(*of_a)))
    # the corners that reach farthest towards the other box; of an edge, its middle
    x = stack(*(where(edges & is_i[r], 0.0, -side(n[r]) * h[r]) for r in range(3)))
    y = boxes.from_b(stack(*(where(edges & is_j[j], 0.0, side(dot(R[:, j], n)) * k[j]) for j in range(3))))
    u, w = stack(*(flag(e) for e in is_i)), stack(*(nth(axis.j, R[r]) for r in range(3)))
    half_a, half_b = nth(axis.i, h), nth(axis.j, k)
    s, z, beyond = nearest_parameters(x, u, half_a, y, w, half_b)
    x_edge, y_edge = x + u * s, y + w * z
    start = choose(edges, x_edge, choose(on_b, x, boxes.on_a(y)))
    corner = choose(on_b, x - n * (0.5 * axis.gap), y + n * (0.5 * axis.gap))
    return n, start, choose(edges, (x_edge + y_edge) * 0.5, corner), where(beyond, FAR, axis.gap)


def _face(axis: Axis, boxes: Boxes) -> Face:
    """The face that the axis stands on, with the other box as seen from it."""
    t, R, h, k = boxes
    on_b = axis.on_b > 0.5
    back = stack(*(-dot(R[:, j], t) for j in range(3)))
    M = choose(on_b, R.T.reshape(-1), R.reshape(-1)).reshape(3, 3)
    place, own = choose(on_b, back, t), choose(on_b, k, h)
    u, v, w = ([_shifted(axis.face, x, r) for x in (M[:, 0], M[:, 1], M[:, 2], place, own)] for r in (1, 2, 0))
    out = side(w[3])
    axes = numeric(np.array([u[:3], v[:3], [x * out for x in w[:3]]], dtype=object))
    return Face((u[4], v[4]), stack(u[3], v[3], w[3] * out - w[4]), axes, choose(on_b, h, k))


def _face_axes(axis: Axis, R_a: np.ndarray, R_b: np.ndarray, boxes: Boxes) -> tuple[Vector, Vector, Vector, Scalar]:
    """In the world: the two axes along the face, the one out of it, and its height over the centre of its box."""
    on_b = axis.on_b > 0.5
    world = choose(on_b, R_b.reshape(-1), R_a.reshape(-1)).reshape(3, 3)
    U, V, W = (stack(*(_shifted(axis.face, row, r) for row in world)) for r in (1, 2, 0))
    across = [dot(boxes.R[:, j], boxes.t) for j in range(3)]
    out = where(on_b, -side(nth(axis.face, across)), side(nth(axis.face, boxes.t)))
    return U, V, W * out, nth(axis.face, choose(on_b, boxes.k, boxes.h))


def _shifted(k: Scalar, x: Vector, r: int) -> Scalar:
    """x[(k + r) % 3]."""
    return nth(k, (x[r], x[(r + 1) % 3], x[(r + 2) % 3]))


def _is(k: Scalar, number: int) -> Scalar:
    return (k > number - 0.5) & (k < number + 0.5)


def turned(R: np.ndarray, x: Vector) -> Vector:
    """R x."""
    return stack(*(dot(R[r], x) for r in range(3)))
