"""Andrews' squeezer mechanism by two routes beside its published solution; the model is that of `linkwork verify`."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import linkwork as lw
from linkwork.verify.squeezer import REFERENCE, angles, driven_squeezer, loads, squeezer


def test_the_mechanism_closes_at_its_start() -> None:
    assembly = squeezer()
    assert np.abs(assembly.system(assembly.start).residual).max() < 1e-15
    assert len(assembly.layout.auxiliary) == 3  # three loops through the ground


def test_the_published_solution_is_met() -> None:
    """Accelerations by the multipliers, integrated by an explicit method of order 8."""
    assembly = squeezer()
    start = assembly.start

    def motion(t: float, y: np.ndarray) -> np.ndarray:
        state = lw.State(y[:21], y[21:], t)
        return np.concatenate([state.v, assembly.accelerations(state, loads(assembly, state.q)).motion])

    run = solve_ivp(motion, (0.0, 0.03), np.concatenate([start.q, start.v]), "DOP853", rtol=1e-10, atol=1e-10)
    found = angles(assembly, run.y[:21, -1])
    for name, value in REFERENCE.items():
        assert found[name] == pytest.approx(value, abs=1e-6), name


def test_the_program_meets_the_published_solution() -> None:
    """The same in compiled steps: the spring and the drive are interactions, loops are closed after every step."""
    assembly = driven_squeezer()
    start = assembly.start
    np.testing.assert_allclose(
        assembly.system(start).forces, loads(assembly, start.q) + squeezer().system(start).forces, atol=1e-12
    )
    run = assembly.simulate(0.03, 1e-5, every=1000)
    found = angles(assembly, run.q[-1])
    for name, value in REFERENCE.items():
        assert found[name] == pytest.approx(value, abs=2e-6), name
    assert run.residual.max() < 1e-12
