"""Every scene builds and runs; what can be known about its motion is checked."""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw
from linkwork.scenes import ALL_SCENES, Scene
from linkwork.scenes.assembling import corners
from linkwork.scenes.bearing import JOURNAL, SPAN
from linkwork.scenes.gears import top_speed
from linkwork.scenes.helix import DESCENT, RADIUS
from linkwork.scenes.marble import MARBLE, RADII
from linkwork.scenes.scene import CONTACT_METHODS

SMALLER = {
    "plant": {"generations": 2},
    "hair": {"links": 8},
    "chain": {"links": 5},
    "stack": {"boxes": 3},
    "arch": {"stones": 3},
    "dominoes": {"count": 3},
    "wall": {"courses": 2},
    "revolute_chain": {"links": 5},
    "torus_chain": {"links": 3},
    "tori_on_spline": {"links": 3},
    "pile": {"count": 12},
}
STANDING = ("arch",)
STRIKING = ("stack", "grasp", "pile")  # impacts in their first moments take energy
ELSEWHERE = {("windmill", "maximal")}  # slow to compile: tests/physics/test_general_joints.py
RUNS = [(s, method) for s in ALL_SCENES.values() for method in s.methods if (s.name, method) not in ELSEWHERE]


@pytest.mark.parametrize(("scene", "method"), RUNS, ids=lambda x: x.name if isinstance(x, Scene) else x)
def test_runs(scene: Scene, method: str) -> None:
    model, state = scene.build(**SMALLER.get(scene.name, {}))
    inputs = scene.inputs(model) if scene.inputs else None
    steps = max(3, round(0.05 / scene.dt))
    run = lw.simulate(model, state, steps * scene.dt, scene.dt, method, inputs=inputs)
    model = run.model
    health = run.health
    assert health.finite
    assert all(np.isfinite(value) for value in vars(health).values() if isinstance(value, float))
    assert health.energy_drift is not None
    if method == "maximal-implicit":  # loses energy, and closes joints to second order
        assert (health.joint_gap or 0.0) < 2e-3
    else:
        assert health.energy_drift < 0.05 or scene.name in (*STANDING, *STRIKING)
        assert (health.joint_gap or 0.0) < 1e-4
    assert (health.constraint_residual or 0.0) < 1e-4
    assert (health.complementarity or 0.0) < 1e-8
    assert np.allclose(run.q[-1], run.q[0], atol=1e-6) == (scene.name in STANDING), (
        "what should move did not, or what should stand"
    )


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


def test_the_fan_of_the_gears_holds_the_weight_in_the_end() -> None:
    model, state = ALL_SCENES["gears"].build(weight=1.0)
    run = lw.simulate(model, state, 4.0, 1e-2, every=400)
    axles = run.v[-1, :3]
    assert axles[2] == pytest.approx(-top_speed(1.0), rel=0.02)
    np.testing.assert_allclose(axles[1:] / axles[:-1], -3.0, rtol=1e-9)
    assert run.v[-1, 3] == pytest.approx(0.08 * axles[0], rel=1e-9)
    with pytest.raises(lw.InputError, match="weight"):
        ALL_SCENES["gears"].build(weight=-1.0)


def test_rods_assemble_themselves_to_a_tetrahedron() -> None:
    model, state = ALL_SCENES["assembling"].build()
    run = lw.simulate(model, state, 2.5, 1e-2, every=250)
    found: dict[str, list[np.ndarray]] = {}
    for body, E in zip(model.bodies, run.poses[-1], strict=True):
        for corner, x in zip(body.name[-2:], (-0.5, 0.5), strict=True):
            found.setdefault(corner, []).append((E @ [x, 0.0, 0.0, 1.0])[:3])
    assert [len(ends) for ends in found.values()] == [3] * 4
    assert max(np.ptp(ends, axis=0).max() for ends in found.values()) < 1e-3
    at = np.array([np.mean(found[corner], axis=0) for corner in sorted(found)])
    np.testing.assert_allclose(at[0], corners()[0], atol=1e-6)
    distances = np.linalg.norm(at[:, None] - at, axis=2)
    np.testing.assert_allclose(distances, 1.0 - np.eye(4), atol=1e-3)
    assert run.q[0].tolist() == model.neutral().tolist()


def test_the_cradle_hands_on_what_it_gets() -> None:
    """The last ball leaves alone, as the first one came."""
    model, state = ALL_SCENES["cradle"].build()
    run = lw.simulate(model, state, 0.57, 1e-4)
    assert run.q[-1, -1] == pytest.approx(-0.5, rel=0.05)
    assert np.abs(run.q[-1, :-1]).max() < 0.02


def test_the_tripod_slides_as_a_block_does() -> None:
    model, state = ALL_SCENES["slide"].build(slope=20.0, friction=0.2)
    run = lw.simulate(model, state, 0.5, 2e-3)
    a = 9.81 * (np.sin(np.radians(20.0)) - 0.2 * np.cos(np.radians(20.0)))
    assert np.linalg.norm(run.v[-1, 3:6]) == pytest.approx(0.5 * a, rel=1e-4)
    assert np.abs(run.v[-1, 6:]).max() < 1e-9
    model, state = ALL_SCENES["slide"].build(slope=20.0, friction=0.4)
    run = lw.simulate(model, state, 0.5, 2e-3)
    assert np.abs(run.v[-1]).max() < 1e-9


def test_all_dominoes_fall() -> None:
    model, state = ALL_SCENES["dominoes"].build(count=4)
    run = lw.simulate(model, state, 0.6, 2e-3, every=300)
    assert np.abs(run.poses[-1, :, 2, 2]).max() < 0.6


def test_the_tippe_top_turns_over() -> None:
    model, state = ALL_SCENES["tippe_top"].build()
    run = lw.simulate(model, state, 3.0, 5e-4, every=6000)
    assert run.poses[0, 0, 2, 2] > 0.99
    assert run.poses[-1, 0, 2, 2] < -0.9


@pytest.mark.parametrize("method", ["reduced", "maximal", "redmax"])
def test_the_bearing_spins_down_as_long_as_its_friction_says(method: str) -> None:
    """I w / (mu r W (|1/2 + d/l| + |1/2 - d/l|)), to 0.1 %; then it stands."""
    model, state = ALL_SCENES["bearing"].build(spin=10.0)
    inertia = model.bodies[0].inertia
    d = inertia.com[1] / SPAN
    torque = 0.15 * JOURNAL * inertia.mass * 9.81 * (abs(0.5 + d) + abs(0.5 - d))
    lasts = inertia.tensor[1, 1] * 10.0 / torque
    run = lw.simulate(model, state, 3.5, 5e-4, method)
    moving = np.count_nonzero(np.abs(run.v[:, 0]) > 1e-9)
    assert moving * 5e-4 == pytest.approx(lasts, rel=1e-3)
    assert np.abs(run.v[moving:]).max() < 1e-12


def test_the_linkage_with_rubbing_pins_comes_to_rest_and_sticks() -> None:
    model, state = ALL_SCENES["pins"].build(friction=0.6)
    run = lw.simulate(model, state, 9.0, 2e-3, every=10)
    energy = run.energy.total
    assert energy[-1] < energy[0] - 1.0
    assert np.abs(run.v[-20:]).max() < 1e-9
    assert np.abs(np.diff(run.q[-20:], axis=0)).max() < 1e-9
    assert run.health.complementarity is not None
    assert run.health.complementarity < 1e-12


@pytest.mark.parametrize(("axis", "method"), [(0, "reduced"), (1, "reduced"), (0, "maximal")])
def test_the_marble_rolls_to_and_fro_as_the_bowl_is_curved(axis: int, method: str) -> None:
    """Near the bottom w^2 = 5/7 g / (rho - r), with rho = a^2 / c the radius of curvature along each axis."""
    model, _ = ALL_SCENES["marble"].build()
    q, v = np.array([0.0, 0.0, -RADII[2] + MARBLE, 1.0, 0.0, 0.0, 0.0]), np.zeros(6)
    speed = 0.01
    v[3 + axis] = speed
    v[:3] = np.cross([0.0, 0.0, 1.0], v[3:]) / MARBLE
    w = np.sqrt(5.0 / 7.0 * 9.81 / (RADII[axis] ** 2 / RADII[2] - MARBLE))
    run = lw.simulate(model, lw.State(q, v), 1.0, 2.5e-4, method)
    assert np.abs(run.q[:, axis] - speed / w * np.sin(w * run.t)).max() < 0.01 * speed / w


@pytest.mark.parametrize("dt", [2e-3, 1e-3])
@pytest.mark.parametrize("method", CONTACT_METHODS)
def test_the_marble_stays_in_its_bowl_and_keeps_its_energy(method: str, dt: float) -> None:
    """It spins at up to 73 rad/s: gaps and velocity terms are those of a body that turns meanwhile, in the account too."""
    run = lw.simulate(*ALL_SCENES["marble"].build(), 1.0, dt, method)
    energy = run.energy
    assert run.forces is not None
    assert run.forces[1:, 0].min() > 0.0  # it is pressed on the bowl all the time
    assert np.abs(energy.total - energy.total[0]).max() < 15.0 * dt * energy.kinetic.max()
    assert sum(run.account.came_in.values()) < 0.01 * energy.kinetic.max()
    assert run.account.drift < 20.0 * dt
