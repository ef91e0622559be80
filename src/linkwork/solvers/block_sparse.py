"""Systems of 6 x 6 blocks of any pattern that is the same on both sides of the diagonal, for sizes that only the run knows.

H w = g by block elimination: the order is that of least degree, ties by number; a block that is eliminated couples all its
neighbours. With D_b the block on the diagonal when its turn comes, and neighbours i, j that are still there,

    U_bj = D_b^-1 H_bj,    H_ij -= H_ib U_bj;      g_b = D_b^-1 g_b,    g_i -= H_ib g_b;      g_b -= U_bj g_j  on the way back.

Blocks on the diagonal are inverted with pivots, so H need not be symmetric; no pivots are sought outside them. The cost is that
of the fill: a pile whose bodies touch a few others each is eliminated in time proportional to their number, about. For one
lane: what is coupled steers the elimination.
"""

from __future__ import annotations

from ..kernel.loops import Ints, Lane, any, loops
from .lu import reciprocal_pivot

SIZE = 6  # of a block


@loops
def forget_couplings(n: int, slot: Ints, degree: Ints) -> None:
    """No block is there but those on the diagonal."""
    for k in range(n * n):
        slot[k] = -1
    for b in range(n):
        slot[b * n + b] = 0
        degree[b] = 0


@loops
def couple_blocks(n: int, a: int, b: int, slot: Ints, degree: Ints, near: Ints) -> None:
    """Two blocks are coupled; lists of neighbours begin at near[n n]."""
    if slot[a * n + b] < 0:
        slot[a * n + b] = 0
        slot[b * n + a] = 0
        near[(n + a) * n + degree[a]] = b
        near[(n + b) * n + degree[b]] = a
        degree[a] += 1
        degree[b] += 1


@loops
def order_blocks(n: int, slot: Ints, degree: Ints, order: Ints, first: Ints, near: Ints, left: Ints) -> int:
    """The order of elimination and where blocks lie; returns how many there are.

    slot     (n, n): not negative where blocks are coupled; becomes the number of the block, fill included
    degree   (n): how many neighbours were ever listed;   left (n): scratch, how many are still there, -1 of blocks that are gone
    order    (n): which is eliminated when
    near     (2 n n): the neighbours that are still there then, from first[p] to first[p + 1]
    """
    for b in range(n):
        left[b] = degree[b]
    count = 0
    first[0] = 0
    for p in range(n):
        best = -1
        for b in range(n):
            if left[b] >= 0 and (best < 0 or left[b] < left[best]):
                best = b
        order[p] = best
        left[best] = -1
        end = first[p]
        for k in range(degree[best]):
            j = near[(n + best) * n + k]
            if left[j] >= 0:
                near[end] = j
                end += 1
                left[j] -= 1
        first[p + 1] = end
        slot[best * n + best] = count
        count += 1
        for a in range(first[p], end):
            i = near[a]
            for c in range(first[p], a):
                if slot[i * n + near[c]] < 0:
                    couple_blocks(n, i, near[c], slot, degree, near)
                    left[i] += 1
                    left[near[c]] += 1
            slot[best * n + i] = count
            slot[i * n + best] = count + 1
            count += 2
    return count


@loops
def begin_blocks(n: int, count: int, slot: Ints, H: Lane) -> None:
    """H = 1."""
    for k in range(36 * count):
        H[k] = 0.0
    for b in range(n):
        for k in range(SIZE):
            H[36 * slot[b * n + b] + 7 * k] = 1.0


@loops
def add_product(at: int, factor: float, column: Lane, row: Lane, H: Lane) -> None:
    """Add factor column row^T to the block that begins at a number."""
    for r in range(SIZE):
        c = factor * column[r]
        a = at + SIZE * r
        for k in range(SIZE):
            H[a + k] += c * row[k]


@loops
def exchange_rows(D: Lane, r: int, c: int) -> None:
    """Two rows of a block change places."""
    for k in range(SIZE):
        x = D[SIZE * r + k]
        D[SIZE * r + k] = D[SIZE * c + k]
        D[SIZE * c + k] = x


@loops
def exchange_columns(D: Lane, r: int, c: int) -> None:
    """Two columns of a block change places."""
    for k in range(SIZE):
        x = D[SIZE * k + r]
        D[SIZE * k + r] = D[SIZE * k + c]
        D[SIZE * k + c] = x


@loops
def invert_block(D: Lane, pivots: Ints) -> None:
    """D^-1 in place of D, by Gauss and Jordan, with the largest pivot of every column."""
    for c in range(SIZE):
        r = c
        for k in range(c + 1, SIZE):
            if any(abs(D[SIZE * k + c]) > abs(D[SIZE * r + c])):
                r = k
        pivots[c] = r
        if r > c:
            exchange_rows(D, r, c)
        pivot = reciprocal_pivot(D[7 * c])
        D[7 * c] = 1.0
        for k in range(SIZE):
            D[SIZE * c + k] = pivot * D[SIZE * c + k]
        for r in range(SIZE):
            if r != c:
                part = D[SIZE * r + c]
                D[SIZE * r + c] = 0.0
                for k in range(SIZE):
                    D[SIZE * r + k] -= part * D[SIZE * c + k]
    for k in range(SIZE):
        c = SIZE - 1 - k
        if pivots[c] > c:
            exchange_columns(D, pivots[c], c)


@loops
def premultiply(D: Lane, B: Lane) -> None:
    """B becomes D B."""
    for c in range(SIZE):
        b0 = B[c]
        b1 = B[6 + c]
        b2 = B[12 + c]
        b3 = B[18 + c]
        b4 = B[24 + c]
        b5 = B[30 + c]
        for r in range(SIZE):
            a = SIZE * r
            one = D[a] * b0 + D[a + 1] * b1 + D[a + 2] * b2
            two = D[a + 3] * b3 + D[a + 4] * b4 + D[a + 5] * b5
            B[a + c] = one + two


@loops
def subtract_product(A: Lane, B: Lane, C: Lane) -> None:
    """C -= A B."""
    for r in range(SIZE):
        a = SIZE * r
        a0 = A[a]
        a1 = A[a + 1]
        a2 = A[a + 2]
        a3 = A[a + 3]
        a4 = A[a + 4]
        a5 = A[a + 5]
        for c in range(SIZE):
            one = C[a + c] - a0 * B[c] - a1 * B[6 + c] - a2 * B[12 + c]
            two = a3 * B[18 + c] + a4 * B[24 + c] + a5 * B[30 + c]
            C[a + c] = one - two


@loops
def factor_blocks(n: int, slot: Ints, order: Ints, first: Ints, near: Ints, pivots: Ints, H: Lane) -> None:
    """The factors in place of H."""
    for p in range(n):
        b = order[p]
        d = 36 * slot[b * n + b]
        invert_block(H[d:], pivots)
        for a in range(first[p], first[p + 1]):
            premultiply(H[d:], H[36 * slot[b * n + near[a]] :])
        for a in range(first[p], first[p + 1]):
            i = near[a]
            left = 36 * slot[i * n + b]
            for c in range(first[p], first[p + 1]):
                j = near[c]
                subtract_product(H[left:], H[36 * slot[b * n + j] :], H[36 * slot[i * n + j] :])


@loops
def multiply_away(A: Lane, x: Lane, y: Lane) -> None:
    """y -= A x of one block."""
    x0 = x[0]
    x1 = x[1]
    x2 = x[2]
    x3 = x[3]
    x4 = x[4]
    x5 = x[5]
    for r in range(SIZE):
        a = SIZE * r
        one = y[r] - A[a] * x0 - A[a + 1] * x1 - A[a + 2] * x2
        two = A[a + 3] * x3 + A[a + 4] * x4 + A[a + 5] * x5
        y[r] = one - two


@loops
def multiply_in_place(A: Lane, x: Lane) -> None:
    """x = A x of one block."""
    x0 = x[0]
    x1 = x[1]
    x2 = x[2]
    x3 = x[3]
    x4 = x[4]
    x5 = x[5]
    for r in range(SIZE):
        a = SIZE * r
        one = A[a] * x0 + A[a + 1] * x1 + A[a + 2] * x2
        two = A[a + 3] * x3 + A[a + 4] * x4 + A[a + 5] * x5
        x[r] = one + two


@loops
def solve_blocks(n: int, slot: Ints, order: Ints, first: Ints, near: Ints, H: Lane, w: Lane) -> None:
    """w = H^-1 w in place."""
    for p in range(n):
        b = order[p]
        multiply_in_place(H[36 * slot[b * n + b] :], w[SIZE * b :])
        for a in range(first[p], first[p + 1]):
            i = near[a]
            multiply_away(H[36 * slot[i * n + b] :], w[SIZE * b :], w[SIZE * i :])
    for k in range(n):
        p = n - 1 - k
        b = order[p]
        for a in range(first[p], first[p + 1]):
            multiply_away(H[36 * slot[b * n + near[a]] :], w[SIZE * near[a] :], w[SIZE * b :])
