"""Newton's method with a line search; it knows nothing of what it solves."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..errors import SolverError

HALVINGS = 10
SHORT = 1e-11

Function = Callable[[np.ndarray], np.ndarray]
LinearSolver = Callable[[np.ndarray, np.ndarray], np.ndarray]


def newton(
    residual: Function,
    jacobian: Function,
    x: np.ndarray,
    enough: float = 0.0,
    iterations: int = 50,
    solve: LinearSolver | None = None,
) -> np.ndarray:
    """x with residual(x) = 0: found when a whole step is no longer than 1e-11 in every entry, so that the error is rounding.

    A step is halved until the residual shrinks. Where no part of it does (at a kink of the residual), the whole step is taken:
    for functions that are smooth piece by piece this leaves the wrong piece, where the line search would stay.

    enough   |residual| that is small enough to stop earlier
    solve    J, r -> J^-1 r
    """
    r = residual(x)
    for _ in range(iterations):
        if np.linalg.norm(r) <= enough:
            return x
        step = (solve or _step)(jacobian(x), r)
        if np.all(np.abs(step) <= SHORT):
            return x - step
        x, r = _searched(residual, x, step, r)
    raise SolverError(f"Newton's method has a residual of {np.linalg.norm(r):.3g} after {iterations} steps")


def _searched(residual: Function, x: np.ndarray, step: np.ndarray, r: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The first of x - step, x - step / 2, ... with a smaller residual than r, or else x - step; and its residual."""
    tried = []
    for k in range(HALVINGS):
        trial = x - 0.5**k * step
        tried.append((trial, residual(trial)))
        if np.linalg.norm(tried[-1][1]) < np.linalg.norm(r):
            return tried[-1]
    return tried[0]


def _step(J: np.ndarray, r: np.ndarray) -> np.ndarray:
    try:
        step = np.linalg.solve(J, r)
    except np.linalg.LinAlgError:
        raise SolverError("Newton's method met a singular matrix") from None
    if not np.all(np.isfinite(step)):
        raise SolverError("Newton's method met numbers that are not finite")
    return step
