"""What is known of an assembly at a state, and what satisfies its conditions there."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class Solution:
    """What satisfies the conditions: `motion` (velocities,) and `multipliers` (rows of all conditions, as they were connected).

    The motion is an acceleration, a velocity or a change of velocity, by the law; multipliers are its forces or impulses. Batches
    have their axis first.
    """

    motion: np.ndarray
    multipliers: np.ndarray


@dataclass(frozen=True, eq=False)
class Linearised:
    """Conditions and forces at a state; batches have their axis first.

    loads, rate, residual   of every row: -c, and what the condition measures
    forces                  what acts without being applied (velocities,): gravity less the bias h, and interactions
    J                       of every row (rows, velocities); of one state only
    """

    loads: np.ndarray
    rate: np.ndarray
    residual: np.ndarray
    forces: np.ndarray
    J: np.ndarray


REDUNDANT = 1e-11  # a row of which less than this is left by the others, measured by its response


def dependent_rows(u: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Rows that the primary conditions, or other rows, imply; A = u y^T with u = L^-1 J^T and y = D^-1 u (rows, unknowns)."""
    A, size = u @ y.T, (np.abs(u) * np.abs(y)).sum(axis=1)  # size: of what cancels in A if others imply the row
    left = np.full(len(u), True)
    while left.any():
        k = np.argmax(np.where(left, np.diagonal(A) / np.where(size > 0.0, size, 1.0), -np.inf))
        if not A[k, k] > REDUNDANT * size[k]:
            break
        left[k] = False
        A = A - np.outer(A[:, k], A[k]) / A[k, k]
    return np.flatnonzero(left)
