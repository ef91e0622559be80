"""Stops, contacts and dry friction in methods that choose their steps: events where they must be, exact motions in between."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.integrate import quad

import linkwork as lw
from linkwork.steppers.adaptive import AdaptiveRun
from linkwork.steppers.dop853 import DormandPrince853

G = 9.81
BALL = lw.Inertia.sphere(mass=2.0, radius=0.1)
ROD = lw.Inertia.cuboid(mass=1.0, size=(0.5, 0.05, 0.05), com=(0.25, 0, 0))
OPTIONS: dict[str, dict[str, Any]] = {
    "dop853": {"stepper": "dop853", "rtol": 1e-11, "atol": 1e-13},
    "ode45": {"stepper": "ode45", "rtol": 1e-10, "atol": 1e-12},
}


def ball() -> lw.Model:
    """It moves up and down above a plane."""
    b = lw.ModelBuilder().body("ball", joint=lw.Prismatic((0, 0, 1)), inertia=BALL)
    return b.add(lw.Contact("ball", lw.Sphere(0.1), shape_b=lw.Plane((0, 0, -0.1), (0, 0, 1)))).build()


def slider(*laws: Any, count: int = 1) -> lw.Model:
    """Bodies that slide along x."""
    b = lw.ModelBuilder()
    for i in range(count):
        b.body(f"s{i}", joint=lw.Prismatic((1, 0, 0)), inertia=BALL)
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


@pytest.mark.parametrize("stepper", OPTIONS)
def test_a_ball_lands_when_it_must(stepper: str) -> None:
    landing = np.sqrt(2.0 / G)
    for late, v in ((-1e-8, -G * landing), (1e-8, 0.0)):
        end = lw.simulate(ball(), lw.State([1.0], [0.0]), landing + late, landing + late, **OPTIONS[stepper]).final
        assert end.v[0] == pytest.approx(v, abs=1e-6)
    run = lw.simulate(ball(), lw.State([1.0], [0.0]), 3.0, 0.01, **OPTIONS[stepper])
    landed = run.t > landing
    assert np.abs(run.q[~landed, 0] - (1.0 - 0.5 * G * run.t[~landed] ** 2)).max() < 1e-9
    assert np.abs(run.q[landed]).max() < 1e-9
    assert np.abs(run.v[landed]).max() < 1e-9
    assert np.abs(run.forces[landed] - 2.0 * G).max() < 1e-6
    assert not run.forces[~landed].any()


@pytest.mark.parametrize("stepper", OPTIONS)
def test_a_ball_bounces_until_it_rests(stepper: str) -> None:
    """Newton's law at every impact; the infinitely many bounces are over after fall (1 + e) / (1 - e)."""
    e, fall = 0.6, np.sqrt(2.0 / G)
    b = lw.ModelBuilder().body("ball", joint=lw.Prismatic((0, 0, 1)), inertia=lw.Inertia(2.0))
    floor = lw.constraint("ball", lambda E: E[0].p[2], unilateral=True, restitution=e)
    run = lw.simulate(b.add(floor).build(), lw.State([1.0], [0.0]), 3.0, 0.01, **OPTIONS[stepper])
    hits = fall * (1.0 + 2.0 * np.concatenate([[0.0], np.cumsum(e ** np.arange(1.0, 40.0))]))
    k = np.searchsorted(hits, run.t)
    flying = k < len(hits)
    since = run.t[flying] - np.where(k > 0, hits[np.maximum(k - 1, 0)], 0.0)[flying]
    up = np.where(k > 0, e**k * G * fall, 0.0)[flying]
    height = np.where(k[flying] > 0, 0.0, 1.0) + up * since - 0.5 * G * since**2
    assert np.abs(run.q[flying, 0] - height).max() < 1e-8
    rests = run.t > fall * (1 + e) / (1 - e) + 1e-4
    assert np.abs(run.q[rests]).max() < 1e-9
    assert np.abs(run.v[rests]).max() < 1e-9


@pytest.mark.parametrize("stepper", OPTIONS)
def test_a_rod_meets_a_stop_when_it_must(stepper: str) -> None:
    """From rest at zero, I w^2 / 2 = m g l sin(q); it stays there, with its weight on the stop."""
    inertia = ROD.matrix[1, 1]
    stop, torque = 0.5, 1.0 * G * 0.25

    def slow(x: float) -> float:  # q = x^2, to be smooth at the start
        return 2.0 * x / np.sqrt(2.0 * torque / inertia * np.sin(x * x)) if x else 2.0 / np.sqrt(2.0 * torque / inertia)

    hit = quad(slow, 0.0, np.sqrt(stop), epsabs=1e-14, epsrel=1e-13)[0]
    model = chain(1, lw.Limit("l0", -1.0, stop))
    before = lw.simulate(model, lw.State([0.0], [0.0]), hit - 1e-8, hit - 1e-8, **OPTIONS[stepper]).final
    assert before.v[0] == pytest.approx(np.sqrt(2.0 * torque / inertia * np.sin(stop)), abs=1e-6)
    after = lw.simulate(model, lw.State([0.0], [0.0]), hit + 1e-8, hit + 1e-8, **OPTIONS[stepper]).final
    assert abs(after.v[0]) < 1e-9
    run = lw.simulate(model, lw.State([0.0], [0.0]), 2.0, 0.02, **OPTIONS[stepper])
    assert run.q.max() < stop + 1e-9
    assert run.q[-1, 0] == pytest.approx(stop, abs=1e-9)
    assert run.forces[-1].max() == pytest.approx(torque * np.cos(stop), abs=1e-7)


@pytest.mark.parametrize("stepper", OPTIONS)
def test_a_slider_stops_and_sticks(stepper: str) -> None:
    """Friction 6 N, 2 kg: after 1/3 s and 1/6 m."""
    run = lw.simulate(slider(lw.DryFriction("s0", 6.0)), lw.State([0.0], [1.0]), 1.0, 0.05, **OPTIONS[stepper])
    t = np.minimum(run.t, 1.0 / 3.0)
    assert np.abs(run.q[:, 0] - (t - 1.5 * t * t)).max() < 1e-9
    assert np.abs(run.v[:, 0] - (1.0 - 3.0 * t)).max() < 1e-9
    assert np.abs(run.forces[:7, 0] + 6.0).max() < 1e-12
    assert np.abs(run.forces[7:, 0]).max() < 1e-8


@pytest.mark.parametrize("stepper", OPTIONS)
def test_friction_gives_way(stepper: str) -> None:
    """A force 4 t on 2 kg with 6 N of friction: from t = 1.5 on x = (t - 1.5)^3 / 3."""
    pull = lw.joint_force("s0", force=lambda q, v, t: [4.0 * t])
    run = lw.simulate(slider(pull, lw.DryFriction("s0", 6.0)), lw.State([0.0], [0.0]), 3.0, 0.1, **OPTIONS[stepper])
    assert np.abs(run.q[:, 0] - np.maximum(run.t - 1.5, 0.0) ** 3 / 3.0).max() < 1e-8
    assert np.abs(run.forces[:, 0] + np.minimum(4.0 * run.t, 6.0)).max() < 1e-7


@pytest.mark.parametrize("stepper", OPTIONS)
def test_swings_lose_twice_the_same_width(stepper: str) -> None:
    """A spring and dry friction: every half swing ends 2 f / k nearer to the middle, until the spring is too weak."""
    laws = [lw.JointSpring("s0", 50.0), lw.DryFriction("s0", 4.0)]
    run = lw.simulate(slider(*laws), lw.State([1.0], [0.0]), 8.0, 0.05, **OPTIONS[stepper])
    half = np.pi / np.sqrt(25.0)
    halves = lw.simulate(slider(*laws), lw.State([1.0], [0.0]), 3 * half, half, **OPTIONS[stepper])
    assert np.allclose(halves.q[:, 0], [1.0, -0.84, 0.68, -0.52], atol=1e-8)
    assert run.q[-1, 0] == pytest.approx(0.04, abs=1e-8)
    assert abs(run.v[-1, 0]) < 1e-9


@pytest.mark.parametrize("stepper", OPTIONS)
def test_a_ball_leaves_a_sphere_where_it_must(stepper: str) -> None:
    """From rest at the angle a it slides without friction, and leaves where cos = 2/3 cos a."""
    a, R = 0.3, 1.0
    outside = lw.constraint("ball", lambda E: lw.math.norm(E[0].p) - R, unilateral=True)
    model = lw.ModelBuilder().body("ball", joint=lw.Translational(), inertia=BALL).add(outside).build()
    start = lw.State([R * np.sin(a), 0.0, R * np.cos(a)], np.zeros(3))
    run = lw.simulate(model, start, 1.2, 1e-3, **OPTIONS[stepper])
    pushed = run.forces[:, 0] > 0.0
    last = np.flatnonzero(pushed)[-1]
    assert pushed[: last + 1].all()
    distance = np.linalg.norm(run.q, axis=1)
    assert np.abs(distance[: last + 1] - R).max() < 1e-8
    assert distance.min() > R - 1e-8
    leaving = 2.0 / 3.0 * np.cos(a)
    assert run.q[last, 2] >= R * leaving - 1e-8
    assert run.q[last + 1, 2] <= R * leaving + 1e-8
    assert run.health.energy_drift < 1e-7


@pytest.mark.parametrize("stepper", OPTIONS)
def test_three_bodies_stop_at_different_times(stepper: str) -> None:
    stops = [lw.Limit(f"s{i}", -1.0, 0.1 * (i + 1)) for i in range(3)]
    run = lw.simulate(slider(*stops, count=3), lw.State(np.zeros(3), [1.0, 0.5, 2.0]), 0.5, 0.01, **OPTIONS[stepper])
    where = np.minimum(run.t[:, None] * [1.0, 0.5, 2.0], [0.1, 0.2, 0.3])
    assert np.abs(run.q - where).max() < 1e-10
    moving = run.t[:, None] < np.array([0.1, 0.4, 0.15]) - 1e-9
    rest = run.t[:, None] > np.array([0.1, 0.4, 0.15]) + 1e-9
    assert np.abs(run.v - moving * np.array([1.0, 0.5, 2.0]))[moving | rest].max() < 1e-10


@pytest.mark.parametrize("stepper", OPTIONS)
def test_energy_is_lost_at_events_alone(stepper: str) -> None:
    """A chain falls into its stops and leaves them again; the methods agree."""
    laws = [lw.Limit(f"l{i}", -0.4, 0.3) for i in range(3)]
    model, start = chain(3, *laws), lw.State([0.1, -0.2, 0.2], [-1.0, 2.0, -3.0])
    run = lw.simulate(model, start, 2.0, 1e-3, **OPTIONS[stepper])
    change = np.diff(run.energy.total)
    assert change.max() < 1e-8
    assert (change < -1e-8).sum() < 40
    assert change.sum() < -0.1
    assert run.health.limits < 1e-8
    assert run.forces.min() > -1e-6
    other = lw.simulate(model, start, 0.4, 0.4, **OPTIONS["ode45" if stepper == "dop853" else "dop853"])
    assert np.abs(run.q[400] - other.q[-1]).max() < 1e-6
    coarse = lw.simulate(model, start, 0.4, 5e-5, stepper="rk4")
    assert np.abs(run.q[400] - coarse.q[-1]).max() < 2e-3


@pytest.mark.parametrize("stepper", OPTIONS)
def test_a_loop_that_strikes_stays_closed(stepper: str) -> None:
    laws = [lw.Loop("l2", "world", (0.5, 0, 0), (1.0, 0, 0)), lw.Limit("l0", -3.0, 0.9)]
    model = chain(3, *laws)
    start = lw.assemble(model, lw.State([0.5, -0.9, 1.5], np.zeros(3)))
    run = lw.simulate(model, start, 1.0, 5e-3, **OPTIONS[stepper])
    assert run.health.constraint_residual < 1e-7
    assert run.health.limits < 1e-8


@pytest.mark.parametrize("stepper", OPTIONS)
def test_batches_to_the_bit(stepper: str) -> None:
    """Every state has events of its own."""
    laws = [*(lw.Limit(f"l{i}", -0.4, 0.3) for i in range(3)), *(lw.DryFriction(f"l{i}", 0.3) for i in range(3))]
    rng, model = np.random.default_rng(3), chain(3, *laws)
    q, v = rng.uniform(-0.35, 0.25, (19, 3)), 2.0 * rng.normal(size=(19, 3))
    many = lw.simulate(model, lw.State(q, v), 1.0, 0.01, threads=2, stepper=stepper)
    for k in (0, 7, 18):
        one = lw.simulate(model, lw.State(q[k], v[k]), 1.0, 0.01, stepper=stepper)
        assert np.array_equal(many.arrays["q"][k], one.q)
        assert np.array_equal(many.arrays["v"][k], one.v)
        assert np.array_equal(many.forces[k], one.forces)


def test_what_asks_python_is_refused() -> None:
    with pytest.raises(lw.InputError, match="dop853: under a control, inputs or events, contacts, limits and dry friction"):
        lw.simulate(ball(), lw.State([1.0], [0.0]), 0.1, 0.1, stepper="dop853", control=lambda t, s: np.zeros(1))


def test_events_that_pile_up_are_named() -> None:
    run: AdaptiveRun = DormandPrince853().run(ball(), np.array([0.0, 1.0]))
    kept = {"status": np.array([[0.0], [2.0]]), "t": np.array([[1.0], [0.25]]), "q": np.zeros((2, 1)), "v": np.zeros((2, 1))}
    said = run._failure(kept, 1.0)
    assert said is not None
    assert said.startswith("dop853 stopped at t = 0.25 in state 1 of the batch: contacts, limits or dry")
