"""Pinocchio: quaternions are xyzw, twists (linear, angular) and forces (force, moment) in body axes.

    import pinocchio as pin
    peer = lw.interop.pinocchio.build(model)               # or pin.buildModelFromUrdf(...): joints are found by name
    to = lw.interop.pinocchio.converter(model, peer)
    pin.forwardKinematics(peer, data, to.to_q(q), to.to_v(q, v))

Free joints, ball joints, and those that it keeps as cosine and sine (continuous joints of URDF files, planar joints) are
written otherwise; all others alike.
"""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from ..errors import InputError, ModelError
from ..joints import (
    Composite,
    Cylindrical,
    Free,
    Free2D,
    Helical,
    Planar,
    Prismatic,
    Revolute,
    Spherical,
    SphericalEuler,
    Translational,
    Universal,
)
from ..model.model import Body, Model
from .layout import Converter, Form, Piece


# --- how joints are written ----------------------------------------------------------------------------------------------------
class FreeFlyer(Form):
    """q = (position, quat_xyzw), v = (linear, angular) in body axes."""

    def to_q(self, q: np.ndarray) -> np.ndarray:
        return q[..., [0, 1, 2, 4, 5, 6, 3]]

    def from_q(self, x: np.ndarray) -> np.ndarray:
        return x[..., [0, 1, 2, 6, 3, 4, 5]]

    def to_v(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return np.roll(v, 3, axis=-1)

    def from_v(self, q: np.ndarray, x: np.ndarray) -> np.ndarray:
        return np.roll(x, 3, axis=-1)


class Ball(Form):
    """q = quat_xyzw."""

    def to_q(self, q: np.ndarray) -> np.ndarray:
        return np.roll(q, -1, axis=-1)

    def from_q(self, x: np.ndarray) -> np.ndarray:
        return np.roll(x, 1, axis=-1)


class Circle(Form):
    """An angle as (cosine, sine); it comes back between -pi and pi."""

    def to_q(self, q: np.ndarray) -> np.ndarray:
        return np.concatenate([np.cos(q), np.sin(q)], axis=-1)

    def from_q(self, x: np.ndarray) -> np.ndarray:
        return np.arctan2(x[..., 1:], x[..., :1])


class PlanarBody(Form):
    """(x, y, cosine, sine) with velocities in axes of the body; ours are (x, y, angle) and their rates."""

    def to_q(self, q: np.ndarray) -> np.ndarray:
        return np.concatenate([q[..., :2], np.cos(q[..., 2:]), np.sin(q[..., 2:])], axis=-1)

    def from_q(self, x: np.ndarray) -> np.ndarray:
        return np.concatenate([x[..., :2], np.arctan2(x[..., 3:], x[..., 2:3])], axis=-1)

    def to_v(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return _turned(-q[..., 2], v)

    def from_v(self, q: np.ndarray, x: np.ndarray) -> np.ndarray:
        return _turned(q[..., 2], x)

    def to_a(self, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
        return self.to_v(q, a) - _spun(v[..., 2:], self.to_v(q, v))

    def from_a(self, q: np.ndarray, v: np.ndarray, x: np.ndarray) -> np.ndarray:
        return self.from_v(q, x + _spun(v[..., 2:], self.to_v(q, v)))


def _turned(angle: np.ndarray, x: np.ndarray) -> np.ndarray:
    """The first two components turned."""
    c, s = np.cos(angle), np.sin(angle)
    return np.stack([c * x[..., 0] - s * x[..., 1], s * x[..., 0] + c * x[..., 1], x[..., 2]], axis=-1)


def _spun(w: np.ndarray, x: np.ndarray) -> np.ndarray:
    """w ez x x, without its last component."""
    return np.concatenate([-w * x[..., 1:2], w * x[..., :1], np.zeros_like(w)], axis=-1)


# --- models ------------------------------------------------------------------------------------------------------------------
def build(model: Model) -> Any:
    """The same tree as a `pinocchio.Model`: gravity, armature, inertias and joints by name; no forces, no constraints.

    Bodies on fixed joints are welded to the body that carries them.
    """
    pin: Any = importlib.import_module("pinocchio")
    out = pin.Model()
    out.gravity.linear = np.array(model.gravity)
    places: list[tuple[int, Any]] = []
    for body in model.bodies:
        joint, pose = (0, pin.SE3.Identity()) if body.parent < 0 else places[body.parent]
        pose = pose * pin.SE3(np.asarray(body.placement.R, float), np.asarray(body.placement.p, float))
        if body.joint.nv:
            joint = out.addJoint(joint, _joint(pin, body), pose, body.joint_name)
            pose = pin.SE3.Identity()
            at = out.joints[joint].idx_v
            armature = body.properties.armature
            out.armature[at : at + body.joint.nv] = np.roll(armature, 3) if isinstance(body.joint, Free) else armature
        inertia = pin.Inertia(float(body.inertia.mass), body.inertia.com, body.inertia.tensor)
        out.appendBodyToJoint(joint, inertia, pose)
        places.append((joint, pose))
    return out


def _joint(pin: Any, body: Body) -> Any:
    """A joint of Pinocchio that moves alike."""
    joint = body.joint
    if isinstance(joint, Composite) and joint.between is None:
        return _row(pin, *(_joint(pin, _only(body, part)) for part in (joint.first, joint.second)))
    if isinstance(joint, Revolute):
        return _along(pin, "R", "RevoluteUnaligned", joint.axis)
    if isinstance(joint, Prismatic):
        return _along(pin, "P", "PrismaticUnaligned", joint.axis)
    if isinstance(joint, SphericalEuler) and len(joint.sequences) == 1:
        turns = [getattr(pin, f"JointModelR{axis.upper()}")() for axis in joint.sequences[0]]
        return pin.JointModelSphericalZYX() if joint.sequences[0] == "zyx" else _row(pin, *turns)
    if isinstance(joint, Helical):
        return pin.JointModelHelicalUnaligned(joint.axis, float(joint.pitch))
    if isinstance(joint, Cylindrical):
        both = _along(pin, "R", "RevoluteUnaligned", joint.axis), _along(pin, "P", "PrismaticUnaligned", joint.axis)
        return _row(pin, *both)
    made = {
        Planar: lambda: _row(pin, pin.JointModelPX(), pin.JointModelPY()),
        Free2D: lambda: _row(pin, pin.JointModelPX(), pin.JointModelPY(), pin.JointModelRZ()),
        Translational: pin.JointModelTranslation,
        Universal: lambda: pin.JointModelUniversal(*np.eye(3)[:2]),
        Spherical: pin.JointModelSpherical,
        Free: pin.JointModelFreeFlyer,
    }
    if type(joint) not in made:
        raise ModelError(f"Pinocchio has no joint that moves as {body.joint_name!r}, {joint!r}")
    return made[type(joint)]()


def _only(body: Body, joint: Any) -> Body:
    return Body(body.name, body.parent, joint, body.joint_name, body.placement, body.inertia)


def _along(pin: Any, letter: str, general: str, axis: np.ndarray) -> Any:
    """A turn or a slide, the cheaper kind along a coordinate axis."""
    for k, coordinate in enumerate("XYZ"):
        if np.array_equal(axis, np.eye(3)[k]):
            return getattr(pin, f"JointModel{letter}{coordinate}")()
    return getattr(pin, f"JointModel{general}")(axis)


def _row(pin: Any, *joints: Any) -> Any:
    row = pin.JointModelComposite()
    for joint in joints:
        row.addJoint(joint)
    return row


# --- states ------------------------------------------------------------------------------------------------------------------
def converter(model: Model, peer: Any = None) -> Converter:
    """Converts q, v, a and tau between a model and the same in Pinocchio; its joints are found by name.

    peer   the `pinocchio.Model`; that of `build` if None
    """
    peer = build(model) if peer is None else peer
    pieces = []
    for body in model.bodies:
        if not body.joint.nv:
            continue
        name = body.joint_name if peer.existJointName(body.joint_name) else _root_name(peer, body)
        joint = peer.joints[peer.getJointId(name)]
        their_q, their_v = slice(joint.idx_q, joint.idx_q + joint.nq), slice(joint.idx_v, joint.idx_v + joint.nv)
        q, v = model.q_index(body.name), model.v_index(body.name)
        pieces.append(Piece(q, v, their_q, their_v, _form(body, joint)))
    return Converter(model, pieces, peer.nq, peer.nv)


def _root_name(peer: Any, body: Body) -> str:
    """Pinocchio calls the joint of a floating robot "root_joint"."""
    if isinstance(body.joint, Free) and body.parent < 0 and peer.existJointName("root_joint"):
        return "root_joint"
    raise InputError(f"the Pinocchio model has no joint {body.joint_name!r}; it has {', '.join(list(peer.names)[1:9])}")


def _form(body: Body, joint: Any) -> Form | None:
    """How a joint of ours is written by one of theirs."""
    ours = body.joint
    if joint.nv != ours.nv:
        raise InputError(f"joint {body.joint_name!r} has {ours.nv} freedoms here and {joint.nv} in Pinocchio")
    if isinstance(ours, Free):
        return FreeFlyer()
    if isinstance(ours, Spherical):
        return Ball()
    if isinstance(ours, Free2D) and joint.nq == 4:
        return PlanarBody()
    if joint.nq == ours.nq:
        return None
    if joint.nq == 2 and ours.nq == 1:
        return Circle()
    raise InputError(
        f"joint {body.joint_name!r} has {ours.nq} coordinates here and {joint.nq} in Pinocchio; {ours!r} is not known"
    )


__all__ = ["build", "converter"]
