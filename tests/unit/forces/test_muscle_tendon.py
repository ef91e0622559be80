"""Muscles with elastic tendons: equilibrium, the limit of stiff tendons, fibres that move, and the drive of a simulation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

import linkwork as lw
from linkwork.forces.muscle_tendon import implicit_root
from linkwork.spatial.dual import Dual

POINTS = [("world", (0, 0, 0)), ("a", (0, 0, 0))]


def slider(*muscles: lw.Muscle) -> lw.Model:
    b = lw.ModelBuilder(gravity=(0, 0, 0))
    b.body("a", joint=lw.Prismatic((0, 0, 1)), inertia=lw.Inertia(2.0, tensor=np.eye(3)))
    for m in muscles:
        b.add(m)
    return b.build()


def random_muscle(rng: np.random.Generator, kind: type = lw.ElasticMuscle) -> Any:
    optimal, tendon = rng.uniform(0.02, 0.4), np.exp(rng.uniform(np.log(0.01), np.log(0.5)))
    curve = lw.tendon_curve(rng.choice([0.033, 0.049, 0.1]))
    return kind(POINTS, 1000.0, optimal, tendon, pennation=rng.uniform(0, 0.6), tendon=curve)


@pytest.mark.parametrize("seed", range(40))
def test_fibres_and_tendon_are_in_equilibrium(seed: int) -> None:
    rng = np.random.default_rng(seed)
    m = random_muscle(rng)
    length = m.tendon_length + m.optimal_length * rng.uniform(0.02, 1.9)
    rate, a = m.optimal_length * rng.uniform(-13, 13), rng.choice([0.0, 1e-6, 0.01, rng.uniform(0, 1)])
    along = m.settled(length, rate, a)
    assert m.tendon_pull(length, along) == pytest.approx(m.pull(along, rate, a), abs=1e-11)
    assert m.tension(length, rate, 0.0, np.array([a])) == pytest.approx(1000.0 * m.pull(along, rate, a), abs=1e-8)


def test_compiled_muscles_are_in_equilibrium() -> None:
    rng = np.random.default_rng(1)
    muscles = [random_muscle(rng) for _ in range(20)]
    model = slider(*muscles)
    for length in (0.3, 0.45, 0.6):
        u, v = rng.uniform(0, 1, 20), rng.normal(size=1)
        s = lw.muscle_states(model, [length], v, u=u)
        for m, a, tension, fibre in zip(muscles, u, s.tension, s.fibre_length, strict=True):
            along = np.sqrt(fibre**2 - m.thickness**2)
            slack = length < m.tendon_length + m.shortest()
            assert tension == pytest.approx(1000.0 * m.tendon_pull(length, along), rel=1e-9, abs=1e-8)
            assert slack or tension == pytest.approx(1000.0 * m.pull(along, v[0], a), rel=1e-9, abs=1e-7)


@pytest.mark.parametrize(("strain", "tolerance"), [(1e-2, 0.05), (1e-4, 5e-4), (1e-6, 1e-5)])
def test_a_stiff_tendon_is_rigid(strain: float, tolerance: float) -> None:
    rigid = lw.Muscle(POINTS, 800.0, 0.2, 0.1, pennation=0.2)
    stiff = lw.ElasticMuscle(POINTS, 800.0, 0.2, 0.1, pennation=0.2, tendon=lw.tendon_curve(strain))
    for l, rate, a in ((0.3, 0.1, 0.5), (0.35, -0.4, 1.0), (0.4, 0.0, 0.0)):
        u = np.array([a])
        assert stiff.tension(l, rate, 0.0, u) == pytest.approx(rigid.tension(l, rate, 0.0, u), rel=tolerance)


def test_elastic_energy_is_the_work_of_passive_stretching() -> None:
    m = lw.ElasticMuscle(POINTS, 800.0, 0.1, 0.3, pennation=0.3, tendon=lw.tendon_curve(0.08))
    l = np.linspace(0.35, 0.55, 801)
    forces = lw.force_set(slider(m))
    poses = np.array([[np.asarray(lw.SE3(p=(0, 0, x)).matrix, float)] for x in l])
    stored = forces.energies(poses, np.zeros((801, 1, 6)))[:, 0]
    pull = -forces.wrenches(poses, np.zeros((801, 1, 6)))[:, 0, 5]
    np.testing.assert_allclose(stored - stored[0], np.r_[0, np.cumsum(0.5 * (pull[1:] + pull[:-1]) * np.diff(l))], atol=2e-4)
    assert stored[-1] > 5.0


# --- fibres with a length of their own ----------------------------------------------------------------------------------------
@pytest.mark.parametrize("seed", range(20))
def test_fibres_move_so_that_they_pull_as_the_tendon(seed: int) -> None:
    rng = np.random.default_rng(seed)
    m = random_muscle(rng, lw.FibreMuscle)
    fibre, a = m.optimal_length * rng.uniform(0.75, 1.5), rng.uniform(0, 1)
    along = m.along(fibre)
    length = along + m.tendon_length * (1 + m.toe_strain * rng.uniform(-0.5, 1.8))
    rate = m.fibre_rate(length, a, fibre)
    v, l = rate / (m.optimal_length * m.max_velocity), fibre / m.optimal_length
    force = (a * m.active(l) * m.velocity(v) + m.passive(l) + m.damping * v) * along / fibre
    assert force == pytest.approx(m.tendon_pull(length, along), abs=1e-10)
    assert m.tension(length, 0.0, 0.0, np.array([a, fibre])) == pytest.approx(1000.0 * m.tendon_pull(length, along), rel=1e-14)
    stepped = m.fibre_step(length, a, fibre, 1e-8)
    assert (stepped - fibre) / 1e-8 == pytest.approx(rate, rel=1e-2, abs=1e-3 * m.optimal_length * m.max_velocity)


def test_resting_fibres_stay() -> None:
    m = lw.FibreMuscle(POINTS, 800.0, 0.1, 0.2, pennation=0.1)
    for length, a in ((0.3, 0.4), (0.33, 1.0), (0.36, 0.0)):
        fibre = m.resting(length, a)
        assert m.fibre_rate(length, a, fibre) == pytest.approx(0.0, abs=1e-9)
        assert m.fibre_step(length, a, fibre, 0.1) == pytest.approx(fibre, abs=1e-12)


def test_steps_of_fibres_converge_at_first_order() -> None:
    m = lw.FibreMuscle(POINTS, 800.0, 0.1, 0.2)
    length, a, start, end = 0.31, 0.7, 0.1, 0.02
    right = solve_ivp(lambda t, x: m.fibre_rate(length, a, x[0]), (0, end), [start], method="LSODA", rtol=1e-10, atol=1e-13).y[
        0, -1
    ]
    errors = []
    for n in (20, 40, 80):
        fibre = start
        for _ in range(n):
            fibre = m.fibre_step(length, a, fibre, end / n)
        errors.append(abs(fibre - right))
    assert errors[-1] < 1e-5
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert np.all((orders > 0.8) & (orders < 1.2))


def test_derivatives_of_an_implicit_root() -> None:
    """x^3 + p x = s: dx = (ds - x dp) / (3 x^2 + p)."""
    p, s = Dual(2.0, (1.0, 0.0)), Dual(5.0, (0.0, 1.0))
    x = implicit_root(lambda x, p, s: s - x * x * x - p * x, (p, s), -10.0, 10.0, 0.0)
    right = brentq(lambda x: x**3 + 2 * x - 5, 0, 2, xtol=1e-15)
    np.testing.assert_allclose([x.x, *x.grad], [right, -right / (3 * right**2 + 2), 1 / (3 * right**2 + 2)], rtol=1e-13)


# --- the drive ----------------------------------------------------------------------------------------------------------------
def test_drive_follows_activation_dynamics_and_fibres() -> None:
    rigid = lw.Muscle(POINTS, 800.0, 0.2, 0.1, activation=0.1)
    timed = lw.FibreMuscle(POINTS, 800.0, 0.1, 0.2, activation=lw.Schedule((0, 1), (0.3, 0.3)))
    driven = lw.FibreMuscle(POINTS, 500.0, 0.1, 0.2, activation=0.2)
    model, law = slider(rigid, timed, driven), lw.ActivationDynamics(0.02, 0.04)
    drive = lw.MuscleDrive(model, [1.0, 0.0, 0.5], law)
    states = [lw.State(q=np.array([0.3 + 0.01 * k]), v=np.zeros(1)) for k in range(4)]
    u = [drive(0.01 * k, state) for k, state in enumerate(states)]
    a, b = law.response(np.ones(3), 0.01, 0.1), law.response(np.full(3, 0.5), 0.01, 0.2)
    np.testing.assert_allclose([x[0] for x in u], a, atol=1e-15)
    np.testing.assert_allclose([x[2] for x in u], b, atol=1e-15)
    assert u[0][1] == pytest.approx(timed.resting(0.3, 0.3), abs=1e-13)
    assert u[1][1] == pytest.approx(timed.fibre_step(0.31, 0.3, u[0][1], 0.01), abs=1e-13)
    assert u[3][3] == pytest.approx(driven.fibre_step(0.33, b[3], u[2][3], 0.01), abs=1e-13)
    np.testing.assert_array_equal(drive(0.03, states[3]), u[3])  # no time has passed
    with pytest.raises(lw.InputError, match=r"reset\(\)"):
        drive(0.0, states[0])
    drive.reset()
    np.testing.assert_array_equal(drive(0.0, states[0]), u[0])


def test_drive_takes_schedules_and_maximal_states() -> None:
    model = slider(lw.Muscle(POINTS, 800.0, 0.2, 0.1), lw.FibreMuscle(POINTS, 800.0, 0.1, 0.2))
    schedule = lw.Schedule((0.0, 0.1), [(0.0, 0.2), (1.0, 0.2)])
    state = lw.State(q=np.array([0.3]), v=np.zeros(1))
    one, other = (lw.MuscleDrive(model, schedule) for _ in range(2))
    for t in (0.0, 0.05, 0.1):
        np.testing.assert_allclose(one(t, state), other(t, lw.to_maximal(model, state)), atol=1e-14)
    assert one.activation[0] == pytest.approx(lw.ActivationDynamics().response([0.0, 0.5], 0.05)[-1])


def test_bad_drives_are_refused() -> None:
    model = slider(lw.Muscle(POINTS, 800.0, 0.2, 0.1))
    state = lw.State(q=np.array([0.3]), v=np.zeros(1))
    for e in ([0.1, 0.2], [1.5], [np.nan]):
        with pytest.raises(lw.InputError, match="excitations must be 1 numbers from 0 to 1"):
            lw.MuscleDrive(model, e)(0.0, state)
    with pytest.raises(lw.InputError, match="one state"):
        lw.MuscleDrive(model, 0.5)(0.0, lw.State(q=np.full((3, 1), 0.3), v=np.zeros((3, 1))))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: lw.ElasticMuscle(POINTS, 1.0, 1.0, 0.0), "tendon_length must be above 0"),
        (lambda: lw.ElasticMuscle(POINTS, 1.0, 1.0, 1.0, tendon=3), "tendon must be a curve"),
        (lambda: lw.ElasticMuscle(POINTS, 1.0, 1.0, 1.0, tendon=lambda x: x), "0 at the length 1"),
        (lambda: lw.ElasticMuscle(POINTS, 1.0, 1.0, 1.0, tendon=lambda x: 0.1 * (x - 1.0)), "rise above"),
        (lambda: lw.FibreMuscle(POINTS, 1.0, 1.0, 1.0, damping=0.0), "damping must be above 0"),
    ],
)
def test_bad_tendons_are_refused(make: Any, message: str) -> None:
    with pytest.raises(lw.ModelError, match=message):
        make()
