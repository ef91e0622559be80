"""Bodies and joints of a compiled MuJoCo model.

MuJoCo's joints turn a body about anchors in its own frame; the frame of a body of linkwork is the outboard side of its joint, so
it lies at the anchor of the body's last joint, with the body's axes. Several joints of one body are a `Composite`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...errors import ModelError
from ...joints import Composite, Free, Joint, Prismatic, Revolute, Spherical
from ...model.model import WORLD
from ...spatial.inertia import Inertia
from ...spatial.quaternion import to_rotation
from ...spatial.se3 import SE3
from ..inertias import Part, welded
from ..urdf.values import composed, placed

FREE, BALL, SLIDE, HINGE = range(4)  # mjtJoint
LARGEST = 1e10  # mjMAXVAL
MASSLESS = 1e-14  # kg: less is none


@dataclass(frozen=True, eq=False)
class Carried:
    """Where a body of MuJoCo is in the model: the name of the body that it is or is part of, and its frame there."""

    name: str
    pose: SE3


@dataclass(frozen=True, eq=False)
class Moving:
    """A body of the model.

    index    of the body in MuJoCo
    joints   of MuJoCo that carry it, by their index, in the order of their coordinates
    """

    index: int
    name: str
    joint_name: str
    parent: str
    joint: Joint
    placement: SE3
    inertia: Inertia
    properties: dict[str, Any]
    joints: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Tree:
    """All bodies of MuJoCo by their index, and those of them that move."""

    carried: list[Carried]
    moving: list[Moving]

    def place(self, body: int, pos: Any, quat: Any) -> tuple[str, SE3]:
        """The body of the model that carries something of a body of MuJoCo, and the pose of that in it."""
        c = self.carried[body]
        return c.name, composed(c.pose, pose_of(pos, quat))

    def coordinate(self, joint: int) -> tuple[str, int]:
        """The joint of the model that has a hinge or slide of MuJoCo, and which of its coordinates that is."""
        for b in self.moving:
            if joint in b.joints:
                return b.joint_name, b.joints.index(joint)
        raise ModelError(f"joint {joint} carries nothing")


def unbounded(x: Any) -> np.ndarray:
    """Bounds, infinite where they are MuJoCo's largest number: it has none on one side only."""
    a = np.array(x, float)
    return np.where(np.abs(a) < LARGEST, a, np.copysign(np.inf, a))


def pose_of(pos: Any, quat: Any) -> SE3:
    """A constant pose."""
    return placed(np.asarray(to_rotation(np.array(quat, float)), float), np.array(pos, float))


def tree_of(m: Any, note: Callable[[str], object]) -> Tree:
    """The bodies of a compiled model."""
    names = _unique([m.body(i).name or f"body{i}" for i in range(m.nbody)])
    of_joints = [tuple(np.flatnonzero(m.jnt_bodyid == i).tolist()) for i in range(m.nbody)]
    carried, anchors = [Carried(WORLD, SE3())], {}
    for i in range(1, m.nbody):
        parent = carried[m.body_parentid[i]]
        here = composed(parent.pose, pose_of(m.body_pos[i], m.body_quat[i]))
        if of_joints[i]:
            anchors[i] = _anchor(m, of_joints[i][-1])
            carried.append(Carried(names[i], SE3(p=-anchors[i])))
        else:
            carried.append(Carried(parent.name, here))
    still = [names[i] for i in range(1, m.nbody) if not of_joints[i]]
    if still:
        note(f"bodies without joints, part of what carries them: {', '.join(map(repr, still[:6]))}{' ...' * (len(still) > 6)}")
    taken, moving = set(names), []
    for i in range(1, m.nbody):
        if of_joints[i]:
            moving.append(_moving(m, i, of_joints[i], carried, names, taken))
    return Tree(carried, moving)


def _moving(m: Any, i: int, joints: tuple[int, ...], carried: Sequence[Carried], names: Sequence[str], taken: set[str]) -> Moving:
    parent = carried[m.body_parentid[i]]
    parts, first = [], None
    for j in joints:
        joint, before = _joint(m, i, j)
        parts.append((joint, before, _anchor(m, j)))
    start = SE3() if m.jnt_type[joints[0]] == FREE else composed(parent.pose, pose_of(m.body_pos[i], m.body_quat[i]))
    first, before, anchor = parts[0]
    placement = composed(composed(start, SE3(p=anchor)), before)
    for joint, before, next_anchor in parts[1:]:
        between = composed(SE3(p=next_anchor - anchor), before)
        plain = not np.any(between.p) and np.array_equal(between.R, np.eye(3))
        first, anchor = Composite(first, joint, None if plain else between), next_anchor
    joint_name = "+".join(m.joint(j).name for j in joints if m.joint(j).name) or f"{names[i]}_joint"
    while joint_name in taken:
        joint_name += "_joint"
    taken.add(joint_name)
    return Moving(i, names[i], joint_name, parent.name, first, placement, _inertia(m, i, carried), _properties(m, joints), joints)


def _joint(m: Any, i: int, j: int) -> tuple[Joint, SE3]:
    """A joint of MuJoCo, and what comes before it so that its coordinate counts from zero as MuJoCo's does."""
    axis, q0 = np.array(m.jnt_axis[j]), float(m.qpos0[m.jnt_qposadr[j]])
    match int(m.jnt_type[j]):
        case 0:
            return Free(), SE3()
        case 1:
            return Spherical(), SE3()
        case 2:
            return Prismatic(_snapped(axis)), SE3(p=-q0 * axis)
        case _:
            turn = SE3.rot_axis(axis, -q0)
            return Revolute(_snapped(axis)), placed(np.asarray(turn.R, float), np.zeros(3))


def _snapped(axis: np.ndarray) -> np.ndarray:
    """The axis with entries within rounding of 0 and 1 made exact: kernels fold them."""
    axis = axis / np.linalg.norm(axis)
    nearest = np.round(axis)
    return nearest + 0.0 if np.abs(axis - nearest).max() < 1e-12 else axis


def _anchor(m: Any, j: int) -> np.ndarray:
    return np.zeros(3) if m.jnt_type[j] == FREE else np.array(m.jnt_pos[j])


def _inertia(m: Any, i: int, carried: Sequence[Carried]) -> Inertia:
    """Of a body and all bodies that are part of it, in its frame."""
    parts = []
    for k in range(1, m.nbody):
        if carried[k].name == carried[i].name and (k == i or not _has_joint(m, k)):
            pose = composed(carried[k].pose, pose_of(m.body_ipos[k], m.body_iquat[k]))
            if m.body_mass[k] > MASSLESS:
                name = m.body(k).name
                parts.append((Part(name, float(m.body_mass[k]), np.zeros(3), np.diag(m.body_inertia[k])), pose))
    if not parts:
        raise ModelError(f"body {carried[i].name!r} moves and has no mass; give it a <geom> or an <inertial>")
    return welded(carried[i].name, parts)


def _has_joint(m: Any, body: int) -> bool:
    return bool(m.body_jntnum[body])


def _properties(m: Any, joints: Sequence[int]) -> dict[str, Any]:
    """Limits, damping, armature, friction and effort of the joints of one body."""
    if m.jnt_type[joints[0]] in (FREE, BALL):
        return _of_group(m, joints[0])
    dofs = [int(m.jnt_dofadr[j]) for j in joints]
    given = {"damping": m.dof_damping, "armature": m.dof_armature, "friction": m.dof_frictionloss}
    found: dict[str, Any] = {name: np.array(x[dofs]) for name, x in given.items() if np.any(x[dofs])}
    limited = np.array([bool(m.jnt_limited[j]) for j in joints])
    if limited.any():
        low, high = unbounded(m.jnt_range[list(joints)]).T
        found["limits"] = (np.where(limited, low, -np.inf), np.where(limited, high, np.inf))
    held = np.array([bool(m.jnt_actfrclimited[j]) for j in joints])
    if held.any():
        found["effort"] = np.where(held, np.abs(np.array(m.jnt_actfrcrange[list(joints)])).max(1), np.inf)
    return found


def _of_group(m: Any, j: int) -> dict[str, Any]:
    """The same of a free or ball joint, where they are alike in all directions: MuJoCo's axes are others."""
    first, count = int(m.jnt_dofadr[j]), 6 if m.jnt_type[j] == FREE else 3
    found = {}
    for name, x in (("damping", m.dof_damping), ("armature", m.dof_armature), ("friction", m.dof_frictionloss)):
        values = np.array(x[first : first + count])
        if not np.any(values):
            continue
        if any(np.ptp(part) > 1e-12 for part in values.reshape(-1, 3)) or (name == "friction" and count == 6):
            raise ModelError(f"joint {m.joint(j).name!r}: its {name} {values.tolist()} differs by direction")
        found[name] = np.concatenate([values[3:], values[:3]])
    return found


def _unique(names: Sequence[str]) -> list[str]:
    seen: set[str] = set()
    made = []
    for name in names:
        while name in seen:
            name += "_"
        seen.add(name)
        made.append(name)
    return made
