"""The mechanisms of the benchmarks, and the same mechanisms in other libraries."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any
from xml.sax.saxutils import quoteattr

import numpy as np
from scipy.spatial.transform import Rotation

from ..errors import LinkworkError, ModelError
from ..joints import Revolute
from ..model import Body, Model
from ..reduced import forward_dynamics
from ..spatial import SE3, Inertia
from ..spatial.quaternion import from_rotation

GRAVITY = (0.0, 0.0, -9.81)
AGREEMENT = 1e-9


# --- ours ------------------------------------------------------------------------------------------------------------
def chain(n: int, seed: int = 2) -> Model:
    """n links of 0.2 m along x, hinged about y and z in turn, of nearly equal inertias."""
    rng = np.random.default_rng(seed)
    hinges = (Revolute(axis=(0.0, 1.0, 0.0)), Revolute(axis=(0.0, 0.0, 1.0)))
    bodies = []
    for i in range(n):
        placement = SE3(p=(0.2, 0.0, 0.0)) if i else SE3()
        mass, size = rng.uniform(0.9, 1.1), np.array([0.2, 0.05, 0.05]) * rng.uniform(0.9, 1.1, 3)
        com = np.array([0.1, 0.0, 0.0]) + rng.uniform(-0.01, 0.01, 3)
        R = rotation(rng.uniform(-0.1, 0.1, 3))
        tensor = R @ Inertia.cuboid(mass, size).tensor @ R.T
        bodies.append(Body(f"link{i}", i - 1, hinges[i % 2], f"joint{i}", placement, Inertia(mass, com, (tensor + tensor.T) / 2)))
    return Model(tuple(bodies), np.array(GRAVITY))


def arm7(seed: int = 1) -> Model:
    """Seven joints about z with the modified Denavit-Hartenberg geometry of the Panda arm, and full inertia tensors."""
    rng = np.random.default_rng(seed)
    twist = (0, -1, 1, 1, -1, 1, 1)  # quarter turns about x
    a = (0.0, 0.0, 0.0, 0.0825, -0.0825, 0.0, 0.088)
    d = (0.333, 0.0, 0.316, 0.0, 0.384, 0.0, 0.0)
    bodies = []
    for i in range(7):
        s, c = float(twist[i]), float(twist[i] == 0)
        R = np.array([[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]]) + 0.0  # no negative zeros
        placement = SE3(R=R, p=(a[i], -s * d[i] + 0.0, c * d[i]))
        mass = rng.uniform(1.0, 4.0)
        inertia = Inertia(mass, rng.uniform(-0.1, 0.1, 3), random_tensor(rng, mass, 0.1))
        bodies.append(Body(f"link{i + 1}", i - 1, Revolute(), f"joint{i + 1}", placement, inertia))
    return Model(tuple(bodies), np.array(GRAVITY))


def random_tensor(rng: np.random.Generator, mass: float, size: float) -> np.ndarray:
    """A possible inertia tensor without symmetries: tr(C) 1 - C of a random covariance C."""
    A = rng.normal(size=(3, 3))
    C = mass * size**2 * (A @ A.T + np.eye(3)) / 6.0
    return np.trace(C) * np.eye(3) - C


def rotation(w: np.ndarray) -> np.ndarray:
    """The rotation by a vector."""
    return Rotation.from_rotvec(w).as_matrix()


def random_states(model: Model, batch: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """q, v and tau (or accelerations) of a batch: any angles, speeds and forces around 1."""
    rng = np.random.default_rng(seed)
    return rng.uniform(-np.pi, np.pi, (batch, model.nq)), rng.normal(size=(batch, model.nv)), rng.normal(size=(batch, model.nv))


# --- theirs ----------------------------------------------------------------------------------------------------------
def peer(name: str) -> Any:
    """The module of another library, or None if it is not installed."""
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def _axis(body: Body) -> np.ndarray:
    if not isinstance(body.joint, Revolute):
        raise ModelError(f"benchmarks hand only revolute joints to other libraries; {body.joint_name!r} is {body.joint!r}")
    return body.joint.axis


def to_pinocchio(model: Model) -> Any:
    """The same model of revolute joints as a `pinocchio.Model`."""
    pin: Any = importlib.import_module("pinocchio")
    aligned = {(1.0, 0.0, 0.0): pin.JointModelRX, (0.0, 1.0, 0.0): pin.JointModelRY, (0.0, 0.0, 1.0): pin.JointModelRZ}
    out = pin.Model()
    out.gravity.linear = np.array(model.gravity)
    index: list[int] = []
    for body in model.bodies:
        axis = _axis(body)
        kind = aligned.get(tuple(axis.tolist()))
        joint = kind() if kind else pin.JointModelRevoluteUnaligned(axis)
        placement = pin.SE3(np.asarray(body.placement.R, float), np.asarray(body.placement.p, float))
        index.append(out.addJoint(0 if body.parent < 0 else index[body.parent], joint, placement, body.joint_name))
        inertia = pin.Inertia(body.inertia.mass, body.inertia.com, body.inertia.tensor)
        out.appendBodyToJoint(index[-1], inertia, pin.SE3.Identity())
    return out


def mjcf(model: Model, timestep: float = 1e-3) -> str:
    """The same model of revolute joints as MJCF: no geometry, no damping, no constraints, semi-implicit Euler."""

    def text(values: Any) -> str:
        return " ".join(repr(float(x)) for x in np.reshape(values, -1))

    children: dict[int, list[int]] = {}
    for i, body in enumerate(model.bodies):
        children.setdefault(body.parent, []).append(i)
    lines = [
        '<mujoco><compiler angle="radian" autolimits="true"/>',
        f'<option integrator="Euler" timestep="{timestep!r}" gravity="{text(model.gravity)}">',
        '<flag contact="disable" constraint="disable"/></option>',
        "<worldbody>",
    ]
    stack: list[int | None] = list(reversed(children.get(-1, [])))
    while stack:
        i = stack.pop()
        if i is None:
            lines.append("</body>")
            continue
        body = model.bodies[i]
        moments, axes = np.linalg.eigh(body.inertia.tensor)
        axes[:, 2] *= np.sign(np.linalg.det(axes))
        frame = f'pos="{text(body.placement.p)}" quat="{text(from_rotation(np.asarray(body.placement.R, float)))}"'
        lines.append(f"<body name={quoteattr(body.name)} {frame}>")
        lines.append(f'<inertial mass="{float(body.inertia.mass)!r}" pos="{text(body.inertia.com)}"')
        lines.append(f' quat="{text(from_rotation(axes))}" diaginertia="{text(moments)}"/>')
        lines.append(f'<joint type="hinge" axis="{text(_axis(body))}"/>')
        stack += [None, *reversed(children.get(i, []))]
    return "\n".join([*lines, "</worldbody></mujoco>"])


def to_mujoco(model: Model, timestep: float = 1e-3) -> Any:
    """The same model of revolute joints as a `mujoco.MjModel`; see `mjcf`."""
    mujoco: Any = importlib.import_module("mujoco")
    return mujoco.MjModel.from_xml_string(mjcf(model, timestep))


# --- agreement -------------------------------------------------------------------------------------------------------
def pinocchio_dynamics(pin_model: Any) -> Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]:
    """Forward dynamics of one state by Pinocchio."""
    pin: Any = importlib.import_module("pinocchio")
    data = pin_model.createData()
    return lambda q, v, tau: np.array(pin.aba(pin_model, data, q, v, tau))


def mujoco_dynamics(mj_model: Any) -> Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]:
    """Forward dynamics of one state by MuJoCo."""
    mujoco: Any = importlib.import_module("mujoco")
    data = mujoco.MjData(mj_model)

    def accelerations(q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> np.ndarray:
        data.qpos[:], data.qvel[:], data.qfrc_applied[:] = q, v, tau
        mujoco.mj_forward(mj_model, data)
        return np.array(data.qacc)

    return accelerations


def disagreement(model: Model, dynamics: Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray], states: int = 5) -> float:
    """The largest difference between the accelerations of a peer and ours, relative to the largest acceleration."""
    worst = 0.0
    for q, v, tau in zip(*random_states(model, states, seed=7), strict=True):
        ours = forward_dynamics(model, q, v, tau)
        worst = max(worst, float(np.abs(dynamics(q, v, tau) - ours).max() / max(1.0, np.abs(ours).max())))
    return worst


def require_agreement(model: Model, name: str, dynamics: Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]) -> None:
    """Raise unless a peer computes what we compute: there is no point in timing anything else."""
    error = disagreement(model, dynamics)
    if not error <= AGREEMENT:
        raise LinkworkError(
            f"the accelerations of {name} and linkwork differ by {error:.2g} (relative) on {model!r}, more than {AGREEMENT:g}: "
            "the benchmark would compare different models. Check the version of the peer, or report this"
        )
