"""Complementarity with a matrix of any kind, some rows being equalities: Lemke's method of complementary pivots.

    w = A x + b:   w = 0 where x is free,   0 <= x, 0 <= w, x w = 0 where its lower bound is 0

Equalities are eliminated by Gauss and Jordan with pivots of any row and column; those that others imply, where no pivot is left,
get no force. What only pushes is left with its own part of the problem, for Lemke: the tableau of w - M z - e z0 = q starts with
z0 large enough; each pivot brings in the partner of what left, until z0 does. Which pivot is next depends on numbers, so all
lanes would have to agree: programs with these routines run in one lane.
"""

from __future__ import annotations

import numpy as np

from ..errors import SolverError
from ..kernel.lanes import Lanes
from ..kernel.loops import Ints, Lane, Table, any, loops, maximum

RANK = 1e-12  # of the largest entry of the equalities: smaller pivots are rounding
ZERO = 1e-12  # relative: below, a number counts as zero in the ratio test
FREE = -1e300
NOTHING = np.nan
PATIENCE = 50  # pivots, times the rows
CONTRADICTION = 1e-7  # what may be left of an equality, relative to the largest terms


def mixed(A: np.ndarray, b: np.ndarray, unilateral: np.ndarray) -> np.ndarray:
    """x with w = A x + b: w = 0 where bilateral, 0 <= x, 0 <= w, x w = 0 where unilateral."""
    m = len(b)
    x, rest, z, active = np.zeros(m), np.zeros(m), np.zeros(m), np.arange(-1, m)
    active[0], lower, room = m, np.where(unilateral, 0.0, -np.inf), m * (2 * m + 4)
    whole = [np.zeros(room, np.int64) for _ in range(3)]
    solve_mixed.call(Lanes(1), active, np.array(b, float), lower, x, A.flatten(), rest, z, np.zeros(room), *whole)
    if not np.isfinite(x).all():
        raise SolverError("Lemke's method: what pushes cannot stop what it measures (the problem ends in a ray)")
    left, terms = np.abs(A @ x + b)[~unilateral], (np.abs(A) @ np.abs(x) + np.abs(b))[~unilateral]
    if np.any(left > CONTRADICTION * terms.max(initial=0.0)):
        raise SolverError("the equalities are singular, and contradict one another or ask for what their forces cannot change")
    return x


def lemke(M: np.ndarray, q: np.ndarray) -> np.ndarray:
    """z >= 0 with w = M z + q >= 0 and z w = 0."""
    return mixed(M, q, np.full(len(q), True)) if len(q) else np.zeros(0)


@loops
def general_gram(active: Ints, starts: Table, nodes: Table, places: Table, sizes: Table, u: Lane, y: Lane, A: Lane) -> None:
    """A_rs: the sum of u_r . y_s over the nodes on both paths, row by row, by the order of the list."""
    m = active[0]
    for i in range(m):
        r = active[i + 1]
        for j in range(m):
            s = active[j + 1]
            total = 0.0 * u[0]
            a = starts[r]
            b = starts[s]
            while a < starts[r + 1] and b < starts[s + 1]:
                if nodes[a] == nodes[b]:
                    for k in range(sizes[a]):
                        total += u[places[a] + k] * y[places[b] + k]
                    a += 1
                    b += 1
                elif nodes[a] < nodes[b]:
                    a += 1
                else:
                    b += 1
            A[i * m + j] = total


@loops
def eliminate_equalities(m: int, active: Ints, lower: Lane, A: Lane, b: Lane, pivots: Ints) -> int:
    """Solve the equalities for their unknowns, in place of A x + b: how many of them have a pivot.

    pivots   the row of the i-th at i, its column at m + i; at 2 m + i whether row i is used, at 3 m + i column i
    """
    largest = 0.0 * A[0]
    for i in range(m):
        pivots[2 * m + i] = 0
        pivots[3 * m + i] = 0
        if any(lower[active[i + 1]] < FREE):
            for j in range(m):
                if any(lower[active[j + 1]] < FREE) and any(abs(A[i * m + j]) > largest):
                    largest = abs(A[i * m + j])
        else:
            pivots[2 * m + i] = 1
            pivots[3 * m + i] = 1
    count = 0
    while count < m:
        best = RANK * largest
        row = 0
        column = 0
        found = 0
        for i in range(m):
            for j in range(m):
                if pivots[2 * m + i] + pivots[3 * m + j] == 0 and any(abs(A[i * m + j]) > best):
                    best = abs(A[i * m + j])
                    row = i
                    column = j
                    found = 1
        if found == 0:
            break
        pivots[count] = row
        pivots[m + count] = column
        pivots[2 * m + row] = 1
        pivots[3 * m + column] = 1
        inverse = 1.0 / A[row * m + column]
        for j in range(m):
            A[row * m + j] = A[row * m + j] * inverse
        b[row] = b[row] * inverse
        for i in range(m):
            if i != row:
                factor = A[i * m + column]
                for j in range(m):
                    A[i * m + j] = A[i * m + j] - factor * A[row * m + j]
                b[i] = b[i] - factor * b[row]
        count += 1
    return count


@loops
def leaving_row(n: int, entering: int, T: Lane, basis: Ints) -> int:
    """The row of the least ratio, or n if there is none; among equals the one of z0, which ends the method."""
    C = 2 * n + 2
    size = 1.0 + 0.0 * T[0]
    for i in range(n):
        size = maximum(size, abs(T[i * C + entering]))
    row = n
    least = 0.0 * T[0]
    for i in range(n):
        if any(T[i * C + entering] > ZERO * size):
            ratio = T[i * C + 2 * n + 1] / T[i * C + entering]
            near = ZERO * maximum(abs(least), 1.0)
            if row == n or any(ratio < least - near) or (basis[i] == 2 * n and any(ratio <= least + near)):
                row = i
                least = ratio
    return row


@loops
def complementary_pivots(n: int, T: Lane, basis: Ints, x: Lane) -> None:
    """z >= 0 with w = M z + q >= 0 and z w = 0, or no numbers; T (n, 2 n + 2) has columns for w, z, z0 and q."""
    C = 2 * n + 2
    row = 0
    for i in range(n):
        x[i] = 0.0
        basis[i] = i
        if any(T[i * C + 2 * n + 1] < T[row * C + 2 * n + 1]):
            row = i
    entering = 2 * n
    pivots = 0
    if n > 0 and any(T[row * C + 2 * n + 1] < 0.0):
        while row < n and pivots < PATIENCE * (n + 1):
            leaving = basis[row]
            basis[row] = entering
            inverse = 1.0 / T[row * C + entering]
            for j in range(C):
                T[row * C + j] = T[row * C + j] * inverse
            for i in range(n):
                if i != row:
                    factor = T[i * C + entering]
                    for j in range(C):
                        T[i * C + j] = T[i * C + j] - factor * T[row * C + j]
            pivots += 1
            if leaving == 2 * n:
                break
            entering = leaving + n
            if leaving >= n:
                entering = leaving - n
            row = leaving_row(n, entering, T, basis)
        for i in range(n):
            if basis[i] == 2 * n:
                x[0] = NOTHING
            elif basis[i] >= n:
                x[basis[i] - n] = maximum(T[i * C + 2 * n + 1], 0.0) + 0.0 * x[0]


@loops
def solve_mixed(
    active: Ints, b: Lane, lower: Lane, x: Lane, A: Lane, rest: Lane, z: Lane, T: Lane, pivots: Ints, pushing: Ints, basis: Ints
) -> None:
    """The multipliers x of the listed rows; NaN where there are none. All after A is scratch, and A is used up."""
    m = active[0]
    n = 0
    for i in range(m):
        rest[i] = b[active[i + 1]]
        if not any(lower[active[i + 1]] < FREE):
            pushing[n] = i
            n += 1
    count = eliminate_equalities(m, active, lower, A, rest, pivots)
    C = 2 * n + 2
    for i in range(n):
        for j in range(n):
            T[i * C + j] = 0.0
            T[i * C + n + j] = -A[pushing[i] * m + pushing[j]]
        T[i * C + i] = 1.0
        T[i * C + 2 * n] = -1.0
        T[i * C + 2 * n + 1] = rest[pushing[i]]
    complementary_pivots(n, T, basis, z)
    for j in range(n):
        x[active[pushing[j] + 1]] = z[j]
    for i in range(count):
        row = pivots[i]
        total = -rest[row]
        for j in range(n):
            total -= A[row * m + pushing[j]] * z[j]
        x[active[pivots[m + i] + 1]] = total
