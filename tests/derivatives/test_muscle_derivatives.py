"""Muscles: df_dq and df_dv against finite differences on SE(3), moment arms against those of the length, and their power."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from derivatives.test_force_matrices import Scene, check
from derivatives.test_forces import by_differences, difference, matrices
from models import rotation, unit

import linkwork as lw
from linkwork.forces.muscle_curves import ACTIVE, PASSIVE, VELOCITY
from linkwork.scenes import ALL_SCENES
from linkwork.spatial.se3 import SE3

A, B = ("a", (2.0, 0.1, 0.0)), ("b", (-2.0, 0.2, 0.3))
BESIDE = ("b", (1.5, -1.0, 0.3))


def cylinder(turn: int) -> lw.WrapCylinder:
    return lw.WrapCylinder("c", (0.0, 0.1, 0.0), axis=(0.2, -0.3, 1.0), radius=0.7, turn=turn)


SPHERE = lw.WrapSphere("c", (0.0, 0.1, 0.0), radius=0.7)
PATHS: dict[str, list[Any]] = {
    "straight": [A, B],
    "to the world": [("world", (0.5, 0.4, 3.0)), B],
    "many points": [("world", (0.0, 0.0, 3.0)), A, ("a", (0.0, 0.5, 0.0)), B, ("c", (0.4, 0.0, -0.2))],
    "around a sphere": [A, SPHERE, B],
    "past a sphere": [A, SPHERE, BESIDE],
    "around a cylinder": [A, cylinder(0), B],
    "around its right side": [A, cylinder(1), B],
    "around its left side": [A, cylinder(-1), B],
    "past a cylinder": [A, cylinder(1), BESIDE],
    "an obstacle on the last body": [A, lw.WrapSphere("b", (-1.0, 0.0, 0.0), radius=0.5), ("b", (-2.0, 0.0, 0.1))],
}
OPTIONS = {"max_force": 3.0, "activation": 0.6, "pennation": 0.3, "damping": 0.05, "name": "m"}


def muscle(kind: type, path: list[Any], tendon_share: float = 0.5, **options: Any) -> lw.Muscle:
    """Fibres between 0.5 and 1.5 of their optimal length for all paths here."""
    length = lw.MusclePath(*path).length([SE3()] * len(lw.MusclePath(*path).bodies))
    given = {"optimal_length": 0.5 * length, "tendon_length": tendon_share * length, **OPTIONS, **options}
    return kind(path, **given)


CASES: dict[str, Callable[[], lw.Muscle]] = {
    **{name: functools.partial(muscle, lw.Muscle, path) for name, path in PATHS.items()},
    "without pennation": lambda: muscle(lw.Muscle, PATHS["straight"], pennation=0.0),
    "on a schedule": lambda: muscle(lw.Muscle, PATHS["straight"], activation=lw.Schedule((0.0, 1.0), (0.1, 0.9))),
    "curves of a user": lambda: muscle(lw.Muscle, PATHS["straight"], active=lambda x: np.exp(-((x - 1) ** 2)), velocity=np.exp),
    "elastic": lambda: muscle(lw.ElasticMuscle, PATHS["straight"], tendon=lw.tendon_curve(0.2)),
    "elastic around a cylinder": lambda: muscle(lw.ElasticMuscle, PATHS["around its right side"]),
    "fibres": lambda: muscle(lw.FibreMuscle, PATHS["straight"], 0.4, tendon=lw.tendon_curve(0.3)),
    "fibres around a sphere": lambda: muscle(lw.FibreMuscle, PATHS["around a sphere"], 0.4, tendon=lw.tendon_curve(0.3)),
}
ALL = pytest.mark.parametrize("case", CASES)
SEEDS = pytest.mark.parametrize("seed", range(2))


@functools.cache
def three_bodies(case: str) -> tuple[lw.Model, lw.Muscle]:
    b = lw.ModelBuilder(gravity=(0, 0, 0))
    for name in "abc":
        b.body(name, joint=lw.Free(), inertia=lw.Inertia(1.0, tensor=np.eye(3)))
    m = CASES[case]()
    return b.add(m).build(), m


def motion(seed: int) -> tuple[list[SE3], np.ndarray]:
    rng = np.random.default_rng([seed, 3])
    poses = [SE3(R=rotation(unit(rng), rng.uniform(0, 0.2)), p=0.1 * rng.normal(size=3)) for _ in range(3)]
    return poses, 0.4 * rng.normal(size=(3, 6))


@ALL
@SEEDS
def test_derivatives_are_those_of_the_wrenches(case: str, seed: int) -> None:
    model, _ = three_bodies(case)
    poses, twists = motion(seed)
    t = 0.4
    found = lw.force_set(model).derivatives(matrices(poses), twists, t)
    for A, B in zip(found, by_differences(model, poses, twists, t, 2e-4), strict=True):
        assert np.abs(A.dense(3) - B).max() < 1e-8 * max(1.0, np.abs(B).max())
    assert np.abs(found[0].dense(3)).max() > 0.1


@pytest.mark.parametrize("case", [name for name in PATHS if "cylinder" in name or "side" in name or "sphere" in name])
@SEEDS
def test_paths_touch_or_pass_as_they_say(case: str, seed: int) -> None:
    _, m = three_bodies(case)
    poses = dict(zip("abc", motion(seed)[0], strict=True))
    mine = [poses[name] for name in m.bodies]
    points = m.path.world_points(mine)
    straight = np.linalg.norm(np.diff(points, axis=0), axis=1).sum()
    assert (float(m.length(mine)) > straight + 1e-3) == ("past" not in case)


@ALL
@SEEDS
def test_power_is_tension_times_rate(case: str, seed: int) -> None:
    """tension l_dot = - sum of wrench . twist."""
    model, _ = three_bodies(case)
    poses, twists = motion(seed)
    q = np.concatenate([np.r_[E.p, quat(E)] for E in poses])
    s = lw.muscle_states(model, q, twists.reshape(-1), 0.4)
    power = np.sum(lw.force_set(model).wrenches(matrices(poses), twists, 0.4) * twists)
    assert power == pytest.approx(-s.tension[0] * s.rate[0], rel=1e-12, abs=1e-13)
    assert power == pytest.approx(float(s.joint_forces @ twists.reshape(-1)), rel=1e-12, abs=1e-13)
    assert s.tension[0] > 0.01


def quat(E: SE3) -> np.ndarray:
    """The quaternion (w, x, y, z) of a rotation by less than half a turn."""
    R = np.asarray(E.R, float)
    w = 0.5 * np.sqrt(1.0 + np.trace(R))
    return np.r_[w, (R[2, 1] - R[1, 2]) / (4 * w), (R[0, 2] - R[2, 0]) / (4 * w), (R[1, 0] - R[0, 1]) / (4 * w)]


@pytest.mark.parametrize("name", ["elbow", "finger", "leg"])
@SEEDS
def test_moment_arms_are_slopes_of_the_length(name: str, seed: int) -> None:
    """-d length / d q, and the rate is d length / d q . v."""
    model, _ = ALL_SCENES[name].build()
    rng = np.random.default_rng(seed)
    limits = [b.properties for b in model.bodies if b.joint.nv]
    low, high = (np.clip([getattr(p, side)[0] for p in limits], -0.2, 1.4) for side in ("lower", "upper"))
    q, v = rng.uniform(low, high), rng.normal(size=model.nv)
    s = lw.muscle_states(model, q, v)
    slopes = np.array([difference(lambda x, e=e: lw.muscle_states(model, q + x * e).length, 1e-3) for e in np.eye(model.nv)]).T
    np.testing.assert_allclose(s.moment_arms, -slopes, atol=1e-11)
    np.testing.assert_allclose(s.rate, slopes @ v, atol=1e-11)


def test_moment_arm_of_a_straight_muscle_is_the_distance_of_its_line() -> None:
    b = lw.ModelBuilder()
    b.body("a", joint=lw.Revolute((0, 1, 0)), inertia=lw.Inertia(1.0, tensor=np.eye(3)))
    b.add(lw.Muscle([("world", (0.3, 0.2, 0.1)), ("a", (0.1, 0.2, -0.4))], 100.0, 0.5))
    model = b.build()
    for angle in (-0.7, 0.0, 0.4, 2.0):
        x, y = np.array([0.3, 0.2, 0.1]), rotation(np.array([0.0, 1.0, 0.0]), angle) @ (0.1, 0.2, -0.4)
        along = (x - y) / np.linalg.norm(x - y)
        assert lw.muscle_states(model, [angle]).moment_arms[0, 0] == pytest.approx(np.cross(y, along)[1], abs=1e-15)


def test_moment_arm_around_a_cylinder_is_its_radius() -> None:
    b = lw.ModelBuilder()
    b.body("a", joint=lw.Revolute((0, 1, 0)), inertia=lw.Inertia(1.0, tensor=np.eye(3)))
    around = lw.WrapCylinder("world", axis=(0, 1, 0), radius=0.05, turn=1)
    b.add(lw.Muscle([("world", (-0.3, 0.0, 0.2)), around, ("a", (0.2, 0.0, 0.02))], 100.0, 0.5))
    model = b.build()
    for angle in (0.3, 0.8, 1.6):
        assert lw.muscle_states(model, [angle]).moment_arms[0, 0] == pytest.approx(-0.05, abs=1e-15)


@pytest.mark.parametrize("points", [2, 4])
@SEEDS
def test_matrices_of_the_notes(seed: int, points: int) -> None:
    """(1.59), (1.60), (1.61) with K_k1 - K_k2 of (1.62), (1.63), D of (1.64), at zero twist [errata 004-2, 4, 7]."""
    s = Scene(seed, points)
    segments = [(i, i + 1, s.world[i + 1] - s.world[i]) for i in range(points - 1)]
    total = float(sum(np.linalg.norm(d) for _, _, d in segments))
    a, optimal, fastest = 0.7, total / 2.2, 6.0
    m = lw.Muscle([(str(i), x) for i, x in enumerate(s.x)], 5.0, optimal, total / 3, max_velocity=fastest, activation=a)
    l = (total - total / 3) / optimal
    f = 5.0 * (a * ACTIVE(l) * VELOCITY(0.0) + PASSIVE(l))
    slope = 5.0 * (a * ACTIVE.slope(l) * VELOCITY(0.0) + PASSIVE.slope(l)) / optimal
    rate_slope = 5.0 * a * ACTIVE(l) * VELOCITY.slope(0.0) / (optimal * fastest)
    n = 6 * points
    f_n, K_n, df_dE, df_dPhi = np.zeros(n), np.zeros((n, n)), np.zeros(n), np.zeros(n)
    for i, j, d in segments:
        length = float(np.linalg.norm(d))
        f_n += s.row(d, i, j) / length
        K_n += np.outer(s.row(d, i, j), s.row(d / length**3, i, j)) - s.second(i, j) / length
        df_dE += s.row(-slope * d / length, i, j)
        df_dPhi += s.row(-rate_slope * d / length, i, j)
    check(s.found(m), f * f_n, np.outer(f_n, df_dE) + f * K_n, np.outer(f_n, df_dPhi))
