"""The entire functions against closed forms in 400 digits: values and two derivatives, to rounding, everywhere."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.lib.mixins import NDArrayOperatorsMixin

from linkwork.spatial import entire
from linkwork.spatial.jet import Jet

EXACT: dict[str, Callable[[Any], Any]] = {
    "cosine": lambda x: mp.cos(x),
    "sinc": lambda x: mp.sin(x) / x,
    "sinc_slope": lambda x: (mp.sin(x) - x * mp.cos(x)) / x**3,
    "versine": lambda x: (1 - mp.cos(x)) / x**2,
    "sine_remainder": lambda x: (x - mp.sin(x)) / x**3,
    "half_cot_remainder": lambda x: (1 - x / 2 * mp.cot(x / 2)) / x**2,
    "arctanc": lambda x: mp.atan(x) / x,
}
LARGEST = {"half_cot_remainder": 6.28, "arctanc": 1.0}
# Of the value, the first and the second derivative; a quotient of two series loses a little more.
TOLERANCE = {"half_cot_remainder": (8e-16, 3e-15, 6e-15), "arctanc": (8e-16, 2e-15, 3e-15)}
ANGLES = [0.0, 1e-300, 1e-160, 1e-9, 1e-5, 1e-3, 0.1, 0.49999, 0.5, 0.50001, 0.75, 1.0, 1.4142, 1.4143, 1.99999, 2.0]
ANGLES += [2.00001, 2.5, 3.0, 3.14, np.pi, 3.16, 3.17, 3.9999, 4.0, 4.0001, 4.4721, 4.4722, 5.0, 6.0, 6.28, 10.0, 31.0]

FUNCTIONS = pytest.mark.parametrize("name", EXACT)


def exact(name: str, x2: float, order: int) -> Any:
    """The derivative of that order with respect to x2, in 50 digits; at zero, that at 1e-40."""

    def function(z: Any) -> Any:
        with mp.workdps(400):
            return mp.re(EXACT[name](mp.sqrt(z)))

    with mp.workdps(50):
        return mp.diff(function, max(mp.mpf(x2), mp.mpf("1e-40")), order)


def check(name: str, x: float) -> None:
    """Compares the jet at x2 = x * x; errors are relative to the larger of the truth and x2 times its derivative."""
    x2 = x * x
    jet = getattr(entire, name)(Jet(x2, (1.0,), 1.0, 0.0))
    assert jet.rate == jet.grad[0]
    truth = [exact(name, x2, order) for order in range(4)]
    for order, computed in enumerate((jet.x, jet.grad[0], jet.bias)):
        scale = max(abs(truth[order]), abs(x2 * truth[order + 1]))
        error = float(abs(mp.mpf(computed) - truth[order]) / scale)
        assert error < TOLERANCE.get(name, (6e-16, 1e-15, 2e-15))[order], (name, x, order, error)


@FUNCTIONS
def test_value_and_derivatives_at_chosen_angles(name: str) -> None:
    for x in ANGLES:
        if x <= LARGEST.get(name, np.inf):
            check(name, x)


@FUNCTIONS
@settings(deadline=None, max_examples=40)
@given(fraction=st.floats(0.0, 1.0))
def test_value_and_derivatives_at_any_angle(name: str, fraction: float) -> None:
    check(name, fraction * LARGEST.get(name, 20.0))


@FUNCTIONS
def test_floats_are_as_exact_as_jets(name: str) -> None:
    for x in (0.0, 1e-9, 0.3, 1.0):
        computed = getattr(entire, name)(x * x)
        assert isinstance(computed, float)
        assert abs(computed - exact(name, x * x, 0)) < 6e-16


@FUNCTIONS
def test_nan_stays_nan(name: str) -> None:
    assert np.isnan(getattr(entire, name)(np.nan))


class Opaque(NDArrayOperatorsMixin):
    """Stands in for a traced symbol: its value is hidden from Python, and an intermediate that is not finite fails."""

    def __init__(self, x: float) -> None:
        assert np.isfinite(x), "an intermediate value is not finite"
        self.x = x

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any) -> Any:
        return Opaque(ufunc(*(shown(x) for x in inputs)))

    def __bool__(self) -> bool:
        raise TypeError("a symbol has no truth value")

    def __float__(self) -> float:
        raise TypeError("a symbol has no value yet")

    def select(self, a: Any, b: Any) -> Opaque:
        return Opaque(shown(a) if self.x else shown(b))


def shown(x: Any) -> Any:
    return x.x if isinstance(x, Opaque) else x


@FUNCTIONS
@pytest.mark.parametrize("x", [0.0, 1e-160, 1e-5, 0.5, 1.0, 2.0, 3.0, 1e3, 1e30])
def test_symbols_agree_and_no_branch_overflows(name: str, x: float) -> None:
    if x > LARGEST.get(name, np.inf):
        return
    function, x2 = getattr(entire, name), x * x
    assert function(Opaque(x2)).x == function(x2)
    jet = function(Jet(Opaque(x2), (Opaque(1.0),), Opaque(1.0), Opaque(0.0)))
    same = function(Jet(x2, (1.0,), 1.0, 0.0))
    assert (jet.x.x, jet.grad[0].x, jet.rate.x, jet.bias.x) == (same.x, same.grad[0], same.rate, same.bias)
