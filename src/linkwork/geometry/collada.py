"""COLLADA files (.dae) as triangles with their colours, whatever is wrong with their textures and materials.

A material that refers to a missing image, surface or effect takes nothing from the surface but its colour. Units and the upward
axis of a file are left as they are; robots' files are written for readers that do so.
"""

from __future__ import annotations

import importlib
import io
from collections.abc import Iterator
from typing import Any, NamedTuple
from xml.etree import ElementTree

import numpy as np

FACES = ("triangles", "tristrips", "trifans", "polylist", "polygons")
EDGES = ("lines", "linestrips")
OTHER = ("extra", "source", "vertices")


class Piece(NamedTuple):
    """Triangles of one colour: vertices (n, 3), faces (m, 3), (red, green, blue) from 0 to 1 or None."""

    vertices: np.ndarray
    faces: np.ndarray
    color: tuple[float, ...] | None


def collada_pieces(data: bytes) -> tuple[list[Piece], list[str]]:
    """All triangles of a COLLADA file, in the axes of its scene, and a line for everything in it that is none."""
    root = ElementTree.fromstring(data)
    lost = [*_without_edges(root), *_without_broken_inputs(root)]
    document = _loaded(root)
    if document.errors:
        known = {material.id for material in document.materials}
        for parent in list(root.iter()):
            for element in [x for x in parent if _tag(x) == "instance_material"]:
                if (element.get("target") or "#")[1:] not in known:
                    parent.remove(element)
        document = _loaded(root)
    found: list[Piece] = []
    instances = 0
    for geometry, materials, E in _instances(document):
        instances += 1
        colors = {m.symbol: _color(m.target.effect) for m in materials if m.target is not None}
        for primitive in geometry.primitives:
            found += _triangles(primitive, E, colors)
    wanted = sum(1 for name in ("instance_geometry", "instance_controller") for _ in _named(root, name))
    geometries = sum(1 for _ in _named(root, "geometry"))
    if instances < wanted or len(document.geometries) < geometries:
        reason = next(map(str, document.errors), "broken references")
        lost.append(f"pieces that cannot be read ({' '.join(reason.split())})")
    return found, lost


def _loaded(root: Any) -> Any:
    collada: Any = importlib.import_module("collada")
    return collada.Collada(io.BytesIO(ElementTree.tostring(root)), ignore=[collada.common.DaeError])


def _named(root: Any, name: str) -> list[Any]:
    """All elements with a tag, in any namespace."""
    return [element for element in root.iter() if _tag(element) == name]


def _tag(element: Any) -> str:
    """Its name without the namespace."""
    return element.tag.rpartition("}")[2]


def _without_edges(root: Any) -> list[str]:
    """Take everything that is no face out of the meshes, as one such element makes the reader drop all faces beside it."""
    removed = 0
    for mesh in _named(root, "mesh"):
        for element in list(mesh):
            tag = _tag(element)
            if tag in (*FACES, *OTHER):
                continue
            mesh.remove(element)
            removed += tag in EDGES
    return ["lines"] if removed else []


def _without_broken_inputs(root: Any) -> list[str]:
    """Take normals, texture coordinates and colours without source from the faces, and faces without points from the meshes."""
    removed = 0
    for mesh in _named(root, "mesh"):
        known = {element.get("id") for element in mesh}
        for faces in [element for element in mesh if _tag(element) in FACES]:
            inputs = [element for element in faces if _tag(element) == "input"]
            broken = [x for x in inputs if (x.get("source") or "#")[1:] not in known]
            if any(x.get("semantic") == "VERTEX" for x in broken):
                mesh.remove(faces)
                removed += 1
            elif broken:
                _keep_columns(faces, inputs, broken)
    return [f"{removed} sets of faces without points"] if removed else []


def _keep_columns(faces: Any, inputs: list[Any], broken: list[Any]) -> None:
    """Remove inputs of faces, and their columns from the indices if nothing else uses them."""
    stride = 1 + max(int(x.get("offset") or 0) for x in inputs)
    kept = sorted({int(x.get("offset") or 0) for x in inputs if x not in broken})
    for x in broken:
        faces.remove(x)
    for x in inputs:
        x.set("offset", str(kept.index(int(x.get("offset") or 0)) if x not in broken else 0))
    for p in [element for element in faces if _tag(element) == "p"]:
        numbers = (p.text or "").split()
        rows = [numbers[k : k + stride] for k in range(0, len(numbers), stride)]
        p.text = " ".join(row[k] for row in rows for k in kept)


def _instances(document: Any) -> Iterator[tuple[Any, list[Any], np.ndarray]]:
    """Every geometry that stands in the scene with its materials and pose; all that the file has if it has no scene."""
    if document.scene is None:
        for geometry in document.geometries:
            yield geometry, [], np.eye(4)
        return
    stack = [(node, np.eye(4)) for node in reversed(document.scene.nodes)]
    while stack:
        node, E = stack.pop()
        if hasattr(node, "geometry"):
            yield node.geometry, node.materials, E
        elif hasattr(node, "controller"):
            skin = node.controller
            bind = getattr(skin, "bind_shape_matrix", np.eye(4))
            yield skin.geometry, node.materials, E @ np.asarray(bind, float).reshape(4, 4)
        elif getattr(node, "children", None):
            E = E @ np.asarray(getattr(node, "matrix", np.eye(4)), float)
            stack += [(child, E) for child in reversed(node.children)]


def _triangles(primitive: Any, E: np.ndarray, colors: dict[str, tuple[float, ...] | None]) -> Iterator[Piece]:
    if hasattr(primitive, "triangleset"):
        primitive = primitive.triangleset()
    if primitive.vertex is None or primitive.vertex_index is None or not len(primitive.vertex_index):
        return
    points = np.asarray(primitive.vertex, float) @ E[:3, :3].T + E[:3, 3]
    corners = np.asarray(primitive.vertex_index, np.int64).reshape(-1, 3)
    faces = corners[:, ::-1] if np.linalg.det(E[:3, :3]) < 0.0 else corners
    used, of = np.unique(faces, return_inverse=True)
    yield Piece(
        points[used], of.reshape(-1, 3), colors[primitive.material] if primitive.material in colors else _painted(primitive)
    )


def _painted(primitive: Any) -> tuple[float, ...] | None:
    """The mean colour of the corners, if the file has colours there."""
    given = primitive.sources.get("COLOR") or ()
    if not given:
        return None
    offset, source = given[0][0], given[0][4]
    rgb = np.asarray(source.data, float)[primitive.index[:, :, offset].reshape(-1), :3]
    return tuple(np.clip(rgb.mean(axis=0), 0.0, 1.0).round(3).tolist()) if rgb.shape[1] == 3 else None


def _color(effect: Any) -> tuple[float, ...] | None:
    """The diffuse colour of a material; white where it has a texture."""
    given = getattr(effect, "diffuse", None)
    rgb = (1.0, 1.0, 1.0) if given is None or not isinstance(given, (tuple, list, np.ndarray)) else given[:3]
    return tuple(round(float(np.clip(x, 0.0, 1.0)), 3) for x in rgb)
