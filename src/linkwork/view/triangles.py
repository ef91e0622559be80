"""A model as triangles: what files of other programs, films and pictures without a browser are made of."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..contact import Contact
from ..errors import ModelError
from ..geometry import Box, Capsule, Convex, Cylinder, Ellipsoid, HeightField, Mesh, MeshFile, Plane, Shape, Sphere, Torus
from ..model import Model
from ..spatial.se3 import SE3
from .description import colors
from .drawn import drawn

AROUND = 24  # faces around a round shape
QUARTER = 6  # faces from its side to its pole
WORLD_COLOR = (0.72, 0.74, 0.77)


class Surface(NamedTuple):
    """Triangles of one colour on a body (-1 is the world), in its axes: vertices (n, 3), faces (m, 3), (red, green, blue)."""

    body: int
    vertices: np.ndarray
    faces: np.ndarray
    color: tuple[float, ...]


def surfaces(model: Model) -> list[Surface]:
    """All that there is to see of a model, as pages show it."""
    own = [tuple(color) for color in colors(model.nb)]
    found = []
    for body, shape, layer in drawn(model).shapes:
        if layer == "visual":
            found += _surfaces(body, shape, WORLD_COLOR if body < 0 else own[body])
    return found


def planes(model: Model) -> list[tuple[np.ndarray, np.ndarray]]:
    """Points and normals of the planes in the world."""
    own = [s for s in model.world_shapes if isinstance(s, Plane)]
    pairs = [zip(c.bodies, c.shapes, strict=True) for c in model.elements_of(Contact)]
    own += [s for pair in pairs for name, s in pair if isinstance(s, Plane) and name == "world"]
    return [(np.asarray(s.point, float), np.asarray(s.normal, float)) for s in own]


def ground(point: np.ndarray, normal: np.ndarray, middle: np.ndarray, size: float) -> np.ndarray:
    """The corners (4, 3) of a square on a plane, near a point."""
    centre = middle - (middle - point) @ normal * normal
    x = np.cross(normal, np.eye(3)[np.argmin(np.abs(normal))])
    x /= np.linalg.norm(x)
    y = np.cross(normal, x)
    return np.array([centre + 0.5 * size * (a * x + b * y) for a, b in ((-1, -1), (1, -1), (1, 1), (-1, 1))])


def triangles(shape: Shape) -> tuple[np.ndarray, np.ndarray]:
    """Vertices (n, 3) and faces (m, 3) of a shape in the axes of its body; they face outward."""
    if isinstance(shape, Sphere):
        return _turned(shape.radius * _bow(), SE3(p=shape.center))
    if isinstance(shape, Box):
        corners = np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)]) * shape.size
        quads = ((0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3))
        return _placed(corners, shape), np.array([f for a, b, c, d in quads for f in ((a, b, c), (a, c, d))])
    if isinstance(shape, Capsule):
        bow = shape.radius * _bow()
        up = np.array([0.0, 0.5 * shape.length])
        return _turned(np.concatenate([bow[: QUARTER + 1] - up, bow[QUARTER:] + up]), shape)
    if isinstance(shape, Cylinder):
        r, half = shape.radius, 0.5 * shape.length
        return _turned(np.array([[0, -half], [r, -half], [r, half], [0, half]], float), shape)
    if isinstance(shape, Ellipsoid):
        vertices, faces = _turned(_bow(), SE3())
        return _placed(vertices * shape.radii, shape), faces
    if isinstance(shape, Torus):
        return _ring(shape)
    if isinstance(shape, Convex):
        return _hull(shape)
    if isinstance(shape, HeightField):
        shape = shape.surface()
    if isinstance(shape, Mesh):
        return np.asarray(shape.vertices, float), np.asarray(shape.faces, int)
    low, high = shape.bounding_box()
    return triangles(Box(high - low, SE3(p=0.5 * (low + high))))


def _surfaces(body: int, shape: Shape, color: tuple[float, ...]) -> list[Surface]:
    """A shape in its own colour, or that of its body; a file of meshes has several."""
    own = tuple(shape.color[:3]) if shape.color is not None else color
    if not isinstance(shape, MeshFile):
        return [Surface(body, *triangles(shape), own)]
    try:
        parts = shape.surfaces
    except ModelError:  # a file that cannot be read any more; pages say so
        return []
    return [
        Surface(body, _placed(part.vertices, shape.pose), np.asarray(part.faces, int), tuple((part.color or own)[:3]))
        for part in parts
    ]


def _placed(vertices: np.ndarray, shape: Shape | SE3) -> np.ndarray:
    R, p = np.asarray(shape.R, float), np.asarray(shape.p, float)  # type: ignore[union-attr]
    return vertices @ R.T + p


def _bow() -> np.ndarray:
    """(radius, height) from the lower to the upper pole of a unit ball."""
    angle = np.linspace(-0.5 * np.pi, 0.5 * np.pi, 2 * QUARTER + 1)
    found = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    found[[0, -1], 0] = 0.0
    return found


def _turned(line: np.ndarray, place: Shape | SE3) -> tuple[np.ndarray, np.ndarray]:
    """The solid that a line of (radius, height), from one pole on the axis to the other, makes when it turns about z."""
    angle = 2.0 * np.pi / AROUND * np.arange(AROUND)
    rings = [np.stack([r * np.cos(angle), r * np.sin(angle), np.full(AROUND, z)], axis=1) for r, z in line[1:-1]]
    vertices = np.concatenate([[[0, 0, line[0, 1]]], *rings, [[0, 0, line[-1, 1]]]])
    i, j = np.arange(AROUND), (np.arange(AROUND) + 1) % AROUND
    last = len(vertices) - 1
    faces = [np.stack([np.zeros(AROUND, int), 1 + j, 1 + i], axis=1)]
    for k in range(len(rings) - 1):
        a = 1 + k * AROUND
        faces += [np.stack([a + i, a + j, a + AROUND + j], axis=1), np.stack([a + i, a + AROUND + j, a + AROUND + i], axis=1)]
    top = last - AROUND
    faces.append(np.stack([top + i, top + j, np.full(AROUND, last)], axis=1))
    return _placed(vertices, place), np.concatenate(faces)


def _ring(shape: Torus) -> tuple[np.ndarray, np.ndarray]:
    u, v = (2.0 * np.pi / n * np.arange(n) for n in (AROUND, AROUND // 2))
    out = shape.ring + shape.tube * np.cos(v)
    grid = np.stack(
        [np.outer(np.cos(u), out), np.outer(np.sin(u), out), np.tile(shape.tube * np.sin(v), (AROUND, 1))], axis=-1
    ).reshape(-1, 3)
    n, faces = AROUND // 2, []
    for i in range(AROUND):
        for j in range(n):
            a, b = i * n + j, ((i + 1) % AROUND) * n + j
            c, d = ((i + 1) % AROUND) * n + (j + 1) % n, i * n + (j + 1) % n
            faces += [(a, b, c), (a, c, d)]
    return _placed(grid, shape), np.array(faces)


def _hull(shape: Convex) -> tuple[np.ndarray, np.ndarray]:
    return np.asarray(shape.vertices, float), np.array(
        [(f[0], f[k], f[k + 1]) for f in shape.outlines for k in range(1, len(f) - 1)]
    )
