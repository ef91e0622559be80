"""Convex hulls of points, and their faces and edges."""

from __future__ import annotations

from typing import Any, Unpack

import numpy as np

from ..errors import ModelError
from ..spatial.gate import reals
from ..spatial.scalar import Scalar, array, dot, maximum, minimum, read_only, stack
from ..spatial.se3 import SE3
from .mesh import Mesh
from .shapes import Unnamed

SAME = 1e-8  # of unit vectors: differences that do not count
FLAT = 1e-9  # of its largest extent: a hull that is thinner encloses nothing


class Convex(Mesh):
    """The convex hull of points (n, 3), in the coordinates of whatever it is attached to.

    vertices, faces   those points that are corners of the hull, and its triangles, facing outward
    normals           (f, 3): of its flat faces, outward
    corners           (f, m, 3): the corners of each flat face, counter-clockwise seen from outside; the last one stands again for
                      corners that a face does not have
    directions        (e, 3): unit vectors along its edges, parallel ones once

    >>> wedge = lw.Convex([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)], density=100.0)
    """

    kind = "convex"
    parameter_names = ("vertices", "normals", "corners", "directions")

    def __init__(self, points: Any, name: str = "Convex", **attributes: Unpack[Unnamed]) -> None:
        vertices, faces = _hull(name, points)
        super().__init__(vertices, faces, name, **attributes)
        self.require_solid()
        self._describe()

    def _describe(self) -> None:
        loops = _flat_faces(self.vertices, self.faces)
        most = max(len(loop) for loop, _ in loops)
        self.corners = read_only(np.array([self.vertices[[*loop, *[loop[-1]] * (most - len(loop))]] for loop, _ in loops]))
        self.normals = read_only(np.array([n for _, n in loops]))
        ends = {tuple(sorted(e)) for loop, _ in loops for e in zip(loop, [*loop[1:], loop[0]], strict=True)}
        found: list[np.ndarray] = []
        for i, j in sorted(ends):
            u = self.vertices[j] - self.vertices[i]
            u = u / np.linalg.norm(u)
            if all(np.linalg.norm(np.cross(u, w)) > SAME for w in found):
                found.append(u)
        self.directions = read_only(np.array(found))

    def moved(self, E: SE3) -> Convex:
        def each(move: Any, x: np.ndarray) -> np.ndarray:
            return array([list(move(row)) for row in x.reshape(-1, 3)]).reshape(x.shape)

        points = {name: each(E.act, getattr(self, name)) for name in ("vertices", "corners")}
        return self.bound(points | {name: each(E.rotate, getattr(self, name)) for name in ("normals", "directions")})

    def bounding_box(self) -> tuple[np.ndarray, np.ndarray]:
        low = high = self.vertices[0]
        for x in self.vertices[1:]:
            low = stack(*(minimum(a, b) for a, b in zip(low, x, strict=True)))
            high = stack(*(maximum(a, b) for a, b in zip(high, x, strict=True)))
        return low, high

    def bounding_sphere(self) -> tuple[np.ndarray, Scalar]:
        low, high = self.bounding_box()
        center = (low + high) * 0.5
        square: Scalar = 0.0
        for x in self.vertices:
            square = maximum(square, dot(x - center, x - center))
        return center, np.sqrt(square)

    def _with(self, vertices: np.ndarray, faces: np.ndarray) -> Convex:
        other = super()._with(vertices, faces)
        assert isinstance(other, Convex)
        other._describe()
        return other


def _flat_faces(vertices: np.ndarray, faces: np.ndarray) -> list[tuple[list[int], np.ndarray]]:
    """The triangles of a hull that lie in one plane joined: their outline, as indices of vertices in order, and the normal."""
    corners = vertices[faces]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    areas = np.linalg.norm(normals, axis=1)
    normals = normals / np.maximum(areas, np.finfo(float).tiny)[:, None]
    left, found = list(np.argsort(-areas, kind="stable")), []  # the largest first: their normals are the most exact
    while left:
        n = normals[left[0]]
        flat = [i for i in left if normals[i] @ n > 1.0 - SAME]
        left = [i for i in left if i not in flat]
        edges = {(int(f[k]), int(f[(k + 1) % 3])) for f in faces[flat] for k in range(3)}
        after = {i: j for i, j in edges if (j, i) not in edges}
        loop = [min(after)]
        while after[loop[-1]] != loop[0]:
            loop.append(after[loop[-1]])
        found.append((loop, n))
    return found


def _hull(name: str, points: Any) -> tuple[np.ndarray, np.ndarray]:
    """Corners of the hull, and triangles that face away from its middle."""
    from scipy.spatial import ConvexHull  # takes long to import

    try:
        x = reals(points)
    except (TypeError, ValueError):
        raise ModelError(f"{name}: points must be numbers of shape (n, 3)") from None
    if x.ndim != 2 or x.shape[1] != 3 or len(x) < 4:
        raise ModelError(f"{name}: points must have shape (n, 3) with four of them at least, not {x.shape}")
    if not np.all(np.isfinite(x)):
        raise ModelError(f"{name}: {int(np.sum(~np.isfinite(x).all(axis=1)))} of its {len(x)} points are not finite")
    centred = x - x.mean(axis=0)
    extents = np.linalg.svd(centred, compute_uv=False)
    if not extents[2] > FLAT * extents[0]:
        raise ModelError(f"{name}: its {len(x)} points lie in a plane; their hull encloses nothing")
    hull = ConvexHull(centred)
    number = np.full(len(x), -1)
    number[hull.vertices] = np.arange(len(hull.vertices))
    corners = centred[hull.simplices]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    inward = np.einsum("fi,fi->f", normals, hull.equations[:, :3]) < 0
    faces = np.where(inward[:, None], hull.simplices[:, ::-1], hull.simplices)
    return x[hull.vertices], number[faces]
