"""Dense symmetric systems in lanes, against NumPy's own."""

from __future__ import annotations

import numpy as np
import pytest

from linkwork.kernel.lanes import Lanes
from linkwork.solvers import dense

TINY = 1e-12
WIDTHS = [Lanes(1), Lanes(8), Lanes(16)]
EVERY_WIDTH = pytest.mark.parametrize("lanes", WIDTHS, ids=lambda t: t.suffix)


def packed(S: np.ndarray) -> np.ndarray:
    """(W, n, n) symmetric as (n (n + 1) / 2, W)."""
    rows, columns = np.tril_indices(S.shape[1])
    return np.ascontiguousarray(S[:, rows, columns].T)


def definite(width: int, n: int, seed: int = 0) -> np.ndarray:
    M = np.random.default_rng(seed).standard_normal((width, n, n))
    return M @ M.transpose(0, 2, 1) + 0.1 * np.eye(n)


def solved(A: np.ndarray, b: np.ndarray, lanes: Lanes, tiny: float = TINY) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """L, d and x, compiled."""
    n = len(b)
    L, d, x = A.copy(), np.full((n, lanes.width), np.nan, lanes.dtype), b.copy()
    dense.factor.call(lanes, n, L, d, tiny)
    dense.solve.call(lanes, n, L, d, x)
    return L, d, x


@EVERY_WIDTH
@pytest.mark.parametrize("n", [0, 1, 2, 3, 4, 5, 6, 7, 12, 13, 30, 40])
def test_solutions_and_products(n: int, lanes: Lanes) -> None:
    S = definite(lanes.width, n)
    b = np.random.default_rng(1).standard_normal((n, lanes.width))
    L, d, x = solved(packed(S), b, lanes)
    expected = np.linalg.solve(S, b.T[..., None])[..., 0].T
    np.testing.assert_allclose(x, expected, rtol=1e-9, atol=1e-10)
    y = np.full_like(b, np.nan)
    dense.product.call(lanes, n, packed(S), x, y)
    np.testing.assert_allclose(y, b, rtol=1e-9, atol=1e-9)
    for lane in range(lanes.width):
        unit = np.eye(n)
        unit[np.tril_indices(n, -1)] = L[[i * (i + 1) // 2 + j for i in range(n) for j in range(i)], lane]
        np.testing.assert_allclose(unit / d[:, lane] @ unit.T, S[lane], rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("n", range(9))
def test_python_agrees(n: int) -> None:
    lanes, S = Lanes(8), definite(8, n)
    b = np.random.default_rng(1).standard_normal((n, 8))
    L, d, x = packed(S), np.empty((n, 8)), b.copy()
    dense.factor(n, L, d, TINY)
    dense.solve(n, L, d, x)
    y, z = np.empty((n, 8)), np.empty((n, 8))
    dense.product(n, packed(S), b, y)
    dense.product.call(lanes, n, packed(S), b, z)
    for eager, compiled in zip((L, d, x, y), (*solved(packed(S), b, lanes), z), strict=True):
        np.testing.assert_allclose(eager, compiled, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("n", [5, 12])
def test_widths_agree_to_the_bit(n: int) -> None:
    A, b = packed(definite(16, n)), np.random.default_rng(1).standard_normal((n, 16))
    whole = solved(A, b, Lanes(16))
    for width in (1, 8):
        for k in range(0, 16, width):
            part = solved(A[:, k : k + width].copy(), b[:, k : k + width].copy(), Lanes(width))
            for x, y in zip(part, whole, strict=True):
                assert x.tobytes() == y[:, k : k + width].tobytes()


def test_float32() -> None:
    lanes, S = Lanes(16, single=True), definite(16, 6) + np.eye(6)
    b = np.ones((6, 16), np.float32)
    _, _, x = solved(packed(S).astype(np.float32), b, lanes, 1e-6)
    np.testing.assert_allclose(np.einsum("wij,jw->iw", S, x), b, atol=1e-4)


@EVERY_WIDTH
@pytest.mark.parametrize("n", [4, 5])
@pytest.mark.parametrize("dropped", [0, 1, 2, 3])
def test_rows_that_depend_on_others_drop_out(dropped: int, n: int, lanes: Lanes) -> None:
    """Row `dropped` is zero, or the same as one above it: its unknown is 0, the others solve the system without it."""
    S = definite(lanes.width, n)
    if dropped < 2:
        S[:, dropped], S[:, :, dropped] = 0.0, 0.0
    else:
        S[:, dropped] = S[:, 0]
        S[:, :, dropped] = S[:, :, 0]
    b = np.random.default_rng(2).standard_normal((n, lanes.width))
    _, d, x = solved(packed(S), b, lanes)
    kept = np.delete(np.arange(n), dropped)
    assert (d[dropped] == 0).all()
    assert (x[dropped] == 0).all()
    assert (d[kept] > 0).all()
    expected = np.linalg.solve(S[:, kept[:, None], kept], b[kept].T[..., None])[..., 0].T
    np.testing.assert_allclose(x[kept], expected, rtol=1e-9, atol=1e-10)


def test_lanes_drop_rows_of_their_own() -> None:
    S = np.array([[[2.0, 0.0], [0.0, 4.0]], [[0.0, 0.0], [0.0, 5.0]], [[2.0, 2.0], [2.0, 2.0]], [[-1.0, 0.0], [0.0, -1.0]]])
    _, d, x = solved(packed(S), np.ones((2, 4)), Lanes(4))
    np.testing.assert_array_equal(d.T, [[0.5, 0.25], [0.0, 0.2], [0.5, 0.0], [0.0, 0.0]])
    np.testing.assert_array_equal(x.T, [[0.5, 0.25], [0.0, 0.2], [0.5, 0.0], [0.0, 0.0]])


def test_what_is_not_a_number_is_not_hidden() -> None:
    _, d, x = solved(np.array([[np.nan]]), np.ones((1, 1)), Lanes(1))
    assert np.isnan(d).all()
    assert np.isnan(x).all()
