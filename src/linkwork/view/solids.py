"""What a model looks like: shapes of every body, or a solid where it has none; planes of the ground, points that hold it."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..constraints import Loop
from ..contact import Contact
from ..forces import PointSpring, SpringDamper
from ..geometry import Plane, Sphere
from ..joints import Translational
from ..model import Body, Model
from ..spatial.inertia import Inertia
from .meshes import drawn


def equivalent_cuboid(inertia: Inertia) -> tuple[np.ndarray, np.ndarray]:
    """Edge lengths (3,) and axes (3, 3), as columns in body axes, of the uniform cuboid with the same inertia.

    With principal moments A, B, C about the centre of mass, the edge along the first axis is sqrt(6 (B + C - A) / m): the
    moments of a cuboid, A = m (b^2 + c^2) / 12 and so on, solved for the edges.
    """
    moments, axes = np.linalg.eigh(inertia.tensor)
    squares = 6.0 / inertia.mass * (moments.sum() - 2.0 * moments)
    order = np.argmax(np.abs(axes), axis=1)  # edges in the order of the body axes that they are closest to
    if len(set(order)) == 3:
        axes, squares = axes[:, order], squares[order]
    axes = axes * np.where(np.diag(axes) < 0, -1.0, 1.0)
    if np.linalg.det(axes) < 0:
        axes[:, 2] *= -1.0
    return np.sqrt(np.maximum(squares, 0.0)), axes


def bodies(model: Model) -> list[dict[str, Any]]:
    """Every body: name, parent, centre of mass, where its joint sits on the parent, and its solids.

    Bodies without shapes are drawn as a cuboid with their inertia, and the spheres of their contacts.
    """
    spheres: dict[str, list[Sphere]] = {}
    for contact in model.elements_of(Contact):
        for body, shape in zip(contact.bodies, contact.shapes, strict=True):
            if isinstance(shape, Sphere):
                spheres.setdefault(body, []).append(shape)
    return [_body(b, spheres.get(b.name, [])) for b in model.bodies]


def _body(body: Body, spheres: list[Sphere]) -> dict[str, Any]:
    inertia = body.inertia
    shapes = [s for s in body.shapes if not isinstance(s, Plane)]
    solids = [drawn(shape) for shape in shapes or spheres]
    edges, axes = equivalent_cuboid(inertia)
    ball = np.ptp(edges) <= 1e-6 * edges.max() and any(np.allclose(c.center, inertia.com) for c in spheres)
    if not shapes and not ball:
        solids.append({"kind": "box", "size": edges.tolist(), "axes": axes.T.tolist(), "center": inertia.com.tolist()})
    held = body.joint.nv < 6 and not isinstance(body.joint, Translational)
    return {
        "name": body.name,
        "parent": body.parent,
        "com": inertia.com.tolist(),
        "hinge": np.asarray(body.placement.p, float).tolist() if held else None,
        "solids": solids,
    }


def grounds(model: Model) -> list[dict[str, Any]]:
    """The planes of the world, of bodies and of all contacts, each once; z = 0 if there are none. Body -1 is the world."""
    owned = [("world", shape) for shape in model.world_shapes]
    owned += [(body.name, shape) for body in model.bodies for shape in body.shapes]
    owned += [pair for c in model.elements_of(Contact) for pair in zip(c.bodies, c.shapes, strict=True)]
    found: dict[Any, dict[str, Any]] = {}
    for body, plane in owned:
        if isinstance(plane, Plane):
            key = (body, *plane.point, *plane.normal)
            found[key] = {"body": _index(model, body), "point": plane.point.tolist(), "normal": plane.normal.tolist()}
    return list(found.values()) or [{"body": -1, "point": [0.0, 0.0, 0.0], "normal": [0.0, 0.0, 1.0]}]


def scenery(model: Model) -> list[dict[str, Any]]:
    """The shapes of the world that are no planes."""
    return [drawn(shape) for shape in model.world_shapes if not isinstance(shape, Plane)]


def pins(model: Model) -> list[dict[str, Any]]:
    """The points where loops are closed, on their first body."""
    return [{"body": _index(model, c.bodies[0]), "point": c.point_a.tolist()} for c in model.elements_of(Loop)]


def springs(model: Model) -> list[dict[str, Any]]:
    """Springs between two points: their bodies, and the points in them. Body -1 is the world."""
    found = [f for kind in (SpringDamper, PointSpring) for f in model.elements_of(kind)]
    index = {b.name: i for i, b in enumerate(model.bodies)}
    ends = [[(index.get(b, -1), x.tolist()) for b, x in zip(f.bodies, (f.point_a, f.point_b), strict=True)] for f in found]
    return [{"bodies": [a[0], b[0]], "points": [a[1], b[1]]} for a, b in ends]


def _index(model: Model, name: str) -> int:
    return next((i for i, b in enumerate(model.bodies) if b.name == name), -1)
