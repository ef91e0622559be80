"""Products of matrices in one lane: as NumPy has them, and to the bit as the loops that they stand for."""

from __future__ import annotations

import numpy as np
import pytest

from linkwork.kernel.lanes import Lanes
from linkwork.kernel.products import add_product, clear, copy


@pytest.mark.parametrize(("m", "n", "k"), [(1, 1, 1), (4, 16, 3), (5, 17, 7), (9, 38, 24), (3, 9, 0), (0, 4, 2), (7, 31, 5)])
@pytest.mark.parametrize("transposed", [False, True])
def test_add_product(m: int, n: int, k: int, transposed: bool) -> None:
    rng = np.random.default_rng(m + n + k)
    A, B, C = rng.normal(size=(m, k + 1)), rng.normal(size=(k + 1, n + 2)), rng.normal(size=(m + 1, n + 3))
    wanted = C.copy()
    wanted[:m, 2 : 2 + n] -= 0.5 * (A[:, :k] @ B[:k, 1 : 1 + n])
    steps = (1, m) if transposed else (k + 1, 1)
    first = (A.T if transposed else A).reshape(-1).copy()
    first = first if first.size else np.zeros(1)

    def run(width: int) -> np.ndarray:
        a, b, c = (np.repeat(x.reshape(-1)[:, None], width, axis=1) for x in (first, B, C))
        a, b, c = (x[:, 0].copy() if width == 1 else x for x in (a, b, c))
        add_product.call(Lanes(width), m, n, k, -0.5, a, 0, *steps, b, 1, n + 2, c, 2, n + 3)
        return c.reshape(*C.shape, -1)[..., 0]

    found = run(1)
    assert np.allclose(found, wanted, atol=1e-13)
    assert np.array_equal(found, run(4))


def test_clear_and_copy() -> None:
    A, B = np.arange(10.0), np.ones(12)
    copy.call(Lanes(1), 5, A, 3, B, 2)
    assert B.tolist() == [1, 1, 3, 4, 5, 6, 7, 1, 1, 1, 1, 1]
    clear.call(Lanes(1), 4, A)
    assert A.tolist() == [0, 0, 0, 0, 4, 5, 6, 7, 8, 9]
