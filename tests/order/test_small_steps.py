"""Errors fall with the order of every stepper until they are rounding, and stay there however small the steps are."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from scipy.special import ellipj, ellipk

import linkwork as lw
from linkwork.scenes.loop import four_bar
from linkwork.simulate import METHODS
from linkwork.steppers import ALL_STEPPERS, AdaptiveStepper

FLOOR = 1e-10  # rad: rounding of so many steps
DURATION, ANGLE, RATE = 4.0, 1.0, np.sqrt(9.81 / 1.1)  # s, rad, and 1/s of a bob of 1 kg and 0.1 kg m^2, 1 m below its hinge
FIXED = [name for name, stepper in ALL_STEPPERS.items() if not issubclass(stepper, AdaptiveStepper)]
ADAPTIVE = [name for name in ALL_STEPPERS if name not in FIXED]


def method_of(stepper: str) -> str:
    return next(m for m in ("reduced", *METHODS) if m in ALL_STEPPERS[stepper]().methods)


def pendulum() -> tuple[lw.Model, lw.State]:
    bob = lw.Inertia(1.0, (0, 0, -1.0), 0.1 * np.eye(3))
    model = lw.ModelBuilder(gravity=(0, 0, -9.81)).body("bob", joint=lw.Revolute((0, 1, 0)), inertia=bob).build()
    return model, lw.State([ANGLE], [0.0])


def error(stepper: str, dt: float, **options: Any) -> float:
    """At the end, against sin(q / 2) = k sn(K - w t), k = sin(q_0 / 2)."""
    k = np.sin(0.5 * ANGLE)
    exact = 2.0 * np.arcsin(k * ellipj(ellipk(k * k) - RATE * DURATION, k * k)[0])
    every = round(DURATION / dt)
    run = lw.simulate(*pendulum(), DURATION, dt, method_of(stepper), stepper=stepper, every=every, **options)
    return float(abs(run.q[-1, 0] - exact))


@pytest.mark.parametrize("stepper", FIXED)
def test_errors_fall_with_the_order(stepper: str) -> None:
    """Steps of 4 ms to 0.06 ms, each a quarter of the last."""
    order = ALL_STEPPERS[stepper].order
    errors = [error(stepper, DURATION / steps) for steps in (1_000, 4_000, 16_000, 64_000)]
    for rough, fine in pairwise(errors):
        assert fine <= max(FLOOR, 1.5 * rough / 4**order)


@pytest.mark.parametrize("stepper", ADAPTIVE)
def test_errors_fall_with_the_tolerance(stepper: str) -> None:
    errors = [error(stepper, DURATION, rtol=rtol, atol=rtol) for rtol in (1e-5, 1e-7, 1e-9, 1e-11, 1e-12)]
    for rough, fine in pairwise(errors):
        assert fine <= max(FLOOR, 0.3 * rough)
    assert errors[-1] <= FLOOR


@pytest.mark.parametrize("stepper", ["rk4", "variational4"])
def test_a_loop_is_no_exception(stepper: str) -> None:
    model, start = four_bar()
    exact = lw.simulate(model, start, 1.0, 1.0, stepper="dop853", rtol=1e-13, atol=1e-13)
    errors = []
    for dt in (4e-3, 1e-3, 2.5e-4, 6.25e-5):
        run = lw.simulate(model, start, 1.0, dt, stepper=stepper, every=round(1.0 / dt))
        errors.append(np.abs(run.q[-1] - exact.q[-1]).max())
    for rough, fine in pairwise(errors):
        assert fine <= max(FLOOR, 2.0 * rough / 4**4)
