"""What a URDF file says, element by element, before anything is made of it."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ...spatial.gate import meant
from ...spatial.se3 import SE3
from ..element import Element
from .values import number, numbers, origin

KINDS = ("revolute", "continuous", "prismatic", "fixed", "floating", "planar", "spherical", "ball")
ONE_DOF = ("revolute", "continuous", "prismatic")
WITH_AXIS = (*ONE_DOF, "planar")


@dataclass(frozen=True, eq=False)
class Link:
    """A link: mass, centre of mass and tensor about it, both in link axes; zeros where the file gives none.

    whole     its `<link>`
    element   where its inertia is given
    """

    name: str
    whole: Element
    element: Element
    mass: float = 0.0
    com: np.ndarray = field(default_factory=lambda: np.zeros(3))
    tensor: np.ndarray = field(default_factory=lambda: np.zeros((3, 3)))


@dataclass(frozen=True, eq=False)
class Mimic:
    """q = ratio * q_leader + offset."""

    leader: str
    ratio: float
    offset: float
    element: Element


@dataclass(frozen=True, eq=False)
class Limit:
    """Limits of a joint; None where the file says nothing."""

    lower: float | None
    upper: float | None
    effort: float
    speed: float


@dataclass(frozen=True, eq=False)
class JointRecord:
    """A joint between two links; its frame, at `origin` in the parent link, is the child link's frame at zero.

    axis   as written, in joint axes
    """

    name: str
    kind: str
    parent: str
    child: str
    origin: SE3
    axis: np.ndarray
    element: Element
    limit: Limit | None = None
    damping: float = 0.0
    friction: float = 0.0
    mimic: Mimic | None = None


def link_of(element: Element) -> Link:
    """The link of a `<link>`."""
    name = element.require("name")
    element.label = f"link {name!r}"
    inertial = element.child("inertial")
    if inertial is None:
        return Link(name, element, element)
    pose = origin(inertial.child("origin"))
    mass = number(inertial.needed("mass"), "value")
    entries = inertial.needed("inertia")
    xx, xy, xz, yy, yz, zz = (number(entries, f"i{k}") for k in ("xx", "xy", "xz", "yy", "yz", "zz"))
    R = np.asarray(pose.R, float)
    tensor = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    if not np.array_equal(R, np.eye(3)):
        tensor = R @ tensor @ R.T
        tensor = (tensor + tensor.T) / 2.0
    return Link(name, element, inertial, mass, np.asarray(pose.p, float), tensor)


def joint_of(element: Element) -> JointRecord:
    """The joint of a `<joint>`. What has no meaning for its kind is left unread."""
    name = element.require("name")
    element.label = f"joint {name!r}"
    kind = element.require("type")
    if kind not in KINDS:
        raise element.error(f"joint {name!r} has the unknown type {kind!r}; known are {', '.join(KINDS)}{meant(kind, KINDS)}")
    element.kind = f"{kind} joint"
    parent, child = (element.needed(tag).require("link") for tag in ("parent", "child"))
    pose = origin(element.child("origin"))
    axis = element.child("axis") if kind in WITH_AXIS else None
    xyz = np.array([1.0, 0.0, 0.0]) if axis is None else numbers(axis, "xyz", 3, "")
    if axis is not None and not xyz.any():
        raise axis.error(f'joint {name!r}: its axis is zero; give a direction, such as xyz="0 0 1"')
    if kind not in ONE_DOF:
        return JointRecord(name, kind, parent, child, pose, xyz, element)
    dynamics = element.child("dynamics")
    damping, friction = (0.0 if dynamics is None else number(dynamics, loss, 0.0) for loss in ("damping", "friction"))
    limit, mimic = _limit(element, kind), _mimic(element)
    return JointRecord(name, kind, parent, child, pose, xyz, element, limit, damping, friction, mimic)


def _limit(joint: Element, kind: str) -> Limit | None:
    element = joint.child("limit")
    if element is None:
        return None
    element.kind = f"the <limit> of a {kind} joint"
    lower, upper = (None if kind == "continuous" else _end(element, name) for name in ("lower", "upper"))
    return Limit(lower, upper, number(element, "effort", infinite=True), number(element, "velocity", infinite=True))


def _end(limit: Element, name: str) -> float | None:
    return None if limit.get(name) is None else number(limit, name, infinite=True)


def _mimic(joint: Element) -> Mimic | None:
    element = joint.child("mimic")
    if element is None:
        return None
    return Mimic(element.require("joint"), number(element, "multiplier", 1.0), number(element, "offset", 0.0), element)
