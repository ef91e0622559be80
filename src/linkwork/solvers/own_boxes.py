"""Problems with boxes lane by lane, each of the rows that are on in the lane (`own_rows`)."""

from __future__ import annotations

from ..kernel.lane_by_lane import lane_by_lane
from ..kernel.loops import Ints, Lane, Strided
from .boxes import solve_boxes
from .own_rows import list_own, on_alike


@lane_by_lane(on_alike)
def solve_own_boxes(
    active: Ints,
    on: Strided,
    b: Strided,
    lower: Strided,
    upper: Strided,
    x: Strided,
    A: Strided,
    left: Strided,
    L: Lane,
    d: Lane,
    scale: Lane,
    bs: Lane,
    lo: Lane,
    hi: Lane,
    xs: Lane,
    w: Lane,
    z: Lane,
    free: Lane,
    rest: Lane,
    some: Ints,
    own: Ints,
    listed: Ints,
    own_A: Lane,
    own_on: Lane,
    own_b: Lane,
    own_lower: Lane,
    own_upper: Lane,
    own_x: Lane,
    own_left: Lane,
) -> None:
    """As `boxes.solve_boxes`, on the rows that are on in the lane."""
    n = list_own(active, on, own)
    listed[0] = n
    for p in range(n):
        r = active[own[p] + 1]
        row = own[p] * (own[p] + 1) // 2
        listed[p + 1] = p
        own_on[p] = on[r]
        own_b[p] = b[r]
        own_lower[p] = lower[r]
        own_upper[p] = upper[r]
        for q in range(p + 1):
            own_A[p * (p + 1) // 2 + q] = A[row + own[q]]
    left[0] = 0.0
    if n > 0:
        solve_boxes(
            listed, own_on, own_b, own_lower, own_upper, own_x, own_A, own_left, L, d, scale, bs, lo, hi, xs, w, z, free, rest,
            some,
        )  # fmt: skip
        left[0] = own_left[0]
    for i in range(active[0]):
        x[active[i + 1]] = 0.0
    for p in range(n):
        x[active[own[p] + 1]] = own_x[p]
