"""Factors without symmetry against NumPy, at all small sizes and in lanes."""

from __future__ import annotations

import numpy as np
import pytest

from linkwork.kernel.lanes import Lanes
from linkwork.solvers.lu import factor_lu, solve_lu, solve_transposed_lu


@pytest.mark.parametrize("lanes", [1, 4])
@pytest.mark.parametrize("n", range(1, 12))
def test_systems_with_a_definite_symmetric_part(n: int, lanes: int) -> None:
    rng = np.random.default_rng(n)
    L, K = rng.normal(size=(2, lanes, n, n))
    A, b = L @ L.transpose(0, 2, 1) + np.eye(n) + K - K.transpose(0, 2, 1), rng.normal(size=(lanes, n))
    T, x = A.reshape(lanes, -1).T.copy(order="C"), b.T.copy(order="C")
    plain, y, z = T.copy(), x.copy(), x.copy()
    factor_lu.call(Lanes(lanes), n, T)
    solve_lu.call(Lanes(lanes), n, T, x)
    assert np.allclose(x.T, np.linalg.solve(A, b[..., None])[..., 0], atol=1e-10)
    solve_transposed_lu.call(Lanes(lanes), n, T, z)
    assert np.allclose(z.T, np.linalg.solve(A.transpose(0, 2, 1), b[..., None])[..., 0], atol=1e-10)
    factor_lu(n, plain)
    solve_lu(n, plain, y)
    assert np.allclose(x, y, atol=1e-12)


@pytest.mark.parametrize("n", [*range(1, 30), 41, 64])
def test_one_lane_rounds_as_several_do(n: int) -> None:
    """Vectors run along its rows; nothing around the matrix is touched."""
    A = np.random.default_rng(n).normal(size=(4, n, n)) + 3.0 * np.sqrt(n) * np.eye(n)
    T = A.reshape(4, -1).T.copy(order="C")
    factor_lu.call(Lanes(4), n, T)
    for k in range(4):
        around = np.full(n * n + 8, 7.5)
        alone = around[4:-4]
        alone[:] = A[k].reshape(-1)
        factor_lu.call(Lanes(1), n, alone)
        assert np.array_equal(alone, T[:, k])
        x = np.random.default_rng(k).normal(size=n)
        wide = np.repeat(x[:, None], 4, axis=1)
        solve_transposed_lu.call(Lanes(4), n, T, wide)
        solve_transposed_lu.call(Lanes(1), n, alone.copy(), x)
        assert np.array_equal(x, wide[:, k])
        assert np.all(around[:4] == 7.5)
        assert np.all(around[-4:] == 7.5)


def test_a_pivot_that_is_none_leaves_its_unknown_out() -> None:
    T, x = np.zeros(1), np.ones(1)
    factor_lu(1, T)
    solve_lu(1, T, x)
    assert x[0] == 0.0
