"""Which rows of a state act: only these are in the matrices of `linear_rows` and `linear_out`, whatever a model may touch.

A row that does not act keeps its multiplier: in its row of P_u there is nothing, in that of P_x a one on the diagonal alone. So
its row of T = P_u A + P_x is a unit one; in T^T x = r the others do not know of it, and its own x is multiplied by nothing. The
same holds for rows of the displacement that pushes out which are not free. Limits far from their ends and open contacts are such
rows.
"""

from __future__ import annotations

from ..kernel.loops import Ints, Lane, Table, any, loops
from .linear_tables import FROM_G, FROM_SLOPES, G_STEP, PLACE, PLACE_ROW, PLACE_ROWS, SLOPES_STEP


@loops
def acts(width: int, r: int, first: int, end: int, P_u: Lane, P_x: Lane) -> bool:
    """Whether the mode of row r lets its multiplier change, or what it sees counts in another row, one of its law."""
    own = r * width - first
    if any(P_x[own + r] != 1.0):
        return True
    for k in range(first, end):
        if any((P_u[own + k] != 0.0) | (P_u[k * width + r - first] != 0.0)):
            return True
        if k != r and any(P_x[own + k] != 0.0):
            return True
    return False


@loops
def list_acting(
    rows: int,
    modal_width: int,
    row_first: Table,
    row_end: Table,
    displaced: int,
    displaced_rows: Table,
    P_u: Lane,
    P_x: Lane,
    out_free: Lane,
    acting: Ints,
    before: Ints,
    out_acting: Ints,
    out_before: Ints,
    out_among: Ints,
) -> None:
    """The rows that act, and of displaced rows those that are free, which act in any case.

    acting       how many, then they
    before       of every row how many act before it, and at the end of all
    out_acting, out_before   the same of displaced rows, by their numbers among these
    out_among    the numbers of those that are free among all that act
    """
    m = 0
    d = 0
    i = 0
    for r in range(rows):
        before[r] = m
        counts = 0
        if i < displaced and displaced_rows[i] == r:
            out_before[i] = d
            if any(out_free[r] > 0.0):
                out_acting[d + 1] = i
                out_among[d] = m
                d += 1
                counts = 1
            i += 1
        if counts == 0 and acts(modal_width, r, row_first[r], row_end[r], P_u, P_x):
            counts = 1
        acting[m + 1] = r  # stays if the row acts
        m += counts
    before[rows] = m
    acting[0] = m
    out_before[displaced] = d
    out_acting[0] = d


@loops
def list_runs(place: int, places: Table, before: Ints, runs: Ints) -> None:
    """Of rows at one port at even distances, `places`, those that act, one run of them after the other: how many runs, then what
    `places` has of each. Rows have their numbers among those that act."""
    n = 0
    for e in range(place):
        at = PLACE * e
        row = places[at + PLACE_ROW]
        count = places[at + PLACE_ROWS]
        i = 0
        while i < count:
            first = i
            while i < count and before[row + i + 1] > before[row + i]:
                i += 1
            if i > first:
                o = 1 + PLACE * n
                for k in range(PLACE):
                    runs[o + k] = places[at + k]
                runs[o + PLACE_ROW] = before[row + first]
                runs[o + PLACE_ROWS] = i - first
                runs[o + FROM_G] += first * places[at + G_STEP]
                runs[o + FROM_SLOPES] += first * places[at + SLOPES_STEP]
                n += 1
            else:
                i += 1
    runs[0] = n


@loops
def list_pushed(
    lanes: int, pushing: int, pushing_rows: Table, out_free: Lane, pushed: Ints, pushed_before: Ints, filled: Lane
) -> None:
    """Of rows that push those that are free, as in `list_acting`.

    filled   of every `lanes` places for such rows, whether there are some: 1, else 0
    """
    n = 0
    for p in range(pushing):
        if p % lanes == 0:
            filled[p // lanes] = 0.0
        pushed_before[p] = n
        if any(out_free[pushing_rows[p]] > 0.0):
            filled[n // lanes] = 1.0
            n += 1
            pushed[n] = p
    pushed_before[pushing] = n
    pushed[0] = n
