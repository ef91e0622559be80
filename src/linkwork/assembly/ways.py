"""The way of auxiliary rows to the root of their trees, and where they pass.

A row r of a condition enters the forest at the nodes of its parts, with J^T, and goes up: at every node, with its pivot
D = L diag L^T and its block U to the parent, u = L^-1 p, y = diag^-1 u, and p_parent takes -(L^-1 U)^T y [Baraff,
Acknowledgments; erratum 8]. A *place* is one row at one node of its way; the places of the rows of one condition at one node lie
side by side.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from ..kernel.loops import Ints, Lane, Table, loops, maximum, where
from ..kernel.sweep import Items, NodeClass, Tree
from ..solvers.gram import path_tables

LEAST = 1e-300
UNBOUNDED = -1e300


@loops
def measure(
    active: Ints,
    starts: Table,
    places: Table,
    sizes: Table,
    unknowns: Table,
    u: Lane,
    scaled: Lane,
    target: Lane,
    b: Lane,
) -> None:
    """b = J z - target of the listed rows: J z is the sum of u . D^-1 L^-1 b on their way, the latter being `scaled`."""
    for i in range(active[0]):
        r = active[i + 1]
        total = -target[r]
        for a in range(starts[r], starts[r + 1]):
            for k in range(sizes[a]):
                total += u[places[a] + k] * scaled[unknowns[a] + k]
        b[r] = total


@loops
def leftover(
    active: Ints,
    starts: Table,
    places: Table,
    sizes: Table,
    unknowns: Table,
    u: Lane,
    scaled: Lane,
    target: Lane,
    lower: Lane,
    on: Lane,
    off: Lane,
) -> None:
    """What is left of equalities when all multipliers are answered, relative to the terms that should cancel: the most so far."""
    for i in range(active[0]):
        r = active[i + 1]
        total = -target[r]
        size = LEAST + abs(target[r])
        for a in range(starts[r], starts[r + 1]):
            for k in range(sizes[a]):
                term = u[places[a] + k] * scaled[unknowns[a] + k]
                total += term
                size += abs(term)
        wrong = (on[r] > 0.0) & (lower[r] < UNBOUNDED)
        off[r] = maximum(off[r], where(wrong, abs(total) / size, 0.0))


class Ways:
    """The places of the rows of some conditions on a forest.

    parents   of the nodes
    dims      unknowns of every node
    entries   of every condition the nodes at which it enters, one for each of its parts
    sizes     rows of every condition
    """

    def __init__(self, parents: Sequence[int], dims: np.ndarray, entries: Sequence[Sequence[int]], sizes: Sequence[int]) -> None:
        self.parents, self.dims, self.entries, self.sizes = parents, dims, entries, list(sizes)
        self.ways: list[np.ndarray] = []
        for at in entries:
            found: set[int] = set()
            for i in at:
                while i >= 0 and i not in found:
                    found.add(i)
                    i = int(parents[i])
            self.ways.append(np.array(sorted(found), np.int64))

    @cached_property
    def firsts(self) -> list[dict[int, int]]:
        """Of every condition, by node, the first of its places there."""
        out, at = [], 0
        for size, way in zip(self.sizes, self.ways, strict=True):
            out.append({int(node): at + k * size for k, node in enumerate(way)})
            at += size * len(way)
        return out

    @cached_property
    def _places(self) -> tuple[np.ndarray, np.ndarray]:
        """Of every place its row and its node."""
        rows, nodes, row = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)], 0
        for size, way in zip(self.sizes, self.ways, strict=True):
            rows.append(np.tile(np.arange(row, row + size), len(way)))
            nodes.append(np.repeat(way, size))
            row += size
        return np.concatenate(rows), np.concatenate(nodes)

    def tree(self) -> Tree:
        """The places as a set of nodes."""
        dims = self.dims[self._places[1]].tolist()
        classes = {n: NodeClass(("place", n), {}, {}, {"x": n}) for n in set(dims)}
        return Tree(np.full(len(dims), -1), [classes[n] for n in dims], [{}] * len(dims))

    def climbs(self) -> Items:
        """Every row at every node of its way, leaves first: the node, the place, the next one toward the root, the condition.

        Rows climb side by side: what happens at one depth is of few kinds, each a run of one kernel.
        """
        depths = np.zeros(len(self.parents), np.int64)
        for node, parent in enumerate(self.parents):
            depths[node] = depths[parent] + 1 if parent >= 0 else 0
        found: list[tuple[int, int, int, int, int, int]] = []
        for c, (size, way) in enumerate(zip(self.sizes, self.ways, strict=True)):
            for node in way.tolist():
                parent = int(self.parents[node])
                up = self.firsts[c][parent] if parent >= 0 else 0
                place = self.firsts[c][node]
                found += [(-int(depths[node]), c, node, place + k, up + k, c) for k in range(size)]
        nodes, *columns = np.array(sorted(found), np.int64).reshape(-1, 6)[:, 2:].T
        return Items(nodes, dict(zip(("place", "up", "condition"), columns, strict=True)))

    def tables(self) -> dict[str, np.ndarray]:
        """What routines read: the places of every row by node, where u and y begin there, how many, and where unknowns do."""
        rows, nodes = self._places
        order = np.lexsort((nodes, rows))
        counts = self.dims[nodes]
        at = np.cumsum(counts) - counts
        first = np.cumsum(self.dims) - self.dims
        starts = np.searchsorted(rows[order], np.arange(sum(self.sizes) + 1))
        found = {
            "starts": starts,
            "nodes": nodes[order],
            "places": at[order],
            "sizes": counts[order],
            "unknowns": first[nodes][order],
        }
        found |= path_tables(starts, found["places"], found["sizes"], found["unknowns"])
        return {name: np.ascontiguousarray(x, np.int32) for name, x in found.items()}

    def dense(self, values: np.ndarray) -> np.ndarray:
        """Values at all places (scalars,) as a matrix (rows, unknowns)."""
        rows, nodes = self._places
        counts, first = self.dims[nodes], np.cumsum(self.dims) - self.dims
        out = np.zeros((sum(self.sizes), int(self.dims.sum())))
        offset = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        out[np.repeat(rows, counts), np.repeat(first[nodes], counts) + offset] = values
        return out
