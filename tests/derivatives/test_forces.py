"""df_dq and df_dv of every force against finite differences on SE(3), and against the matrices of Sueda's notes, section 1.9."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest
from derivatives.force_cases import BODY_FORCES, JOINT_CASES, JOINT_FORCES, JOINTS, definite
from models import rotation, unit

import linkwork as lw
from linkwork.forces import ALL_FORCES, ALL_JOINT_FORCES
from linkwork.spatial.se3 import SE3

TOLERANCE = 1e-9
SEEDS = pytest.mark.parametrize("seed", range(3))


@functools.cache
def two_bodies(case: str, seed: int) -> tuple[lw.Model, lw.Force]:
    b = lw.ModelBuilder()
    for name in "ab":
        b.body(name, joint=lw.Free(), inertia=lw.Inertia(1.0, tensor=np.eye(3)))
    force = BODY_FORCES[case](np.random.default_rng(seed))
    return b.add(force).build(), force


def matrices(poses: list[SE3]) -> np.ndarray:
    return np.array([np.asarray(E.matrix, float) for E in poses])


def difference(f: Any, h: float = 1e-3) -> np.ndarray:
    """f'(0) to fourth order."""
    return (8.0 * (f(h) - f(-h)) - (f(2 * h) - f(-2 * h))) / (12.0 * h)


def by_differences(model: lw.Model, poses: list[SE3], twists: np.ndarray, t: float, h: float = 1e-3) -> tuple[Any, Any]:
    """df_dq and df_dv of the wrenches on all bodies (6 nb, 6 nb)."""
    forces, columns = lw.force_set(model), ([], [])
    for i in range(len(poses)):
        for k in range(6):
            e = np.eye(6)[k]

            def moved(s: float, i: int = i, e: np.ndarray = e) -> np.ndarray:
                new = [E @ SE3.exp(s * e) if j == i else E for j, E in enumerate(poses)]
                return forces.wrenches(matrices(new), twists, t).reshape(-1)

            def faster(s: float, i: int = i, e: np.ndarray = e) -> np.ndarray:
                return forces.wrenches(matrices(poses), twists + s * np.outer(np.arange(len(poses)) == i, e), t).reshape(-1)

            columns[0].append(difference(moved, h))
            columns[1].append(difference(faster, h))
    return np.array(columns[0]).T, np.array(columns[1]).T


def random_motion(seed: int, far: float) -> tuple[list[SE3], np.ndarray]:
    rng = np.random.default_rng([seed, 7])
    poses = [SE3(R=rotation(unit(rng), rng.uniform(0, 3)), p=far * rng.normal(size=3)) for _ in range(2)]
    return poses, far * rng.normal(size=(2, 6))


@pytest.mark.parametrize("case", BODY_FORCES)
@pytest.mark.parametrize("far", [1.0, 20.0])
@SEEDS
def test_derivatives_are_those_of_the_wrenches(case: str, seed: int, far: float) -> None:
    model, _ = two_bodies(case, seed)
    poses, twists = random_motion(seed, far)
    found = lw.force_set(model).derivatives(matrices(poses), twists, 0.4)
    for A, B in zip(found, by_differences(model, poses, twists, 0.4), strict=True):
        assert np.abs(A.dense(2) - B).max() < TOLERANCE * max(1.0, np.abs(B).max())


@pytest.mark.parametrize("angle", [0.0, 1e-4, 1.0, np.pi - 0.01])
@SEEDS
def test_derivatives_near_rest_and_near_half_a_turn(seed: int, angle: float) -> None:
    """Frames that nearly meet, and frames nearly half a turn apart."""
    rng = np.random.default_rng([seed, 8])
    b = lw.ModelBuilder()
    for name in "ab":
        b.body(name, joint=lw.Free(), inertia=lw.Inertia(1.0, tensor=np.eye(3)))
    model = b.add(lw.Bushing("a", "b", stiffness=definite(rng), damping=definite(rng))).build()
    first = SE3(R=rotation(unit(rng), 2.0), p=rng.normal(size=3))
    poses = [first, first @ SE3(R=rotation(unit(rng), angle), p=angle * rng.normal(size=3))]
    twists = rng.normal(size=(2, 6))
    found = lw.force_set(model).derivatives(matrices(poses), twists)
    for A, B in zip(found, by_differences(model, poses, twists, 0.0, 1e-3), strict=True):
        assert np.abs(A.dense(2) - B).max() < TOLERANCE * max(1.0, np.abs(B).max())


def test_every_force_has_a_case() -> None:
    made = {type(two_bodies(case, 0)[1]).__name__ for case in BODY_FORCES}
    assert made == set(ALL_FORCES)


# --- on joints ----------------------------------------------------------------------------------------------------------------
@functools.cache
def one_joint(case: str, kind: str, seed: int) -> tuple[lw.Model, lw.JointForce]:
    rng = np.random.default_rng(seed)
    joint = JOINTS[kind]()
    force = JOINT_FORCES[case](joint, rng)
    limits = {"limits": (-0.3, 0.2)} if joint.one_chart().coordinates_add else {}
    b = lw.ModelBuilder().body("first", joint=lw.Revolute(), inertia=lw.Inertia(1.0))
    b.body("j", parent="first", joint=joint, inertia=lw.Inertia(1.0, tensor=np.eye(3)), **limits)
    return b.add(force).build(), force


def joint_differences(model: lw.Model, q: np.ndarray, v: np.ndarray, t: float) -> tuple[np.ndarray, np.ndarray]:
    """df_dq and df_dv of the joint forces (nv, nv)."""
    forces, eye = lw.force_set(model), np.eye(model.nv)
    moved = [difference(lambda s, e=e: forces.joint_forces(model.integrate(q, s * e), v, t), 1e-4) for e in eye]
    faster = [difference(lambda s, e=e: forces.joint_forces(q, v + s * e, t), 1e-4) for e in eye]
    return np.array(moved).T, np.array(faster).T


@pytest.mark.parametrize(("case", "kind"), JOINT_CASES)
def test_derivatives_are_those_of_the_joint_forces(case: str, kind: str) -> None:
    seed = 1
    model, _ = one_joint(case, kind, seed)
    q, v = model.random_configuration(seed), np.random.default_rng([seed, 3]).normal(size=model.nv)
    found = lw.force_set(model).joint_derivatives(q, v, 0.4)
    for A, B in zip(found, joint_differences(model, q, v, 0.4), strict=True):
        assert np.abs(A.dense() - B).max() < TOLERANCE * max(1.0, np.abs(B).max())


@pytest.mark.parametrize("angle", [0.0, 1e-4, np.pi - 0.001, np.pi + 0.001])
@pytest.mark.parametrize("kind", ["Spherical", "SphericalExp", "Free"])
def test_derivatives_of_springs_in_balls_near_rest_and_near_half_a_turn(kind: str, angle: float) -> None:
    rng = np.random.default_rng(6)
    joint = JOINTS[kind]()
    b = lw.ModelBuilder().body("j", joint=joint, inertia=lw.Inertia(1.0, tensor=np.eye(3)))
    model = b.add(lw.JointSpring("j", rng.uniform(1, 5, joint.nv))).build()
    n, d = unit(rng), 0.3 * rng.normal(size=3)
    q = joint.integrate(joint.neutral(), np.concatenate([angle * n, d])[: joint.nv])
    found = lw.force_set(model).joint_derivatives(q, np.zeros(model.nv))
    expected = joint_differences(model, q, np.zeros(model.nv), 0.0)
    assert np.abs(found[0].dense() - expected[0]).max() < TOLERANCE * np.abs(expected[0]).max()


def test_every_joint_force_has_a_case() -> None:
    made = {type(one_joint(case, kind, 0)[1]).__name__ for case, kind in JOINT_CASES}
    assert made == set(ALL_JOINT_FORCES)
