"""Dense systems of any size without symmetry, in all lanes at once: A x = b with A = L U, rows in the order given.

Lanes would want different pivots, so there are none: the matrix is to have a positive definite symmetric part, or nearly. Row by
row and column by column, with ones on the diagonal of L,

    L_ij = (A_ij - sum_{k < j} L_ik U_kj) / U_jj   (j < i),    U_ij = A_ij - sum_{k < i} L_ik U_kj   (j >= i)

Entries go in squares of four, whose sums share their factors: see `dense`.
"""

from __future__ import annotations

from ..kernel.loops import Lane, loops, where

NONE = 1e-300  # a pivot below is none


@loops
def factor_lu(n: int, A: Lane) -> None:
    """L and U in place of A (n, n), row by row; on the diagonal 1 / U_ii, or 0 for a pivot that is none; n^3 / 3."""
    for i in range(n):
        for j in range(i):
            s = A[i * n + j]
            for k in range(j):
                s -= A[i * n + k] * A[k * n + j]
            A[i * n + j] = s * A[j * n + j]
        for j in range(i, n):
            s = A[i * n + j]
            for k in range(i):
                s -= A[i * n + k] * A[k * n + j]
            A[i * n + j] = s
        pivot = A[i * n + i]
        A[i * n + i] = where(abs(pivot) > NONE, 1.0 / pivot, 0.0)


@loops
def solve_lu(n: int, A: Lane, x: Lane) -> None:
    """x = (L U)^-1 x in place; n^2."""
    for i in range(n):
        s = x[i]
        for k in range(i):
            s -= A[i * n + k] * x[k]
        x[i] = s
    for i in range(n - 1, -1, -1):
        s = x[i]
        for k in range(i + 1, n):
            s -= A[i * n + k] * x[k]
        x[i] = s * A[i * n + i]
