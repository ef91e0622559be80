"""The matrix of rows lane by lane: of the rows that are listed, those that are on in the lane.

As `boxes.gram`, A_rs is the sum of u_r . y_s over the joints on both paths (`elements.supports`). Of a lane the y of all own rows
lie side by side, a row of numbers for every freedom; then a row of A is a sum of the rows of freedoms on one path.
"""

from __future__ import annotations

from ..kernel.combination import combine
from ..kernel.lane_by_lane import lane_by_lane
from ..kernel.loops import Ints, Lane, Strided, Table, loops
from ..kernel.products import clear
from .own_rows import list_own, on_alike


@loops
def clear_matrix(active: Ints, A: Lane) -> None:
    """Zeros of rows that are listed, in all lanes at once."""
    for i in range(active[0] * (active[0] + 1) // 2):
        A[i] = 0.0


@lane_by_lane(on_alike)
def own_gram(
    active: Ints,
    starts: Table,
    places: Table,
    unknowns: Table,
    u: Strided,
    y: Strided,
    columns: Lane,
    A: Strided,
    nv: int,
    on: Strided,
    own: Ints,
    path: Ints,
    force: Lane,
    row: Lane,
) -> None:
    """A of own rows, packed by the order of the list; other entries stay.

    columns   scratch: nv times the rows, and 7 more;   path, force, row   scratch: of freedoms, of rows and 7 more
    """
    n = list_own(active, on, own)
    wide = (n + 7) // 8 * 8
    clear(nv * wide, columns)
    for p in range(n):
        r = active[own[p] + 1]
        for e in range(starts[r], starts[r + 1]):
            columns[unknowns[e] * wide + p] = y[places[e]]
    for p in range(n):
        r = active[own[p] + 1]
        first = starts[r]
        count = starts[r + 1] - first
        for k in range(count):
            path[k] = unknowns[first + k]
            force[k] = u[places[first + k]]
        combine(count, path, force, columns, wide, (p + 8) // 8 * 8, row)
        at = own[p] * (own[p] + 1) // 2
        for q in range(p + 1):
            A[at + own[q]] = row[q]
