"""Systems of 6 x 6 blocks of any pattern that is the same on both sides of the diagonal, for sizes that only the run knows.

H w = g by block elimination: the order is that of least degree, ties by number; a block that is eliminated couples all its
neighbours. With D_b the block on the diagonal when its turn comes, and neighbours i, j that are still there,

    U_bj = D_b^-1 H_bj,    H_ij -= H_ib U_bj;      g_b = D_b^-1 g_b,    g_i -= H_ib g_b;      g_b -= U_bj g_j  on the way back.

Blocks on the diagonal are inverted with pivots, so H need not be symmetric; no pivots are sought outside them. The cost is that
of the fill: a pile whose bodies touch a few others each is eliminated in time proportional to their number, about. For one
lane: what is coupled steers the elimination.
"""

from __future__ import annotations

from ..kernel.loops import Arrays, Ints, Lane, any, loops
from .lu import reciprocal_pivot

SIZE = 6  # of a block


class Blocks(Arrays):
    """A system of n blocks.

    slot     (n, n): not negative where blocks are coupled; in the end the number of the block, fill included
    degree   (n): how many neighbours were ever listed
    gone     (n): how many are still there, -1 of blocks that are gone
    order    (n): which is eliminated when
    first    (n + 1), near (2 n n): the neighbours that are still there then, from first[p] to first[p + 1]
    pivots   (6): scratch
    H        (blocks, 36): the system, or its factors
    """

    slot: Ints
    degree: Ints
    gone: Ints
    order: Ints
    first: Ints
    near: Ints
    pivots: Ints
    H: Lane


@loops
def forget_couplings(n: int, blocks: Blocks) -> None:
    """No block is there but those on the diagonal."""
    for k in range(n * n):
        blocks.slot[k] = -1
    for b in range(n):
        blocks.slot[b * n + b] = 0
        blocks.degree[b] = 0


@loops
def couple_blocks(n: int, a: int, b: int, blocks: Blocks) -> None:
    """Two blocks are coupled; lists of neighbours begin at near[n n]."""
    if blocks.slot[a * n + b] < 0:
        blocks.slot[a * n + b] = 0
        blocks.slot[b * n + a] = 0
        blocks.near[(n + a) * n + blocks.degree[a]] = b
        blocks.near[(n + b) * n + blocks.degree[b]] = a
        blocks.degree[a] += 1
        blocks.degree[b] += 1


@loops
def order_blocks(n: int, blocks: Blocks) -> int:
    """The order of elimination and where blocks lie; returns how many there are."""
    for b in range(n):
        blocks.gone[b] = blocks.degree[b]
    count = 0
    blocks.first[0] = 0
    for p in range(n):
        best = -1
        for b in range(n):
            if blocks.gone[b] >= 0 and (best < 0 or blocks.gone[b] < blocks.gone[best]):
                best = b
        blocks.order[p] = best
        blocks.gone[best] = -1
        end = blocks.first[p]
        for k in range(blocks.degree[best]):
            j = blocks.near[(n + best) * n + k]
            if blocks.gone[j] >= 0:
                blocks.near[end] = j
                end += 1
                blocks.gone[j] -= 1
        blocks.first[p + 1] = end
        blocks.slot[best * n + best] = count
        count += 1
        for a in range(blocks.first[p], end):
            i = blocks.near[a]
            for c in range(blocks.first[p], a):
                if blocks.slot[i * n + blocks.near[c]] < 0:
                    couple_blocks(n, i, blocks.near[c], blocks)
                    blocks.gone[i] += 1
                    blocks.gone[blocks.near[c]] += 1
            blocks.slot[best * n + i] = count
            blocks.slot[i * n + best] = count + 1
            count += 2
    return count


@loops
def begin_blocks(n: int, count: int, blocks: Blocks) -> None:
    """H = 1."""
    for k in range(36 * count):
        blocks.H[k] = 0.0
    for b in range(n):
        for k in range(SIZE):
            blocks.H[36 * blocks.slot[b * n + b] + 7 * k] = 1.0


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
def factor_blocks(n: int, blocks: Blocks) -> None:
    """The factors in place of H."""
    for p in range(n):
        b = blocks.order[p]
        d = 36 * blocks.slot[b * n + b]
        invert_block(blocks.H[d:], blocks.pivots)
        for a in range(blocks.first[p], blocks.first[p + 1]):
            premultiply(blocks.H[d:], blocks.H[36 * blocks.slot[b * n + blocks.near[a]] :])
        for a in range(blocks.first[p], blocks.first[p + 1]):
            i = blocks.near[a]
            left = 36 * blocks.slot[i * n + b]
            for c in range(blocks.first[p], blocks.first[p + 1]):
                j = blocks.near[c]
                right = 36 * blocks.slot[b * n + j]
                subtract_product(blocks.H[left:], blocks.H[right:], blocks.H[36 * blocks.slot[i * n + j] :])


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
def solve_blocks(n: int, blocks: Blocks, w: Lane) -> None:
    """w = H^-1 w in place."""
    for p in range(n):
        b = blocks.order[p]
        multiply_in_place(blocks.H[36 * blocks.slot[b * n + b] :], w[SIZE * b :])
        for a in range(blocks.first[p], blocks.first[p + 1]):
            i = blocks.near[a]
            multiply_away(blocks.H[36 * blocks.slot[i * n + b] :], w[SIZE * b :], w[SIZE * i :])
    for k in range(n):
        p = n - 1 - k
        b = blocks.order[p]
        for a in range(blocks.first[p], blocks.first[p + 1]):
            multiply_away(blocks.H[36 * blocks.slot[b * n + blocks.near[a]] :], w[SIZE * blocks.near[a] :], w[SIZE * b :])
