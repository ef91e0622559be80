"""A tree with every kind of force and equality row, at a state that the rows allow."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

import linkwork as lw
from linkwork.constraints.rows import constraint_set

ROD = lw.Inertia.cuboid(mass=1.0, size=(0.4, 0.06, 0.05), com=(0.2, 0.01, 0.0))
TIME = 0.3


def tree(*laws: Any) -> lw.Model:
    """A floating base with a ball, hinges and a slider, with damping and armature."""
    b = lw.ModelBuilder(gravity=(0.3, -0.2, -9.81))
    b.body("base", joint=lw.Free(), inertia=ROD)
    b.body("a", parent="base", joint=lw.Revolute((0, 1, 0)), placement=lw.SE3(p=(0.4, 0, 0)), inertia=ROD, damping=0.2)
    b.body("b", parent="a", joint=lw.Revolute((0, 1, 0)), placement=lw.SE3(p=(0.4, 0, 0)), inertia=ROD, armature=0.1)
    b.body("c", parent="b", joint=lw.Revolute((0, 0, 1)), placement=lw.SE3(p=(0.4, 0, 0)), inertia=ROD, damping=0.1)
    b.body("ball", parent="base", joint=lw.Spherical(), placement=lw.SE3(p=(-0.3, 0.1, 0)), inertia=ROD, armature=0.05)
    b.body("slide", parent="ball", joint=lw.Prismatic((0.6, 0, 0.8)), inertia=ROD, limits=(-3.0, 3.0))
    return b.build().add(*laws) if laws else b.build()


BARE = tree()
Q = BARE.random_configuration(4)
V, A, TAU = np.random.default_rng(5).normal(size=(3, BARE.nv))
EXTERNAL = np.random.default_rng(6).normal(size=(BARE.nb, 6))


def closing_loop() -> lw.Loop:
    """A loop between two arms that is closed at Q."""
    E = lw.kinematics(BARE, Q).poses
    x = E[3] @ (0.3, 0.0, 0.1, 1.0)
    return lw.Loop("c", "slide", (0.3, 0, 0.1), (np.linalg.inv(E[5]) @ x)[:3])


def on_curve() -> lw.PointOnCurve:
    """A point of a body on a helix of the world that passes through it at Q: a constraint with an unknown of its own."""
    x = (lw.kinematics(BARE, Q).poses[3] @ (0.1, 0.0, 0.2, 1.0))[:3]
    helix = lw.Curve(lambda s: [x[0] + np.cos(s) - 1.0, x[1] + np.sin(s), x[2] + 0.3 * s], domain=(-0.5, 0.5))
    return lw.PointOnCurve("c", (0.1, 0, 0.2), helix)


def wide(t: Any) -> tuple[Any, Any, Any]:
    s = t - TIME
    return Q[8] + V[8] * s + 0.75 * s * s, V[8] + 1.5 * s, 1.5


spring = {"stiffness": 60.0, "rest_length": 0.4, "damping": 3.0}
FORCES: dict[str, Any] = {
    "bare": lambda: [],
    "joint springs": lambda: [lw.JointSpring(x, 20.0, damping=0.3) for x in ("a", "b", "ball")],
    "spring dampers": lambda: [lw.SpringDamper("c", "slide", (0.3, 0, 0), **spring), lw.SpringDamper("a", "world", **spring)],
    "drive": lambda: [lw.PDController("b", 50.0, 2.0, target=[0.1])],
    "drag": lambda: [lw.BodyDamping("c", 0.3), lw.force("a", wrenches=lambda E, w, t: [np.sin(3 * t) * w[0]])],
    "muscle": lambda: [
        lw.Muscle(
            [("base", (0.1, 0, 0.1)), ("a", (0.2, 0, 0.1)), ("b", (0.2, 0, 0.1))],
            max_force=300.0,
            optimal_length=0.3,
            tendon_length=0.5,
            activation=0.4,
        )
    ],
    "cable": lambda: [lw.Cable([("world", (0, 0, 3.0)), ("a", (0.4, 0, 0.1)), ("c", (0.4, 0, 0))], 40.0, 0.2)],
}
ROWS: dict[str, Any] = {
    "loop": lambda: [closing_loop()],
    "coupling": lambda: [lw.Coupling("b", "a", 2.0, float(Q[8] - 2.0 * Q[7])), lw.JointSpring("a", 20.0)],
    "prescribed": lambda: [lw.PrescribedJoint("b", wide)],
    "point on curve": lambda: [on_curve()],
    "twice": lambda: [closing_loop(), closing_loop(), *FORCES["spring dampers"]()],
    "all": lambda: [closing_loop(), lw.Coupling("b", "a", 2.0, float(Q[8] - 2.0 * Q[7])), *FORCES["muscle"](), *FORCES["drag"]()],
    "beside limits": lambda: [closing_loop(), lw.Limit("slide", -3.0, 3.0), *FORCES["drive"]()],
}
FRICTION: dict[str, Any] = {
    "dry friction": lambda: [lw.DryFriction("a", 0.5), lw.DryFriction("ball", 0.2), *FORCES["drive"]()],
    "friction in a loop": lambda: [closing_loop(), lw.DryFriction("b", 0.4)],
}
KINDS = FORCES | ROWS | FRICTION


@cache
def model(kind: str) -> lw.Model:
    return tree(*KINDS[kind]())


@cache
def moving(kind: str) -> np.ndarray:
    """A velocity that the rows allow at Q; dry friction slips at it."""
    m = model(kind)
    if kind in FORCES or not constraint_set(m).count:
        return V
    G, rate, _, held = dense(kind, V)
    return V - np.linalg.lstsq(G[held], rate[held], rcond=1e-10)[0]


def dense(kind: str, v: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Rows on joint velocities, their rate and bias (of joint accelerations), and which are equalities."""
    m, k = model(kind), lw.kinematics(model(kind), Q, v)
    c = constraint_set(m).look(k.poses, k.twists, Q, v, TIME)
    columns = [c.rows @ lw.Motion(lw.kinematics(m, Q, e).twists, e) for e in np.eye(m.nv)]
    held = ~c.unilateral & ~constraint_set(m).of("bounded")
    return np.array(columns).T, c.rate, c.bias + c.rows @ lw.Motion(k.twists_dot, np.zeros(m.nv)), held
