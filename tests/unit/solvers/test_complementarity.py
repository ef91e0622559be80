"""Multipliers of rows of which some only push: definite, redundant, of any units, and contradictory ones."""

from __future__ import annotations

import numpy as np
import pytest

from linkwork.errors import SolverError
from linkwork.solvers.complementarity import multipliers
from linkwork.solvers.lemke import mixed


@pytest.mark.parametrize("seed", range(300))
def test_complementarity_of_redundant_rows_of_any_units(seed: int) -> None:
    """A solvable problem of any rank: w = 0 of equalities, w and x not negative and one of them zero where rows only push."""
    rng = np.random.default_rng(seed)
    m, r = rng.integers(1, 14), rng.integers(1, 14)
    units = 10.0 ** rng.uniform(-2, 2, size=m)
    L, unilateral = units[:, None] * rng.normal(size=(m, r)), rng.random(m) < rng.choice([0.3, 0.6, 1.0])
    slack = np.where(unilateral & (rng.random(m) < 0.5), rng.exponential(size=m), 0.0)
    A, b = L @ L.T, L @ rng.normal(size=r) + units * slack
    x = multipliers(A, b, unilateral)
    w, push = (A @ x + b) / units, x * units
    scale = 1.0 + np.abs(b / units).max()
    assert np.abs(w[~unilateral]).max(initial=0.0) < 1e-8 * scale
    assert x[unilateral].min(initial=0.0) >= 0.0
    assert w[unilateral].min(initial=0.0) > -1e-8 * scale
    assert np.abs((w * push)[unilateral]).max(initial=0.0) < 1e-8 * scale * (1.0 + np.abs(push).max())


@pytest.mark.parametrize("seed", range(20))
def test_definite_problems_have_one_solution(seed: int) -> None:
    rng = np.random.default_rng(seed)
    L, b = rng.normal(size=(9, 9)), rng.normal(size=9)
    A, unilateral = L @ L.T + 1e-3 * np.eye(9), rng.random(9) < 0.7
    expected = mixed(A, b, unilateral)
    assert np.abs(multipliers(A, b, unilateral) - expected).max() < 1e-10 * (1.0 + np.abs(expected).max())


def test_contradictions_are_named() -> None:
    A, one_pushes = np.ones((3, 3)), np.array([False, False, True])
    with pytest.raises(SolverError, match="the equalities of rows 0, 1 contradict one another"):
        multipliers(A, np.array([1.0, 2.0, 0.0]), one_pushes)
    with pytest.raises(SolverError, match="those that only push leave no motion that all allow"):
        multipliers(np.array([[1.0, -1.0], [-1.0, 1.0]]), np.array([-1.0, -1.0]), np.array([True, True]))


def test_equalities_alone_share_their_force() -> None:
    np.testing.assert_allclose(multipliers(np.ones((2, 2)), -np.ones(2), np.zeros(2, bool)), [0.5, 0.5])
    assert multipliers(np.zeros((0, 0)), np.zeros(0), np.zeros(0, bool)).shape == (0,)
