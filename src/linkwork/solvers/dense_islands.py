"""Small islands by their matrix: what the search without one does not end (`sparse_cones`), the search with one does (`coulomb`).

A_ik = U_i . Y_k summed over the joints of both rows, in scaled rows, and `soft` on its diagonal. For one lane.
"""

from __future__ import annotations

from ..kernel.loops import Ints, Lane, loops, where
from .cone_search import PATIENCE, search_modes
from .sparse_rows import product

SMALL_MATRIX = 30  # rows: islands up to here get their matrix at once
MEDIUM_MATRIX, LARGEST_MATRIX = 48, 150  # the same where a search without it leaves something, and much
MATRIX_ROOM = 2 * LARGEST_MATRIX * LARGEST_MATRIX  # numbers: the matrix, and its factor


@loops
def row_matrix(m: int, at: Ints, block: Ints, U: Lane, Y: Lane, scale: Lane, soft: float, A: Lane) -> None:
    """A of scaled rows, (m, m), symmetric; rows that drop out have 1 on the diagonal."""
    for i in range(m):
        for k in range(i + 1):
            found = 0.0 * soft
            for e in range(at[i], at[i + 1]):
                for f in range(at[k], at[k + 1]):
                    if block[e] == block[f]:
                        found += product(U[6 * e :], Y[6 * f :])
            A[m * i + k] = found
            A[m * k + i] = found
        A[m * i + i] = where(scale[i] > 0.0, A[m * i + i] + soft, 1.0)


@loops
def solve_dense_island(
    m: int,
    most: int,
    kinds: Ints,
    at: Ints,
    block: Ints,
    U: Lane,
    Y: Lane,
    soft: float,
    bs: Lane,
    lo: Lane,
    hi: Lane,
    scale: Lane,
    xs: Lane,
    u: Lane,
    xn: Lane,
    un: Lane,
    best: Lane,
    inside: Lane,
    force: Lane,
    z: Lane,
    keep: Lane,
    turn: Lane,
    d: Lane,
    w: Lane,
    unknowns: Ints,
    K: Lane,
) -> bool:
    """x of scaled rows from xs on, in `best`, if it is small enough for a matrix; returns whether.

    most  rows, at most;   K  scratch of MATRIX_ROOM
    """
    if m > most:
        return False
    row_matrix(m, at, block, U, Y, scale, soft, K)
    w[0] = 0.0
    search_modes(
        m, kinds, xs, K, w, K[m * m :], scale, bs, lo, hi, u, xn, un, best, inside, force, z, keep, turn, d, unknowns,
        PATIENCE, 1.0 + 0.0 * soft,
    )  # fmt: skip
    for i in range(m):
        best[i] = where(scale[i] > 0.0, best[i], 0.0)
    return True
