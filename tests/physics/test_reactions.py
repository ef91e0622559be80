"""What joints, loops and contacts carry: a hanging mass, the four-bar linkage of other engines, two formulations."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from identities.trees import KINDS, compact_state, random_forest

import linkwork as lw

CASE: dict[str, Any] = json.loads((Path(__file__).parent.parent / "data" / "four_bar.json").read_text())
PIN = lw.Loop("coupler", "rocker", CASE["loop"]["coupler"], CASE["loop"]["rocker"])
G = 9.81


def linkage() -> lw.Model:
    b = lw.ModelBuilder(gravity=CASE["gravity"])
    for x in CASE["bodies"]:
        inertia, place = lw.Inertia(x["mass"], x["com"], x["tensor"]), lw.SE3(p=x["p"])
        b.body(x["name"], parent=x["parent"], joint=lw.Revolute((0, 0, 1)), placement=place, inertia=inertia)
    return b.add(PIN).build()


def start() -> lw.State:
    crank, coupler, rocker = (np.array([CASE["points"][0][k][i] for k in ("angles", "rates")]) for i in range(3))
    q, v = np.array([crank, coupler - crank, rocker]).T
    return lw.State(q, v)


def test_pins_of_the_four_bar() -> None:
    """All four forces at every point of the reference, from an exact motion."""
    tau = np.array([CASE["torque"], 0.0, 0.0])
    run = lw.simulate(linkage(), start(), 2.0, 0.05, stepper="dop853", rtol=1e-12, atol=1e-13, tau=tau)
    names = {"ground_on_crank": "crank", "crank_on_coupler": "coupler", "ground_on_rocker": "rocker"}
    for point in CASE["points"]:
        k = int(np.abs(run.t - point["t"]).argmin())
        for theirs, ours in names.items():
            assert np.abs(run.reactions(ours)[k, 3:5] - point[theirs]).max() < 1e-7
        assert np.abs(-run.reactions(PIN)[k, 3:5] - point["coupler_on_rocker"]).max() < 1e-7
    assert np.abs(run.reactions(PIN)[:, :3]).max() < 1e-12  # a pin has no moment about itself
    assert np.abs(run.reactions("crank")[:, 2] - CASE["torque"]).max() < 1e-8  # the motor's
    assert run.reactions("Loop('coupler', 'rocker')") is not None


def test_formulations_agree() -> None:
    tau = np.array([CASE["torque"], 0.0, 0.0])
    runs = [lw.simulate(linkage(), start(), 0.5, 1e-4, m, every=100, tau=tau) for m in ("reduced", "maximal")]
    for name in ("crank", "coupler", "rocker", PIN):
        a, b = (run.reactions(name) for run in runs)
        assert np.abs(a - b).max() < 2e-3 * np.abs(a).max()


@pytest.mark.parametrize("method", ["reduced", "maximal"])
def test_a_hanging_mass(method: str) -> None:
    """Two masses of 2 and 3 kg on slides that a loop and a fixed joint hold: m g each; body axes are turned."""
    b = lw.ModelBuilder()
    turned = lw.SE3.rot_x(0.5)
    b.body("a", joint=lw.Fixed(), placement=turned, inertia=lw.Inertia(2.0, (0.1, 0, 0), np.eye(3)))
    b.body("b", parent="a", joint=lw.Spherical(), placement=lw.SE3(p=(0, 0.3, 0)), inertia=lw.Inertia(3.0, tensor=np.eye(3)))
    hook = lw.Loop("c", "world", (0, 0, 0.2), (1, 0, 0.2))
    b.body("c", joint=lw.Free(), inertia=lw.Inertia(4.0, (0, 0, -0.1), np.eye(3))).add(hook)
    model = b.build()
    q = model.neutral()
    q[model.q_index("c")][:3] = 1, 0, 0
    run = lw.simulate(model, lw.State(q, np.zeros(model.nv)), 0.01, 1e-3, method)
    arm = np.asarray(turned.R, float) @ [0, 0.3, 0]
    moment = np.cross(arm, [0, 0, 3 * G]) + np.cross([0.1, 0, 0], [0, 0, 2 * G])
    assert np.abs(run.reactions("a") - [*moment, 0, 0, 5 * G]).max() < 1e-9
    assert np.abs(run.reactions("b") - [0, 0, 0, 0, 0, 3 * G]).max() < 1e-9
    assert np.abs(run.reactions("b", "body")[:, 3:] - np.asarray(turned.R, float).T @ [0, 0, 3 * G]).max() < 1e-9
    assert np.abs(run.reactions(hook) - [0, 0, 0, 0, 0, 4 * G]).max() < 1e-9


@pytest.mark.parametrize("method", ["reduced", "maximal"])
def test_a_ball_at_rest_on_the_floor(method: str) -> None:
    b, radius = lw.ModelBuilder(), 0.2
    b.body("ball", joint=lw.Free(), inertia=lw.Inertia(2.0, tensor=0.1 * np.eye(3)))
    floor = lw.Contact("ball", lw.Sphere(radius=radius))
    model = b.add(floor).build()
    q = model.neutral()
    q[2] = radius
    push = np.array([[0, 0, 0, 0, 0, -5.0]])
    run = lw.simulate(model, lw.State(q, np.zeros(6)), 0.1, 1e-3, method, external=push)
    assert np.abs(run.reactions(floor) - [0, 0, 0, 0, 0, 2 * G + 5.0]).max() < 1e-9
    assert np.abs(run.reactions("ball")).max() < 1e-9  # a free joint carries nothing


def test_forces_and_batches() -> None:
    """A spring holds a mass on a slide: the slide carries what the spring does across it; runs of a batch are those of one."""
    b = lw.ModelBuilder()
    b.body("cart", joint=lw.Prismatic((1, 0, 0)), inertia=lw.Inertia(1.0, tensor=np.eye(3)))
    b.add(lw.PointSpring("cart", point_b=(0, 1.0, 0), stiffness=50.0))
    model = b.build()
    q, v = np.array([[0.1], [0.4]]), np.zeros((2, 1))
    run = lw.simulate(model, lw.State(q, v), 0.1, 1e-2)
    one = lw.simulate(model, lw.State(q[1], v[1]), 0.1, 1e-2)
    assert run.reactions("cart").shape == (2, 11, 6)
    assert np.abs(run.reactions("cart")[1] - one.reactions("cart")).max() < 1e-12
    assert np.abs(one.reactions("cart") - [0, 0, 0, 0, -50.0, G]).max() < 1e-12  # nothing along the slide


def test_names() -> None:
    model = linkage()
    run = lw.simulate(model, start(), 0.01, 1e-2)
    with pytest.raises(lw.InputError, match="no joint or constraint 'x'"):
        run.reactions("x")
    with pytest.raises(lw.InputError, match="axes must be one of world, body, not 'here'"):
        run.reactions("crank", "here")


def test_at_given_states() -> None:
    """With the motion of all bodies they obey Newton and Euler, in world axes: joints of many kinds, a spring, a loop."""
    spring = lw.SpringDamper("b1", "b5", (0.1, 0, 0), (0, 0.2, 0), stiffness=40.0, damping=2.0, rest_length=0.3)
    model = random_forest(3, 9, list(KINDS)).add(spring, lw.Loop("b2", "b7", (0, 0, 0.2)))
    state = lw.assemble(model, compact_state(model, 5))
    q, v, rng = state.q, state.v, np.random.default_rng(2)
    tau, pushes, torques = rng.normal(size=model.nv), rng.normal(size=(model.nb, 3)), rng.normal(size=(model.nb, 3))
    external = lw.convert.external_wrenches(model, q, pushes, torques)
    a, x = lw.constrained_dynamics(model, q, v, tau, external)
    found = lw.joint_reactions(model, q, v, tau, external)
    k = lw.kinematics(model, q, v)
    acts = np.concatenate([torques + np.cross(centres(model, k.poses) - k.poses[:, :3, 3], pushes), pushes], axis=1)
    acts += turned(k.poses, lw.force_set(model).wrenches(k.poses, k.twists)) + found
    for name, sign, point in (("b2", 1.0, (0, 0, 0.2)), ("b7", -1.0, (0, 0, 0))):
        i = model.body_index(name)
        acts[i] += sign * np.r_[np.cross(k.poses[i, :3, :3] @ point, x), x]
    for i, p in enumerate(model.parents):
        if p >= 0:
            arm = k.poses[i, :3, 3] - k.poses[p, :3, 3]
            acts[p] -= np.r_[found[i, :3] + np.cross(arm, found[i, 3:]), found[i, 3:]]
    for i, body in enumerate(model.bodies):
        R, m = k.poses[i, :3, :3], float(body.inertia.mass)
        c, I, w = R @ body.inertia.com, R @ body.inertia.tensor @ R.T, R @ k.twists[i, :3]
        turn, move = np.split(lw.frame_acceleration(model, q, v, a, body.name), 2)
        force = m * (move + np.cross(turn, c) + np.cross(w, np.cross(w, c)) - model.gravity)
        needed = np.r_[I @ turn + np.cross(w, I @ w) + np.cross(c, force), force]
        assert np.abs(acts[i] - needed).max() < 1e-10 * max(1.0, np.abs(found).max())
    many = lw.joint_reactions(model, np.tile(q, (3, 1)), v, tau, external, axes="body")
    assert np.abs(turned(k.poses, many[2]) - found).max() < 1e-12 * np.abs(found).max()


def centres(model: lw.Model, poses: np.ndarray) -> np.ndarray:
    return np.array([E[:3, :3] @ b.inertia.com + E[:3, 3] for E, b in zip(poses, model.bodies, strict=True)])


def turned(poses: np.ndarray, wrenches: np.ndarray) -> np.ndarray:
    """(moment, force) of bodies, from their own axes to those of the world."""
    return np.concatenate([np.einsum("bij,bj->bi", poses[:, :3, :3], x) for x in np.split(wrenches, 2, axis=1)], axis=1)


def test_the_run_and_the_state_say_the_same() -> None:
    tau = np.array([CASE["torque"], 0.0, 0.0])
    run = lw.simulate(linkage(), start(), 0.1, 1e-2, stepper="dop853", tau=tau)
    found = lw.joint_reactions(linkage(), run.q, run.v, tau, t=run.t)
    for name in ("crank", "coupler", "rocker"):
        assert np.array_equal(found[:, linkage().body_index(name)], run.reactions(name))
    still = lw.ModelBuilder().body("a", joint=lw.Fixed(), inertia=lw.Inertia(2.0, (0.5, 0, 0))).build()
    assert np.allclose(lw.joint_reactions(still, [], []), [[0, -G, 0, 0, 0, 2 * G]])
    with pytest.raises(lw.InputError, match="joint_reactions: axes must be one of world, body, not 'here'"):
        lw.joint_reactions(linkage(), run.q[0], run.v[0], axes="here")


def test_joints_beside_a_contact_that_slides() -> None:
    b = lw.ModelBuilder(gravity=(3.0, 0.0, -9.81))
    b.body("slider", joint=lw.Prismatic((1, 0, 0)), inertia=lw.Inertia(2.0, (0, 0, 0), 0.1 * np.eye(3)))
    b.body("arm", parent="slider", joint=lw.Revolute((0, 1, 0)), inertia=lw.Inertia(1.0, (0.2, 0, 0), 0.05 * np.eye(3)))
    b.add(lw.Contact("arm", lw.Sphere(0.1, (0.4, 0, 0)), shape_b=lw.Plane((0, 0, -0.1)), friction=0.5))
    model, still = b.build(), np.zeros(2)
    a, x = lw.constrained_dynamics(model, still, still)
    slider, arm = lw.joint_reactions(model, still, still)[:, 3:]
    assert x[1] == pytest.approx(-0.5 * x[0])
    assert np.allclose(arm, np.array([a[0] - 3.0, 0.0, 9.81]) - [x[1], 0.0, x[0]])
    assert np.allclose(slider, np.array([2.0 * (a[0] - 3.0), 0.0, 2.0 * 9.81]) + arm)
