"""The nearest points of two segments p + s u, |s| <= half_a, and q + t w, |t| <= half_b, u and w unit vectors.

With c = u . w and r = p - q, the square of the distance is least on the lines where s - c t = -u . r and t - c s = w . r, so
s (1 - c^2) = c (w . r) - u . r; on the segments, s bounded, then t for it, then s for that.
"""

from __future__ import annotations

from ..spatial.scalar import Scalar, Vector, absolute, cross, dot
from .point import bounded

SINGULAR = 1e-12  # sin^2 of the angle of segments whose nearest points are looked for near the middle of where they overlap


def nearest_parameters(
    p: Vector, u: Vector, half_a: Scalar, q: Vector, w: Vector, half_b: Scalar
) -> tuple[Scalar, Scalar, Scalar]:
    """s and t of the nearest points, and whether the lines are nearest beyond an end of a segment.

    Of parallel segments, which are near all along, the points are in the middle of the part where they lie beside each other.
    """
    r, c = p - q, dot(u, w)
    along_u, along_w = dot(u, r), dot(w, r)
    sin = cross(u, w)
    first, last = overlap_on_first(along_u, c, half_a, half_b)
    s_line = (c * along_w - along_u + SINGULAR * (0.5 * (first + last))) / (dot(sin, sin) + SINGULAR)
    s = bounded(s_line, half_a)
    t_line = c * s + along_w
    t = bounded(t_line, half_b)
    beyond = (absolute(s_line) > half_a) | (absolute(t_line) > half_b)
    return bounded(c * t - along_u, half_a), t, beyond


def overlap_on_first(along_u: Scalar, c: Scalar, half_a: Scalar, half_b: Scalar) -> tuple[Scalar, Scalar]:
    """First and last s of the part of the first segment that the second lies beside, as seen across the first."""
    reach = half_b * absolute(c)
    return bounded(-along_u - reach, half_a), bounded(reach - along_u, half_a)
