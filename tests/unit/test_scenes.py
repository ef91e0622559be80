"""Every scene builds and runs; what can be known about its motion is checked."""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw
from linkwork.scenes import ALL_SCENES, Scene
from linkwork.scenes.helix import DESCENT, RADIUS

RUNS = [(scene, method) for scene in ALL_SCENES.values() for method in scene.methods]


@pytest.mark.parametrize(("scene", "method"), RUNS, ids=lambda x: x.name if isinstance(x, Scene) else x)
def test_runs(scene: Scene, method: str) -> None:
    model, state = scene.build()
    run = lw.simulate(model, state, 0.05, scene.dt, method)
    model = run.model
    health = run.health
    assert health.finite
    assert all(np.isfinite(value) for value in vars(health).values() if isinstance(value, float))
    assert health.energy_drift is not None
    assert health.energy_drift < 0.05
    assert (health.joint_gap or 0.0) < 1e-4
    assert (health.constraint_residual or 0.0) < 1e-4
    assert not np.allclose(run.q[-1], run.q[0], atol=1e-6), "nothing moved"


@pytest.mark.parametrize("scene", ALL_SCENES.values(), ids=lambda s: s.name)
def test_lasts_a_whole_number_of_steps_and_is_described_in_one_line(scene: Scene) -> None:
    assert round(scene.duration / scene.dt) * scene.dt == pytest.approx(scene.duration, rel=1e-9)
    assert ALL_SCENES[scene.name] is scene
    assert scene.description
    assert "\n" not in scene.description


def test_first_acceleration_of_one_link_is_that_of_a_rod() -> None:
    """A cuboid of length 1 and thickness 0.1 about its end: a = m g (1/2) / (m (1 + 0.01) / 12 + m / 4)."""
    model, state = ALL_SCENES["pendulum"].build(links=1)
    a = lw.forward_dynamics(model, state.q, state.v)
    assert a[0] == pytest.approx(9.81 * 0.5 / (1.01 / 12 + 0.25), rel=1e-12)


def test_pendulum_has_as_many_links_as_asked_and_hangs_above_the_ground() -> None:
    model, _ = ALL_SCENES["pendulum"].build(links=7)
    assert model.nb == model.nv == 7
    hanging = lw.kinematics(model, np.r_[np.pi / 2, np.zeros(6)], np.zeros(7)).poses
    assert hanging[-1][2, 3] == pytest.approx(1.2)


@pytest.mark.parametrize("links", [0, -2, 1.5, True])
def test_pendulum_refuses_a_senseless_number_of_links(links: object) -> None:
    with pytest.raises(lw.InputError, match="links"):
        ALL_SCENES["pendulum"].build(links=links)


def test_bead_on_the_helix_accelerates_evenly() -> None:
    """q'' = m g d / (m (r^2 + d^2) + I_z), constant; symplectic Euler gives q = q'' t (t + h) / 2 exactly."""
    scene = ALL_SCENES["helix"]
    model, state = scene.build()
    spin = model.bodies[0].inertia.tensor[2, 2]
    rate = 9.81 * DESCENT / (RADIUS**2 + DESCENT**2 + spin)
    run = lw.simulate(model, state, 0.5, scene.dt)
    assert run.q[-1, 0] == pytest.approx(0.5 * rate * 0.5 * (0.5 + scene.dt), rel=1e-9)


def test_loop_starts_closed() -> None:
    model, state = ALL_SCENES["loop"].build()
    run = lw.simulate(model, state, 0.002, 0.002)
    (loop,) = model.elements_of(lw.Loop)
    tip = run.poses[0][-1] @ np.r_[loop.point_a, 1.0]
    np.testing.assert_allclose(tip[:3], loop.point_b, atol=1e-12)


def test_ball_comes_to_rest_on_the_floor() -> None:
    model, state = ALL_SCENES["ball"].build()
    run = lw.simulate(model, state, 0.6, 2e-3)
    assert run.q[0, 2] == 1.0
    assert run.q[-1, 2] == pytest.approx(0.15, abs=1e-3)
    assert run.forces is not None
    assert run.forces[-1, 0] == pytest.approx(0.5 * 9.81, rel=1e-2)


def test_hyper_reduced_chain_bends_evenly_and_its_first_hinge_turns_by_itself() -> None:
    chain, state = ALL_SCENES["hyper_chain"].build(links=12)
    run = lw.simulate(chain, state, 0.2, 2e-3)
    assert np.ptp(run.q[:, 1:], axis=1).max() == 0.0
    assert abs(run.q[-1, 0] - run.q[-1, 1]) > 0.3
    assert (run.health.energy_drift or 1.0) < 0.05
    with pytest.raises(lw.InputError, match="at least 2"):
        ALL_SCENES["hyper_chain"].build(links=1)


def test_net_moves_with_its_arms() -> None:
    model, state = ALL_SCENES["net"].build()
    run = lw.simulate(model, state, 0.2, 1e-3, every=200)
    left, edge = (run.poses[-1][model.body_index(name)] for name in ("left", "net 0 0"))
    assert (left @ [0.6, -0.6, 0.0, 1.0])[:3] == pytest.approx(edge[:3, 3], abs=1e-12)
    assert run.q[-1, model.q_index("left")] > 0.1


def test_unknown_option_names_the_known_ones() -> None:
    with pytest.raises(lw.InputError, match="links"):
        ALL_SCENES["pendulum"].build(joints=3)
    with pytest.raises(lw.InputError, match="it has none"):
        ALL_SCENES["ball"].build(links=3)
