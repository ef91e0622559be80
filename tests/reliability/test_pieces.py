"""Runs that are made in pieces are the runs that are made at once, to the bit: every stepper, formulation, batch and thread."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from reliability.runs import same, smooth, start, touching

import linkwork as lw
from linkwork.steppers import ALL_STEPPERS, pace

TABLE = [(name, method) for name, stepper in ALL_STEPPERS.items() for method in stepper().methods]
MODELS = {"smooth": smooth(), "touching": touching()}


def runs(monkeypatch: pytest.MonkeyPatch, model: str, **given: Any) -> list[Any]:
    """A run at once, and one in the smallest pieces."""
    found, state = [], start(MODELS[model], given.pop("batch", 0))
    for seconds in (1e3, 1e-12):
        monkeypatch.setattr(pace, "PIECE", seconds)
        monkeypatch.setattr(pace, "PER_BODY", 1e-9)
        found.append(lw.simulate(MODELS[model], state, **({"duration": 0.06, "dt": 2e-3} | given)))
    return found


@pytest.mark.parametrize(("stepper", "method"), TABLE, ids=lambda x: str(x))
def test_every_stepper(monkeypatch: pytest.MonkeyPatch, stepper: str, method: str) -> None:
    assert same(*runs(monkeypatch, "smooth", stepper=stepper, method=method))


@pytest.mark.parametrize("method", ["reduced", "maximal", "maximal-implicit", "redmax"])
def test_contact(monkeypatch: pytest.MonkeyPatch, method: str) -> None:
    assert same(*runs(monkeypatch, "touching", method=method, duration=0.3))


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("every", [1, 5])
def test_batches(monkeypatch: pytest.MonkeyPatch, threads: int, every: int) -> None:
    assert same(*runs(monkeypatch, "touching", batch=37, threads=threads, every=every))


def test_records_far_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    a, b = runs(monkeypatch, "touching", every=30)
    assert len(a) == 2
    assert same(a, b)


@pytest.mark.parametrize("every", [1, 10])
@pytest.mark.parametrize("pieces", [1e3, 1e-12])
def test_a_motion_that_is_not_finite_ends_at_once(monkeypatch: pytest.MonkeyPatch, pieces: float, every: int) -> None:
    """The error says at which step, between records too, and whose; what was computed is there, and no more is computed."""
    monkeypatch.setattr(pace, "PIECE", pieces)
    b = lw.ModelBuilder()
    b.body("calm", joint=lw.Revolute((0, 1, 0)), inertia=lw.Inertia.sphere(1.0, 0.1, com=(0.3, 0, 0)))
    b.body("wild", joint=lw.Revolute((0, 1, 0)), inertia=lw.Inertia.sphere(1.0, 0.1, com=(0.3, 0, 0)))
    b.add(lw.JointSpring("wild", 1e9))
    state = lw.State([0.1, 0.1], [0.0, 0.0])
    with pytest.raises(lw.SolverError, match="body 'wild', joint 'wild'") as lost:
        lw.simulate(b.build(), state, 4.0, 1e-2, every=every)
    kept = lost.value.trajectory
    assert np.isfinite(kept.v).all()
    assert 1 < len(kept) < 400 / every
    at = float(str(lost.value).split("t = ")[1].split(":")[0])
    assert kept.t[-1] < at <= kept.t[-1] + 1e-2 * every + 1e-9
    with pytest.raises(lw.SolverError, match=f"t = {at:.9g}:"):
        lw.simulate(b.build(), state, 4.0, 1e-2)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("method", ["reduced", "maximal"])
@pytest.mark.parametrize("every", [1, 5])
@pytest.mark.parametrize("steps", [2, 10, 50])
def test_places_that_are_lost_before_any_velocity_is(method: str, every: int, steps: int) -> None:
    """Nothing stops the carts, of which one goes beyond the largest number in its second step, at the velocity that it had."""
    dt = 1e297
    b = lw.ModelBuilder(gravity=(0, 0, 0))
    for name in ("slow", "fast"):
        b.body(name, joint=lw.Prismatic((1, 0, 0)), inertia=lw.Inertia(1.0, (0, 0, 0), np.eye(3)))
    every = min(every, steps)
    with pytest.raises(lw.SolverError, match=r"not finite at t = 2e\+297: body 'fast', joint 'fast'") as lost:
        lw.simulate(b.build(), lw.State([0.0, 0.0], [1.0, 1e11]), steps * dt, dt, method, every=every)
    kept = lost.value.trajectory
    assert len(kept) == (2 if every == 1 else 1)
    assert np.isfinite(kept.q if method == "reduced" else kept.poses).all()


def test_a_motion_that_is_too_fast_to_look_at_is_named_all_the_same() -> None:
    b = lw.ModelBuilder()
    b.body("ball", joint=lw.Free(), inertia=lw.Inertia.sphere(1.0, 0.1))
    b.add(lw.JointDamping("ball", 0.1))
    state = lw.State([0, 0, 0, 1, 0, 0, 0], [1e11, 0, 0, 0, 1e11, 0])
    with pytest.raises(lw.SolverError, match=r"the motion is not finite at t = \S+: body 'ball'"):
        lw.simulate(b.build(), state, 1e202, 1e200)


def test_of_a_batch_the_error_says_which_run() -> None:
    model = smooth()
    q, v = (np.array(x) for x in (start(model, 5).q, start(model, 5).v))
    v[3, 0] = 1e11
    state = lw.State(q, v)
    with pytest.raises(lw.SolverError, match=r"1 of the 5 runs, first of run 3, is not finite at t = 0\.\d+: body 'a'") as lost:
        lw.simulate(model, state, 1.0, 1e-3)
    assert np.isfinite(lost.value.trajectory.v[[0, 1, 2, 4]]).all()


@pytest.mark.parametrize("stepper", ["dop853", "ode45"])
@pytest.mark.parametrize("pieces", [1e3, 1e-12])
def test_what_a_method_with_its_own_steps_found_before_it_failed(
    monkeypatch: pytest.MonkeyPatch, stepper: str, pieces: float
) -> None:
    """v_dot = v^2 with v(0) = 2: v = 1 / (0.5 - t)."""
    monkeypatch.setattr(pace, "PIECE", pieces)
    b = lw.ModelBuilder(gravity=(0, 0, 0))
    b.body("cart", joint=lw.Prismatic((1, 0, 0)), inertia=lw.Inertia(1.0, (0, 0, 0), np.eye(3)))
    b.add(lw.joint_force("cart", force=lambda q, v: v * v))
    with pytest.raises(lw.SolverError, match=rf"{stepper} stopped at t = (0\.4|0\.5)") as lost:
        lw.simulate(b.build(), lw.State([0.0], [2.0]), 1.0, 0.01, stepper=stepper)
    kept = lost.value.trajectory
    assert 45 <= len(kept) <= 51
    np.testing.assert_allclose(kept.v[:45, 0], 1.0 / (0.5 - kept.t[:45]), rtol=1e-2)
