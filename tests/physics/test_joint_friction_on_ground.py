"""Joints that rub while bodies stick and slide on the ground: the conditions of both are met, in every formulation."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import linkwork as lw

METHODS = ("reduced", "maximal", "maximal-implicit", "redmax")
STEP, MU = 1e-3, 0.5
LEFT = 1e-8  # m/s


def crawler() -> tuple[lw.Model, lw.State]:
    """A box that drags a rod by a ball joint: all of it comes to rest, with more contacts than freedoms."""
    b = lw.ModelBuilder().ground(friction=MU)
    b.body("box", joint=lw.Free(), shapes=[lw.Box((0.2, 0.2, 0.2), mass=1.0, friction=MU)])
    rod = lw.Capsule(0.03, 0.3, lw.SE3(p=(0.2, 0, 0)) @ lw.SE3.rot_y(np.pi / 2), mass=0.5, friction=MU)
    b.body("rod", parent="box", joint=lw.Spherical(), placement=lw.SE3(p=(0.1, 0, 0)), shapes=[rod])
    model = b.add(lw.JointFriction("rod", 0.3, radius=0.02)).build()
    q = model.neutral()
    q[2] = 0.101
    return model, lw.State(q, np.random.default_rng(0).normal(size=model.nv))


def guide() -> tuple[lw.Model, lw.State]:
    """A box on a guide that falls with its post, lands beside the axis of both, and jams."""
    b = lw.ModelBuilder().ground(friction=MU)
    b.body("post", joint=lw.Prismatic((0, 0, 1)), inertia=lw.Inertia(1.0, tensor=0.1 * np.eye(3)))
    b.body("box", parent="post", joint=lw.Prismatic((1, 0, 0)), shapes=[lw.Box((0.2, 0.2, 0.2), mass=1.0, friction=MU)])
    b.add(lw.JointFriction("post", 0.3, length=0.2), lw.JointFriction("box", 0.3, length=0.1))
    return b.build(), lw.State([0.11, 0.0], [-0.5, 1.5])


def cart() -> tuple[lw.Model, lw.State]:
    """A box with a ball on a crank beside it."""
    b = lw.ModelBuilder().ground(friction=MU)
    b.body("box", joint=lw.Free(), shapes=[lw.Box((0.3, 0.3, 0.1), mass=2.0, friction=MU)])
    ball = lw.Sphere(0.05, (0.2, 0, 0), mass=0.5, friction=MU)
    b.body("crank", parent="box", joint=lw.Revolute((0, 1, 0)), placement=lw.SE3(p=(0.15, -0.1, 0)), shapes=[ball])
    model = b.add(lw.JointFriction("crank", 0.3, radius=0.02, length=0.05)).build()
    q = model.neutral()
    q[[2, 7]] = 0.051, -0.2
    return model, lw.State(q, np.random.default_rng(1).normal(size=model.nv))


def arm() -> tuple[lw.Model, lw.State]:
    """An arm of three links that falls on its tip and slides."""
    b = lw.ModelBuilder().ground(friction=MU)
    for k in range(3):
        link = lw.Inertia.cuboid(1.0, (0.3, 0.05, 0.05), com=(0.15, 0, 0))
        tip = [lw.Sphere(0.03, (0.3, 0, 0))] if k == 2 else []
        at = {"placement": lw.SE3(p=(0, 0, 0.5))} if k == 0 else {"parent": f"link{k - 1}", "placement": lw.SE3(p=(0.3, 0, 0))}
        b.body(f"link{k}", joint=lw.Revolute((0, 1, 0)), inertia=link, shapes=tip, **at)
        b.add(lw.JointFriction(f"link{k}", 0.3, radius=0.02))
    return b.build(), lw.State([0.2, 0.4, 0.3], [1.0, -1.0, 2.0])


SCENES: dict[str, Callable[[], tuple[lw.Model, lw.State]]] = {"crawler": crawler, "guide": guide, "cart": cart, "arm": arm}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", SCENES)
def test_friction_in_joints_and_on_the_ground_is_solved_together(name: str, method: str) -> None:
    run = lw.simulate(*SCENES[name](), 0.8, STEP, method)
    assert run.health.complementarity is not None
    assert run.health.complementarity < LEFT
    assert np.diff(run.energy.total).max() < 2e-3 * np.ptp(run.energy.total)


def test_a_state_of_a_batch_ends_as_alone() -> None:
    """Turns of its neighbours change nothing, to the bit."""
    model, start = crawler()
    rng = np.random.default_rng(2)
    v = np.array([start.v, *rng.normal(size=(4, model.nv))])
    batch = lw.simulate(model, lw.State(np.tile(start.q, (5, 1)), v), 0.1, STEP, "maximal")
    alone = lw.simulate(model, lw.State(start.q, v[2]), 0.1, STEP, "maximal")
    assert np.array_equal(batch.v[2], alone.v)
