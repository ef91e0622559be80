"""Geoms of a compiled MuJoCo model as shapes, and which of them may touch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...contact import Contact
from ...contact.candidates import candidates
from ...contact.pairs import is_compiled
from ...geometry import Box, Capsule, Convex, Cylinder, Ellipsoid, HeightField, Plane, Shape, Sphere
from ...model.model import WORLD, Model
from ...spatial.se3 import SE3
from .bodies import Tree, pose_of

PLANE, HFIELD, SPHERE, CAPSULE, ELLIPSOID, CYLINDER, BOX, MESH = range(8)  # mjtGeom


def shapes_of(m: Any, tree: Tree, note: Callable[[str], object]) -> dict[str, dict[int, Shape]]:
    """The shapes of every body of the model, the world's too, by the index of their geoms."""
    found: dict[str, dict[int, Shape]] = {}
    left: dict[str, int] = {}
    for g in range(m.ngeom):
        body, pose = tree.place(int(m.geom_bodyid[g]), m.geom_pos[g], m.geom_quat[g])
        shape = _shape(m, g, pose)
        if shape is None and int(m.geom_type[g]) == MESH:
            continue  # nothing touches it; see `visuals`
        if shape is None:
            kind = f"geoms of type {int(m.geom_type[g])}"
            left[kind] = left.get(kind, 0) + 1
        else:
            found.setdefault(body, {})[g] = shape
    for kind, count in left.items():
        note(f"{count} {kind} have no shape here and are left out")
    return found


def _shape(m: Any, g: int, pose: SE3) -> Shape | None:
    size, kind = m.geom_size[g], int(m.geom_type[g])
    touches = m.geom_contype[g] or m.geom_conaffinity[g]
    own: dict[str, Any] = {
        "friction": float(m.geom_friction[g, 0]),
        "color": tuple(float(x) for x in (m.geom_rgba[g] if m.geom_matid[g] < 0 else m.mat_rgba[m.geom_matid[g]])),
        "group": int(m.geom_contype[g]) & 0x7FFFFFFF,
        "mask": int(m.geom_conaffinity[g]) & 0x7FFFFFFF,
    }
    if m.geom(g).name:
        own["name"] = m.geom(g).name
    R, p = np.asarray(pose.R, float), np.asarray(pose.p, float)
    match kind:
        case 0:
            return Plane(p, R[:, 2], **own)
        case 2:
            return Sphere(float(size[0]), p, **own)
        case 3:
            return Capsule(float(size[0]), float(2.0 * size[1]), pose, **own)
        case 4:
            return Ellipsoid(np.array(size), pose, **own)
        case 5:
            return Cylinder(float(size[0]), float(2.0 * size[1]), pose, **own)
        case 6:
            return Box(2.0 * np.array(size), pose, **own)
        case 7:
            i = int(m.geom_dataid[g])
            first, count = int(m.mesh_vertadr[i]), int(m.mesh_vertnum[i])
            points = np.array(m.mesh_vert[first : first + count], float) @ R.T + p
            return Convex(points, **own) if touches else None
        case 1:
            return _height_field(m, int(m.geom_dataid[g]), pose, own)
    return None


def _height_field(m: Any, i: int, pose: SE3, own: dict[str, Any]) -> Shape:
    rows, columns, (x, y, top, _) = int(m.hfield_nrow[i]), int(m.hfield_ncol[i]), m.hfield_size[i]
    first = int(m.hfield_adr[i])
    heights = top * np.array(m.hfield_data[first : first + rows * columns], float).reshape(rows, columns)
    return HeightField(heights, (2.0 * float(x), 2.0 * float(y)), pose, **own)


def own_contacts(m: Any, model: Model, shapes: dict[str, dict[int, Shape]]) -> list[Contact]:
    """Contacts whose friction is another than that of the shapes together: MuJoCo takes the larger coefficients of two geoms,
    none where both ask for none (condim 1), spinning with condim 4, rolling besides with condim 6; and what a <pair> says.
    """
    geoms = {id(shape): g for of_body in shapes.values() for g, shape in of_body.items()}
    own = {id(shape): body for body, of_body in shapes.items() for shape in of_body.values()}
    by_geom = {g: shape for of_body in shapes.values() for g, shape in of_body.items()}
    listed = {frozenset((int(m.pair_geom1[i]), int(m.pair_geom2[i]))): i for i in range(m.npair)}
    found = []
    for c in candidates(model):
        a, b = geoms[id(c.shape_a)], geoms[id(c.shape_b)]
        if frozenset((a, b)) not in listed and is_compiled(c.shape_a, c.shape_b):
            grip = grip_of(np.maximum(m.geom_friction[a], m.geom_friction[b]), max(m.geom_condim[a], m.geom_condim[b]))
            if grip != {"friction": c.friction}:
                found.append(Contact(c.body_a, c.shape_a, c.body_b, c.shape_b, **grip))
    for pair, i in listed.items():
        a, b = (by_geom[g] for g in sorted(pair, key=lambda g: own[id(by_geom[g])] == WORLD))
        grip = grip_of(m.pair_friction[i, [0, 2, 3]], m.pair_dim[i])
        found.append(Contact(own[id(a)], a, own[id(b)], b, **grip))
    return found


def grip_of(friction: np.ndarray, dimension: int) -> dict[str, float]:
    """What a `Contact` is given, of coefficients of sliding, spinning and rolling as far as the dimension asks for them; those
    that are zero are left out, but for the first."""
    slide, spin, roll = map(float, friction)
    found = {"friction": slide if dimension > 1 else 0.0}
    if found["friction"] > 0.0:
        found |= {"spinning": spin} if dimension > 3 and spin > 0.0 else {}
        found |= {"rolling": roll} if dimension > 4 and roll > 0.0 else {}
    return found


def exclusions(m: Any, tree: Tree) -> list[tuple[str, str]]:
    """Pairs of bodies whose shapes do not touch, beyond neighbours in the tree."""
    pairs = []
    for signature in m.exclude_signature:
        a, b = int(signature) >> 16, int(signature) & 0xFFFF
        pairs.append((tree.carried[a].name, tree.carried[b].name))
    return [pair for pair in pairs if pair[0] != pair[1]]


__all__ = ["exclusions", "pose_of", "shapes_of"]
