"""Small islands by their matrix: what the search without one does not end (`sparse_cones`), the search with one does (`coulomb`).

A_ik = U_i . Y_k summed over the joints of both rows, in scaled rows, and `soft` on its diagonal. For one lane.
"""

from __future__ import annotations

from ..kernel.loops import Lane, loops, where
from .cone_modes import Modes
from .cone_rows import Rows, Search
from .cone_search import PATIENCE, search_modes
from .sparse_rows import Entries, product

SMALL_MATRIX = 30  # rows: islands up to here get their matrix at once
LARGEST_MATRIX = 150  # the same where a search without it leaves something
MATRIX_ROOM = 2 * LARGEST_MATRIX * LARGEST_MATRIX  # numbers: the matrix, and its factor


@loops
def row_matrix(m: int, rows: Rows, entries: Entries, soft: float, A: Lane) -> None:
    """A of scaled rows, (m, m), symmetric; rows that drop out have 1 on the diagonal."""
    for i in range(m):
        for k in range(i + 1):
            found = 0.0 * soft
            for e in range(entries.at[i], entries.at[i + 1]):
                for f in range(entries.at[k], entries.at[k + 1]):
                    if entries.block[e] == entries.block[f]:
                        found += product(entries.U[6 * e :], entries.Y[6 * f :])
            A[m * i + k] = found
            A[m * k + i] = found
        A[m * i + i] = where(rows.scale[i] > 0.0, A[m * i + i] + soft, 1.0)


@loops
def solve_dense_island(
    m: int, most: int, rows: Rows, entries: Entries, soft: float, s: Search, modes: Modes, w: Lane, K: Lane
) -> bool:
    """x of scaled rows from xs on, in `best`, if it is small enough for a matrix; returns whether.

    most  rows, at most;   K  scratch of MATRIX_ROOM
    """
    if m > most:
        return False
    row_matrix(m, rows, entries, soft, K)
    w[0] = 0.0
    search_modes(m, rows, s, modes, K, K, w, K[m * m :], PATIENCE, 0, 1.0 + 0.0 * soft)
    for i in range(m):
        s.best[i] = where(rows.scale[i] > 0.0, s.best[i], 0.0)
    return True
