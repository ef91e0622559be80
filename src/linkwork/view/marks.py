"""What is drawn beside the solids: axes of joints and their limits, loops, frames, and the ways that joints run along."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..constraints import Closure, Loop
from ..contact import Contact
from ..geometry import Plane
from ..joints import Fixed, Free, Helical, Joint, Prismatic, Revolute, Translational
from ..model import Body, Model
from .packed import rounded
from .solids import pose_values

PLAIN = (Fixed, Free, Helical, Prismatic, Revolute, Translational)  # their ways need no drawing
PIECES = 96  # of a curve
LINES = 9  # of a surface, each way
MOST = 200  # joints whose ways are drawn


def joints(model: Model) -> list[dict[str, Any]]:
    """Of every joint with one to three freedoms: its axes in the body's frame, which turn ("turn") or slide ("slide")."""
    found = []
    for i, body in enumerate(model.bodies):
        axes = [] if isinstance(body.joint, (Free, Translational)) else _axes(body.joint)
        if not axes:
            continue
        entry: dict[str, Any] = {
            "body": i,
            "parent": body.parent,
            "name": body.joint_name,
            "at": pose_values(body.placement),
            "axes": axes,
        }
        if len(axes) == 1 and body.joint.nv == 1 and isinstance(body.joint, (Revolute, Prismatic)):
            low, high = (float(x[0]) for x in (body.properties.lower, body.properties.upper))
            if np.isfinite(low) and np.isfinite(high):
                entry["limits"] = [low, high]
        found.append(entry)
    return found


def _axes(joint: Joint) -> list[dict[str, Any]]:
    if not 0 < joint.nv <= 3:
        return []
    S = np.asarray(joint.motion(joint.neutral(), np.zeros(joint.nv)).tangent.S, float)
    found = []
    for column in S.T:
        turn, slide = np.linalg.norm(column[:3]), np.linalg.norm(column[3:])
        if turn > 1e-9:
            found.append({"kind": "turn", "axis": (column[:3] / turn).round(9).tolist()})
        elif slide > 1e-9:
            found.append({"kind": "slide", "axis": (column[3:] / slide).round(9).tolist()})
    return found


def loops(model: Model) -> list[dict[str, Any]]:
    """Where loops are closed: two bodies (-1 is the world), and the point on each."""
    found = []
    for c in model.elements_of(Loop):
        found.append(
            {
                "name": getattr(c, "name", "") or "loop",
                "bodies": _two(model, c),
                "points": [c.point_a.tolist(), c.point_b.tolist()],
            }
        )
    for c in model.elements_of(Closure):
        found.append(
            {
                "name": getattr(c, "name", "") or "loop",
                "bodies": _two(model, c),
                "points": [np.asarray(x, float).tolist() for x in (c.p_a, c.p_b)],
            }
        )
    return found


def frames(model: Model) -> list[dict[str, Any]]:
    """Named frames on bodies."""
    index = {b.name: i for i, b in enumerate(model.bodies)}
    return [{"name": name, "body": index.get(f.body, -1), "pose": pose_values(f.placement)} for name, f in model.frames.items()]


def planes(model: Model) -> list[dict[str, Any]]:
    """The planes of the world, of bodies and of all contacts, each once."""
    owned = [("world", shape) for shape in model.world_shapes]
    owned += [(body.name, shape) for body in model.bodies for shape in body.shapes]
    owned += [pair for c in model.elements_of(Contact) for pair in zip(c.bodies, c.shapes, strict=True)]
    index = {b.name: i for i, b in enumerate(model.bodies)}
    found: dict[Any, dict[str, Any]] = {}
    for body, plane in owned:
        if isinstance(plane, Plane):
            at = {"body": index.get(body, -1), "point": plane.point.tolist(), "normal": plane.normal.tolist()}
            found[body, *plane.point, *plane.normal] = at | ({} if plane.color is None else {"color": list(plane.color[:3])})
    return list(found.values())


def guides(model: Model) -> list[dict[str, Any]]:
    """The curves and surfaces that bodies run along by their joints, as lines in the frame of the parent."""
    found = []
    for body in model.bodies:
        if len(found) >= MOST or isinstance(body.joint, PLAIN) or body.joint.nq not in (1, 2) or body.joint.nv != body.joint.nq:
            continue
        found += [{"body": body.parent, "name": body.joint_name, "points": rounded(line)} for line in _ways(body)]
    return found


def _ways(body: Body) -> list[np.ndarray]:
    joint = body.joint
    low, high = _range(body)
    if joint.nq == 1:
        lines = [[[u] for u in np.linspace(low[0], high[0], PIECES + 1)]]
    else:
        u, v = (np.linspace(low[k], high[k], LINES) for k in range(2))
        fine_u, fine_v = (np.linspace(low[k], high[k], PIECES // 4 + 1) for k in range(2))
        lines = [[[a, b] for b in fine_v] for a in u] + [[[a, b] for a in fine_u] for b in v]
    found = []
    for line in lines:
        points = np.array([np.asarray((body.placement @ joint.transform(np.array(q, float))).p, float) for q in line])
        if np.all(np.isfinite(points)) and np.ptp(points, axis=0).max() > 1e-6:
            found.append(points)
    return found


def _range(body: Body) -> tuple[np.ndarray, np.ndarray]:
    """Where the coordinates of a joint go: its limits, its domain, or half a turn to either side."""
    n = body.joint.nq
    domain = np.asarray(getattr(body.joint, "domain", np.full((n, 2), np.inf) * [-1, 1]), float)
    low = np.maximum(domain[:, 0], body.properties.lower)
    high = np.minimum(domain[:, 1], body.properties.upper)
    low, high = np.where(np.isfinite(low), low, -np.pi), np.where(np.isfinite(high), high, np.pi)
    return low, high


def _two(model: Model, law: Any) -> list[int]:
    index = {b.name: i for i, b in enumerate(model.bodies)}
    return [index.get(name, -1) for name in law.bodies]
