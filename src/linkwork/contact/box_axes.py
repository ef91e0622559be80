"""The axis along which two boxes are farthest apart, or overlap least: of 15, the faces of both and the products of their edges.

In the axes of a: t the centre of b, R its axes as columns, half edges h and k. Along a unit vector n the boxes are apart by

    |n . t| - sum_i h_i |n_i| - sum_j k_j |(R^T n)_j|,

and the largest of these is the distance wherever the nearest features are a corner and a face, or two edges.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..spatial.scalar import Scalar, Vector, absolute, dot, stack, where
from .point import larger, smaller

PARALLEL = 1e-6  # sin^2 of the angle of two edges that span no axis
FAVOUR = 1e-6  # of the smallest half edge: how much farther apart an axis has to be to be taken after an earlier one
PREFERENCE = 0.05  # of the depth: the same for edges of boxes that overlap, as a face holds better
ORDER = ((0, 1, 2), (1, 2, 0), (2, 0, 1))


class Axis(NamedTuple):
    """What the boxes are separated along.

    gap       distance along it
    on_b      1 where it is a face of b
    face      which axis of that box, 0, 1, 2
    edges     1 where it is the product of edge i of a and edge j of b instead
    i, j      these edges
    normal    of the edges: unit, from b to a, in the axes of a
    """

    gap: Scalar
    on_b: Scalar
    face: Scalar
    edges: Scalar
    i: Scalar
    j: Scalar
    normal: Vector


def nth(k: Scalar, x: Sequence[Scalar] | Vector) -> Scalar:
    """x[k] of three, with k a number known only later."""
    return where(k < 0.5, x[0], where(k < 1.5, x[1], x[2]))


def widest_axis(t: Vector, R: np.ndarray, h: Vector, k: Vector) -> Axis:
    """The axis along which the boxes are farthest apart; faces come before edges, those of a before those of b."""
    size = smaller(smaller(smaller(h[0], h[1]), h[2]), smaller(smaller(k[0], k[1]), k[2]))
    favour = FAVOUR * size
    A = np.array([[absolute(e) for e in row] for row in R], dtype=object)
    back = stack(*(dot(R[:, j], t) for j in range(3)))
    gap, face = absolute(t[0]) - h[0] - dot(A[0], k), 0.0
    on_b: Scalar = 0.0
    for i in (1, 2):
        one = absolute(t[i]) - h[i] - dot(A[i], k)
        better = one > gap + favour
        gap, face = where(better, one, gap), where(better, float(i), face)
    for j in range(3):
        one = absolute(back[j]) - k[j] - dot(A[:, j], h)
        better = one > gap + favour
        gap, face, on_b = where(better, one, gap), where(better, float(j), face), where(better, 1.0, on_b)
    widest, normal, i_edge, j_edge, edges = gap, stack(1.0, 0.0, 0.0), 0.0, 0.0, 0.0
    favour = favour + PREFERENCE * larger(-gap, 0.0)
    for i, i1, i2 in ORDER:
        for j, j1, j2 in ORDER:
            # e_i x b_j has components -R[i2, j] along i1 and R[i1, j] along i2
            square = R[i1, j] * R[i1, j] + R[i2, j] * R[i2, j]
            fair = square > PARALLEL
            scale = 1.0 / np.sqrt(where(fair, square, 1.0))
            along = t[i2] * R[i1, j] - t[i1] * R[i2, j]
            reach = h[i1] * A[i2, j] + h[i2] * A[i1, j] + k[j1] * A[i, j2] + k[j2] * A[i, j1]
            apart = (absolute(along) - reach) * scale
            better = fair & (apart > widest + favour)
            favour = where(better, FAVOUR * size, favour)
            turn = where(along > 0.0, -scale, scale)
            own = [0.0, 0.0, 0.0]
            own[i1], own[i2] = -R[i2, j] * turn, R[i1, j] * turn
            normal = stack(*(where(better, x, y) for x, y in zip(own, normal, strict=True)))
            widest, edges = where(better, apart, widest), where(better, 1.0, edges)
            i_edge, j_edge = where(better, float(i), i_edge), where(better, float(j), j_edge)
    return Axis(widest, on_b, face, edges, i_edge, j_edge, normal)
