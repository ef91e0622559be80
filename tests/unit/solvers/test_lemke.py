"""Lemke's method against all choices of what pushes, and against the dual active-set method where both apply."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from linkwork.errors import SolverError
from linkwork.solvers.complementarity import multipliers
from linkwork.solvers.lemke import lemke, mixed


def by_enumeration(M: np.ndarray, q: np.ndarray) -> list[np.ndarray]:
    """All solutions, one for every set of rows that push."""
    found = []
    for push in itertools.product([False, True], repeat=len(q)):
        on = np.array(push)
        z = np.zeros(len(q))
        z[on] = np.linalg.solve(M[np.ix_(on, on)], -q[on])
        if np.all(z >= -1e-12) and np.all(M @ z + q >= -1e-9):
            found.append(z)
    return found


@pytest.mark.parametrize("seed", range(20))
def test_unsymmetric_definite_problems_have_one_solution(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = 1 + seed % 6
    L, K = rng.normal(size=(2, n, n))
    M, q = L @ L.T + 0.1 * np.eye(n) + (K - K.T), rng.normal(size=n)
    (expected,) = by_enumeration(M, q)
    assert np.allclose(lemke(M, q), expected, atol=1e-10)


@pytest.mark.parametrize("seed", range(10))
def test_mixed_problems_agree_with_the_symmetric_method(seed: int) -> None:
    rng = np.random.default_rng(seed)
    L, b = rng.normal(size=(7, 7)), rng.normal(size=7)
    A, unilateral = L @ L.T + 0.1 * np.eye(7), rng.random(7) < 0.5
    assert np.allclose(mixed(A, b, unilateral), multipliers(A, b, unilateral), atol=1e-9)


def test_problems_without_a_solution() -> None:
    with pytest.raises(SolverError, match="ray"):
        lemke(np.array([[-1.0]]), np.array([-1.0]))
    with pytest.raises(SolverError, match="singular"):
        mixed(np.zeros((2, 2)), np.ones(2), np.array([False, True]))
    assert lemke(np.zeros((0, 0)), np.zeros(0)).shape == (0,)
