"""Models and states whose steps are differentiated, and their differences."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

import linkwork as lw

H, EPS = 1e-3, 1e-6
ROD = lw.Inertia.cuboid(mass=1.0, size=(0.4, 0.05, 0.05), com=(0.2, 0, 0))


def after(m: lw.Model, q: np.ndarray, v: np.ndarray, steps: int = 1, **options: Any) -> tuple[np.ndarray, np.ndarray]:
    run = lw.simulate(m, lw.State(q=q, v=v), duration=steps * H, dt=H, **options)
    return run.q[-1], run.v[-1]


def differences(m: lw.Model, q: np.ndarray, v: np.ndarray, tau0: Any = 0.0, **options: Any) -> np.ndarray:
    """d(q', v')/d(q, v, tau) by central differences."""
    q1, _ = after(m, q, v, tau=tau0 + np.zeros(m.nv), **options)

    def end(d: np.ndarray) -> np.ndarray:
        dq, dv, tau = np.split(d, 3)
        q2, v2 = after(m, m.integrate(q, dq), v + dv, tau=tau0 + tau, **options)
        return np.concatenate([m.difference(q1, q2), v2])

    return np.array([(end(EPS * e) - end(-EPS * e)) / (2 * EPS) for e in np.eye(3 * m.nv)]).T


def close(x: np.ndarray, y: np.ndarray, tolerance: float = 1e-6) -> bool:
    return bool(np.abs(x - y).max() <= tolerance * (1.0 + np.abs(y).max()))


@cache
def arm() -> lw.Model:
    b = lw.ModelBuilder()
    b.body("a", joint=lw.Revolute((0, 1, 0)), inertia=ROD, limits=(-1.0, 0.3))
    b.body("b", parent="a", joint=lw.Revolute((0, 1, 0)), placement=lw.SE3(p=(0.4, 0, 0)), inertia=ROD, friction=0.5)
    return b.build()


STOPS = {
    "reaches a stop": ((0.2999, 0.2), (0.5, 0.3)),
    "pushed out of it": ((0.3004, 0.2), (0.5, 0.3)),
    "sticks": ((0.1, 1.3), (0.0, 0.0)),
    "slips": ((0.1, 0.2), (0.4, 1.0)),
}  # of the arm: q and v


@cache
def on_ground(kind: str) -> lw.Model:
    b = lw.ModelBuilder()
    b.ground(friction=0.4)
    shape = lw.Sphere(0.1, mass=1.0) if kind == "ball" else lw.Box((0.2, 0.3, 0.1), mass=1.0)
    b.body(kind, joint=lw.Free(), shapes=[shape])
    return b.build()


CONTACTS = {
    "ball slides": ("ball", (0.3, 0.2, 0.1, 1.0, 0.5, -0.1), "exact"),
    "ball rolls": ("ball", (0.0, 1.0, 0.0, 0.1, 0.0, -0.05), "exact"),
    "no friction": ("ball", (0.0, 1.0, 0.0, 0.1, 0.0, -0.05), "frictionless"),
    "box sticks": ("box", (0, 0, 0, 0, 0, -0.01), "exact"),
    "box slides": ("box", (0, 0, 0.1, 1.0, 0.3, -0.01), "exact"),
    "flies": ("box", (0, 0, 0, 0, 0, 3.0), "exact"),
}  # on the ground: the kind of body, v, and how contacts are


def resting(kind: str) -> np.ndarray:
    """A configuration away from edges: a little below the surface, where all corners touch."""
    height, turn = (0.0997, (1.0, 0, 0, 0)) if kind == "ball" else (0.0498, (0.999999, 0.0005, -0.001, 0.0003))
    q = np.array([0, 0, height, *turn])
    q[3:] /= np.linalg.norm(q[3:])
    return q


def pendulum() -> lw.Model:
    b = lw.ModelBuilder()
    b.body("a", joint=lw.Universal(), inertia=ROD, armature=0.02)
    b.body("b", parent="a", joint=lw.Revolute((0, 1, 0)), placement=lw.SE3(p=(0.4, 0, 0)), inertia=ROD, damping=0.1)
    b.add(
        lw.SpringDamper("b", "world", (0.4, 0, 0), (1.0, 0.2, 0.1), stiffness=30.0, rest_length=0.3, damping=0.4, name="spring")
    )
    b.add(lw.JointSpring("b", 3.0, rest=[0.2], name="hinge"))
    return b.build()


def coupled() -> lw.Model:
    b = lw.ModelBuilder()
    b.body("a", joint=lw.Universal(), inertia=ROD, armature=0.02)
    b.body("b", parent="a", joint=lw.Revolute((0, 1, 0)), placement=lw.SE3(p=(0.4, 0, 0)), inertia=ROD, damping=0.1)
    b.body("c", parent="b", joint=lw.Revolute((0, 1, 0)), placement=lw.SE3(p=(0.4, 0, 0)), inertia=ROD)
    b.add(lw.Coupling("c", "b", 2.0))
    b.add(
        lw.SpringDamper("b", "world", (0.4, 0, 0), (1.0, 0.2, 0.1), stiffness=30.0, rest_length=0.3, damping=0.4, name="spring")
    )
    b.add(lw.JointSpring("b", 3.0, rest=[0.2], name="hinge"))
    return b.build()


NUMBERS = {
    "a": ("mass", "com", "tensor", "placement", "armature"),
    "b": ("mass", "com", "placement", "damping"),
    "spring": ("stiffness", "rest_length", "damping"),
    "hinge": ("stiffness", "rest"),
}
