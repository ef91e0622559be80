"""Equalities and complementarity: the multipliers of constraints of which some only push."""

from __future__ import annotations

import numpy as np

from ..errors import SolverError

PROXIMAL = 1e-6  # the weight of the last solution in the next, where the problem alone has many
SOLVED = (1, 2)  # flags of daqp


def _settings(proximal: float) -> dict[str, float]:
    return {"eps_prox": proximal, "primal_tol": 1e-12, "dual_tol": 1e-12}


def multipliers(A: np.ndarray, b: np.ndarray, unilateral: np.ndarray) -> np.ndarray:
    """x with w = A x + b: w = 0 where bilateral, 0 <= x, 0 <= w, x w = 0 where unilateral; A symmetric semidefinite.

    Without unilateral rows this is a least-squares solve, so redundant rows share their force evenly. Otherwise it is the
    minimum of x^T A x / 2 + b^T x over x >= 0 (unilateral), found by a dual active-set method.
    """
    if not len(b):
        return np.zeros(0)
    if not unilateral.any():
        return np.linalg.lstsq(A, -b, rcond=1e-13)[0]
    import daqp

    upper = np.full(len(b), 1e30)
    lower = np.where(unilateral, 0.0, -1e30)
    diagonal = np.maximum(np.diagonal(A), 1e-300)
    unit = 1.0 / np.sqrt(np.where(diagonal > 1e-12 * diagonal.max(), diagonal, diagonal.max()))  # rows of any units
    size = max(np.abs(unit * b).max(), 1e-300)
    H = np.ascontiguousarray(0.5 * (A + A.T) * np.outer(unit, unit))
    problem = (H, np.ascontiguousarray(unit * b / size), np.zeros((0, len(b))), upper, lower, np.zeros(len(b), dtype=np.int32))
    definite = np.linalg.cond(H) < 1e12
    x, _, flag, _ = daqp.solve(*problem, **_settings(0.0 if definite else PROXIMAL))
    if flag not in SOLVED and definite:  # nearly singular after all
        x, _, flag, _ = daqp.solve(*problem, **_settings(PROXIMAL))
    if flag not in SOLVED:
        raise SolverError(f"no forces satisfy the {len(b)} constraints{_contradiction(A, b, unilateral)}")
    found = polished(A, b, unilateral, unit * size * np.asarray(x))
    return np.where(unilateral, np.maximum(found, 0.0), found)


def _contradiction(A: np.ndarray, b: np.ndarray, unilateral: np.ndarray) -> str:
    """What to say of equalities that cannot hold together."""
    rows = np.flatnonzero(~unilateral)
    E, e = A[np.ix_(rows, rows)], b[rows]
    left = np.abs(E @ np.linalg.lstsq(E, -e, rcond=1e-13)[0] + e) if len(rows) else np.zeros(0)
    worst = rows[left > 1e-6 * (1.0 + np.abs(e).max(initial=0.0))]
    if not len(worst):
        return ": those that only push leave no motion that all allow"
    return f": the equalities of rows {', '.join(map(str, worst))} contradict one another"


def polished(A: np.ndarray, b: np.ndarray, unilateral: np.ndarray, x: np.ndarray) -> np.ndarray:
    """The same solution to rounding: the active rows solved once more as equalities."""
    active = ~unilateral | (x > 1e-9 * max(1.0, np.abs(x).max()))
    out = np.zeros_like(x)
    out[active] = np.linalg.lstsq(A[np.ix_(active, active)], -b[active], rcond=1e-13)[0]
    feasible = np.all(out[unilateral] >= 0) and np.all((A @ out + b)[unilateral] >= -1e-9 * max(1.0, np.abs(b).max()))
    return out if feasible else x
