"""Forces of scene files, as each kind of integrator has them: exact ones for BDF, those of `published_forces` for the others."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

from ...forces import BodyDamping, PointSpring, SpringDamper
from ...model.model import WORLD
from ...spatial.gate import meant
from .elements import CoordinateSpring, StretchedCable
from .places import Place, Places
from .published_forces import (
    AddedMassDamper,
    ExplicitPointForce,
    GroundCuboid,
    ReversedDamper,
    SoftStop,
    UncountedPointForce,
)
from .record import Record

BDF, EULER, ODE45 = "BDF", "EULER", "ODE45"
Positions = Callable[[Place, np.ndarray], np.ndarray]  # the world position of a point of a body, at the start


def _ends(record: Record, places: Places, first: str, second: str) -> tuple[list[Place], list[np.ndarray]]:
    ends = [places.body(record, first), places.body(record, second)]
    if all(end.name == WORLD for end in ends):
        raise record.error("it acts on no body")
    points = [end.point(record.vector(f"x{key[-1]}")) for end, key in zip(ends, (first, second), strict=True)]
    return ends, points


def _point_direction(record: Record, places: Places, kind: str, start: Positions) -> Any:
    body = places.body(record, "body")
    f = record.number("magnitude") * record.vector("direction_world")
    made = UncountedPointForce if kind == BDF else ExplicitPointForce
    return made(body.name, body.point(record.vector("x")), f)


def _point_point(record: Record, places: Places, kind: str, start: Positions) -> Any:
    (a, b), (x, y) = _ends(record, places, "body1", "body2")
    return PointSpring(a.name, b.name, x, y, stiffness=record.not_negative("stiffness"))


def _rest_length(record: Record, distance: float) -> float:
    rest = record.get("rest_length", "initial length")
    length = distance if isinstance(rest, str) else record.number("rest_length")
    if length <= 0:
        raise record.error(f"the rest length is {length:g}; it must be positive")
    return length


def _spring_damper(record: Record, places: Places, kind: str, start: Positions) -> Any:
    ends, points = _ends(record, places, "body1", "body2")
    x, y = (start(end, point) for end, point in zip(ends, points, strict=True))
    exact = record.text("type") == "spring_damper_bdf"
    made = SpringDamper if exact else {EULER: AddedMassDamper, ODE45: ReversedDamper}.get(kind)
    if made is None:
        raise record.unsupported(f"a 'spring_damper' with {kind}")
    return made(
        *(end.name for end in ends),
        *points,
        stiffness=record.not_negative("stiffness"),
        damping=record.not_negative("damping", 0.0),
        rest_length=_rest_length(record, float(np.linalg.norm(y - x))),
    )


def _cable(record: Record, places: Places, kind: str, start: Positions) -> Any:
    knots = record.records("points")
    bodies = [places.body(knot, "body") for knot in knots]
    if len(knots) < 2 or all(body.name == WORLD for body in bodies):
        raise record.error("it needs two points or more, one of them on a body")
    points = [body.point(knot.vector("x")) for body, knot in zip(bodies, knots, strict=True)]
    x = [start(body, point) for body, point in zip(bodies, points, strict=True)]
    length = sum(float(np.linalg.norm(b - a)) for a, b in pairwise(x))
    path = [(body.name, point) for body, point in zip(bodies, points, strict=True)]
    rest = _rest_length(record, length)
    return StretchedCable(path, record.not_negative("stiffness"), record.not_negative("damping", 0.0), rest)


def _ground_cuboid(record: Record, places: Places, kind: str, start: Positions) -> Any:
    body = places.body(record, "body")
    if body.record is None or body.record.get("shape", None) != "cuboid":
        raise record.error("its body must be a cuboid")
    half = 0.5 * body.record.vector("sides")
    signs = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
    law = {"kn": "normal_stiffness", "kt": "tangential_stiffness", "kd": "damping", "mu": "mu"}
    corners = np.array([body.point(half * s) for s in signs])
    return GroundCuboid(body.name, corners, record.pose("E_ground"), **{k: record.number(key) for k, key in law.items()})


KINDS: dict[str, Callable[[Record, Places, str, Positions], Any]] = {
    "point_direction": _point_direction,
    "point_point": _point_point,
    "spring_damper": _spring_damper,
    "spring_damper_bdf": _spring_damper,
    "cable": _cable,
    "ground_cuboid": _ground_cuboid,
}


def forces_of(scene: Record, places: Places, kind: str, start: Positions) -> list[Any]:
    """All forces of a scene: its own, the drag on bodies, springs and soft stops of joints."""
    out = []
    for record in scene.records("forces"):
        name = record.text("type")
        if name not in KINDS:
            raise record.unsupported(f"forces of type {name!r}; there are {', '.join(KINDS)}{meant(name, KINDS)}")
        out.append(KINDS[name](record, places, kind, start))
    for place in places.bodies.values():
        assert place.record is not None
        if place.record.not_negative("damping", 0.0):
            out.append(BodyDamping(place.name, place.record.not_negative("damping"), frame=place.frame))
    for record in places.joints.values():
        out += _of_joint(record, places.body(record, "body").name)
    return out


def _of_joint(record: Record, name: str) -> list[Any]:
    """The spring of a joint, at rest where it starts, and its soft stops."""
    out: list[Any] = []
    q0 = record.array("q0", (-1,), [])
    if not len(q0) or record.text("type") == "fixed":
        return out
    if record.not_negative("stiffness", 0.0):
        if record.text("type") == "spherical_euler":
            raise record.unsupported("stiffness of Euler angles that change their chart")
        out.append(CoordinateSpring(name, record.not_negative("stiffness"), q0))
    if "limits" in record:
        limits = record.record("limits")
        lower, upper = (
            limits.number(key) if key in limits else default for key, default in (("lower", -np.inf), ("upper", np.inf))
        )
        out.append(SoftStop(name, lower, upper, limits.not_negative("stiffness"), limits.not_negative("damping", 0.0)))
    return out
