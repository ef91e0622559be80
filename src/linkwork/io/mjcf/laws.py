"""Actuators, springs and equalities of a compiled MuJoCo model as laws."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ...constraints import Closure, Coupling, Loop
from ...errors import ModelError
from ...forces import Actuator, JointSpring
from ...joints import Fixed, Spherical
from ...spatial.quaternion import to_rotation
from ...spatial.se3 import SE3
from .bodies import BALL, FREE, Tree, unbounded

CONNECT, WELD, JOINT = range(3)  # mjtEq
SITE = 6  # mjtObj


def springs(m: Any, tree: Tree) -> Iterator[JointSpring]:
    """Springs in the joints."""
    for b in tree.moving:
        stiffness = np.array([m.jnt_stiffness[j] for j in b.joints])
        if not stiffness.any():
            continue
        kind = m.jnt_type[b.joints[0]]
        if kind == FREE:
            raise ModelError(f"joint {b.joint_name!r}: springs of free joints are not read")
        rest = [np.array(m.qpos_spring[m.jnt_qposadr[j] : m.jnt_qposadr[j] + (4 if kind == BALL else 1)]) for j in b.joints]
        if kind == BALL:
            assert isinstance(b.joint, Spherical)
            stiffness = np.full(3, stiffness[0])
        yield JointSpring(b.joint_name, stiffness, rest=np.concatenate(rest))


def actuators(m: Any, tree: Tree) -> Iterator[Actuator]:
    """Drives with an affine law on one coordinate; `unsupported` has refused the others."""
    for a in range(m.nu):
        joint, coordinate = tree.coordinate(int(m.actuator_trnid[a, 0]))
        free = (-np.inf, np.inf)
        yield Actuator(
            joint,
            gain=float(m.actuator_gainprm[a, 0]),
            bias=np.array(m.actuator_biasprm[a, :3]) if m.actuator_biastype[a] == 1 else np.zeros(3),
            gear=float(m.actuator_gear[a, 0]),
            coordinate=coordinate,
            control_range=tuple(unbounded(m.actuator_ctrlrange[a])) if m.actuator_ctrllimited[a] else free,
            force_range=tuple(unbounded(m.actuator_forcerange[a])) if m.actuator_forcelimited[a] else free,
            name=m.actuator(a).name or f"actuator{a}",
        )


def equalities(m: Any, tree: Tree) -> Iterator[Any]:
    """Bodies that are connected or welded, joints that follow others; those that are active."""
    for e in range(m.neq):
        if not m.eq_active0[e]:
            continue
        a, b, data = int(m.eq_obj1id[e]), int(m.eq_obj2id[e]), np.array(m.eq_data[e])
        if m.eq_type[e] in (CONNECT, WELD) and m.eq_objtype[e] == SITE:
            (name_a, A), (name_b, B) = (tree.place(int(m.site_bodyid[i]), m.site_pos[i], m.site_quat[i]) for i in (a, b))
            yield Loop(name_a, name_b, A.p, B.p) if m.eq_type[e] == CONNECT else Closure(Fixed(), name_a, name_b, A, B)
        elif m.eq_type[e] == CONNECT:
            (name_a, A), (name_b, B) = tree.place(a, data[:3], (1, 0, 0, 0)), tree.place(b, data[3:6], (1, 0, 0, 0))
            yield Loop(name_a, name_b, A.p, B.p)
        elif m.eq_type[e] == WELD:
            # MuJoCo: where the anchor of b, in the axes of b, meets that of a; the relative pose of b in a is data[3:10]
            R = np.asarray(to_rotation(data[6:10]), float)
            (name_a, A), (name_b, B) = tree.place(a, data[3:6], (1, 0, 0, 0)), tree.place(b, data[:3], (1, 0, 0, 0))
            yield Closure(Fixed(), name_a, name_b, A @ SE3(R=R), B)
        elif m.eq_type[e] == JOINT:
            yield _coupling(m, tree, e, a, b, data)


def _coupling(m: Any, tree: Tree, e: int, a: int, b: int, data: np.ndarray) -> Coupling:
    alone = b >= 0 and all(len(body.joints) == 1 for body in tree.moving if {a, b} & set(body.joints))
    if not alone or np.any(data[2:5]):
        raise ModelError(
            f"equality {m.equality(e).name or e}: it is not q = a + b q' of two joints that are alone on their bodies"
        )
    (follower, _), (leader, _) = tree.coordinate(a), tree.coordinate(b)
    start, lead = float(m.qpos0[m.jnt_qposadr[a]]), float(m.qpos0[m.jnt_qposadr[b]])
    return Coupling(follower, leader, float(data[1]), start + float(data[0]) - float(data[1]) * lead)
