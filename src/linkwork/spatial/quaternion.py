"""Unit quaternions wxyz: q = (cos(x/2), sin(x/2) n) turns by the angle x about n; q and -q are one rotation."""

from __future__ import annotations

import numpy as np

from .entire import arctanc, cosine, sinc
from .scalar import Vector, array, cross, dot, norm, stack, where


def multiply(a: Vector, b: Vector) -> Vector:
    """The product a b: first b turns, then a."""
    u, v = a[1:], b[1:]
    return stack(a[0] * b[0] - dot(u, v), *(a[0] * v + b[0] * u + cross(u, v)))


def conjugate(q: Vector) -> Vector:
    """The inverse rotation (w, -x, -y, -z)."""
    return stack(q[0], -q[1], -q[2], -q[3])


def normalize(q: Vector) -> Vector:
    """q / |q|."""
    return q * (1.0 / norm(q))


def shortest(q: Vector) -> Vector:
    """q or -q, whichever has w >= 0: the same rotation by at most pi."""
    return where(q[0] < 0.0, -1.0, 1.0) * q


def exp(w: Vector) -> Vector:
    """The quaternion of a rotation vector: (cos h, sin h w / |w|), h = |w| / 2."""
    half = 0.5 * w
    h2 = dot(half, half)
    return stack(cosine(h2), *(sinc(h2) * half))


def log(q: Vector) -> Vector:
    """The shortest rotation vector of a unit quaternion, |w| <= pi.

    With x = |w|, c = cos(x/2), v = sin(x/2) w / x and t = tan(x/4) = |v| / (1 + c): w = 4 (arctan t / t) v / (1 + c).
    This is smooth on 0 <= x <= pi, both ends included; at x = pi the sign of the axis is that of q.
    """
    q = shortest(q)
    v = q[1:]
    scale = 1.0 / (1.0 + q[0])
    return (4.0 * scale * arctanc(dot(v, v) * (scale * scale))) * v


def to_rotation(q: Vector) -> np.ndarray:
    """The rotation matrix of a unit quaternion: R = I + 2 w [v] + 2 [v]^2."""
    w, x, y, z = q
    xx, yy, zz = x * x, y * y, z * z
    xy, xz, yz = x * y, x * z, y * z
    wx, wy, wz = w * x, w * y, w * z
    return array(
        [
            [1.0 - 2.0 * (yy + zz), 2.0 * (xy - wz), 2.0 * (xz + wy)],
            [2.0 * (xy + wz), 1.0 - 2.0 * (xx + zz), 2.0 * (yz - wx)],
            [2.0 * (xz - wy), 2.0 * (yz + wx), 1.0 - 2.0 * (xx + yy)],
        ]
    )


def from_rotation(R: np.ndarray) -> Vector:
    """The unit quaternion of a rotation matrix, with w >= 0.

    R determines 4 q q^T, whose row k is 4 q_k q; the row of the largest component is normalised, so nothing cancels.
    """
    wx, wy, wz = R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]
    xy, xz, yz = R[0, 1] + R[1, 0], R[0, 2] + R[2, 0], R[1, 2] + R[2, 1]
    ww = 1.0 + R[0, 0] + R[1, 1] + R[2, 2]
    xx = 1.0 + R[0, 0] - R[1, 1] - R[2, 2]
    yy = 1.0 - R[0, 0] + R[1, 1] - R[2, 2]
    zz = 1.0 - R[0, 0] - R[1, 1] + R[2, 2]
    largest, row = ww, [ww, wx, wy, wz]
    for square, candidate in ((xx, [wx, xx, xy, xz]), (yy, [wy, xy, yy, yz]), (zz, [wz, xz, yz, zz])):
        larger = square > largest
        largest = where(larger, square, largest)
        row = [where(larger, new, old) for new, old in zip(candidate, row, strict=True)]
    return shortest(normalize(stack(*row)))


def rotate(q: Vector, x: Vector) -> Vector:
    """R(q) x = x + w t + v x t with t = 2 v x x, for a unit quaternion (w, v)."""
    v = q[1:]
    t = 2.0 * cross(v, x)
    return x + q[0] * t + cross(v, t)
