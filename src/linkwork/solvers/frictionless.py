"""Contact without friction, with joints: a quadratic program and its dual.

    primal [Sueda, Eqs. 1.79, 1.80]   minimise |v|^2 / 2  subject to  F v + b >= 0 (pushes), = 0 (equalities)
    dual   [Sueda, Eq. 1.83]          minimise x^T A x / 2 + b^T x  subject to  x >= 0 (pushes)

with A = F F^T: v is the change of motion in coordinates in which the mass is 1, v = F^T x. [Sueda, Eq. 1.84] has the wrong sign
there: M Phi - N^T x = f, so that x >= 0 pushes (errata). Tangents get no force; coefficients are not read.
"""

from __future__ import annotations

import numpy as np

from ..errors import InputError
from .lemke import mixed
from .problem import BOUNDS, NORMAL, Info, Problem
from .quadratic import QuadraticProgram, boxed

RANK = 1e-14  # of the largest eigenvalue: below, F has no column


def acting(problem: Problem) -> np.ndarray:
    """The rows that act without friction: those with bounds of their own, and normal ones."""
    return np.flatnonzero(np.isin(problem.cones.rows, (BOUNDS, NORMAL)))


def whole(problem: Problem, rows: np.ndarray, found: np.ndarray) -> tuple[np.ndarray, Info]:
    """x of all rows, and its residual as a problem without friction."""
    x = np.zeros(len(problem.b))
    x[rows] = found
    return x, Info(problem.frictionless().residual(x), 1)


def solve_dual(problem: Problem, warm: np.ndarray | None = None) -> tuple[np.ndarray, Info]:
    """The multipliers of contact and joints without friction."""
    rows = acting(problem)
    lower, upper = problem.cones.lower[rows], problem.cones.upper[rows]
    return whole(problem, rows, boxed(problem.A[np.ix_(rows, rows)], problem.b[rows], lower, upper))


def solve_primal(problem: Problem, warm: np.ndarray | None = None) -> tuple[np.ndarray, Info]:
    """The same by way of the motion; rows push or are equalities."""
    rows = acting(problem)
    A, b, lower, upper = problem.A[np.ix_(rows, rows)], problem.b[rows], problem.cones.lower[rows], problem.cones.upper[rows]
    _pushes_or_equalities(lower, upper)
    values, vectors = np.linalg.eigh(A)
    real = values > RANK * values[-1]
    F = vectors[:, real] * np.sqrt(values[real])
    n = F.shape[1]
    unbounded = np.full(n, np.inf)
    most = np.where(np.isinf(lower), -b, np.inf)
    bounds = np.concatenate([-unbounded, -b]), np.concatenate([unbounded, most])
    multipliers = QuadraticProgram(np.eye(n), np.zeros(n), *bounds, F).solve()[1]
    return whole(problem, rows, -multipliers[n:])


def solve_lemke(problem: Problem, warm: np.ndarray | None = None) -> tuple[np.ndarray, Info]:
    """The same by complementary pivots, A of any kind; rows push or are equalities."""
    rows = acting(problem)
    lower, upper = problem.cones.lower[rows], problem.cones.upper[rows]
    _pushes_or_equalities(lower, upper)
    return whole(problem, rows, mixed(problem.A[np.ix_(rows, rows)], problem.b[rows], lower == 0.0))


def _pushes_or_equalities(lower: np.ndarray, upper: np.ndarray) -> None:
    if not np.all(np.isinf(upper) & (np.isinf(lower) | (lower == 0.0))):
        raise InputError("this method knows equalities and rows that push, no other bounds")
