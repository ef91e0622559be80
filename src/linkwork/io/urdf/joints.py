"""From a joint in the file to a joint of linkwork, and its properties."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...joints import Fixed, Free, Free2D, Joint, Prismatic, Revolute, Spherical
from ...spatial.se3 import SE3
from .records import ONE_DOF, JointRecord
from .values import clean_rotation, snapped

Note = Callable[[str], object]


def joint_for(record: JointRecord, note: Note) -> tuple[Joint, SE3]:
    """The joint, and the pose of its own frame in the joint frame of the file: a turn for planes that are not normal to z."""
    kind = record.kind
    if kind in ("revolute", "continuous"):
        return Revolute(_unit(record, note)), SE3()
    if kind == "prismatic":
        return Prismatic(_unit(record, note)), SE3()
    if kind == "planar":
        return Free2D(), _upright(record, note)
    return {"fixed": Fixed, "floating": Free, "spherical": Spherical, "ball": Spherical}[kind](), SE3()


def properties_of(record: JointRecord, note: Note) -> dict[str, Any]:
    """Limits, drive and losses, as `ModelBuilder.body` takes them."""
    if record.kind not in ONE_DOF:
        return {}
    found: dict[str, Any] = {"damping": record.damping, "friction": record.friction}
    limit = record.limit
    if limit is None:
        if record.kind != "continuous":
            note(f"joint {record.name!r} is {record.kind} and has no <limit>; it is not limited")
        return found
    found |= {"effort": _given(record, "effort", limit.effort, note), "speed": _given(record, "velocity", limit.speed, note)}
    if record.kind == "continuous":
        return found
    if limit.lower is None and limit.upper is None:
        # By the letter of URDF both are zero, which would lock the joint; files mean a wheel or an unlimited knee.
        note(f"joint {record.name!r}: its <limit> has neither lower nor upper; it is not limited")
        return found
    return found | {"limits": (limit.lower or 0.0, limit.upper or 0.0)}


def _given(record: JointRecord, name: str, value: float, note: Note) -> float:
    """A bound of the drive; URDF must have one, and files that know none write 0, which would lock the joint."""
    if value != 0:
        return value
    note(f"joint {record.name!r}: its <limit> has {name} 0, taken as not given; it is not limited")
    return np.inf


def _unit(record: JointRecord, note: Note) -> np.ndarray:
    length = float(np.linalg.norm(record.axis))
    if abs(length - 1.0) > 1e-6:
        note(f"joint {record.name!r}: its axis {record.axis.tolist()} has length {length:.6g}; it is divided by it")
    axis = snapped(record.axis / length)
    return axis / np.linalg.norm(axis)


def _upright(record: JointRecord, note: Note) -> SE3:
    """The turn that takes z to the axis; whole quarter turns for coordinate axes, nothing for z."""
    z = _unit(record, note)
    e = np.eye(3)[np.argmin(np.abs(z))]
    x = e - (e @ z) * z
    x = x / np.linalg.norm(x)
    R = clean_rotation(np.stack([x, np.cross(z, x), z], axis=1))
    if np.array_equal(R, np.eye(3)):
        return SE3()
    note(
        f"joint {record.name!r} is planar with the normal {z.tolist()}; the frame of its body {record.child!r} is turned so that "
        "its z is that normal"
    )
    return SE3(R=R)
