"""Dense symmetric systems of any size, in all lanes at once: A x = b with A = L D L^T.

A symmetric matrix is packed: its lower triangle row by row, entry (i, j <= i) at i (i + 1) / 2 + j. With D = diag(1/d) and
C = L D, row i of A gives row i of C and of L from the rows above it:

    C_ij = A_ij - sum_{k < j} C_ik L_jk,    L_ij = C_ij d_j,    1/d_i = A_ii - sum_{k < i} C_ik L_ik          (j < i)

All sums run along rows, which are contiguous. One sum alone would wait for every product before the next: a product and sum
takes four cycles and a core starts one in each. So rows go in pairs, against pairs of rows above them: four sums at a time,
which share their four factors. Each sum has its terms in the order of k, whatever is done beside it. Costs are products and
sums.
"""

from __future__ import annotations

from ..kernel.loops import Lane, loops, maximum, where


@loops
def reciprocal(pivot: float, diagonal: float, tiny: float) -> float:
    """1 / pivot, or 0 where the pivot is not positive or tiny beside the diagonal it came from. NaN stays NaN."""
    return where(pivot <= tiny * maximum(diagonal, 0.0), 0.0, 1.0 / pivot)


@loops
def factor(n: int, A: Lane, d: Lane, tiny: float) -> None:
    """A = L diag(1/d) L^T in place of a packed symmetric matrix; n^3 / 6.

    L takes the place of A below the diagonal, which keeps the entries of A; the ones of L are not stored. A pivot that has
    shrunk to `tiny` times its diagonal entry, or is not positive, counts as zero: its d is 0, so is its column of L, and
    `solve` finds 0 for its unknown. Rows that depend on rows above them drop out in this way.
    """
    for i in range(0, n - 1, 2):
        eliminate_pair(i, A, d, tiny)
    if n % 2 == 1:
        eliminate_row(n - 1, A, d, tiny)


@loops
def eliminate_pair(i: int, A: Lane, d: Lane, tiny: float) -> None:
    """Rows i and i + 1 of L, i even, and their pivots."""
    a = i * (i + 1) // 2
    b = a + i + 1
    for j in range(0, i, 2):
        p = j * (j + 1) // 2
        q = p + j + 1
        ap = A[a + j]
        aq = A[a + j + 1]
        bp = A[b + j]
        bq = A[b + j + 1]
        for k in range(j):
            ap -= A[a + k] * A[p + k]
            aq -= A[a + k] * A[q + k]
            bp -= A[b + k] * A[p + k]
            bq -= A[b + k] * A[q + k]
        A[a + j] = ap
        A[a + j + 1] = aq - ap * A[q + j]
        A[b + j] = bp
        A[b + j + 1] = bq - bp * A[q + j]
    pivot = A[a + i]
    c = A[b + i]
    last = A[b + i + 1]
    for k in range(i):
        ca = A[a + k]
        cb = A[b + k]
        la = ca * d[k]
        lb = cb * d[k]
        A[a + k] = la
        A[b + k] = lb
        pivot -= ca * la
        c -= cb * la
        last -= cb * lb
    first = reciprocal(pivot, A[a + i], tiny)
    l = c * first
    A[b + i] = l
    d[i] = first
    d[i + 1] = reciprocal(last - c * l, A[b + i + 1], tiny)


@loops
def eliminate_row(i: int, A: Lane, d: Lane, tiny: float) -> None:
    """Row i of L, i even, and its pivot: the last row of a matrix of odd size."""
    a = i * (i + 1) // 2
    for j in range(0, i, 2):
        p = j * (j + 1) // 2
        q = p + j + 1
        ap = A[a + j]
        aq = A[a + j + 1]
        for k in range(j):
            ap -= A[a + k] * A[p + k]
            aq -= A[a + k] * A[q + k]
        A[a + j] = ap
        A[a + j + 1] = aq - ap * A[q + j]
    pivot = A[a + i]
    for k in range(i):
        c = A[a + k]
        l = c * d[k]
        A[a + k] = l
        pivot -= c * l
    d[i] = reciprocal(pivot, A[a + i], tiny)


@loops
def solve(n: int, L: Lane, d: Lane, x: Lane) -> None:
    """x = (L diag(1/d) L^T)^-1 x in place, with L and d of `factor`; n^2.

    L y = x row by row, y_i = x_i - sum_{k < i} L_ik y_k, z = d y, and L^T x = z from the last row up: once x_i is known,
    L_ik x_i is subtracted from all x_k above it. Rows go in pairs here too.
    """
    for i in range(0, n - 1, 2):
        a = i * (i + 1) // 2
        b = a + i + 1
        s = x[i]
        t = x[i + 1]
        for k in range(i):
            s -= L[a + k] * x[k]
            t -= L[b + k] * x[k]
        x[i] = s
        x[i + 1] = t - L[b + i] * s
    if n % 2 == 1:
        a = n * (n - 1) // 2
        s = x[n - 1]
        for k in range(n - 1):
            s -= L[a + k] * x[k]
        x[n - 1] = s
    for i in range(n):
        x[i] *= d[i]
    if n % 2 == 1:
        a = n * (n - 1) // 2
        s = x[n - 1]
        for k in range(n - 1):
            x[k] -= L[a + k] * s
    for i in range(n - n % 2 - 2, -1, -2):
        a = i * (i + 1) // 2
        b = a + i + 1
        t = x[i + 1]
        s = x[i] - L[b + i] * t
        x[i] = s
        for k in range(i):
            x[k] = x[k] - L[b + k] * t - L[a + k] * s


@loops
def product(n: int, A: Lane, x: Lane, y: Lane) -> None:
    """y = A x of a packed symmetric matrix, read once: entry (i, k) serves y_i and y_k; n^2. y is none of the others."""
    for i in range(n):
        a = i * (i + 1) // 2
        t = x[i]
        s = A[a + i] * t
        for k in range(i):
            s += A[a + k] * x[k]
            y[k] += A[a + k] * t
        y[i] = s
