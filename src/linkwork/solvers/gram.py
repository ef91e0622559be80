"""The matrix of rows that climb to the root, A_rs = G_r M^-1 G_s^T, and what multipliers of theirs cause.

At every joint on its path a row leaves u and y = D^-1 u (`elements.supports`): A_rs is the sum of u_r . y_s over the joints on
both paths, and M^-1 G^T x starts from the sums of y_r x_r. All paths are in the order of joints.

Some rows s at a time lie spread out in `columns`, which is zero elsewhere and afterwards, so that as many sums run along the path
of r, which ends where theirs have ended. In one lane these are whole registers; every sum has its terms in the order of joints,
so that all widths round alike.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from ..kernel.lane_by_lane import lanes_at_once
from ..kernel.loops import Ints, Lane, Table, all, loops
from ..kernel.products import in_one_lane

PATHS = ("active", "path_starts", "path_alike", "path_places", "path_unknowns")  # what `gram` and `spread` are given first
WIDE = 8  # columns at a time in one lane, at most
ROWS = 4  # rows with one path that go along it at once, at most


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


@loops
def spread_columns(active: Ints, j: int, wide: int, starts: Table, places: Table, unknowns: Table, y: Lane, columns: Lane) -> int:
    """Rows j, j + 1, ... of the list, each a column of so many; returns the last unknown on their paths."""
    last = 0
    for c in range(min(wide, active[0] - j)):
        s = active[j + c + 1]
        for b in range(starts[s], starts[s + 1]):
            columns[unknowns[b] * wide + c] = y[places[b]]
            last = max(last, unknowns[b])
    return last


@loops
def clear_columns(active: Ints, j: int, wide: int, starts: Table, unknowns: Table, columns: Lane) -> None:
    """The columns of these rows are zero again."""
    for c in range(min(wide, active[0] - j)):
        s = active[j + c + 1]
        for b in range(starts[s], starts[s + 1]):
            columns[unknowns[b] * wide + c] = 0.0


@loops
def gram_of_lanes(active: Ints, starts: Table, places: Table, unknowns: Table, u: Lane, y: Lane, columns: Lane, A: Lane) -> None:
    """`gram` in several lanes: four columns at a time, so that four sums run along the path of r. As far as two rows r have one
    path, both go along it at once. A last row alone needs no columns.
    """
    m = active[0]
    for j in range(0, m - 1, 4):
        last = spread_columns(active, j, 4, starts, places, unknowns, y, columns)
        for i in range(j, m, 2):
            r = active[i + 1]
            s = active[min(i + 2, m)]
            at = i * (i + 1) // 2 + j
            A[at] = 0.0
            first = A[at]
            second = A[at]
            third = A[at]
            fourth = A[at]
            fifth = A[at]
            sixth = A[at]
            seventh = A[at]
            eighth = A[at]
            a = starts[r]
            b = starts[s]
            if i + 1 == m:
                b = starts[s + 1]
            while a < starts[r + 1] and b < starts[s + 1] and unknowns[a] == unknowns[b] and unknowns[a] <= last:
                force = u[places[a]]
                other = u[places[b]]
                e = unknowns[a] * 4
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
            while a < starts[r + 1] and unknowns[a] <= last:
                force = u[places[a]]
                e = unknowns[a] * 4
                first += force * columns[e]
                second += force * columns[e + 1]
                third += force * columns[e + 2]
                fourth += force * columns[e + 3]
                a += 1
            while b < starts[s + 1] and unknowns[b] <= last:
                other = u[places[b]]
                e = unknowns[b] * 4
                fifth += other * columns[e]
                sixth += other * columns[e + 1]
                seventh += other * columns[e + 2]
                eighth += other * columns[e + 3]
                b += 1
            A[at] = first
            if i > j:
                A[at + 1] = second
                A[at + 2] = third
            if i > j + 2:
                A[at + 3] = fourth
            if i + 1 < m:
                at += i + 1
                A[at] = fifth
                A[at + 1] = sixth
                if i > j:
                    A[at + 2] = seventh
                    A[at + 3] = eighth
        clear_columns(active, j, 4, starts, unknowns, columns)
    if m % 4 == 1:
        r = active[m]
        at = m * (m + 1) // 2 - 1
        A[at] = 0.0
        own = A[at]
        for a in range(starts[r], starts[r + 1]):
            own += u[places[a]] * y[places[a]]
        A[at] = own


def sums_ir(symbol: str, width: int) -> str:
    """The function of `sums_along_path`'s parameters: one for every number of rows."""
    given = "i64 %count, i64 %i, i64 %j, ptr %active, ptr %starts, ptr %places, ptr %unknowns, ptr %u, ptr %columns, ptr %A"
    labels = " ".join(f"i64 {r}, label %rows{r}" for r in range(1, ROWS + 1))
    lines = [f"define internal void @{symbol}(i64 %rows, {given}) #0 {{", f"  switch i64 %rows, label %end [ {labels} ]"]
    for r in range(1, ROWS + 1):
        lines += [f"rows{r}:", f"  call void @{symbol}.{r}({given})", "  br label %end"]
    own = [_sums(f"{symbol}.{r}", r, min(width, WIDE), given) for r in range(1, ROWS + 1)]
    return "\n\n".join([*own, "\n".join([*lines, "end:", "  ret void", "}"])])


def _sums(symbol: str, rows: int, width: int, given: str) -> str:
    """So many rows: the vectors of every one of them stay in registers."""
    kind, zeros = f"<{width} x double>", ", ".join(["i32 0"] * width)
    places = [(r, v) for r in range(rows) for v in range(WIDE // width)]
    lines = [f"define internal void @{symbol}({given}) #0 {{", "start:"]
    for r in range(rows):
        lines += [
            f"  %listed{r} = add i64 %i, {r + 1}",
            f"  %row.at{r} = getelementptr i64, ptr %active, i64 %listed{r}",
            f"  %row{r} = load i64, ptr %row.at{r}",
            f"  %start.at{r} = getelementptr i32, ptr %starts, i64 %row{r}",
            f"  %start{r} = load i32, ptr %start.at{r}",
            f"  %begin{r} = sext i32 %start{r} to i64",
            f"  %path{r} = getelementptr i32, ptr %places, i64 %begin{r}",
        ]
    lines += ["  %of = getelementptr i32, ptr %unknowns, i64 %begin0", "  %some = icmp sgt i64 %count, 0"]
    lines += ["  br i1 %some, label %loop, label %end", "loop:", "  %p = phi i64 [ 0, %start ], [ %next, %loop ]"]
    lines += [f"  %s{r}.{v} = phi {kind} [ zeroinitializer, %start ], [ %t{r}.{v}, %loop ]" for r, v in places]
    lines += ["  %e.at = getelementptr i32, ptr %of, i64 %p", "  %e = load i32, ptr %e.at", "  %e.i = sext i32 %e to i64"]
    for v in range(WIDE // width):
        lines += [f"  %c.n{v} = mul i64 %e.i, {WIDE}", f"  %c.i{v} = add i64 %c.n{v}, {v * width}"]
        lines += [
            f"  %c.at{v} = getelementptr double, ptr %columns, i64 %c.i{v}",
            f"  %c{v} = load {kind}, ptr %c.at{v}, align 8",
        ]
    for r in range(rows):
        lines += [
            f"  %k.at{r} = getelementptr i32, ptr %path{r}, i64 %p",
            f"  %k{r} = load i32, ptr %k.at{r}",
            f"  %k.i{r} = sext i32 %k{r} to i64",
            f"  %u.at{r} = getelementptr double, ptr %u, i64 %k.i{r}",
            f"  %u{r} = load double, ptr %u.at{r}, align 8",
            f"  %one{r} = insertelement {kind} poison, double %u{r}, i64 0",
            f"  %all{r} = shufflevector {kind} %one{r}, {kind} poison, <{width} x i32> <{zeros}>",
        ]
        for v in range(WIDE // width):
            lines.append(f"  %t{r}.{v} = call {kind} @llvm.fma.v{width}f64({kind} %all{r}, {kind} %c{v}, {kind} %s{r}.{v})")
    lines += ["  %next = add i64 %p, 1", "  %more = icmp slt i64 %next, %count", "  br i1 %more, label %loop, label %end", "end:"]
    lines += [f"  %f{r}.{v} = phi {kind} [ zeroinitializer, %start ], [ %t{r}.{v}, %loop ]" for r, v in places]
    for r in range(rows):
        lines += [f"  %n{r} = add i64 %i, {r}", f"  %n.1.{r} = add i64 %n{r}, 1", f"  %n.2.{r} = mul i64 %n{r}, %n.1.{r}"]
        lines += [f"  %n.3.{r} = lshr i64 %n.2.{r}, 1", f"  %to{r} = add i64 %n.3.{r}, %j", f"  %left{r} = sub i64 %n.1.{r}, %j"]
        lines += [
            f"  %left.1.{r} = insertelement <{width} x i64> poison, i64 %left{r}, i64 0",
            f"  %room{r} = shufflevector <{width} x i64> %left.1.{r}, <{width} x i64> poison, <{width} x i32> <{zeros}>",
        ]
        for v in range(WIDE // width):
            counted = ", ".join(f"i64 {v * width + k}" for k in range(width))
            lines += [
                f"  %m{r}.{v} = icmp slt <{width} x i64> <{counted}>, %room{r}",
                f"  %to.i{r}.{v} = add i64 %to{r}, {v * width}",
                f"  %to.at{r}.{v} = getelementptr double, ptr %A, i64 %to.i{r}.{v}",
                f"  call void @llvm.masked.store.v{width}f64.p0({kind} %f{r}.{v}, ptr %to.at{r}.{v}, i32 8, "
                f"<{width} x i1> %m{r}.{v})",
            ]
    return "\n".join([*lines, "  ret void", "}"])


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
    """Rows i, i + 1, ... of A, at most ROWS with one path, in WIDE columns from j on, to the diagonal: sums of count terms."""
    for k in range(i, i + rows):
        first = starts[active[k + 1]]
        for c in range(min(WIDE, k + 1 - j)):
            A[k * (k + 1) // 2 + j + c] = 0.0
            total = A[k * (k + 1) // 2 + j + c]
            for p in range(count):
                total += u[places[first + p]] * columns[unknowns[first + p] * WIDE + c]
            A[k * (k + 1) // 2 + j + c] = total


@loops
def alike_from(i: int, active: Ints, alike: Table) -> int:
    """How many rows of the list have one path, from row i on; ROWS at most."""
    rows = 1
    while rows < ROWS and i + rows < active[0] and alike[active[i + rows + 1]] == alike[active[i + 1]]:
        rows += 1
    return rows


@loops
def gram_of_one(
    active: Ints, starts: Table, alike: Table, places: Table, unknowns: Table, u: Lane, y: Lane, columns: Lane, A: Lane
) -> None:
    """`gram` in one lane: as many columns at a time as a register has numbers, and rows with one path together."""
    m = active[0]
    for j in range(0, m, 8):
        last = spread_columns(active, j, WIDE, starts, places, unknowns, y, columns)
        i = j
        while i < m:
            first = starts[active[i + 1]]
            count = starts[active[i + 1] + 1] - first
            while count > 0 and unknowns[first + count - 1] > last:
                count -= 1
            rows = alike_from(i, active, alike)
            sums_along_path(rows, count, i, j, active, starts, places, unknowns, u, columns, A)
            i += rows
        clear_columns(active, j, WIDE, starts, unknowns, columns)


@loops
def gram(
    active: Ints, starts: Table, alike: Table, places: Table, unknowns: Table, u: Lane, y: Lane, columns: Lane, A: Lane
) -> None:
    """A_rs of the listed rows, packed by the order of the list."""
    if lanes_at_once() == 1:
        gram_of_one(active, starts, alike, places, unknowns, u, y, columns, A)
    else:
        gram_of_lanes(active, starts, places, unknowns, u, y, columns, A)


@loops
def spread(active: Ints, starts: Table, alike: Table, places: Table, unknowns: Table, y: Lane, x: Lane, dy: Lane) -> None:
    """dy += y_r x_r at every joint on the path of every row; rows whose multiplier is zero in all lanes add nothing."""
    for i in range(active[0]):
        r = active[i + 1]
        if all((x[r] >= 0.0) & (x[r] <= 0.0)):
            continue
        for a in range(starts[r], starts[r + 1]):
            dy[unknowns[a]] += y[places[a]] * x[r]
