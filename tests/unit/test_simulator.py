"""Simulator: step by step it goes where `simulate` goes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from models import two_links

import linkwork as lw

HANDLE = lw.Handle("lower", (0.5, 0, 0), target=(1.0, 0, 0), stiffness=200.0, damping=5.0, name="hand")
COUPLED = lw.Coupling("lower", "upper", -1.0, 0.0)
CASES = [
    (two_links(), {"method": "reduced"}),
    (two_links(HANDLE), {"method": "maximal-implicit"}),
    (two_links(COUPLED), {"method": "maximal-implicit", "newton": True}),
    (two_links(HANDLE), {"method": "redmax"}),
    (two_links(HANDLE, COUPLED), {"stepper": "rosenbrock"}),
    (two_links(HANDLE), {"stepper": "bdf1", "tolerance": 1e-9}),
    (two_links(HANDLE, COUPLED), {"stepper": "bdf2"}),
    (two_links(HANDLE), {"method": "redmax", "stepper": "sdirk2"}),
]


NAMES = ("reduced", "implicit", "newton", "redmax", "rosenbrock", "bdf1", "bdf2", "sdirk2")


@pytest.mark.parametrize(("model", "how"), CASES, ids=NAMES)
def test_steps_are_those_of_simulate(model: lw.Model, how: dict[str, Any]) -> None:
    sim, tau = lw.Simulator(model, dt=0.01, **how), np.array([0.3, -0.2])
    run = lw.simulate(model, lw.State(np.zeros(2), np.zeros(2)), 0.1, 0.01, tau=tau, **how)
    for _ in range(4):
        sim.step(tau=tau)
    end = sim.step(6, tau=tau)
    assert end.t == pytest.approx(0.1)
    for name, x in run.arrays.items():
        assert np.abs(getattr(end, name) - x[-1]).max() < 1e-13
    sim.reset()
    assert sim.state.t == 0.0
    sim.step(10, tau=tau)
    assert np.abs(getattr(sim.state, name) - x[-1]).max() < 1e-13


def test_a_handle_leads() -> None:
    model = two_links(HANDLE)
    sim = lw.Simulator(model, dt=1 / 60, method="maximal-implicit")
    still = sim.step(60)
    sim.reset()
    led = sim.step(60, inputs=HANDLE.toward((0.7, 0.0, 0.6)))
    assert np.abs(led.poses - still.poses).max() > 0.1  # pyright: ignore[reportAttributeAccessIssue]


def test_forces_are_those_of_simulate() -> None:
    """Of constraint rows after every step; none without constraints."""
    model = two_links(COUPLED, lw.Limit("upper", -0.1, 0.1))
    sim, run = lw.Simulator(model), lw.simulate(model, lw.State(np.zeros(2), np.zeros(2)), 0.2)
    assert not sim.forces.any()  # pyright: ignore[reportOptionalMemberAccess]
    for k in range(1, len(run)):
        sim.step()
        assert np.array_equal(sim.forces, run.forces[k])  # pyright: ignore
    assert np.abs(sim.forces).max() > 1.0  # pyright: ignore
    assert lw.Simulator(two_links()).forces is None
    many = lw.Simulator(model, lw.State(np.zeros((3, 2)), np.zeros((3, 2))))
    many.step(200)
    assert np.array_equal(many.forces, np.tile(run.forces[-1], (3, 1)))  # pyright: ignore


def test_one_that_is_remade_goes_on_with_another_model() -> None:
    sim = lw.Simulator(two_links(HANDLE), dt=2e-3, stepper="rk4")
    sim.step(10)
    other = sim.remade(sim.given.with_parameters({"hand": {"stiffness": 10.0}}))
    assert (other.dt, other.t, other.stepper.name) == (2e-3, sim.t, "rk4")
    assert np.array_equal(other.state.q, sim.state.q)  # pyright: ignore[reportAttributeAccessIssue]
    expected = lw.simulate(other.given, sim.state, 0.02, 2e-3, stepper="rk4").final
    assert np.array_equal(other.step(10).q, expected.q)  # pyright: ignore[reportAttributeAccessIssue]
    assert sim.t == pytest.approx(0.02)  # it stays where it was


def test_what_it_refuses() -> None:
    with pytest.raises(lw.InputError, match="'dop853' chooses its own steps"):
        lw.Simulator(two_links(), stepper="dop853")
    with pytest.raises(lw.InputError, match="has states of shape"):
        lw.Simulator(two_links()).reset(lw.State(np.zeros((3, 2)), np.zeros(2)))
    with pytest.raises(lw.InputError, match="dt must be positive"):
        lw.Simulator(two_links(), dt=0.0)
    with pytest.raises(lw.InputError, match=r"tau has shape \(3,\)"):
        lw.Simulator(two_links()).step(tau=np.zeros(3))


@pytest.mark.parametrize("stepper", ["symplectic_euler", "linearly_implicit", "rosenbrock", "bdf2", "sdirk2"])
def test_a_batch_steps_as_its_states_do(stepper: str) -> None:
    model, q, tau = two_links(HANDLE, COUPLED), np.array([[0.3, -0.3], [0.1, -0.1], [0.0, 0.0]]), np.array([0.3, -0.2])
    many = lw.Simulator(model, lw.State(q, np.zeros(2)), stepper=stepper)
    end = many.step(7, tau=tau)
    for k in range(3):
        one = lw.Simulator(model, lw.State(q[k], np.zeros(2)), stepper=stepper)
        for _ in range(7):
            one.step(tau=tau)
        assert np.array_equal(end.q[k], one.state.q)  # pyright: ignore[reportAttributeAccessIssue]
        assert np.array_equal(end.v[k], one.state.v)  # pyright: ignore[reportAttributeAccessIssue]


def test_a_step_that_is_not_solved_is_an_error() -> None:
    sim = lw.Simulator(two_links(HANDLE), stepper="bdf1", iterations=1)
    with pytest.raises(lw.SolverError, match=r"bdf1 at t = 0.001: a stage is not solved, though the step was halved 4 times"):
        sim.step()


def test_reset_forgets_inputs_and_memory() -> None:
    sim = lw.Simulator(two_links(HANDLE))
    first = sim.step(5)
    sim.reset()
    sim.step(20, inputs=HANDLE.toward((0.7, 0.0, 0.6)), tau=np.array([1.0, 2.0]))
    sim.reset()
    again = sim.step(5)
    assert np.array_equal(again.q, first.q)  # pyright: ignore[reportAttributeAccessIssue]
