"""Rows that a lane has of its own: their matrix, of one that is packed or whole, in one lane as in plain Python."""

from __future__ import annotations

import numpy as np
import pytest

from linkwork.kernel.lanes import Lanes
from linkwork.solvers.own_rows import take_row


@pytest.mark.parametrize("n", [1, 2, 4, 5, 8, 9, 13])
def test_a_row_and_a_column_of_own_rows(n: int) -> None:
    rng = np.random.default_rng(n)
    listed = n + 4
    whole = rng.normal(size=(listed, listed))
    whole += whole.T
    packed, own = whole[np.tril_indices(listed)], np.sort(rng.choice(listed, n, replace=False)).astype(np.int64)
    scale = rng.random(n)
    A, plain = np.full(n * n + 4, 7.5), np.full(n * n + 4, 7.5)
    for p in range(n):
        take_row.call(Lanes(1), n, p, own, scale, packed, A)
        take_row(n, p, own, scale, packed, plain)
    assert np.array_equal(A, plain)
    assert np.all(A[n * n :] == 7.5)
    found, wanted = A[: n * n].reshape(n, n), whole[np.ix_(own, own)] * np.outer(scale, scale)
    np.fill_diagonal(wanted, 7.5)  # not its own
    assert np.allclose(found, wanted, rtol=1e-15)
