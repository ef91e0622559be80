"""Problems with boxes (`boxes`) where many of the listed rows are off: every lane solves its own rows, all lanes at once.

The rows that are on in a lane go one after another into slots, other rows in every lane. So there are as many slots as the lane
with the most rows needs, often half of the list; and as sums have their terms in the same order, numbers are the same to the bit.
"""

from __future__ import annotations

from ..kernel.loops import Ints, Lane, any, loops, where
from .box_walk import Scaled
from .boxes import EPS, Boxes, solve_in_scales, unit_scales


@loops
def take_slots(
    active: Ints,
    b: Lane,
    lower: Lane,
    upper: Lane,
    A: Lane,
    scale: Lane,
    bs: Lane,
    lo: Lane,
    hi: Lane,
    places: Lane,
    rows: Lane,
    slots: Ints,
) -> None:
    """Of the rows that have a scale in a lane: `places` in the list and `rows`, b, bounds, scale and matrix; others are empty.

    Slots are listed as rows are. Scales and the packed matrix move up in place: what is read lies behind all that was written.
    """
    count = where(scale[0] > 0.0, 0.0, 0.0)
    for i in range(active[0]):
        here = scale[i] > 0.0
        if any(here):
            places[count] = float(i)  # stays if it is one
            rows[count] = float(active[i + 1])
            count = where(here, count + 1.0, count)
    n = 0
    while any(count > n):
        slots[n + 1] = n
        n += 1
    slots[0] = n
    for p in range(n):
        here = count > p
        place = where(here, places[p], 0.0)
        row = where(here, rows[p], 0.0)
        places[p] = place
        rows[p] = row
        bs[p] = where(here, b[row], 0.0)
        lo[p] = where(here, lower[row], 0.0)
        hi[p] = where(here, upper[row], 0.0)
        scale[p] = where(here, scale[place], 0.0)
        begin = 0.5 * (place * (place + 1.0))
        for q in range(p + 1):
            A[p * (p + 1) // 2 + q] = where(here, A[begin + places[q]], 0.0)


@loops
def hand_out(active: Ints, slots: Ints, scale: Lane, xs: Lane, rows: Lane, x: Lane) -> None:
    """x of the listed rows; 0 where they have no slot."""
    for i in range(active[0]):
        x[active[i + 1]] = 0.0
    for p in range(slots[0]):
        x[rows[p]] = where(scale[p] > 0.0, xs[p], x[rows[p]])


@loops
def solve_few_boxes(listed: Boxes, A: Lane, left: Lane, s: Scaled, places: Lane, rows: Lane, slots: Ints) -> None:
    """`boxes.solve_boxes`; what follows `left` is scratch."""
    unit_scales(listed.active, listed.on, A, s.scale)
    take_slots(listed.active, listed.b, listed.lower, listed.upper, A, s.scale, s.bs, s.lo, s.hi, places, rows, slots)
    solve_in_scales(Boxes(slots, s.scale, s.bs, s.lo, s.hi, s.xs), A, left, s, EPS)
    hand_out(listed.active, slots, s.scale, s.xs, rows, listed.x)
