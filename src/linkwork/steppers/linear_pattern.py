"""Products with matrices on pairs of degrees of freedom of which one carries the other, or which one law sees: others are zero.

Columns are cut into parts, of vectors as wide as registers; of each part only some rows have something, on a list. Where that
saves little, all columns are one part, and all rows are multiplied.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..kernel import machine
from ..kernel.listed_products import add_listed, put_listed
from ..kernel.loops import Lane, Table, loops
from ..kernel.products import add_product, put_product
from .linear_tables import Tables

SAVED = 0.8  # of all vectors: from here on lists do not pay


@loops
def put_sparse(
    m: int,
    nv: int,
    parts: int,
    part_at: Table,
    part_size: Table,
    part_list: Table,
    part_rows: Table,
    listed_rows: Table,
    scale: float,
    A: Lane,
    B: Lane,
    b: int,
    C: Lane,
    c: int,
    C_row: int,
) -> None:
    """C (m, nv) = scale (A B), from record c on; B (nv, nv) from record b on has the pattern."""
    for e in range(parts):
        j = part_at[e]
        if parts == 1:
            put_product(m, part_size[e], nv, scale, A, 0, nv, 1, B, b + j, nv, C, c + j, C_row)
        else:
            put_listed(m, part_size[e], part_rows[e], scale, listed_rows, part_list[e], A, nv, B, b + j, nv, C, c + j, C_row)


@loops
def add_sparse(
    m: int,
    nv: int,
    parts: int,
    part_at: Table,
    part_size: Table,
    part_list: Table,
    part_rows: Table,
    listed_rows: Table,
    scale: float,
    A: Lane,
    B: Lane,
    b: int,
    C: Lane,
    c: int,
    C_row: int,
) -> None:
    """The same, added to C."""
    for e in range(parts):
        j = part_at[e]
        if parts == 1:
            add_product(m, part_size[e], nv, scale, A, 0, nv, 1, B, b + j, nv, C, c + j, C_row)
        else:
            add_listed(m, part_size[e], part_rows[e], scale, listed_rows, part_list[e], A, nv, B, b + j, nv, C, c + j, C_row)


def pattern_of(before: Sequence[int], seen: Sequence[tuple[Sequence[int], Sequence[int]]]) -> np.ndarray:
    """Where entries may be (nv, nv): pairs on one way to the root, and rows and columns that laws see.

    before   the degree of freedom before each, or -1
    """
    n = len(before)
    found = np.eye(n, dtype=bool)
    for k, p in enumerate(before):
        if p >= 0:
            found[k, :k] = found[p, :k]
            found[k, p] = True
    found |= found.T
    for rows, columns in seen:
        found[np.ix_(rows, columns)] = True
    return found


def cut(pattern: np.ndarray, width: int) -> list[tuple[int, int]]:
    """Parts of columns, first and end of each, at most so wide: those whose lists are shortest together."""
    n = len(pattern)
    costs, begins = [0], [0]
    for end in range(1, n + 1):
        filled, best = np.zeros(n, bool), None
        for first in range(end - 1, max(end - width, 0) - 1, -1):
            filled |= pattern[:, first]
            cost = costs[first] + int(filled.sum())
            if best is None or cost < best[0]:
                best = (cost, first)
        assert best is not None
        costs.append(best[0])
        begins.append(best[1])
    found, end = [], n
    while end:
        found.append((begins[end], end))
        end = begins[end]
    return found[::-1]


def part_tables(pattern: np.ndarray) -> Tables:
    """Where parts begin, their columns and rows, and their lists, one after the other."""
    n, width = len(pattern), machine.register_bytes() // 8
    parts = cut(pattern, width)
    lists = [np.flatnonzero(pattern[:, first:end].any(axis=1)) for first, end in parts]
    if sum(map(len, lists)) > SAVED * n * -(-n // width):
        parts, lists = [(0, n)], [np.arange(n)]
    return {
        "part_at": np.array([first for first, _ in parts]),
        "part_size": np.array([end - first for first, end in parts]),
        "part_list": np.cumsum([0, *(len(x) for x in lists)]),
        "part_rows": np.array([len(x) for x in lists]),
        "listed_rows": np.concatenate(lists),
    }
