"""A solver for symmetric block systems on a forest: factor once, solve for many right-hand sides, O(n), compiled."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..errors import SolverError
from ..kernel.factored import Factored
from ..kernel.lanes import Lanes
from ..kernel.plan import Plan, Shape, variant
from ..kernel.sweep import Algorithm, Codec, Field, NodeClass, Tree, inward, outward, vector
from ..spatial.scalar import array, zeros
from .elimination import back_substitute, eliminate, forward_substitute


def _padded(size: int) -> Codec:
    """A vector that may be shorter: the rest is zero."""
    return Codec(size, lambda x: [*x, *[0.0] * (size - len(x))], array)


def _triangle(size: int) -> Codec:
    """A symmetric matrix that may be smaller, as its lower triangle."""

    def pack(A: np.ndarray) -> list[Any]:
        flat = [A[r, c] for r in range(len(A)) for c in range(r + 1)]
        return flat + [0.0] * (size * (size + 1) // 2 - len(flat))

    def unpack(x: list[Any]) -> np.ndarray:
        A = zeros(size, size)
        for r in range(size):
            for c in range(r + 1):
                A[r, c] = A[c, r] = x[r * (r + 1) // 2 + c]
        return array(A)

    return Codec(size * (size + 1) // 2, pack, unpack)


def _factor(n: Any, parent: Any) -> None:
    D = n.D.reshape(n.dim, n.dim) + n.D_below[: n.dim, : n.dim]
    n.pivot, change = eliminate(D, n.B.reshape(n.dim, n.parent_dim))
    below = np.array(parent.D_below, dtype=object)
    below[: n.parent_dim, : n.parent_dim] = below[: n.parent_dim, : n.parent_dim] + change
    parent.D_below = below
    n.pivots = n.pivot.d_inv


def _forward(n: Any, parent: Any) -> None:
    n.x_own, change = forward_substitute(n.pivot, n.b + n.b_below[: n.dim])
    below = np.array(parent.b_below, dtype=object)
    below[: n.parent_dim] = below[: n.parent_dim] + change
    parent.b_below = below


def _back(n: Any, parent: Any) -> None:
    n.x = back_substitute(n.pivot, n.x_own, parent.solution[: n.parent_dim])
    n.solution = n.x


@functools.cache
def _algorithm(largest: int) -> Algorithm:
    return Algorithm(
        f"block_tree_{largest}",
        {
            "D": Field("input", "D"),
            "B": Field("input", "B"),
            "b": Field("input", "x"),
            "solution": Field("shared", codec=_padded(largest)),
            "D_below": Field("gathered", codec=_triangle(largest)),
            "b_below": Field("gathered", codec=vector(largest)),
            "pivots": Field("output", "x"),
            "x": Field("output", "x"),
        },
        {"factor": [inward(_factor)], "apply": [inward(_forward), outward(_back)]},
    )


class BlockTree:
    """The pattern of a block system on a forest.

    parents   index of every node's parent, -1 for roots; parents come before their children
    dims      size of every node's block
    """

    def __init__(self, parents: Sequence[int], dims: Sequence[int]) -> None:
        self.parents, self.dims = np.asarray(parents, np.int64), np.asarray(dims, np.int64)
        if len(self.parents) != len(self.dims) or not len(self.dims):
            raise SolverError(
                f"block tree: {len(self.parents)} parents and {len(self.dims)} dimensions; one each per node, at least one"
            )
        if np.any(self.parents >= np.arange(len(self.parents))) or np.any(self.parents < -1) or np.any(self.dims < 1):
            raise SolverError("block tree: parents must come before their children, and blocks have at least one row")
        classes: dict[tuple[int, int], NodeClass] = {}
        nodes = []
        for p, d in zip(self.parents.tolist(), self.dims.tolist(), strict=True):
            key = (d, int(self.dims[p]) if p >= 0 else 0)
            if key not in classes:
                sizes = {"D": d * d, "B": d * key[1], "x": d}
                classes[key] = NodeClass(("block", *key), {"dim": d, "parent_dim": key[1]}, {}, sizes)
            nodes.append(classes[key])
        self._tree = Tree(self.parents, nodes, [{} for _ in nodes])
        self._shape = Shape(self._tree)
        self._algorithm = _algorithm(int(self.dims.max()))

    @functools.cached_property
    def _plans(self) -> dict[Any, Plan]:
        return {}

    def plan(self, lanes: Lanes, phase: str, uniform: tuple[str, ...]) -> Plan:
        """The compiled phase, kept."""
        key = (lanes, phase, uniform)
        if key not in self._plans:
            self._plans[key] = Plan(self._algorithm, self._tree, variant(lanes, (phase,), (), uniform), self._shape)
        return self._plans[key]

    def factor(self, diagonal: Sequence[np.ndarray], coupling: Sequence[np.ndarray]) -> BlockFactor:
        """Factor the matrix with these diagonal blocks (dim, dim) and couplings (dim, parent's dim), empty for roots."""
        return BlockFactor(self, diagonal, coupling)


class BlockFactor:
    """A factored block system."""

    def __init__(self, tree: BlockTree, diagonal: Sequence[np.ndarray], coupling: Sequence[np.ndarray]) -> None:
        self.tree = tree
        self._rows = int(tree.dims.sum())
        above = [int(tree.dims[p]) if p >= 0 else 0 for p in tree.parents]
        D = _flat("diagonal", diagonal, [(d, d) for d in tree.dims.tolist()])
        B = _flat("coupling", coupling, list(zip(tree.dims.tolist(), above, strict=True)))
        pivots = np.empty(self._rows)
        self._factored = Factored(tree.plan, {"D": D, "B": B}, {"pivots": pivots})
        if not np.all(np.isfinite(pivots)):
            row = int(np.flatnonzero(~np.isfinite(pivots))[-1])
            node = int(np.searchsorted(np.cumsum(tree.dims), row, side="right"))
            raise SolverError(f"block tree: the block of node {node} is singular")

    def solve(self, b: np.ndarray) -> np.ndarray:
        """The solution for right-hand sides (..., total dimension)."""
        b = np.ascontiguousarray(b, float)
        if b.shape[-1:] != (self._rows,):
            raise SolverError(f"block tree: a right-hand side has shape {b.shape}, the system {self._rows} rows")
        return self._factored.apply({"b": b.reshape(-1, self._rows)}, ("x",))[0].reshape(b.shape)


def _flat(what: str, blocks: Sequence[np.ndarray], shapes: list[tuple[int, int]]) -> np.ndarray:
    """The entries of all blocks, each of its own shape."""
    if len(blocks) != len(shapes):
        raise SolverError(f"block tree: {len(blocks)} {what} blocks for {len(shapes)} nodes")
    arrays = [np.asarray(block, float) for block in blocks]
    for node, (a, shape) in enumerate(zip(arrays, shapes, strict=True)):
        if a.shape != shape and not (a.size == 0 and 0 in shape):
            raise SolverError(f"block tree: the {what} block of node {node} has shape {a.shape}, not {shape}")
    return np.concatenate([np.zeros(0), *(a.reshape(-1) for a in arrays)])
