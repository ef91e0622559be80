"""The complement of a motion subspace: the directions in which a joint carries forces without working."""

from __future__ import annotations

import numpy as np

from ..spatial.scalar import array, dot, is_number, is_one, is_zero, where, zeros


def selected_rows(S: np.ndarray) -> list[int] | None:
    """The coordinate axes that the columns of S are, in either direction, or None if some column is not an axis."""
    rows = []
    for column in S.T:
        others = [i for i, x in enumerate(column) if not is_zero(x)]
        if len(others) != 1 or not is_one(abs(column[others[0]])):
            return None
        rows.append(others[0])
    return rows


def complement(S: np.ndarray) -> np.ndarray:
    """T (6, 6 - n) with orthonormal columns and T^T S = 0.

    Coordinate axes where S consists of coordinate axes; otherwise the last columns of the Householder factor of S.
    """
    rows = selected_rows(S)
    if rows is not None:
        return np.eye(6)[:, [k for k in range(6) if k not in rows]]
    n = S.shape[1]
    A = np.array(S, dtype=object)
    if all(is_number(x) for x in A.flat):
        return np.linalg.qr(A.astype(float), mode="complete")[0][:, n:]
    mirrors = []
    for j in range(n):
        x = A[j:, j]
        length = np.sqrt(dot(x, x))
        u = np.array(x, dtype=object)
        u[0] = x[0] + where(x[0] < 0.0, -length, length)
        mirrors.append((j, u, 2.0 / dot(u, u)))
        A = _reflected(A, *mirrors[-1])
    T = zeros(6, 6 - n)
    for k in range(n, 6):
        T[k, k - n] = 1.0
    for mirror in reversed(mirrors):
        T = _reflected(T, *mirror)
    return array(T)


def _reflected(A: np.ndarray, j: int, u: np.ndarray, scale: object) -> np.ndarray:
    out = np.array(A, dtype=object)
    for c in range(A.shape[1]):
        out[j:, c] = A[j:, c] - u * (scale * dot(u, A[j:, c]))
    return out
