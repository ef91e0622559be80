"""Convex hulls of points, and their faces and edges."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any, Unpack

import numpy as np

from ..errors import ModelError
from ..spatial.gate import reals
from ..spatial.scalar import Scalar, array, dot, maximum, minimum, read_only, stack
from ..spatial.se3 import SE3
from .mesh import Mesh
from .shapes import ATTRIBUTES, Unnamed

PARALLEL_SINE = 1e-8  # of the angle between two edges: below, they count as parallel
PARALLEL_COSINE = 1.0 - 1e-8  # of the angle between two normals (1.4e-4 rad): above, triangles lie in one face
HULL_RTOL = 1e-6  # of its largest extent: how far a corner may lie above a triangle, in files
FLAT = 1e-9  # of its largest extent: a hull that is thinner encloses nothing


class Convex(Mesh):
    """The convex hull of points (n, 3), in the coordinates of whatever it is attached to.

    vertices, faces   those points that are corners of the hull, and its triangles, facing outward

    Its flat faces and edges (`outlines`, `normals`, `corners`, `directions`) are computed when they are first asked for.

    >>> wedge = lw.Convex([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)], density=100.0)
    """

    kind = "convex"
    parameter_names = ("vertices", "normals", "corners", "directions")

    def __init__(self, points: Any, name: str = "Convex", **attributes: Unpack[Unnamed]) -> None:
        vertices, faces = _hull(name, points)
        super().__init__(vertices, faces, name, **attributes)
        self.require_solid()

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Any:
        """The hull that a file says, with its own order of corners and triangles, which are looked at."""
        attributes = {name: state[name] for name in ATTRIBUTES}
        mesh = Mesh(state["vertices"], state["faces"], **attributes)
        mesh.require_solid()
        check_hull(mesh)
        found = object.__new__(cls)
        vars(found).update(vars(mesh))
        return found

    @functools.cached_property
    def _flat_faces(self) -> tuple[list[list[int]], np.ndarray]:
        return flat_faces(self.vertices, self.faces)

    @property
    def outlines(self) -> list[list[int]]:
        """Indices of the corners of each flat face, counter-clockwise seen from outside."""
        return self._flat_faces[0]

    @functools.cached_property
    def normals(self) -> np.ndarray:
        """Outward unit normals of the flat faces (f, 3)."""
        return read_only(self._flat_faces[1])

    @functools.cached_property
    def corners(self) -> np.ndarray:
        """Corners of each flat face (f, m, 3), counter-clockwise seen from outside; the last one fills shorter rows."""
        most = max(map(len, self.outlines))
        return read_only(self.vertices[np.array([[*loop, *[loop[-1]] * (most - len(loop))] for loop in self.outlines])])

    @functools.cached_property
    def directions(self) -> np.ndarray:
        """Unit vectors along the edges of the flat faces (e, 3), parallel ones once."""
        ends = {(min(i, j), max(i, j)) for loop in self.outlines for i, j in zip(loop, loop[1:] + loop[:1], strict=True)}
        first, second = np.array(sorted(ends)).T
        along = self.vertices[second] - self.vertices[first]
        along = along / np.array([[np.linalg.norm(u)] for u in along])
        return read_only(along[without_parallels(along)])

    def bound(self, values: Mapping[str, Any]) -> Convex:
        return self._without_derived().with_parts(**values)

    def moved(self, E: SE3) -> Convex:
        def each(move: Any, x: np.ndarray) -> np.ndarray:
            return array([list(move(row)) for row in x.reshape(-1, 3)]).reshape(x.shape)

        ways = {"vertices": E.act, "corners": E.act, "normals": E.rotate, "directions": E.rotate}
        return self.bound({name: each(way, getattr(self, name)) for name, way in ways.items()})

    def placed(self, pose: SE3, **attributes: Any) -> Convex:
        """A copy at a pose (of numbers) with other attributes, such as its name or its groups."""
        vertices = self.vertices @ np.asarray(pose.R, float).T + np.asarray(pose.p, float)
        return self._without_derived().with_parts(**attributes, vertices=read_only(vertices))

    def bounding_box(self) -> tuple[np.ndarray, np.ndarray]:
        if self.vertices.dtype != object:
            return self.vertices.min(axis=0), self.vertices.max(axis=0)
        low = high = self.vertices[0]
        for x in self.vertices[1:]:
            low = stack(*(minimum(a, b) for a, b in zip(low, x, strict=True)))
            high = stack(*(maximum(a, b) for a, b in zip(high, x, strict=True)))
        return low, high

    def bounding_sphere(self) -> tuple[np.ndarray, Scalar]:
        return self._ball if self.vertices.dtype != object else self._bounding_sphere()

    @functools.cached_property
    def _ball(self) -> tuple[np.ndarray, float]:
        low, high = self.bounding_box()
        center = (low + high) * 0.5
        x, y, z = (self.vertices - center).T
        return read_only(center), float(np.sqrt((x * x + y * y + z * z).max()))

    def _bounding_sphere(self) -> tuple[np.ndarray, Scalar]:
        """Centre and radius of vertices that are symbols."""
        low, high = self.bounding_box()
        center = (low + high) * 0.5
        square: Scalar = 0.0
        for x in self.vertices:
            square = maximum(square, dot(x - center, x - center))
        return center, np.sqrt(square)

    def _with(self, vertices: np.ndarray, faces: np.ndarray) -> Convex:
        other = super(Convex, self._without_derived())._with(vertices, faces)
        assert isinstance(other, Convex)
        return other

    def _without_derived(self) -> Convex:
        """A copy that computes its faces and edges anew."""
        other = self.with_parts()
        for name in ("_flat_faces", "normals", "corners", "directions", "_ball"):
            vars(other).pop(name, None)
        return other


def flat_faces(vertices: np.ndarray, faces: np.ndarray) -> tuple[list[list[int]], np.ndarray]:
    """Outlines of the flat faces of a hull, as indices of vertices in order, and the normal of the largest triangle of each.

    A face grows from the largest triangle that is left, over edges to triangles with its normal (PARALLEL_COSINE), and stays a
    disc: a triangle joins along one edge if its third corner is new, or along two edges. So every outline is one loop that
    passes no corner twice, even where rounded normals or needles leave holes in a plane or make triangles meet in a corner only.
    """
    corners = vertices[faces]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    areas = np.linalg.norm(normals, axis=1)
    normals = normals / np.maximum(areas, np.finfo(float).tiny)[:, None]
    neighbours = _neighbours(faces, len(vertices))
    level = np.einsum("fki,fi->fk", normals[neighbours], normals) > PARALLEL_COSINE
    alone = ~level.any(axis=1)
    triangles, beside = faces.tolist(), neighbours.tolist()
    left, outlines, seeds = np.ones(len(faces), bool), [], []
    for seed in np.argsort(-areas, kind="stable").tolist():  # the largest first: their normals are the most exact
        if alone[seed]:
            outline = _ring(triangles[seed])
        elif left[seed]:
            level_ones = np.flatnonzero(left & (normals @ normals[seed] > PARALLEL_COSINE))
            outline, joined = _grown_disc(seed, set(level_ones.tolist()), triangles, beside)
            left[joined] = False
        else:
            continue
        outlines.append(_loop(outline))
        seeds.append(seed)
    return outlines, normals[seeds]


def _grown_disc(
    seed: int, level: set[int], triangles: list[list[int]], beside: list[list[int]]
) -> tuple[dict[int, int], list[int]]:
    """The outline of the disc that grows from a triangle, as the next corner of each corner, and the triangles in it."""
    after, joined, waiting = _ring(triangles[seed]), [seed], list(beside[seed])
    level.discard(seed)
    while waiting:
        t = waiting.pop()
        if t not in level:
            continue
        edges = list(_ring(triangles[t]).items())
        shared = [k for k, (i, j) in enumerate(edges) if after.get(j) == i]
        i, j = edges[shared[0]]
        if len(shared) == 1:
            third = edges[(shared[0] + 1) % 3][1]
            if third in after:
                continue  # looked at again when another of its neighbours joins
            after[j], after[third] = third, i
        elif len(shared) == 2:
            alone = next(k for k in range(3) if k not in shared)
            begin, end = edges[alone]
            del after[edges[(alone + 1) % 3][1]]  # the corner between the two shared edges
            after[begin] = end
        else:
            continue
        level.discard(t)
        joined.append(t)
        waiting += beside[t]
    return after, joined


def _ring(triangle: list[int]) -> dict[int, int]:
    a, b, c = triangle
    return {a: b, b: c, c: a}


def _loop(after: dict[int, int]) -> list[int]:
    """The corners of an outline in order, from the least index on."""
    loop = [min(after)]
    while after[loop[-1]] != loop[0]:
        loop.append(after[loop[-1]])
    return loop


def _neighbours(faces: np.ndarray, count: int) -> np.ndarray:
    """The triangle beyond each edge (f, 3) of a closed surface of `count` vertices; edge k goes from corner k to the next one."""
    begin, end = faces.reshape(-1), np.roll(faces, -1, axis=1).reshape(-1)
    key = begin * count + end
    order = np.argsort(key)
    return (order[np.searchsorted(key, end * count + begin, sorter=order)] // 3).reshape(-1, 3)


def without_parallels(u: np.ndarray) -> np.ndarray:
    """Indices of unit vectors (n, 3) that are parallel, either way, to none before them."""
    from scipy.spatial import KDTree  # takes long to import

    outer = np.einsum("ni,nj->nij", u, u).reshape(len(u), 9)  # has no sign; distances are sqrt(2) sines of angles
    first = np.sort(np.unique(np.round(outer / PARALLEL_SINE), axis=0, return_index=True)[1])
    is_kept = np.ones(len(first), bool)
    for i, j in sorted(KDTree(outer[first]).query_pairs(np.sqrt(2.0) * PARALLEL_SINE)):
        is_kept[j] &= not is_kept[i]
    return first[is_kept]


def check_hull(mesh: Mesh) -> None:
    """Raise unless triangles are the surface of a convex solid that has all vertices as corners; O(faces vertices)."""
    vertices, faces = mesh.vertices, mesh.faces
    uses, _ = mesh._edges()
    corners = len(np.unique(faces))
    if not np.all(uses == 2) or corners != len(vertices) or len(vertices) - len(uses) + len(faces) != 2:
        raise ModelError(f"{mesh.name}: its triangles are not the surface of one solid; give Convex its points alone")
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    normals = np.cross(b - a, c - a)
    span, doubled = float(np.ptp(vertices, axis=0).max()), np.linalg.norm(normals, axis=1)
    wide = doubled > FLAT * span * span  # needles have no normal that could be trusted
    normals, a, slack = normals[wide] / doubled[wide, None], a[wide], HULL_RTOL * span
    for first in range(0, len(normals), 256):  # of few triangles at once: the table of heights stays small
        part = slice(first, first + 256)
        heights = normals[part] @ vertices.T - np.sum(normals[part] * a[part], axis=1)[:, None]
        if np.any(heights > slack):
            raise ModelError(f"{mesh.name}: its triangles are not those of a convex hull; give Convex its points alone")


def _hull(name: str, points: Any) -> tuple[np.ndarray, np.ndarray]:
    """Corners of the hull, and triangles that face away from its middle."""
    from scipy.spatial import ConvexHull, QhullError  # takes long to import

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
    try:
        hull = ConvexHull(centred)
    except QhullError as error:
        raise ModelError(
            f"{name}: its {len(x)} points have no hull of sensible precision: {str(error).splitlines()[0]}"
        ) from None
    number = np.full(len(x), -1)
    number[hull.vertices] = np.arange(len(hull.vertices))
    corners = centred[hull.simplices]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    inward = np.einsum("fi,fi->f", normals, hull.equations[:, :3]) < 0
    faces = np.where(inward[:, None], hull.simplices[:, ::-1], hull.simplices)
    return x[hull.vertices], number[faces]
