"""Newton's method with a line search; it knows nothing of what it solves."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..errors import SolverError

HALVINGS = 10
ROUNDING = 1e-13  # relative: a step below it changes nothing

Function = Callable[[np.ndarray], np.ndarray]


def newton(residual: Function, jacobian: Function, x: np.ndarray, tolerance: float, iterations: int = 50) -> np.ndarray:
    """x with |residual(x)| <= tolerance, or as near as rounding allows.

    A step is halved until the residual shrinks. Where no part of it does (at a kink of the residual), the whole step is taken:
    for functions that are smooth piece by piece this leaves the wrong piece, where the line search would stay.
    """
    r = residual(x)
    size = float(np.linalg.norm(r))
    for _ in range(iterations):
        if size <= tolerance:
            return x
        step = _step(jacobian(x), r)
        if np.all(np.abs(step) <= ROUNDING * np.maximum(1.0, np.abs(x))):
            return x
        x, r, size = _searched(residual, x, step, size)
    if size <= tolerance:
        return x
    raise SolverError(f"Newton's method has a residual of {size:.3g} after {iterations} steps (wanted {tolerance:.3g})")


def _searched(residual: Function, x: np.ndarray, step: np.ndarray, size: float) -> tuple[np.ndarray, np.ndarray, float]:
    """The first of x - step, x - step / 2, ... with a smaller residual than `size`, or else x - step."""
    whole = None
    for k in range(HALVINGS):
        trial = x - 0.5**k * step
        r = residual(trial)
        found = trial, r, float(np.linalg.norm(r))
        whole = whole or found
        if found[2] < size:
            return found
    assert whole is not None
    return whole


def _step(J: np.ndarray, r: np.ndarray) -> np.ndarray:
    try:
        step = np.linalg.solve(J, r)
    except np.linalg.LinAlgError:
        raise SolverError("Newton's method met a singular matrix") from None
    if not np.all(np.isfinite(step)):
        raise SolverError("Newton's method met numbers that are not finite")
    return step
