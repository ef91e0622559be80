"""Forces and constraints of a model in MuJoCo: converted with the same accelerations, or refused by name; never dropped."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest
from derivatives.force_cases import BODY_FORCES, JOINT_CASES, JOINT_FORCES, JOINTS
from identities.test_constraint_rows import KINDS as CONSTRAINTS
from models import rotation

import linkwork as lw
from linkwork.elements.collection import collection
from linkwork.interop import mujoco as to_mujoco

mj: Any = pytest.importorskip("mujoco")
CLOSE = 1e-9
ROD = lw.Inertia.cuboid(1.0, (0.4, 0.1, 0.2), com=(0.1, 0.05, 0.02))
PLACE = lw.SE3(R=rotation(np.array([0.6, 0.0, 0.8]), 0.7), p=(0.1, 0.2, 0.3))
CORNERS = np.array([(x, y, z) for x in (0, 0.1) for y in (0, 0.2) for z in (0, 0.3)], float)


def robot(**of_a: Any) -> lw.ModelBuilder:
    """A floating base with an arm of several kinds of joints, and a cart beside it."""
    b = lw.ModelBuilder(gravity=(1, 2, -9))
    b.body("base", joint=lw.Free(), inertia=ROD, joint_name="root")
    along = lw.SE3(p=(0.3, 0, 0.1))
    b.body("a", parent="base", joint=lw.Revolute((0, 1, 0)), inertia=ROD, placement=PLACE, armature=0.2, damping=0.3, **of_a)
    b.body("b", parent="a", joint=lw.Spherical(), inertia=ROD, placement=along, damping=0.1)
    b.body("c", parent="b", joint=lw.Universal(), inertia=ROD, placement=along, joint_name="wrist")
    b.body("d", parent="base", joint=lw.SphericalEuler("xyz"), inertia=ROD, placement=along)
    b.body("e", joint=lw.Cylindrical((0, 0, 1)), inertia=ROD, placement=PLACE)
    return b.body("f", parent="e", joint=lw.Prismatic((0, 0, 1)), inertia=ROD)


def accelerations_differ_by(model: lw.Model, varied: bool = False, seeds: Iterable[int] = range(3), **options: Any) -> float:
    """The largest difference of accelerations at random states, relative to them; without contacts and other soft constraints.

    varied   whether the inputs of forces are random, too
    """
    peer = to_mujoco.build(model, **options)
    peer.opt.disableflags |= int(mj.mjtDisableBit.mjDSBL_CONTACT | mj.mjtDisableBit.mjDSBL_CONSTRAINT)
    to, data, worst = to_mujoco.converter(model, peer), mj.MjData(peer), 0.0
    first = collection(model).initial_inputs
    for seed in seeds:
        rng = np.random.default_rng(seed)
        q, (v, tau) = model.random_configuration(rng), rng.normal(size=(2, model.nv))
        u = rng.normal(size=first.shape) if varied else first
        data.qpos[:], data.qvel[:], data.qfrc_applied[:] = to.to_q(q), to.to_v(q, v), to.to_tau(q, tau)
        data.ctrl[:] = to_mujoco.controls(model, u)
        mj.mj_forward(peer, data)
        ours = lw.forward_dynamics(model, q, v, tau, inputs=u) if len(u) else lw.forward_dynamics(model, q, v, tau)
        worst = max(worst, np.abs(ours - to.from_a(q, v, data.qacc)).max() / max(1.0, np.abs(ours).max()))
    return worst


FORCES: dict[str, lw.JointForce | lw.Force] = {
    "spring": lw.JointSpring("a", 20.0, rest=0.4, damping=0.3),
    "second spring": lw.JointSpring("a", 5.0, rest=-1.4),
    "springs of two turns": lw.JointSpring("c", [20.0, 3.0], rest=[0.4, 0.1], damping=[0.3, 0.1]),
    "spring of a ball": lw.JointSpring("b", 20.0, damping=0.3),
    "spring of Euler angles": lw.JointSpring("d", [20.0, 1, 2], rest=[0.1, 0.2, 0.3]),
    "damping": lw.JointDamping("f", 2.0),
    "damping of the base": lw.JointDamping("root", 2.0),
    "actuator": lw.Actuator("a", 3.0, (1, -2, -3), 0.7, control_range=(-0.5, 0.5), force_range=(-2, 1)),
    "second coordinate": lw.Actuator("e", 3.0, (1, -2, -3), 0.7, coordinate=1, control=0.3, force_range=(-np.inf, 2)),
    "controller": lw.PDController("wrist", [10.0, 5], [1.0, 2.0], target=[0.3, 0.2]),
    "limited controller": lw.PDController("f", 10.0, 3.0, effort=2.0),
    "spring without length": lw.PointSpring("a", "c", (0.1, 0, 0), (0, 0.2, 0), stiffness=30.0),
    "spring and damper": lw.SpringDamper("a", "world", (0.1, 0, 0), stiffness=30.0, rest_length=0.5, damping=2.0),
    "taut cable": lw.Cable([("world", (0, 0, 1)), ("a", (0.1, 0.2, 0)), ("c", (0, 0.2, 0.1))], 40.0, rest_length=0.7),
    "slack cable": lw.Cable([("world", (0, 0, 1)), ("a", (0.1, 0.2, 0)), ("c", (0, 0.2, 0.1))], 40.0, rest_length=70.0),
    "force": lw.PointForce("b", (0.1, 0.2, 0.3), (1, 2, 3), name="wind"),
    "force of a body": lw.PointForce("b", (0.1, 0.2, 0.3), (1, 2, 3), axes="body", name="wind"),
    "body damping": lw.BodyDamping("b", angular=(1, 2, 3), linear=(0.3, 0.2, 0.1), frame=PLACE),
    "drag": lw.Drag("a", linear=(1, 2, 3, 0.1, 0.2, 0.3), frame=PLACE),
}


@pytest.mark.parametrize("name", [*FORCES, "all"])
def test_forces_give_the_same_accelerations(name: str) -> None:
    model = robot().build()
    loaded = model.add(*(FORCES.values() if name == "all" else [FORCES[name]]))
    assert accelerations_differ_by(loaded, varied=True) < CLOSE


# --- nothing is dropped ---------------------------------------------------------------------------------------------------------
def converted(model: lw.Model, element: Any) -> bool:
    """Whether an element is converted with the same accelerations; if it is refused, then by name, and only by its kind."""
    message = refusal(model)
    if not message:
        assert accelerations_differ_by(model) < CLOSE
        return True
    assert repr(element) in message or "joint 'j'" in message
    (kind,) = message.rpartition("allow=['")[2].rstrip("']").split("', '")
    for allow in ((kind,), "all"):
        assert any(line.startswith("left out, as allowed: ") for line in to_mujoco.notes(to_mujoco.build(model, allow=allow)))
    assert refusal(model, allow=set(to_mujoco.ALLOWED) - {kind, "all"})
    return False


def refusal(model: lw.Model, **options: Any) -> str:
    """Why a model is refused; empty if it is not."""
    try:
        to_mujoco.build(model, **options)
    except lw.ModelError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("case", BODY_FORCES)
def test_every_force_is_converted_or_refused(case: str) -> None:
    b = lw.ModelBuilder()
    for name in "ab":
        b.body(name, joint=lw.Free(), inertia=ROD)
    force = BODY_FORCES[case](np.random.default_rng(0))
    refused = {"PointForce of time", "Drag", "Drag with flow", "Bushing", "Bushing to the world", "Handle", "Grip", "PoseHandle"}
    assert converted(b.add(force).build(), force) == (case not in {*refused, "CustomForce", "Cable"})  # that one is damped


@pytest.mark.parametrize(("case", "kind"), JOINT_CASES)
def test_every_joint_force_is_converted_or_refused(case: str, kind: str) -> None:
    joint = JOINTS[kind]()
    force = JOINT_FORCES[case](joint, np.random.default_rng(0))
    limits: dict[str, Any] = {"limits": (-0.3, 0.2)} if joint.nq == joint.nv and case == "LimitSpring" else {}
    b = lw.ModelBuilder().body("j", joint=joint, inertia=ROD, **limits)
    model = b.add(force).build()
    if "no joint that moves" in refusal(lw.Model(model.bodies, model.gravity), allow="all"):
        return  # whatever drives it
    flat = kind in ("Revolute", "Prismatic", "Cylindrical", "Universal", "Translational", "Planar", "Composite")
    assert converted(model, force) == (flat and case in ("JointSpring", "JointDamping", "PDController", "Actuator"))


@pytest.mark.parametrize("kind", CONSTRAINTS)
def test_every_constraint_between_bodies_is_converted_or_refused(kind: str) -> None:
    b = lw.ModelBuilder()
    for name in "abc":
        b.body(name, joint=lw.Free(), inertia=ROD)
    message = refusal(b.add(CONSTRAINTS[kind]).build())
    assert bool(message) == (kind != "loop")
    assert not message or (repr(CONSTRAINTS[kind]) in message and "allow=['constraints']" in message)


@pytest.mark.parametrize(
    "law",
    [
        lw.PrescribedJoint("a", lambda t: (np.sin(t), np.cos(t), -np.sin(t))),
        lw.PrescribedTwist("a", lambda t: (np.zeros(3), np.zeros(3), np.zeros(3), np.zeros(3)), rows=[1]),
        lw.JointFriction("a", mu=0.2, radius=0.02),
        lw.joint_constraint(["a", "f"], lambda q: q[0] - q[1] ** 2),
        lw.CompliantContact("a", lw.Sphere(0.1), "world", lw.Plane(), stiffness=1e4),
        lw.Contact("a", lw.Sphere(0.1), "f", lw.Plane()),
        lw.Contact("a", lw.Sphere(0.1), restitution=0.5),
        lw.Muscle([("world", (0, 0, 0.1)), ("a", (0.3, 0, 0.05))], 500.0, 0.15, 0.1, activation=0.2),
        lw.ElasticMuscle([("world", (0, 0, 0.1)), ("a", (0.3, 0, 0.05))], 500.0, 0.15, 0.1),
    ],
    ids=lambda law: type(law).__name__,
)
def test_laws_without_counterpart_are_refused(law: Any) -> None:
    message = refusal(robot().add(law).build())
    assert repr(law).partition(",")[0] in message
    assert "allow=[" in message


class Stiffer(lw.JointSpring):
    """A spring of a user, of which nobody knows what it computes."""


def test_a_class_of_a_user_is_refused() -> None:
    with pytest.raises(lw.ModelError, match="Stiffer"):
        to_mujoco.build(robot().add(Stiffer("a", 3.0)).build())
    with pytest.raises(lw.InputError, match="allow has 'springs'; it may have joints, forces"):
        to_mujoco.build(robot().build(), allow=["springs"])


@pytest.mark.parametrize(
    ("joint", "own", "word"),
    [
        (lw.Free(), {"armature": 0.1}, "armature"),
        (lw.Free(), {"friction": 0.1}, "frictionloss"),
        (lw.Free(), {"damping": [1, 1, 1, 2, 2, 2]}, "damping"),
        (lw.Spherical(), {"damping": [1, 2, 3]}, "damping"),
        (lw.Spherical(), {"armature": [1, 2, 3]}, "armature"),
        (lw.Revolute(), {"limits": (0.5, 0.5)}, "limits 0.5 to 0.5"),
    ],
)
def test_numbers_of_joints_that_mujoco_cannot_have_are_refused(joint: lw.Joint, own: dict[str, Any], word: str) -> None:
    model = lw.ModelBuilder().body("j", joint=joint, inertia=ROD, **own).build()
    assert word in refusal(model)
    assert "allow=['joints']" in refusal(model)
    assert to_mujoco.notes(to_mujoco.build(model, allow=["joints"]))
