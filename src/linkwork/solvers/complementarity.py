"""Equalities and complementarity outside programs: the multipliers of constraints of which some only push, in plain arrays."""

from __future__ import annotations

import numpy as np

from ..errors import SolverError
from ..kernel.lanes import Lanes
from .boxes import solve_boxes
from .lemke import mixed

RANK = 1e-13  # of the largest singular value: smaller ones are none
SOLVED = 1e-9  # of the largest that rows ask for: what may be left of one
CONTRADICTION = 1e-6  # the same of rows that cannot hold together: more is not the rounding of redundant ones
SCRATCH = 10  # arrays of m numbers that `solve_boxes` needs, before a list


def multipliers(A: np.ndarray, b: np.ndarray, unilateral: np.ndarray) -> np.ndarray:
    """x with w = A x + b: w = 0 where bilateral, 0 <= x, 0 <= w, x w = 0 where unilateral; A symmetric semidefinite.

    Without unilateral rows this is a least-squares solve, so redundant rows share their force evenly. Otherwise `solve_boxes`
    says which rows push, or Lemke's method where its active set does not settle (many redundant rows), and those are solved
    once more as equalities.
    """
    if not len(b):
        return np.zeros(0)
    if not unilateral.any():
        return np.linalg.lstsq(A, -b, rcond=RANK)[0]
    found = _better(A, b, unilateral, _boxed(A, b, unilateral))
    if not _left(A, b, unilateral, found).max() <= SOLVED:
        found = _better(A, b, unilateral, found, _lemke(A, b, unilateral))
    if not _left(A, b, unilateral, found).max() <= CONTRADICTION:
        raise SolverError(f"no forces satisfy the {len(b)} constraints{_contradiction(A, b, unilateral)}")
    return found


def _row_units(A: np.ndarray) -> np.ndarray:
    """What scales rows of any units to a unit diagonal; those that answer nothing stay."""
    diagonal = np.diagonal(A)
    return 1.0 / np.sqrt(np.where(diagonal > 0.0, diagonal, 1.0))


def _better(A: np.ndarray, b: np.ndarray, unilateral: np.ndarray, *candidates: np.ndarray) -> np.ndarray:
    """The best of some solutions, each as it is and polished."""
    every = [y for x in candidates for y in (_polished(A, b, unilateral, x), x)]
    return min(every, key=lambda x: _left(A, b, unilateral, x).max())


def _boxed(A: np.ndarray, b: np.ndarray, unilateral: np.ndarray) -> np.ndarray:
    """The solution of `solve_boxes`, compiled, in one lane."""
    m = len(b)
    lower, upper = np.where(unilateral, 0.0, -np.inf), np.full(m, np.inf)
    packed, active, x = (0.5 * (A + A.T))[np.tril_indices(m)], np.arange(-1, m), np.zeros(m)
    active[0] = m
    scratch = [np.zeros(m) for _ in range(SCRATCH)]
    some, factor = np.zeros(m + 1, np.int64), np.zeros(len(packed))
    problem = (np.ones(m), np.array(b, float), lower, upper, x, packed)
    solve_boxes.call(Lanes(1), active, *problem, np.zeros(1), factor, *scratch, some)
    return x


def _lemke(A: np.ndarray, b: np.ndarray, unilateral: np.ndarray) -> np.ndarray:
    """The solution of Lemke's method, in scaled rows; zeros where it finds none."""
    unit = _row_units(A)
    try:
        return unit * mixed(A * np.outer(unit, unit), unit * b, unilateral)
    except SolverError:
        return np.zeros(len(b))


def _polished(A: np.ndarray, b: np.ndarray, unilateral: np.ndarray, x: np.ndarray) -> np.ndarray:
    """The same solution to rounding: the rows that act solved once more as equalities."""
    on, out = np.flatnonzero(~unilateral | (x > 0.0)), np.zeros(len(x))
    unit = _row_units(A)[on]
    out[on] = unit * np.linalg.lstsq(A[np.ix_(on, on)] * np.outer(unit, unit), -unit * b[on], rcond=RANK)[0]
    return out


def _left(A: np.ndarray, b: np.ndarray, unilateral: np.ndarray, x: np.ndarray) -> np.ndarray:
    """How far rows are from what they must be, by the largest that is asked for, in scaled rows; infinite where one pulls."""
    w, unit = A @ x + b, _row_units(A)
    error = unit * np.where(unilateral, np.where(x > 0.0, np.abs(w), np.maximum(-w, 0.0)), np.abs(w))
    most = np.abs(unit * b).max()
    return np.where(unilateral & (x < 0.0), np.inf, error / (most if most > 0.0 else 1.0))


def _contradiction(A: np.ndarray, b: np.ndarray, unilateral: np.ndarray) -> str:
    """What to say of rows that cannot hold together."""
    rows, unit = np.flatnonzero(~unilateral), _row_units(A)
    E, e = (A * np.outer(unit, unit))[np.ix_(rows, rows)], (unit * b)[rows]
    left = np.abs(E @ np.linalg.lstsq(E, -e, rcond=RANK)[0] + e) if len(rows) else np.zeros(0)
    worst = rows[left > CONTRADICTION * np.abs(e).max(initial=0.0)]
    if not len(worst):
        return ": those that only push leave no motion that all allow"
    return f": the equalities of rows {', '.join(map(str, worst))} contradict one another"
