"""Problems with boxes: their conditions in NumPy, redundant rows against `lstsq`, lanes against lone runs; A along paths."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from linkwork.kernel.lanes import Lanes
from linkwork.solvers import boxes, few_boxes

INF = np.inf
KINDS = [(-INF, INF), (0.0, INF), (-0.3, 0.3)]  # equality, push, dry friction


def packed(S: np.ndarray) -> np.ndarray:
    """(W, n, n) symmetric as (n (n + 1) / 2, W)."""
    rows, columns = np.tril_indices(S.shape[1])
    return np.ascontiguousarray(S[:, rows, columns].T)


def solved(A: np.ndarray, b: np.ndarray, lower: np.ndarray, upper: np.ndarray, on: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Multipliers (W, n) and what is left (W,) of problems (W, n, n), (W, n); compiled, all at once."""
    width, n = b.shape
    lanes = Lanes(width)
    each = [np.ascontiguousarray(x.T) for x in (on, b, lower, upper)]
    x, left, matrix = np.zeros((n, width)), np.zeros((1, width)), packed(A)
    scratch = [np.full((n, width), np.nan) for _ in range(10)]
    active, some = np.array([n, *range(n)]), np.zeros(n + 1, np.int64)
    L = np.full_like(matrix, np.nan)
    boxes.solve_boxes.call(lanes, active, *each, x, matrix, left, L, *scratch, some)
    return x.T, left[0]


def solved_without_rows_that_are_off(
    A: np.ndarray, b: np.ndarray, lower: np.ndarray, upper: np.ndarray, on: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The same by `solve_few_boxes`; the rows are every second one of some more."""
    width, n = b.shape
    each = [np.ascontiguousarray(np.repeat(x.T, 2, axis=0)) for x in (on, b, lower, upper)]
    x, left, matrix = np.ones((2 * n, width)), np.zeros((1, width)), packed(A)
    scratch = [np.full((n, width), np.nan) for _ in range(10)]
    active, (some, slots) = np.array([n, *range(1, 2 * n, 2)]), np.zeros((2, n + 1), np.int64)
    given = (active, *each, x, matrix, left, np.full_like(matrix, np.nan), *scratch, some, *np.full((2, n, width), np.nan), slots)
    few_boxes.solve_few_boxes.call(Lanes(width), *given)
    assert (x[::2] == 1.0).all()
    return x[1::2].T, left[0]


def problems(seed: int, n: int, width: int, rank: int | None = None) -> Any:
    rng = np.random.default_rng(seed)
    G = rng.standard_normal((width, n, n + 2 if rank is None else rank))
    kinds = [[KINDS[k] for k in rng.integers(3, size=n)] for _ in range(width)]
    lower, upper = (np.array([[pair[side] for pair in row] for row in kinds]) for side in (0, 1))
    A = G @ G.transpose(0, 2, 1)
    b = np.einsum("wij,wj->wi", A, rng.standard_normal((width, n)))
    return A, b, lower, upper, (rng.random((width, n)) < 0.8).astype(float)


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("width", [1, 4])
def test_rows_that_are_off_may_be_left_out(width: int, share: float) -> None:
    A, b, lower, upper, _ = problems(3, 14, width)
    on = (np.random.default_rng(5).random((width, 14)) < share).astype(float)
    on[:, 4:8] = 0.0
    for a, c in zip(solved(A, b, lower, upper, on), solved_without_rows_that_are_off(A, b, lower, upper, on), strict=True):
        np.testing.assert_array_equal(a, c)


@pytest.mark.parametrize("n", [1, 2, 3, 5, 8, 21])
def test_conditions_hold_and_lanes_are_alone(n: int) -> None:
    A, b, lower, upper, on = problems(n, n, 8)
    x, left = solved(A, b, lower, upper, on)
    for k in range(8):
        some = on[k] > 0
        w, scale = A[k] @ x[k] + b[k], np.abs(b[k]).max()
        assert not x[k][~some].any()
        assert ((lower[k] - 1e-12 <= x[k]) & (x[k] <= upper[k] + 1e-12))[some].all()
        rest = np.where(w > 0, np.minimum(w, x[k] - lower[k]), np.minimum(-w, upper[k] - x[k]))
        assert np.abs(rest[some]).max(initial=0.0) < 1e-11 * scale
        assert left[k] < 1e-11 * scale
        lone = solved(*(a[k : k + 1] for a in (A, b, lower, upper, on)))
        assert lone[0].tobytes() == x[k].tobytes()
        assert lone[1].tobytes() == left[k].tobytes()


@pytest.mark.parametrize("n", [1, 2, 3, 6, 11])
@pytest.mark.parametrize("redundant", [False, True])
def test_equalities_do_not_see_that_a_neighbour_has_bounds(n: int, redundant: bool) -> None:
    """Alone they are solved without looking for the rows that are free: to the same bits."""
    A, b, lower, upper, on = problems(n, n, 8, max(1, n // 2) if redundant else None)
    lower[:7], upper[:7] = -INF, INF
    lower[7], upper[7], on[7, 0] = -0.3, 0.3, 1.0
    x, left = solved(A, b, lower, upper, on)
    for k in range(7):
        lone = solved(*(a[k : k + 1] for a in (A, b, lower, upper, on)))
        assert lone[0].tobytes() == x[k].tobytes()
        assert lone[1].tobytes() == left[k].tobytes()


@pytest.mark.parametrize("n", [4, 9])
def test_redundant_equalities_have_the_least_norm(n: int) -> None:
    A, b, *_ = problems(n, n, 4, rank=n // 2)
    free = np.full((4, n), INF)
    x, left = solved(A, b, -free, free, np.ones((4, n)))
    for k in range(4):
        scale = 1.0 / np.sqrt(np.diag(A[k]))
        expected = scale * np.linalg.lstsq(A[k] * np.outer(scale, scale), -b[k] * scale, rcond=1e-10)[0]
        assert np.allclose(x[k], expected, rtol=1e-5, atol=1e-5)  # rounding over EPS
        assert left[k] < 1e-9 * np.abs(b[k]).max()


@pytest.mark.parametrize("rank", [3, 4, 5])
def test_rows_with_bounds_that_all_but_contradict_one_another(rank: int) -> None:
    """What rubbing pins of a closed linkage ask for as it stops: more rows than freedoms, whose targets differ by 1e-8."""
    rng, width = np.random.default_rng(rank), 256
    G = rng.standard_normal((width, 7, rank))
    A, x = G @ G.transpose(0, 2, 1), rng.standard_normal((width, 7))
    b = -np.einsum("wij,wj->wi", A, x)
    b[:, :4] += 1e-8 * rng.standard_normal((width, 4))
    most = np.abs(x[:, :4]) * rng.choice([1.0, 1.3, 2.0], size=(width, 4))
    upper = np.concatenate([most, np.full((width, 3), np.inf)], axis=1)
    found, left = solved(A, b, -upper, upper, np.ones((width, 7)))
    w = np.einsum("wij,wj->wi", A, found) + b
    natural = np.abs(found - np.clip(found - w, -upper, upper)).max(axis=1)
    assert natural.max() < 1e-8
    assert left.max() < 1e-8
    assert np.mean(natural < 1e-11) > 0.95


@pytest.mark.parametrize("amiss", [1e-12, 1e-9, 1e-6])
def test_rows_that_contradict_one_another_are_not_stressed(amiss: float) -> None:
    """x of least norm in scaled rows that leaves least, as `lstsq` finds it; the same bits beside a lane that has bounds."""
    rng = np.random.default_rng(4)
    G = rng.standard_normal((2, 6, 4))
    A, on, free = G @ G.transpose(0, 2, 1), np.ones((2, 6)), np.full((2, 6), INF)
    null = np.linalg.svd(G)[0][:, :, 4:]
    b = np.einsum("wij,wj->wi", A, rng.standard_normal((2, 6))) + amiss * null.sum(2)
    x, _ = solved(A, b, -free, free, on)
    for k in range(2):
        unit = 1.0 / np.sqrt(np.diag(A[k]))
        least = unit * np.linalg.lstsq(A[k] * np.outer(unit, unit), -unit * b[k], rcond=1e-12)[0]
        assert np.abs(x[k] - least).max() < 1e-6 * np.abs(least).max() + 1e3 * amiss  # 2e9 amiss, if it were added up
    lower = np.where([[False], [True]], 0.0, -free)
    np.testing.assert_array_equal(solved(A, b, lower, free, on)[0][0], x[0])
