"""Curves of muscles: the printed coefficients, smoothness, what lies beyond the ends, and every kind of scalar."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from scipy.integrate import quad
from symbols import evaluated

import linkwork as lw
from linkwork.forces.muscle_curves import ACTIVE, PASSIVE, TENDON, VELOCITY, FunctionCurve
from linkwork.kernel.symbol import variable
from linkwork.spatial.dual import Dual, Gradient
from linkwork.spatial.jet import Jet

CURVES = {"active": ACTIVE, "passive": PASSIVE, "velocity": VELOCITY, "tendon": TENDON}
ALL = pytest.mark.parametrize("name", CURVES)

# [Sueda, Eqs. 1.42, 1.44, 1.46]: a, b, c, d of every piece; 1.42 as printed, which is right (errata 004-8).
PRINTED = {
    "passive": [
        [2.55305620081729, -7.02386028610914, 6.38855196976641, -1.91774788447456],
        [-2.76122280853939, 14.6587935048229, -23.0429533092186, 11.3749950550874],
    ],
    "active": [
        [-39.881247949014, 68.3443204612586, -35.5324573534802, 5.83029153632759],
        [-0.322674853252855, -1.71744046959073, 4.40290549894003, -1.36279017609645],
        [4.85118460831817, -20.9908796589089, 28.3080866793169, -11.2356843095252],
    ],
    "velocity": [
        [0.915253473864379, 2.74576042159314, 2.74576042159314, 0.915253473864378],
        [-453.333333333333, -8.78048780487805, 5.0, 1.0],
        [0.266648649866, -0.799945949598001, 0.799945949598001, 1.133351350134],
    ],
}


def powers(curve: lw.PiecewiseCurve) -> np.ndarray:
    """The pieces as polynomials in x, the highest power first."""
    shifted = [np.poly1d(c[::-1])(np.poly1d([1.0, -start])).coeffs for start, _, *c in curve.rows[1:-1]]
    return np.array(shifted)


@pytest.mark.parametrize("name", PRINTED)
def test_coefficients_are_the_printed_ones(name: str) -> None:
    np.testing.assert_allclose(powers(CURVES[name]), PRINTED[name], rtol=0, atol=1e-10)


@pytest.mark.parametrize("name", PRINTED)
def test_values_are_those_of_the_printed_cubics(name: str) -> None:
    curve = CURVES[name]
    for k, c in enumerate(PRINTED[name]):
        for x in np.linspace(curve.breaks[k] + 1e-9, curve.breaks[k + 1] - 1e-9, 7):
            assert curve(x) == pytest.approx(np.polyval(c, x), abs=1e-12)
            assert curve.slope(x) == pytest.approx(np.polyval(np.polyder(c), x), abs=1e-10)


@ALL
def test_value_and_slope_are_continuous(name: str) -> None:
    curve = CURVES[name]
    for x in curve.breaks:
        for f, jump in ((curve, 1e-13), (curve.slope, 1e-11), (curve.integral, 1e-13)):
            assert f(np.nextafter(x, -9.0)) == pytest.approx(f(np.nextafter(x, 9.0)), abs=jump)


@ALL
def test_slope_and_integral_belong_to_the_value(name: str) -> None:
    curve, h = CURVES[name], 1e-4
    for x in np.random.default_rng(0).uniform(curve.breaks[0] - 0.5, curve.breaks[-1] + 0.5, 60):
        if np.abs(curve.breaks - x).min() < 3 * h:
            continue
        slope = (8 * (curve(x + h) - curve(x - h)) - (curve(x + 2 * h) - curve(x - 2 * h))) / (12 * h)
        assert curve.slope(x) == pytest.approx(slope, abs=1e-9)
        cuts = np.r_[curve.breaks[curve.breaks < x], x] if x > curve.breaks[0] else (curve.breaks[0], x)
        expected = sum(quad(curve, low, high, epsabs=1e-13)[0] for low, high in pairwise(cuts))
        assert curve.integral(x) == pytest.approx(expected, abs=1e-12)


def test_beyond_the_ends() -> None:
    """Active zero, passive zero below and linear above, velocity held, tendon zero below and linear above: exactly."""
    assert [ACTIVE(x) for x in (-1.0, 0.0, 0.39, 1.82, 5.0)] == [0.0] * 5
    assert [PASSIVE(x) for x in (-1.0, 0.5, 1.0)] == [0.0] * 3
    assert PASSIVE(2.7) == pytest.approx(1.0 + 20.0 / 7.0, rel=1e-15)
    assert [VELOCITY(x) for x in (-7.0, -1.0, 1.0, 7.0)] == [0.0, 0.0, 1.4, 1.4]
    assert [TENDON(x) for x in (0.5, 1.0)] == [0.0] * 2
    assert TENDON(1.049) == pytest.approx(1.0, rel=1e-14)
    assert TENDON(1.2) == pytest.approx(1.0 + 0.151 * 1.375 / 0.049, rel=1e-13)


def test_shapes() -> None:
    assert ACTIVE(1.0) == pytest.approx(1.0)
    assert max(ACTIVE(x) for x in np.linspace(0, 2, 2001)) <= 1.0 + 1e-15
    for curve, low, high in ((VELOCITY, -1.5, 1.5), (PASSIVE, 0.8, 2.0), (TENDON, 0.9, 1.2)):
        assert np.diff([curve(x) for x in np.linspace(low, high, 3001)]).min() > -1e-15
    assert VELOCITY(0.0) == pytest.approx(1.0, rel=1e-15)


@ALL
def test_symbols_jets_and_duals_give_the_same(name: str) -> None:
    curve = CURVES[name]
    s = variable("x")
    traced = [curve(s), curve.slope(s), curve.integral(s)]
    for x in np.linspace(curve.breaks[0] - 0.3, curve.breaks[-1] + 0.3, 41):
        np.testing.assert_allclose(
            evaluated(traced, [s], [x]), [curve(x), curve.slope(x), curve.integral(x)], rtol=1e-13, atol=1e-13
        )
        dual = curve(Dual(x, (1.0, -2.0)))
        np.testing.assert_allclose([dual.x, *dual.grad], [curve(x), curve.slope(x), -2 * curve.slope(x)], atol=1e-12)
        jet = curve(Jet(x, (1.0,), 3.0, 0.5))
        np.testing.assert_allclose([jet.x, jet.grad[0], jet.rate], [curve(x), curve.slope(x), 3 * curve.slope(x)], atol=1e-12)
        nested = curve(Gradient(Dual(x, (1.0,)), (1.0,)))
        assert nested.grad[0].x == pytest.approx(curve.slope(x), abs=1e-12)
    np.testing.assert_allclose(curve(np.array([0.9, 1.1])), [curve(0.9), curve(1.1)])


def test_any_function_is_a_curve() -> None:
    """Slope derived, integral by quadrature; the machine code is known by what the function computes."""
    curve = FunctionCurve(lambda x: np.exp(-((x - 1.0) ** 2) / 0.45))
    assert curve.slope(1.3) == pytest.approx(-2 * 0.3 / 0.45 * curve(1.3), rel=1e-14)
    assert curve.slope(Dual(1.3, (1.0,))).x == pytest.approx(curve.slope(1.3), rel=1e-15)
    assert curve.integral(1.6) == pytest.approx(quad(curve, 1.0, 1.6, epsabs=1e-13)[0], abs=1e-13)
    same, other = FunctionCurve(lambda x: np.exp(-((x - 1.0) ** 2) / 0.45)), FunctionCurve(lambda x: np.exp(-((x - 1.0) ** 2)))
    assert curve.signature == same.signature != other.signature
    assert FunctionCurve(lambda x: 2.0).slope(1.0) == 0.0


def test_numbers_are_run_time_data() -> None:
    soft = lw.tendon_curve(0.1)
    assert soft.signature == TENDON.signature
    assert TENDON.with_numbers(soft.numbers)(1.07) == soft(1.07)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: lw.cubic_curve((0, 1), [(0, 0, 0.0)]), "need 4 conditions"),
        (lambda: lw.cubic_curve((0, 1), [(0, 0, 0.0), (0, 1, 0.0), (1, 0, 1.0), (2, 0, 1.0)]), "not on the curve"),
        (lambda: lw.cubic_curve((0, 1), [(0, 0, 0.0)] * 4), "do not determine"),
        (lambda: lw.cubic_curve((0, 0), [(0, 0, 0.0)] * 4), "increase"),
        (lambda: lw.PiecewiseCurve((1, 0), [[0.0, 1.0]]), "increase"),
        (lambda: lw.PiecewiseCurve((0, 1), [[0.0, 1.0], [0.0, 1.0]]), "coefficients of shape"),
        (lambda: lw.PiecewiseCurve((0, np.nan), [[0.0, 1.0]]), "finite"),
        (lambda: lw.tendon_curve(0.0), "above 0"),
    ],
)
def test_bad_curves_are_refused(make: Any, message: str) -> None:
    with pytest.raises(lw.ModelError, match=message):
        make()


def test_a_curve_without_a_law_says_so() -> None:
    with pytest.raises(TypeError, match="__call__"):
        lw.MuscleCurve()(1.0)
