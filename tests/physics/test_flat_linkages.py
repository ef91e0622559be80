"""Linkages that pass their flat positions, or begin there, in steppers that look at accelerations alone.

A loop loses a row where all rods lie in line, and a parallelogram has a second branch there: errors of its rate, divided by next
to nothing, threw it off by metres, with its energy and its loop as they should be.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import linkwork as lw
from linkwork.verify.iftomm import GRAVITY, windows

TURN = np.array([1.0, -1.0, 1.0])
EXACT = {"stepper": "dop853", "rtol": 1e-10, "atol": 1e-12}
WAYS: dict[str, tuple[dict[str, Any], float]] = {  # and the error of the angle (rad) after 10 s
    "dop853": ({"stepper": "dop853"}, 2e-5),
    "dop853, exact": (EXACT, 3e-7),
    "ode45": ({"stepper": "ode45", "rtol": 1e-8, "atol": 1e-10}, 1e-4),
    "ode45, redmax": ({"stepper": "ode45", "method": "redmax", "rtol": 1e-8, "atol": 1e-10}, 1e-4),
    "rk4": ({"stepper": "rk4"}, 1e-6),
    "rk4, maximal": ({"stepper": "rk4", "method": "maximal"}, 1e-2),
    "rosenbrock": ({"stepper": "rosenbrock"}, 1e-3),
    "bdf2": ({"method": "redmax", "stepper": "bdf2"}, 1e-3),
}


def angle(n: int, times: np.ndarray, first: float, rate: float) -> np.ndarray:
    """The angle of n windows from the upright: I a = w sin(angle) with I = (n + 1) / 3 + n and w = ((n + 1) / 2 + n) g."""
    pull = ((n + 1) / 2 + n) * GRAVITY / ((n + 1) / 3 + n)
    tight: dict[str, Any] = {"rtol": 1e-13, "atol": 1e-13}
    run = solve_ivp(lambda t, y: [y[1], pull * np.sin(y[0])], (0.0, times[-1]), [first, rate], "DOP853", times, **tight)
    return run.y[0]


def error(n: int, first: float, rate: float, duration: float, **how: Any) -> float:
    """The largest error of the angles of all rods."""
    model, unit = windows(n)
    run = lw.simulate(model, lw.State(first * unit.v, rate * unit.v), duration, 1e-3, every=20, **how)
    assert run.health.ok
    return float(np.abs(run.q - angle(n, run.t, first, rate)[:, None] * unit.v).max())


@pytest.mark.parametrize("n", [1, 2])
@pytest.mark.parametrize("way", WAYS)
def test_windows_turn_for_ten_seconds(way: str, n: int) -> None:
    how, most = WAYS[way]
    assert error(n, 0.0, 1.0, 10.0, **how) < most


@pytest.mark.parametrize("rate", [-3.0, 5.0])
@pytest.mark.parametrize("side", [-1.0, 1.0])
@pytest.mark.parametrize("way", WAYS)
def test_windows_that_begin_flat(way: str, side: float, rate: float) -> None:
    how, most = WAYS[way]
    assert error(2, 0.5 * side * np.pi, rate, 1.0, **how) < most


@pytest.mark.parametrize("way", ["dop853", "ode45"])
def test_forty_windows_that_begin_flat(way: str) -> None:
    how, most = WAYS[way]
    assert error(40, 0.5 * np.pi, -3.0, 0.1, **how) < most


def test_steps_from_python_go_through_flat_alike() -> None:
    model, start = windows(1)
    nothing = np.zeros(model.nv)
    run = lw.simulate(model, start, 3.0, 0.01, stepper="dop853", control=lambda t, s: nothing)
    assert np.abs(run.q - angle(1, run.t, 0.0, 1.0)[:, None] * start.v).max() < 2e-6
    seen = lw.simulate(model, start, 3.0, 0.01, stepper="dop853", events=[lambda t, s: s.q[0] - 0.5 * np.pi])
    assert len(seen.events) == 1


def parallelogram(tilt: float) -> lw.Model:
    """Two cranks of 1 m on a base of 1 m that is tilted, and a coupler; no gravity."""
    rod = lw.Inertia.cuboid(mass=1.0, size=(1.0, 0.05, 0.05), com=(0.5, 0, 0))
    b, base, hinge = lw.ModelBuilder(gravity=(0, 0, 0)), lw.SE3.rot_y(tilt), lw.Revolute((0, 1, 0))
    b.body("crank", joint=hinge, placement=base, inertia=rod)
    b.body("coupler", parent="crank", joint=hinge, placement=lw.SE3(p=(1, 0, 0)), inertia=rod)
    b.body("other", joint=hinge, placement=base @ lw.SE3(p=(1, 0, 0)), inertia=rod)
    return b.add(lw.Loop("coupler", "other", (1, 0, 0), (1, 0, 0))).build()


@pytest.mark.parametrize("way", ["dop853", "dop853, exact", "ode45", "rk4"])
def test_parallelograms_at_random_angles_keep_their_branch(way: str) -> None:
    rng = np.random.default_rng(5)
    for _ in range(6):
        tilt, rate, first = rng.uniform(-3, 3), rng.uniform(0.5, 6), rng.uniform(-1.5, 1.5)
        run = lw.simulate(parallelogram(tilt), lw.State(first * TURN, rate * TURN), 4.0, 5e-3, every=8, **WAYS[way][0])
        assert np.abs(run.q - (first + rate * run.t)[:, None] * TURN).max() < 1e-3
        assert run.health.constraint_residual < 1e-5
        assert len(run.health.singular) == np.ptp(np.floor((first + rate * run.t[[0, -1]]) / np.pi))


ODE45 = {"stepper": "ode45", "stabilise": "none"}
LOST: dict[str, dict[str, Any]] = {
    "rk4": {"stepper": "rk4", "stabilise": "none"},
    "dop853": {"stepper": "dop853", "stabilise": "none"},
    "ode45": ODE45,
    "backward_euler": {"method": "maximal-implicit"},
}


@pytest.mark.parametrize("way", LOST)
def test_steps_that_leave_their_branch_are_told(way: str) -> None:
    """Whoever does not hold the loop leaves the branch (dop853, with its energy and its loop as they should be) or loses energy
    there: the run breaks down with its time, or it is doubtful."""
    told = 0
    for n, rate in ((1, 1.0), (2, 2.0), (3, 1.0)):
        model, unit = windows(n)
        try:
            run = lw.simulate(model, lw.State(unit.q, rate * unit.v), 4.0, 1e-3, every=20, **LOST[way])
        except lw.SolverError:
            told += 1
            continue
        apart = np.abs(run.q - run.q[:, :1] * unit.v).max()
        far = np.abs(run.q - angle(n, run.t, 0.0, rate)[:, None] * unit.v).max()
        assert (apart < 0.01 and far < 0.1) or not run.health.ok
        told += not run.health.ok
        if way == "dop853":
            assert any("velocities jump at a singular position" in reason for reason in run.health.reasons)
    assert told
