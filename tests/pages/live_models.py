"""Models of the tests of live pages: a force, a loop, muscles, contact, and laws that users wrote."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import linkwork as lw

ROD = lw.Inertia.cuboid(mass=1.0, size=(0.05, 0.05, 0.4), com=(0, 0, -0.2))
Made = tuple[lw.Model, lw.State]


def chain(links: int = 3) -> lw.ModelBuilder:
    """Rods that hang from hinges, across one another."""
    b = lw.ModelBuilder()
    for i in range(links):
        parent, place = (f"rod{i - 1}", (0, 0, -0.4)) if i else ("world", (0, 0, 2.0))
        joint = lw.Revolute((0, 1, 0) if i % 2 == 0 else (1, 0, 0))
        b.body(f"rod{i}", parent=parent, joint=joint, placement=lw.SE3(p=place), inertia=ROD)
    return b


def moving(model: lw.Model) -> lw.State:
    return lw.State(model.neutral() + 0.3 * np.cos(np.arange(model.nq)), 0.5 * np.sin(np.arange(model.nv)))


def springs() -> Made:
    """Forces of the library and one of a user, with inputs and parameters."""
    b = chain()
    b.add(lw.SpringDamper("rod1", "world", (0, 0, -0.4), (1, 0, 1), stiffness=30.0, damping=1.0, rest_length=0.5, name="spring"))
    b.add(lw.JointSpring("rod2", stiffness=4.0, rest=0.4, damping=0.1, name="bend"))
    trap = {"depth": 2.0, "width": 0.5}
    energy = lambda E, depth, width: -depth * np.exp(-lw.math.dot(E[0].p, E[0].p) / width**2)  # noqa: E731
    b.add(lw.force("rod2", energy=energy, parameters=trap, name="trap"))
    model = b.build()
    return model, moving(model)


def loop() -> Made:
    """A four-bar linkage, and a constraint of a user: a point that slides on a plane which turns."""
    b = lw.ModelBuilder()
    for i in range(3):
        parent, place = (f"bar{i - 1}", (0, 0, -0.4)) if i else ("world", (0, 0, 2.0))
        b.body(f"bar{i}", parent=parent, joint=lw.Revolute((0, 1, 0)), placement=lw.SE3(p=place), inertia=ROD)
    b.add(lw.Loop("bar2", "world", (0, 0, -0.4), (0.4, 0, 2.0)))
    b.body("slider", joint=lw.Free(), inertia=lw.Inertia.sphere(0.5, 0.1))
    tilted = lambda E, t: E[0].p[2] + 0.1 * np.sin(2.0 * t) * E[0].p[0]  # noqa: E731
    model = b.add(lw.constraint("slider", tilted, name="plane")).build()
    q = np.concatenate([[0.0, -np.pi / 2, -np.pi / 2], [0.5, 0, 0, 1, 0, 0, 0]])
    state = lw.assemble(model, lw.State(q, np.zeros(model.nv)))
    return model, lw.State(state.q, np.array([0.0, 0, 0, 0.2, 0.1, 0.3, 0.4, 0.2, 0.0]))


def muscles() -> Made:
    """An elbow; its muscles are driven by inputs."""
    b = chain(2)
    front = lw.WrapCylinder("rod0", (0, 0, -0.4), axis=(1, 0, 0), radius=0.02, turn=1)
    b.add(
        lw.Muscle([("rod0", (0, 0.03, -0.1)), front, ("rod1", (0, 0.02, -0.1))], 100.0, 0.2, 0.1, activation=0.4, name="flexor")
    )
    b.add(lw.Muscle([("world", (0.2, 0, 1.9)), ("rod0", (0.02, 0, -0.2))], 80.0, 0.2, activation=0.2, name="front"))
    model = b.build()
    return model, moving(model)


def contact() -> Made:
    """A ball and a box that slide on the floor, with friction and rolling resistance."""
    b = lw.ModelBuilder()
    b.body("ball", joint=lw.Free(), inertia=lw.Inertia.sphere(0.5, 0.1))
    b.body("box", joint=lw.Free(), inertia=lw.Inertia.cuboid(mass=1.0, size=(0.2, 0.2, 0.2)))
    b.add(lw.Contact("ball", lw.Sphere(0.1), friction=0.4, rolling=0.01, spinning=0.01, name="rolls"))
    b.add(lw.Contact("box", lw.Box((0.2, 0.2, 0.2)), friction=0.3, name="slides"))
    model = b.build()
    q, v = model.neutral(), np.zeros(model.nv)
    q[:3], q[7:10] = (0, 0, 0.1), (1, 0, 0.1)
    v[:] = (0, 0, 0, 2.0, 0.3, 0, 0, 0, 0, 1.5, -0.5, 0)
    return model, lw.State(q, v)


def written_joint() -> Made:
    """A slot that a user bent, and a rod that hangs on what slides in it."""
    b = lw.ModelBuilder()
    slot = lw.joint(lambda q, a: lw.SE3(p=(q[0], 0.0, 1.0 + a * q[0] ** 2)), nv=1, name="slot", parameters={"a": 0.7})
    b.body("bead", joint=slot, inertia=lw.Inertia.sphere(0.3, 0.05))
    b.body("rod", parent="bead", joint=lw.Spherical(), inertia=ROD)
    model = b.build()
    q = model.neutral()
    q[0] = 0.6
    return model, lw.State(q, np.array([0.2, 1.0, -0.5, 0.3]))


MODELS: dict[str, Callable[[], Made]] = {f.__name__: f for f in (springs, loop, muscles, contact, written_joint)}
