"""Systems of blocks against NumPy, on patterns with and without fill; as Python and compiled."""

from __future__ import annotations

import numpy as np
import pytest

from linkwork.kernel.lanes import Lanes
from linkwork.kernel.loops import Ints, Lane, loops
from linkwork.solvers.block_sparse import Blocks, couple_blocks, factor_blocks, forget_couplings, order_blocks, solve_blocks


@loops
def ordered(n: int, pairs: int, ends: Ints, blocks: Blocks, count: Ints) -> None:
    """Couple pairs of blocks and order them."""
    forget_couplings(n, blocks)
    for k in range(pairs):
        couple_blocks(n, ends[2 * k], ends[2 * k + 1], blocks)
    count[0] = order_blocks(n, blocks)


@loops
def solved(n: int, blocks: Blocks, w: Lane) -> None:
    """Factor and solve."""
    factor_blocks(n, blocks)
    solve_blocks(n, blocks, w)


PATTERNS = {
    "one": (1, []),
    "apart": (3, []),
    "chain": (6, [(k, k + 1) for k in range(5)]),
    "ring": (7, [(k, (k + 1) % 7) for k in range(7)]),
    "star": (6, [(0, k) for k in range(1, 6)]),
    "grid": (12, [(k, k + 1) for k in range(11) if k % 4 < 3] + [(k, k + 4) for k in range(8)]),
    "all": (5, [(i, j) for i in range(5) for j in range(i)]),
}


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("pattern", PATTERNS)
def test_blocks_are_solved_as_a_dense_matrix_is(pattern: str, compiled: bool) -> None:
    n, pairs = PATTERNS[pattern]
    rng = np.random.default_rng(n)
    whole = np.zeros((n, 6, n, 6))
    for i, j in [*((k, k) for k in range(n)), *pairs, *((j, i) for i, j in pairs)]:
        whole[i, :, j] = rng.normal(size=(6, 6)) + (12.0 * np.roll(np.eye(6), 1, axis=0) if i == j else 0.0)  # pivots are needed
    slot, degree, order, first, near, left, count, pivots = (
        np.zeros(size, np.int64) for size in (n * n, n, n, n + 1, 2 * n * n, n, 1, 6)
    )
    ends = np.array(pairs, np.int64).reshape(-1)
    run = (lambda f, *a: f.call(Lanes(1), *a)) if compiled else (lambda f, *a: f(*a))
    run(ordered, n, len(pairs), ends, slot, degree, left, order, first, near, pivots, np.zeros(0), count)
    assert sorted(order) == list(range(n))
    assert count[0] == len({k for k in slot if k >= 0}) == n + 2 * first[n]
    if pattern in ("chain", "star"):
        assert first[n] == len(pairs)  # no fill
    H = np.zeros((count[0], 6, 6))
    for i in range(n):
        for j in range(n):
            if slot[i * n + j] >= 0:
                H[slot[i * n + j]] = whole[i, :, j]
    g = rng.normal(size=6 * n)
    w, H = g.copy(), H.reshape(-1)
    run(solved, n, slot, degree, left, order, first, near, pivots, H, w)
    np.testing.assert_allclose(whole.reshape(6 * n, 6 * n) @ w, g, atol=1e-11)
