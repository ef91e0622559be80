"""The same mechanism in other libraries: the model, its states in their layout, their functions.

Layouts differ in free joints only. Ours has q = (position, quat_wxyz) and v = (angular, linear) in body axes.
"""

from __future__ import annotations

import importlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any
from xml.sax.saxutils import quoteattr

import numpy as np
from scipy.spatial.transform import Rotation

from ..errors import LinkworkError, ModelError
from ..joints import Fixed, Free, Prismatic, Revolute
from ..model import Body, Model
from ..spatial.quaternion import from_rotation
from .models import random_states
from .quantities import QUANTITIES, States

AGREEMENT = 1e-9


def module(name: str) -> Any:
    """The module of another library, or None if it is not installed."""
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


class Peer(ABC):
    """Another library on the same model.

    limit       degrees of freedom of the largest model that it is given; `beyond` says why
    functions   quantity -> function of one state, all in the peer's layout
    """

    name: str
    limit: int
    beyond: str
    functions: dict[str, Callable[..., np.ndarray]]

    @abstractmethod
    def layout(self, states: States) -> States:
        """Our states as the peer writes them."""

    def batch(self, quantity: str, inputs: Sequence[np.ndarray], out: np.ndarray, threads: int) -> Callable[[], Any] | None:
        """A call that treats a batch in the peer's layout and fills `out`, or None if the peer has none."""
        return None


# --- Pinocchio -------------------------------------------------------------------------------------------------------
class Pinocchio(Peer):
    """Its free joint has q = (position, quat_xyzw) and v = (linear, angular) in body axes."""

    name, limit, beyond = "pinocchio", 200, "its data holds arrays of nv x nv x nv numbers"

    def __init__(self, model: Model) -> None:
        self.pin: Any = importlib.import_module("pinocchio")
        self.model = to_pinocchio(model)
        data = self.model.createData()
        own = {"forward_dynamics": self.pin.aba, "inverse_dynamics": self.pin.rnea, "mass_matrix": self.pin.crba}
        self.functions = {quantity: partial(function, self.model, data) for quantity, function in own.items()}
        self._q, self.velocity_order = np.arange(model.nq), np.arange(model.nv)
        for q, v in _free_joints(model):
            self._q[q], self.velocity_order[v] = self._q[q][[0, 1, 2, 4, 5, 6, 3]], np.roll(self.velocity_order[v], 3)

    def layout(self, states: States) -> States:
        out = {name: x[:, self._q if name == "q" else self.velocity_order] for name, x in states.items()}
        if "M" in out:
            out["M"] = out["M"][:, :, self.velocity_order]
        return {name: np.ascontiguousarray(x) for name, x in out.items()}

    def batch(self, quantity: str, inputs: Sequence[np.ndarray], out: np.ndarray, threads: int) -> Callable[[], Any] | None:
        """A compiled loop over columns, each contiguous. The mass matrix has none: a loop in Python that keeps nothing."""
        if quantity == "mass_matrix":
            return partial(_each, self.functions[quantity], list(inputs[0])) if threads == 1 else None
        in_parallel = self.pin.abaInParallel if quantity == "forward_dynamics" else self.pin.rneaInParallel
        return partial(in_parallel, threads, self.pin.ModelPool(self.model, threads), *(x.T for x in (*inputs, out)))


def _each(function: Callable[..., Any], rows: list[np.ndarray]) -> None:
    for row in rows:
        function(row)


def to_pinocchio(model: Model) -> Any:
    """The same model as a `pinocchio.Model`."""
    pin: Any = importlib.import_module("pinocchio")
    out = pin.Model()
    out.gravity.linear = np.array(model.gravity)
    index: list[int] = []
    for body in model.bodies:
        placement = pin.SE3(np.asarray(body.placement.R, float), np.asarray(body.placement.p, float))
        parent = 0 if body.parent < 0 else index[body.parent]
        index.append(out.addJoint(parent, _pinocchio_joint(pin, body), placement, body.joint_name))
        inertia = pin.Inertia(body.inertia.mass, body.inertia.com, body.inertia.tensor)
        out.appendBodyToJoint(index[-1], inertia, pin.SE3.Identity())
        if not isinstance(body.joint, Free):
            joint = out.joints[index[-1]]
            out.armature[joint.idx_v : joint.idx_v + joint.nv] = body.properties.armature
    return out


def _pinocchio_joint(pin: Any, body: Body) -> Any:
    if isinstance(body.joint, Free):
        return pin.JointModelFreeFlyer()
    letter, name = ("R", "Revolute") if isinstance(body.joint, Revolute) else ("P", "Prismatic")
    axis = _axis(body)
    for k, coordinate in enumerate("XYZ"):
        if np.array_equal(axis, np.eye(3)[k]):
            return getattr(pin, f"JointModel{letter}{coordinate}")()
    return getattr(pin, f"JointModel{name}Unaligned")(axis)


# --- MuJoCo ----------------------------------------------------------------------------------------------------------
class MuJoCo(Peer):
    """Its free joint has q as ours and v = (linear in world axes, angular in body axes); forces likewise."""

    name, limit, beyond = "mujoco", 100, "it factors the mass matrix, which is dense for a chain"

    def __init__(self, model: Model) -> None:
        mujoco: Any = importlib.import_module("mujoco")
        self.model, self._ours = to_mujoco(model), model
        data = mujoco.MjData(self.model)
        forward = (mujoco.mj_forward, data.qfrc_applied, data.qacc)
        inverse = (mujoco.mj_inverse, data.qacc, data.qfrc_inverse)
        self.functions = {"forward_dynamics": self._called(data, *forward), "inverse_dynamics": self._called(data, *inverse)}

    def _called(self, data: Any, function: Any, given: np.ndarray, result: np.ndarray) -> Callable[..., np.ndarray]:
        model, qpos, qvel = self.model, data.qpos, data.qvel

        def call(q: np.ndarray, v: np.ndarray, x: np.ndarray) -> np.ndarray:
            qpos[:], qvel[:], given[:] = q, v, x
            function(model, data)
            return result

        return call

    def layout(self, states: States) -> States:
        out = {name: x.copy() for name, x in states.items()}
        for at_q, at_v in _free_joints(self._ours):
            R = Rotation.from_quat(states["q"][:, at_q][:, [4, 5, 6, 3]]).as_matrix()
            for name in ("v", "tau", "a"):
                angular, linear = np.split(states[name][:, at_v], 2, axis=1)
                if name == "a":  # (R u)' = R (u' + w x u)
                    w, u = np.split(states["v"][:, at_v], 2, axis=1)
                    linear = linear + np.cross(w, u)
                out[name][:, at_v] = np.hstack([np.einsum("bij,bj->bi", R, linear), angular])
        return out


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
        lines += _mjcf_body(model.bodies[i])
        stack += [None, *reversed(children.get(i, []))]
    return "\n".join([*lines, "</worldbody></mujoco>"])


def _mjcf_body(body: Body) -> list[str]:
    """A body's opening tag, inertia and joint."""
    moments, axes = np.linalg.eigh(body.inertia.tensor)
    axes[:, 2] *= np.sign(np.linalg.det(axes))
    frame = f'pos="{_text(body.placement.p)}" quat="{_text(from_rotation(np.asarray(body.placement.R, float)))}"'
    return [
        f"<body name={quoteattr(body.name)} {frame}>",
        f'<inertial mass="{float(body.inertia.mass)!r}" pos="{_text(body.inertia.com)}"',
        f' quat="{_text(from_rotation(axes))}" diaginertia="{_text(moments)}"/>',
        _mjcf_joint(body),
    ]


def _mjcf_joint(body: Body) -> str:
    if isinstance(body.joint, Fixed):
        return ""
    if not isinstance(body.joint, Free):
        kind = "hinge" if isinstance(body.joint, Revolute) else "slide"
        own = "".join(f' {what}="{_text(getattr(body.properties, what))}"' for what in ("armature", "damping"))
        return f'<joint name={quoteattr(body.joint_name)} type="{kind}" axis="{_text(_axis(body))}"{own}/>'
    if body.parent >= 0 or not np.array_equal(np.asarray(body.placement.matrix, float), np.eye(4)):
        raise ModelError(f"a free joint of MuJoCo leads to the world, at its origin; {body.joint_name!r} does not")
    return "<freejoint/>"


def _text(values: Any) -> str:
    return " ".join(repr(float(x)) for x in np.reshape(values, -1))


def to_mujoco(model: Model, timestep: float = 1e-3) -> Any:
    """The same model as a `mujoco.MjModel`; see `mjcf`."""
    mujoco: Any = importlib.import_module("mujoco")
    return mujoco.MjModel.from_xml_string(mjcf(model, timestep))


PEERS = (Pinocchio, MuJoCo)


# --- both ------------------------------------------------------------------------------------------------------------
def _axis(body: Body) -> np.ndarray:
    if not isinstance(body.joint, Revolute | Prismatic):
        raise ModelError(
            f"benchmarks hand revolute, prismatic and free joints to other libraries; {body.joint_name!r} is {body.joint!r}"
        )
    return body.joint.axis


def _free_joints(model: Model) -> Iterator[tuple[slice, slice]]:
    """The places of every free joint in q and in v."""
    q = v = 0
    for body in model.bodies:
        nq, nv = body.joint.nq, body.joint.nv
        if isinstance(body.joint, Free):
            yield slice(q, q + nq), slice(v, v + nv)
        q, v = q + nq, v + nv


def disagreement(model: Model, peer: Peer, count: int = 5) -> float:
    """The largest difference between a result of a peer and ours, relative to the largest number of that result (at least 1)."""
    states = random_states(model, count, seed=7)
    theirs, errors = peer.layout(states), [0.0]
    for quantity in QUANTITIES:
        if quantity.name not in peer.functions:
            continue
        ours = quantity.function(model, *quantity.of(states))
        expected = peer.layout({**states, quantity.result: ours})[quantity.result]
        for k, inputs in enumerate(zip(*quantity.of(theirs), strict=True)):
            found = peer.functions[quantity.name](*inputs)
            errors.append(np.abs(found - expected[k]).max() / max(1.0, np.abs(expected[k]).max()))
    return float(np.max(errors))


def require_agreement(model: Model, peer: Peer) -> None:
    """Raise unless a peer computes what we compute: there is no point in timing anything else."""
    error = disagreement(model, peer)
    if not error <= AGREEMENT:
        raise LinkworkError(
            f"the results of {peer.name} and linkwork differ by {error:.2g} (relative) on {model!r}, more than {AGREEMENT:g}: "
            "the benchmark would compare different models. Check the version of the peer, or report this"
        )
