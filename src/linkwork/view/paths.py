"""Muscles, cables and springs: lines through points of bodies, and where they run around obstacles."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..elements.collection import collection
from ..forces import Cable, PointSpring, SpringDamper
from ..forces.muscle_path import AlongPath, MusclePath
from ..forces.muscle_wrap import Wrap, WrapCylinder, WrapSphere, way_around
from ..joints import Translational
from ..model import Model
from ..spatial.se3 import SE3

ARC = 10  # pieces of the way around an obstacle
COILS = 60  # springs that are drawn as coils; more are drawn as strands


def path_forces(model: Model) -> list[AlongPath]:
    """The muscles and cables of a model, on the sides of obstacles on which they pass."""
    return [law for law in collection(model).forces if isinstance(law, AlongPath)]


def paths(model: Model) -> list[dict[str, Any]]:
    """Lines through points of bodies (body -1 is the world): muscles, cables, then springs."""
    found = []
    for force in path_forces(model):
        owners = [_index(model, name) for name in force.path.bodies]
        points = [[owners[i], x.tolist()] for i, x in force.path.items if not isinstance(x, Wrap)]
        kind = "cable" if isinstance(force, Cable) else "muscle"
        entry: dict[str, Any] = {"kind": kind, "name": force.name or kind, "points": points}
        if kind == "muscle":
            entry["strength"] = float(getattr(force, "max_force", 1.0))
        found.append(entry)
    return found + springs(model)


def springs(model: Model) -> list[dict[str, Any]]:
    """Springs between two points; those of nets and strands, between point masses or very many, are plain lines."""
    forces = [f for kind in (SpringDamper, PointSpring) for f in model.elements_of(kind)]
    many = len(forces) > COILS
    found = []
    for force in forces:
        ends = [_index(model, name) for name in force.bodies]
        point_masses = [i >= 0 and isinstance(model.bodies[i].joint, Translational) for i in ends]
        entry = {
            "kind": "strand" if many or any(point_masses) else "spring",
            "name": force.name or "spring",
            "points": [[i, x.tolist()] for i, x in zip(ends, (force.point_a, force.point_b), strict=True)],
        }
        found.append(entry | ({"rest": float(force.rest_length)} if isinstance(force, SpringDamper) else {}))
    return found


def runs_around(path: MusclePath) -> bool:
    """Whether there are obstacles on it."""
    return any(isinstance(x, Wrap) for _, x in path.items)


def path_line(path: MusclePath, poses: Sequence[SE3]) -> np.ndarray:
    """The path in the world (n, 3), obstacles included; n is always the same."""
    line: list[np.ndarray] = []
    for (i, a), (j, b), wrap in path._segments():
        x, y = (np.asarray(poses[k] @ z, float) for k, z in ((i, a), (j, b)))
        line.append(x[None])
        if wrap is not None:
            E = poses[wrap[0]] @ wrap[1].frame
            back = E.inverse()
            arc = around(wrap[1], np.asarray(back @ x, float), np.asarray(back @ y, float))
            line.append(arc @ np.asarray(E.R, float).T + np.asarray(E.p, float))
        last = y
    return np.concatenate([*line, last[None]])


def around(wrap: Wrap, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Points (n, 3) of the way from a to b that lies on the obstacle, or beside it; all in its frame."""
    if isinstance(wrap, WrapSphere):
        e1 = a / np.linalg.norm(a)
        rest = b - (b @ e1) * e1
        size = np.linalg.norm(rest)
        angle = float(np.arctan2(size, b @ e1))
        arc, _ = way_around(a @ a, b @ b, angle, float(wrap.radius))
        if arc > 0 and size > 0:
            turns = _turns(float(np.linalg.norm(a)), float(wrap.radius), float(arc))
            return wrap.radius * (np.cos(turns)[:, None] * e1 + np.sin(turns)[:, None] * rest / size)
    if isinstance(wrap, WrapCylinder):
        return _around_cylinder(wrap, a, b)
    return _straight(a, b)


def _around_cylinder(wrap: WrapCylinder, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    r, along = float(wrap.radius), float(wrap.along(a, b))
    sense = (float(wrap.turn) or 1.0) * (1.0 if along >= 0 else -1.0)
    arc, flat = (float(x) for x in way_around(a[:2] @ a[:2], b[:2] @ b[:2], abs(along), r))
    if not arc > 0:
        return _straight(a, b)
    turns = _turns(float(np.hypot(a[0], a[1])), r, arc)
    tangent = np.sqrt(max(a[:2] @ a[:2] - r * r, 0.0))
    gone = tangent + r * (turns - turns[0])
    phi = np.arctan2(a[1], a[0]) + sense * turns
    return np.stack([r * np.cos(phi), r * np.sin(phi), a[2] + (b[2] - a[2]) * gone / flat], axis=1)


def _turns(distance: float, r: float, arc: float) -> np.ndarray:
    """Angles from a point at a distance to where the way lies on the circle."""
    first = float(np.arctan2(np.sqrt(max(distance * distance - r * r, 0.0)), r))
    return first + arc * np.linspace(0.0, 1.0, ARC + 1)


def _straight(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return a + (b - a) * (np.arange(1, ARC + 2) / (ARC + 2))[:, None]


def _index(model: Model, name: str) -> int:
    return next((i for i, b in enumerate(model.bodies) if b.name == name), -1)
