"""Dense systems with constraints: equalities, redundant rows, rows that only push."""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw
from linkwork.solvers.kkt import constrained_solve

RNG = np.random.default_rng(2)


def problem(n: int, k: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    A = RNG.normal(size=(n, n))
    return A @ A.T + np.eye(n), RNG.normal(size=n), RNG.normal(size=(k, n)), RNG.normal(size=k)


def test_equalities() -> None:
    A, b, G, target = problem(6, 3)
    x, y = constrained_solve(A, b, G, target, np.zeros(3, bool))
    assert np.abs(G @ x - target).max() < 1e-13
    assert np.abs(A @ x - b - G.T @ y).max() < 1e-12
    free, none = constrained_solve(A, b, np.zeros((0, 6)), np.zeros(0), np.zeros(0, bool))
    assert np.abs(A @ free - b).max() < 1e-13
    assert none.shape == (0,)


def test_redundant_rows_share_their_force() -> None:
    A, b, G, target = problem(5, 2)
    x, y = constrained_solve(A, b, G, target, np.zeros(2, bool))
    twice, shared = constrained_solve(A, b, np.vstack([G, G]), np.tile(target, 2), np.zeros(4, bool))
    assert np.abs(twice - x).max() < 1e-10
    assert np.abs(shared - np.tile(y, 2) / 2).max() < 1e-10


def test_rows_that_only_push() -> None:
    """Complementarity, for some rows bilateral; without loss against every choice of active rows."""
    for _ in range(20):
        A, b, G, target = problem(5, 4)
        unilateral = np.array([False, True, True, True])
        x, y = constrained_solve(A, b, G, target, unilateral)
        slack = G @ x - target
        assert abs(slack[0]) < 1e-9
        assert slack.min() > -1e-9
        assert y[1:].min() >= 0.0
        assert np.abs(slack[1:] * y[1:]).max() < 1e-8
        assert np.abs(A @ x - b - G.T @ y).max() < 1e-8


def test_a_singular_system() -> None:
    with pytest.raises(lw.SolverError, match="singular"):
        constrained_solve(np.zeros((2, 2)), np.ones(2), np.zeros((0, 2)), np.zeros(0), np.zeros(0, bool))
