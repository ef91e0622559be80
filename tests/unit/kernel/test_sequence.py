"""Jobs in one call: in order, on what the ones before have written, passed over by flags, with bases of their own."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from linkwork.kernel.call import KEPT, Call
from linkwork.kernel.lanes import Lanes
from linkwork.kernel.sequence import JobSequence
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
