"""Forces, constraints and contacts that cannot be, and functions of users that cannot be traced."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from cases import INF, NAN, STRETCHED, bad, run, two

import linkwork as lw

POINTS = [("upper", (0.1, 0, 0)), ("lower", (0.1, 0, 0))]
SPRING: dict[str, Any] = {"stiffness": 1.0, "rest_length": 1.0}
XS, YS = [0.0, 1.0], [0.0, 2.0]


def joint_law(function: Any) -> lw.Trajectory:
    return run(two(lw.joint_force("elbow", force=function, name="law")))


def energy_law(function: Any) -> lw.Trajectory:
    return run(two(lw.force("lower", energy=function, name="law")))


def touching(**changes: Any) -> lw.Model:
    given: dict[str, Any] = {
        "body_a": "lower",
        "shape_a": lw.Sphere(0.1),
        "body_b": "world",
        "shape_b": lw.Plane((0, 0, -5)),
    } | changes
    return two(lw.Contact(**given))


LAWS = {
    # --- springs and dampers
    "spring stiffness negative": bad(
        lambda: lw.SpringDamper("a", stiffness=-1.0, rest_length=1.0), "SpringDamper", "stiffness", "-1"
    ),
    "spring damping negative": bad(lambda: lw.SpringDamper("a", **SPRING, damping=-1.0), "SpringDamper", "damping", "-1"),
    "spring rest length zero": bad(lambda: lw.SpringDamper("a", stiffness=1.0, rest_length=0.0), "rest_length", "0", "above"),
    "spring rest length nan": bad(lambda: lw.SpringDamper("a", stiffness=1.0, rest_length=NAN), "rest_length", "nan"),
    "spring stiffness text of a number": bad(lambda: lw.PointSpring("a", stiffness="3"), "stiffness", "'3'", "number"),  # type: ignore[arg-type]
    "spring stiffness bool": bad(lambda: lw.PointSpring("a", stiffness=True), "stiffness", "True", "number"),
    "spring stiffness array": bad(lambda: lw.PointSpring("a", stiffness=np.array([1.0])), "stiffness", "number"),  # type: ignore[arg-type]
    "spring stiffness complex": bad(lambda: lw.PointSpring("a", stiffness=np.complex128(1)), "stiffness", "number"),  # type: ignore[arg-type]
    "spring point of texts": bad(lambda: lw.PointSpring("a", point_a=("0", "0", "0"), stiffness=1.0), "point_a", "three"),
    "spring point complex": bad(lambda: lw.PointSpring("a", point_a=np.array([1j, 0, 0]), stiffness=1.0), "point_a", "three"),
    "spring on no body": bad(lambda: two(lw.PointSpring("lowr", stiffness=1.0)), "'lowr'", "did you mean 'lower'"),
    "spring on itself": bad(lambda: two(lw.SpringDamper("lower", "lower", **SPRING)), "SpringDamper", "'lower'", "itself"),
    "spring of the world": bad(lambda: two(lw.PointSpring("world", "world", stiffness=1.0)), "no body"),
    "spring body number": bad(lambda: lw.PointSpring(3, stiffness=1.0), "body", "3"),  # type: ignore[arg-type]
    "spring body list": bad(lambda: lw.PointSpring(["lower"], stiffness=1.0), "body", "lower"),  # type: ignore[arg-type]
    "two laws of one name": bad(
        lambda: two(
            lw.PointSpring("lower", stiffness=1.0, name="s"), lw.PointSpring("lower", stiffness=1.0, name="s")
        ).with_parameters({"s": {"stiffness": 2.0}}),
        "'s'",
    ),
    "damping negative": bad(lambda: lw.BodyDamping("a", -1.0), "BodyDamping", "damping", "-1"),
    "joint damping negative": bad(lambda: lw.JointDamping("j", -1.0), "JointDamping", "damping", "-1"),
    "joint spring nan": bad(lambda: lw.JointSpring("j", NAN), "JointSpring", "stiffness", "nan"),
    "joint spring misspelt": bad(lambda: two(lw.JointSpring("elbw", 1.0)), "'elbw'", "did you mean 'elbow'"),
    "joint spring of three": bad(lambda: two(lw.JointSpring("elbow", (1, 2, 3))), "elbow", "stiffness"),
    "limit spring without limits": bad(lambda: two(lw.LimitSpring("elbow", 1.0)), "elbow", "limit"),
    "drag negative": bad(lambda: lw.Drag("a", -1.0), "Drag", "linear", "-1"),
    "bushing frame stretched": bad(lambda: lw.Bushing("a", "b", STRETCHED, stiffness=1.0), "Bushing", "rotation"),
    "bushing skewed": bad(lambda: lw.Bushing("a", "b", stiffness=np.eye(6) + np.eye(6, k=1)), "Bushing", "symmetric"),
    "bushing indefinite": bad(lambda: lw.Bushing("a", "b", stiffness=np.diag([1, 1, 1, 1, 1, -2.0])), "Bushing", "eigenvalue"),
    "handle target": bad(lambda: lw.Handle("a", target=(0, NAN, 0), stiffness=1.0), "Handle", "target", "nan"),
    "point force axes": bad(lambda: lw.PointForce("a", (0, 0, 0), (1, 0, 0), "wrld"), "PointForce", "'wrld'"),
    "cable of one point": bad(lambda: lw.Cable([("a", (0, 0, 0))], 1.0), "Cable", "two"),
    "cable of text": bad(lambda: lw.Cable("abc", 1.0), "Cable"),
    "cable in one place": bad(lambda: two(lw.Cable([("lower", (0, 0, 0)), ("lower", (0, 0, 0))], 1.0)), "Cable"),
    "cable stiffness": bad(lambda: lw.Cable(POINTS, -1.0), "Cable", "stiffness", "-1"),
    # --- muscles
    "muscle of one point": bad(lambda: lw.Muscle([("upper", (0, 0, 0))], 100.0, 0.1), "Muscle", "two"),
    "muscle force zero": bad(lambda: lw.Muscle(POINTS, 0.0, 0.1), "Muscle", "max_force", "0"),
    "muscle length negative": bad(lambda: lw.Muscle(POINTS, 100.0, -0.1), "Muscle", "optimal_length", "-0.1"),
    "muscle tendon negative": bad(lambda: lw.Muscle(POINTS, 100.0, 0.1, -0.1), "Muscle", "tendon_length", "-0.1"),
    "muscle pennation": bad(lambda: lw.Muscle(POINTS, 100.0, 0.1, pennation=2.0), "Muscle", "pennation", "2"),
    "muscle activation": bad(lambda: lw.Muscle(POINTS, 100.0, 0.1, activation=2.0), "Muscle", "activation", "2"),
    "muscle on no body": bad(
        lambda: two(lw.Muscle([("upper", (0, 0, 0)), ("lowr", (0, 0, 0))], 100.0, 0.1)), "'lowr'", "did you mean"
    ),
    "wrap radius": bad(lambda: lw.WrapSphere("a", radius=0.0), "WrapSphere", "radius", "0"),
    "wrap axis": bad(lambda: lw.WrapCylinder("a", axis=(0, 0, 0), radius=1.0), "WrapCylinder", "axis"),
    "activation time": bad(lambda: lw.ActivationDynamics(-1.0), "tau_act", "-1"),
    # --- controllers
    "pd gain negative": bad(lambda: lw.PDController("j", -1.0), "PDController", "kp", "-1"),
    "pd target nan": bad(lambda: two(lw.PDController("elbow", 1.0, target=NAN)), "PDController", "target", "nan"),
    "pd target of three": bad(lambda: two(lw.PDController("elbow", 1.0, target=(1, 2, 3))), "elbow", "target"),
    "actuator gain nan": bad(lambda: lw.Actuator("j", NAN), "Actuator", "gain", "nan"),
    "actuator range": bad(lambda: lw.Actuator("j", control_range=(1, -1)), "Actuator", "control_range"),
    "actuator coordinate": bad(lambda: two(lw.Actuator("elbow", coordinate=4)), "elbow", "5"),
    "schedule not rising": bad(lambda: lw.Schedule([0, 0], [1, 2]), "Schedule", "0"),
    "schedule nan": bad(lambda: lw.Schedule([0, 1], [NAN, 2]), "Schedule", "nan"),
    "torque curve": bad(lambda: lw.TorqueCurve("j", [(0, 1)]), "TorqueCurve", "2"),
    # --- constraints
    "loop to itself": bad(lambda: two(lw.Loop("lower", "lower", (0, 0, 0), (1, 0, 0))), "Loop", "'lower'", "itself"),
    "loop of the world": bad(lambda: two(lw.Loop("world", "world")), "Loop", "'world'", "itself"),
    "loop misspelt": bad(lambda: two(lw.Loop("lowr")), "Loop", "'lowr'", "did you mean 'lower'"),
    "loop point": bad(lambda: lw.Loop("a", "b", (0, 0)), "Loop", "point_a", "three"),
    "loop body number": bad(lambda: two(lw.Loop(1, 2)), "Loop", "1"),  # type: ignore[arg-type]
    "closure to itself": bad(lambda: two(lw.Closure(lw.Revolute(), "lower", "lower")), "Closure", "'lower'", "itself"),
    "closure frame stretched": bad(lambda: lw.Closure(lw.Revolute(), "a", "b", STRETCHED), "Closure", "frame_a", "rotation"),
    "closure frame nan": bad(lambda: lw.Closure(lw.Revolute(), "a", "b", lw.SE3(), lw.SE3(p=(NAN, 0, 0))), "frame_b", "finite"),
    "closure frame kind": bad(lambda: lw.Closure(lw.Revolute(), "a", "b", np.eye(4)), "Closure", "frame_a", "SE3"),  # type: ignore[arg-type]
    "closure joint": bad(lambda: lw.Closure("hinge", "a", "b"), "Closure", "joint", "'hinge'"),  # type: ignore[arg-type]
    "closure free": bad(lambda: two(lw.Closure(lw.Free(), "lower", "world")), "Closure"),
    "coupling to itself": bad(lambda: two(lw.Coupling("elbow", "elbow")), "Coupling", "'elbow'", "itself"),
    "coupling ratio nan": bad(lambda: lw.Coupling("a", "b", NAN), "Coupling", "ratio", "nan"),
    "coupling ratio text": bad(lambda: lw.Coupling("a", "b", "2"), "Coupling", "ratio", "'2'"),  # type: ignore[arg-type]
    "coupling misspelt": bad(lambda: two(lw.Coupling("elbow", "sholder")), "'sholder'", "did you mean 'shoulder'"),
    "gear ratio zero": bad(lambda: lw.Gear("a", "b", 0.0), "Gear", "ratio", "0"),
    "gear ratio nan": bad(lambda: lw.Gear("a", "b", NAN), "Gear", "ratio", "nan"),
    "gear of one wheel": bad(lambda: two(lw.Gear("lower", "lower", 2.0)), "Gear", "'lower'"),
    "gear axis": bad(lambda: lw.Gear("a", "b", 2.0, axis_a=(0, 0, 0)), "Gear", "axis_a"),
    "limit upside down": bad(lambda: two(lw.Limit("elbow", 1.0, -1.0)), "Limit", "elbow", "1", "-1"),
    "limit nan": bad(lambda: two(lw.Limit("elbow", NAN, 1.0)), "Limit", "nan"),
    "limit of nothing": bad(lambda: two(lw.Limit("elbow")), "Limit", "elbow"),
    "limit misspelt": bad(lambda: two(lw.Limit("elbw", 0.0, 1.0)), "'elbw'", "did you mean 'elbow'"),
    "dry friction negative": bad(lambda: two(lw.DryFriction("elbow", -1.0)), "DryFriction", "friction", "-1"),
    "dry friction nan": bad(lambda: two(lw.DryFriction("elbow", NAN)), "DryFriction", "nan"),
    "joint friction negative": bad(lambda: lw.JointFriction("elbow", -0.1, radius=0.1), "JointFriction", "mu", "-0.1"),
    "joint friction radius": bad(lambda: lw.JointFriction("elbow", 0.1, radius=-1.0), "JointFriction", "radius", "-1"),
    "prescribed misspelt": bad(lambda: two(lw.PrescribedJoint("elbw", lambda t: (0.0, 0.0, 0.0))), "'elbw'", "did you mean"),
    "prescribed no function": bad(lambda: two(lw.PrescribedJoint("elbow", 3.0)), "elbow", "function"),  # type: ignore[arg-type]
    "prescribed of one number": bad(lambda: run(two(lw.PrescribedJoint("elbow", lambda t: 0.0))), "elbow"),
    "prescribed nan": bad(lambda: run(two(lw.PrescribedJoint("elbow", lambda t: (NAN, 0.0, 0.0)))), "elbow", "finite"),
    "prescribed nan later": bad(
        lambda: run(two(lw.PrescribedJoint("elbow", lambda t: ((0.0 if t < 5e-3 else NAN), 0.0, 0.0)))), "elbow"
    ),
    "prescribed rows": bad(lambda: two(lw.PrescribedTwist("lower", lambda t: np.zeros(6), rows=(7,))), "rows", "7"),
    "constraint of nothing": bad(lambda: lw.constraint("a"), "residual"),
    "constraint friction negative": bad(
        lambda: lw.constraint("a", lambda E: E[0].p[2], unilateral=True, friction=-1.0), "friction", "-1"
    ),
    "constraint nan": bad(lambda: lw.constraint("a", lambda E: E[0].p[2] * NAN), "finite"),
    "constraint text": bad(lambda: lw.constraint("a", lambda E: "touch"), "number"),
    "constraint none": bad(lambda: lw.constraint("a", lambda E: None), "None"),
    "joint constraint size": bad(lambda: lw.joint_constraint("elbow", lambda q: q[0], size=0), "size", "0"),
    "point on a curve of text": bad(lambda: lw.PointOnCurve("a", (0, 0, 0), "circle"), "Curve", "'circle'"),  # type: ignore[arg-type]
    "point on a surface, friction": bad(
        lambda: lw.PointOnSurface("a", (0, 0, 0), lw.torus(1, 0.2), friction=-1.0), "friction", "-1"
    ),
    # --- contacts
    "contact friction negative": bad(lambda: lw.Contact("a", lw.Sphere(1.0), friction=-1.0), "Contact", "friction", "-1"),
    "contact friction nan": bad(lambda: lw.Contact("a", lw.Sphere(1.0), friction=NAN), "Contact", "friction", "nan"),
    "contact friction inf": bad(lambda: lw.Contact("a", lw.Sphere(1.0), friction=INF), "Contact", "friction", "inf"),
    "contact restitution": bad(lambda: lw.Contact("a", lw.Sphere(1.0), restitution=1.2), "Contact", "restitution", "1.2"),
    "contact rolling negative": bad(lambda: lw.Contact("a", lw.Sphere(1.0), rolling=-1.0), "Contact", "rolling", "-1"),
    "contact misspelt": bad(lambda: touching(body_a="lowr"), "'lowr'", "did you mean 'lower'"),
    "contact with itself": bad(lambda: touching(body_b="lower"), "Contact", "'lower'", "itself"),
    "contact shape": bad(lambda: touching(shape_a="ball"), "Contact", "'ball'"),
    "contact model": bad(lambda: touching(friction_model="exakt"), "'exakt'", "did you mean 'exact'"),
    "compliant stiffness": bad(lambda: lw.CompliantContact("a", lw.Sphere(1.0), stiffness=-1.0), "stiffness", "-1"),
    "compliant slip": bad(lambda: lw.CompliantContact("a", lw.Sphere(1.0), stiffness=1.0, slip_speed=0.0), "slip_speed", "0"),
    "two planes": bad(lambda: touching(shape_a=lw.Plane()), "plane and plane"),
    # --- springs of masses
    "mass-springs mass": bad(
        lambda: lw.MassSpringChain("rope", (0, 0, 0), (1, 0, 0), nodes=3, mass=-1.0, stiffness=1.0), "rope", "mass", "-1"
    ),
    # --- functions of users
    "law of math.sin": bad(lambda: joint_law(lambda q, v: [math.sin(q[0])]), "law", "np.sin"),
    "law of math.sqrt": bad(lambda: joint_law(lambda q, v: [math.sqrt(q[0] * q[0] + 1.0)]), "law", "np.sqrt"),
    "law of math.exp in an energy": bad(lambda: energy_law(lambda E: math.exp(E[0].p[2])), "law", "np.exp"),
    "law of math.atan2": bad(lambda: joint_law(lambda q, v: [math.atan2(q[0], 1.0)]), "law", "np.arctan2"),
    "law of np.interp": bad(lambda: joint_law(lambda q, v: [np.interp(q[0], XS, YS)]), "law", "lw.interp"),
    "law of float": bad(lambda: joint_law(lambda q, v: [float(q[0])]), "law", "traced"),
    "law of int": bad(lambda: joint_law(lambda q, v: [YS[int(q[0])]]), "law", "lw.Table"),
    "law with if": bad(lambda: joint_law(lambda q, v: [1.0 if q[0] > 0 else -1.0]), "law", "lw.math.where"),
    "law with max": bad(lambda: joint_law(lambda q, v: [max(q[0], 0.0)]), "law", "lw.math.maximum"),
    "law with and": bad(lambda: joint_law(lambda q, v: [1.0 * (q[0] > 0 and v[0] > 0)]), "law", "lw.math.where"),
    "law with ==": bad(lambda: joint_law(lambda q, v: [1.0 * (q[0] == 0)]), "law", "=="),
    "law of np.maximum": bad(lambda: joint_law(lambda q, v: [np.maximum(q[0], 0.0)]), "law", "lw.math.maximum"),
    "law of np.clip": bad(lambda: joint_law(lambda q, v: [np.clip(q[0], 0.0, 1.0)]), "law", "lw.math.clip"),
    "law of np.where": bad(lambda: joint_law(lambda q, v: [np.where(q[0] > 0, 1.0, 0.0)]), "law", "lw.math.where"),
    "law of np.heaviside": bad(lambda: joint_law(lambda q, v: [np.heaviside(q[0], 0.5)]), "law", "lw.math"),
    "law into a float array": bad(lambda: joint_law(lambda q, v: np.array([q[0]], dtype=float)), "law", "traced"),
    "law of range": bad(lambda: joint_law(lambda q, v: [sum(range(q[0]))]), "law", "range"),
    "law of formatting": bad(lambda: joint_law(lambda q, v: [0.0 * len(f"{q[0]:.3f}")]), "law", "traced"),
    "law of round": bad(lambda: joint_law(lambda q, v: [round(q[0])]), "law", "traced"),
    "law of nothing": bad(lambda: joint_law(lambda q, v: None), "law", "None"),
    "law of text": bad(lambda: joint_law(lambda q, v: ["x"]), "law", "str"),
    "law of three": bad(lambda: joint_law(lambda q, v: [1, 2, 3]), "law", "(3,)"),
    "law of one argument": bad(lambda: joint_law(lambda q: [0.0]), "law", "argument"),
    "law of a missing parameter": bad(lambda: joint_law(lambda q, v, k: [k * q[0]]), "law", "'k'"),
    "law of a scalar": bad(lambda: joint_law(lambda q, v: -q[0]), "law", "list of 1"),
    "law of complex": bad(lambda: joint_law(lambda q, v: [1j * q[0]]), "law", "j]", "finite numbers"),
    "law that fails": bad(lambda: joint_law(lambda q, v: [1 / 0]), "law", "ZeroDivisionError"),
    "law that is infinite": bad(lambda: joint_law(lambda q, v: [INF]), "law", "finite"),
    "energy that is infinite at the start": bad(
        lambda: run(two(lw.joint_force("elbow", energy=lambda q: np.log(q[0]), name="law"))), "finite", "joint"
    ),
}
