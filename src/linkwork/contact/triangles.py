"""Surfaces of triangles in contact: which contacts of single triangles are those of the surface.

A triangle does not know its neighbours. Where a flat part is made of several, Coal reports contacts at their common edges too,
with normals that lean; on the surface no such point is nearest. A contact is kept if its normal looks out of its triangle, and
if at an edge it does not lean towards the triangle beyond it, which would be nearer then.
"""

from __future__ import annotations

import numpy as np

from ..geometry import Mesh

LEANING = 0.3  # least cosine of the normals of a contact and of its triangle
FACE = 0.999  # the same for a contact with the face, not with an edge
BEYOND = 1e-3  # most cosine of the normal with the direction into the next triangle
EDGE = 1e-6  # of the size of a triangle: what lies as near to an edge lies on it


class Triangles:
    """A surface with its neighbourhoods.

    next   (m, 3): the triangle beyond the edge from corner k to corner k + 1; -1 where the surface ends
    """

    def __init__(self, mesh: Mesh) -> None:
        self.corners = mesh.vertices[mesh.faces]
        edges = {(int(f[k]), int(f[(k + 1) % 3])): i for i, f in enumerate(mesh.faces) for k in range(3)}
        self.next = np.array([[edges.get((int(f[(k + 1) % 3]), int(f[k])), -1) for k in range(3)] for f in mesh.faces])

    def normal(self, i: int) -> np.ndarray:
        """The unit normal of a triangle; zero where it has no area."""
        p, q, r = self.corners[i]
        n = np.cross(q - p, r - p)
        return n / max(float(np.linalg.norm(n)), np.finfo(float).tiny)

    def is_face(self, i: int, n: np.ndarray) -> bool:
        """Whether a contact with an outward normal n is one with the face of a triangle."""
        return float(self.normal(i) @ n) >= FACE

    def is_real(self, i: int, x: np.ndarray, n: np.ndarray) -> bool:
        """Whether a contact of triangle i at x, with an outward normal n, is one of the surface."""
        if self.normal(i) @ n < LEANING:
            return False
        corners = self.corners[i]
        size = np.ptp(corners, axis=0).max()
        for k in range(3):
            p, q = corners[k], corners[(k + 1) % 3]
            along = (q - p) / np.linalg.norm(q - p)
            inward = np.cross(self.normal(i), along)
            other = self.next[i, k]
            if other >= 0 and inward @ (x - p) < EDGE * size and n @ -np.cross(self.normal(other), along) > BEYOND:
                return False
        return True
