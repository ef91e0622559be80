"""Where runs begin: velocities that break constraints, and ends of other runs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import linkwork as lw
from linkwork.scenes.loop import four_bar

WHEEL = lw.Inertia(1.0, tensor=0.1 * np.eye(3))
WAYS: dict[str, dict[str, Any]] = {
    "symplectic_euler": {},
    "rk4": {"stepper": "rk4"},
    "rk4, project": {"stepper": "rk4", "stabilise": "project"},
    "dop853": {"stepper": "dop853"},
    "ode45": {"stepper": "ode45", "method": "redmax"},
    "rosenbrock": {"stepper": "rosenbrock"},
    "linearly_implicit": {"method": "redmax"},
    "bdf2": {"method": "redmax", "stepper": "bdf2"},
    "variational": {"stepper": "variational"},
    "maximal": {"method": "maximal"},
    "maximal, rk4": {"method": "maximal", "stepper": "rk4"},
    "backward_euler": {"method": "maximal-implicit"},
}
LAWS = {
    "coupling": lw.Coupling("b", "a", 2.0),
    "gear": lw.Gear("a", "b", 2.0),
    "residual": lw.joint_constraint(["a", "b"], lambda q: q[1] - 2.0 * q[0]),
    "rate": lw.joint_constraint(["a", "b"], rate=lambda q, v: v[1] - 2.0 * v[0]),
}


def wheels(*laws: Any) -> lw.Model:
    b = lw.ModelBuilder(gravity=(0, 0, 0))
    for name in ("a", "b"):
        b.body(name, joint=lw.Revolute((0, 0, 1)), inertia=WHEEL)
    return b.add(*laws).build() if laws else b.build()


@pytest.mark.parametrize(
    ("way", "kind"),
    [
        *((way, "gear") for way in WAYS),
        *((way, kind) for way in ("rk4", "dop853", "maximal, rk4") for kind in LAWS if kind != "gear"),
    ],
)
def test_a_wheel_is_caught_by_its_gear(way: str, kind: str) -> None:
    """One of two equal wheels turns at 1 rad/s as their gear 1:2 engages: L of the impulse leaves 0.2 and 0.4 rad/s."""
    law = LAWS[kind]
    run = lw.simulate(wheels(law), lw.State([0.0, 0.0], [1.0, 0.0]), 0.1, 0.01, **WAYS[way])
    assert np.allclose(run.v[1:], [0.2, 0.4], atol=1e-9)
    (line,) = run.health.notes
    assert "broke" in line
    assert repr(law) in line
    assert "by 2 m/s or rad/s" in line


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_velocities_that_obey_are_left_alone(way: dict[str, Any]) -> None:
    run = lw.simulate(wheels(LAWS["gear"]), lw.State([0.0, 0.0], [0.2, 0.4]), 0.1, 0.01, **way)
    assert np.allclose(run.v, [0.2, 0.4], atol=1e-12)
    assert run.health.notes == ()


def test_a_batch_is_looked_at_state_by_state() -> None:
    model, v = wheels(LAWS["gear"]), np.array([[0.2, 0.4], [1.0, 0.0], [0.1, 0.2]])
    for method in ("reduced", "maximal"):
        run = lw.simulate(model, lw.State(np.zeros((3, 2)), v), 0.02, 0.01, method, stepper="rk4")
        assert np.allclose(run.v[:, -1], [[0.2, 0.4], [0.2, 0.4], [0.1, 0.2]])
        assert "of state 1 broke Gear" in run.health.notes[0]


def test_a_simulator_begins_alike() -> None:
    sim = lw.Simulator(wheels(LAWS["gear"]), lw.State([0.0, 0.0], [1.0, 0.0]), 0.01, stepper="rk4")
    assert "broke Gear" in sim.notes[0]
    after: Any = sim.step()
    assert np.allclose(after.v, [0.2, 0.4])
    sim.reset(lw.State([0.0, 0.0], [0.0, 1.0]))
    after = sim.step()
    assert np.allclose(after.v, [0.4, 0.8])


@pytest.mark.parametrize("kind", LAWS)
@pytest.mark.parametrize("way", WAYS)
def test_velocities_obey_where_loops_may_be_open(way: str, kind: str) -> None:
    """Steps on accelerations kept what was broken for ever, and nobody saw it."""
    run = lw.simulate(wheels(LAWS[kind]), lw.State([0, 0], [1.0, 0.0]), 0.1, 0.01, open_loops="allow", **WAYS[way])
    assert np.allclose(run.v[1:], [0.2, 0.4], atol=1e-9)
    assert "broke" in run.health.notes[0]
    assert run.health.constraint_rate < 1e-9


def test_rates_that_are_kept_are_measured() -> None:
    """Baumgarte's rates let them decay; a residual of a law on velocities is none."""
    gear, rates = LAWS["rate"], {"stepper": "ode45", "baumgarte": (1.0, 0.0), "open_loops": "allow"}
    run = lw.simulate(wheels(gear), lw.State([0, 0], [1.0, 0.0]), 0.1, 0.01, **rates)
    assert run.health.constraint_residual == 0.0
    assert run.health.constraint_rate == pytest.approx(2.0 * np.exp(-0.02), rel=1e-3)
    assert run.health.rate_unit == "m/s or rad/s"
    assert any("constraints on velocities are broken by 1.96 m/s or rad/s" in reason for reason in run.health.reasons)


@pytest.mark.parametrize("way", ["dop853", "ode45"])
def test_loops_that_are_open_are_closed_at_once(way: str) -> None:
    """By steps that end where constraints hold; before, an open loop stayed as open as it was."""
    model, start = four_bar()
    off = lw.State(start.q + np.array([0.01, -0.02, 0.01]), start.v)
    run = lw.simulate(model, off, 0.2, 0.1, open_loops="allow", **WAYS[way])
    assert np.abs(run.residuals[0]).max() > 1e-3
    assert np.abs(run.residuals[1:]).max() < 1e-6


ENDS = {name: way for name, way in WAYS.items() if name not in ("dop853", "ode45")}


@pytest.mark.parametrize("way", ENDS.values(), ids=ENDS)
def test_a_run_goes_on_from_the_end_of_another(way: dict[str, Any]) -> None:
    """As if there had been no end, to the bit, with a loop as open as the steps have left it."""
    model, start = four_bar()
    whole = lw.simulate(model, start, 1.0, 0.01, **way)
    half = lw.simulate(model, start, 0.5, 0.01, **way)
    rest = lw.simulate(model, half.final, 0.5, 0.01, **way)
    assert np.array_equal(rest.poses[-1], whole.poses[-1])
    assert rest.health.notes == ()


def test_ends_of_runs_that_choose_their_steps() -> None:
    model, start = four_bar()
    half = lw.simulate(model, start, 0.5, 0.01, stepper="ode45")
    assert (half.health.constraint_residual or 0.0) > 1e-6
    assert len(lw.simulate(model, half.final, 0.5, 0.01, stepper="ode45")) == 51


def test_a_loop_that_the_run_did_not_have_is_refused() -> None:
    model, start = four_bar()
    end: Any = lw.simulate(model, start, 0.5, 0.01).final
    other = model.add(lw.Loop("rocker", "world", (0.1, 0, 0), (0.3, 0, 0)))
    with pytest.raises(lw.InputError, match="is open at the start"):
        lw.simulate(other, end, 0.5, 0.01)
    away = replace(end, q=end.q + np.array([0.01, 0.0, 0.0]))
    with pytest.raises(lw.InputError, match="is open at the start"):
        lw.simulate(model, away, 0.5, 0.01)


def test_two_steps_count_for_steps_of_one_length() -> None:
    """bdf2 remembers the step before; after one of another length it begins anew, with its order."""
    model = (
        lw.ModelBuilder().body("a", joint=lw.Revolute((0, 1, 0)), inertia=lw.Inertia(1.0, (0.5, 0, 0), 0.1 * np.eye(3))).build()
    )
    half = lw.simulate(model, lw.State([0.3], [0.0]), 0.5, 0.01, stepper="bdf2")
    after = lw.simulate(model, half.final, 0.5, 0.005, stepper="bdf2")
    anew = lw.simulate(model, replace(half.final, memory=None), 0.5, 0.005, stepper="bdf2")
    assert np.array_equal(after.q, anew.q)


def test_runs_of_a_study_begin_alike() -> None:
    """In lanes as one by one, with springs, masses and ratios of their own."""
    model = wheels(lw.Gear("a", "b", 2.0, name="gear"), lw.JointSpring("a", 1.0, name="spring"))
    start = lw.State([0.0, 0.0], [1.0, 0.0])
    for columns in (
        {"spring.stiffness": [1.0, 3.0]},
        {"a.com": [(0.1, 0, 0), (0.5, 0, 0)]},
        {"gear.ratio": [1.0, 3.0]},
    ):
        ((name, values),) = columns.items()
        law, number = name.split(".")
        study = lw.study(model, columns, lambda run: run.v[-1], state=start, duration=0.1, stepper="rk4", progress=False)
        variants = [model.with_parameters({law: {number: x}}) for x in values]
        alone = [lw.simulate(m, start, 0.1, stepper="rk4").v[-1] for m in variants]
        assert np.allclose(study["measure"], alone, rtol=1e-12)
