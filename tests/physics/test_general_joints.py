"""Scenes of general joints: energy, reduced against maximal coordinates; knees of two kinds; moment arms over all of them."""

from __future__ import annotations

import numpy as np
import pytest
from models import PAIRS, random_inertia

import linkwork as lw
from linkwork.scenes import ALL_SCENES
from linkwork.scenes.knees import FEMUR, TIBIA

FREE = ("revolute_chain", "torus_chain", "windmill", "tori_on_spline", "board", "trefoil")
STEPS = {"trefoil": 1e-3, "board": 5e-4, "tori_on_spline": 5e-4, "torus_chain": 2.5e-4, "windmill": 5e-4}
ANATOMY = ("four_bar_knee", "spline_knee", "scapula", "shoulder")


def total(run: lw.Trajectory) -> np.ndarray:
    return np.asarray(run.energy.total, float)


@pytest.mark.parametrize("name", FREE)
def test_energy_stays(name: str) -> None:
    """Relative to the largest kinetic energy, over ten seconds."""
    model, state = ALL_SCENES[name].build()
    run = lw.simulate(model, state, 10.0, 0.1, stepper="dop853", rtol=1e-10, atol=1e-10)
    kinetic = np.asarray(run.energy.kinetic, float)
    assert kinetic.max() > 0.1
    assert np.ptp(total(run)) < 1e-8 * kinetic.max()


@pytest.mark.parametrize("name", STEPS)
def test_reduced_and_maximal_runs_agree(name: str) -> None:
    """By rk4, over one second. Maximal coordinates are projected: what rows leave of an error grows on a chain."""
    model, state = ALL_SCENES[name].build()
    dt = STEPS[name]
    every = round(0.1 / dt)
    reduced = lw.simulate(model, state, 1.0, dt, stepper="rk4", every=every)
    maximal = lw.simulate(model, state, 1.0, dt, "maximal", stepper="rk4", stabilise="project", every=every)
    assert np.abs(reduced.poses - maximal.poses).max() < 1e-6
    assert np.abs(reduced.poses[-1] - reduced.poses[0]).max() > 0.1


@pytest.mark.parametrize("name", ["hoop on ellipsoid", "curve on curve", "sphere in cylinder", "four-bar"])
def test_families_in_maximal_coordinates(name: str) -> None:
    """One body on each joint, pushed; by rk4, as it is and without projection."""
    joint, rng = PAIRS[name], np.random.default_rng(5)
    model = lw.ModelBuilder(gravity=(0, 0, 0)).body("a", joint=joint, inertia=random_inertia(rng)).build()
    state = lw.State(0.3 * joint.random(rng), 0.3 * rng.normal(size=joint.nv))
    runs = [lw.simulate(model, state, 1.0, 5e-4, method, stepper="rk4", every=200) for method in ("reduced", "maximal")]
    assert np.abs(runs[0].poses - runs[1].poses).max() < 1e-6


# --- anatomy --------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("muscles", [False, True])
def test_a_knee_is_the_same_as_joint_and_as_loop(muscles: bool) -> None:
    runs = []
    for kind in ("joint", "loop"):
        model, state = ALL_SCENES["four_bar_knee"].build(kind=kind, muscles=muscles)
        runs.append(lw.simulate(model, state, 2.0, 0.02, stepper="dop853", rtol=1e-13, atol=1e-14))  # curves have corners
    joint, loop = runs
    assert np.ptp(joint.q[:, 0]) > 0.4
    assert np.abs(joint.poses - loop.poses).max() < 1e-8
    assert np.abs(total(joint) - total(loop)).max() < 1e-8
    assert np.abs(loop.q.sum(axis=1) - joint.q[:, 0]).max() < 1e-8


def test_ligaments_keep_their_lengths() -> None:
    knee = lw.FourBar(FEMUR, TIBIA)
    lengths = np.linalg.norm(np.array(FEMUR) - TIBIA, axis=1)
    for flexion in np.linspace(-0.3, 2.4, 20):
        E = knee.transform(np.array([flexion]))
        ends = np.array([E @ np.array([x, 0.0, z]) for x, z in TIBIA], float)[:, [0, 2]]
        assert np.abs(np.linalg.norm(ends - FEMUR, axis=1) - lengths).max() < 1e-15


@pytest.mark.parametrize("name", ANATOMY)
def test_moment_arms_are_slopes_of_the_lengths(name: str) -> None:
    """-dl/dq by differences of order six, at positions along a run."""
    model, state = ALL_SCENES[name].build()
    h, weights = 1e-3, {-3: -1 / 60, -2: 9 / 60, -1: -45 / 60, 1: 45 / 60, 2: -9 / 60, 3: 1 / 60}
    for q in lw.simulate(model, state, 1.0, 1e-3, every=250).q:
        found = lw.muscle_states(model, q).moment_arms
        for k, e in enumerate(np.eye(model.nv)):
            slope = sum(w * lw.muscle_states(model, q + j * h * e).length for j, w in weights.items()) / h
            assert np.abs(found[:, k] + slope).max() < 1e-10
    assert np.abs(found).max() > 5e-3


@pytest.mark.parametrize("name", ANATOMY)
def test_muscles_move_the_joint(name: str) -> None:
    scene = ALL_SCENES[name]
    model, state = scene.build()
    run = lw.simulate(model, state, scene.duration, scene.dt, every=50)
    others = [e for e in model.elements if not isinstance(e, lw.Muscle)]
    relaxed = lw.simulate(model.replace(elements=others), state, 1.0, scene.dt, every=50)
    assert run.health.finite
    assert np.abs(run.q).max() < 2.5
    assert np.abs(run.q[: len(relaxed.q)] - relaxed.q).max() > 0.1
