"""MuJoCo: quaternions as ours; a free joint has (linear in world axes, angular in body axes).

    import mujoco
    peer = lw.interop.mujoco.build(model)                  # or the MjModel of an MJCF file: joints are found by name
    to = lw.interop.mujoco.converter(model, peer)
    data.qpos, data.qvel = to.to_q(q), to.to_v(q, v)

Accelerations are `qacc`, forces `qfrc_applied`, `qfrc_inverse`. Hinges and slides are written alike, and so are ball joints.
Joints with several turns and slides are several joints of one body.
"""

from __future__ import annotations

import importlib
from typing import Any
from xml.sax.saxutils import quoteattr

import numpy as np
from scipy.spatial.transform import Rotation

from ..errors import InputError, ModelError
from ..joints import (
    Composite,
    Cylindrical,
    Fixed,
    Free,
    Free2D,
    Joint,
    Planar,
    Prismatic,
    Revolute,
    Spherical,
    SphericalEuler,
    Translational,
    Universal,
)
from ..model.model import Body, Model
from ..spatial.quaternion import from_rotation
from .layout import Converter, Form, Piece


# --- how joints are written ----------------------------------------------------------------------------------------------------
class FreeJoint(Form):
    """q as ours; v = (linear in world axes, angular in body axes), forces likewise."""

    def to_v(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return np.concatenate([_world(q, v[..., 3:]), _like(q, v[..., :3])], axis=-1)

    def from_v(self, q: np.ndarray, x: np.ndarray) -> np.ndarray:
        return np.concatenate([_like(q, x[..., 3:]), _body(q, x[..., :3])], axis=-1)

    def to_a(self, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
        linear = a[..., 3:] + np.cross(v[..., :3], v[..., 3:])  # (R u)' = R (u' + w x u)
        return np.concatenate([_world(q, linear), _like(q, a[..., :3])], axis=-1)

    def from_a(self, q: np.ndarray, v: np.ndarray, x: np.ndarray) -> np.ndarray:
        return np.concatenate([_like(q, x[..., 3:]), _body(q, x[..., :3]) - np.cross(v[..., :3], v[..., 3:])], axis=-1)


def _rotation(q: np.ndarray) -> np.ndarray:
    flat = np.roll(q[..., 3:].reshape(-1, 4), -1, axis=-1)
    return Rotation.from_quat(flat).as_matrix().reshape(*q.shape[:-1], 3, 3)


def _world(q: np.ndarray, x: np.ndarray) -> np.ndarray:
    return np.einsum("...ij,...j->...i", _rotation(q), x)


def _body(q: np.ndarray, x: np.ndarray) -> np.ndarray:
    return np.einsum("...ji,...j->...i", _rotation(q), x)


def _like(q: np.ndarray, x: np.ndarray) -> np.ndarray:
    """With the batch axes of q, too."""
    return np.broadcast_to(x, (*np.broadcast_shapes(q.shape[:-1], x.shape[:-1]), x.shape[-1]))


# --- models ------------------------------------------------------------------------------------------------------------------
def mjcf(model: Model, timestep: float = 1e-3) -> str:
    """The same tree as MJCF: no geometry, no forces but the damping of joints, no constraints."""
    children: dict[int, list[int]] = {}
    for i, body in enumerate(model.bodies):
        children.setdefault(body.parent, []).append(i)
    lines = [
        '<mujoco><compiler angle="radian" autolimits="true"/>',
        f'<option integrator="Euler" timestep="{timestep!r}" gravity="{_text(model.gravity)}">',
        '<flag contact="disable" constraint="disable"/></option>',
        "<worldbody>",
    ]
    stack: list[int | None] = list(reversed(children.get(-1, [])))
    while stack:
        i = stack.pop()
        if i is None:
            lines.append("</body>")
            continue
        lines += _body_lines(model.bodies[i])
        stack += [None, *reversed(children.get(i, []))]
    return "\n".join([*lines, "</worldbody></mujoco>"])


def build(model: Model, timestep: float = 1e-3) -> Any:
    """The same model as a `mujoco.MjModel`; see `mjcf`."""
    mujoco: Any = importlib.import_module("mujoco")
    return mujoco.MjModel.from_xml_string(mjcf(model, timestep))


def _body_lines(body: Body) -> list[str]:
    """A body's opening tag, inertia and joints."""
    moments, axes = np.linalg.eigh(body.inertia.tensor)
    axes[:, 2] *= np.sign(np.linalg.det(axes))
    frame = f'pos="{_text(body.placement.p)}" quat="{_text(from_rotation(np.asarray(body.placement.R, float)))}"'
    return [
        f"<body name={quoteattr(body.name)} {frame}>",
        f'<inertial mass="{float(body.inertia.mass)!r}" pos="{_text(body.inertia.com)}"',
        f' quat="{_text(from_rotation(axes))}" diaginertia="{_text(moments)}"/>',
        *_joint_lines(body),
    ]


def _joint_lines(body: Body) -> list[str]:
    joint, own = body.joint, body.properties
    if isinstance(joint, Fixed):
        return []
    if isinstance(joint, Free):
        if body.parent >= 0 or not np.array_equal(np.asarray(body.placement.matrix, float), np.eye(4)):
            raise ModelError(f"a free joint of MuJoCo leads to the world, at its origin; {body.joint_name!r} does not")
        return [f"<freejoint name={quoteattr(body.joint_name)}/>"]
    if isinstance(joint, Spherical):
        numbers = "".join(f' {what}="{_text(_one(body, what))}"' for what in ("armature", "damping"))
        return [f'<joint name={quoteattr(body.joint_name)} type="ball"{numbers}/>']
    lines = []
    parts = stages(body.joint_name, joint)
    for k, (kind, axis) in enumerate(parts):
        name = body.joint_name if len(parts) == 1 else f"{body.joint_name}.{k}"
        numbers = f' armature="{float(own.armature[k])!r}" damping="{float(own.damping[k])!r}"'
        lines.append(f'<joint name={quoteattr(name)} type="{kind}" axis="{_text(axis)}"{numbers}/>')
    return lines


def _one(body: Body, what: str) -> float:
    """A property that MuJoCo has once for all freedoms of a ball joint."""
    values = getattr(body.properties, what)
    if np.ptp(values):
        raise ModelError(f"a ball joint of MuJoCo has one {what} for all axes; {body.joint_name!r} has {values.tolist()}")
    return float(values[0])


def stages(name: str, joint: Joint) -> list[tuple[str, np.ndarray]]:
    """Hinges and slides, one for each freedom, that move as the joint."""
    x, y, z = np.eye(3)
    if isinstance(joint, Composite) and joint.between is None:
        return [*stages(name, joint.first), *stages(name, joint.second)]
    if isinstance(joint, SphericalEuler) and len(joint.sequences) == 1:
        return [("hinge", np.eye(3)["xyz".index(axis)]) for axis in joint.sequences[0]]
    if isinstance(joint, Revolute):
        return [("hinge", joint.axis)]
    if isinstance(joint, Prismatic):
        return [("slide", joint.axis)]
    if isinstance(joint, Cylindrical):
        return [("hinge", joint.axis), ("slide", joint.axis)]
    known: dict[type, list[tuple[str, np.ndarray]]] = {
        Planar: [("slide", x), ("slide", y)],
        Free2D: [("slide", x), ("slide", y), ("hinge", z)],
        Translational: [("slide", x), ("slide", y), ("slide", z)],
        Universal: [("hinge", x), ("hinge", y)],
    }
    if type(joint) not in known:
        raise ModelError(f"MuJoCo has no joint that moves as {name!r}, {joint!r}")
    return known[type(joint)]


def _text(values: Any) -> str:
    return " ".join(repr(float(x)) for x in np.reshape(values, -1))


# --- states ------------------------------------------------------------------------------------------------------------------
def converter(model: Model, peer: Any = None) -> Converter:
    """Converts q, v, a and tau between a model and the same in MuJoCo; its joints are found by name.

    peer   the `mujoco.MjModel`; that of `build` if None
    """
    peer = build(model) if peer is None else peer
    pieces = []
    for body in model.bodies:
        nq, nv = body.joint.nq, body.joint.nv
        if not nv:
            continue
        at_q, at_v = _address(peer, body)
        form = FreeJoint() if isinstance(body.joint, Free) else None
        q, v = model.q_index(body.name), model.v_index(body.name)
        pieces.append(Piece(q, v, slice(at_q, at_q + nq), slice(at_v, at_v + nv), form))
    return Converter(model, pieces, peer.nq, peer.nv)


def _address(peer: Any, body: Body) -> tuple[int, int]:
    """Where MuJoCo keeps the first coordinate and velocity of a joint."""
    mujoco: Any = importlib.import_module("mujoco")
    for name in (body.joint_name, f"{body.joint_name}.0"):
        found = mujoco.mj_name2id(peer, mujoco.mjtObj.mjOBJ_JOINT, name)
        if found >= 0:
            return int(peer.jnt_qposadr[found]), int(peer.jnt_dofadr[found])
    owner = mujoco.mj_name2id(peer, mujoco.mjtObj.mjOBJ_BODY, body.name)
    if owner >= 0 and peer.body_jntnum[owner]:
        found = peer.body_jntadr[owner]
        return int(peer.jnt_qposadr[found]), int(peer.jnt_dofadr[found])
    raise InputError(f"the MuJoCo model has neither a joint {body.joint_name!r} nor a body {body.name!r} that moves")
