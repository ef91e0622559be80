"""Convex hulls of points."""

from __future__ import annotations

from typing import Any, Unpack

import numpy as np

from ..errors import ModelError
from .mesh import Mesh
from .shapes import Unnamed

FLAT = 1e-9  # of its largest extent: a hull that is thinner encloses nothing


class Convex(Mesh):
    """The convex hull of points (n, 3), in the coordinates of whatever it is attached to.

    vertices, faces   those points that are corners of the hull, and its triangles, facing outward
    """

    kind = "convex"

    def __init__(self, points: Any, name: str = "Convex", **attributes: Unpack[Unnamed]) -> None:
        vertices, faces = _hull(name, points)
        super().__init__(vertices, faces, name, **attributes)
        self.require_solid()


def _hull(name: str, points: Any) -> tuple[np.ndarray, np.ndarray]:
    """Corners of the hull, and triangles that face away from its middle."""
    from scipy.spatial import ConvexHull  # takes long to import

    try:
        x = np.array(points, dtype=float)
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
