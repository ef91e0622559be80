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
from collections.abc import Collection
from typing import Any

import numpy as np

from ..contact import Contact
from ..contact.candidates import candidates
from ..elements.law import RowLaw
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
from ..model.accepts import takes_model
from ..model.model import WORLD, Body, Model
from ..spatial.se3 import SE3
from .layout import Converter, Form, Piece
from .refusals import Refusals


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
KINDS = ("damping", "forces", "constraints", "contacts")
ALLOWED = (*KINDS, "all")  # what `allow` may name


@takes_model
def build(model: Model, allow: Collection[str] = ()) -> Any:
    """The tree as a `pinocchio.Model`: gravity, inertias, joints by name, armature, limits, efforts, frames, keyframes.

    allow   what is left out with a note: "damping" of joints, which Pinocchio's algorithms do not take, "forces", "constraints",
            "contacts" (of shapes, too), or "all"

    Raises a ModelError that names what would change accelerations and is not allowed to be left out. Bodies on fixed joints are
    welded to the body that carries them. Keyframes are `referenceConfigurations`. `notes` reads what was left out.
    """
    pin: Any = importlib.import_module("pinocchio")
    refusals = Refusals("Pinocchio", "build", KINDS, allow)
    _look_at_loads(model, refusals)
    refusals.settle()
    out = pin.Model()
    out.gravity.linear = np.array(model.gravity)
    places: list[tuple[int, Any]] = []
    for body in model.bodies:
        joint, pose = (0, pin.SE3.Identity()) if body.parent < 0 else places[body.parent]
        pose = pose * _pose(pin, body.placement)
        if body.joint.nv:
            joint = out.addJoint(joint, _joint(pin, body), pose, body.joint_name)
            pose = pin.SE3.Identity()
            _take_numbers(out, out.joints[joint], body)
        inertia = pin.Inertia(float(body.inertia.mass), body.inertia.com, body.inertia.tensor)
        out.appendBodyToJoint(joint, inertia, pose)
        places.append((joint, pose))
    for name, frame in model.frames.items():
        joint, pose = (0, pin.SE3.Identity()) if frame.body == WORLD else places[model.body_index(frame.body)]
        out.addFrame(pin.Frame(name, joint, 0, pose * _pose(pin, frame.placement), pin.FrameType.OP_FRAME))
    if model.keyframes:
        to = converter(model, out)
        for name, state in model.keyframes.items():
            out.referenceConfigurations[name] = to.to_q(state.q)
    out.linkwork_notes = tuple(refusals.notes)
    return out


def notes(peer: Any) -> tuple[str, ...]:
    """What `build` left out as allowed, and what means something else in Pinocchio."""
    return tuple(getattr(peer, "linkwork_notes", ()))


def _look_at_loads(model: Model, refusals: Refusals) -> None:
    """Refuse everything that a tree of Pinocchio does not have and that changes accelerations; note the rest."""
    for element in model.elements:
        contact = isinstance(element, Contact)
        refusals.refuse("contacts" if contact else "constraints" if isinstance(element, RowLaw) else "forces", repr(element))
    for body in model.bodies:
        if body.properties.damping.any():
            refusals.refuse("damping", f"the damping of joint {body.joint_name!r}")
    if pairs := candidates(model):
        refusals.refuse(
            "contacts", f"contacts of {len(pairs)} pairs of shapes, {pairs[0].shape_a.name!r} of {pairs[0].body_a!r} first"
        )
    own = [body.properties for body in model.bodies]
    if any(np.isfinite([*x.lower, *x.upper, *x.effort, *x.speed]).any() or x.friction.any() for x in own):
        refusals.note(
            "limits, efforts, largest speeds and dry friction of joints are numbers of the model that its algorithms do not use"
        )
    if any((*b.shapes, *b.visuals) for b in model.bodies) or model.world_shapes or model.world_visuals:
        refusals.note("shapes are no part of a pinocchio.Model")


def _take_numbers(out: Any, joint: Any, body: Body) -> None:
    """Armature, dry friction and bounds of a joint, velocities in Pinocchio's order."""
    own, free = body.properties, isinstance(body.joint, Free)
    q, v = slice(joint.idx_q, joint.idx_q + joint.nq), slice(joint.idx_v, joint.idx_v + joint.nv)
    given = {"armature": own.armature, "damping": own.damping, "friction": own.friction}
    given |= {"effortLimit": own.effort, "velocityLimit": own.speed}
    for name, x in given.items():
        _set(getattr(out, name), v, np.roll(x, 3) if free else x)
    _set(out.lowerPositionLimit, q, own.lower)
    _set(out.upperPositionLimit, q, own.upper)


def _set(numbers: Any, at: slice, x: np.ndarray) -> None:
    """Finite numbers; those of Pinocchio where there is no bound."""
    numbers[at] = np.where(np.isfinite(x), x, numbers[at])


def _pose(pin: Any, E: SE3) -> Any:
    return pin.SE3(np.asarray(E.R, float), np.asarray(E.p, float))


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
    peer = build(model, allow=("all",)) if peer is None else peer
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


__all__ = ["ALLOWED", "build", "converter", "notes"]
