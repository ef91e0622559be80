"""Shapes as plain values: what a scene description says of a body's solids."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..errors import ModelError
from ..geometry import Box, Capsule, Cylinder, Ellipsoid, HeightField, Mesh, MeshFile, Shape, Sphere, Torus
from ..geometry.mesh_file import NOT_DRAWN
from ..spatial.se3 import SE3
from .packed import indices, packed, rounded
from .simplify import simplified

TRIANGLES = 60_000  # of all meshes of a scene
SHELL = (0.84, 0.85, 0.87)  # meshes without a colour
STEPS = (1 << 16) - 1  # of a coordinate of a mesh, from its lowest to its highest
Surface = tuple[np.ndarray, np.ndarray]


def pose_values(E: SE3) -> list[float]:
    """Position and quaternion (w, x, y, z)."""
    return pose_rows(np.asarray(E.R, float)[None], np.asarray(E.p, float)[None])[0]


def pose_rows(R: np.ndarray, p: np.ndarray) -> list[list[float]]:
    """The same of many rotations (n, 3, 3) and positions (n, 3)."""
    return [[round(x, 9) for x in row] for row in quaternion_rows(R, p).tolist()]


def quaternion_rows(R: np.ndarray, p: np.ndarray) -> np.ndarray:
    """Positions and quaternions (n, 7) of rotations (n, 3, 3) and positions (n, 3)."""
    from scipy.spatial.transform import Rotation

    quat = Rotation.from_matrix(R).as_quat()[:, [3, 0, 1, 2]]
    return np.concatenate([p, quat], axis=1)


class Solids:
    """Collects the shapes of a scene; meshes that stand more than once are kept once.

    notes   a line for every mesh, or part of one, that cannot be drawn
    """

    def __init__(self) -> None:
        self.shapes: list[dict[str, Any]] = []
        self.notes: list[str] = []
        self._surfaces: list[Surface] = []
        self._known: dict[Any, list[int]] = {}

    def add(self, body: int, shape: Shape, layer: str = "visual") -> None:
        """A shape of a body; -1 is the world."""
        try:
            found = self._values(shape)
        except ModelError as error:
            self.notes.append(f"{NOT_DRAWN}{error}")
            return
        if isinstance(shape, MeshFile):
            self.notes += [f"{NOT_DRAWN}{line}" for line in shape.missing]
        for values in found:
            own = {"body": body, "layer": layer, **values}
            if shape.name != type(shape).__name__:
                own["name"] = shape.name
            if shape.color is not None and "color" not in own:
                own["color"] = [round(x, 3) for x in shape.color[:3]]
            if shape.color is not None and len(shape.color) == 4 and shape.color[3] < 1.0:
                own["opacity"] = round(shape.color[3], 3)
            if own.get("opacity") != 0.0:
                self.shapes.append(own)

    def meshes(self) -> list[dict[str, Any]]:
        """All meshes, simplified to what a page can show: corners in steps of their box, and triangles."""
        return [_mesh(v, f) for v, f in simplified(self._surfaces, TRIANGLES)] if self._surfaces else []

    def _values(self, shape: Any) -> list[dict[str, Any]]:
        if isinstance(shape, Sphere):
            return [{"kind": "sphere", "radius": float(shape.radius), "pose": [*shape.center.tolist(), 1.0, 0.0, 0.0, 0.0]}]
        if isinstance(shape, (Mesh, HeightField)):
            surface = shape.surface() if isinstance(shape, HeightField) else shape
            return [
                {"kind": "mesh", "mesh": self._one(id(shape), [(surface.vertices, surface.faces)])[0], "pose": pose_values(SE3())}
            ]
        if isinstance(shape, MeshFile):
            key = (shape.path, tuple(shape.scale))
            at = self._one(key, [(s.vertices, s.faces) for s in shape.surfaces] if key not in self._known else [])
            plain = SHELL if shape.color is None else shape.color[:3]
            colors = [{"color": [round(x, 3) for x in (plain if s.color is None else s.color)]} for s in shape.surfaces]
            pose = pose_values(shape.pose)
            return [{"kind": "mesh", "mesh": k, "pose": pose, **color} for k, color in zip(at, colors, strict=True)]
        for kind, names in FORMS.items():
            if isinstance(shape, kind):
                numbers = {name: np.asarray(getattr(shape, name), float).tolist() for name in names}
                return [{"kind": kind.__name__.lower(), **numbers, "pose": pose_values(shape.pose)}]
        raise ModelError(f"{shape.name}: a {type(shape).__name__} has no form to draw")

    def _one(self, key: Any, surfaces: Sequence[Surface]) -> list[int]:
        if key not in self._known:
            self._known[key] = [len(self._surfaces) + k for k in range(len(surfaces))]
            self._surfaces.extend(surfaces)
        return self._known[key]


FORMS: dict[type, tuple[str, ...]] = {
    Box: ("size",),
    Capsule: ("radius", "length"),
    Cylinder: ("radius", "length"),
    Ellipsoid: ("radii",),
    Torus: ("ring", "tube"),
}


def _mesh(vertices: np.ndarray, faces: np.ndarray) -> dict[str, Any]:
    low = vertices.min(axis=0)
    size = np.maximum(vertices.max(axis=0) - low, 1e-12)
    steps = np.round((vertices - low) / size * STEPS)
    return {
        "low": rounded(low, 9),
        "size": rounded(size, 9),
        "vertices": packed(steps, "u2"),
        "faces": indices(faces, len(vertices)),
    }
