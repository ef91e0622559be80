"""Coordinates, velocities, accelerations and forces of a model as MuJoCo writes them."""

from __future__ import annotations

import importlib
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from ...errors import InputError
from ...joints import Free
from ...model.accepts import takes_model
from ...model.model import Body, Model
from ...model.properties import JointProperties
from ..layout import Converter, Form, Piece


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


# --- states ------------------------------------------------------------------------------------------------------------------
@takes_model
def without_loads(model: Model) -> Model:
    """The bodies alone: joints with armature and damping, no elements, limits, friction, shapes, frames or keyframes."""
    bodies = []
    for b in model.bodies:
        own = b.properties
        kept = {"armature": own.armature, "damping": own.damping}
        bodies.append(replace(b, properties=JointProperties.of(b.joint, b.joint_name, **kept), shapes=(), visuals=()))
    return Model(tuple(bodies), model.gravity)


def converter(model: Model, peer: Any = None) -> Converter:
    """Converts q, v, a and tau between a model and the same in MuJoCo; its joints are found by name.

    peer   the `mujoco.MjModel`; that of `build` if None, of the bodies alone
    """
    if peer is None:
        peer = importlib.import_module("linkwork.interop.mujoco.build").build(without_loads(model))
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
