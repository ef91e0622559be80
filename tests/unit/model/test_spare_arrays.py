"""Results are new arrays for the caller, although their memory is used again once nobody can see it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import linkwork as lw
from linkwork.bench.models import arm7
from linkwork.kernel.function import SPARE, fresh


def test_an_array_is_used_again_when_dropped() -> None:
    spares: dict[str, np.ndarray] = {}
    first = fresh(spares, "a", (3, 2), np.float64)
    place = first.ctypes.data
    del first
    assert fresh(spares, "a", (3, 2), np.float64).ctypes.data == place


@pytest.mark.parametrize("view", [lambda a: a, lambda a: a[0], lambda a: a.T, lambda a: a.reshape(-1), memoryview])
def test_an_array_that_somebody_sees_is_left_alone(view: Any) -> None:
    spares: dict[str, np.ndarray] = {}
    kept = view(fresh(spares, "a", (3, 2), np.float64))
    assert not np.shares_memory(np.asarray(kept), fresh(spares, "a", (3, 2), np.float64))


def test_other_shapes_types_and_large_arrays_are_new() -> None:
    spares: dict[str, np.ndarray] = {}
    fresh(spares, "a", (3, 2), np.float64)
    assert fresh(spares, "a", (2, 3), np.float64).shape == (2, 3)
    assert fresh(spares, "a", (2, 3), np.float32).dtype == np.float32
    fresh(spares, "b", (SPARE // 8 + 1,), np.float64)
    assert "b" not in spares


@pytest.mark.parametrize("rows", [1, 2, 50])
@pytest.mark.parametrize("threads", [1, 2])
def test_results_of_calls_do_not_change_later(rows: int, threads: int) -> None:
    model = arm7()
    rng = np.random.default_rng(0)
    calls = rng.normal(size=(5, 3, rows, model.nv))
    results = [lw.forward_dynamics(model, *c, threads=threads) for c in calls]
    masses = [lw.mass_matrix(model, c[0], threads=threads) for c in calls]
    for c, a, M in zip(calls, results, masses, strict=True):
        np.testing.assert_array_equal(a, lw.forward_dynamics(model, *c))
        np.testing.assert_array_equal(M, lw.mass_matrix(model, c[0]))
