"""Jobs in one call: in order, on what the ones before have written, passed over by flags, with bases of their own."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from linkwork.kernel.call import KEPT, Call
from linkwork.kernel.lanes import Lanes
from linkwork.kernel.sequence import JobSequence
from linkwork.kernel.sequence_call import of_vectors
from linkwork.solvers.block_tree import BlockTree

PARENTS, DIMS = [-1, 0, 1], [2, 1, 2]


def test_jobs_in_order() -> None:
    tree, rng = BlockTree(PARENTS, DIMS), np.random.default_rng(0)
    D = np.concatenate([(4.0 * d * np.eye(d)).reshape(-1) for d in DIMS])
    flat = {"D": D, "B": rng.normal(size=4)}
    growth, b, x, y = np.empty((1, 5)), rng.normal(size=(9, 5)), np.zeros((9, 5)), np.zeros((9, 5))
    factor = Call(tree.plan(Lanes(1), "factor", ()), flat, {"growth": growth}, 1)
    once, twice = (
        Call(tree.plan(Lanes(8), "apply", (KEPT,)), {"b": given}, {"x": found}, 9, factor) for given, found in ((b, x), (x, y))
    )
    flag = np.ones(1)
    run = JobSequence([factor.entry, once.entry, replace(twice.entry, flag=flag)])
    A = np.zeros((5, 5))
    A[:2, :2], A[2, 2], A[3:, 3:] = 8.0 * np.eye(2), 4.0, 8.0 * np.eye(2)
    for _ in range(2):
        flat["B"][:] = rng.normal(size=4)
        A[2, :2], A[:2, 2], A[3:, 2], A[2, 3:] = flat["B"][:2], flat["B"][:2], flat["B"][2:], flat["B"][2:]
        run()
        assert np.allclose(x, np.linalg.solve(A, b.T).T, atol=1e-13)
        assert np.allclose(y, np.linalg.solve(A, x.T).T, atol=1e-13)
    before = y.copy()
    flag[:] = 0.0
    b *= 2.0
    run()
    assert np.allclose(x, np.linalg.solve(A, b.T).T, atol=1e-13)
    assert np.array_equal(y, before)


def test_sequences_of_vectors() -> None:
    """Vectors are copied to where the jobs read them; what is no such vector, or not sound, is refused before they run."""
    tree = BlockTree([-1], [3])
    given, D, x = np.zeros((1, 3)), np.zeros((1, 9)), np.zeros((1, 3))
    flat, growth = {"D": D[0], "B": np.zeros(0)}, np.empty((1, 3))
    factor = Call(tree.plan(Lanes(1), "factor", ()), flat, {"growth": growth}, 1)
    solve = Call(tree.plan(Lanes(1), "apply", ()), {"b": given}, {"x": x}, 1, factor)
    run = of_vectors(JobSequence([factor.entry, solve.entry]), (D, given), [])
    A, b = 4.0 * np.eye(3), np.arange(3.0)
    assert run(A.reshape(-1), b) is True
    assert np.array_equal(x[0], b / 4.0)
    for odd in (list(b), b.astype(np.float32), b[None], b[:2], np.arange(6.0)[::2], np.array([0.0, np.nan, 1.0])):
        assert run(A.reshape(-1), odd) is None
    assert run(b) is None
    assert np.array_equal(x[0], b / 4.0)
    turned = of_vectors(JobSequence([solve.entry]), (given,), [])
    assert turned(2.0 * b) is True
    assert np.array_equal(x[0], b / 2.0)


def test_sequences_of_quaternions() -> None:
    tree = BlockTree([-1], [4])
    flat, given, x = {"D": np.eye(4).reshape(-1), "B": np.zeros(0)}, np.zeros((1, 4)), np.zeros((1, 4))
    factor = Call(tree.plan(Lanes(1), "factor", ()), flat, {"growth": np.empty((1, 4))}, 1)
    solve = Call(tree.plan(Lanes(1), "apply", ()), {"b": given}, {"x": x}, 1, factor)
    run = of_vectors(JobSequence([factor.entry, solve.entry]), (given,), [(0, 0)])
    assert run(np.array([0.6, 0.0, 0.8, 0.0])) is True
    assert run(np.array([0.6, 0.0, 0.9, 0.0])) is None
    assert np.array_equal(x[0], [0.6, 0.0, 0.8, 0.0])
