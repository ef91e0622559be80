"""Staggered projections [Sueda, Eqs. 2.113, 2.114, Alg. 7]: contact and friction in turn, each a quadratic program.

    contact    minimise alpha^T A_nn alpha / 2 + alpha^T (b_n + A_nt beta)    subject to  alpha >= 0
    friction   minimise beta^T A_tt beta / 2 + beta^T (b_t + A_tn alpha)      subject to  |beta| <= mu alpha

until alpha stands still in the norm of A. The signs are those of u >= 0 that separates (as printed, bodies fall through: errata).
Joints and rows with bounds of their own take part in both. Bounds of single tangents make a four-sided cone along them, so
this is Coulomb's law only where friction acts along one tangent, or sticks. A start is the friction of the step before.
"""

from __future__ import annotations

import numpy as np

from .problem import BOUNDS, FIRST, NORMAL, SECOND, Info, Problem
from .quadratic import boxed

ROUNDS = 100
ENOUGH = 1e-12  # of the largest alpha


def solve_staggered(problem: Problem, warm: np.ndarray | None = None, rounds: int = ROUNDS) -> tuple[np.ndarray, Info]:
    """The multipliers, their residual as a Coulomb problem, and the rounds it took."""
    A, b, cones = 0.5 * (problem.A + problem.A.T), problem.b, problem.cones
    contact = np.flatnonzero(np.isin(cones.rows, (BOUNDS, NORMAL)))
    friction = np.flatnonzero(cones.rows != NORMAL)
    x = np.zeros(len(b)) if warm is None else np.array(warm, float)
    x[contact] = 0.0
    done = 0
    while done < rounds:
        done += 1
        last = x[contact]
        x[contact] = _solved(A, b, x, contact, cones.lower, cones.upper)
        change = x[contact] - last
        size = x[contact] @ A[np.ix_(contact, contact)] @ x[contact]
        if change @ A[np.ix_(contact, contact)] @ change <= ENOUGH**2 * size:
            break
        most = friction_bounds(problem, x)
        x[friction] = _solved(A, b, x, friction, np.maximum(cones.lower, -most), np.minimum(cones.upper, most))
    return x, Info(problem.residual(x), done)


def friction_bounds(problem: Problem, x: np.ndarray) -> np.ndarray:
    """mu alpha of every row that is bounded by another; infinite for the others."""
    cones = problem.cones
    most = np.full(len(x), np.inf)
    for i, kind in enumerate(cones.rows.tolist()):
        if kind in (FIRST, SECOND):
            most[i] = cones.mu[i + 1 - (kind - 1)] * max(x[i - (kind - 1)], 0.0)
        elif kind < 0:
            most[i] = cones.mu[i] * max(x[i + kind], 0.0)
    return most


def _solved(A: np.ndarray, b: np.ndarray, x: np.ndarray, rows: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    """The rows, given the others."""
    others = np.setdiff1d(np.arange(len(b)), rows)
    given = b[rows] + A[np.ix_(rows, others)] @ x[others]
    return boxed(A[np.ix_(rows, rows)], given, lower[rows], upper[rows])
