"""Examples of every force, on two free bodies "a" and "b" or on one joint "j"; a class that is registered needs one here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from models import rotation, unit

import linkwork as lw

Rng = np.random.Generator


def frame(rng: Rng) -> lw.SE3:
    return lw.SE3(R=rotation(unit(rng), rng.uniform(0.3, 2.8)), p=rng.uniform(-0.5, 0.5, 3))


def definite(rng: Rng, size: int = 6) -> np.ndarray:
    A = rng.normal(size=(size, size))
    return A @ A.T + 0.5 * np.eye(size)


def torn(E: Any, depth: Any, t: Any, u: Any) -> Any:
    """An energy that looks at everything a pose offers, at time and at an input."""
    x = E[0].inverse() @ (E[1] @ np.array([0.2, -0.1, 0.3]))
    return depth * np.tanh(x[0]) ** 2 + (1.0 + u[0]) * E[0].p[2] * E[1].R[0, 1] + np.cos(t) * lw.math.dot(x, x)


def swirl(E: Any, phi: Any, rate: Any) -> Any:
    """Not conservative: moments that depend on the other body's twist."""
    f = rate * np.concatenate([lw.math.cross(E[1].unrotate(phi[0][:3]), phi[1][3:]), E[1].R[2] * phi[0][4]])
    return [lw.math.zeros(6), f]


def point_spring(rng: Rng) -> lw.Force:
    return lw.PointSpring("a", "b", rng.normal(size=3), rng.normal(size=3), stiffness=rng.uniform(1, 9))


def spring_damper(rng: Rng) -> lw.Force:
    k, d, L = rng.uniform(0.5, 5, 3)
    return lw.SpringDamper("a", "b", rng.normal(size=3), rng.normal(size=3), stiffness=k, damping=d, rest_length=L)


def cable(rng: Rng) -> lw.Force:
    ends = rng.normal(size=(4, 3))
    points = [("a", ends[0]), ("world", ends[1]), ("b", ends[2]), ("a", ends[3])]
    return lw.Cable(points, *rng.uniform(0.5, 5, 2), rest_length=0.1)


def bushing(rng: Rng) -> lw.Force:
    return lw.Bushing("a", "b", frame(rng), frame(rng), stiffness=definite(rng), damping=definite(rng))


def pose_handle(rng: Rng) -> lw.Force:
    k, d = rng.uniform(1, 5, 6), rng.uniform(0, 2, 6)
    return lw.PoseHandle("b", frame(rng), target=frame(rng), stiffness=k, damping=d)


BODY_FORCES: dict[str, Callable[[Rng], lw.Force]] = {
    "PointSpring": point_spring,
    "PointSpring to the world": lambda rng: lw.PointSpring("b", point_a=rng.normal(size=3), stiffness=2.0),
    "SpringDamper": spring_damper,
    "Cable": cable,
    "PointForce": lambda rng: lw.PointForce("a", rng.normal(size=3), rng.normal(size=3)),
    "PointForce in body axes": lambda rng: lw.PointForce("b", rng.normal(size=3), rng.normal(size=3), axes="body"),
    "PointForce of time": lambda rng: lw.PointForce("a", rng.normal(size=3), lambda t: (np.sin(3 * t), 2.0, t**2)),
    "BodyDamping": lambda rng: lw.BodyDamping("a", 0.7),
    "BodyDamping about a frame": lambda rng: lw.BodyDamping("b", angular=(1.0, 2.0, 0.3), linear=0.4, frame=frame(rng)),
    "Drag": lambda rng: lw.Drag("a", 0.3, (0.2, 0.7, 1.1)),
    "Drag with flow": lambda rng: lw.Drag("b", np.arange(6.0), np.arange(6.0)[::-1], frame=frame(rng), flow=rng.normal(size=3)),
    "Bushing": bushing,
    "Bushing to the world": lambda rng: lw.Bushing("world", "b", frame(rng), stiffness=np.arange(6.0), damping=0.2),
    "Handle": lambda rng: lw.Handle("a", rng.normal(size=3), target=rng.normal(size=3), stiffness=3.0, damping=0.4),
    "Grip": lambda rng: lw.Grip("a"),
    "PoseHandle": pose_handle,
    "CustomForce": lambda rng: lw.force(
        ("a", "b"), energy=torn, wrenches=swirl, parameters={"depth": 1.3, "rate": rng.uniform(0, 1)}, inputs=[0.3]
    ),
}


# --- on joints ----------------------------------------------------------------------------------------------------------------
def hook(q: Any, k: Any) -> Any:
    return k * lw.math.dot(np.sin(q[:3]), np.cos(q[:3])) if len(q) > 2 else k * np.sin(q[0]) ** 3


def servo(q: Any, v: Any, t: Any, u: Any, gain: Any) -> Any:
    return [gain * (u[0] * np.cos(t) - x) * abs(x) + np.tanh(q[0]) for x in v]


def custom(joint: lw.Joint, rng: Rng) -> lw.JointForce:
    parameters = {"k": 1.7, "gain": rng.uniform(0, 1)}
    return lw.joint_force("j", energy=hook, force=servo, parameters=parameters, inputs=[0.6])


def spring(joint: lw.Joint, rng: Rng) -> lw.JointForce:
    return lw.JointSpring("j", rng.uniform(1, 5, joint.nv), joint.random(rng), rng.uniform(0, 1, joint.nv))


def controller(joint: lw.Joint, rng: Rng) -> lw.JointForce:
    return lw.PDController("j", rng.uniform(1, 5, joint.nv), rng.uniform(0, 1, joint.nv), joint.random(rng), effort=40.0)


def actuator(joint: lw.Joint, rng: Rng) -> lw.JointForce:
    bias, gear = rng.uniform(-2, 0, 3), rng.uniform(0.5, 2.0)
    return lw.Actuator("j", 3.0, bias, gear, coordinate=joint.nv - 1, force_range=(-40.0, 40.0), control=0.4)


def swing_twist(joint: lw.Joint, rng: Rng) -> lw.JointForce:
    return lw.SwingTwistLimit("j", 3.0, 0.4, axis=unit(rng), swing=rng.uniform(0.2, 0.5), twist=(-0.2, 0.1))


POINTS = [(-1.0, 2.0), (-0.4, 0.3), (0.5, 0.0), (1.0, -0.7), (2.0, -3.0)]
JOINT_FORCES: dict[str, Callable[[lw.Joint, Rng], lw.JointForce]] = {
    "JointSpring": spring,
    "JointDamping": lambda joint, rng: lw.JointDamping("j", rng.uniform(0, 1, joint.nv)),
    "TorqueCurve": lambda joint, rng: lw.TorqueCurve("j", POINTS),
    "TorqueCurve of slopes": lambda joint, rng: lw.TorqueCurve("j", [(-1.0, 1.0, -3.0), (0.2, 0.4, 0.1), (0.9, -2.0, 0.0)]),
    "TorqueCurve of a function": lambda joint, rng: lw.TorqueCurve("j", lambda q: np.exp(-1.5 * q - 1.0) - np.exp(2.0 * q - 2.0)),
    "LimitSpring": lambda joint, rng: lw.LimitSpring("j", rng.uniform(1, 5, joint.nv), 0.3),
    "SwingTwistLimit": swing_twist,
    "PDController": controller,
    "Actuator": actuator,
    "CustomJointForce": custom,
}
FLAT = ("Revolute", "Prismatic", "Helical", "Cylindrical", "Universal", "Translational", "Planar", "Composite", "custom")
TURNING = ("Spherical", "SphericalExp", "SphericalEuler", "Free", "FreeExp")
JOINTS: dict[str, Callable[[], lw.Joint]] = {
    "Revolute": lambda: lw.Revolute((0.6, 0.0, 0.8)),
    "Prismatic": lambda: lw.Prismatic((0, 1, 0)),
    "Helical": lambda: lw.Helical((0, 0, 1), 0.3),
    "Cylindrical": lambda: lw.Cylindrical((0, 0, 1)),
    "Universal": lw.Universal,
    "Translational": lw.Translational,
    "Planar": lw.Planar,
    "Composite": lambda: lw.Composite(lw.Revolute((0, 0, 1)), lw.Prismatic((1, 0, 0))),
    "custom": lambda: lw.joint(lambda q: lw.SE3.rot_z(q[0]) @ lw.SE3(p=(0, 0, 0.02 * q[0])), nv=1),
    "Spherical": lw.Spherical,
    "SphericalExp": lw.SphericalExp,
    "SphericalEuler": lambda: lw.SphericalEuler("xyz", "xzx"),
    "Free": lw.Free,
    "FreeExp": lambda: lw.FreeExp("TR"),
}
SCALAR = ("Revolute", "Prismatic", "Helical", "custom")
ON: dict[str, tuple[str, ...]] = {
    "TorqueCurve": SCALAR,
    "LimitSpring": FLAT,
    "SwingTwistLimit": TURNING,
    "Actuator": FLAT,
}
JOINT_CASES = [(case, kind) for case in JOINT_FORCES for kind in ON.get(case.partition(" ")[0], (*FLAT, *TURNING))]
