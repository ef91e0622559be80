"""Stops, contacts and dry friction in implicit steps: bodies land, rest, slide and stop where they must, at any step."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import linkwork as lw

IMPLICIT = ("bdf1", "bdf2", "sdirk2")
STEPPERS = ("rosenbrock", *IMPLICIT)
G = 9.81
BALL = lw.Inertia.sphere(mass=2.0, radius=0.1)
ROD = lw.Inertia.cuboid(mass=1.0, size=(0.5, 0.05, 0.05), com=(0.25, 0, 0))


def ball(*laws: Any) -> lw.Model:
    """It moves up and down above a plane."""
    b = lw.ModelBuilder().body("ball", joint=lw.Prismatic((0, 0, 1)), inertia=BALL)
    b.add(lw.Contact("ball", lw.Sphere(0.1), shape_b=lw.Plane((0, 0, -0.1), (0, 0, 1))))
    for law in laws:
        b.add(law)
    return b.build()


def chain(links: int, *laws: Any) -> lw.Model:
    """Hinges about y, which begin horizontal."""
    b, parent, place = lw.ModelBuilder(), "world", lw.SE3()
    for i in range(links):
        b.body(f"l{i}", parent=parent, joint=lw.Revolute((0, 1, 0)), placement=place, inertia=ROD)
        parent, place = f"l{i}", lw.SE3(p=(0.5, 0, 0))
    for law in laws:
        b.add(law)
    return b.build()


@pytest.mark.parametrize("dt", [1e-3, 1e-2, 0.03])
@pytest.mark.parametrize("stepper", STEPPERS)
def test_a_ball_lands_and_stays(stepper: str, dt: float) -> None:
    """It never comes back up by more than a step makes, and weighs what it weighs."""
    steps = int(1.5 / dt)
    run = lw.simulate(ball(), lw.State([1.0], [0.0]), steps * dt, dt, stepper=stepper)
    landed = run.t > np.sqrt(2.0 / G) + (20 if stepper == "rosenbrock" else 5) * dt
    assert np.abs(run.q[landed]).max() < G * dt**2
    assert np.abs(run.v[landed]).max() < G * dt
    assert np.abs(run.forces[landed] - 2.0 * G).max() < 1e-9
    assert run.forces.min() >= 0.0
    if stepper != "rosenbrock":
        assert np.abs(run.q[landed]).max() < 1e-12
        assert np.abs(run.v[landed]).max() < 1e-11
    impulse = run.forces.sum() * dt
    assert impulse == pytest.approx(2.0 * G * run.t[-1], rel=0.02 + dt)


@pytest.mark.parametrize("stepper", ["bdf2", "sdirk2"])
def test_the_order_is_kept_while_things_rest(stepper: str) -> None:
    """A ball lies on the ground under a spring, and a pendulum swings beside it: nothing strikes."""
    b = lw.ModelBuilder().body("ball", joint=lw.Prismatic((0, 0, 1)), inertia=BALL)
    b.body("rod", joint=lw.Revolute((0, 1, 0)), inertia=ROD)
    b.add(lw.Contact("ball", lw.Sphere(0.1), shape_b=lw.Plane((0, 0, -0.1), (0, 0, 1))))
    model, start = b.build(), lw.State(np.zeros(2), np.zeros(2))
    alone = lw.simulate(chain(1), lw.State(np.zeros(1), np.zeros(1)), 0.5, 0.5, stepper="dop853", rtol=1e-12, atol=1e-13).q[-1]
    runs = [lw.simulate(model, start, 0.5, dt, stepper=stepper) for dt in (0.01, 0.005)]
    errors = [abs(run.q[-1, 1] - alone[0]) for run in runs]
    assert 3.0 < errors[0] / errors[1] < 5.0
    assert np.abs(runs[0].q[:, 0]).max() < 1e-12


@pytest.mark.parametrize("stepper", STEPPERS)
def test_stops_take_energy_only(stepper: str) -> None:
    """A chain of three falls into its stops, with large steps, from many states."""
    laws = [lw.Limit(f"l{i}", -0.4, 0.3) for i in range(3)]
    rng = np.random.default_rng(1)
    start = lw.State(rng.uniform(-0.35, 0.25, (9, 3)), rng.normal(size=(9, 3)))
    run = lw.simulate(chain(3, *laws), start, 2.0, 5e-3, stepper=stepper)
    total = run.energy.total
    assert (total.max(axis=1) - total[:, 0]).max() < 0.05 * np.ptp(total)
    if stepper != "rosenbrock":
        assert run.health.limits < 1e-9
    assert run.forces.min() >= 0.0
    assert run.forces.max() > 1.0


@pytest.mark.parametrize("stepper", STEPPERS)
def test_a_run_that_begins_beyond_a_stop_is_led_back_slowly(stepper: str) -> None:
    run = lw.simulate(chain(1, lw.Limit("l0", -1.0, 0.3)), lw.State([0.6], [0.0]), 2.0, 2e-3, stepper=stepper)
    assert np.abs(run.v).max() < 1.01
    assert run.q[-1, 0] == pytest.approx(0.3, abs=1e-4)


@pytest.mark.parametrize("stepper", STEPPERS)
def test_a_slider_stops(stepper: str) -> None:
    """After v^2 / 2a, to the order of the method, and stays there."""
    b = lw.ModelBuilder().body("slider", joint=lw.Prismatic((1, 0, 0)), inertia=BALL)
    model = b.add(lw.DryFriction("slider", 6.0)).build()
    run = lw.simulate(model, lw.State([0.0], [1.0]), 1.0, 1e-3, stepper=stepper)
    assert run.q[-1, 0] == pytest.approx(1.0 / 6.0, abs=6e-4 if stepper == "bdf1" else 1e-5)
    assert abs(run.v[-1, 0]) < 1e-12
    assert np.abs(run.forces).max() <= 6.0 + 1e-9


@pytest.mark.parametrize("stepper", STEPPERS)
def test_friction_holds_a_stiff_joint(stepper: str) -> None:
    """A spring that pulls with less than the friction moves nothing; with more, it does."""
    pull = [lw.JointSpring("l0", 1e4, rest=[1e-3]), lw.DryFriction("l0", 20.0)]
    held = lw.simulate(chain(1, *pull), lw.State([0.0], [0.0]), 0.2, 5e-3, stepper=stepper)
    assert np.abs(held.q).max() < 1e-9
    moved = lw.simulate(chain(1, pull[0], lw.DryFriction("l0", 2.0)), lw.State([0.0], [0.0]), 0.2, 5e-3, stepper=stepper)
    assert np.abs(moved.q).max() > 1e-4


@pytest.mark.parametrize("method", ["reduced", "redmax"])
@pytest.mark.parametrize("stepper", IMPLICIT)
def test_a_loop_that_strikes_stays_closed(stepper: str, method: str) -> None:
    laws = [lw.Loop("l2", "world", (0.5, 0, 0), (1.0, 0, 0)), lw.Limit("l0", -3.0, 0.9)]
    model = chain(3, *laws)
    start = lw.assemble(model, lw.State([0.5, -0.9, 1.5], np.zeros(3)))
    run = lw.simulate(model, start, 1.0, 5e-3, method, stepper=stepper)
    assert run.health.constraint_residual < 1e-9
    assert run.q[:, 0].max() < 0.9 + 1e-3
