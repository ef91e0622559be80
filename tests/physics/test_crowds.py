"""Many bodies that touch: steps without a matrix against those with one, order, momentum, rest, batches, records."""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw
from linkwork.contact.formulations import touching
from linkwork.elements import collection as collections
from linkwork.elements.collection import CROWD, collection
from linkwork.scenes import ALL_SCENES
from linkwork.scenes.pile import pile

H = 2e-3


def heap(count: int = 8, friction: float = 0.6, order: list[int] | None = None, boxes: bool = True) -> tuple[lw.Model, lw.State]:
    """Boxes and spheres in two layers, close to one another, each on a way of its own; bodies in any order."""
    rng = np.random.default_rng(4)
    b, q, v = lw.ModelBuilder().ground(friction=friction), [], []
    starts = []
    for k in range(count):
        shape = (
            lw.Sphere(0.06, density=500, friction=friction)
            if k % 2 or not boxes
            else lw.Box((0.1, 0.12, 0.08), density=500, friction=friction)
        )
        place = [0.13 * (k % 2), 0.13 * (k // 2 % 2), 0.05 + 0.11 * (k // 4)]
        starts.append((f"body{k}", shape, [*(place + 0.004 * rng.normal(size=3)), 1, 0, 0, 0], 0.3 * rng.normal(size=6)))
    for k in order or range(count):
        name, shape, at, motion = starts[k]
        b.body(name, joint=lw.Free(), shapes=[shape])
        q += at
        v += list(motion)
    return b.build(), lw.State(np.array(q, float), np.array(v))


def is_crowd(model: lw.Model) -> bool:
    return collection(touching(model, "exact")).step_shape[3] == CROWD


@pytest.fixture
def small_crowds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few rows are a crowd already."""
    monkeypatch.setattr(collections, "CROWD_ROWS", 10)


@pytest.mark.parametrize(
    ("contact", "method"), [("exact", "reduced"), ("exact", "maximal"), ("pyramid", "reduced"), ("frictionless", "reduced")]
)
def test_steps_are_those_with_a_matrix(contact: str, method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where there is one solution: points of a face share their load in many ways, and with friction motion depends on it."""
    monkeypatch.setattr(collections, "CROWD_ROWS", 10**6)
    boxes = contact == "frictionless"
    model, start = heap(boxes=boxes)
    run = lw.simulate(model, start, 60 * H, H, contact=contact, every=12)
    states = [lw.State(run.q[k], run.v[k]) for k in range(len(run))]
    dense = [lw.simulate(model, s, H, H, method, contact=contact) for s in states]
    monkeypatch.setattr(collections, "CROWD_ROWS", 10)
    other, _ = heap(boxes=boxes)
    assert is_crowd(other)
    compared = 0
    for s, before in zip(states, dense, strict=True):
        after = lw.simulate(other, s, H, H, method, contact=contact)
        assert after.left is not None
        assert before.left is not None
        if max(before.left[-1], after.left[-1]) < 1e-12:
            np.testing.assert_allclose(after.v[-1], before.v[-1], atol=1e-9)
            np.testing.assert_allclose(after.q[-1], before.q[-1], atol=1e-9)
            compared += 1
    assert compared >= 4


def test_the_order_of_bodies_does_not_matter(small_crowds: None) -> None:
    order = [3, 0, 6, 1, 7, 2, 5, 4]
    model, start = heap()
    run = lw.simulate(model, start, 20 * H, H)
    s = lw.State(run.q[-1], run.v[-1])
    other, _ = heap(order=order)
    q, v = (np.concatenate([x.reshape(8, -1)[k] for k in order]) for x in (s.q, s.v))
    one, two = lw.simulate(model, s, H, H), lw.simulate(other, lw.State(q, v), H, H)
    np.testing.assert_allclose(two.v[-1].reshape(8, 6), one.v[-1].reshape(8, 6)[order], atol=1e-9)


def test_momentum_is_kept_in_free_flight(small_crowds: None) -> None:
    b, rng = lw.ModelBuilder(gravity=(0.0, 0.0, 0.0)), np.random.default_rng(1)
    for k in range(12):
        b.body(f"ball{k}", joint=lw.Free(), shapes=[lw.Sphere(0.05 + 0.002 * k, density=500)])
    model = b.build()
    q = np.array([[0.13 * (k % 3), 0.13 * (k // 3 % 2), 0.13 * (k // 6), 1, 0, 0, 0] for k in range(12)], float)
    v = np.concatenate([np.zeros((12, 3)), rng.normal(size=(12, 3))], axis=1)
    run = lw.simulate(model, lw.State(q.reshape(-1), v.reshape(-1)), 100 * H, H)
    assert is_crowd(model)
    assert run.forces is not None
    assert (run.forces > 0.0).any(axis=0).sum() > 5
    momentum = np.einsum("b,tbi->ti", [body.inertia.mass for body in model.bodies], run.v.reshape(len(run), 12, 6)[..., 3:])
    np.testing.assert_allclose(momentum - momentum[0], np.zeros_like(momentum), atol=1e-13)


def test_a_batch_is_its_runs_and_a_run_goes_on(small_crowds: None) -> None:
    model, start = heap()
    v = start.v + np.array([[0.0], [0.1], [-0.2]])
    many = lw.simulate(model, lw.State(np.tile(start.q, (3, 1)), v), 40 * H, H)
    one = lw.simulate(model, lw.State(start.q, v[1]), 40 * H, H)
    np.testing.assert_array_equal(many.q[1], one.q)
    half = lw.simulate(model, lw.State(start.q, v[1]), 20 * H, H)
    rest = lw.simulate(model, half.final, 20 * H, H)
    np.testing.assert_array_equal(rest.q[-1], one.q[-1])
    stepped = lw.simulate(model, lw.State(start.q, v[1]), 40 * H, H, control=lambda t, state: np.zeros(model.nv))
    np.testing.assert_array_equal(stepped.q[-1], one.q[-1])


def test_bricks_of_a_wall_rest() -> None:
    b, q = lw.ModelBuilder().ground(friction=0.6), []
    for course in range(4):
        for k in range(4 - course % 2):
            b.body(f"brick{course}_{k}", joint=lw.Free(), shapes=[lw.Box((0.2, 0.1, 0.1), density=500, friction=0.6)])
            q += [0.205 * (k + 0.5 * (course % 2)), 0, 0.05 + 0.1 * course, 1, 0, 0, 0]
    model = b.build()
    assert is_crowd(model)
    run = lw.simulate(model, lw.State(np.array(q, float), np.zeros(model.nv)), 250 * H, H, every=25)
    assert np.abs(run.q - run.q[0]).max() < 1e-9
    assert np.abs(run.v[-1]).max() < 1e-10
    assert run.health.complementarity is not None
    assert run.health.complementarity < 1e-8
    assert run.health.penetration is not None
    assert run.health.penetration < 1e-9
    weight = sum(body.inertia.mass for body in model.bodies) * 9.81
    lowest = [law for law in collection(run.model).rows if "world" in (p.name for p in law.ports)]
    np.testing.assert_allclose(sum(run.reactions(law)[-1, 5] for law in lowest), weight, rtol=1e-9)


@pytest.mark.parametrize(("name", "most"), [("dominoes", 0.01), ("wall", 0.05)])
def test_what_falls_on_one_another_is_solved(name: str, most: float) -> None:
    """Islands of a hundred rows and more, which the search without a matrix leaves in half of the steps; in the step of an impact
    there may be no solution."""
    scene = ALL_SCENES[name]
    model, start = scene.build()
    assert is_crowd(model)
    left = lw.simulate(model, start, scene.duration, scene.dt).left
    assert left is not None
    assert np.mean(left > 1e-8) < most


def test_far_piles_do_not_change_one_another() -> None:
    model, start = heap(16)
    assert is_crowd(model)
    b, q, v = lw.ModelBuilder().ground(friction=0.6), [], []
    for pile_number in range(2):
        for k, body in enumerate(model.bodies):
            b.body(f"{body.name}_{pile_number}", joint=lw.Free(), inertia=body.inertia, shapes=list(body.shapes))
            q += list(start.q[7 * k : 7 * k + 7] + 50.0 * pile_number * np.eye(7)[0])
            v += list(start.v[6 * k : 6 * k + 6])
    one = lw.simulate(model, start, 30 * H, H)
    two = lw.simulate(b.build(), lw.State(np.array(q), np.array(v)), 30 * H, H)
    np.testing.assert_array_equal(two.q[:, : model.nq], one.q)


def test_records_in_pieces_tell_the_same(small_crowds: None, monkeypatch: pytest.MonkeyPatch) -> None:
    model, start = heap()
    whole, pieces = (lw.simulate(model, start, 40 * H, H) for _ in range(2))
    found = whole.health
    monkeypatch.setattr("linkwork.trajectory.AT_ONCE", 4000)
    assert len(pieces._spans) > 3
    again = pieces.health
    assert again.penetration == found.penetration
    np.testing.assert_allclose(pieces.work, whole.work, rtol=1e-12, atol=1e-15)


def test_a_robot_and_stones_are_one_problem(small_crowds: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows that climb more than one joint, limits and equalities among them."""

    def scene() -> tuple[lw.Model, lw.State]:
        b = lw.ModelBuilder().ground(friction=0.6)
        b.body("base", joint=lw.Free(), shapes=[lw.Box((0.2, 0.2, 0.1), mass=2.0, friction=0.6)])
        arm = lw.Inertia.cuboid(0.5, (0.3, 0.04, 0.04), com=(0.15, 0, 0))
        for name, parent, at in (("upper", "base", (0.0, 0, 0.08)), ("lower", "upper", (0.3, 0, 0))):
            shapes = [lw.Capsule(0.03, 0.2, lw.SE3.rot_y(np.pi / 2) @ lw.SE3(p=(0, 0, 0.15)), friction=0.6)]
            placement = lw.SE3(p=at)
            b.body(name, parent=parent, joint=lw.Revolute(axis=(0, 1, 0)), placement=placement, inertia=arm, shapes=shapes)
        for k in range(3):
            b.body(f"stone{k}", joint=lw.Free(), shapes=[lw.Sphere(0.05, mass=0.3, friction=0.6)])
        b.add(lw.Coupling("lower", "upper", ratio=-0.5))
        b.add(lw.Limit("lower", -0.4, 0.4))
        model = b.build()
        q = model.neutral()
        q[2] = 0.051
        for k in range(3):
            q[model.q_index(f"stone{k}")] = [0.3 + 0.11 * k, 0.02 * k, 0.0502, 1, 0, 0, 0]
        return model, lw.State(q, np.zeros(model.nv))

    model, start = scene()
    run = lw.simulate(model, start, 300 * H, H, every=30)
    assert is_crowd(model)
    assert run.left is not None
    assert run.left.max() < 1e-7
    monkeypatch.setattr(collections, "CROWD_ROWS", 10**6)
    other, _ = scene()
    for k in range(len(run)):
        s = lw.State(run.q[k], run.v[k])
        one, two = lw.simulate(model, s, H, H), lw.simulate(other, s, H, H)
        assert one.left is not None
        assert two.left is not None
        if max(one.left[-1], two.left[-1]) < 1e-12:
            np.testing.assert_allclose(one.v[-1], two.v[-1], atol=1e-9)


@pytest.mark.slow
def test_a_hundred_bodies_fall_and_stay_apart() -> None:
    model, start = pile()
    run = lw.simulate(model, start, 0.6, H, every=20)
    assert run.health.finite
    assert run.health.penetration is not None
    assert run.health.penetration < 5e-3
    assert run.health.complementarity is not None
    assert run.health.complementarity < 1e-2
    again = lw.simulate(pile()[0], start, 0.6, H, every=20)
    np.testing.assert_array_equal(again.q, run.q)
