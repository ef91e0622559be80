"""Lemke's method against all choices of what pushes, and against the dual active-set method where both apply."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from linkwork.errors import SolverError
from linkwork.solvers.complementarity import multipliers
from linkwork.solvers.lemke import lemke, mixed, solve_mixed


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


def reference(A: np.ndarray, b: np.ndarray, unilateral: np.ndarray) -> np.ndarray:
    """Equalities by least squares, then all choices of what pushes."""
    e, u = np.flatnonzero(~unilateral), np.flatnonzero(unilateral)
    found = np.linalg.lstsq(A[np.ix_(e, e)], np.column_stack([A[np.ix_(e, u)], b[e]]), rcond=1e-12)[0]
    back, x = A[np.ix_(u, e)], np.zeros(len(b))
    (x[u],) = by_enumeration(A[np.ix_(u, u)] - back @ found[:, :-1], b[u] - back @ found[:, -1])
    x[e] = -found[:, :-1] @ x[u] - found[:, -1]
    return x


def as_it_stands(A: np.ndarray, b: np.ndarray, unilateral: np.ndarray) -> np.ndarray:
    """The routine without compiling it."""
    m = len(b)
    x, active = np.zeros(m), np.arange(-1, m)
    active[0], lower, room = m, np.where(unilateral, 0.0, -np.inf), m * (2 * m + 4)
    whole = [np.zeros(room, np.int64) for _ in range(3)]
    solve_mixed(active, b.copy(), lower, x, A.reshape(-1).copy(), np.zeros(m), np.zeros(m), np.zeros(room), *whole)
    return x


@pytest.mark.parametrize("seed", range(12))
def test_unsymmetric_mixed_problems_compiled_and_as_they_stand(seed: int) -> None:
    rng = np.random.default_rng(seed)
    m = int(rng.integers(1, 8))
    J = rng.normal(size=(m, 12))
    A, b = J @ (J + 0.1 * rng.normal(size=J.shape)).T, rng.normal(size=m)
    unilateral = rng.uniform(size=m) < 0.6
    expected = reference(A, b, unilateral)
    np.testing.assert_allclose(mixed(A, b, unilateral), expected, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(as_it_stands(A, b, unilateral), expected, rtol=1e-9, atol=1e-9)


def test_equalities_that_repeat_one_another_are_met() -> None:
    rng = np.random.default_rng(3)
    J = rng.normal(size=(4, 9))
    J[2] = J[0] - J[1]
    A, b = J @ J.T, J @ rng.normal(size=9)
    x = mixed(A, b, np.array([False, False, False, True]))
    w = A @ x + b
    assert np.abs(w[:3]).max() < 1e-12
    assert w[3] > -1e-12
    assert x[3] >= 0.0
    assert abs(x[3] * w[3]) < 1e-12


def test_problems_without_a_solution() -> None:
    with pytest.raises(SolverError, match="ray"):
        lemke(np.array([[-1.0]]), np.array([-1.0]))
    with pytest.raises(SolverError, match="singular"):
        mixed(np.zeros((2, 2)), np.ones(2), np.array([False, True]))
    assert lemke(np.zeros((0, 0)), np.zeros(0)).shape == (0,)
