"""Spinning and rolling friction of contacts against closed forms, in every formulation; and what does not turn stays."""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw
from linkwork.errors import InputError, ModelError

METHODS = ("reduced", "maximal", "maximal-implicit", "redmax")
G, MASS, RADIUS, H = 9.81, 2.0, 0.1, 1e-3


def ball(spinning: float = 0.0, rolling: float = 0.0, slope: float = 0.0, **options: object) -> lw.Model:
    b = lw.ModelBuilder(gravity=(G * np.sin(slope), 0.0, -G * np.cos(slope)))
    b.body("ball", joint=lw.Free(), inertia=lw.Inertia.sphere(mass=MASS, radius=RADIUS))
    b.add(lw.Contact("ball", lw.Sphere(RADIUS), friction=0.9, spinning=spinning, rolling=rolling, **options))  # type: ignore
    return b.build()


def start(w: tuple[float, float, float], v: tuple[float, float, float]) -> lw.State:
    return lw.State(np.array([0, 0, RADIUS, 1, 0, 0, 0]), np.array([*w, *v]))


INERTIA = 0.4 * MASS * RADIUS**2


ROLLING_ERROR = {"reduced": 1e-4, "maximal": 1e-9, "maximal-implicit": 1e-9, "redmax": 1e-3}  # m/s, of balls that roll freely too


def turns(run: lw.Trajectory) -> np.ndarray:
    """Angular velocity of the ball (T, 3), in its own axes."""
    return run.v[:, :3]


@pytest.mark.parametrize("method", METHODS)
def test_a_spinning_ball_slows_by_the_torque_of_its_contact(method: str) -> None:
    """w = w_0 - mu_s m g t / I, then it stands."""
    mu_s, w = 0.01, 20.0
    run = lw.simulate(ball(spinning=mu_s), start((0, 0, w), (0, 0, 0)), 1.0, H, method)
    rate = mu_s * MASS * G / INERTIA
    spins = run.t < w / rate - H
    turn = turns(run)[:, 2]
    np.testing.assert_allclose(turn[spins], w - rate * run.t[spins], atol=1e-9)
    assert np.abs(turn[run.t > w / rate + H]).max() < 1e-12
    assert run.health.complementarity is not None
    assert run.health.complementarity < 1e-12


@pytest.mark.parametrize("method", METHODS)
def test_a_rolling_ball_is_stopped_by_the_torque_of_its_contact(method: str) -> None:
    """About the point that rests: (I + m r^2) w_dot = -mu_r m g, so v_dot = -mu_r g r / (7/5 r^2)."""
    mu_r, v = 0.005, 0.4
    run = lw.simulate(ball(rolling=mu_r), start((0, v / RADIUS, 0), (v, 0, 0)), 2.0, H, method)
    brake = mu_r * G / (1.4 * RADIUS)
    rolls = run.t < v / brake - H
    speed = turns(run)[:, 1] * RADIUS
    np.testing.assert_allclose(speed[rolls], v - brake * run.t[rolls], rtol=0.0, atol=ROLLING_ERROR[method])
    assert np.abs(run.v[-1]).max() < 1e-12
    way = run.poses[-1, 0, 0, 3] - run.poses[0, 0, 0, 3]
    assert way == pytest.approx(v**2 / (2 * brake), abs=2 * H * v)


@pytest.mark.parametrize("friction_model", ["exact", "pyramid", "staggered"])
def test_a_ball_stands_on_a_slope_up_to_the_angle_of_rolling_friction(friction_model: str) -> None:
    """m g r sin a <= mu_r m g cos a."""
    mu_r = 0.02
    for factor, stands in ((0.99, True), (1.01, False)):
        model = ball(rolling=mu_r, slope=np.arctan(factor * mu_r / RADIUS), friction_model=friction_model)
        run = lw.simulate(model, start((0, 0, 0), (0, 0, 0)), 0.5, H)
        way = run.poses[-1, 0, 0, 3]
        assert way < 1e-12 if stands else way > 1e-5


def test_spinning_alone_lets_roll_and_rolling_alone_lets_spin() -> None:
    run = lw.simulate(ball(spinning=0.01), start((0, 4.0, 0), (0.4, 0, 0)), 0.5, H)
    assert turns(run)[-1, 1] == pytest.approx(4.0, abs=2e-4)
    run = lw.simulate(ball(rolling=0.01), start((0, 0, 5.0), (0, 0, 0)), 0.5, H)
    assert turns(run)[-1, 2] == pytest.approx(5.0, abs=1e-9)


def test_two_balls_on_top_of_one_another_share_the_torque() -> None:
    """Between two bodies the torque acts on both: spin of the upper one goes to the lower one, which floats."""
    b = lw.ModelBuilder(gravity=(0, 0, 0))
    for name in ("below", "above"):
        b.body(name, joint=lw.Free(), inertia=lw.Inertia.sphere(mass=MASS, radius=RADIUS))
    b.add(lw.Contact("above", lw.Sphere(RADIUS), "below", lw.Sphere(RADIUS), friction=0.5, spinning=0.02))
    q = np.array([0, 0, 0, 1, 0, 0, 0, 0, 0, 2 * RADIUS, 1, 0, 0, 0])
    v = np.array([0, 0, 0, 0, 0, 0.5, 0, 0, 9.0, 0, 0, -0.5])
    run = lw.simulate(b.build(), lw.State(q, v), H, H)
    assert run.forces is not None
    push = H * run.forces[1, 0]
    assert push == pytest.approx(0.5 * MASS, rel=1e-6)
    np.testing.assert_allclose(run.v[-1, [2, 8]], [0.02 * push / INERTIA, 9.0 - 0.02 * push / INERTIA], rtol=1e-9)


def test_batches_are_single_runs() -> None:
    model = ball(spinning=0.01, rolling=0.004)
    states = [start((1.0, k, 3.0 * k), (0.1 * k, 0, 0)) for k in range(5)]
    batch = lw.State(np.array([s.q for s in states]), np.array([s.v for s in states]))
    together = lw.simulate(model, batch, 0.1, H)
    for k, state in enumerate(states):
        np.testing.assert_array_equal(lw.simulate(model, state, 0.1, H).q[-1], together.q[k, -1])


def test_what_cannot_be_is_said() -> None:
    with pytest.raises(ModelError, match="give that too"):
        lw.Contact("ball", lw.Sphere(0.1), friction=0.0, spinning=0.1)
    with pytest.raises(ModelError, match="rolling"):
        lw.Contact("ball", lw.Sphere(0.1), friction=0.5, rolling=-1.0)
    with pytest.raises(InputError, match="compliant contacts do not"):
        lw.simulate(ball(spinning=0.1), start((0, 0, 1), (0, 0, 0)), 0.01, H, contact="compliant")
    assert lw.simulate(ball(spinning=0.1), start((0, 0, 1), (0, 0, 0)), 0.01, H, contact="frictionless").v[-1, 2] == 1.0
