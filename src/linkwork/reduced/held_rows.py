"""Rows that hold where accelerations change: which they are, and the inverse of their matrix."""

from __future__ import annotations

import numpy as np

from ..elements.collection import Collection

INSIDE = 1e-9  # of its bounds: a force nearer to one than this has reached it
RANK = 1e-11  # of G M^-1 G^T with a unit diagonal: what answers less is implied by other rows


def holding(laws: Collection, x: np.ndarray) -> np.ndarray:
    """Which rows hold their targets (..., rows): all but those whose force has reached a bound."""
    lower, upper = (np.concatenate([c.bounds()[side] for c in laws.rows]) for side in (0, 1))
    near = [INSIDE * np.abs(np.where(np.isfinite(bound), bound, 0.0)) for bound in (lower, upper)]
    return (x > lower + near[0]) & (x < upper - near[1])


def row_inverse(A: np.ndarray) -> np.ndarray:
    """The inverse of A = G M^-1 G^T (..., rows, rows), that of rows with a unit diagonal; rows that others imply share."""
    size = np.diagonal(A, axis1=-2, axis2=-1)
    unit = np.where(size > 0.0, 1.0 / np.sqrt(np.where(size > 0.0, size, 1.0)), 0.0)
    inverse = np.linalg.pinv(A * unit[..., :, None] * unit[..., None, :], rcond=RANK, hermitian=True)
    return unit[..., :, None] * inverse * unit[..., None, :]
