"""A mesh in a file, to look at: read when somebody looks."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, Unpack

import numpy as np

from ..errors import ModelError
from ..spatial.gate import given_path
from ..spatial.kinds import explained
from ..spatial.scalar import Scalar, read_only
from ..spatial.se3 import SE3
from .collada import Piece, collada_pieces
from .mesh import Mesh
from .mesh_headers import is_sound
from .shapes import Attributes
from .solids import Placed

MOST_BYTES = 100 * 2**20
MOST_TRIANGLES = 5_000_000
MATERIALS = (".gltf", ".glb", ".obj")  # files that trimesh reads without their materials, too
NOT_DRAWN = "not drawn: "  # how notes of a model begin that say what cannot be seen of it
LEFT_OUT = "left out, a "  # and those of an element of a file, "<visual>: " comes next


class Surface(NamedTuple):
    """Triangles of one colour: vertices (n, 3), faces (m, 3), and the colour in the file, or None."""

    vertices: np.ndarray
    faces: np.ndarray
    color: tuple[float, ...] | None


class MeshFile(Placed):
    """Surfaces in a file that trimesh reads (STL, OBJ, DAE, PLY, glTF, ...), at a pose. They touch nothing.

    path    of the file; it is read by the first call of `surfaces`
    scale   a factor, or three along the axes of the file

    >>> shell = lw.MeshFile("arm.stl", scale=1e-3)
    """

    kind = "mesh file"

    @explained
    def __init__(self, path: str | Path, scale: Any = 1.0, pose: SE3 | None = None, **attributes: Unpack[Attributes]) -> None:
        file = given_path("MeshFile: path", path)
        attributes.setdefault("name", file.name)
        super().__init__(pose, {**attributes, "group": 0, "mask": 0})
        self.path = file
        try:
            self.scale = read_only(np.array(np.broadcast_to(np.asarray(scale, float), (3,))))
        except (TypeError, ValueError):
            raise ModelError(f"{self.name}: scale {scale!r} must be a number or three numbers") from None
        if not np.all(np.isfinite(self.scale)) or np.any(self.scale == 0):
            raise ModelError(f"{self.name}: scale {self.scale.tolist()} must be finite and not zero")

    @cached_property
    def surfaces(self) -> tuple[Surface, ...]:
        """The triangles of the file, scaled, in the axes of the pose; pieces of the same colour together."""
        found: dict[Any, list[tuple[np.ndarray, np.ndarray]]] = {}
        for piece in self._content[0]:
            vertices = piece.vertices * self.scale
            faces = _with_area(vertices, piece.faces[:, ::-1] if np.prod(self.scale) < 0 else piece.faces)
            if len(faces):
                found.setdefault(piece.color, []).append((vertices, faces))
        if not found:
            raise ModelError(f"{self.name}: there are no triangles in {self.path.name}")
        return tuple(Surface(*_joined(pieces, self.name), color) for color, pieces in found.items())

    @cached_property
    def missing(self) -> tuple[str, ...]:
        """A line for every part of the file that is not drawn; the reason, if nothing of it is."""
        try:
            _ = self.surfaces
        except ModelError as error:
            return (str(error),)
        return tuple(f"{self.name}: {line} in {self.path.name}" for line in self._content[1])

    @property
    def is_readable(self) -> bool:
        """Whether any of it can be drawn."""
        return not self.missing or "surfaces" in self.__dict__

    @cached_property
    def missing_at_a_glance(self) -> tuple[str, ...]:
        """`missing`, without reading the triangles of files whose headers say that they are sound."""
        return () if is_sound(self.path) else self.missing

    @cached_property
    def _content(self) -> tuple[list[Piece], list[str]]:
        return _read(self.path, self.name)

    def mesh(self, **attributes: Any) -> Mesh:
        """All surfaces as one mesh, in the axes of the pose."""
        vertices, faces = _joined([(s.vertices, s.faces) for s in self.surfaces], self.name)
        return Mesh(vertices, faces, self.name, **attributes)

    def bounding_box(self) -> tuple[np.ndarray, np.ndarray]:
        points = np.concatenate([s.vertices for s in self.surfaces]) @ self.R.T + self.p
        return points.min(axis=0), points.max(axis=0)

    def bounding_sphere(self) -> tuple[np.ndarray, Scalar]:
        low, high = self.bounding_box()
        return 0.5 * (low + high), float(0.5 * np.linalg.norm(high - low))

    def __repr__(self) -> str:
        return f"MeshFile({str(self.path)!r})"


def _read(path: Path, name: str) -> tuple[list[Piece], list[str]]:
    """The triangles of a file, and a line for everything in it that is none."""
    try:
        size = path.stat().st_size
    except OSError as error:
        raise ModelError(f"{name}: cannot read {path}: {error.strerror or error}") from None
    if size > MOST_BYTES:
        raise ModelError(f"{name}: it has {size / 2**20:.0f} MiB; meshes of more than {MOST_BYTES // 2**20} MiB are not read")
    try:
        pieces, lost = collada_pieces(path.read_bytes()) if path.suffix.lower() == ".dae" else _scene_pieces(path)
    except Exception as error:  # whatever the many readers raise
        raise ModelError(f"{name}: {path.name} cannot be read: {' '.join(str(error).split())}") from error
    if any(len(p.faces) and (p.faces.min() < 0 or p.faces.max() >= len(p.vertices)) for p in pieces):
        raise ModelError(f"{name}: triangles in {path.name} refer to vertices that it does not have")
    count = sum(len(piece.faces) for piece in pieces)
    if count > MOST_TRIANGLES:
        raise ModelError(f"{name}: it has {count} triangles; meshes of more than {MOST_TRIANGLES} are not read")
    return pieces, lost


def _scene_pieces(path: Path) -> tuple[list[Piece], list[str]]:
    """What trimesh reads; points and lines are no surfaces."""
    import trimesh  # takes long to import, and only files need it

    try:
        scene: Any = trimesh.load(path, force="scene", process=False)
    except Exception as error:  # perhaps of a material, without which the triangles can be read
        if path.suffix.lower() not in MATERIALS:
            raise
        try:
            scene = trimesh.load(path, force="scene", process=False, skip_materials=True)
        except Exception:
            raise error from None
    pieces, others = [], 0
    for node in scene.graph.nodes_geometry:
        E, name = scene.graph[node]
        mesh = scene.geometry[name]
        if getattr(mesh, "faces", None) is None or not len(mesh.faces):
            others += 1
            continue
        vertices, faces = np.asarray(mesh.vertices, float) @ E[:3, :3].T + E[:3, 3], np.asarray(mesh.faces)
        pieces.append(Piece(vertices, faces[:, ::-1] if np.linalg.det(E[:3, :3]) < 0 else faces, _color(mesh)))
    return pieces, [f"{others} pieces that are points or lines"] if others else []


def _with_area(vertices: np.ndarray, faces: np.ndarray) -> np.ndarray:
    """The faces that are no points or lines."""
    a, b, c = (vertices[k] for k in faces.T)
    with np.errstate(all="ignore"):  # numbers that are not finite are refused with their mesh
        return faces[np.any(np.cross(b - a, c - a) != 0.0, axis=1)]


def _color(mesh: Any) -> tuple[float, ...] | None:
    """The colour of a piece, where its file gives one."""
    kind = getattr(mesh.visual, "kind", None)
    if kind == "texture":
        given = getattr(mesh.visual.material, "main_color", None)
    elif kind in ("face", "vertex"):
        given = mesh.visual.main_color
    else:
        return None
    return None if given is None else tuple(round(float(x) / 255.0, 3) for x in given[:3])


def _joined(pieces: list[tuple[np.ndarray, np.ndarray]], name: str) -> tuple[np.ndarray, np.ndarray]:
    starts = np.cumsum([0, *(len(v) for v, _ in pieces[:-1])])
    vertices = np.concatenate([v for v, _ in pieces])
    if not np.all(np.isfinite(vertices)):
        raise ModelError(f"{name}: some of its vertices are not finite")
    return vertices, np.concatenate([f + k for (_, f), k in zip(pieces, starts, strict=True)])
