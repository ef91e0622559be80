"""What a shape looks like: a ball, a box, or corners and flat faces that face outward."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..geometry import Box, Capsule, Convex, Cylinder, Ellipsoid, HeightField, Mesh, Shape, Sphere, Torus

AROUND = 16  # faces around a round shape
TUBE = 8  # faces around the tube of a torus
QUARTER = 4  # faces from its side to its pole
LARGEST = 2000  # triangles of a mesh: larger ones are drawn as the box around them


def drawn(shape: Shape) -> dict[str, Any]:
    """A shape as plain values, in the axes of its body; planes have no body and are not drawn by this."""
    found = _solid(shape)
    if shape.color is not None:
        found["color"] = [round(255 * c) for c in shape.color[:3]]
    return found


def _solid(shape: Shape) -> dict[str, Any]:
    if isinstance(shape, Sphere):
        return {"kind": "sphere", "radius": float(shape.radius), "center": shape.center.tolist()}
    if isinstance(shape, Box):
        return {"kind": "box", "size": shape.size.tolist(), "axes": shape.R.T.tolist(), "center": shape.p.tolist()}
    if isinstance(shape, Capsule):
        half, radius = 0.5 * shape.length, shape.radius
        bow = [(radius * np.cos(a), half + radius * np.sin(a)) for a in np.linspace(0.0, 0.5 * np.pi, QUARTER + 1)]
        return _turned(bow, shape)
    if isinstance(shape, Cylinder):
        return _turned([(shape.radius, 0.5 * shape.length), (0.0, 0.5 * shape.length)], shape)
    if isinstance(shape, Ellipsoid):
        bow = [(np.cos(a), np.sin(a)) for a in np.linspace(0.0, 0.5 * np.pi, QUARTER + 1)]
        return _turned(bow, shape, shape.radii)
    if isinstance(shape, Torus):
        return _ringed(shape)
    if isinstance(shape, Convex):
        index = {tuple(x): k for k, x in enumerate(shape.vertices)}
        loops = [list(dict.fromkeys(index[tuple(x)] for x in corners)) for corners in shape.corners]
        return _mesh(shape.vertices, loops)
    surface = shape.surface() if isinstance(shape, HeightField) else shape
    if isinstance(surface, Mesh) and len(surface.faces) <= LARGEST:
        return _mesh(surface.vertices, surface.faces.tolist())
    low, high = shape.bounding_box()
    box = {"kind": "box", "size": (high - low).tolist(), "center": (0.5 * (low + high)).tolist()}
    return box | {"axes": np.eye(3).tolist()}


def _turned(bow: Sequence[tuple[float, float]], shape: Any, scale: Any = 1.0) -> dict[str, Any]:
    """The solid that a line of (radius, height) above z = 0, up to the axis, and its mirror image make when they turn."""
    line = [(r, -z) for r, z in reversed(bow)]
    line += [(r, z) for r, z in bow if (r, z) != line[-1]]
    angles = 2.0 * np.pi / AROUND * np.arange(AROUND)
    rings = np.array([[(r * np.cos(a), r * np.sin(a), z) for a in angles] for r, z in line])
    faces = []
    for k in range(len(line) - 1):
        for i in range(AROUND):
            j = (i + 1) % AROUND
            ring = [(k, i, 0), (k, j, 0), (k + 1, j, 1), (k + 1, i, 1)]
            poles = [line[k][0] < 1e-12, line[k + 1][0] < 1e-12]
            corners = [row * AROUND + (0 if poles[end] else at) for row, at, end in ring]
            faces.append(list(dict.fromkeys(corners)))
    return _mesh((rings.reshape(-1, 3) * scale) @ shape.R.T + shape.p, faces)


def _ringed(shape: Torus) -> dict[str, Any]:
    """A torus as quadrangles."""
    around, tube = 2.0 * np.pi / AROUND * np.arange(AROUND), 2.0 * np.pi / TUBE * np.arange(TUBE)
    out = shape.ring + shape.tube * np.cos(tube)
    rings = np.array(
        [[(r * np.cos(a), r * np.sin(a), z) for r, z in zip(out, shape.tube * np.sin(tube), strict=True)] for a in around]
    )
    faces = []
    for i in range(AROUND):
        for j in range(TUBE):
            corners = ((i, j), (i + 1, j), (i + 1, j + 1), (i, j + 1))
            faces.append([(a % AROUND) * TUBE + b % TUBE for a, b in corners])
    return _mesh(rings.reshape(-1, 3) @ shape.R.T + shape.p, faces)


def _mesh(vertices: np.ndarray, faces: list[list[int]]) -> dict[str, Any]:
    return {"kind": "mesh", "vertices": np.round(vertices, 6).tolist(), "faces": faces}
