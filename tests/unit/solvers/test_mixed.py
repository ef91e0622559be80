"""Equalities and complementarity in programs: the routine compiled and as it stands, against the solver in Python."""

from __future__ import annotations

import numpy as np
import pytest

from linkwork.kernel.lanes import Lanes
from linkwork.solvers.lemke import mixed
from linkwork.solvers.mixed import solve_mixed


def solved(A: np.ndarray, b: np.ndarray, unilateral: np.ndarray, compiled: bool) -> np.ndarray:
    m = len(b)
    x, scratch = np.zeros(m), [np.zeros(m) for _ in range(2)]
    active = np.arange(-1, m, dtype=np.int64)
    active[0] = m
    lower = np.where(unilateral, 0.0, -np.inf)
    wholes = [np.zeros(m * (2 * m + 4), np.int64) for _ in range(3)]
    arguments = (active, b.copy(), lower, x, A.reshape(-1).copy(), *scratch, np.zeros(m * (2 * m + 4)), *wholes)
    if compiled:
        solve_mixed.call(Lanes(1), *arguments)
    else:
        solve_mixed(*arguments)
    return x


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("seed", range(12))
def test_it_finds_what_the_solver_in_python_finds(seed: int, compiled: bool) -> None:
    rng = np.random.default_rng(seed)
    m = int(rng.integers(1, 9))
    J = rng.normal(size=(m, 12))
    A, b = J @ (J + 0.1 * rng.normal(size=J.shape)).T, rng.normal(size=m)
    unilateral = rng.uniform(size=m) < 0.6
    np.testing.assert_allclose(solved(A, b, unilateral, compiled), mixed(A, b, unilateral), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("compiled", [False, True])
def test_equalities_that_repeat_one_another_are_met(compiled: bool) -> None:
    rng = np.random.default_rng(3)
    J = rng.normal(size=(4, 9))
    J[2] = J[0] - J[1]
    A, b = J @ J.T, J @ rng.normal(size=9)
    x = solved(A, b, np.array([False, False, False, True]), compiled)
    w = A @ x + b
    assert np.abs(w[:3]).max() < 1e-12
    assert w[3] > -1e-12
    assert x[3] >= 0.0
    assert abs(x[3] * w[3]) < 1e-12


@pytest.mark.parametrize("compiled", [False, True])
def test_what_cannot_be_pushed_is_no_number(compiled: bool) -> None:
    A, b = np.array([[-1.0]]), np.array([-1.0])
    assert np.isnan(solved(A, b, np.array([True]), compiled)).all()
