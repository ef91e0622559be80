"""Loaded models in MuJoCo and Pinocchio: the same bodies, and for every element the nearest that the peer has.

MuJoCo has the same springs, drives and spring-dampers. Its constraints are soft: couplings and loops get the hardest impedance
that it takes (`HARD`); a joint with a prescribed motion is held where it starts, which costs the same row; springs at limits
become limits, muscles MuJoCo's muscles, with its curves, on the same paths. Damping is explicit in both.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import singledispatch
from typing import Any

import numpy as np

from ..constraints import Coupling, Limit, Loop, PrescribedJoint
from ..contact import Contact
from ..errors import ModelError
from ..forces import JointSpring, LimitSpring, Muscle, PDController, SpringDamper
from ..forces.muscle_wrap import Wrap
from ..geometry import Plane, Sphere
from ..interop.mujoco import converter, mjcf, without_loads
from ..model import Model
from ..model.kinematics import kinematics
from ..model.model import WORLD
from ..spatial.quaternion import from_rotation
from . import peers
from .quantities import States

HARD = (0.9999, 0.9999, 0.001, 0.5, 2.0)
FIBRES = (0.75, 1.05)  # fibre lengths that MuJoCo's length range stands for; any two do
SOFT = (Coupling, Loop, PrescribedJoint, LimitSpring, Limit, Contact)


@dataclass
class Draft:
    """A model of MuJoCo in the making; `controls` are the inputs of its actuators as functions of time."""

    model: Model
    q: np.ndarray
    spec: Any
    mj: Any
    controls: list[Callable[[float], float]]
    names: int = 0

    def body(self, name: str) -> Any:
        return self.spec.worldbody if name == WORLD else self.spec.body(name)

    def joint(self, name: str) -> Any:
        return self.body(self.model.bodies[self.model.body_index(name)].name).joints[0]

    def new(self, kind: str) -> str:
        """A name that nothing has."""
        self.names += 1
        return f"{kind}{self.names}"

    def site(self, body: str, point: Any) -> str:
        name = self.new("site")
        self.body(body).add_site(name=name, pos=np.asarray(point, float))
        return name

    def geom(self, body: str, kind: str, **given: Any) -> str:
        """A geometry without mass, which meets nothing by itself."""
        name = self.new("geom")
        self.body(body).add_geom(name=name, type=kind, mass=0.0, contype=0, conaffinity=0, **given)
        return name


@singledispatch
def add(element: Any, draft: Draft) -> None:
    """The nearest of an element in MuJoCo."""
    raise ModelError(f"the benchmark does not know what {element!r} is in MuJoCo")


@add.register
def _(element: JointSpring, draft: Draft) -> None:
    joint, rest = draft.joint(element.joint), element.rest
    joint.stiffness[0], joint.springref = float(np.ravel(element.stiffness)[0]), 0.0 if rest is None else float(np.ravel(rest)[0])
    joint.damping[0] += float(np.ravel(element.damping)[0])


@add.register
def _(element: PDController, draft: Draft) -> None:
    kp, kd, target = (float(np.ravel(x)[0]) for x in (element.kp, element.kd, element.target))
    actuator = draft.spec.add_actuator(name=draft.new("drive"), target=draft.joint(element.joint).name)
    actuator.trntype = draft.mj.mjtTrn.mjTRN_JOINT
    actuator.set_to_position(kp=kp, kv=kd)
    draft.controls.append(lambda t: target)


@add.register
def _(element: SpringDamper, draft: Draft) -> None:
    L = element.rest_length
    tendon = draft.spec.add_tendon(name=draft.new("spring"), springlength=(L, L))
    tendon.stiffness[0], tendon.damping[0] = element.stiffness / L, element.damping / L
    for body, x in zip(element.bodies, (element.point_a, element.point_b), strict=True):
        tendon.wrap_site(draft.site(body, x))


@add.register
def _(element: LimitSpring, draft: Draft) -> None:
    properties = draft.model.bodies[draft.model.body_index(element.joint)].properties
    _limit(draft, element.joint, properties.lower[0], properties.upper[0])


@add.register
def _(element: Limit, draft: Draft) -> None:
    _limit(draft, element.joint, element.lower[0], element.upper[0])


def _limit(draft: Draft, name: str, lower: float, upper: float) -> None:
    joint = draft.joint(name)
    joint.limited, joint.range = draft.mj.mjtLimited.mjLIMITED_TRUE, (lower, upper)


@add.register
def _(element: Coupling, draft: Draft) -> None:
    _hold(draft, element.follower, element.leader, element.offset, element.ratio)


@add.register
def _(element: PrescribedJoint, draft: Draft) -> None:
    _hold(draft, element.joint, "", float(element.motion(0.0)[0]), 0.0)


def _hold(draft: Draft, follower: str, leader: str, offset: float, ratio: float) -> None:
    row = draft.spec.add_equality(name=draft.new("row"), type=draft.mj.mjtEq.mjEQ_JOINT, solimp=HARD)
    row.objtype, row.name1 = draft.mj.mjtObj.mjOBJ_JOINT, draft.joint(follower).name
    row.name2 = draft.joint(leader).name if leader else ""
    row.data[:5] = offset, ratio, 0.0, 0.0, 0.0


@add.register
def _(element: Loop, draft: Draft) -> None:
    row = draft.spec.add_equality(name=draft.new("row"), type=draft.mj.mjtEq.mjEQ_CONNECT, solimp=HARD)
    row.objtype = draft.mj.mjtObj.mjOBJ_SITE
    points = zip(element.bodies, (element.point_a, element.point_b), strict=True)
    row.name1, row.name2 = (draft.site(body, x) for body, x in points)


@add.register
def _(element: Contact, draft: Draft) -> None:
    """A sphere on a plane, a pair of its own: nothing is searched."""
    kinds = draft.mj.mjtGeom
    ball, ground = element.shapes
    assert isinstance(ball, Sphere)
    assert isinstance(ground, Plane)
    normal = ground.normal
    across = np.linalg.svd(normal[None])[2][1:]
    R = np.array([across[0], np.cross(normal, across[0]), normal]).T
    sphere = draft.geom(element.bodies[0], kinds.mjGEOM_SPHERE, pos=ball.center, size=(ball.radius, 0, 0))
    plane = draft.geom(
        element.bodies[1], kinds.mjGEOM_PLANE, pos=ground.point, quat=from_rotation(R), size=(5, 5, 0.1)
    )  # drawn so large; it has no end
    mu = float(element.friction)
    own = {"condim": 3, "friction": (mu, mu, 0.0, 0.0, 0.0)} if element.cones else {"condim": 1}
    draft.spec.add_pair(name=draft.new("pair"), geomname1=sphere, geomname2=plane, **own)


@add.register
def _(element: Muscle, draft: Draft) -> None:
    muscle = draft.new("muscle")
    tendon, path = draft.spec.add_tendon(name=muscle), element.path
    for k, (i, item) in enumerate(path.items):
        if not isinstance(item, Wrap):
            tendon.wrap_site(draft.site(path.bodies[i], item))
            continue
        R, p = (np.asarray(x, float) for x in (item.frame.R, item.frame.p))
        shape = {"pos": p, "quat": from_rotation(R), "size": (float(item.radius), 0.1, 0.0)}
        around = draft.geom(path.bodies[i], draft.mj.mjtGeom.mjGEOM_CYLINDER, **shape)
        tendon.wrap_geom(around, draft.site(path.bodies[i], p + 2.0 * item.radius * _side(draft, path, k)))
    lengths = [element.tendon_length + f * element.optimal_length for f in FIBRES]
    actuator = draft.spec.add_actuator(name=f"{muscle} drive", target=muscle, lengthrange=lengths)
    actuator.trntype = draft.mj.mjtTrn.mjTRN_TENDON
    actuator.gaintype, actuator.biastype = draft.mj.mjtGain.mjGAIN_MUSCLE, draft.mj.mjtBias.mjBIAS_MUSCLE
    numbers = (*FIBRES, element.max_force, 200.0, 0.5, 1.6, element.max_velocity, 1.3, 1.2)
    actuator.gainprm[:9] = actuator.biasprm[:9] = numbers
    draft.controls.append(lambda t: float(element.activation_at(t, element.initial_inputs())))


def _side(draft: Draft, path: Any, k: int) -> np.ndarray:
    """The direction, across a cylinder, in which a path passes it: that of its neighbours while joints are neutral."""
    i, wrap = path.items[k]
    poses = kinematics(draft.model, draft.model.neutral()).poses

    def pose(body: str) -> np.ndarray:
        return np.eye(4) if body == WORLD else poses[draft.model.body_index(body)]

    neighbours = [(pose(path.bodies[j]) @ np.append(x, 1.0)) for j, x in (path.items[k - 1], path.items[k + 1])]
    seen = np.linalg.solve(pose(path.bodies[i]), np.mean(neighbours, axis=0))[:3] - np.asarray(wrap.frame.p, float)
    axis = np.asarray(wrap.frame.R, float)[:, 2]
    across = seen - axis * (axis @ seen)
    return across / np.linalg.norm(across)


class LoadedMuJoCo(peers.MuJoCo):
    """A loaded model, its states as MuJoCo writes them, its accelerations and its rollouts on the calling thread."""

    def __init__(self, model: Model, q: np.ndarray, dt: float) -> None:
        self.mj: Any = importlib.import_module("mujoco")
        flags = self.mj.mjtDisableBit
        draft = Draft(model, q, self.mj.MjSpec.from_string(mjcf(without_loads(model), dt)), self.mj, [])
        for element in model.elements:
            add(element, draft)
        off = int(flags.mjDSBL_EULERDAMP)
        if not any(isinstance(element, SOFT) for element in model.elements):
            off |= int(flags.mjDSBL_CONSTRAINT)
        if not any(isinstance(element, Contact) for element in model.elements):
            off |= int(flags.mjDSBL_CONTACT)
        draft.spec.option.disableflags = off
        self.dt, self.controls = dt, draft.controls
        self.model = draft.spec.compile()
        self._to = converter(model, self.model)

    def inputs(self, steps: int) -> np.ndarray:
        """Of the actuators (steps, nu)."""
        return np.array([[u(k * self.dt) for u in self.controls] for k in range(steps)]).reshape(steps, self.model.nu)

    def layout_of(self, q: np.ndarray, v: np.ndarray) -> States:
        """Positions and velocities (states, n) in MuJoCo's layout."""
        return self.layout(_only(q, v))

    def accelerations(self, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> np.ndarray:
        """Of one of our states under joint forces, in MuJoCo's layout."""
        theirs, data = self.layout({**_only(q, v), "tau": tau[None]}), self.mj.MjData(self.model)
        data.qpos[:], data.qvel[:], data.qfrc_applied[:] = theirs["q"][0], theirs["v"][0], theirs["tau"][0]
        data.ctrl[:] = self.inputs(1)[0]
        self.mj.mj_forward(self.model, data)
        return data.qacc.copy()

    def laid_out(self, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
        """Our accelerations in MuJoCo's layout."""
        return self.layout({**_only(q, v), "a": a[None]})["a"][0]

    def after(self, q: np.ndarray, v: np.ndarray, steps: int) -> tuple[int, np.ndarray]:
        """After so many steps from one state: how many rows of constraints there are, and the velocities, in MuJoCo's layout."""
        theirs, data = self.layout_of(q, v), self.mj.MjData(self.model)
        data.qpos[:], data.qvel[:] = theirs["q"][0], theirs["v"][0]
        for u in self.inputs(steps):
            data.ctrl[:] = u
            self.mj.mj_step(self.model, data)
        return data.nefc, data.qvel.copy()

    def rollout(self, q: np.ndarray, v: np.ndarray, steps: int) -> Callable[[], np.ndarray]:
        """All steps of all states in one call; the array (states, steps, 1 + nq + nv) is overwritten by each."""
        rollouts: Any = importlib.import_module("mujoco.rollout")
        theirs = self.layout_of(q, v)
        count = len(theirs["q"])
        start = np.concatenate([np.zeros((count, 1)), theirs["q"], theirs["v"]], axis=1)
        state, control = np.empty((count, steps, start.shape[1])), np.tile(self.inputs(steps), (count, 1, 1))
        data, pool, all_models = self.mj.MjData(self.model), rollouts.Rollout(nthread=0), [self.model] * count

        def run() -> np.ndarray:
            pool.rollout(all_models, [data], start, control, nstep=steps, state=state, skip_checks=True)
            return state

        return run


def _only(q: np.ndarray, v: np.ndarray) -> States:
    q, v = np.atleast_2d(q), np.atleast_2d(v)
    return {"q": q, "v": v, "tau": np.zeros_like(v), "a": np.zeros_like(v)}


class ClosedPinocchio(peers.Pinocchio):
    """A tree with loops in Pinocchio: `constraintDynamics`, called from Python."""

    def __init__(self, model: Model) -> None:
        super().__init__(model.replace(elements=()))
        pin = self.pin
        self._ours = model
        self._closures, self._data = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
        for element in model.elements:
            self._closures.append(self._closure(element))
            self._data.append(self._closures[-1].createData())
        self._own = self.model.createData()
        self._settings = pin.ProximalSettings(1e-14, 0.0, 1)
        pin.initConstraintDynamics(self.model, self._own, self._closures, self._data)

    def _closure(self, element: Loop) -> Any:
        pin = self.pin
        joints = [0 if name == WORLD else 1 + self._ours.body_index(name) for name in element.bodies]
        (i, a), (j, b) = (
            (k, pin.SE3(np.eye(3), np.asarray(x, float))) for k, x in zip(joints, (element.point_a, element.point_b), strict=True)
        )
        return pin.RigidConstraintModel(pin.ContactType.CONTACT_3D, self.model, i, a, j, b, pin.ReferenceFrame.LOCAL)

    def call(self, q: np.ndarray, v: np.ndarray) -> Callable[[], np.ndarray]:
        """Accelerations of one of our states; damping is applied as a force."""
        theirs = self.layout({**_only(q, v), "tau": -self._ours.damping * np.atleast_2d(v)})
        q_p, v_p, tau = theirs["q"][0], theirs["v"][0], theirs["tau"][0]
        function, given = self.pin.constraintDynamics, (self._closures, self._data, self._settings)
        return lambda: function(self.model, self._own, q_p, v_p, tau, *given)

    def laid_out(self, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
        """Our accelerations in Pinocchio's layout."""
        return self.layout({**_only(q, v), "a": a[None]})["a"][0]
