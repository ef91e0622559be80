"""Patterns of matrices on degrees of freedom, cut into parts of columns with lists of rows."""

from __future__ import annotations

import numpy as np
import pytest

from linkwork.kernel import machine
from linkwork.kernel.lanes import Lanes
from linkwork.steppers.linear_pattern import add_sparse, cut, part_tables, pattern_of, put_sparse

LEGGED = [-1, 0, 1, 2, 3, 4, 5, 6, 7, 5, 9, 10]  # a base of six, two legs of three


def test_pattern() -> None:
    found = pattern_of(LEGGED, [])
    assert np.array_equal(found, found.T)
    assert found[:6].all()
    assert found[6:9, 6:9].all()
    assert not found[6:9, 9:].any()
    assert pattern_of(LEGGED, [([8], [11])]).sum() == found.sum() + 1


def test_parts_end_where_lists_change() -> None:
    assert cut(pattern_of(LEGGED, []), 3) == [(0, 3), (3, 6), (6, 9), (9, 12)]
    assert cut(np.ones((5, 5), bool), 2)[-1][1] == 5


@pytest.mark.parametrize("before", [LEGGED, list(range(-1, 20)), [-1, *([0] * 30)]], ids=["legs", "chain", "star"])
def test_products_are_those_of_whole_matrices(before: list[int]) -> None:
    n, rng = len(before), np.random.default_rng(0)
    pattern = pattern_of(before, [([n - 1], [n // 2])])
    tables = {name: x.astype(np.int32) for name, x in part_tables(pattern).items()}
    assert tables["part_size"].sum() == n
    assert tables["part_size"].max() <= machine.register_bytes() // 8 or len(tables["part_at"]) == 1
    A, B, C = rng.normal(size=(7, n)), rng.normal(size=(n, n)) * pattern, rng.normal(size=(7, n))
    for product, old in ((put_sparse, 0.0), (add_sparse, C)):
        out = C.reshape(-1).copy()
        product.call(Lanes(1), 7, n, len(tables["part_at"]), *tables.values(), 2.0, A.reshape(-1), B.reshape(-1), 0, out, 0, n)
        assert np.allclose(out.reshape(7, n), old + 2.0 * A @ B, atol=1e-12)
