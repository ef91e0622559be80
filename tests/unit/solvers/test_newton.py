"""Newton's method: smooth equations, kinks, and what it says when it fails."""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw
from linkwork.solvers.newton import newton


def test_a_smooth_system() -> None:
    x = newton(
        lambda x: np.array([x[0] ** 2 + x[1] ** 2 - 4.0, x[0] - x[1] ** 3]),
        lambda x: np.array([[2 * x[0], 2 * x[1]], [1.0, -3 * x[1] ** 2]]),
        np.array([3.0, 3.0]),
    )
    assert np.abs([x @ x - 4.0, x[0] - x[1] ** 3]).max() < 1e-14


def test_the_line_search_reaches_far() -> None:
    """Whole steps of arctan diverge from 3."""
    x = newton(lambda x: np.arctan(x), lambda x: np.diag(1.0 / (1.0 + x * x)), np.array([3.0]))
    assert abs(x[0]) < 1e-15


def test_a_kink_is_left_by_whole_steps() -> None:
    """Slopes 1 and 100 meet at 0, which is where every part of a step grows the residual; the solution is beyond."""
    piece = newton(
        lambda x: np.where(x < 0, 100.0 * x, x) - 0.5, lambda x: np.diag(np.where(x < 0, 100.0, 1.0)), np.array([-1.0])
    )
    assert abs(piece[0] - 0.5) < 1e-15


def test_enough_is_enough() -> None:
    asked = []

    def residual(x: np.ndarray) -> np.ndarray:
        asked.append(x.copy())
        return x**3 - 8.0

    x = newton(residual, lambda x: np.diag(3 * x * x), np.array([3.0]), enough=0.5)
    assert 0 < abs(residual(x)[0]) <= 0.5
    assert len(asked) <= 5


def test_failures() -> None:
    with pytest.raises(lw.SolverError, match="after 7 steps"):
        newton(lambda x: x * x + 1.0, lambda x: np.diag(2 * x), np.array([0.7]), iterations=7)
    with pytest.raises(lw.SolverError, match="singular"):
        newton(lambda x: x - 1.0, lambda x: np.zeros((1, 1)), np.array([0.0]))
    with pytest.raises(lw.SolverError, match="not finite"):
        newton(lambda x: x + np.nan, lambda x: np.eye(1), np.array([0.0]))
