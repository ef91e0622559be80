"""A four-bar linkage for two seconds: how far each way of stabilising lets the loop open, and what projection does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import linkwork as lw
from linkwork.scenes.loop import four_bar
from linkwork.view.drift import constraint_errors, write_drift_plot

# options, bounds of the residual (m): at least, at most; and of the rate (m/s), at most
CASES: dict[str, tuple[dict[str, Any], float, float, float]] = {
    "none": ({"stabilise": "none"}, 1e-4, 1e-3, 0.1),
    "velocity": ({"stabilise": "baumgarte"}, 1e-6, 1e-4, 0.1),
    "projected": ({"stabilise": "project"}, 0.0, 1e-6, 1e-12),
    "maximal": ({"method": "maximal", "stabilise": "project"}, 0.0, 1e-6, 1e-12),
    "ode45": ({"stepper": "ode45"}, 5e-4, 0.1, 0.05),
    "acceleration": ({"stepper": "ode45", "baumgarte": (10.0, 10.0)}, 0.0, 1e-4, 2e-3),
    "rk4": ({"stepper": "rk4"}, 1e-8, 1e-4, 1e-4),
    "rk4 projected": ({"stepper": "rk4", "stabilise": "project"}, 0.0, 1e-13, 1e-13),
}


@pytest.mark.parametrize("case", CASES)
def test_drift(case: str) -> None:
    model, start = four_bar()
    options, least, most, rate = CASES[case]
    errors = constraint_errors(lw.simulate(model, start, 2.0, 5e-3, every=4, **options))
    assert least <= errors[0].max() < most
    assert errors[1].max() < rate


@pytest.mark.parametrize("maximal", [False, True])
def test_project(maximal: bool) -> None:
    model, start = four_bar()
    off = lw.State(start.q + np.array([0.05, -0.1, 0.08]), np.array([1.0, 0.5, -0.3]))
    state = lw.to_reduced(model, lw.project(model, lw.to_maximal(model, off))) if maximal else lw.project(model, off)
    run = lw.simulate(model, state, 1e-9, 1e-9, stepper="rk4")
    residual, rate = constraint_errors(run)
    assert residual[0] < 1e-10
    assert rate[0] < 1e-12
    assert np.abs(state.q - off.q).max() < 0.3
    again = lw.project(model, state)
    assert np.abs(again.q - state.q).max() < 1e-9
    assert np.abs(again.v - state.v).max() < 1e-9


def test_velocities_are_the_nearest_in_the_mass_metric() -> None:
    """What projection takes away is orthogonal, in the mass metric, to every motion that is allowed."""
    model, start = four_bar()
    v = np.array([1.0, 0.5, -0.3])
    allowed = lw.project(model, lw.State(start.q, v)).v
    assert abs(allowed @ lw.mass_matrix(model, start.q) @ (v - allowed)) < 1e-12


def test_what_cannot_be_reached() -> None:
    model, start = four_bar()
    far = model.replace(elements=[lw.Loop("rocker", "world", (0.9, 0, 0), (9.0, 0, 1))])
    with pytest.raises(lw.SolverError, match="still violated"):
        lw.project(far, start)
    with pytest.raises(lw.InputError, match="stabilise must be one of none, baumgarte, project, not 'x'"):
        lw.simulate(model, start, 0.1, 1e-2, stabilise="x")


def test_plot(tmp_path: Path) -> None:
    model, start = four_bar()
    write_drift_plot({"run": lw.simulate(model, start, 0.05, 1e-2)}, tmp_path / "drift.png")
    assert (tmp_path / "drift.png").stat().st_size > 1000
