"""Forms that many instances share: triangles of unit size, which instances scale."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, NamedTuple

import numpy as np

from ...geometry import Box, Capsule, Cylinder, Sphere, Torus
from ..packed import unpacked
from ..solids import STEPS
from ..triangles import triangles

ROUND = ("sphere", "capsule", "torus")  # shaded smoothly


class Form(NamedTuple):
    """Triangles: corners (n, 3) and faces (m, 3), and whether their edges are sharp."""

    corners: np.ndarray
    faces: np.ndarray
    sharp: bool


def form_of(shape: dict[str, Any]) -> tuple[Hashable, np.ndarray]:
    """Which form a shape of a description has, and its scale (3,)."""
    kind = shape["kind"]
    if kind == "box":
        return "box", np.array(shape["size"])
    if kind == "sphere":
        return "sphere", np.full(3, shape["radius"])
    if kind == "ellipsoid":
        return "sphere", np.array(shape["radii"])
    if kind == "cylinder":
        return "cylinder", np.array([shape["radius"], shape["radius"], shape["length"]])
    numbers = {"capsule": ("radius", "length"), "torus": ("ring", "tube"), "mesh": ("mesh",)}[kind]
    return (kind, *(shape[name] for name in numbers)), np.ones(3)


def made(form: Any, meshes: list[dict[str, Any]]) -> Form:
    """The triangles of a form.

    meshes   of the description
    """
    kind, *numbers = form if isinstance(form, tuple) else (form,)
    if kind == "mesh":
        return Form(*mesh_of(meshes[numbers[0]]), True)
    if kind == "sector":
        return Form(*sector(*numbers), True)
    shapes = {"box": lambda: Box((1, 1, 1)), "sphere": lambda: Sphere(1.0), "cylinder": lambda: Cylinder(1.0, 1.0)}
    shapes |= {"capsule": lambda: Capsule(*numbers), "torus": lambda: Torus(*numbers)}
    return Form(*triangles(shapes[kind]()), kind not in ROUND)


def mesh_of(mesh: dict[str, Any]) -> tuple[np.ndarray, np.ndarray]:
    """Corners and faces of a mesh of a description."""
    corners = np.array(mesh["low"]) + unpacked(mesh["vertices"]) / STEPS * np.array(mesh["size"])
    return corners, unpacked(mesh["faces"]).reshape(-1, 3).astype(int)


def sector(low: float, high: float, inner: float) -> tuple[np.ndarray, np.ndarray]:
    """A part of a flat ring about z, seen from both sides, from one angle to another; its outer radius is 1."""
    angle = np.linspace(low, high, 32)
    ring = np.stack([np.cos(angle), np.sin(angle), np.zeros(len(angle))], axis=1)
    k = np.arange(len(angle) - 1)
    a, b, c, d = k, k + 1, k + len(angle) + 1, k + len(angle)
    up = np.concatenate([np.stack([d, c, b], axis=1), np.stack([d, b, a], axis=1)])
    return np.concatenate([inner * ring, ring]), np.concatenate([up, up[:, ::-1]])
