"""Schedules and activation dynamics."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from symbols import evaluated

import linkwork as lw
from linkwork.kernel.symbol import variable


def test_schedule_is_linear_between_and_held_outside() -> None:
    s = lw.Schedule((0.0, 1.0, 3.0), (0.2, 0.6, 0.0))
    t = np.linspace(-1, 4, 51)
    np.testing.assert_allclose([s(x) for x in t], np.interp(t, s.times, s.values), atol=1e-15)
    assert [s(-5.0), s(9.0, state=None)] == [0.2, 0.0]


def test_schedule_of_many_values_and_of_a_symbol() -> None:
    s = lw.Schedule((0.0, 2.0), [(0.0, 1.0), (1.0, 0.5)])
    np.testing.assert_allclose(s(0.5), (0.25, 0.875))
    t = variable("t")
    np.testing.assert_allclose(evaluated(s(t), [t], [0.5]), (0.25, 0.875))


@pytest.mark.parametrize(
    ("times", "values", "message"),
    [
        ((0.0,), (1.0,), "two or more"),
        ((0.0, 0.0), (1.0, 1.0), "increase"),
        ((0.0, 1.0), (1.0,), "as many values"),
        ((0.0, 1.0), (1.0, np.nan), "finite"),
        ("ab", (1.0, 1.0), "finite"),
    ],
)
def test_bad_schedules_are_refused(times: Any, values: Any, message: str) -> None:
    with pytest.raises(lw.ModelError, match=message):
        lw.Schedule(times, values)


@pytest.mark.parametrize("a0", [0.0, 0.3, 0.9])
@pytest.mark.parametrize("e", [0.0, 0.5, 1.0])
def test_steps_of_activation_are_exact(a0: float, e: float) -> None:
    law = lw.ActivationDynamics(0.012, 0.06)
    exact = solve_ivp(lambda t, a: law.rate(a[0], e), (0, 0.1), [a0], rtol=1e-11, atol=1e-13).y[0, -1]
    assert law.step(a0, e, 0.1) == pytest.approx(exact, abs=1e-9)
    assert law.step(law.step(a0, e, 0.03), e, 0.07) == pytest.approx(law.step(a0, e, 0.1), abs=1e-15)
    assert law.step(a0, e, 0.0) == pytest.approx(a0, abs=1e-16)


def test_response_to_pulses() -> None:
    law = lw.ActivationDynamics(0.01, 0.05)
    a = law.response(np.r_[np.ones(10), np.zeros(10)], 0.01)
    assert a[1] == pytest.approx(1 - np.exp(-1))
    assert a[20] == pytest.approx((1 - np.exp(-10)) * np.exp(-2))
    both = law.response(np.ones((5, 2)), 0.01, a0=(0.0, 0.5))
    np.testing.assert_allclose(both[:, 1], law.response(np.ones(5), 0.01, a0=0.5))


@pytest.mark.parametrize("tau", [0.0, -1.0, np.nan, "x"])
def test_bad_times_are_refused(tau: Any) -> None:
    with pytest.raises(lw.ModelError, match="tau_deact"):
        lw.ActivationDynamics(tau_deact=tau)
