"""A motion that all bodies have in common changes nothing of what they do to one another: contacts on a train, or at rest."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import linkwork as lw
from linkwork.spatial import quaternion

METHODS = ["reduced", "maximal", "maximal-implicit", "redmax"]
ALONG_X = lw.SE3.rot_y(np.pi / 2)
SHAPES = {
    "box": (lw.Box((0.2, 0.2, 0.2), density=1000, friction=0.5), 0.1),
    "slab": (lw.Box((0.4, 0.3, 0.05), density=1000, friction=0.5), 0.025),
    "capsule": (lw.Capsule(0.1, 0.3, ALONG_X, density=1000, friction=0.5), 0.1),
    "sphere": (lw.Sphere(0.1, density=1000, friction=0.5), 0.1),
}  # and half of their heights
PAIRS = [("box", "box"), ("slab", "slab"), ("capsule", "capsule"), ("box", "capsule"), ("sphere", "sphere"), ("box", "sphere")]
TRAIN = np.array([20.0, -7.0, 5.0])  # m/s
DRAWS = 25


@cache
def two(lower: str, upper: str) -> lw.Model:
    b = lw.ModelBuilder(gravity=(0, 0, 0)).body("lower", joint=lw.Free(), shapes=[SHAPES[lower][0]])
    return b.body("upper", joint=lw.Free(), shapes=[SHAPES[upper][0]]).build()


def rotation(q: np.ndarray) -> np.ndarray:
    return np.asarray(quaternion.to_rotation(q), float)


def drawn_quaternion(rng: np.random.Generator) -> np.ndarray:
    """Near no turn at all, so that faces and edges lie along one another."""
    q = np.array([1.0, *(10.0 ** rng.uniform(-9, -0.5, 3) * rng.choice([-1, 1], 3))])
    return q / np.linalg.norm(q)


def after_a_step(model: lw.Model, q: np.ndarray, turns: np.ndarray, ways: np.ndarray, h: float, method: str) -> np.ndarray:
    """Angular velocities of both bodies, in their axes, and linear ones in the world."""
    v = np.concatenate([x for k in (0, 1) for x in (turns[k], rotation(q[7 * k + 3 : 7 * k + 7]).T @ ways[k])])
    run = lw.simulate(model, lw.State(q, v), h, h, method)
    q, v = run.q[-1], run.v[-1]
    return np.concatenate(
        [x for k in (0, 1) for x in (v[6 * k : 6 * k + 3], rotation(q[7 * k + 3 : 7 * k + 7]) @ v[6 * k + 3 : 6 * k + 6])]
    )


@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
@pytest.mark.parametrize("method", METHODS)
def test_two_bodies_that_meet_on_a_train(pair: tuple[str, str], method: str) -> None:
    model, rng = two(*pair), np.random.default_rng(3)
    height = sum(SHAPES[name][1] for name in pair)
    for _ in range(DRAWS):
        aside, gap = rng.choice([1e-4, 1e-2, 0.1]) * rng.uniform(-1, 1, 2), rng.choice([0.0, 1e-6, 1e-4, 3e-3, -1e-6])
        q = np.concatenate([np.zeros(3), drawn_quaternion(rng), aside, [height + gap], drawn_quaternion(rng)])
        turns = np.array([rng.choice([0.1, 1.0, 5.0]) * rng.normal(size=3) for _ in range(2)])
        ways = np.array([rng.choice([0.01, 0.3, 3.0]) * rng.normal(size=3) for _ in range(2)])
        h = float(rng.choice([1e-3, 4e-3, 1e-2]))
        still, moving = (after_a_step(model, q, turns, ways + train, h, method) for train in (np.zeros(3), TRAIN))
        moving -= np.concatenate([np.zeros(3), TRAIN, np.zeros(3), TRAIN])
        assert np.abs(moving - still).max() < 1e-10, (q.tolist(), turns.tolist(), ways.tolist(), h)


@pytest.mark.parametrize(
    ("shape", "height"),
    [
        (lw.Box((0.2, 0.1, 0.3), density=800, friction=0.0), 0.2),
        (lw.Cylinder(0.05, 0.2, density=800, friction=0.0), 0.13),
        (lw.Cylinder(0.1, 0.02, density=800, friction=0.0), 0.05),
        (lw.Ellipsoid((0.15, 0.12, 0.03), density=800, friction=0.0), 0.1),
    ],
    ids=["box", "cylinder", "coin", "disc"],
)
@pytest.mark.parametrize("method", METHODS)
def test_sliding_without_friction_changes_no_fall(shape: lw.Shape, height: float, method: str) -> None:
    model = lw.ModelBuilder().ground().body("b", joint=lw.Free(), shapes=[shape]).build()
    q = np.array([0, 0, height, np.cos(0.15), 0.8 * np.sin(0.15), 0.6 * np.sin(0.15), 0])
    runs = []
    for along in (0.0, 20.0):
        v = np.concatenate([[0.5, -1.0, 2.0], rotation(q[3:]).T @ [along, 0, 0]])
        runs.append(lw.simulate(model, lw.State(q, v), 0.3, 2e-3, method).q[:, 2:])
    assert np.abs(runs[1] - runs[0]).max() < 1e-8


def arm_and_ball() -> lw.Model:
    """A body that floats, with an arm and a hand, and a ball."""
    b = lw.ModelBuilder(gravity=(0, 0, 0)).body("root", joint=lw.Free(), shapes=[lw.Box((0.2, 0.15, 0.1), density=1000)])
    forearm = lw.Capsule(0.03, 0.2, lw.SE3(p=(0.13, 0, 0)) @ ALONG_X, density=1000)
    b.body("arm", parent="root", joint=lw.Revolute((0, 1, 0)), placement=lw.SE3(p=(0.15, 0, 0)), shapes=[forearm])
    palm = lw.Sphere(0.04, (0.05, 0, 0), density=1000, friction=0.5)
    b.body("hand", parent="arm", joint=lw.Spherical(), placement=lw.SE3(p=(0.28, 0, 0)), shapes=[palm])
    return b.body("ball", joint=lw.Free(), shapes=[lw.Sphere(0.06, density=1000, friction=0.5)]).build()


@pytest.mark.parametrize("method", METHODS)
def test_a_hand_that_strikes_a_ball_on_a_train_and_in_a_turned_world(method: str) -> None:
    model, rng = arm_and_ball(), np.random.default_rng(2)
    bodies = [(model.q_index(name), model.v_index(name)) for name in ("root", "ball")]
    for _ in range(10):
        q, v, h = model.neutral(), 3.0 * rng.normal(size=model.nv), float(rng.choice([1e-3, 4e-3, 1e-2]))
        q[model.q_index("arm")], turned = 0.3 * rng.normal(), rng.normal(size=(4, 4))
        turned /= np.linalg.norm(turned, axis=1, keepdims=True)
        q[model.q_index("hand")], q[bodies[0][0]] = turned[0], [0, 0, 0, *turned[1]]
        palm = lw.kinematics(model, q).poses[model.body_index("hand")] @ [0.05, 0, 0, 1]
        away = rng.normal(size=3)
        away /= np.linalg.norm(away)
        q[bodies[1][0]] = [*(palm[:3] + (0.1 + rng.choice([0.0, 1e-4, 5e-3])) * away), *turned[2]]
        v[bodies[1][1]] = [*rng.normal(size=3), *(-2.0 * rotation(turned[2]).T @ away)]
        found = []
        for train, turn in ((0 * TRAIN, [1, 0, 0, 0]), (TRAIN, [1, 0, 0, 0]), (0 * TRAIN, turned[3])):
            start = lw.State(q.copy(), v.copy())
            q_of, v_of = np.array(start.q), np.array(start.v)
            for i, j in bodies:
                pose = np.array(q_of[i])
                quat = np.asarray(quaternion.multiply(np.array(turn, float), pose[3:]), float)
                q_of[i], v_of[j] = (
                    [*(rotation(np.array(turn, float)) @ pose[:3]), *quat],
                    v_of[j] + [0, 0, 0, *(rotation(quat).T @ train)],
                )
            run = lw.simulate(model, lw.State(q_of, v_of), 2 * h, h, method)
            end = np.array(run.v[-1])
            for i, j in bodies:
                end[j] = end[j] - [0, 0, 0, *(rotation(run.q[-1][i][3:]).T @ train)]
            found.append(end)
        assert np.abs(found[1] - found[0]).max() < 1e-8, "a motion in common"
        assert np.abs(found[2] - found[0]).max() < 1e-8, "axes of the world"
