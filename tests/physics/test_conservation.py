"""What the simplest stepper keeps, and how fast it approaches what it does not: energy, momentum, periods, both formulations."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from models import JOINTS, PLACED, PLACEMENTS, random_forces, random_inertia, random_state, random_tree, relative
from scipy.special import ellipk

import linkwork as lw

METHODS = pytest.mark.parametrize("method", ["reduced", "maximal"])
EULER = "symplectic_euler"


def pendulum(links: int) -> lw.Model:
    """A chain of rods of one metre, hanging, each on a hinge about y."""
    b = lw.ModelBuilder(gravity=(0, 0, -9.81))
    for i in range(links):
        b.body(
            f"l{i}",
            parent=f"l{i - 1}" if i else "world",
            joint=lw.Revolute((0, 1, 0)),
            placement=lw.SE3(p=(0, 0, -1.0 if i else 0.0)),
            inertia=lw.Inertia.cuboid(1.0, (0.1, 0.1, 1.0), com=(0, 0, -0.5)),
        )
    return b.build()


def tumbling() -> tuple[lw.Model, lw.State]:
    """A free body without gravity whose origin is not its centre of mass."""
    b = lw.ModelBuilder(gravity=(0, 0, 0))
    b.body("b", joint=lw.Free(), inertia=lw.Inertia.cuboid(1.0, (0.3, 0.5, 0.9), com=(0.1, 0.05, -0.2)))
    m = b.build()
    return m, lw.State(m.neutral(), [1.0, 2.0, -1.5, 0.5, -0.3, 0.8])


def swinging_tree() -> tuple[lw.Model, lw.State]:
    m = random_tree(11, 5, ["y", "oblique", "spherical", "z", "-x"])
    return m, random_state(m, 11)


def bodies(run: lw.Trajectory) -> lw.MaximalState:
    """Poses and twists of a run of either kind."""
    if run.kind == "maximal":
        return lw.MaximalState(run.arrays["poses"], run.arrays["twists"], run.arrays["q_fit"])
    k = lw.kinematics(run.model, run.q, run.v)
    return lw.MaximalState(k.poses, k.twists, run.q)


def momenta(run: lw.Trajectory) -> tuple[np.ndarray, np.ndarray]:
    """Linear and angular momentum about the world's origin, (T, 3) each."""
    s = bodies(run)
    linear, angular = np.zeros((len(run), 3)), np.zeros((len(run), 3))
    for i, body in enumerate(run.model.bodies):
        R, p = s.poses[:, i, :3, :3], s.poses[:, i, :3, 3]
        w, u = s.twists[:, i, :3], s.twists[:, i, 3:]
        com, m = body.inertia.com, body.inertia.mass
        f = np.einsum("tij,tj->ti", R, m * (u + np.cross(w, com)))
        spin = np.einsum("tij,tj->ti", R, w @ body.inertia.tensor.T)
        linear += f
        angular += spin + np.cross(p + R @ com, f)
    return linear, angular


def slope(steps: list[float], errors: list[float]) -> float:
    return float(np.polyfit(np.log(steps), np.log(errors), 1)[0])


def same(a: dict[str, np.ndarray], b: dict[str, np.ndarray]) -> bool:
    assert set(a) == set(b)
    assert all(np.all(np.isfinite(x)) for x in a.values())
    return all(np.array_equal(a[k], b[k]) for k in a)


# --- energy ------------------------------------------------------------------------------------------------------------
@METHODS
@pytest.mark.parametrize("links", [1, 2, 3])
def test_energy_error_is_of_first_order(method: str, links: int) -> None:
    m = pendulum(links)
    state = lw.State(np.linspace(0.7, 0.4, links), np.zeros(links))
    steps, errors = [4e-3, 2e-3, 1e-3, 5e-4], []
    for dt in steps:
        run = lw.simulate(m, state, 2.0, dt, method, stepper=EULER)
        e = run.energy.total
        errors.append(np.abs(e - e[0]).max() / np.ptp(run.energy.potential))
    assert abs(slope(steps, errors) - 1.0) < 0.15
    assert errors[-1] < 2e-3


def test_energy_error_of_a_pendulum_is_bounded() -> None:
    """Three hundred swings: the last is as good as the first. The inertia does not depend on q, so the step is symplectic."""
    run = lw.simulate(pendulum(1), lw.State([1.0], [0.0]), 600.0, 2e-3, stepper=EULER)
    error = np.abs(run.energy.total - run.energy.total[0])[:-1].reshape(100, -1).max(axis=1)
    assert error.max() < 1.001 * error[0]
    assert error.max() < 5e-3 * np.ptp(run.energy.potential)


def test_energy_error_of_a_double_pendulum_is_bounded_in_maximal_coordinates() -> None:
    """A minute of swings: the last quarter is nearly as good as the first.

    In reduced coordinates v' = v + h a(q, v) is symplectic only where the mass matrix is constant; there energy drifts.
    """
    run = lw.simulate(pendulum(2), lw.State([0.7, 0.7], [0.0, 0.0]), 64.0, 1e-3, "maximal", stepper=EULER, every=4)
    error = np.abs(run.energy.total - run.energy.total[0])[:-1].reshape(4, -1).max(axis=1)
    assert error[-1] < 1.3 * error[0]


@METHODS
def test_the_energy_of_a_tree_changes_by_the_work_of_its_forces(method: str) -> None:
    """dE = (tau - damping v) v dt, to first order; the drives' own inertia counts as kinetic energy."""
    m, state = swinging_tree()
    tau, _ = random_forces(m, 3)
    armature, damping = (np.concatenate([getattr(b.properties, k) for b in m.bodies]) for k in ("armature", "damping"))
    assert armature.any()
    assert damping.any()
    steps, errors = [2e-3, 1e-3, 5e-4], []
    for dt in steps:
        run = lw.simulate(m, state, 0.5, dt, method, stepper=EULER, tau=0.3 * tau)
        e = run.energy.total
        power = np.sum((0.3 * tau - damping * run.v) * run.v, axis=-1)
        work = np.concatenate([[0.0], np.cumsum(0.5 * dt * (power[1:] + power[:-1]))])
        errors.append(np.abs(e - e[0] - work).max())
    assert abs(slope(steps, errors) - 1.0) < 0.15


# --- momentum ----------------------------------------------------------------------------------------------------------
@METHODS
def test_momentum_of_a_free_body(method: str) -> None:
    """The linear one is kept exactly, the angular one to the order of the stepper: what remains extrapolates to nothing."""
    m, state = tumbling()
    steps = [4e-3, 2e-3, 1e-3, 5e-4]
    runs = [momenta(lw.simulate(m, state, 2.0, dt, method, stepper=EULER)) for dt in steps]
    for k in range(2):
        kept = runs[0][k][0]
        errors = [relative(x[k], 0 * x[k] + kept) for x in runs]
        if k == 0:
            assert max(errors) < 1e-12
            continue
        assert abs(slope(steps, errors) - 1.0) < 0.15
        assert relative(2.0 * runs[-1][k][-1] - runs[-2][k][-1], kept) < 2e-4


@pytest.mark.parametrize("method", ["reduced", "maximal", "maximal-implicit", "redmax"])
@pytest.mark.parametrize("spin", [20.0, 700.0])
def test_a_ball_flies_straight_however_fast_it_spins(method: str, spin: float) -> None:
    """Up to 3.5 rad a step. Velocities in axes of the body turn by as much."""
    b = lw.ModelBuilder(gravity=(0, 0, 0)).body("ball", joint=lw.Free(), inertia=lw.Inertia.sphere(2.0, 0.1))
    run = lw.simulate(b.build(), lw.State([0, 0, 0, 1, 0, 0, 0], [0, spin, 0, 3.0, 0, 1.0]), 5.0, 5e-3, method)
    assert np.abs(run.poses[:, 0, :3, 3] - np.outer(run.t, (3.0, 0, 1.0))).max() < 1e-9
    assert np.ptp(run.energy.total) < 1e-9 * run.energy.total[0]


@METHODS
def test_momentum_of_falling_bodies(method: str) -> None:
    """Gravity adds m g t to the momentum of a tree that floats, whatever its joints do."""
    rng = np.random.default_rng(2)
    b = lw.ModelBuilder(gravity=rng.normal(size=3))
    for i, (kind, parent) in enumerate((("free", "world"), ("spherical", "b0"), ("oblique", "b1"), ("helix", "b1"))):
        placement = PLACEMENTS[PLACED[kind][0]](rng)
        b.body(f"b{i}", parent=parent, joint=JOINTS[kind](rng), placement=placement, inertia=random_inertia(rng))
    m = b.build()
    state = random_state(m, 2)
    total = sum(body.inertia.mass for body in m.bodies)
    steps, errors = [2e-3, 1e-3, 5e-4], []
    for dt in steps:
        run = lw.simulate(m, state, 0.5, dt, method, stepper=EULER)
        linear, _ = momenta(run)
        errors.append(np.abs(linear - linear[0] - total * np.outer(run.t, m.gravity)).max())
    if method == "maximal":
        assert max(errors) < 1e-12
    else:
        assert abs(slope(steps, errors) - 1.0) < 0.15


@METHODS
def test_a_ball_keeps_its_spin_exactly(method: str) -> None:
    """Spherical inertia, origin at the centre of mass, no gravity: the angular velocity is a constant of the step."""
    b = lw.ModelBuilder(gravity=(0, 0, 0)).body("b", joint=lw.Free(), inertia=lw.Inertia.sphere(2.0, 0.3))
    m = b.build()
    run = lw.simulate(m, lw.State(m.neutral(), [1.0, -2.0, 0.5, 0, 0, 0]), 1.0, 1e-3, method, stepper=EULER)
    linear, angular = momenta(run)
    assert np.abs(linear).max() < 1e-14
    assert relative(angular, 0 * angular + angular[0]) < 1e-12


# --- against the analytic solution -------------------------------------------------------------------------------------
@METHODS
@pytest.mark.parametrize("amplitude", [0.1, 1.0, 2.5])
def test_period_of_the_pendulum(method: str, amplitude: float) -> None:
    """T = 4 sqrt(J / m g c) K(sin^2(amplitude / 2)), measured between zero crossings."""
    m = pendulum(1)
    inertia = m.bodies[0].inertia
    J, weight = inertia.about_origin[1, 1], inertia.mass * 9.81 * 0.5
    expected = 4.0 * np.sqrt(J / weight) * ellipk(np.sin(amplitude / 2) ** 2)
    duration = round(1.6 * expected, 2)
    errors = []
    for dt in (2e-3, 1e-3):
        run = lw.simulate(m, lw.State([amplitude], [0.0]), duration, dt, method, stepper=EULER)
        x, t = run.q[:, 0], run.t
        k = np.flatnonzero((x[:-1] > 0) & (x[1:] <= 0))
        crossings = t[k] + dt * x[k] / (x[k] - x[k + 1])
        assert len(crossings) == 2
        errors.append(abs(crossings[1] - crossings[0] - expected) / expected)
    assert errors[1] < 1e-5
    assert errors[1] < 0.3 * errors[0] + 1e-7  # for this integrator the period is of second order


@METHODS
def test_free_fall(method: str) -> None:
    """v after n steps is exactly g n h, the height that of the discrete sum."""
    b = lw.ModelBuilder(gravity=(0, 0, -9.81)).body("b", joint=lw.Free(), inertia=lw.Inertia.sphere(2.0, 0.3))
    m = b.build()
    run = lw.simulate(m, lw.State(m.neutral(), np.zeros(6)), 1.0, 1e-2, method, stepper=EULER)
    n = np.arange(101)
    assert np.abs(run.v[:, 5] + 9.81 * 1e-2 * n).max() < 1e-12
    assert np.abs(run.q[:, 2] + 9.81 * 1e-4 * n * (n + 1) / 2).max() < 1e-12


# --- one program, many ways to run it ----------------------------------------------------------------------------------
@pytest.mark.parametrize("links", [2, 3])
def test_both_formulations_converge_to_one_motion(links: int) -> None:
    m = pendulum(links)
    state = lw.State(np.linspace(0.9, 0.5, links), np.zeros(links))
    steps, gaps = [4e-3, 2e-3, 1e-3, 5e-4], []
    for dt in steps:
        runs = [lw.simulate(m, state, 0.4, dt, method, stepper=EULER) for method in ("reduced", "maximal")]
        gaps.append(np.abs(runs[0].poses[-1] - runs[1].poses[-1]).max())
    assert slope(steps, gaps) > 0.85
    assert gaps[-1] < 5e-3


def test_both_formulations_converge_on_a_tree() -> None:
    m, state = swinging_tree()
    tau, external = random_forces(m, 4)
    steps, gaps = [2e-3, 1e-3, 5e-4, 2.5e-4], []
    for dt in steps:
        forces = {"tau": 0.3 * tau, "external": 0.1 * external}
        runs = [lw.simulate(m, state, 0.2, dt, method, stepper=EULER, **forces) for method in ("reduced", "maximal")]
        gaps.append(np.abs(runs[0].poses[-1] - runs[1].poses[-1]).max())
    assert slope(steps, gaps) > 0.85
    assert gaps[-1] < 1e-2


@METHODS
@pytest.mark.parametrize("every", [1, 5])
def test_a_constant_controller_equals_constant_forces(method: str, every: int) -> None:
    m, state = swinging_tree()
    tau, external = random_forces(m, 5)
    seen: list[float] = []

    def control(t: float, now: Any) -> np.ndarray:
        seen.append(t)
        assert isinstance(now, lw.State if method == "reduced" else lw.MaximalState)
        return tau

    options: dict[str, Any] = {"external": external, "every": every, "stepper": EULER}
    told = lw.simulate(m, state, 0.1, 1e-3, method, control=control, **options)
    given = lw.simulate(m, state, 0.1, 1e-3, method, tau=tau, **options)
    assert same(told.arrays, given.arrays)
    assert np.allclose(seen, 1e-3 * np.arange(100), rtol=0, atol=1e-12)
    assert np.array_equal(told.t, given.t)
    assert np.array_equal(told.tau[:-1], given.tau[:-1])


@METHODS
@pytest.mark.parametrize("every", [2, 5, 50])
def test_recording_less_changes_nothing(method: str, every: int) -> None:
    m, state = swinging_tree()
    full = lw.simulate(m, state, 0.1, 1e-3, method, stepper=EULER)
    some = lw.simulate(m, state, 0.1, 1e-3, method, stepper=EULER, every=every)
    assert len(full) == 101
    assert np.array_equal(some.t, full.t[::every])
    assert same(some.arrays, {k: x[::every] for k, x in full.arrays.items()})


@METHODS
@pytest.mark.parametrize("threads", [1, 2])
def test_a_batch_equals_its_members(method: str, threads: int) -> None:
    m, _ = swinging_tree()
    states = [random_state(m, seed) for seed in range(11)]
    tau = np.array([random_forces(m, seed)[0] for seed in range(11)])
    batch = lw.State(np.array([s.q for s in states]), np.array([s.v for s in states]))
    many = lw.simulate(m, batch, 0.05, 1e-3, method, stepper=EULER, tau=tau, every=10, threads=threads)
    for k, state in enumerate(states):
        one = lw.simulate(m, state, 0.05, 1e-3, method, stepper=EULER, tau=tau[k], every=10)
        assert same({key: x[k] for key, x in many.arrays.items()}, one.arrays)


@METHODS
def test_a_run_can_be_continued(method: str) -> None:
    """Half a run, then the rest from its last state: the same as the whole."""
    m, state = swinging_tree()
    whole = lw.simulate(m, state, 0.1, 1e-3, method, stepper=EULER)
    half = lw.simulate(m, state, 0.05, 1e-3, method, stepper=EULER)
    rest = lw.simulate(m, half.final, 0.05, 1e-3, method, stepper=EULER)
    assert same(rest.arrays, {k: x[50:] for k, x in whole.arrays.items()})
    assert np.abs(rest.t - whole.t[50:]).max() < 1e-12
    assert same(lw.simulate(m, state, 0.1, 1e-3, method, stepper=EULER).arrays, whole.arrays)
