"""Mechanisms under loads: what `linkwork bench loaded` steps, by the name of the mechanism and of the load.

Stiffness and damping of what acts in joints are of the size that gives each joint by itself a frequency `RATE`, so that steps of
1 ms are stable on all mechanisms. Limits that bodies declare are taken away: a mechanism has those that its load says.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..constraints import Coupling, Limit, Loop, PrescribedJoint
from ..contact import Contact
from ..errors import InputError
from ..forces import JointSpring, LimitSpring, PDController, SpringDamper
from ..geometry import Plane, Sphere
from ..io import load
from ..joints import Revolute
from ..model import Model, ModelBuilder
from ..model.kinematics import kinematics
from ..model.model import WORLD
from ..reduced import body_jacobian, forward_dynamics, inverse_mass_matrix
from ..scenes import ALL_SCENES
from ..spatial import SE3, Inertia
from . import models

LINK, ARM_AXES = 0.3, ((0, 0, 1), (0, 1, 0), (0, 1, 0), (0, 0, 1), (0, 1, 0), (0, 0, 1), (0, 1, 0))
RATE, DAMPING = 10.0, 0.3  # rad/s; of critical
RADIUS = 0.03  # m, of the spheres at the ends of links
PANDA, G1 = models.ROBOTS["panda"][0], "g1_description/urdf/g1_29dof_rev_1_0.urdf"
FEET = ("left_ankle_roll_link", "right_ankle_roll_link")
SOLES = [(x, y, -0.03) for x in (-0.05, 0.12) for y in (-0.025, 0.025)]  # centres of spheres on a foot
SOLE_RADIUS = 0.005
FAR, WIDE = 10.0, 3.0  # m, rad: how far away idle planes and stops are
SPEED = 0.1  # rad/s, m/s: of joints at the start
SPREAD, SPEED_SPREAD = 1e-4, 0.02  # of the states of a batch


@dataclass(frozen=True)
class Mechanism:
    """A model, where it starts, and where loads attach.

    tip, other   bodies far apart
    anchor       what the tip is tied to by a loop: `other` or the world
    spheres      (body, sphere) of contacts
    """

    model: Model
    q: np.ndarray
    tip: str = ""
    other: str = ""
    anchor: str = WORLD
    spheres: tuple[tuple[str, Sphere], ...] = ()

    @property
    def hinges(self) -> list[str]:
        return [b.name for b in self.model.bodies if isinstance(b.joint, Revolute)]

    def at(self, joint: str) -> float:
        """The coordinate of a joint at the start."""
        return float(self.q[self.model.q_index(joint)][0])

    def point(self, body: str, x: Any = (0.0, 0.0, 0.0), seen_from: str = WORLD) -> np.ndarray:
        """A point of a body at the start, in the axes of another."""
        poses = kinematics(self.model, self.q).poses
        world = np.append(x, 1.0) if body == WORLD else poses[self.model.body_index(body)] @ np.append(x, 1.0)
        return (world if seen_from == WORLD else np.linalg.solve(poses[self.model.body_index(seen_from)], world))[:3]


@dataclass(frozen=True)
class Loaded:
    """A mechanism under a load, and the state from which it is stepped."""

    model: Model
    q: np.ndarray
    v: np.ndarray

    def states(self, count: int, seed: int = 3) -> tuple[np.ndarray, np.ndarray]:
        """Positions and velocities near the start, along what the equality constraints allow; the first is the start."""
        rng, nv = np.random.default_rng(seed), self.model.nv
        allowed = allowed_by(equality_rows(self.model, self.q))
        dq, dv = (rng.normal(size=(count, nv)) @ allowed for _ in range(2))
        dq[0] = dv[0] = 0.0
        q = np.array([self.model.integrate(self.q, SPREAD * d) for d in dq])
        return q, self.v + SPEED_SPREAD * dv


def equality_rows(model: Model, q: np.ndarray) -> np.ndarray:
    """G (rows, nv) of the loops, couplings and prescribed joints of a model, at one configuration."""
    J, poses = body_jacobian(model, q).reshape(model.nb, 6, model.nv), kinematics(model, q).poses
    rows = [np.zeros((0, model.nv))]
    for element in model.elements:
        if isinstance(element, Loop):
            G = np.zeros((3, model.nv))
            for body, x, sign in zip(element.bodies, (element.point_a, element.point_b), (1.0, -1.0), strict=True):
                if body != WORLD:
                    i = model.body_index(body)
                    G += sign * poses[i, :3, :3] @ (J[i, 3:] - np.cross(x, J[i, :3], axisb=0, axisc=0))
            rows.append(G)
        elif isinstance(element, Coupling):
            row = np.zeros((1, model.nv))
            row[:, model.v_index(element.follower)] = 1.0
            row[:, model.v_index(element.leader)] = -element.ratio
            rows.append(row)
        elif isinstance(element, PrescribedJoint):
            rows.append(np.eye(model.nv)[model.v_index(element.joint)])
    return np.concatenate(rows)


def allowed_by(G: np.ndarray) -> np.ndarray:
    """The projection (nv, nv) onto what rows G leave."""
    return np.eye(G.shape[1]) - np.linalg.pinv(G) @ G


# --- mechanisms ------------------------------------------------------------------------------------------------------
def unlimited(model: Model) -> Model:
    """The same model, its bodies without limits."""
    return model.replace(bodies={b.name: {"limits": (-np.inf, np.inf)} for b in model.bodies if b.joint.nv})


def arm_model() -> Model:
    """Seven bars of 0.3 m and 1 kg."""
    b, parent = ModelBuilder(gravity=models.GRAVITY), WORLD
    bar = Inertia.cuboid(1.0, (LINK, 0.06, 0.05), com=(LINK / 2, 0.01, 0.0))
    for k, axis in enumerate(ARM_AXES):
        place = SE3(p=(LINK, 0, 0) if k else (0, 0, 1))
        b.body(f"l{k}", parent=parent, joint=Revolute(axis), placement=place, inertia=bar)
        parent = f"l{k}"
    return b.build()


def arm() -> Mechanism:
    model = arm_model()
    q = np.random.default_rng(0).uniform(-0.5, 0.5, model.nq)
    return Mechanism(model, q, "l6", "l3", spheres=at_ends(model, ("l3", "l4", "l5", "l6"), LINK))


def chain100() -> Mechanism:
    model = models.chain(100)
    q = np.random.default_rng(0).uniform(-0.1, 0.1, model.nq)
    return Mechanism(model, q, "link99", "link50", spheres=at_ends(model, ("link24", "link49", "link74", "link99"), 0.2))


def at_ends(model: Model, bodies: tuple[str, ...], length: float) -> tuple[tuple[str, Sphere], ...]:
    return tuple((body, Sphere(RADIUS, (length, 0.0, 0.0))) for body in bodies)


def panda() -> Mechanism:
    """As it is loaded: one finger follows the other."""
    model = unlimited(load(robot_file(PANDA), gravity=models.GRAVITY))
    q = model.neutral()
    q[:7] = 0.3 * (-1.0) ** np.arange(7)
    spheres = [(f"panda_link{k}", Sphere(RADIUS)) for k in (3, 4, 5, 7)]  # the origins of 5 and 6 coincide
    return Mechanism(model, q, "panda_link7", "panda_link4", spheres=tuple(spheres))


def g1() -> Mechanism:
    """A humanoid with 29 hinges on a floating base, its knees bent a little, its soles on the plane z = 0."""
    model = unlimited(load(robot_file(G1), floating=True, gravity=models.GRAVITY))
    model = model.with_parameters({b.name: {"armature": 0.05} for b in model.bodies if b.joint.nv == 1})
    q = model.neutral()
    for side in ("left", "right"):
        for joint, angle in (("hip_pitch", -0.2), ("knee", 0.4), ("ankle_pitch", -0.2)):
            q[model.q_index(f"{side}_{joint}_joint")] = angle
    spheres = tuple((foot, Sphere(SOLE_RADIUS, x)) for foot in FEET for x in SOLES)
    q[2] -= Mechanism(model, q).point(FEET[0], SOLES[0])[2] - SOLE_RADIUS
    hands = "left_wrist_yaw_link", "right_wrist_yaw_link"
    return Mechanism(model, q, *hands, anchor=hands[1], spheres=spheres)


def robot_file(file: str) -> Any:
    folder = models.robots_folder()
    if folder is None:
        raise InputError(f"{file} is in the package {models.ROBOTS_PACKAGE}, which is not installed")
    return folder / file


def scene(name: str) -> Mechanism:
    """A scene with the elements that it has; those are its load."""
    model, start = ALL_SCENES[name].build()
    return Mechanism(model, np.asarray(start.q, float))


MECHANISMS: dict[str, Callable[[], Mechanism]] = {"arm": arm, "panda": panda, "g1": g1, "chain100": chain100}
SCENES = ("elbow", "leg")


# --- loads -----------------------------------------------------------------------------------------------------------
def with_elements(m: Mechanism, *elements: Any, v: np.ndarray | None = None) -> Loaded:
    """More elements; it starts with some speed of all joints that the constraints allow, or with velocities that are given."""
    model = m.model.replace(elements=(*m.model.elements, *elements))
    some = SPEED * np.random.default_rng(5).normal(size=model.nv) if v is None else v
    return Loaded(model, m.q, some @ allowed_by(equality_rows(model, m.q)))


def joint_gains(m: Mechanism, rate: float = RATE) -> dict[str, tuple[float, float]]:
    """Of every joint with one degree of freedom the stiffness and damping for a frequency, all other joints being free."""
    mobility = np.diagonal(inverse_mass_matrix(m.model.replace(elements=()), m.q))
    out = {}
    for b in m.model.bodies:
        if b.joint.nv == 1:
            inertia = 1.0 / mobility[m.model.v_index(b.name)][0]
            out[b.name] = (rate**2 * inertia, 2.0 * DAMPING * rate * inertia)
    return out


def springs(m: Mechanism) -> Loaded:
    """In every joint, with dampers."""
    rest = {name: [m.at(name) + 0.1] for name in joint_gains(m)}
    return with_elements(m, *(JointSpring(name, k, rest[name], d) for name, (k, d) in joint_gains(m).items()))


def pd(m: Mechanism) -> Loaded:
    """A controller on every joint."""
    return with_elements(m, *(PDController(name, k, d, [m.at(name) + 0.1]) for name, (k, d) in joint_gains(m).items()))


def spring_dampers(m: Mechanism) -> Loaded:
    """Two: from the tip to another body, from there to the world."""
    base = m.point(m.other) + np.array([0.3, 0.2, 0.1])
    length = float(np.linalg.norm(m.point(m.tip) - m.point(m.other)))
    between = SpringDamper(m.tip, m.other, stiffness=20.0, damping=0.5, rest_length=0.9 * length)
    return with_elements(m, between, SpringDamper(m.other, WORLD, point_b=base, stiffness=20.0, damping=0.5, rest_length=0.3))


def limit_springs(m: Mechanism) -> Loaded:
    """On every hinge; every other one starts 0.01 rad beyond its limit."""
    gains = joint_gains(m, 3.0 * RATE)
    near = {name: {"limits": (m.at(name) - 0.05, m.at(name) + (-0.01, 0.02)[k % 2])} for k, name in enumerate(m.hinges)}
    limited = Mechanism(m.model.replace(bodies=near), m.q)
    return with_elements(limited, *(LimitSpring(name, *gains[name]) for name in m.hinges))


def coupling(m: Mechanism) -> Loaded:
    """The last hinge follows the last but two, at half the angle."""
    follower, leader = m.hinges[-1], m.hinges[-3]
    return with_elements(m, Coupling(follower, leader, 0.5, m.at(follower) - 0.5 * m.at(leader)))


def loop(m: Mechanism) -> Loaded:
    """A point of the tip stays where it is, in the world or on another body."""
    x = np.array([0.05, 0.0, 0.0])
    return with_elements(m, Loop(m.tip, m.anchor, x, m.point(m.tip, x, seen_from=m.anchor)))


def limits_idle(m: Mechanism) -> Loaded:
    """Stops on every hinge, none near."""
    return with_elements(m, *(Limit(name, m.at(name) - WIDE, m.at(name) + WIDE) for name in m.hinges))


def limits_active(m: Mechanism) -> Loaded:
    """Every hinge is at a stop, the one that it would move to, and has some speed towards it."""
    bare = m.model.replace(elements=())
    a = forward_dynamics(bare, m.q, np.zeros(bare.nv))
    v, stops = np.zeros(bare.nv), []
    for name in m.hinges:
        i, here = m.model.v_index(name), m.at(name)
        up = bool(a[i][0] >= 0.0)
        v[i] = SPEED if up else -SPEED
        stops.append(Limit(name, here - WIDE, here) if up else Limit(name, here, here + WIDE))
    return with_elements(m, *stops, v=v)


def contacts(m: Mechanism, below: float) -> Loaded:
    """Every sphere over a level plane of its own, that far below it (on two feet: all planes are one), at rest."""

    def ground(body: str, sphere: Sphere) -> Plane:
        return Plane(m.point(body, sphere.center) - (0.0, 0.0, sphere.radius + below))

    elements = [Contact(body, sphere, WORLD, ground(body, sphere)) for body, sphere in m.spheres]
    return with_elements(m, *elements, v=np.zeros(m.model.nv))


def prescribed(m: Mechanism) -> Loaded:
    """The middle hinge swings as a function of time says, from rest."""
    name = m.hinges[len(m.hinges) // 2]
    here, a, w = m.at(name), 0.2, 6.0

    def motion(t: Any) -> tuple[Any, Any, Any]:
        return here + a * (1.0 - np.cos(w * t)), a * w * np.sin(w * t), a * w**2 * np.cos(w * t)

    return with_elements(m, PrescribedJoint(name, motion))


LOADS: dict[str, Callable[[Mechanism], Loaded]] = {
    "": with_elements,
    "springs": springs,
    "pd": pd,
    "spring_dampers": spring_dampers,
    "limit_springs": limit_springs,
    "coupling": coupling,
    "loop": loop,
    "limits_idle": limits_idle,
    "limits_active": limits_active,
    "contacts_idle": lambda m: contacts(m, FAR),
    "contacts_active": lambda m: contacts(m, 0.0),
    "prescribed": prescribed,
}


def bare_scene(name: str) -> Loaded:
    m = scene(name)
    return with_elements(Mechanism(unlimited(m.model.replace(elements=())), m.q))


def _on(mechanism: str, load: str) -> Callable[[], Loaded]:
    return lambda: LOADS[load](MECHANISMS[mechanism]())


def _cases() -> dict[str, Callable[[], Loaded]]:
    """By the name of the mechanism, a plus sign and the name of its load; the mechanism's alone where there is none."""
    out = {f"{name}+{load}".removesuffix("+"): _on(name, load) for name in MECHANISMS for load in LOADS}
    for name in SCENES:
        out[name] = lambda name=name: bare_scene(name)
        out[f"{name}+muscles"] = lambda name=name: with_elements(scene(name))
    return out


CASES = _cases()
