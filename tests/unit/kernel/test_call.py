"""Calls that are described once: they compute again what their arrays hold now."""

from __future__ import annotations

import gc

import numpy as np

from linkwork.kernel.call import KEPT, Call
from linkwork.kernel.lanes import Lanes
from linkwork.solvers.block_tree import BlockTree

PARENTS, DIMS = [-1, 0, 1], [2, 1, 2]


def blocks(seed: int) -> tuple[list[np.ndarray], list[np.ndarray], np.ndarray]:
    """Diagonal and coupling blocks, and the dense matrix."""
    rng = np.random.default_rng(seed)
    D = [d * np.eye(d) * 4.0 for d in DIMS]
    B = [np.zeros((2, 0)), rng.normal(size=(1, 2)), rng.normal(size=(2, 1))]
    A = np.zeros((5, 5))
    A[:2, :2], A[2:3, 2:3], A[3:, 3:] = D
    A[2:3, :2], A[:2, 2:3], A[3:, 2:3], A[2:3, 3:] = B[1], B[1].T, B[2], B[2].T
    return D, B, A


def test_a_call_sees_what_its_arrays_hold_now() -> None:
    tree = BlockTree(PARENTS, DIMS)
    D, B, A = blocks(0)
    flat = {"D": np.concatenate([x.reshape(-1) for x in D]), "B": np.concatenate([x.reshape(-1) for x in B])}
    growth, b, x = np.empty((1, 5)), np.zeros((9, 5)), np.zeros((9, 5))
    factor = Call(tree.plan(Lanes(1), "factor", ()), flat, {"growth": growth}, 1)
    apply = Call(tree.plan(Lanes(8), "apply", (KEPT,)), {"b": b}, {"x": x}, 9, factor)
    for seed in (0, 1):
        D, B, A = blocks(seed)
        flat["B"][:] = np.concatenate([block.reshape(-1) for block in B])
        b[:] = np.random.default_rng(seed).normal(size=b.shape)
        factor()
        apply()
        assert np.allclose(x, np.linalg.solve(A, b.T).T, atol=1e-13)
    x[:] = 0.0
    apply(3)
    assert np.allclose(x[:3], np.linalg.solve(A, b[:3].T).T, atol=1e-13)
    assert not x[3:].any()
    apply(9)
    assert np.allclose(x, np.linalg.solve(A, b.T).T, atol=1e-13)


def test_the_memory_of_a_factor_is_used_again_only_when_it_is_gone() -> None:
    tree = BlockTree(PARENTS, DIMS)
    b = np.arange(5.0)
    kept = tree.factor(*blocks(0)[:2])
    for seed in range(1, 4):
        passing = tree.factor(*blocks(seed)[:2])
        assert np.allclose(passing.solve(b), np.linalg.solve(blocks(seed)[2], b), atol=1e-13)
        del passing
        gc.collect()
    assert np.allclose(kept.solve(b), np.linalg.solve(blocks(0)[2], b), atol=1e-13)
