"""Static optimisation of batches, with reserves, and what it says where muscles are too weak."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

import linkwork as lw
from linkwork import analysis
from linkwork.scenes import ALL_SCENES


@pytest.fixture(scope="module")
def squat() -> tuple[lw.Model, np.ndarray, np.ndarray, np.ndarray]:
    """A leg, some of its states, and torques that its muscles exert there."""
    model, _ = ALL_SCENES["leg"].build()
    rng = np.random.default_rng(3)
    q, v = rng.uniform(0.2, 1.2, (6, 3)), rng.normal(size=(6, 3))
    return model, q, v, lw.muscle_states(model, q, v, t=1.2).joint_forces


def test_a_batch_is_its_states(squat: tuple[lw.Model, np.ndarray, np.ndarray, np.ndarray]) -> None:
    model, q, v, wanted = squat
    found = analysis.static_optimisation(model, q, v, wanted)
    assert found.activation.shape == found.tension.shape == (6, 6)
    assert found.torque_left.shape == found.reserve.shape == (6, 3)
    assert found.residual < 1e-9
    assert not found.reserve.any()
    for k in range(6):
        one = analysis.static_optimisation(model, q[k], v[k], wanted[k])
        assert np.abs(one.activation - found.activation[k]).max() < 1e-9
    same = analysis.static_optimisation(model, q.reshape(2, 3, 3), v.reshape(2, 3, 3), wanted.reshape(2, 3, 3))
    assert np.array_equal(same.activation.reshape(6, 6), found.activation)
    spread = analysis.static_optimisation(model, q[0], v[0], np.stack([wanted[0], 0.9 * wanted[0]]))
    assert spread.activation.shape == (2, 6)


def test_reserves_give_what_muscles_cannot(squat: tuple[lw.Model, np.ndarray, np.ndarray, np.ndarray]) -> None:
    """The program with reserves against a general optimiser, and weak reserves where muscles suffice."""
    model, q, v, wanted = squat
    idle = analysis.static_optimisation(model, q, v, wanted, reserves=1e-3)
    assert np.abs(idle.reserve).max() < 1e-3
    much = wanted + np.array([0.0, 2000.0, 0.0])
    found = analysis.static_optimisation(model, q, v, much, reserves={"thigh": 50.0, "shank": 20.0})
    assert found.residual < 1e-7
    assert found.reserve[:, 1].min() > 100.0
    assert not found.reserve[:, 2].any()
    levels = [lw.muscle_states(analysis.muscles._driven(model), q[0], v[0], u=np.full(6, a)) for a in (0.0, 1.0)]
    gain, arms = levels[1].tension - levels[0].tension, levels[0].moment_arms

    def left(x: np.ndarray) -> np.ndarray:
        drives = np.array([20.0 * x[6], 50.0 * x[7], 0.0])
        return ((levels[0].tension + x[:6] * gain) @ arms + drives - much[0]) / 100.0

    bounds = [(0.0, 1.0)] * 6 + [(None, None)] * 2
    options = {"maxiter": 500, "ftol": 1e-14}
    rule = {"type": "eq", "fun": left}
    best = minimize(lambda x: float(x @ x), np.full(8, 0.5), bounds=bounds, constraints=rule, method="SLSQP", options=options)
    cost = np.sum(found.activation[0] ** 2) + np.sum((found.reserve[0, :2] / [20.0, 50.0]) ** 2)
    assert cost == pytest.approx(best.fun, rel=1e-6)


def test_the_joint_and_the_time_are_named(squat: tuple[lw.Model, np.ndarray, np.ndarray, np.ndarray]) -> None:
    model, q, v, wanted = squat
    much = wanted.copy()
    much[4, 1] += 1e4
    with pytest.raises(lw.SolverError, match=r"out of reach at joint 'thigh'.*reserves=.*\(state 4 of the batch\)"):
        analysis.static_optimisation(model, q, v, much)
    with pytest.raises(lw.SolverError, match=r"at joint 'thigh'.*\(at t = 0\.4\)"):
        analysis.static_optimisation(model, q, v, much, t=0.1 * np.arange(6))
    assert analysis.static_optimisation(model, q, v, much, ["shank"]).torque_left.shape == (6, 1)


def test_what_is_wrong_is_refused(squat: tuple[lw.Model, np.ndarray, np.ndarray, np.ndarray]) -> None:
    model, q, v, wanted = squat
    lost = wanted.copy()
    lost[2, 1] = np.nan
    for arguments, options, message in [
        ((q, v, lost), {}, "torques must be finite"),
        ((q, v[:, :2], wanted), {}, r"v has shape \(6, 2\); it must be \(\.\.\., 3\)"),
        ((q, v[:4], wanted), {}, "of different batches"),
        ((q, v, wanted), {"reserves": 0.0}, "reserves must be positive"),
        ((q, v, wanted), {"reserves": {"thig": 1.0}}, "no joint 'thig'; did you mean 'thigh'"),
        ((q, v, wanted), {"joints": []}, "joints is empty"),
    ]:
        with pytest.raises(lw.InputError, match=message):
            analysis.static_optimisation(model, *arguments, **options)
    elastic = model.add(lw.ElasticMuscle([("world", (0, 0, 0.4)), ("shank", (0, 0.1, 0))], 10.0, 0.1, 0.1, name="odd"))
    with pytest.raises(lw.InputError, match=r"rigid tendons; 'odd' is none"):
        analysis.static_optimisation(elastic, q, v, wanted)
