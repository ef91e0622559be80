"""Dense systems of any size without symmetry, in all lanes at once: A x = b with A = L U, rows in the order given.

Lanes would want different pivots, so there are none: the matrix is to have a positive definite symmetric part, or nearly. Row by
row, with ones on the diagonal of L,

    L_ij = (A_ij - sum_{k < j} L_ik U_kj) / U_jj   (j < i),    U_ij = A_ij - sum_{k < i} L_ik U_kj   (j >= i)

Rows go in pairs, against pairs of columns: four sums at a time, which share their factors (see `dense`). Each sum has its terms
in the order of k, whatever is done beside it.
"""

from __future__ import annotations

from ..kernel.loops import Lane, loops, where

NONE = 1e-300  # a pivot below is none


@loops
def reciprocal_pivot(pivot: float) -> float:
    """1 / pivot, or 0 for a pivot that is none."""
    return where(abs(pivot) > NONE, 1.0 / pivot, 0.0)


@loops
def factor_lu(n: int, A: Lane) -> None:
    """L and U in place of A (n, n), row by row; on the diagonal 1 / U_ii, or 0 for a pivot that is none; n^3 / 3."""
    for i in range(0, n - 1, 2):
        eliminate_two(n, i, A)
    if n % 2 == 1:
        eliminate_last(n, A)


@loops
def eliminate_two(n: int, i: int, A: Lane) -> None:
    """Rows i and i + 1, i even."""
    a = i * n
    b = a + n
    for j in range(0, n - 1, 2):
        aj = A[a + j]
        al = A[a + j + 1]
        bj = A[b + j]
        bl = A[b + j + 1]
        for k in range(min(i, j)):
            c = k * n + j
            aj -= A[a + k] * A[c]
            al -= A[a + k] * A[c + 1]
            bj -= A[b + k] * A[c]
            bl -= A[b + k] * A[c + 1]
        if j < i:
            p = j * n + j
            aj = aj * A[p]
            bj = bj * A[p]
            al = (al - aj * A[p + 1]) * A[p + n + 1]
            bl = (bl - bj * A[p + 1]) * A[p + n + 1]
        elif j == i:
            aj = reciprocal_pivot(aj)
            bj = bj * aj
            bl = reciprocal_pivot(bl - bj * al)
        else:
            bj -= A[b + i] * aj
            bl -= A[b + i] * al
        A[a + j] = aj
        A[a + j + 1] = al
        A[b + j] = bj
        A[b + j + 1] = bl
    if n % 2 == 1:
        j = n - 1
        aj = A[a + j]
        bj = A[b + j]
        for k in range(i):
            aj -= A[a + k] * A[k * n + j]
            bj -= A[b + k] * A[k * n + j]
        A[a + j] = aj
        A[b + j] = bj - A[b + i] * aj


@loops
def eliminate_last(n: int, A: Lane) -> None:
    """The last row, n odd."""
    a = (n - 1) * n
    for j in range(0, n - 1, 2):
        aj = A[a + j]
        al = A[a + j + 1]
        for k in range(j):
            aj -= A[a + k] * A[k * n + j]
            al -= A[a + k] * A[k * n + j + 1]
        p = j * n + j
        aj = aj * A[p]
        A[a + j] = aj
        A[a + j + 1] = (al - aj * A[p + 1]) * A[p + n + 1]
    pivot = A[a + n - 1]
    for k in range(n - 1):
        pivot -= A[a + k] * A[k * n + n - 1]
    A[a + n - 1] = reciprocal_pivot(pivot)


@loops
def solve_lu(n: int, A: Lane, x: Lane) -> None:
    """x = (L U)^-1 x in place; n^2. Rows go in pairs, down with rising k, up with falling k."""
    for i in range(0, n - 1, 2):
        a = i * n
        b = a + n
        s = x[i]
        t = x[i + 1]
        for k in range(i):
            s -= A[a + k] * x[k]
            t -= A[b + k] * x[k]
        x[i] = s
        x[i + 1] = t - A[b + i] * s
    if n % 2 == 1:
        a = (n - 1) * n
        s = x[n - 1]
        for k in range(n - 1):
            s -= A[a + k] * x[k]
        x[n - 1] = s * A[a + n - 1]
    for i in range(n - n % 2 - 2, -1, -2):
        a = i * n
        b = a + n
        s = x[i]
        t = x[i + 1]
        for k in range(n - 1, i + 1, -1):
            s -= A[a + k] * x[k]
            t -= A[b + k] * x[k]
        t = t * A[b + i + 1]
        x[i + 1] = t
        x[i] = (s - A[a + i + 1] * t) * A[a + i]
