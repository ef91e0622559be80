"""Rows in slots: of all that are listed, every lane packs those that are on in it, so that none waits for those of the others.

In a batch states touch in different places. What is on in some lane is listed (`boxes.gather`), often twice as much as is on in
each; and the work of a solver grows with the third power. So groups of rows of one form (a contact and what it bounds, a row
alone) share slots: the k-th group that is on in a lane stands in the k-th slot of its form. There are as many slots as the
fullest lane needs; other lanes leave some of them empty.
"""

from __future__ import annotations

from ..kernel.loops import Ints, Lane, Strided, Table, any, loops, maximum, where
from .cone_rows import find_scale

NO_FORM = 16  # more than twice the rows of a group: a normal, two tangents, and three that resist turning


@loops
def length_of(i: int, active: Ints, cones: Table) -> int:
    """Of the group that begins at a place of the list: how many rows."""
    length = 1
    while i + length < active[0] and (cones[active[i + length + 1]] > 1 or cones[active[i + length + 1]] < 0):
        length += 1
    return length


@loops
def fill_slots(active: Ints, cones: Table, on: Strided, slot: Lane, listed: Lane, row: Lane, kinds: Ints) -> int:
    """Which slot every listed row has in every lane, and which row stands in every slot. Returns how many slots there are.

    slot     of every place in the list; -1 where the row is off
    listed   of every slot the place in the list; -1 where it is empty
    row      of every slot the row; 0 where it is empty
    kinds    what the rows of slots are
    """
    m = active[0]
    n = 0
    for i in range(m):
        listed[i] = -1.0
        row[i] = 0.0
    form = -1  # rows alone, then contacts, short groups first
    while form < NO_FORM:
        after = NO_FORM
        count = 0.0 * on[0]
        i = 0
        while i < m:
            length = length_of(i, active, cones)
            own = NO_FORM // 2 * cones[active[i + 1]] + length
            if own == form:
                here = on[active[i + 1]] > 0.0
                for k in range(length):
                    at = where(here, float(n + k) + length * count, 0.0)
                    slot[i + k] = where(here, at, -1.0)
                    listed[at] = where(here, float(i + k), listed[at])
                    row[at] = where(here, float(active[i + k + 1]), row[at])
                count += where(here, 1.0, 0.0)
            elif own > form:
                after = min(after, own)
            i += length
        while any(count > 0.0):
            count -= 1.0
            for k in range(form % (NO_FORM // 2)):
                kinds[n] = -k
                if form > NO_FORM // 2 and k < 3:
                    kinds[n] = k + 1
                n += 1
        form = after
    return n


@loops
def take_rows(
    n: int,
    row: Lane,
    listed: Lane,
    mu: Strided,
    b: Strided,
    lower: Strided,
    upper: Strided,
    x: Strided,
    here: Lane,
    bs: Lane,
    lo: Lane,
    hi: Lane,
    coefficient: Lane,
    xs: Lane,
) -> None:
    """What stands in the slots: 1 or 0, b, bounds, coefficients and x."""
    for p in range(n):
        here[p] = where(listed[p] >= 0.0, 1.0, 0.0)
        bs[p] = b[row[p]]
        lo[p] = lower[row[p]]
        hi[p] = upper[row[p]]
        coefficient[p] = mu[row[p]]
        xs[p] = x[row[p]]


@loops
def take_packed(n: int, kinds: Ints, here: Lane, listed: Lane, packed: Strided, scale: Lane, A: Lane, start: Lane) -> None:
    """The matrix of the slots in scaled rows, of a packed symmetric one of the list (`boxes.gram`), and the scale.

    start   scratch: where the rows of the packed matrix begin
    """
    for p in range(n):
        listed[p] = maximum(listed[p], 0.0)
        start[p] = 0.5 * listed[p] * (listed[p] + 1.0)
        A[p * n + p] = packed[start[p] + listed[p]]
    find_scale(n, kinds, here, A, scale)
    for p in range(n):
        for q in range(p):
            at = where(listed[p] > listed[q], start[p] + listed[q], start[q] + listed[p])
            A[p * n + q] = packed[at] * (scale[p] * scale[q])
            A[q * n + p] = A[p * n + q]


@loops
def take_whole(n: int, kinds: Ints, here: Lane, m: int, listed: Lane, whole: Strided, scale: Lane, A: Lane) -> None:
    """The same of a matrix of the list (m, m), row by row."""
    for p in range(n):
        A[p * n + p] = whole[(m + 1) * maximum(listed[p], 0.0)]
    find_scale(n, kinds, here, A, scale)
    for p in range(n):
        for q in range(n):
            if p != q:
                A[p * n + q] = whole[m * maximum(listed[p], 0.0) + maximum(listed[q], 0.0)] * (scale[p] * scale[q])


@loops
def hand_back(active: Ints, slot: Lane, xs: Lane, x: Strided) -> None:
    """x of the listed rows, from their slots; 0 where they are off."""
    for i in range(active[0]):
        x[active[i + 1]] = where(slot[i] >= 0.0, xs[maximum(slot[i], 0.0)], 0.0)
