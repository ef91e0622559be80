"""What the links of a URDF file look like and touch with: `<visual>`, `<collision>`, `<material>`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...errors import ModelError
from ...geometry import Box, Convex, Cylinder, MeshFile, Shape, Sphere
from ...geometry.mesh_file import LEFT_OUT
from ...spatial.se3 import SE3
from ..element import Element
from ..mesh_paths import MeshPaths
from .values import composed, number, numbers, origin

Note = Callable[[str], object]
LOOKED_AT = {"group": 0, "mask": 0}
TOUCHING = {"group": 2, "mask": 1}  # touches the ground and all shapes as they are made, but nothing of its own robot


class Looks:
    """Reads the shapes of links.

    root    of the file: the materials that have names
    paths   where meshes are
    touch   whether collision shapes touch, or are looked at only
    """

    def __init__(self, root: Element, paths: MeshPaths, touch: bool, note: Note) -> None:
        self._paths, self._touch, self._note = paths, touch, note
        self._hulls: dict[tuple[Any, ...], Convex] = {}  # by file and scale, as links share meshes
        self._colors = {m.require("name"): _color(m) for m in root.all("material")}

    def visuals(self, link: Element, pose: SE3) -> list[Shape]:
        """What a link looks like, in the axes in which it has the pose."""
        return self._shapes(link, "visual", pose)

    def collisions(self, link: Element, pose: SE3) -> list[Shape]:
        """What it touches with."""
        return self._shapes(link, "collision", pose)

    def _shapes(self, link: Element, tag: str, pose: SE3) -> list[Shape]:
        found = []
        for k, element in enumerate(link.all(tag)):
            name = element.get("name") or f"{link.get('name')} {tag} {k + 1}"
            try:
                found.append(self._shape(element, tag, name, pose))
            except ModelError as error:
                place = "" if f"line {element.line}" in str(error) else f"line {element.line}: "
                self._note(f"{LEFT_OUT}<{tag}>: {place}{error}")
        return found

    def _shape(self, element: Element, tag: str, name: str, pose: SE3) -> Shape:
        own: dict[str, Any] = {"name": name, **(TOUCHING if self._touch and tag == "collision" else LOOKED_AT)}
        color = self._color_of(element.child("material")) if tag == "visual" else None
        if color is not None:
            own["color"] = color
        at = composed(pose, origin(element.child("origin")))
        geometry = element.needed("geometry")
        if (box := geometry.child("box")) is not None:
            return Box(numbers(box, "size", 3, ""), at, **own)
        if (ball := geometry.child("sphere")) is not None:
            return Sphere(number(ball, "radius"), np.asarray(at.p, float), **own)
        if (rod := geometry.child("cylinder")) is not None:
            return Cylinder(number(rod, "radius"), number(rod, "length"), at, **own)
        mesh = geometry.needed("mesh")
        try:
            path = self._paths.find(mesh.require("filename"))
        except ValueError as error:
            raise mesh.error(str(error)) from None
        file = MeshFile(path, numbers(mesh, "scale", 3, "1 1 1"), at, name=name, color=color)
        if (
            tag == "visual" and file.missing_at_a_glance and not file.is_readable
        ):  # another visual, its shapes or a bone are seen instead
            raise mesh.error(file.missing[0])
        if own["group"]:
            return self._hull(file).placed(at, **own)
        return file

    def _hull(self, file: MeshFile) -> Convex:
        """The convex hull of a mesh, in the axes of its file."""
        key = file.path, *file.scale.tolist()
        if key not in self._hulls:
            self._hulls[key] = Convex(file.mesh().vertices, file.name)
        return self._hulls[key]

    def _color_of(self, material: Element | None) -> tuple[float, ...] | None:
        if material is None:
            return None
        own = _color(material)
        return own if own is not None else self._colors.get(material.get("name") or "")


def _color(material: Element) -> tuple[float, ...] | None:
    material.get("name")
    element = material.child("color")
    return None if element is None else tuple(np.clip(numbers(element, "rgba", 4, ""), 0.0, 1.0).tolist())


def of_parts(read: Callable[[Element, SE3], Sequence[Shape]], parts: Sequence[tuple[Element, SE3]]) -> list[Shape]:
    """The shapes of all links of a body."""
    return [shape for link, pose in parts for shape in read(link, pose)]
