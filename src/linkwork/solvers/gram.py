"""The matrix of rows that climb to the root, A_rs = G_r M^-1 G_s^T, and what multipliers of theirs cause.

At every joint on its path a row leaves u and y = D^-1 u (`elements.supports`): A_rs is the sum of u_r . y_s over the joints on
both paths, and M^-1 G^T x starts from the sums of y_r x_r. All paths are in the order of joints.

Some rows s at a time lie spread out in `columns`, which is zero elsewhere and afterwards, so that as many sums run along the path
of r, which ends where theirs have ended. In one lane these are whole registers; every sum has its terms in the order of joints,
so that all widths round alike. In several lanes a pair of rows counts where some lane has both.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from ..kernel.lane_by_lane import lanes_at_once
from ..kernel.loops import Arrays, Ints, Lane, Table, all, any, loops, where
from ..kernel.one_lane import in_one_lane
from ..kernel.products import clear
from .gram_text import ROWS, WIDE, sums_ir

PATHS = ("active", "path_starts", "path_alike", "path_places", "path_unknowns")  # what `gram` and `spread` are given first


def path_tables(starts: np.ndarray, places: np.ndarray, counts: np.ndarray, at: np.ndarray) -> dict[str, np.ndarray]:
    """What `gram` and `spread` read, number by number along the path of every row: where it begins, the place of u and y, and
    which unknown (of the joints) it belongs to; of paths that are given joint by joint. `path_alike` is of every row the first
    one that has the same path.

    starts   where the path of every row begins among all joints of all paths, and the end
    places   where u and y of every joint begin, and `counts`: how many numbers they have
    at       where the unknowns of every joint begin
    """
    first = np.cumsum(counts) - counts
    number = np.arange(counts.sum()) - np.repeat(first, counts)
    begins, unknowns = np.append(first, counts.sum())[starts], np.repeat(at, counts) + number
    known: dict[bytes, int] = {}
    alike = [known.setdefault(unknowns[a:b].tobytes(), r) for r, (a, b) in enumerate(pairwise(begins))]
    return {
        "path_starts": begins,
        "path_alike": np.array(alike, np.int64),
        "path_places": np.repeat(places, counts) + number,
        "path_unknowns": unknowns,
    }


class RowPaths(Arrays):
    """The listed rows, and the paths of all (`path_tables`)."""

    active: Ints
    starts: Table
    alike: Table
    places: Table
    unknowns: Table


@loops
def is_nothing(x: float) -> bool:
    """Whether a number is zero in all lanes."""
    return all((x >= 0.0) & (x <= 0.0))


@loops
def entry(A: Lane, i: int, k: int) -> float:
    """A_ik of a packed symmetric matrix."""
    if k > i:
        return A[k * (k + 1) // 2 + i]
    return A[i * (i + 1) // 2 + k]


@loops
def spread_columns(j: int, wide: int, paths: RowPaths, y: Lane, columns: Lane) -> int:
    """Listed rows j, j + 1, ..., each a column of so many; returns the last unknown on their paths."""
    last = 0
    for c in range(min(wide, paths.active[0] - j)):
        s = paths.active[j + c + 1]
        for b in range(paths.starts[s], paths.starts[s + 1]):
            columns[paths.unknowns[b] * wide + c] = y[paths.places[b]]
            last = max(last, paths.unknowns[b])
    return last


@loops
def clear_columns(j: int, wide: int, last: int, paths: RowPaths, columns: Lane) -> None:
    """The columns of these rows are zero again: all up to the last unknown, where that is less than to look for them."""
    entries = 0
    for c in range(min(wide, paths.active[0] - j)):
        s = paths.active[j + c + 1]
        entries += paths.starts[s + 1] - paths.starts[s]
    if last < entries:
        clear((last + 1) * wide, columns)
        return
    for c in range(min(wide, paths.active[0] - j)):
        s = paths.active[j + c + 1]
        for b in range(paths.starts[s], paths.starts[s + 1]):
            columns[paths.unknowns[b] * wide + c] = 0.0


@loops
def gram_of_lanes(paths: RowPaths, on: Lane, u: Lane, y: Lane, columns: Lane, A: Lane) -> None:
    """`gram` in several lanes: four columns at a time, so that four sums run along the path of r. As far as two rows r have one
    path, both go along it at once. Where no lane has one of these rows and one of those, nothing is summed.
    """
    n = paths.active[0]
    for j in range(0, n, 4):
        c0 = on[paths.active[j + 1]] > 0.0
        c1 = on[paths.active[min(j + 2, n)]] > 0.0
        c2 = on[paths.active[min(j + 3, n)]] > 0.0
        c3 = on[paths.active[min(j + 4, n)]] > 0.0
        last = spread_columns(j, 4, paths, y, columns)
        for i in range(j, n, 2):
            r = paths.active[i + 1]
            s = paths.active[min(i + 2, n)]
            r_on = on[r] > 0.0
            s_on = on[s] > 0.0
            first = 0.0 * on[r]
            second = first
            third = first
            fourth = first
            fifth = first
            sixth = first
            seventh = first
            eighth = first
            a = paths.starts[r]
            b = paths.starts[s]
            end = paths.starts[r + 1]
            s_end = paths.starts[s + 1]
            if not any((r_on | s_on) & (c0 | c1 | c2 | c3)):
                a = end
                b = s_end
            if i + 1 == n:
                b = s_end
            while a < end and b < s_end and paths.unknowns[a] == paths.unknowns[b] and paths.unknowns[a] <= last:
                force = u[paths.places[a]]
                other = u[paths.places[b]]
                e = paths.unknowns[a] * 4
                first += force * columns[e]
                second += force * columns[e + 1]
                third += force * columns[e + 2]
                fourth += force * columns[e + 3]
                fifth += other * columns[e]
                sixth += other * columns[e + 1]
                seventh += other * columns[e + 2]
                eighth += other * columns[e + 3]
                a += 1
                b += 1
            while a < end and paths.unknowns[a] <= last:
                force = u[paths.places[a]]
                e = paths.unknowns[a] * 4
                first += force * columns[e]
                second += force * columns[e + 1]
                third += force * columns[e + 2]
                fourth += force * columns[e + 3]
                a += 1
            while b < s_end and paths.unknowns[b] <= last:
                other = u[paths.places[b]]
                e = paths.unknowns[b] * 4
                fifth += other * columns[e]
                sixth += other * columns[e + 1]
                seventh += other * columns[e + 2]
                eighth += other * columns[e + 3]
                b += 1
            at = i * (i + 1) // 2 + j
            A[at] = where(r_on & c0, first, 0.0)
            if i > j:
                A[at + 1] = where(r_on & c1, second, 0.0)
                A[at + 2] = where(r_on & c2, third, 0.0)
            if i > j + 2:
                A[at + 3] = where(r_on & c3, fourth, 0.0)
            if i + 1 < n:
                at += i + 1
                A[at] = where(s_on & c0, fifth, 0.0)
                A[at + 1] = where(s_on & c1, sixth, 0.0)
                if i > j:
                    A[at + 2] = where(s_on & c2, seventh, 0.0)
                    A[at + 3] = where(s_on & c3, eighth, 0.0)
        clear_columns(j, 4, last, paths, columns)


@in_one_lane(sums_ir)
def sums_along_path(
    rows: int,
    count: int,
    i: int,
    j: int,
    active: Ints,
    starts: Table,
    places: Table,
    unknowns: Table,
    u: Lane,
    columns: Lane,
    A: Lane,
) -> None:
    """Rows i, i + 1, ... of A, at most ROWS with one path, in WIDE columns from j on, to the diagonal: of count terms."""
    for k in range(i, i + rows):
        first = starts[active[k + 1]]
        for c in range(min(WIDE, k + 1 - j)):
            at = k * (k + 1) // 2 + j + c
            A[at] = 0.0
            total = A[at]
            for p in range(count):
                total += u[places[first + p]] * columns[unknowns[first + p] * WIDE + c]
            A[at] = total


@loops
def alike_from(i: int, paths: RowPaths) -> int:
    """How many listed rows have one path, from row i on; ROWS at most."""
    rows = 1
    path = paths.alike[paths.active[i + 1]]
    while rows < ROWS and i + rows < paths.active[0] and paths.alike[paths.active[i + rows + 1]] == path:
        rows += 1
    return rows


@loops
def gram_of_one(paths: RowPaths, u: Lane, y: Lane, columns: Lane, A: Lane) -> None:
    """`gram` in one lane: as many columns at a time as a register has numbers, and rows with one path together."""
    n = paths.active[0]
    for j in range(0, n, 16):
        last = spread_columns(j, WIDE, paths, y, columns)
        i = j
        while i < n:
            r = paths.active[i + 1]
            first = paths.starts[r]
            count = paths.starts[r + 1] - first
            while count > 0 and paths.unknowns[first + count - 1] > last:
                count -= 1
            rows = alike_from(i, paths)
            sums_along_path(rows, count, i, j, paths.active, paths.starts, paths.places, paths.unknowns, u, columns, A)
            i += rows
        clear_columns(j, WIDE, last, paths, columns)


@loops
def gram(paths: RowPaths, on: Lane, u: Lane, y: Lane, columns: Lane, A: Lane) -> None:
    """A_rs of the listed rows, which are on in some lane, packed by the order of the list; zero in lanes where one of the two is
    off."""
    if lanes_at_once() == 1:
        gram_of_one(paths, u, y, columns, A)
    else:
        gram_of_lanes(paths, on, u, y, columns, A)


@loops
def spread(paths: RowPaths, y: Lane, x: Lane, dy: Lane) -> None:
    """dy += y_r x_r at every joint on the path of every row; rows whose multiplier is zero in all lanes add nothing."""
    for i in range(paths.active[0]):
        r = paths.active[i + 1]
        if is_nothing(x[r]):
            continue
        for a in range(paths.starts[r], paths.starts[r + 1]):
            dy[paths.unknowns[a]] += y[paths.places[a]] * x[r]
