"""Health and account are of all steps of a run, however few of them are recorded."""

from __future__ import annotations

import pickle
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import linkwork as lw

DT, STEPS, EVERY = 2e-3, 240, 12
PUSH = np.array([[0.0] * 6, [0.0, 0.0, 0.0, 0.5, 0.0, 0.3]])
RNG = np.random.default_rng(31)


@cache
def flail(friction: float = 0.6) -> tuple[lw.Model, lw.State]:
    """A box with an arm that is limited, driven and weak falls on the ground."""
    b = lw.ModelBuilder().ground(friction=friction, restitution=0.3)
    b.body("box", joint=lw.Free(), shapes=[lw.Box((0.3, 0.2, 0.1), mass=1.0)])
    arm = {"limits": (-0.4, 0.4), "effort": 3.0, "speed": 2.0}
    b.body("arm", parent="box", joint=lw.Revolute((0, 1, 0)), shapes=[lw.Capsule(0.04, 0.3, mass=0.5)], **arm)
    b.add(lw.PDController("arm", 20.0, 1.0))
    model = b.build()
    q, v = model.neutral(), np.zeros(model.nv)
    q[2], v[0], v[4] = 0.4, 1.0, 2.0
    return model, lw.State(q, v)


def batch(count: int = 3) -> lw.State:
    model, start = flail()
    v = start.v + RNG.normal(size=(count, model.nv))
    return lw.State(np.tile(start.q, (count, 1)), v)


def swing(t: float, state: Any) -> np.ndarray:
    """More than the arm's effort now and then; a force for every state."""
    tau = np.zeros(state.v.shape if isinstance(state, lw.State) else 7)
    tau[..., -1] = 5.0 * np.sin(17.0 * t)
    return tau


def wave(t: float) -> np.ndarray:
    return np.array([0.3 * np.sin(7.0 * t), 0.0])


def run(every: int, start: lw.State | None = None, friction: float = 0.6, **given: Any) -> lw.Trajectory:
    model, usual = flail(friction)
    return lw.simulate(model, usual if start is None else start, STEPS * DT, DT, every=every, **given)


def assert_same(few: lw.Health, whole: lw.Health) -> None:
    """To rounding: a control is asked at times that may differ in the last bit."""
    for name in ("energy_drift", "joint_gap", "constraint_residual", "penetration", "limits", "complementarity", "work"):
        one, all_of_them = getattr(few, name), getattr(whole, name)
        assert (one is None) == (all_of_them is None), name
        assert one is None or one == pytest.approx(all_of_them, rel=1e-6, abs=1e-9), name
    assert few.work_of == whole.work_of
    assert few.clipped == whole.clipped
    assert few.speeding == pytest.approx(whole.speeding)
    assert few.beyond == pytest.approx(whole.beyond)
    assert few.singular == whole.singular
    a, b = few.account, whole.account
    assert a is not None
    assert b is not None
    assert (a.start, a.end, a.moved) == pytest.approx((b.start, b.end, b.moved), rel=1e-9)
    assert a.unexplained == pytest.approx(b.unexplained, abs=1e-9 * b.moved)
    assert a.came_in == pytest.approx(b.came_in, rel=1e-6, abs=1e-9)
    assert a.went_out == pytest.approx(b.went_out, rel=1e-6, abs=1e-9)
    assert a.every == 1


CASES: dict[str, dict[str, Any]] = {
    "free": {},
    "control": {"control": swing},
    "inputs": {"inputs": wave},
    "both": {"control": swing, "inputs": wave, "external": PUSH},
    "tau": {"tau": np.array([0.0] * 6 + [2.0])},
    "batch": {"start": batch()},
    "controlled batch": {"start": batch(), "control": swing},
    "maximal": {"method": "maximal"},
    "controlled maximal": {"method": "maximal", "control": swing},
    "maximal-implicit": {"method": "maximal-implicit", "control": swing},
    "redmax": {"method": "redmax", "external": PUSH},
    "rk4": {"stepper": "rk4", "friction": 0.0},
    "compliant": {"contact": "compliant"},
}


@pytest.mark.parametrize("case", CASES)
def test_health_does_not_depend_on_what_is_recorded(case: str) -> None:
    few, whole = (run(every, **CASES[case]) for every in (EVERY, 1))
    assert np.allclose(few.q, whole.q[..., ::EVERY, :], rtol=0.0, atol=1e-9)
    assert_same(few.health, whole.health)
    assert np.allclose(few.work, whole.work[..., ::EVERY], rtol=1e-9, atol=1e-9)
    assert_same(pickle.loads(pickle.dumps(few)).health, whole.health)


def test_the_case_has_something_to_miss() -> None:
    """At the records alone, impacts and the worst of limits and speeds are not seen."""
    whole, seen = run(1, control=swing).health, run(EVERY, control=swing)
    assert whole.account is not None
    assert whole.account.went_out["impacts"] > 1.0
    assert whole.clipped
    assert whole.limits is not None
    assert whole.limits > np.abs(seen.q[:, -1]).max() - 0.4 + 1e-4
    assert whole.speeding["arm"] > np.abs(seen.v[:, -1]).max() + 1e-3


@pytest.mark.parametrize("case", ["free", "both", "batch", "controlled maximal"])
def test_health_of_a_stream_is_that_of_all_its_steps(case: str, tmp_path: Path) -> None:
    path, whole = tmp_path / "run.lwk", run(1, **CASES[case]).health
    assert_same(run(EVERY, out=path, **CASES[case]).health, whole)
    assert_same(lw.Trajectory.load(path).health, whole)
    assert_same(pickle.loads(pickle.dumps(lw.Trajectory.load(path))).health, whole)


def test_health_of_a_resumed_run_is_that_of_one_that_nobody_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stopped in the midst of an interval between records; parts are short, so that several are added."""
    path, whole = tmp_path / "run.lwk", run(1, control=swing).health
    monkeypatch.setattr("linkwork.streams.writing.SECONDS", 0.0)

    def stopped(t: float, state: Any) -> np.ndarray:
        if t > 0.31:
            raise KeyboardInterrupt
        return swing(t, state)

    with pytest.raises(lw.RunInterrupted):
        run(EVERY, control=stopped, out=path)
    resumed = lw.resume(path, control=swing)
    assert len(resumed) == STEPS // EVERY + 1
    assert_same(resumed.health, whole)
    assert_same(lw.Trajectory.load(path).health, whole)


def test_what_controls_said_is_looked_at_where_it_fills_its_room(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = run(1, control=swing).health
    monkeypatch.setattr("linkwork.replay.NOTES", 100 * 8 * 7)
    monkeypatch.setattr("linkwork.replay.PIECE", 20_000)
    assert_same(run(EVERY, control=swing).health, whole)


def test_a_stream_of_calls_of_several_steps_says_what_it_has_not_seen(tmp_path: Path) -> None:
    model, start = flail()
    with lw.Simulator(model, start, DT, out=tmp_path / "steps.lwk") as sim:
        for _ in range(STEPS // EVERY):
            sim.step(EVERY)
    account = lw.Trajectory.load(tmp_path / "steps.lwk").account
    assert account.every == EVERY
    assert "impacts" not in account.went_out
    assert f"in the {EVERY} steps from record to record" in account.rest


def test_angles_and_lengths_beyond_limits_are_told_apart() -> None:
    """What a hinge passes is in radians and no depth of a contact; what a slide passes is in metres."""
    b = lw.ModelBuilder().ground()
    b.body(
        "hinge", joint=lw.Revolute((0, 1, 0)), inertia=lw.Inertia.cuboid(1.0, (0.4, 0.1, 0.1), (0.2, 0, 0)), limits=(-1.0, 0.1)
    )
    model = b.build()
    health = lw.simulate(model, lw.State([0.12], [3.0]), 0.5, 5e-3).health
    assert health.beyond.keys() == {"rad"}
    assert health.limits == health.beyond["rad"] > 1e-4
    assert not health.penetration
    assert f"limits {health.limits:.3g} rad" in health.words()
    b.body("slide", joint=lw.Prismatic((0, 0, 1)), inertia=lw.Inertia.sphere(1.0, 0.1), limits=(-0.1, 0.1))
    health = lw.simulate(b.build(), lw.State([0.12, -0.11], [3.0, -2.0]), 0.5, 5e-3).health
    assert health.beyond.keys() == {"rad", "m"}
    assert health.limits == max(health.beyond.values())
    assert any(f"{health.beyond['m']:.3g} m" in line and "rad" in line for line in health.words())
