"""Restitution in steppers that are not made for contact: heights follow e^2, impacts keep momentum, batches are their states."""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw

RADIUS, E, DROP = 0.1, 0.8, 1.0
SECOND_ORDER = [
    ("rk4", "reduced"),
    ("rk4", "maximal"),
    ("rosenbrock", "reduced"),
    ("variational", "reduced"),
    ("variational4", "reduced"),
    ("sdirk2", "reduced"),
    ("bdf2", "reduced"),
    ("bdf2", "redmax"),
]
ALL = [*SECOND_ORDER, ("bdf1", "reduced")]


def bouncing(e: float = E, count: int = 1) -> lw.Model:
    b = lw.ModelBuilder()
    for k in range(count):
        b.body(f"ball{k}", joint=lw.Translational(), inertia=lw.Inertia.sphere(mass=1.0 + k, radius=RADIUS))
        b.add(lw.Contact(f"ball{k}", lw.Sphere(RADIUS), friction=0.0, restitution=e))
    return b.build()


def dropped(stepper: str, method: str, h: float, e: float = E, duration: float = 3.7) -> np.ndarray:
    """The height of a ball that falls from 1 m."""
    run = lw.simulate(bouncing(e), lw.State([0.0, 0.0, RADIUS + DROP], np.zeros(3)), duration, h, method, stepper=stepper)
    return run.poses[:, 0, 2, 3] - RADIUS


def tops(z: np.ndarray) -> np.ndarray:
    """The heights of flights, between steps by parabolas."""
    k = np.flatnonzero((z[1:-1] > z[:-2]) & (z[1:-1] >= z[2:]) & (z[1:-1] > 5e-3)) + 1
    slope, bend = 0.5 * (z[k + 1] - z[k - 1]), z[k + 1] - 2.0 * z[k] + z[k - 1]
    return z[k] - 0.5 * slope**2 / bend


@pytest.mark.parametrize(("stepper", "method"), SECOND_ORDER)
def test_ten_bounces_follow_the_restitution(stepper: str, method: str) -> None:
    """Each height is e^2 of the last; errors fall at least as h^2 does."""
    errors = []
    for h in (2e-3, 1e-3):
        found = tops(dropped(stepper, method, h))[:10]
        assert len(found) == 10
        errors.append(np.abs(found / (DROP * E ** (2.0 * np.arange(1, 11))) - 1.0).max())
    assert errors[1] < 1e-3
    assert errors[1] < 0.4 * errors[0] or errors[1] < 1e-5


def test_implicit_euler_converges_as_h() -> None:
    """Its flights lose energy at first order, and so do its bounces."""
    exact = DROP * E ** (2.0 * np.arange(1, 11))
    errors = [np.abs(tops(dropped("bdf1", "reduced", h))[:10] / exact - 1.0).max() for h in (1e-3, 5e-4, 2.5e-4)]
    assert np.all(np.diff(np.log2(errors)) < -0.9)
    assert errors[-1] < 0.05


@pytest.mark.parametrize(("stepper", "method"), ALL)
def test_energy_does_not_grow(stepper: str, method: str) -> None:
    """Even with e = 1; heights of later flights are those of the first, but for what the flights of implicit methods lose."""
    h = 1e-3
    z = dropped(stepper, method, h, e=1.0)
    found = tops(z)
    assert z.max() <= DROP + 1e-6
    assert np.all(found <= DROP * (1.0 + 1e-6))
    assert np.all(found > DROP * (1.0 - (0.2 if stepper == "bdf1" else 1e-4)))


@pytest.mark.parametrize(("stepper", "method"), ALL)
def test_what_has_bounced_rests(stepper: str, method: str) -> None:
    """After its last flight it stays within a few h^2 g of the floor."""
    h = 2e-3
    z = dropped(stepper, method, h, e=0.5, duration=2.5)
    assert np.abs(z[-100:]).max() < 4.0 * h**2 * 9.81


@pytest.mark.parametrize(("stepper", "method"), ALL)
def test_bodies_that_collide_keep_momentum(stepper: str, method: str) -> None:
    """Two balls, one at rest, free of gravity: v1 = (m1 - e m2) / (m1 + m2), v2 = (1 + e) m1 / (m1 + m2)."""
    b = lw.ModelBuilder(gravity=(0, 0, 0))
    for name, mass in (("a", 1.0), ("b", 3.0)):
        b.body(name, joint=lw.Translational(), inertia=lw.Inertia.sphere(mass=mass, radius=RADIUS))
    b.add(lw.Contact("a", lw.Sphere(RADIUS), "b", lw.Sphere(RADIUS), friction=0.0, restitution=0.6))
    start = lw.State([0.0, 0, 0, 0.5, 0, 0], [1.0, 0, 0, 0, 0, 0])
    run = lw.simulate(b.build(), start, 0.6, 1e-3, method, stepper=stepper)
    moved = (run.poses[-1, :, 0, 3] - run.poses[-101, :, 0, 3]) / 0.1
    np.testing.assert_allclose(moved, [(1.0 - 0.6 * 3.0) / 4.0, 1.6 / 4.0], atol=1e-9)


def test_a_run_that_begins_in_an_impact_bounces() -> None:
    for stepper in ("rk4", "sdirk2", "bdf2", "rosenbrock"):
        run = lw.simulate(bouncing(), lw.State([0.0, 0.0, RADIUS + 1e-4], [0.0, 0.0, -1.0]), 0.05, 1e-3, stepper=stepper)
        assert run.v[5, 2] == pytest.approx(0.8, abs=0.06)


@pytest.mark.parametrize(("stepper", "method"), ALL)
def test_batches_are_their_states_to_the_bit(stepper: str, method: str) -> None:
    model = bouncing(count=2)
    q = np.array([[0, 0, 0.3 + 0.01 * k, 1, 0, 0.2 + 0.02 * k] for k in range(5)])
    together = lw.simulate(model, lw.State(q, np.zeros((5, 6))), 0.6, 2e-3, method, stepper=stepper)
    for k in range(5):
        alone = lw.simulate(model, lw.State(q[k], np.zeros(6)), 0.6, 2e-3, method, stepper=stepper)
        np.testing.assert_array_equal(together.poses[k], alone.poses)


def test_loops_hold_in_impacts() -> None:
    """A four-bar that strikes the floor: the loop stays closed, and energy does not grow."""
    b = lw.ModelBuilder()
    rod = lw.Inertia.cuboid(mass=1.0, size=(0.5, 0.05, 0.05), com=(0.25, 0, 0))
    for name, x in (("left", 0.0), ("right", 0.4)):
        b.body(name, joint=lw.Revolute((0, 1, 0)), placement=lw.SE3(p=(x, 0, 0.3)), inertia=rod)
    b.body("bar", parent="left", joint=lw.Revolute((0, 1, 0)), placement=lw.SE3(p=(0.5, 0, 0)), inertia=rod)
    b.add(lw.Loop("bar", "right", (0.4, 0, 0), (0.5, 0, 0)))
    b.add(lw.Contact("right", lw.Sphere(0.05, (0.5, 0, 0)), friction=0.0, restitution=0.7))
    model = b.build()
    run = lw.simulate(model, lw.State([0.0, 0.0, 0.0], np.zeros(3)), 1.0, 1e-3, stepper="rk4", stabilise="project")
    energy = run.energy.total
    assert np.diff(energy).max() < 1e-4
    assert energy[-1] < energy[0] - 0.1
    assert run.health.penetration is not None
    assert run.health.penetration < 1e-4


@pytest.mark.parametrize("stepper", ["rk4", "rosenbrock", "variational", "bdf2"])
def test_derivatives_of_a_bounce(stepper: str) -> None:
    """Against differences of steps in which the ball parts."""
    model, q, v, h = bouncing(), np.array([0.0, 0.0, RADIUS + 4e-4]), np.array([0.3, 0.0, -1.0]), 1e-3

    def after(q: np.ndarray, v: np.ndarray) -> np.ndarray:
        end = lw.simulate(model, lw.State(q, v), h, h, stepper=stepper)
        return np.concatenate([end.q[-1], end.v[-1]])

    found = lw.step_derivatives(model, lw.State(q, v), h, stepper=stepper)[0]
    steps = 1e-6 * np.eye(6)
    differences = [(after(q + d[:3], v + d[3:]) - after(q - d[:3], v - d[3:])) / 2e-6 for d in steps]
    assert after(q, v)[5] > 0.7
    np.testing.assert_allclose(found, np.array(differences).T, atol=1e-6)
