"""Contacts of shapes that no compiled function serves, from Coal (package `coal`, extra `meshes`), for one state at a time.

Coal finds the normal along which two shapes are nearest, or overlap, and `patches` the points where their features then meet. A
surface of triangles, as that of a height field, touches with each of them; see `triangles` for what is kept.
Hulls and meshes over a plane need no Coal: their corners touch.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..errors import ModelError, SolverError
from ..geometry import Box, Capsule, Convex, Cylinder, Ellipsoid, HeightField, Mesh, Plane, Shape, Sphere
from ..geometry.checks import LARGEST
from ..spatial.se3 import SE3
from .implied import without_implied
from .overlap import least_overlap
from .patches import face_normal, feature, patch
from .point import ContactPoint
from .triangles import Triangles

STILL = SE3()
SLOTS = 8
ACCURACIES = (1e-6, 1e-4)  # of distances, m: where the first fails (curved shapes deep in each other), the next is tried
ITERATIONS = 1000
TRIANGLES = 256  # contacts of single triangles that Coal is asked for
WRONG = 0.05  # of the size of the smaller shape: a normal along which shapes overlap by so much more than Coal says is none
SAME = 1e-6  # of the distance between points that tells them apart, over the size of the smaller shape


class CoalPair:
    """Two shapes that touch by way of Coal; called with the poses of their bodies, it returns `SLOTS` slots.

    margin   gaps up to which a point counts
    """

    def __init__(self, a: Shape, b: Shape, margin: float = 0.01) -> None:
        self.margin = float(margin)
        if all(isinstance(s, Plane | HeightField) for s in (a, b)):
            raise ModelError(f"contact of {a.kind} and {b.kind}: neither has an end to be kept out of the other")
        self.a, self.b = (s.surface() if isinstance(s, HeightField) else s for s in (a, b))
        if all(_is_surface(s) for s in (self.a, self.b)):
            raise ModelError(f"contact of {a.kind} and {b.kind}: two surfaces of triangles; make one of them of Convex pieces")
        self.size = min(float(s.bounding_sphere()[1]) for s in (a, b))
        self._surface = next((Triangles(s) for s in (self.a, self.b) if isinstance(s, Mesh) and _is_surface(s)), None)
        self._over_plane = any(isinstance(s, Plane) for s in (a, b)) and any(isinstance(s, Mesh) for s in (a, b))
        if any(isinstance(s, Plane) for s in (a, b)) and not self._over_plane:
            raise ModelError(f"contact of {a.kind} and {b.kind} is compiled; use `pairs.contact_points`")
        if not self._over_plane:
            self._a, self._b = geometry(self.a), geometry(self.b)

    def __call__(self, E_a: SE3, E_b: SE3, margin: float | None = None) -> tuple[ContactPoint, ...]:
        """The contact points, the deepest first; slots that are off follow."""
        margin = self.margin if margin is None else margin
        found = self._corners(E_a, E_b, margin) if self._over_plane else self._from_coal(E_a, E_b, margin)
        if self._surface is not None or self._over_plane:  # patches of triangles side by side; one alone is convex
            found = without_implied(found, SAME * self.size)
        kept = spread(found, SLOTS, SAME * self.size)
        away = ContactPoint(np.zeros(3), np.array([0.0, 0.0, 1.0]), margin, 0.0)
        return (*kept, *[away] * (SLOTS - len(kept)))

    def _corners(self, E_a: SE3, E_b: SE3, margin: float) -> list[ContactPoint]:
        """Corners of a mesh over a plane."""
        first = isinstance(self.a, Mesh)
        mesh, E, plane = (self.a, E_a, self.b.moved(E_b)) if first else (self.b, E_b, self.a.moved(E_a))
        assert isinstance(mesh, Mesh)
        n = np.asarray(plane.normal, float)
        x = mesh.vertices[np.unique(mesh.faces)] @ np.asarray(E.R, float).T + np.asarray(E.p, float)
        gaps = (x - plane.point) @ n
        return [ContactPoint(x[i] - gaps[i] * n, n if first else -n, float(gaps[i]), 1.0) for i in np.flatnonzero(gaps <= margin)]

    def _from_coal(self, E_a: SE3, E_b: SE3, margin: float) -> list[ContactPoint]:
        coal = _coal()
        poses = [_transform(s, E) for s, E in ((self.a, E_a), (self.b, E_b))]
        arguments = (self._a, poses[0], self._b, poses[1])
        contacts = self._contacts(coal, arguments, margin)
        if contacts is None:
            return self._deep_inside(E_a, E_b)
        if self._surface is not None:
            contacts = self._real(self._surface, contacts, E_a if _is_surface(self.a) else E_b)
        found: list[ContactPoint] = []
        for contact in contacts:
            n = -np.array(contact.normal)
            of_a, of_b = _touching(self.a, E_a, contact.b1, -n), _touching(self.b, E_b, contact.b2, n)
            if self._surface is None and contact.penetration_depth < 0.0:
                other = _touching(self.a, E_a, 0, n), _touching(self.b, E_b, 0, -n)
                if _clearance(*other, -n) > _clearance(of_a, of_b, n):
                    # Where shapes touch without depth, Coal may find the way out at the far side
                    found += patch(*other, -n) or [_between(*other, -n)]
                    continue
            if self._surface is None and _clearance(of_a, of_b, n) < contact.penetration_depth - WRONG * self.size:
                found += self._deep_inside(E_a, E_b)  # of shapes that only just touch, Coal may return a normal of rounding
                continue
            found += [x for x in self._patch(E_a, E_b, n, contact.b1, contact.b2) if x.gap <= margin] or [_point(contact)]
        return found

    def _patch(self, E_a: SE3, E_b: SE3, n: np.ndarray, b1: int = 0, b2: int = 0) -> list[ContactPoint]:
        """Corners of the overlap of what touches along a normal, or along that of a face that is near it.

        b1, b2   the triangles that touch, of surfaces of triangles
        """
        of_a, of_b = _touching(self.a, E_a, b1, -n), _touching(self.b, E_b, b2, n)
        up = face_normal(of_a, of_b, n)
        over = [] if up is n else patch(_touching(self.a, E_a, b1, -up), _touching(self.b, E_b, b2, up), up)
        return over or patch(of_a, of_b, n)

    def _contacts(self, coal: Any, arguments: tuple[Any, ...], margin: float) -> list[Any] | None:
        """What Coal finds; None where it knows no depth."""
        for accuracy in ACCURACIES:
            request, result = coal.CollisionRequest(), coal.CollisionResult()
            request.num_max_contacts, request.security_margin = TRIANGLES, margin
            request.gjk_tolerance = request.epa_tolerance = accuracy
            request.gjk_max_iterations = request.epa_max_iterations = ITERATIONS
            coal.collide(*arguments, request, result)
            found = [result.getContact(i) for i in range(result.numContacts())]
            if all(abs(c.penetration_depth) < LARGEST for c in found):
                return found
        return None

    def _deep_inside(self, E_a: SE3, E_b: SE3) -> list[ContactPoint]:
        """The contact along the shortest way out."""
        if self._surface is not None:
            raise SolverError(
                f"{self.a.name!r} ({self.a.kind}) and {self.b.name!r} ({self.b.kind}): Coal finds no depth of a shape inside a "
                "surface of triangles; start them apart, take shorter steps, or make the surface of Convex pieces"
            )

        def along(shape: Shape, E: SE3) -> Any:
            return lambda d: float((_touching(shape, E, 0, d) @ d).max())

        n, depth = least_overlap(along(self.a, E_a), along(self.b, E_b))
        low, high = _touching(self.a, E_a, 0, -n), _touching(self.b, E_b, 0, n)
        return self._patch(E_a, E_b, n) or [_between(low, high, n)._replace(gap=-depth)]

    def _real(self, surface: Triangles, contacts: list[Any], E: SE3) -> list[Any]:
        """Contacts of the surface; those with edges of it only where none with a face lies as low."""
        first = _is_surface(self.a)
        R, p = np.asarray(E.R, float), np.asarray(E.p, float)
        faces, edges = [], []
        for c in contacts:
            triangle, n = (c.b1, R.T @ c.normal) if first else (c.b2, -(R.T @ c.normal))
            x = R.T @ ((c.getNearestPoint1() if first else c.getNearestPoint2()) - p)
            if surface.is_real(triangle, x, n):
                (faces if surface.is_face(triangle, n) else edges).append((c, x, n))
        deep = max((abs(c.penetration_depth) for c, _, _ in faces), default=0.0) + SAME * self.size
        apart = [c for c, x, _ in edges if not any(abs(m @ (x - y)) <= deep for _, y, m in faces)]
        return [c for c, _, _ in faces] + apart


def _touching(shape: Any, E: SE3, triangle: int, n: np.ndarray) -> np.ndarray:
    """What of a shape touches along n, in the world."""
    if _is_surface(shape):
        return shape.vertices[shape.faces[triangle]] @ np.asarray(E.R, float).T + np.asarray(E.p, float)
    return feature(shape, *_frame(shape, E), n)


def is_flat(shape: Any, n: np.ndarray) -> bool:
    """Whether a shape has a face along n, in the axes of its body; surfaces of triangles say no, whichever triangle it is."""
    if isinstance(shape, Plane):
        return True
    return not _is_surface(shape) and len(_touching(shape, STILL, 0, n)) > 2


def _is_surface(shape: Shape) -> bool:
    return isinstance(shape, Mesh) and not isinstance(shape, Convex)


def spread(points: list[ContactPoint], count: int, same: float) -> list[ContactPoint]:
    """At most so many of some points, the deepest first, then always the one farthest from those taken."""
    if not points:
        return []
    x = np.array([p.point for p in points])
    taken = [int(np.argmin([p.gap for p in points]))]
    away = np.linalg.norm(x - x[taken[0]], axis=1)
    while len(taken) < count and away.max() > same:
        taken.append(int(np.argmax(away)))
        away = np.minimum(away, np.linalg.norm(x - x[taken[-1]], axis=1))
    return [points[i] for i in taken]


def geometry(shape: Shape) -> Any:
    """The shape as Coal knows it, about its own frame."""
    for kind, make in MAKERS.items():
        if type(shape) is kind:
            return make(_coal(), shape)
    raise ModelError(f"{shape.name}: contact of a {type(shape).__name__} is not available")


def _coal() -> Any:
    try:
        import coal  # an extra, and it takes long to import
    except ImportError as error:
        raise ModelError("contact of meshes, hulls, cylinders and ellipsoids needs Coal: pip install coal") from error
    return coal


def _hull(coal: Any, shape: Convex) -> Any:
    points, triangles = coal.StdVec_Vec3s(), coal.StdVec_Triangle()
    for x in shape.vertices:
        points.append(np.array(x))
    for face in shape.faces:
        triangles.append(coal.Triangle(*map(int, face)))
    return coal.Convex(points, triangles)


def _mesh(coal: Any, shape: Mesh) -> Any:
    made = coal.BVHModelOBBRSS()
    made.beginModel(len(shape.faces), len(shape.vertices))
    made.addVertices(np.array(shape.vertices))
    made.addTriangles(np.array(shape.faces, np.int64))
    made.endModel()
    return made


MAKERS: dict[type[Shape], Callable[[Any, Any], Any]] = {
    Sphere: lambda coal, s: coal.Sphere(s.radius),
    Box: lambda coal, s: coal.Box(*map(float, s.size)),
    Capsule: lambda coal, s: coal.Capsule(s.radius, s.length),
    Cylinder: lambda coal, s: coal.Cylinder(s.radius, s.length),
    Ellipsoid: lambda coal, s: coal.Ellipsoid(*map(float, s.radii)),
    Convex: _hull,
    Mesh: _mesh,
}


def _frame(shape: Any, E: SE3) -> tuple[np.ndarray, np.ndarray]:
    """The rotation and the position in the world of the frame that Coal's shape is about."""
    R, p = np.asarray(E.R, float), np.asarray(E.p, float)
    if isinstance(shape, Sphere):
        return R, p + R @ shape.center
    return (R, p) if isinstance(shape, Mesh) else (R @ shape.R, p + R @ shape.p)


def _transform(shape: Any, E: SE3) -> Any:
    R, p = _frame(shape, E)
    return _coal().Transform3s(np.array(R), np.array(p))


def _clearance(a: np.ndarray, b: np.ndarray, n: np.ndarray) -> float:
    """How far the feature a is above b along n."""
    return float((a @ n).min() - (b @ n).max())


def _between(a: np.ndarray, b: np.ndarray, n: np.ndarray) -> ContactPoint:
    """Midway between the points of two features that are nearest along n."""
    x, y = a[np.argmin(a @ n)], b[np.argmax(b @ n)]
    return ContactPoint(0.5 * (x + y), n, float(n @ (x - y)), 1.0)


def _point(contact: Any) -> ContactPoint:
    return ContactPoint(np.array(contact.pos), -np.array(contact.normal), contact.penetration_depth, 1.0)
