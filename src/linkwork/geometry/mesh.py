"""Meshes: closed surfaces of triangles, from arrays or files, and the exact inertia of what they enclose.

By the divergence theorem an integral over the enclosed solid is a sum over its triangles: each spans with a fixed point o a
tetrahedron of signed volume det(a, b, c) / 6, with a, b, c its corners relative to o, and over one tetrahedron

    int 1 = det / 6,   int x = det / 24 s,   int x x^T = det / 120 (a a^T + b b^T + c c^T + s s^T),   s = a + b + c.

The same integrals as in [Mirtich 1996], which [Sueda, section 1.7] refers to, without projections to planes.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Unpack

import numpy as np

from ..errors import ModelError
from ..spatial.checks import positive
from ..spatial.gate import given_path, reals
from ..spatial.inertia import Inertia
from ..spatial.kinds import explained
from ..spatial.scalar import Scalar, read_only
from .checks import LARGEST, SMALLEST
from .shapes import Shape, Unnamed


class Mesh(Shape):
    """A surface of triangles.

    vertices   (n, 3), in the coordinates of whatever the mesh is attached to
    faces      (m, 3) indices of vertices, counter-clockwise when seen from outside

    >>> tetrahedron = lw.Mesh([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)], [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)])
    """

    kind = "mesh"

    def __init__(self, vertices: Any, faces: Any, name: str = "Mesh", **attributes: Unpack[Unnamed]) -> None:
        super().__init__(name=name, **attributes)
        self.vertices = read_only(_vertices(name, vertices))
        self.faces = read_only(_faces(name, faces, len(self.vertices)))

    def _with(self, vertices: np.ndarray, faces: np.ndarray) -> Mesh:
        """Another surface that is like this one in all else."""
        corners, triangles = _vertices(self.name, vertices), _faces(self.name, faces, len(vertices))
        return self.with_parts(vertices=read_only(corners), faces=read_only(triangles))

    @staticmethod
    def load(path: str | Path, name: str | None = None, **attributes: Unpack[Unnamed]) -> Mesh:
        """From a file that trimesh reads (STL, OBJ, PLY, OFF, glTF, ...), corners at the same place made one vertex."""
        import trimesh  # takes long to import, and only files need it

        file = given_path("Mesh.load: path", path)
        name = name or f"Mesh {str(path)!r}"
        if not file.is_file():
            raise ModelError(f"{name}: there is no such file")
        try:
            raw = trimesh.load_mesh(file, process=False)
            vertices, faces = raw.vertices, raw.faces
        except Exception as error:  # whatever the many readers raise
            raise ModelError(f"{name}: cannot be read: {error}") from error
        read = Mesh(vertices, faces, name, **attributes)  # checked first: merging would drop corners that are not finite
        joined = trimesh.Trimesh(read.vertices, read.faces, process=False)
        joined.merge_vertices(merge_tex=True, merge_norm=True)
        return read._with(joined.vertices, joined.faces)

    def scaled(self, factors: Any) -> Mesh:
        """Stretched by a factor, or by three along the axes; a mirror image keeps its outside outside."""
        try:
            s = np.array(np.broadcast_to(reals(factors), (3,)))
        except (TypeError, ValueError):
            raise ModelError(f"{self.name}: scale {factors!r} must be a number or three numbers") from None
        if not np.all(np.isfinite(s)) or np.any(s == 0):
            raise ModelError(f"{self.name}: scale {s.tolist()} must be finite and not zero")
        return self._with(self.vertices * s, self.faces[:, ::-1] if np.prod(s) < 0 else self.faces)

    def outward(self) -> Mesh:
        """The same surface with its triangles turned so that the volume is positive."""
        return self._with(self.vertices, self.faces[:, ::-1]) if self.volume < 0 else self

    # --- topology -------------------------------------------------------------------------------------------------------
    def _edges(self) -> tuple[np.ndarray, np.ndarray]:
        """Of every edge: how many triangles it has, and how many more run along it than against it."""
        ends = np.concatenate([self.faces[:, [i, j]] for i, j in ((0, 1), (1, 2), (2, 0))])
        ends = ends[ends[:, 0] != ends[:, 1]]
        forth = ends[:, 0] < ends[:, 1]
        key = ends.min(axis=1) * len(self.vertices) + ends.max(axis=1)
        _, edge = np.unique(key, return_inverse=True)
        uses = np.bincount(edge)
        return uses, 2 * np.bincount(edge, weights=forth, minlength=len(uses)).astype(int) - uses

    @property
    def open_edges(self) -> int:
        """Number of edges where the surface ends: those of one triangle, or of any odd number."""
        return int(np.sum(self._edges()[0] % 2))

    @property
    def twisted_edges(self) -> int:
        """Number of edges whose triangles disagree about which side is outside."""
        uses, surplus = self._edges()
        return int(np.sum((uses % 2 == 0) & (surplus != 0)))

    @property
    def volume(self) -> float:
        """The enclosed volume; negative if the triangles run clockwise. Meaningless for open surfaces."""
        return _integrals(self.vertices[self.faces], self.vertices.mean(axis=0))[0]

    @property
    def com(self) -> np.ndarray:
        return mesh_inertia(self, mass=1.0).com

    def inertia_of(self, mass: float) -> Inertia:
        return mesh_inertia(self, mass=mass)

    def require_solid(self) -> None:
        """Raise unless the surface is closed, its triangles face outward, and they enclose a volume of sensible size."""
        if self.open_edges:
            raise ModelError(
                f"{self.name}: the surface is not closed: {self.open_edges} open edges; close it, or give the inertia"
            )
        if self.twisted_edges:
            raise ModelError(f"{self.name}: triangles disagree about the outside at {self.twisted_edges} edges; turn them alike")
        span, volume = np.ptp(self.vertices, axis=0).max(), self.volume
        if not abs(volume) > 1e-12 * span**3:
            raise ModelError(f"{self.name}: the surface encloses no volume ({volume:g} m^3)")
        if volume < 0:
            raise ModelError(
                f"{self.name}: its volume is negative ({volume:g} m^3), its triangles face inward; use mesh.outward()"
            )
        if not SMALLEST <= span <= LARGEST:
            raise ModelError(f"{self.name}: its size {span:g} is absurd; lengths are metres, from {SMALLEST:g} to {LARGEST:g}")

    def bounding_box(self) -> tuple[np.ndarray, np.ndarray]:
        used = self.vertices[self.faces.reshape(-1)]
        return used.min(axis=0), used.max(axis=0)

    def bounding_sphere(self) -> tuple[np.ndarray, Scalar]:
        center = 0.5 * np.sum(self.bounding_box(), axis=0)
        return center, float(np.linalg.norm(self.vertices[self.faces.reshape(-1)] - center, axis=1).max())

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self.vertices)} vertices, {len(self.faces)} faces)"


@explained
def mesh_inertia(mesh: Mesh, *, density: float | None = None, mass: float | None = None) -> Inertia:
    """The inertia of the solid that a closed mesh encloses, of uniform density; exact, O(faces).

    density, mass   one of them: kg/m^3, or kg of the whole

    Surfaces inside another that run the other way round are cavities.

    >>> faces = [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)]
    >>> tetrahedron = lw.Mesh([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)], faces)
    >>> round(lw.mesh_inertia(tetrahedron, density=6.0).mass, 9)
    1.0
    """
    if (density is None) == (mass is None):
        raise ModelError(f"{mesh.name}: give the density or the mass, one of them")
    mesh.require_solid()
    corners = mesh.vertices[mesh.faces]
    center = mesh.vertices.mean(axis=0)
    volume, first, _ = _integrals(corners, center)
    center = center + first / volume
    second = _integrals(corners, center)[2]  # about the centre of mass: nothing large cancels
    m = positive(f"{mesh.name} mass", mass) if mass is not None else positive(f"{mesh.name} density", density) * volume
    return Inertia(m, center, (np.trace(second) * np.eye(3) - second) * (m / volume))


def _integrals(corners: np.ndarray, o: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
    """The integrals of 1, x and x x^T over the solid, with x relative to o, for triangles (m, 3, 3)."""
    x = corners - o
    s = x.sum(axis=1)
    det = np.einsum("fi,fi->f", x[:, 0], np.cross(x[:, 1], x[:, 2]))
    second = np.einsum("f,fki,fkj->ij", det, x, x) + np.einsum("f,fi,fj->ij", det, s, s)
    return float(det.sum() / 6.0), det @ s / 24.0, second / 120.0


def _vertices(name: str, x: Any) -> np.ndarray:
    try:
        a = reals(x)
    except (TypeError, ValueError):
        raise ModelError(f"{name}: vertices must be numbers") from None
    if a.size and (a.ndim != 2 or a.shape[1] != 3):
        raise ModelError(f"{name}: vertices must have shape (n, 3), not {a.shape}")
    bad = np.flatnonzero(~np.isfinite(a.reshape(-1, 3)).all(axis=1))
    if len(bad):
        raise ModelError(f"{name}: {len(bad)} of its {len(a)} vertices are not finite, the first is number {bad[0]}")
    return a


def _faces(name: str, x: Any, count: int) -> np.ndarray:
    try:
        a = np.array(x)
    except ValueError:  # rows of different lengths
        raise ModelError(f"{name}: every face must name three vertices") from None
    if not a.size or not count:
        raise ModelError(f"{name}: there are no triangles in it")
    if a.ndim != 2 or a.shape[1] != 3 or a.dtype.kind not in "iu":
        raise ModelError(f"{name}: faces must be integers of shape (m, 3), not {a.dtype} of shape {a.shape}")
    if a.min() < 0 or a.max() >= count:
        wrong = int(a.min()) if a.min() < 0 else int(a.max())
        raise ModelError(f"{name}: a face names vertex {wrong}; there are {count}")
    return a.astype(np.int64)
