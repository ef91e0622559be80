"""The block solver on forests against dense linear algebra: with and without symmetry, with and without grandparent blocks."""

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
    """A random block system on a forest, and the same as one dense matrix; each block carries the weight of its couplings."""

    def __init__(
        self,
        parents: list[int],
        dims: list[int],
        seed: int,
        symmetric: bool = True,
        grandparents: bool = False,
        sign: float = 1.0,
    ) -> None:
        """`sign` -1: positive and negative diagonal blocks by depth, as bodies and constraints."""
        rng = np.random.default_rng(seed)
        self.parents, self.dims, self.symmetric, self.grandparents = parents, dims, symmetric, grandparents
        starts = np.concatenate([[0], np.cumsum(dims)])
        self.slices = [slice(i, j) for i, j in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True)]
        self.total = int(starts[-1])
        depth: list[int] = []
        for p in parents:
            depth.append(depth[p] + 1 if p >= 0 else 0)
        grand = [parents[p] if p >= 0 and grandparents else -1 for p in parents]
        sizes = [*dims, 0]

        def couplings(above: list[int]) -> tuple[list[np.ndarray], list[np.ndarray]]:
            blocks = [0.5 * rng.normal(size=(d, sizes[j])) for d, j in zip(dims, above, strict=True)]
            return blocks, [x.T if symmetric else 0.5 * rng.normal(size=x.shape[::-1]) for x in blocks]

        self.coupling, self.back = couplings(parents)
        self.grand, self.grand_back = couplings(grand)
        self.diagonal: list[np.ndarray] = []
        for d, level in zip(dims, depth, strict=True):
            L = rng.normal(size=(d, d))
            skew = np.zeros((d, d)) if symmetric else 0.3 * (L - L.T)
            self.diagonal.append(sign**level * (L @ L.T + (2.0 + d) * np.eye(d) + skew))
        if sign > 0:
            for above, blocks, backs in ((parents, self.coupling, self.back), (grand, self.grand, self.grand_back)):
                for i, j in enumerate(above):
                    weight = max(np.linalg.norm(blocks[i], 2), np.linalg.norm(backs[i], 2)) if j >= 0 else 0.0
                    for k in (i, j) if j >= 0 else ():
                        self.diagonal[k] = self.diagonal[k] + weight * np.eye(dims[k])
        self.above = (parents, grand)

    @property
    def A(self) -> np.ndarray:
        A = np.zeros((self.total, self.total))
        for i, s in enumerate(self.slices):
            A[s, s] = self.diagonal[i]
        for above, blocks, backs in zip(self.above, (self.coupling, self.grand), (self.back, self.grand_back), strict=True):
            for i, j in enumerate(above):
                if j >= 0:
                    A[self.slices[i], self.slices[j]] = blocks[i]
                    A[self.slices[j], self.slices[i]] = blocks[i].T if self.symmetric else backs[i]
        return A

    @property
    def blocks(self) -> tuple[Any, ...]:
        return self.diagonal, self.coupling, self.grand, self.back, self.grand_back

    @property
    def tree(self) -> BlockTree:
        return BlockTree(self.parents, self.dims, self.symmetric, self.grandparents)

    def factor(self) -> Any:
        return self.tree.factor(*self.blocks)


def forests(*dims: int) -> st.SearchStrategy[tuple[list[int], list[int]]]:
    """Of blocks of these sizes; the first is the largest, so that all share their kernels."""
    node = st.tuples(st.integers(0, 10**6), st.sampled_from(dims), st.booleans())
    return st.lists(node, min_size=1, max_size=20).map(
        lambda nodes: (
            [-1 if k == 0 or (root and x % 3 == 0) else x % k for k, (x, _, root) in enumerate(nodes)],
            [max(dims), *(d for _, d, _ in nodes[1:])],
        )
    )


def agrees(s: System, seed: int) -> None:
    b = np.random.default_rng(seed).normal(size=(3, s.total))
    factor = s.factor()
    expected = np.linalg.solve(s.A, b.T).T
    assert relative(factor.solve(b), expected) < TOLERANCE
    assert relative(factor.solve(b[0]), expected[0]) < TOLERANCE
    if s.symmetric:
        assert relative(factor.quadratic_form(b), b @ expected.T) < TOLERANCE


@settings(deadline=None, max_examples=30)
@given(forest=forests(1, 4), seed=st.integers(0, 2**31 - 1))
def test_positive_systems(forest: tuple[list[int], list[int]], seed: int) -> None:
    agrees(System(*forest, seed), seed)


@settings(deadline=None, max_examples=20)
@given(forest=forests(1, 2), seed=st.integers(0, 2**31 - 1))
def test_unsymmetric_systems(forest: tuple[list[int], list[int]], seed: int) -> None:
    agrees(System(*forest, seed, symmetric=False), seed)


@pytest.mark.parametrize("symmetric", [True, False])
@settings(deadline=None, max_examples=20)
@given(forest=forests(1, 2), seed=st.integers(0, 2**31 - 1))
def test_grandparent_blocks(symmetric: bool, forest: tuple[list[int], list[int]], seed: int) -> None:
    agrees(System(*forest, seed, symmetric, grandparents=True), seed)


@pytest.mark.parametrize("symmetric", [True, False])
def test_bodies_and_joints_with_springs_between_bodies(symmetric: bool) -> None:
    """Bodies of six and joints of three rows, grandparent blocks between bodies only, as in the implicit method."""
    parents, dims = [-1, 0, 1, 2, 1, 4, 3, 6, 7, 8], [6, 3, 6, 3, 6, 3, 6, 3, 6, 3]
    s = System(parents, dims, 5, symmetric, grandparents=True, sign=-1.0)
    bodies = [d == 6 for d in dims]
    for i, body in enumerate(bodies):
        if not body:
            s.grand[i], s.grand_back[i] = np.zeros((3, 0)), np.zeros((0, 3))
            s.above[1][i] = -1
    b = np.random.default_rng(0).normal(size=(9, s.total))
    factor = BlockTree(parents, dims, symmetric, bodies).factor(*s.blocks)
    assert relative(factor.solve(b), np.linalg.solve(s.A, b.T).T) < TOLERANCE


@settings(deadline=None, max_examples=30)
@given(forest=forests(1, 4), seed=st.integers(0, 2**31 - 1))
def test_alternating_signs_as_in_kkt(forest: tuple[list[int], list[int]], seed: int) -> None:
    """Bodies (positive) and constraints (negative) by depth: eliminating one adds to the other's sign, never takes."""
    agrees(System(*forest, seed, sign=-1.0), seed)


@pytest.mark.parametrize("seed", range(2))
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
    agrees(s, seed)


# --- no fill-in ---------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("symmetric", "grandparents"), [(True, False), (False, False), (True, True), (False, True)])
def test_factors_store_the_blocks_of_the_matrix_and_nothing_else(symmetric: bool, grandparents: bool) -> None:
    """Of every node a triangle (or a square) and its blocks to the nodes above (and back)."""
    s = System([-1, 0, 0, 1, 3, 4, 4, -1, 7], [3, 1, 3, 3, 1, 3, 3, 1, 3], 3, symmetric, grandparents)
    sides = 1 if symmetric else 2
    own = sum(d * (d + 1) // 2 if symmetric else d * d for d in s.dims)
    above = sum(x.size for blocks in (s.coupling, s.grand) for x in blocks)
    assert s.tree.stored == own + sides * above
    # The same of dense factors, in the order of elimination: zeros wherever the matrix has them.
    order = np.concatenate([np.arange(s.total)[sl] for sl in reversed(s.slices)])
    A = s.A[np.ix_(order, order)]
    pattern = A != 0.0
    for sl in reversed(s.slices):
        at = np.isin(order, np.arange(s.total)[sl])
        pattern[np.ix_(at, at)] = True
    L = A.copy()
    for k in range(s.total):
        L[k + 1 :, k] /= L[k, k]
        L[k + 1 :, k + 1 :] -= np.outer(L[k + 1 :, k], L[k, k + 1 :])
    assert np.all(L[~pattern] == 0.0)


def test_memory_is_linear() -> None:
    counts = [BlockTree([-1, *range(n - 1)], [3] * n, grandparents=True).stored for n in (100, 200, 400)]
    assert counts[2] - counts[1] == 2 * (counts[1] - counts[0])


# --- many systems, many right-hand sides --------------------------------------------------------------------------------
@pytest.mark.parametrize(("symmetric", "grandparents"), [(True, False), (False, True)])
def test_many_systems_at_once(symmetric: bool, grandparents: bool) -> None:
    parents, dims = [-1, 0, 1, 0, 3, -1, 5], [3, 3, 1, 3, 1, 3, 3]
    systems = [System(parents, dims, seed, symmetric, grandparents) for seed in range(11)]
    b = np.random.default_rng(1).normal(size=(11, systems[0].total))
    blocks = [[np.stack(x) for x in zip(*kinds, strict=True)] for kinds in zip(*(s.blocks for s in systems), strict=True)]
    found = systems[0].tree.solve(b, *blocks)
    for s, x, r in zip(systems, found, b, strict=True):
        assert relative(x, np.linalg.solve(s.A, r)) < TOLERANCE
    blocks[0][4][6] = 0.0
    with pytest.raises(SolverError, match=r"system 6: .*node 4\b.*singular"):
        systems[0].tree.solve(b, *blocks)


@pytest.mark.parametrize(("symmetric", "grandparents"), [(True, False), (False, True)])
def test_a_prepared_function(symmetric: bool, grandparents: bool) -> None:
    s = System([-1, 0, 1, 0, 3, -1, 5], [3, 3, 1, 3, 1, 3, 3], 8, symmetric, grandparents)
    b = np.random.default_rng(1).normal(size=s.total)
    flat = [np.concatenate([x.reshape(-1) for x in blocks]) for blocks in s.blocks]
    wanted = [True, True, grandparents, not symmetric, not symmetric and grandparents]
    found = s.tree.function()(*(x for x, there in zip(flat, wanted, strict=True) if there), b)
    assert relative(found, np.linalg.solve(s.A, b)) < TOLERANCE


def test_systems_may_share_blocks() -> None:
    s = System([-1, 0, 1], [3, 1, 3], 0)
    b = np.random.default_rng(1).normal(size=(5, s.total))
    assert relative(s.tree.solve(b, *s.blocks), s.factor().solve(b)) < TOLERANCE


def test_many_right_hand_sides_equal_single_ones() -> None:
    s = System([-1, 0, 1, 0, 3, -1, 5], [3, 3, 1, 3, 1, 3, 3], 4)
    factor = s.factor()
    b = np.random.default_rng(0).normal(size=(3, 7, s.total))
    x = factor.solve(b)
    assert x.shape == b.shape
    for at in np.ndindex(3, 7):
        assert np.array_equal(x[at], factor.solve(b[at]))


def test_factors_do_not_disturb_each_other() -> None:
    tree = BlockTree([-1, 0, 0], [3, 1, 1])
    one, two = (System([-1, 0, 0], [3, 1, 1], seed) for seed in (0, 1))
    first = tree.factor(one.diagonal, one.coupling)
    tree.factor(two.diagonal, two.coupling)
    b = np.arange(5.0)
    assert relative(first.solve(b), np.linalg.solve(one.A, b)) < TOLERANCE


@pytest.mark.parametrize("node", range(7))
def test_a_singular_block_is_named(node: int) -> None:
    """The block is singular after its children are eliminated: that is what must be factored."""
    parents, dims = [-1, 0, 1, 0, 3, -1, 5], [3, 3, 1, 3, 1, 3, 3]
    s = System(parents, dims, 2)
    for i, p in enumerate(parents):
        if p == node:
            s.coupling[i] = np.zeros_like(s.coupling[i])
    s.diagonal[node] = np.diag([1.0] * (dims[node] - 1) + [0.0])
    with pytest.raises(SolverError, match=rf"node {node}\b.*singular"):
        s.factor()


def pinned_chain(links: int, sag: float) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """J M^-1 J^T of planar rods between two walls, by the pins: the blocks of a chain of links + 1 nodes of two rows."""
    M_inv = np.diag([1.0, 1.0, 12.0])
    angles = np.arctan(sag * np.linspace(1.0, -1.0, links))
    J = np.zeros((links + 1, links, 2, 3))
    for i, a in enumerate(angles):
        half = 0.5 * np.array([-np.sin(a), np.cos(a)])
        J[i, i], J[i + 1, i] = np.column_stack([np.eye(2), -half]), -np.column_stack([np.eye(2), half])
    J_M = J @ M_inv

    def block(i: int, j: int) -> np.ndarray:
        return sum((J_M[i, k] @ J[j, k].T for k in range(max(0, i - 1), min(links, i + 1))), np.zeros((2, 2)))

    return [block(i, i) for i in range(links + 1)], [np.zeros((2, 0)), *(block(i, i - 1) for i in range(1, links + 1))]


@pytest.mark.parametrize("links", [3, 30, 300])
def test_a_straight_chain_pinned_at_both_ends_is_singular(links: int) -> None:
    """[Baraff, footnote 5]: the pull along the chain is undetermined. A chain that sags is regular."""
    tree = BlockTree([-1, *range(links)], [2] * (links + 1))
    tree.factor(*pinned_chain(links, 0.3))
    with pytest.raises(SolverError, match=r"node 0\b.*singular"):
        tree.factor(*pinned_chain(links, 0.0))


def test_the_scale_of_a_system_does_not_matter() -> None:
    """A system in other units is as regular as before."""
    s = System([-1, 0, 1, 0], [3, 1, 3, 3], 7)
    unit = [10.0 ** (3 * k - 6) for k in range(4)]
    D = [x * unit[k] ** 2 for k, x in enumerate(s.diagonal)]
    B = [x * unit[k] * unit[p] for k, (p, x) in enumerate(zip(s.parents, s.coupling, strict=True))]
    b = np.arange(1.0, 1.0 + s.total)
    scale = np.repeat(unit, s.dims)
    assert relative(scale * s.tree.factor(D, B).solve(scale * b), np.linalg.solve(s.A, b)) < TOLERANCE


def test_wrong_shapes_are_refused() -> None:
    s = System([-1, 0], [3, 1], 0)
    tree = BlockTree(s.parents, s.dims)
    with pytest.raises(SolverError):
        tree.factor([s.diagonal[0][:2, :2], s.diagonal[1]], s.coupling)
    with pytest.raises(SolverError):
        tree.factor(s.diagonal[:1], s.coupling)
    with pytest.raises(SolverError):
        tree.factor(s.diagonal, [s.coupling[0], s.coupling[1][:, :2]])
    with pytest.raises(SolverError, match="right-hand side"):
        tree.factor(s.diagonal, s.coupling).solve(np.zeros(5))


def test_blocks_in_the_wrong_order_are_refused() -> None:
    """As many numbers in all, but not the blocks of this tree."""
    s = System([-1, 0], [3, 1], 0)
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
