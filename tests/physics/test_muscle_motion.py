"""Muscles in motion: energy of passive ones, equilibrium, and the scenes do what they are for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import linkwork as lw
from linkwork.scenes import ALL_SCENES

Inputs = Callable[[float, lw.State], Any]


def rk4(
    model: lw.Model, state: lw.State, duration: float, h: float, inputs: Inputs | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """q and v of all steps, for joints whose coordinates add; inputs are held during a step."""
    q, v = state.q.copy(), state.v.copy()
    out = [(q, v)]
    for k in range(round(duration / h)):
        t = k * h
        u = None if inputs is None else inputs(t, lw.State(q=q, v=v, t=t))

        def a(q: np.ndarray, v: np.ndarray, t: float, u: Any = u) -> np.ndarray:
            return lw.forward_dynamics(model, q, v, t=t, inputs=u)

        a1 = a(q, v, t)
        v2 = v + h / 2 * a1
        a2 = a(q + h / 2 * v, v2, t + h / 2)
        v3 = v + h / 2 * a2
        a3 = a(q + h / 2 * v2, v3, t + h / 2)
        v4 = v + h * a3
        a4 = a(q + h * v3, v4, t + h)
        q, v = q + h / 6 * (v + 2 * v2 + 2 * v3 + v4), v + h / 6 * (a1 + 2 * a2 + 2 * a3 + a4)
        out.append((q, v))
    return np.array([x for x, _ in out]), np.array([x for _, x in out])


def hanging(kind: type = lw.Muscle, **options: Any) -> lw.Model:
    """A mass of 5 kg on a rail below its muscle; q is the length of the path."""
    b = lw.ModelBuilder()
    b.body("mass", joint=lw.Prismatic((0, 0, -1)), inertia=lw.Inertia(5.0, tensor=np.eye(3)))
    given = {"max_force": 100.0, "optimal_length": 0.2, "tendon_length": 0.1} | options
    b.add(kind([("world", (0, 0, 0)), ("mass", (0, 0, 0))], **given))
    return b.build()


def arm(path: list[Any], kind: type = lw.Muscle, **options: Any) -> lw.Model:
    """Two hinged links and a muscle."""
    b = lw.ModelBuilder()
    link = lw.Inertia.cuboid(mass=1.0, size=(0.4, 0.05, 0.05), com=(0.2, 0, 0))
    b.body("upper", joint=lw.Revolute((0, 1, 0)), inertia=link)
    b.body("lower", parent="upper", joint=lw.Revolute((0, 1, 0)), placement=lw.SE3(p=(0.4, 0, 0)), inertia=link)
    b.add(kind(path, **options))
    return b.build()


PATHS = {
    "points": [("world", (-0.1, 0, 0.1)), ("upper", (0.3, 0, 0.05)), ("lower", (0.16, 0, 0.05))],
    "cylinder": [
        ("upper", (0.1, 0, 0.06)),
        lw.WrapCylinder("upper", (0.4, 0, 0), axis=(0, 1, 0), radius=0.05, turn=1),
        ("lower", (0.1, 0, 0.051)),
    ],
}
OPTIMAL = {"points": 0.35, "cylinder": 0.2}  # m


@pytest.mark.parametrize("kind", [lw.Muscle, lw.ElasticMuscle])
@pytest.mark.parametrize("path", PATHS)
def test_a_passive_muscle_keeps_energy(path: str, kind: type) -> None:
    """Without activation and damping a muscle is a spring: what is lost of some joules vanishes with the step.

    Not at the fourth order of the method: the slope of the tension jumps between pieces of curves, and where a path touches.
    """
    model = arm(PATHS[path], kind, max_force=60.0, optimal_length=OPTIMAL[path], tendon_length=0.12)
    state = lw.State(q=np.array([0.3, 0.4]), v=np.zeros(2))
    drifts = []
    for h in (4e-3, 5e-4):
        q, v = rk4(model, state, 0.5, h)
        e = lw.energy(model, lw.State(q=q, v=v)).total
        drifts.append(np.abs(e - e[0]).max())
        stored = [lw.force_set(model).energies(lw.kinematics(model, x).poses, np.zeros((2, 6)))[0] for x in q[::20]]
        assert np.ptp(stored) > 0.5  # J: it does stretch
    assert drifts[1] < 5e-6
    assert drifts[1] < drifts[0] / 10


def test_energy_balance_with_activation() -> None:
    """The change of energy is the work of tension: E(t) - E(0) = - integral of (tension - passive tension) l_dot."""
    model = arm(
        PATHS["points"], max_force=40.0, optimal_length=0.35, tendon_length=0.2, activation=lw.Schedule((0, 0.4), (0, 0.8))
    )
    h = 1e-3
    q, v = rk4(model, lw.State(q=np.array([0.3, 0.4]), v=np.zeros(2)), 0.6, h)
    e = np.array([lw.energy(model, lw.State(q=x, v=y)).total for x, y in zip(q, v, strict=True)])
    states = [lw.muscle_states(model, x, y, k * h) for k, (x, y) in enumerate(zip(q, v, strict=True))]
    (muscle,) = model.elements_of(lw.Muscle)
    passive = lw.Muscle(muscle.path, 40.0, 0.35, 0.2)
    power = [-(s.tension[0] - passive.tension(s.length[0], 0.0, 0.0, np.zeros(1))) * s.rate[0] for s in states]
    work = np.r_[0.0, np.cumsum(0.5 * h * (np.array(power[1:]) + power[:-1]))]
    assert np.ptp(e) > 0.5
    np.testing.assert_allclose(e - e[0], work, atol=1e-4)


@pytest.mark.parametrize("kind", [lw.Muscle, lw.ElasticMuscle])
def test_a_weight_comes_to_rest_where_the_muscle_carries_it(kind: type) -> None:
    model = hanging(kind, activation=0.8)
    q, v = rk4(model, lw.State(q=np.array([0.29]), v=np.zeros(1)), 3.0, 2e-3)
    s = lw.muscle_states(model, q[-1], v[-1])
    assert abs(v[-1, 0]) < 1e-4
    assert s.tension[0] == pytest.approx(5.0 * 9.81, rel=1e-3)


def test_shortening_is_no_faster_than_the_muscle_allows() -> None:
    """A light load at full activation: the fibres reach nearly their greatest velocity, and not more."""
    model = hanging(activation=1.0, max_force=8000.0, max_velocity=2.0)
    _, v = rk4(model, lw.State(q=np.array([0.31]), v=np.zeros(1)), 0.15, 1e-4)
    assert 0.75 * 0.4 < -v.min() < 0.4


def test_fibres_on_an_elastic_tendon_approach_the_rigid_one() -> None:
    """Simulated with a drive: a stiff tendon moves as a rigid one with the same damping, a soft one gives way."""
    state = lw.State(q=np.array([0.3]), v=np.zeros(1))
    rigid = rk4(hanging(damping=0.1, activation=0.5), state, 0.3, 5e-4)[0]
    ends = []
    for strain in (0.02, 0.2):
        model = hanging(lw.FibreMuscle, tendon=lw.tendon_curve(strain), activation=0.5)
        ends.append(rk4(model, state, 0.3, 5e-4, lw.MuscleDrive(model, [0.5]))[0][-1, 0] - rigid[-1, 0])
    assert 0.0 < ends[0] < 0.003
    assert ends[0] < 0.4 * ends[1]


# --- scenes -------------------------------------------------------------------------------------------------------------------
def test_the_elbow_lifts_the_weight_and_puts_it_down() -> None:
    model, state = ALL_SCENES["elbow"].build()
    q, v = rk4(model, state, 3.0, 2e-3)
    assert q[:, 0].max() > 1.4
    assert np.all(q[650:900, 0] > 1.3)  # held up
    assert q[-1, 0] < 0.4
    assert np.abs(v).max() < 6.0
    heavy, _ = ALL_SCENES["elbow"].build(weight=8.0)
    assert rk4(heavy, state, 1.6, 2e-3)[0].max() < 0.8 * q.max()


@pytest.mark.parametrize("weight", [0.0, -1.0, np.nan, "x"])
def test_the_elbow_refuses_a_senseless_weight(weight: Any) -> None:
    with pytest.raises(lw.InputError, match="weight"):
        ALL_SCENES["elbow"].build(weight=weight)


def test_the_finger_curls_and_stretches() -> None:
    model, state = ALL_SCENES["finger"].build()
    q, v = rk4(model, state, 2.0, 1e-3)
    curled, stretched = q[1100], q[-1]
    assert np.all(curled > (1.2, 0.8, 0.7))
    assert np.all(np.abs(stretched + 0.1) < 0.05)
    assert np.abs(v[-1]).max() < 1e-2


@pytest.mark.parametrize("h", [4e-3, 2e-3])
def test_the_leg_stands_up(h: float) -> None:
    """From a squat to straight joints by 1.5 s, and it stays there; the hip rises by more than 0.2 m."""
    model, state = ALL_SCENES["leg"].build()
    q, v = rk4(model, state, 3.0, h)
    poses = lw.kinematics(model, q).poses
    hip = poses[:, model.body_index("trunk"), 2, 3]
    after = slice(round(1.5 / h), None)
    assert hip[0] < 0.72
    assert np.all(hip[after] > 0.93)
    assert np.abs(q[after]).max() < 0.2
    assert np.abs(v[-1]).max() < 0.05


@pytest.mark.parametrize("method", ["reduced", "maximal"])
def test_the_leg_stands_up_in_a_simulation(method: str) -> None:
    scene = ALL_SCENES["leg"]
    model, state = scene.build()
    run = lw.simulate(model, state, 2.0, 2e-3, method)
    assert np.abs(run.q[-1]).max() < 0.2
    assert run.health.finite
