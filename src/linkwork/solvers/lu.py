"""Dense systems of any size without symmetry, in all lanes at once: A x = b with A = L U, rows in the order given.

Lanes would want different pivots, so there are none: the matrix is to have a positive definite symmetric part, or nearly. Row by
row, with ones on the diagonal of L,

    L_ij = (A_ij - sum_{k < j} L_ik U_kj) / U_jj   (j < i),    U_ij = A_ij - sum_{k < i} L_ik U_kj   (j >= i)

Rows go in fours, against pairs of columns: eight sums at a time, which share their factors, as a core starts two products and
sums in a cycle and each takes four (see `dense`). Each sum has its terms in the order of k, whatever is done beside it; so one
lane, in which vectors run along the rows (`lu_text`), rounds alike.
"""

from __future__ import annotations

from ..kernel.loops import Lane, loops, where
from ..kernel.one_lane import in_one_lane
from ..kernel.products import add_scaled
from .lu_text import NONE, factor_ir


@loops
def reciprocal_pivot(pivot: float) -> float:
    """1 / pivot, or 0 for a pivot that is none."""
    return where(abs(pivot) > NONE, 1.0 / pivot, 0.0)


@in_one_lane(factor_ir)
def factor_lu(n: int, A: Lane) -> None:
    """L and U in place of A (n, n), row by row; on the diagonal 1 / U_ii, or 0 for a pivot that is none; n^3 / 3."""
    for i in range(0, n - 3, 4):
        eliminate_four(n, i, A)
    if n % 4 > 1:
        eliminate_two(n, n - n % 4, A)
    if n % 2 == 1:
        eliminate_last(n, A)


@loops
def eliminate_four(n: int, i: int, A: Lane) -> None:
    """Rows i to i + 3, i a multiple of four."""
    a = i * n
    b = a + n
    c = b + n
    d = c + n
    for j in range(0, n - 1, 2):
        aj = A[a + j]
        al = A[a + j + 1]
        bj = A[b + j]
        bl = A[b + j + 1]
        cj = A[c + j]
        cl = A[c + j + 1]
        dj = A[d + j]
        dl = A[d + j + 1]
        for k in range(min(i, j)):
            p = k * n + j
            aj -= A[a + k] * A[p]
            al -= A[a + k] * A[p + 1]
            bj -= A[b + k] * A[p]
            bl -= A[b + k] * A[p + 1]
            cj -= A[c + k] * A[p]
            cl -= A[c + k] * A[p + 1]
            dj -= A[d + k] * A[p]
            dl -= A[d + k] * A[p + 1]
        if j < i:
            p = j * n + j
            aj = aj * A[p]
            bj = bj * A[p]
            cj = cj * A[p]
            dj = dj * A[p]
            al = (al - aj * A[p + 1]) * A[p + n + 1]
            bl = (bl - bj * A[p + 1]) * A[p + n + 1]
            cl = (cl - cj * A[p + 1]) * A[p + n + 1]
            dl = (dl - dj * A[p + 1]) * A[p + n + 1]
        elif j == i:
            aj = reciprocal_pivot(aj)
            bj = bj * aj
            cj = cj * aj
            dj = dj * aj
            bl = reciprocal_pivot(bl - bj * al)
            cl = (cl - cj * al) * bl
            dl = (dl - dj * al) * bl
        else:
            bj -= A[b + i] * aj
            bl -= A[b + i] * al
            cj -= A[c + i] * aj
            cl -= A[c + i] * al
            dj -= A[d + i] * aj
            dl -= A[d + i] * al
            cj -= A[c + i + 1] * bj
            cl -= A[c + i + 1] * bl
            dj -= A[d + i + 1] * bj
            dl -= A[d + i + 1] * bl
            if j == i + 2:
                cj = reciprocal_pivot(cj)
                dj = dj * cj
                dl = reciprocal_pivot(dl - dj * cl)
            else:
                dj -= A[d + i + 2] * cj
                dl -= A[d + i + 2] * cl
        A[a + j] = aj
        A[a + j + 1] = al
        A[b + j] = bj
        A[b + j + 1] = bl
        A[c + j] = cj
        A[c + j + 1] = cl
        A[d + j] = dj
        A[d + j + 1] = dl
    if n % 2 == 1:
        j = n - 1
        aj = A[a + j]
        bj = A[b + j]
        cj = A[c + j]
        dj = A[d + j]
        for k in range(i):
            aj -= A[a + k] * A[k * n + j]
            bj -= A[b + k] * A[k * n + j]
            cj -= A[c + k] * A[k * n + j]
            dj -= A[d + k] * A[k * n + j]
        A[a + j] = aj
        bj -= A[b + i] * aj
        A[b + j] = bj
        cj -= A[c + i] * aj
        cj -= A[c + i + 1] * bj
        A[c + j] = cj
        dj -= A[d + i] * aj
        dj -= A[d + i + 1] * bj
        A[d + j] = dj - A[d + i + 2] * cj


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
    """x = (L U)^-1 x in place; n^2. Four rows at a time, down with rising k, up with falling k."""
    fours = n - n % 4
    for i in range(0, fours, 4):
        a = i * n
        b = a + n
        c = b + n
        d = c + n
        s = x[i]
        t = x[i + 1]
        v = x[i + 2]
        w = x[i + 3]
        for k in range(i):
            s -= A[a + k] * x[k]
            t -= A[b + k] * x[k]
            v -= A[c + k] * x[k]
            w -= A[d + k] * x[k]
        t -= A[b + i] * s
        v -= A[c + i] * s
        w -= A[d + i] * s
        v -= A[c + i + 1] * t
        w -= A[d + i + 1] * t
        x[i] = s
        x[i + 1] = t
        x[i + 2] = v
        x[i + 3] = w - A[d + i + 2] * v
    if n % 4 > 1:
        a = fours * n
        b = a + n
        s = x[fours]
        t = x[fours + 1]
        for k in range(fours):
            s -= A[a + k] * x[k]
            t -= A[b + k] * x[k]
        x[fours] = s
        x[fours + 1] = t - A[b + fours] * s
    if n % 2 == 1:
        a = (n - 1) * n
        s = x[n - 1]
        for k in range(n - 1):
            s -= A[a + k] * x[k]
        x[n - 1] = s
    for i in range(n - 1, fours - 1, -1):
        a = i * n
        s = x[i]
        for k in range(n - 1, i, -1):
            s -= A[a + k] * x[k]
        x[i] = s * A[a + i]
    for i in range(fours - 4, -1, -4):
        a = i * n
        b = a + n
        c = b + n
        d = c + n
        s = x[i]
        t = x[i + 1]
        v = x[i + 2]
        w = x[i + 3]
        for k in range(n - 1, i + 3, -1):
            s -= A[a + k] * x[k]
            t -= A[b + k] * x[k]
            v -= A[c + k] * x[k]
            w -= A[d + k] * x[k]
        w = w * A[d + i + 3]
        s -= A[a + i + 3] * w
        t -= A[b + i + 3] * w
        v = (v - A[c + i + 3] * w) * A[c + i + 2]
        s -= A[a + i + 2] * v
        t = (t - A[b + i + 2] * v) * A[b + i + 1]
        x[i] = (s - A[a + i + 1] * t) * A[a + i]
        x[i + 1] = t
        x[i + 2] = v
        x[i + 3] = w


@loops
def solve_transposed_lu(n: int, A: Lane, x: Lane) -> None:
    """x = (L U)^-T x in place; n^2. Numbers that are known leave the others, along rows of U, then of L."""
    for i in range(n):
        x[i] = x[i] * A[i * n + i]
        add_scaled(n - 1 - i, -x[i], A, i * n + i + 1, x, i + 1)
    for i in range(n - 1, 0, -1):
        add_scaled(i, -x[i], A, i * n, x, 0)
