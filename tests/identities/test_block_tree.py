"""The block solver on forests against dense linear algebra: positive blocks, and positive and negative ones as in KKT."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from models import relative

from linkwork.errors import LinkworkError, SolverError
from linkwork.solvers.block_tree import BlockTree

TOLERANCE = 1e-10


class System:
    """A random symmetric block system on a forest, and the same as one dense matrix."""

    def __init__(self, parents: list[int], dims: list[int], seed: int, signs: list[float] | None = None) -> None:
        rng = np.random.default_rng(seed)
        self.parents, self.dims = parents, dims
        starts = np.concatenate([[0], np.cumsum(dims)])
        self.slices = [slice(i, j) for i, j in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True)]
        self.total = int(starts[-1])
        self.A = np.zeros((self.total, self.total))
        self.diagonal: list[np.ndarray] = []
        self.coupling: list[np.ndarray] = []
        for i, (p, d) in enumerate(zip(parents, dims, strict=True)):
            L = rng.normal(size=(d, d))
            sign = signs[i] if signs else 1.0
            self.diagonal.append(sign * (L @ L.T + (2.0 + d) * np.eye(d)))
            self.coupling.append(rng.normal(size=(d, dims[p] if p >= 0 else 0)) * 0.5)
        self.fill()

    def fill(self) -> None:
        for i, p in enumerate(self.parents):
            s = self.slices[i]
            self.A[s, s] = self.diagonal[i]
            if p >= 0:
                self.A[s, self.slices[p]] = self.coupling[i]
                self.A[self.slices[p], s] = self.coupling[i].T

    def factor(self) -> Any:
        return BlockTree(self.parents, self.dims).factor(self.diagonal, self.coupling)


def positive(parents: list[int], dims: list[int], seed: int) -> System:
    """Diagonally dominant by blocks: each block also carries the weight of its couplings."""
    s = System(parents, dims, seed)
    for i, p in enumerate(parents):
        weight = np.linalg.norm(s.coupling[i], 2) if p >= 0 else 0.0
        s.diagonal[i] += weight * np.eye(dims[i])
        if p >= 0:
            s.diagonal[p] += weight * np.eye(dims[p])
    s.fill()
    return s


forests = st.lists(st.tuples(st.integers(0, 10**6), st.integers(1, 4), st.booleans()), min_size=1, max_size=20).map(
    lambda nodes: (
        [-1 if k == 0 or (root and x % 3 == 0) else x % k for k, (x, _, root) in enumerate(nodes)],
        [d for _, d, _ in nodes],
    )
)


@settings(deadline=None, max_examples=40)
@given(forest=forests, seed=st.integers(0, 2**31 - 1))
def test_positive_systems(forest: tuple[list[int], list[int]], seed: int) -> None:
    s = positive(*forest, seed)
    b = np.random.default_rng(seed).normal(size=(3, s.total))
    factor = s.factor()
    expected = np.linalg.solve(s.A, b.T).T
    assert relative(factor.solve(b), expected) < TOLERANCE
    assert relative(factor.solve(b[0]), expected[0]) < TOLERANCE


@settings(deadline=None, max_examples=40)
@given(forest=forests, seed=st.integers(0, 2**31 - 1))
def test_alternating_signs_as_in_kkt(forest: tuple[list[int], list[int]], seed: int) -> None:
    """Bodies (positive) and constraints (negative) by depth: eliminating one adds to the other's sign, never takes."""
    parents, dims = forest
    depth: list[int] = []
    for p in parents:
        depth.append(depth[p] + 1 if p >= 0 else 0)
    s = System(parents, dims, seed, [(-1.0) ** d for d in depth])
    b = np.random.default_rng(seed).normal(size=(5, s.total))
    assert relative(s.factor().solve(b), np.linalg.solve(s.A, b.T).T) < TOLERANCE


@pytest.mark.parametrize("seed", range(5))
def test_the_kkt_system_of_a_chain(seed: int) -> None:
    """Bodies with mass and joints with zero blocks: a joint lies between its body (child) and the parent's body.

    [M G^T; G 0] has no definite zero block, but each becomes definite when the body below it is eliminated.
    """
    rng = np.random.default_rng(seed)
    links, rows = 7, 5
    parents, dims, diagonal, coupling = [], [], [], []
    for k in range(links):
        above = 2 * k - 1
        parents += [above, 2 * k]
        dims += [rows, 6]
        L = rng.normal(size=(6, 6))
        diagonal += [np.zeros((rows, rows)), L @ L.T + 3 * np.eye(6)]
        coupling += [rng.normal(size=(rows, 6)) if k else np.zeros((rows, 0)), rng.normal(size=(6, rows))]
    s = System(parents, dims, seed)
    s.diagonal, s.coupling = diagonal, coupling
    s.fill()
    b = rng.normal(size=(9, s.total))
    assert relative(s.factor().solve(b), np.linalg.solve(s.A, b.T).T) < TOLERANCE


def test_many_right_hand_sides_equal_single_ones() -> None:
    s = positive([-1, 0, 1, 0, 3, -1, 5], [2, 3, 1, 4, 2, 3, 3], 4)
    factor = s.factor()
    b = np.random.default_rng(0).normal(size=(3, 7, s.total))
    x = factor.solve(b)
    assert x.shape == b.shape
    for at in np.ndindex(3, 7):
        assert np.array_equal(x[at], factor.solve(b[at]))


def test_factors_do_not_disturb_each_other() -> None:
    tree = BlockTree([-1, 0, 0], [3, 2, 2])
    one, two = (positive([-1, 0, 0], [3, 2, 2], seed) for seed in (0, 1))
    first = tree.factor(one.diagonal, one.coupling)
    tree.factor(two.diagonal, two.coupling)
    b = np.arange(7.0)
    assert relative(first.solve(b), np.linalg.solve(one.A, b)) < TOLERANCE


@pytest.mark.parametrize("node", range(7))
def test_a_singular_block_is_named(node: int) -> None:
    """The block is singular after its children are eliminated: that is what must be factored."""
    parents, dims = [-1, 0, 1, 0, 3, -1, 5], [2, 3, 1, 4, 2, 3, 3]
    s = positive(parents, dims, 2)
    for i, p in enumerate(parents):
        if p == node:
            s.coupling[i] = np.zeros_like(s.coupling[i])
    s.diagonal[node] = np.diag([1.0] * (dims[node] - 1) + [0.0])
    with pytest.raises(SolverError, match=rf"node {node}\b.*singular"):
        s.factor()


def test_wrong_shapes_are_refused() -> None:
    s = positive([-1, 0], [2, 3], 0)
    tree = BlockTree(s.parents, s.dims)
    with pytest.raises(SolverError):
        tree.factor([s.diagonal[0], s.diagonal[1][:2, :2]], s.coupling)
    with pytest.raises(SolverError):
        tree.factor(s.diagonal[:1], s.coupling)
    with pytest.raises(SolverError):
        tree.factor(s.diagonal, [s.coupling[0], s.coupling[1][:, :1]])
    with pytest.raises(SolverError, match="right-hand side"):
        tree.factor(s.diagonal, s.coupling).solve(np.zeros(6))


def test_blocks_in_the_wrong_order_are_refused() -> None:
    """As many numbers in all, but not the blocks of this tree."""
    s = positive([-1, 0], [2, 3], 0)
    tree = BlockTree(s.parents, s.dims)
    with pytest.raises(SolverError):
        tree.factor(s.diagonal[::-1], s.coupling)
    with pytest.raises(SolverError):
        tree.factor(s.diagonal, [s.coupling[0], s.coupling[1].T])


@pytest.mark.parametrize(
    ("parents", "dims"),
    [([0], [1]), ([-1, 1], [1, 1]), ([-1, 2, 0], [1, 1, 1]), ([-1, 0], [1, 0])],
    ids=["own parent", "own parent below", "parent after child", "empty block"],
)
def test_impossible_trees_are_refused(parents: list[int], dims: list[int]) -> None:
    with pytest.raises(LinkworkError):
        BlockTree(parents, dims)


@pytest.mark.parametrize(("parents", "dims"), [([-1, 0], [1]), ([], [])], ids=["lengths differ", "no nodes"])
def test_impossible_lists_are_refused(parents: list[int], dims: list[int]) -> None:
    with pytest.raises(LinkworkError):
        BlockTree(parents, dims)
