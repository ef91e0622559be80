"""Joints of a URDF file: axes, limits, drives, and joints that follow others."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..urdf.records import ONE_DOF, WITH_AXIS, JointRecord
from .findings import DOUBT, ERROR, Finding

DEGREES = 4.0 * np.pi  # rad: limits beyond look like degrees
LONG = 50.0  # m, of a slide


def check_joint(joint: JointRecord) -> Iterator[Finding]:
    """What is to be said of one joint by itself."""
    who, element = f"joint {joint.name!r}", joint.element
    if joint.kind in WITH_AXIS:
        axis = next((c for c in element.children if c.tag == "axis"), None)
        length = float(np.linalg.norm(joint.axis))
        if axis is None:
            yield Finding(DOUBT, f"{who} has no <axis>: it is x, as URDF says", 'write <axis xyz="1 0 0"/>', element.line)
        elif abs(length - 1.0) > 1e-3:
            unit = " ".join(f"{x:.6g}" for x in joint.axis / length)
            what = f"{who}: its axis {joint.axis.tolist()} has length {length:.4g}, not 1; it is divided by it"
            yield Finding(DOUBT, what, f'write <axis xyz="{unit}"/>', axis.line)
    if joint.kind in ONE_DOF:
        yield from _limits(joint, who)
        for name, value in (("damping", joint.damping), ("friction", joint.friction)):
            if value < 0:
                yield Finding(ERROR, f"{who}: its {name} {value:g} is negative", "it must be 0 or more", element.line)
    origin = next((c for c in element.children if c.tag == "origin"), None)
    if origin is not None and "rpy" in origin.attributes:
        angles = [abs(x) for x in _floats(origin.attributes["rpy"])]
        if max(angles, default=0.0) > 2.0 * np.pi:
            what = f"{who}: rpy = {origin.attributes['rpy']!r} has more than a whole turn"
            yield Finding(DOUBT, what, "rpy is in radians; degrees must be divided by 57.3", origin.line)


def _limits(joint: JointRecord, who: str) -> Iterator[Finding]:
    element = next((c for c in joint.element.children if c.tag == "limit"), None)
    limit = joint.limit
    if limit is None or element is None:
        if joint.kind != "continuous":
            remedy = 'add <limit lower="..." upper="..." effort="..." velocity="..."/>, or make it continuous'
            yield Finding(DOUBT, f"{who} is {joint.kind} and has no <limit>; it is not limited", remedy, joint.element.line)
        return
    line = element.line
    for name, value in (("effort", limit.effort), ("velocity", limit.speed)):
        if value < 0:
            yield Finding(ERROR, f"{who}: its {name} {value:g} is negative", "it must be positive", line)
        elif value == 0:
            remedy = f"give the largest {'force' if name == 'effort' else 'speed'} that the drive has"
            yield Finding(DOUBT, f"{who}: its {name} is 0, which would lock it; it is taken as not limited", remedy, line)
    if joint.kind == "continuous":
        if "lower" in element.attributes or "upper" in element.attributes:
            yield Finding(DOUBT, f"{who} is continuous and has limits, which do not act", "make it revolute", line)
        return
    if limit.lower is None and limit.upper is None:
        what = f"{who}: its <limit> has neither lower nor upper; it is not limited"
        yield Finding(DOUBT, what, "give both, or make the joint continuous", line)
        return
    low, high = limit.lower or 0.0, limit.upper or 0.0
    if low > high:
        yield Finding(ERROR, f"{who}: its lower limit {low:g} is above the upper {high:g}", "exchange them", line)
    elif low == high:
        yield Finding(DOUBT, f"{who} cannot move: both its limits are {low:g}", 'give it a range, or type="fixed"', line)
    finite = [abs(x) for x in (low, high) if np.isfinite(x)]
    if joint.kind == "revolute" and max(finite, default=0.0) > DEGREES:
        yield Finding(DOUBT, f"{who}: limits of {low:g} and {high:g} rad look like degrees", "divide them by 57.3", line)
    if joint.kind == "prismatic" and max(finite, default=0.0) > LONG:
        yield Finding(DOUBT, f"{who}: limits of {low:g} and {high:g} m look like millimetres", "divide them by 1000", line)


def check_mimics(joints: dict[str, JointRecord]) -> Iterator[Finding]:
    """Joints that follow others: these must exist, be of one coordinate, and not follow in a circle."""
    for joint in joints.values():
        if joint.mimic is None:
            continue
        who, line = f"joint {joint.name!r}", joint.mimic.element.line
        leader = joints.get(joint.mimic.leader)
        if leader is None:
            yield Finding(ERROR, f"{who} mimics {joint.mimic.leader!r}, which does not exist", "name a joint of the file", line)
            continue
        if leader.kind not in ONE_DOF:
            yield Finding(ERROR, f"{who} mimics {leader.name!r}, whose type is {leader.kind!r}", "follow a moving joint", line)
            continue
        chain = _chain(joint, joints)
        if chain[-1] == joint.name:
            yield Finding(ERROR, f"{who} mimics itself through {', '.join(map(repr, chain[:-1]))}", "one must be free", line)
        elif leader.mimic is not None:
            what = f"{who} mimics {leader.name!r}, which mimics {leader.mimic.leader!r}; readers disagree about chains"
            yield Finding(DOUBT, what, f"follow {chain[-1]!r} directly, with the product of the ratios", line)


def _chain(joint: JointRecord, joints: dict[str, JointRecord]) -> list[str]:
    """The names from a joint to the one that follows nobody; to the first that comes again in a circle."""
    names, at = [joint.name], joint
    while at.mimic is not None and at.mimic.leader in joints:
        at = joints[at.mimic.leader]
        names.append(at.name)
        if at.name in names[:-1]:
            break
    return names


def _floats(text: str) -> list[float]:
    try:
        return [float(x) for x in text.split()]
    except ValueError:
        return []
