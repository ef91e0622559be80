"""Constraints of scene files, as each kind of integrator has them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...constraints.coupling import Coupling
from ...geometry import Plane, Sphere
from ...model.model import WORLD
from ...spatial.gate import meant
from .elements import Multiple
from .expressions import piecewise
from .joints import axis_of
from .places import Places
from .published_constraints import (
    HingeLoop,
    NoFeedback,
    NoTwistFeedback,
    NoVelocityFeedback,
    OneWayLimit,
    ReversedRate,
    StrictFloor,
)
from .record import Record
from .runs import Run


def _loop(record: Record, places: Places, run: Run) -> Any:
    a, b = places.body(record, "body_A"), places.body(record, "body_B")
    carrier = places.carrier(a) if a.name != WORLD else record
    if "axis" not in carrier:
        raise record.unsupported("a loop whose first body does not hang on a joint with an axis")
    axis = np.asarray(a.frame.R, float) @ axis_of(carrier)
    return HingeLoop(a.name, b.name, a.point(record.vector("xA")), b.point(record.vector("xB")), axis)


def _mult_q(record: Record, places: Places, run: Run) -> Any:
    (leader, a), (follower, b) = places.joint(record, "joint_A"), places.joint(record, "joint_B")
    size, other = len(a.array("q0", (-1,))), len(b.array("q0", (-1,)))
    if size != other or not size:
        raise record.error("its joints must have the same number of coordinates")
    factor = record.number("factor")
    return Coupling(follower, leader, factor) if size == 1 else Multiple(leader, follower, factor, size)


def _presc_joint(record: Record, places: Places, run: Run) -> Any:
    name, _ = places.joint(record, "joint")
    motion = piecewise(record.record("motion"), ("q", "qd", "qdd"))
    return (NoFeedback if run.recursive else NoVelocityFeedback)(name, motion)


def _presc_joint_maximal(record: Record, places: Places, run: Run) -> Any:
    name, joint = places.joint(record, "joint")
    if joint.text("type") != "revolute":
        raise record.unsupported(f"'presc_joint_maximal' of a {joint.text('type')} joint")
    return ReversedRate(name, piecewise(record.record("motion"), ("q", "qd", "qdd")))


def _presc_body(record: Record, places: Places, run: Run) -> Any:
    body = places.body(record, "body")
    rows = record.array("rows", (-1,))
    motion = piecewise(record.record("motion"), ("omega_body", "v_world", "omegadot_body", "vdot_world"))
    return NoTwistFeedback(body.name, motion, [int(r) - 1 for r in rows], body.frame)


def _joint_limit(record: Record, places: Places, run: Run) -> Any:
    name, _ = places.joint(record, "joint")
    lower = record.number("lower") if "lower" in record else -np.inf
    upper = record.number("upper") if "upper" in record else np.inf
    return OneWayLimit(name, lower, upper, run.baumgarte[2])


def _floor(record: Record, places: Places, run: Run) -> Any:
    body, E = places.body(record, "body"), record.pose("E_floor")
    if body.record is None or body.record.get("shape", None) != "sphere":
        raise record.unsupported("a floor under a body that is no sphere")
    ball = Sphere(radius=body.record.number("radius"), center=body.frame.p)
    return StrictFloor(body.name, ball, shape_b=Plane(normal=np.asarray(E.R, float)[:, 2], point=E.p))


KINDS: dict[str, Callable[[Record, Places, Run], Any]] = {
    "loop": _loop,
    "mult_q": _mult_q,
    "presc_joint": _presc_joint,
    "presc_joint_maximal": _presc_joint_maximal,
    "presc_body": _presc_body,
    "joint_limit": _joint_limit,
    "floor": _floor,
}
ONE_SIDED = ("joint_limit", "floor")


def constraints_of(scene: Record, places: Places, run: Run) -> list[Any]:
    """All constraints of a scene."""
    out = []
    for record in scene.records("constraints"):
        name = record.text("type")
        if name not in KINDS:
            raise record.unsupported(f"constraints of type {name!r}; there are {', '.join(KINDS)}{meant(name, KINDS)}")
        if run.kind == "BDF" or (run.kind == "ODE45" and name in ONE_SIDED):
            raise record.unsupported(f"constraints of type {name!r} with {run.integrator}")
        out.append(KINDS[name](record, places, run))
    return out
