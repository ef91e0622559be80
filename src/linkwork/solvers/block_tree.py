"""A solver for block systems on a forest: factor once, solve for many right-hand sides, O(n), compiled."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence

import numpy as np

from ..errors import SolverError
from ..kernel.call import Factored
from ..kernel.lanes import Lanes
from ..kernel.plan import Plan
from ..kernel.plans import Plans
from ..kernel.sweep import NodeClass, Tree
from .block_rules import block_tree_algorithm, unwanted

SINGULAR = 1e12  # a diagonal that is so much larger than what elimination leaves of it leaves nothing but rounding
Blocks = Sequence[np.ndarray] | np.ndarray  # one per node, or all entries of all blocks, node by node; batches come first


class BlockTree:
    """The pattern of a block system on a forest.

    parents        index of every node's parent, -1 for roots; parents come before their children
    dims           size of every node's block
    symmetric      whether H_ji = H_ij^T; otherwise both are given
    grandparents   whether nodes are coupled to their parents' parents too: for all, or one answer per node

    Elimination from the leaves is a perfect order: factors have no blocks that the matrix has not.
    """

    def __init__(
        self,
        parents: Sequence[int],
        dims: Sequence[int],
        symmetric: bool = True,
        grandparents: bool | Sequence[bool] = False,
    ) -> None:
        self.parents, self.dims = np.asarray(parents, np.int64), np.asarray(dims, np.int64)
        self.symmetric = symmetric
        check_forest(self.parents, self.dims)
        coupled = np.broadcast_to(np.asarray(grandparents, bool), self.parents.shape)
        self.grandparents = bool(np.any(coupled))
        up = np.append(self.parents, -1)
        sizes = np.append(self.dims, 0)
        self.parent_dims = sizes[self.parents]
        self.grand_dims = np.where(coupled, sizes[up[self.parents]], 0)
        fed = np.zeros(len(self.dims) + 1, bool)  # whether a child is coupled to the node's parent
        fed[self.parents[self.grand_dims > 0]] = True
        classes: dict[tuple[int, int, int, bool], NodeClass] = {}
        columns = (self.dims, self.parent_dims, self.grand_dims, fed[:-1])
        keys = zip(*(column.tolist() for column in columns), strict=True)
        nodes = [classes.setdefault(key, self._class(*key)) for key in keys]
        self._tree = Tree(self.parents, nodes, [{}] * len(nodes))
        self._plans = Plans(self._tree)
        self._algorithm = block_tree_algorithm(int(self.dims.max()), symmetric, self.grandparents)

    def _class(self, d: int, p: int, g: int, fed: bool) -> NodeClass:
        attributes = {"dim": d, "parent_dim": p, "grand_dim": g, "fed": fed, "symmetric": self.symmetric}
        return NodeClass(("block", d, p, g, fed, self.symmetric), attributes, {}, {"D": d * d, "B": d * p, "C": d * g, "x": d})

    def plan(self, lanes: Lanes, phase: str, uniform: tuple[str, ...]) -> Plan:
        """The compiled phases, kept; several are joined by "+"."""
        return self._plans(self._algorithm, lanes, tuple(phase.split("+")), unwanted(phase), uniform)

    @functools.cached_property
    def stored(self) -> int:
        """Scalars that a factor keeps."""
        return self.plan(Lanes(1), "factor", ()).sizes["private:factor"]

    def factor(
        self, diagonal: Blocks, coupling: Blocks, grand: Blocks = (), back: Blocks = (), grand_back: Blocks = ()
    ) -> BlockFactor:
        """Factor the matrix with these blocks, empty for roots or where there is no grandparent.

        diagonal     H_ii (dim, dim)
        coupling     H_ip (dim, parent's dim)
        grand        H_ig (dim, grandparent's dim), with grandparents
        back         H_pi (parent's dim, dim), without symmetry
        grand_back   H_gi (grandparent's dim, dim), with grandparents, without symmetry
        """
        return BlockFactor(self, self._flat(diagonal, coupling, grand, back, grand_back))

    def solve(
        self,
        b: np.ndarray,
        diagonal: Blocks,
        coupling: Blocks,
        grand: Blocks = (),
        back: Blocks = (),
        grand_back: Blocks = (),
    ) -> np.ndarray:
        """Solutions (batch, rows) of independent systems, one per right-hand side (batch, rows), eight at a time.

        Blocks are as in `factor`, each with a batch axis before its own, or without if all systems share it.
        """
        b = self.checked(b)
        blocks = self._flat(diagonal, coupling, grand, back, grand_back)
        out = {name: np.empty(b.shape) for name in ("x", "growth")}
        self.plan(Lanes(8), "factor+apply", ()).run({**blocks, "b": b}, out, len(b))
        for k, row in enumerate(out["growth"]):
            self.check_growth(row, f" of system {k}")
        return out["x"]

    def function(self) -> Callable[..., np.ndarray]:
        """A prepared function of the flat blocks, in the order of `factor` as far as this tree has them, and b (rows,): x.

        It factors and solves with memory of its own, copies nothing and checks nothing: a singular block leaves NaN or infinity.
        What it returns is overwritten by the next call.
        """
        names = [name for name in ("D", "B", "C", "B_back", "C_back", "b") if name in self._algorithm.fields]
        return self.plan(Lanes(1), "factor+apply", ()).workspace().of_state(names, "x", (int(self.dims.sum()),))[0]

    def checked(self, b: np.ndarray) -> np.ndarray:
        """Right-hand sides (batch, rows)."""
        rows = int(self.dims.sum())
        b = np.ascontiguousarray(b, float)
        if b.shape[-1:] != (rows,):
            raise SolverError(f"block tree: a right-hand side has shape {b.shape}, the system {rows} rows")
        return b.reshape(-1, rows)

    def check_growth(self, growth: np.ndarray, where: str = "") -> None:
        """Raise if a pivot is nothing, or nothing but rounding, of the diagonal that it is left from."""
        node = singular_node(growth, self.dims)
        if node is not None:
            raise SolverError(f"block tree{where}: the block of node {node} is singular after its children are eliminated")

    def _flat(self, diagonal: Blocks, coupling: Blocks, grand: Blocks, back: Blocks, grand_back: Blocks) -> dict[str, np.ndarray]:
        d, p, g = self.dims, self.parent_dims, self.grand_dims
        blocks = {"D": flat("diagonal", diagonal, d, d), "B": flat("coupling", coupling, d, p)}
        if self.grandparents:
            blocks["C"] = flat("grandparent", grand, d, g)
        if not self.symmetric:
            blocks["B_back"] = flat("back", back, p, d)
            if self.grandparents:
                blocks["C_back"] = flat("grandparent back", grand_back, g, d)
        return blocks


class BlockFactor:
    """A factored block system."""

    def __init__(self, tree: BlockTree, blocks: dict[str, np.ndarray]) -> None:
        self.tree = tree
        growth = np.empty(int(tree.dims.sum()))
        self._factored = Factored(tree.plan, blocks, {"growth": growth})
        tree.check_growth(growth)

    def solve(self, b: np.ndarray) -> np.ndarray:
        """The solution for right-hand sides (..., rows)."""
        rows = self.tree.checked(b)
        return self._factored.apply({"b": rows}, ("x",))[0].reshape(np.shape(b))

    def quadratic_form(self, b: np.ndarray) -> np.ndarray:
        """b H^-1 b^T for the rows of b (k, rows) of a symmetric system, without back substitution.

        With H = L D L^T it is (L^-1 b)^T D^-1 (L^-1 b) [Baraff, Acknowledgments; erratum 8].
        """
        if not self.tree.symmetric:
            raise SolverError("block tree: the quadratic form needs a symmetric system")
        y, y_scaled = self._factored.apply({"b": self.tree.checked(b)}, ("y", "y_scaled"), "halfway")
        return y @ y_scaled.T


def check_forest(parents: np.ndarray, dims: np.ndarray) -> None:
    """Raise unless parents come before their children, and every block has rows."""
    if len(parents) != len(dims) or not len(dims):
        raise SolverError(f"block tree: {len(parents)} parents and {len(dims)} dimensions; one each per node, at least one")
    if np.any(parents >= np.arange(len(parents))) or np.any(parents < -1) or np.any(dims < 1):
        raise SolverError("block tree: parents must come before their children, and blocks have at least one row")


def singular_node(growth: np.ndarray, dims: np.ndarray) -> int | None:
    """The node that was eliminated first of those whose pivots are lost, from the growth of every row."""
    lost = np.flatnonzero(~(growth < SINGULAR))
    return int(np.searchsorted(np.cumsum(dims), lost[-1], side="right")) if len(lost) else None


def flat(what: str, blocks: Blocks, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """The entries of all blocks (..., total), each of its own shape."""
    if isinstance(blocks, np.ndarray) and blocks.dtype == float and blocks.shape[-1] == rows @ columns:
        return np.ascontiguousarray(blocks)
    if len(blocks) != len(rows):
        raise SolverError(f"block tree: {len(blocks)} {what} blocks for {len(rows)} nodes")
    arrays = [np.asarray(block, float) for block in blocks]
    lead = max((a.shape[:-2] for a in arrays if a.size), key=len, default=())
    parts = []
    for node, (a, shape) in enumerate(zip(arrays, zip(rows.tolist(), columns.tolist(), strict=True), strict=True)):
        empty = 0 in shape
        if not (empty and a.size == 0) and (a.shape[-2:] != shape or a.shape[:-2] not in ((), lead)):
            raise SolverError(f"block tree: the {what} block of node {node} has shape {a.shape}, not {shape}")
        if not empty:
            parts.append(np.broadcast_to(a.reshape(*a.shape[:-2], -1), (*lead, shape[0] * shape[1])))
    return np.concatenate([np.zeros((*lead, 0)), *parts], axis=-1)
