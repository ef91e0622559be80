"""Sweep and prune: all pairs of boxes (and balls) that overlap, in about the number of boxes, without looking at all pairs."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..kernel.loops import Ints, Lane, Table, all, any, loops, maximum, minimum, where


def partners(count: int, pairs: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Tables of `sweep_and_prune` for pairs (n, 2) of shapes: of shape i the partners with a higher number, ascending, are
    second[starts[i] : starts[i + 1]], and number[...] says which pairs they are.
    """
    given = np.sort(np.asarray(pairs, np.int64).reshape(-1, 2), axis=1)
    order = np.lexsort((given[:, 1], given[:, 0]))
    starts = np.searchsorted(given[order, 0], np.arange(count + 1))
    return starts.astype(np.int32), given[order, 1].astype(np.int32), order.astype(np.int32)


@loops
def pair_number(i: int, j: int, starts: Table, second: Table, number: Table) -> int:
    """Which pair two shapes are; -1 if they may not touch."""
    if i > j:
        return pair_number_in_order(j, i, starts, second, number)
    return pair_number_in_order(i, j, starts, second, number)


@loops
def pair_number_in_order(i: int, j: int, starts: Table, second: Table, number: Table) -> int:
    """The same for i < j: j is looked for by halving."""
    low = starts[i]
    high = starts[i + 1]
    while low < high:
        middle = (low + high) // 2
        if second[middle] < j:
            low = middle + 1
        else:
            high = middle
    if low < starts[i + 1] and second[low] == j:
        return number[low]  # pyright: ignore[reportReturnType]  (of a record of ints, an int)
    return -1


@loops
def sort_along_x(count: int, low: Lane, order: Ints) -> None:
    """Put shapes in the order of their lowest x, from the order that they had; what is almost sorted takes few exchanges."""
    for i in range(1, count):
        one = order[i]
        k = i
        while k > 0 and all(low[3 * order[k - 1]] > low[3 * one]):
            order[k] = order[k - 1]
            k -= 1
        order[k] = one


@loops
def sweep_and_prune(
    count: int,
    pairs: int,
    starts: Table,
    second: Table,
    number: Table,
    low: Lane,
    high: Lane,
    middle: Lane,
    reach: Lane,
    order: Ints,
    rest: Lane,
    awake: Lane,
    active: Ints,
) -> None:
    """Which pairs have boxes that overlap, and balls: awake is 1 in these lanes, else 0; `active` is their number, then they,
    where any lane is awake.

    low, high   (3 count): corners of the boxes;   middle, reach   (3 count), (count): centres and radii of the balls
    order       (count): a permutation of the shapes, the last one, or any; zeros at first
    rest        (count + 1): scratch; the lowest x of what comes from here on, so that no order can miss a pair
    """
    for k in range(pairs):
        awake[k] = 0.0
    active[0] = 0
    if count > 1 and order[0] == order[1]:  # memory that nothing was written to
        for i in range(count):
            order[i] = i
    sort_along_x(count, low, order)
    if count > 0:
        rest[count - 1] = low[3 * order[count - 1]]
    for k in range(count - 1):
        i = count - 2 - k
        rest[i] = minimum(rest[i + 1], low[3 * order[i]])
    m = 0
    for p in range(count):
        i = order[p]
        for q in range(p + 1, count):
            if all(rest[q] > high[3 * i]):
                break
            j = order[q]
            gap = maximum(low[3 * i] - high[3 * j], low[3 * j] - high[3 * i])
            for k in range(1, 3):
                gap = maximum(gap, maximum(low[3 * i + k] - high[3 * j + k], low[3 * j + k] - high[3 * i + k]))
            square = 0.0 * gap
            for k in range(3):
                way = middle[3 * i + k] - middle[3 * j + k]
                square += way * way
            both = reach[i] + reach[j]
            near = (gap <= 0.0) & (square <= both * both)
            if any(near):
                pair = pair_number(i, j, starts, second, number)
                if pair >= 0:
                    awake[pair] = where(near, 1.0, 0.0)
                    m += 1
                    active[m] = pair
    active[0] = m
