"""Constrained minima of quadratic functions: the dense systems of equalities, and of constraints that only push."""

from __future__ import annotations

import numpy as np

from ..errors import SolverError
from .complementarity import multipliers


def constrained_solve(
    A: np.ndarray, b: np.ndarray, G: np.ndarray, target: np.ndarray, unilateral: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """x and the multipliers y of the rows of G, with A x = b + G^T y.

    G x = target where a row is bilateral; G x >= target, y >= 0 and one of them an equality where it is unilateral. For a
    symmetric definite A this is the minimum of x^T A x / 2 - b^T x under the constraints. Redundant rows share their forces.
    """
    free = _solved(A, np.column_stack([b, G.T]))
    y = multipliers(G @ free[:, 1:], G @ free[:, 0] - target, unilateral)
    return free[:, 0] + free[:, 1:] @ y, y


def _solved(A: np.ndarray, b: np.ndarray) -> np.ndarray:
    try:
        return np.linalg.solve(A, b)
    except np.linalg.LinAlgError:
        raise SolverError("the dense system is singular") from None
