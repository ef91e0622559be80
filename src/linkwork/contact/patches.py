"""Contact patches: where two shapes touch along a normal, the corners of the polygon in which their flat features overlap.

The feature of a shape farthest along a direction is a polygon, a segment or a point (`feature`). One of two features is cut by
the sides of the other [Sutherland and Hodgman 1974], and every corner that is left has its own gap along the normal.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..geometry import Box, Capsule, Convex, Cylinder, Ellipsoid, Shape, Sphere
from .point import ContactPoint

FLAT = 0.02  # sine of the angle by which a face, or a side, may lean and still lie on another
TURNED = 0.1  # sine of the angle of two segments that lie along each other
UPRIGHT = 0.1  # least cosine of the normals of a face and of the contact
ROUND = 32  # corners that stand for a circle: its area and rims cut from it are right to half a percent
PLANE = 1e-9  # of its size: a face whose corners are farther from a plane is none


def feature(shape: Shape, R: np.ndarray, p: np.ndarray, n: np.ndarray) -> np.ndarray:
    """The points (m, 3) of a shape, whose frame has rotation R and position p, that are farthest along n, in order around it."""
    d = R.T @ n
    found = _LOCAL[type(shape)](shape, d)
    return found @ R.T + p


def _box(s: Box, d: np.ndarray) -> np.ndarray:
    h, free = 0.5 * s.size, np.flatnonzero(np.abs(d) < FLAT)
    corner = np.where(d < 0, -h, h)
    turns = {0: [()], 1: [(1,), (-1,)], 2: [(1, 1), (-1, 1), (-1, -1), (1, -1)]}[len(free)]
    found = np.tile(corner, (len(turns), 1))
    for row, signs in zip(found, turns, strict=True):
        row[free] = h[free] * signs
    return found


def _capsule(s: Capsule, d: np.ndarray) -> np.ndarray:
    ends = [-0.5, 0.5] if abs(d[2]) < FLAT else [np.copysign(0.5, d[2])]
    return np.array([[0.0, 0.0, end * s.length] for end in ends]) + s.radius * d


def _cylinder(s: Cylinder, d: np.ndarray) -> np.ndarray:
    across = np.hypot(d[0], d[1])
    if across < FLAT:
        angle = 2.0 * np.pi * np.arange(ROUND) / ROUND
        rim, ends = s.radius * np.stack([np.cos(angle), np.sin(angle)], axis=1), [np.copysign(0.5, d[2])]
    else:
        rim, ends = s.radius * d[None, :2] / across, [-0.5, 0.5] if abs(d[2]) < FLAT else [np.copysign(0.5, d[2])]
    return np.array([[*x, end * s.length] for end in ends for x in rim])


def _convex(s: Convex, d: np.ndarray) -> np.ndarray:
    height = s.vertices @ d
    top = s.vertices[height >= height.max() - FLAT * s.bounding_sphere()[1]]
    return around(top, d)


_LOCAL: dict[type[Shape], Any] = {
    Sphere: lambda s, d: s.radius * d[None],
    Ellipsoid: lambda s, d: (s.radii**2 * d / np.linalg.norm(s.radii * d))[None],
    Box: _box,
    Capsule: _capsule,
    Cylinder: _cylinder,
    Convex: _convex,
}


def around(x: np.ndarray, n: np.ndarray) -> np.ndarray:
    """Points in the order in which they go around their middle, seen against n."""
    if len(x) < 3:
        return x
    out = x - x.mean(axis=0)
    u = out[np.argmax(np.linalg.norm(out, axis=1))]
    return x[np.argsort(np.arctan2(out @ np.cross(n, u), out @ u))]


def face_normal(a: np.ndarray, b: np.ndarray, n: np.ndarray) -> np.ndarray:
    """The normal, from b to a, of the face that the other of two features would lie on (see `patch`); n if there is none near n.

    Normals of shapes that hardly touch are found to a hundredth of a radian only, and a roller of radius r whose normal leans by
    that seems to be r / 20000 higher than it is.
    """
    face = b if _is_under(b, a) else a
    if len(face) < 3:
        return n
    area, out = _area(around(face, n)), face - face[0]
    if not np.linalg.norm(area) > PLANE * (out * out).sum():
        return n
    up = np.copysign(1.0, area @ n) * area / np.linalg.norm(area)
    is_plane = np.abs(out @ up).max() <= PLANE * np.abs(out).max()
    return up if is_plane and np.linalg.norm(np.cross(up, n)) < FLAT else n


def _is_under(b: np.ndarray, a: np.ndarray) -> bool:
    """Whether of two features b is the face that the other lies on; else it is a, if that is one."""
    return len(b) >= max(len(a), 3)


def _area(face: np.ndarray) -> np.ndarray:
    """Twice the area of a polygon, along its normal."""
    return np.cross(face, np.roll(face, -1, axis=0)).sum(axis=0)


def patch(a: np.ndarray, b: np.ndarray, n: np.ndarray) -> list[ContactPoint]:
    """Corners of the overlap of two features along the normal n, from b to a; none where they do not lie along each other."""
    if _is_under(b, a) or (len(a) == len(b) == 2):
        return [ContactPoint(x - 0.5 * gap * n, n, gap, 1.0) for x, gap in _over(a, b, n)]
    if len(a) >= 3:
        return [ContactPoint(x + 0.5 * gap * n, n, gap, 1.0) for x, gap in _over(b, a, -n)]
    return []


def _over(x: np.ndarray, face: np.ndarray, n: np.ndarray) -> list[tuple[np.ndarray, float]]:
    """Points of the first feature over the second, whose outward normal is n, with their heights along n."""
    if len(face) == 2:
        along = face[1] - face[0]
        if len(x) != 2 or np.linalg.norm(np.cross(along, x[1] - x[0])) > 5 * FLAT * np.linalg.norm(along) * np.linalg.norm(
            x[1] - x[0]
        ):
            return []
        inward, up = np.stack([along, -along]), n - along * (n @ along) / (along @ along)
    else:
        face = around(face, n)
        inward, up = np.cross(n, np.roll(face, -1, axis=0) - face), _area(face)
    if abs(up @ n) < UPRIGHT * np.linalg.norm(up):
        return []
    levels = (inward * face).sum(axis=1)
    depths = inward @ x.T - levels[:, None]
    if (depths < 0.0).all(axis=1).any():
        return []
    for k in np.flatnonzero((depths < 0.0).any(axis=1)):  # what lies inside of a side stays there
        x = _cut(x, x @ inward[k] - levels[k])
        if not len(x):
            return []
    return [(e, float(h)) for e, h in zip(x, (x - face[0]) @ up / (up @ n), strict=True)]


def _cut(x: np.ndarray, depth: np.ndarray) -> np.ndarray:
    """Corners (m, 3) of the part of a polygon, segment or point where a depth (m,), linear between corners, is not negative."""
    is_inside = depth >= 0.0
    if is_inside.all():
        return x
    depth_after = np.concatenate([depth[1:], depth[:1]])
    crosses = depth * depth_after < 0.0
    if len(x) == 2:
        crosses[1] = False  # the way back
    fraction = depth / np.where(crosses, depth - depth_after, 1.0)
    ends = x + (np.concatenate([x[1:], x[:1]]) - x) * fraction[:, None]
    return np.stack([x, ends], axis=1)[np.stack([is_inside, crosses], axis=1)]
