"""Loop functions that go lane by lane: lanes that differ run the code for one, those that are alike all at once."""

from __future__ import annotations

import numpy as np
import pytest

from linkwork.kernel.lane_by_lane import lane_by_lane, lanes_at_once
from linkwork.kernel.lanes import Lanes
from linkwork.kernel.loops import Ints, Lane, Mask, Strided, all, any, loops, where

ROUNDS = 3  # of lanes that go at once


@loops
def same_starts(x: Strided) -> bool:
    return all(x[0] > 0.0) or all(x[0] <= 0.0)


@loops
def not_done(rounds: Strided) -> Mask:
    return rounds[0] < 0.0


@lane_by_lane(same_starts, not_done)
def halve(n: int, x: Strided, rounds: Strided, y: Lane, lanes: Ints) -> None:
    """Halve x until none is above 1; `rounds` counts, and `lanes` is how many go at once."""
    lanes[0] = lanes_at_once()
    most = 50
    if lanes_at_once() > 1:
        most = ROUNDS
    count = 0.0 * x[0]
    for i in range(n):
        y[i] = x[i]
    for _ in range(most):
        largest = 0.0 * count
        for i in range(n):
            largest = where(y[i] > largest, y[i], largest)
        if not any(largest > 1.0):
            break
        for i in range(n):
            y[i] = where(largest > 1.0, 0.5 * y[i], y[i])
        count += where(largest > 1.0, 1.0, 0.0)
    done = 0.0 * count
    for i in range(n):
        done = where(y[i] > 1.0, 1.0, done)
    rounds[0] = where(done > 0.0, -1.0, count)
    for i in range(n):
        x[i] = where(done > 0.0, x[i], y[i])


@pytest.mark.parametrize("width", [1, 2, 4, 8])
@pytest.mark.parametrize("alike", [True, False])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_every_lane_has_what_it_has_alone(width: int, alike: bool, dtype: type) -> None:
    """Few rounds in some lanes, many in others, whose numbers are taken again from the start."""
    rng = np.random.default_rng(width)
    n = 5
    x = np.ascontiguousarray(rng.uniform(1.0, 2.0, (n, width)) * 2.0 ** rng.integers(0, 20, width), dtype)
    if not alike:
        x[0, ::2] = -1.0
    expected, counts = x.copy(), np.zeros((1, width))
    for lane in range(width):
        while expected[:, lane].max() > 1.0:
            expected[:, lane] *= dtype(0.5)
            counts[0, lane] += 1
    rounds, lanes = np.zeros((1, width), dtype), np.zeros(1, np.int64)
    halve.call(Lanes(width, dtype is np.float32), n, x, rounds, np.zeros((n, width), dtype), lanes)
    assert np.array_equal(x, expected)
    assert np.array_equal(rounds, counts)
    if width > 1 and not alike:
        assert lanes[0] == 1


def test_the_function_as_it_stands() -> None:
    x, rounds = np.array([6.0, 1.0]), np.zeros(1)
    halve(2, x, rounds, np.zeros(2), np.zeros(1, np.int64))
    assert np.array_equal(x, [0.75, 0.125])
    assert rounds[0] == 3.0
