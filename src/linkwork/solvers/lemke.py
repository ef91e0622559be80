"""Complementarity with a matrix of any kind, symmetric or not: Lemke's method of complementary pivots."""

from __future__ import annotations

import numpy as np

from ..errors import SolverError

ZERO = 1e-12  # relative: below, a number counts as zero in the ratio test
RANK = 1e-12  # singular values of the equalities, relative: below, a row is redundant
CONTRADICTION = 1e-7  # what may be left of an equality, relative to the largest terms


def mixed(A: np.ndarray, b: np.ndarray, unilateral: np.ndarray) -> np.ndarray:
    """x with w = A x + b: w = 0 where bilateral, 0 <= x, 0 <= w, x w = 0 where unilateral.

    The bilateral unknowns are eliminated by least squares: redundant rows share their force evenly.
    """
    e, u = np.flatnonzero(~unilateral), np.flatnonzero(unilateral)
    x = np.zeros(len(b))
    found = np.linalg.lstsq(A[np.ix_(e, e)], np.column_stack([A[np.ix_(e, u)], b[e]]), rcond=RANK)[0]
    back = A[np.ix_(u, e)]
    x[u] = lemke(A[np.ix_(u, u)] - back @ found[:, :-1], b[u] - back @ found[:, -1])
    x[e] = -found[:, :-1] @ x[u] - found[:, -1]
    left, terms = np.abs(A @ x + b)[e], (np.abs(A) @ np.abs(x) + np.abs(b))[e]
    if np.any(left > CONTRADICTION * terms.max(initial=0.0)):
        raise SolverError("the equalities are singular, and contradict one another or ask for what their forces cannot change")
    return x


def lemke(M: np.ndarray, q: np.ndarray) -> np.ndarray:
    """z >= 0 with w = M z + q >= 0 and z w = 0.

    The tableau of w - M z - e z0 = q starts with z0 large enough; each pivot brings in the partner of what left, until z0 does.
    """
    n = len(q)
    if not n or q.min() >= 0.0:
        return np.zeros(n)
    T = np.column_stack([np.eye(n), -M, -np.ones(n), q])  # columns: w, z, z0, the right side
    basis = np.arange(n)
    row, entering = int(np.argmin(q)), 2 * n
    for _ in range(50 * (n + 1)):
        leaving, basis[row] = basis[row], entering
        T[row] /= T[row, entering]
        others = np.arange(n) != row
        T[others] -= np.outer(T[others, entering], T[row])
        if leaving == 2 * n:
            z = np.zeros(2 * n + 1)
            z[basis] = T[:, -1]
            return np.maximum(z[n : 2 * n], 0.0)
        entering = leaving + n if leaving < n else leaving - n
        row = _row_that_leaves(T[:, entering], T[:, -1], basis == 2 * n)
    raise SolverError(f"Lemke's method: no solution of {n} rows after {50 * (n + 1)} pivots")


def _row_that_leaves(column: np.ndarray, right: np.ndarray, is_z0: np.ndarray) -> int:
    """The row of the least ratio; among equals the one of z0, which ends the method."""
    possible = column > ZERO * max(1.0, np.abs(column).max())
    if not possible.any():
        raise SolverError("Lemke's method: what pushes cannot stop what it measures (the problem ends in a ray)")
    ratio = np.where(possible, right / np.where(possible, column, 1.0), np.inf)
    least = ratio <= ratio.min() + ZERO * max(1.0, abs(ratio.min()))
    return int(np.argmax(least & is_z0)) if np.any(least & is_z0) else int(np.argmax(least))
