"""Of the rows that are listed, those of a lane: where states touch in different places, every lane solves its own, densely.

In a batch what is on in some lane is listed (`boxes.gather`), often twice as much as is on in each; and the work of a solver
grows with the third power. So solvers go lane by lane (`kernel.lane_by_lane`) on the rows that are on in the lane. The rows of
one contact stand together, and are on together.
"""

from __future__ import annotations

from ..kernel.loops import Arrays, Ints, Lane, Mask, Strided, Table, all, any, loops, where
from ..kernel.one_lane import in_strided_lane
from .cone_rows import Rows, find_scale
from .own_text import taken_row_ir


class Listed(Arrays):
    """Rows of a problem (`problem`), of which some are listed.

    active   how many take part, then they; the rows of one contact stand together, and are on together
    cones    of every row what it is
    mu       coefficients of rows that others bound; of a Coulomb cone that of its first tangent
    x        multipliers: a start, and what was found; zero, and left alone, where rows are off
    """

    active: Ints
    cones: Table
    mu: Strided
    on: Strided
    b: Strided
    lower: Strided
    upper: Strided
    x: Strided


@loops
def on_alike(active: Ints, on: Strided) -> bool:
    """Whether the same rows are on in all lanes."""
    for i in range(active[0]):
        here = on[active[i + 1]] > 0.0
        if any(here) and not all(here):
            return False
    return True


@loops
def list_own(active: Ints, on: Strided, own: Ints) -> int:
    """The places in the list of the rows that are on in the lane. Returns how many."""
    n = 0
    for i in range(active[0]):
        own[n] = i  # stays if the row is on
        if any(on[active[i + 1]] > 0.0):
            n += 1
    return n


@loops
def take_rows(n: int, own: Ints, listed: Listed, rows: Rows, here: Lane, coefficient: Lane, xs: Lane) -> None:
    """Of own rows what they are, 1 or 0, b, bounds, coefficients and x."""
    for p in range(n):
        r = listed.active[own[p] + 1]
        rows.kinds[p] = listed.cones[r]
        here[p] = listed.on[r]
        rows.bs[p] = listed.b[r]
        rows.lo[p] = listed.lower[r]
        rows.hi[p] = listed.upper[r]
        coefficient[p] = listed.mu[r]
        xs[p] = listed.x[r]


@in_strided_lane(taken_row_ir)
def take_row(n: int, p: int, own: Ints, scale: Lane, packed: Strided, A: Lane) -> None:
    """Row p and column p of A (n, n) before the diagonal, in scaled rows, of own rows of a packed symmetric matrix."""
    row = own[p] * (own[p] + 1) // 2
    for q in range(p):
        A[p * n + q] = packed[row + own[q]] * (scale[p] * scale[q])
        A[q * n + p] = A[p * n + q]


@loops
def take_packed(n: int, own: Ints, rows: Rows, here: Lane, packed: Strided, A: Lane) -> None:
    """The matrix of own rows in scaled rows, of a packed symmetric one of the list (`gram.gram`), and the scale."""
    for p in range(n):
        A[p * n + p] = packed[own[p] * (own[p] + 1) // 2 + own[p]]
    find_scale(n, rows.kinds, here, A, rows.scale)
    for p in range(n):
        take_row(n, p, own, rows.scale, packed, A)


@loops
def take_whole(n: int, own: Ints, rows: Rows, here: Lane, m: int, whole: Strided, A: Lane, At: Lane) -> None:
    """The same of a matrix of the list (m, m), row by row, and it transposed."""
    for p in range(n):
        A[p * n + p] = whole[(m + 1) * own[p]]
    find_scale(n, rows.kinds, here, A, rows.scale)
    for p in range(n):
        for q in range(n):
            if p != q:
                A[p * n + q] = whole[m * own[p] + own[q]] * (rows.scale[p] * rows.scale[q])
            At[q * n + p] = A[p * n + q]


@loops
def hand_back(n: int, own: Ints, listed: Listed, xs: Lane, rounds: Strided) -> None:
    """x of own rows. It stays where the search has been left."""
    left = rounds[0] < 0.0
    for p in range(n):
        r = listed.active[own[p] + 1]
        listed.x[r] = where(left, listed.x[r], xs[p])


@loops
def search_left(rounds: Strided) -> Mask:
    """Lanes whose search has been left, as it took longer than that of others."""
    return rounds[0] < 0.0
