"""Jets against derivatives in 40 digits: value, gradient, rate, bias and the rate of the gradient of every operation."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from symbols import evaluated

from linkwork.kernel.symbol import Symbol, variable
from linkwork.spatial.jet import Jet, biases, coordinates, gradient_rates, gradients, lift, rates, value, values
from linkwork.spatial.scalar import stack, where

POINTS = [((0.6, -0.4), (0.7, -1.1)), ((-0.8, 0.5), (0.3, 0.9)), ((0.0, 0.0), (1.0, 2.0))]
Function = Callable[[Any, Any], Any]
# Of two values u and w between 0 and 1: on jets, and in mpmath.
OPERATIONS: dict[str, tuple[Function, Function]] = {
    "u + w": (lambda u, w: u + w, lambda u, w: u + w),
    "u + 2": (lambda u, w: u + 2.0, lambda u, w: u + 2),
    "2 + u": (lambda u, w: 2 + u, lambda u, w: u + 2),
    "u - w": (lambda u, w: u - w, lambda u, w: u - w),
    "u - 2": (lambda u, w: u - 2.0, lambda u, w: u - 2),
    "2 - u": (lambda u, w: 2 - u, lambda u, w: 2 - u),
    "number of NumPy - u": (lambda u, w: np.float64(2) - u, lambda u, w: 2 - u),
    "-u": (lambda u, w: -u, lambda u, w: -u),
    "+u": (lambda u, w: +u, lambda u, w: u),
    "u w": (lambda u, w: u * w, lambda u, w: u * w),
    "u^2": (lambda u, w: u * u, lambda u, w: u * u),
    "2.5 u": (lambda u, w: 2.5 * u, lambda u, w: u * 5 / 2),
    "u 2.5": (lambda u, w: u * np.float64(2.5), lambda u, w: u * 5 / 2),
    "u / w": (lambda u, w: u / w, lambda u, w: u / w),
    "u / 4": (lambda u, w: u / 4.0, lambda u, w: u / 4),
    "3 / u": (lambda u, w: 3.0 / u, lambda u, w: 3 / u),
    "reciprocal": (lambda u, w: u.reciprocal(), lambda u, w: 1 / u),
    "power 2": (lambda u, w: u**2, lambda u, w: u**2),
    "power 3": (lambda u, w: u**3, lambda u, w: u**3),
    "power 1": (lambda u, w: u**1, lambda u, w: u),
    "power 0": (lambda u, w: u**0, lambda u, w: mp.mpf(1)),
    "power -2": (lambda u, w: u**-2, lambda u, w: u**-2),
    "power 1.5": (lambda u, w: u**1.5, lambda u, w: u ** mp.mpf(1.5)),
    "power w": (lambda u, w: u**w, lambda u, w: u**w),
    "2 to a power": (lambda u, w: 2.0**u, lambda u, w: mp.mpf(2) ** u),
    "number of NumPy to a power": (lambda u, w: np.float64(0.5) ** u, lambda u, w: mp.mpf(0.5) ** u),
    "sin": (lambda u, w: np.sin(5 * u), lambda u, w: mp.sin(5 * u)),
    "cos": (lambda u, w: np.cos(5 * u), lambda u, w: mp.cos(5 * u)),
    "tan": (lambda u, w: np.tan(u), lambda u, w: mp.tan(u)),
    "sqrt": (lambda u, w: np.sqrt(u), lambda u, w: mp.sqrt(u)),
    "exp": (lambda u, w: np.exp(u), lambda u, w: mp.exp(u)),
    "log": (lambda u, w: np.log(u), lambda u, w: mp.log(u)),
    "sinh": (lambda u, w: np.sinh(u), lambda u, w: mp.sinh(u)),
    "cosh": (lambda u, w: np.cosh(u), lambda u, w: mp.cosh(u)),
    "tanh": (lambda u, w: np.tanh(u), lambda u, w: mp.tanh(u)),
    "arctan": (lambda u, w: np.arctan(3 * u), lambda u, w: mp.atan(3 * u)),
    "arcsin": (lambda u, w: np.arcsin(u), lambda u, w: mp.asin(u)),
    "arcsin of a negative": (lambda u, w: np.arcsin(-u), lambda u, w: -mp.asin(u)),
    "arccos": (lambda u, w: np.arccos(u), lambda u, w: mp.acos(u)),
    "arctan2": (lambda u, w: np.arctan2(u, w), lambda u, w: mp.atan2(u, w)),
    "arctan2 behind": (lambda u, w: np.arctan2(u, -w), lambda u, w: mp.atan2(u, -w)),
    "arctan2 below": (lambda u, w: np.arctan2(-u, -w), lambda u, w: mp.atan2(-u, -w)),
    "arctan2 of a number": (lambda u, w: np.arctan2(u, -2.0), lambda u, w: mp.atan2(u, -2)),
    "arctan2 with a number": (lambda u, w: np.arctan2(-2.0, u), lambda u, w: mp.atan2(-2, u)),
    "floor": (lambda u, w: np.floor(4 * u - 0.25), lambda u, w: mp.floor(4 * u - 0.25)),
    "ceil": (lambda u, w: np.ceil(4 * u - 0.25), lambda u, w: mp.ceil(4 * u - 0.25)),
    "sign": (lambda u, w: np.sign(-u), lambda u, w: mp.sign(-u)),
    "abs": (lambda u, w: abs(u), lambda u, w: u),
    "fabs": (lambda u, w: np.fabs(-u), lambda u, w: u),
    "abs of a negative": (lambda u, w: np.abs(-u), lambda u, w: u),
    "expm1": (lambda u, w: np.expm1(u), lambda u, w: mp.expm1(u)),
    "log1p": (lambda u, w: np.log1p(u), lambda u, w: mp.log1p(u)),
    "arcsinh": (lambda u, w: np.arcsinh(u), lambda u, w: mp.asinh(u)),
    "arccosh": (lambda u, w: np.arccosh(u + 1.5), lambda u, w: mp.acosh(u + 1.5)),
    "arctanh": (lambda u, w: np.arctanh(u), lambda u, w: mp.atanh(u)),
    "composed": (lambda u, w: np.sin(u * w) * np.exp(-u / w) + w**3, lambda u, w: mp.sin(u * w) * mp.exp(-u / w) + w**3),
}
EVERY_OPERATION = pytest.mark.parametrize("name", OPERATIONS)


def inner(q0: Any, q1: Any) -> tuple[Any, Any]:
    """u and w: with first, second and mixed derivatives, between 0 and 1 at all points."""
    return q0 * q1 * 0.25 + q0 * q0 * 0.125 + 0.5, q1 * q1 * -0.25 + q0 * 0.5 + 0.6875


def exact(name: str, q: tuple[float, float], v: tuple[float, float]) -> list[Any]:
    """x, gradient (2), rate, bias and gradient rate (2), in 40 digits."""
    function = OPERATIONS[name][1]

    def f(q0: Any, q1: Any) -> Any:
        return function(*inner(q0, q1))

    with mp.workdps(40):
        point = tuple(mp.mpf(x) for x in q)

        def d(i: int, j: int) -> Any:
            return mp.diff(f, point, (i, j))

        x, g0, g1, h00, h01, h11 = f(*point), d(1, 0), d(0, 1), d(2, 0), d(1, 1), d(0, 2)
        r0, r1 = h00 * v[0] + h01 * v[1], h01 * v[0] + h11 * v[1]
        return [x, g0, g1, g0 * v[0] + g1 * v[1], r0 * v[0] + r1 * v[1], r0, r1]


def parts(jet: Jet) -> list[Any]:
    return [jet.x, *jet.grad, jet.rate, jet.bias, *jet.grad_rate]


@EVERY_OPERATION
@pytest.mark.parametrize(("q", "v"), POINTS)
def test_derivatives(name: str, q: tuple[float, float], v: tuple[float, float]) -> None:
    u, w = inner(*coordinates(np.array(q), np.array(v)))
    assert 0 < u.x < 1
    assert 0 < w.x < 1
    jet = OPERATIONS[name][0](u, w)
    truth = exact(name, q, v)
    scale = 1 + max(abs(float(t)) for t in truth)
    for computed, true in zip(parts(jet), truth, strict=True):
        assert abs(float(computed) - float(true)) < 3e-15 * scale


@EVERY_OPERATION
def test_jets_of_symbols_are_the_same(name: str) -> None:
    symbols = [variable(f"s{k}") for k in range(14)]

    def both(s: list[Any]) -> tuple[Jet, Jet]:
        return Jet(s[0], tuple(s[1:3]), s[3], s[4], tuple(s[5:7])), Jet(s[7], tuple(s[8:10]), s[10], s[11], tuple(s[12:14]))

    numbers = [*np.random.default_rng(0).normal(size=14).tolist()]
    numbers[0], numbers[7] = 0.375, 0.625
    expected = parts(OPERATIONS[name][0](*both(numbers)))
    traced = parts(OPERATIONS[name][0](*both(symbols)))
    np.testing.assert_allclose(evaluated(traced, symbols, numbers), expected, rtol=1e-13, atol=1e-14)


@EVERY_OPERATION
def test_constants_stay_constant(name: str) -> None:
    """Jets without any motion have derivatives of zero."""
    jet = OPERATIONS[name][0](lift(0.375, 2), lift(0.625, 2))
    assert [float(p) for p in parts(jet)[1:]] == [0.0] * 6


# --- the pieces -----------------------------------------------------------------------------------------------------------
def test_the_rate_of_a_gradient_is_zero_unless_given() -> None:
    assert Jet(1.0, (2.0, 3.0), 4.0, 5.0).grad_rate == (0.0, 0.0)
    assert Jet(1.0, (2.0,), 4.0, 5.0, (6.0,)).grad_rate == (6.0,)


def test_coordinates_move_with_their_velocities() -> None:
    q = coordinates(np.array([1.0, 2.0, 3.0]), np.array([4.0, 5.0, 6.0]))
    assert [x.x for x in q] == [1, 2, 3]
    assert [x.rate for x in q] == [4, 5, 6]
    assert [x.bias for x in q] == [0, 0, 0]
    assert [x.grad for x in q] == [(1, 0, 0), (0, 1, 0), (0, 0, 1)]
    assert all(x.grad_rate == (0, 0, 0) for x in q)


def test_parts_of_arrays() -> None:
    a, b = Jet(1.0, (2.0, 3.0), 4.0, 5.0, (6.0, 7.0)), Jet(-1.0, (0.0, 1.0), 8.0, 9.0)
    A = np.array([[a, 2.5], [b, a]], dtype=object)
    assert values(A).tolist() == [[1.0, 2.5], [-1.0, 1.0]]
    assert rates(A).tolist() == [[4.0, 0.0], [8.0, 4.0]]
    assert biases(A).tolist() == [[5.0, 0.0], [9.0, 5.0]]
    assert gradients(A[:, 0], 2).tolist() == [[2.0, 3.0], [0.0, 1.0]]
    assert gradients(A[0], 2).tolist() == [[2.0, 3.0], [0.0, 0.0]]
    assert gradient_rates(A[:, 0], 2).tolist() == [[6.0, 7.0], [0.0, 0.0]]
    assert values(A).dtype == rates(A).dtype == biases(A).dtype == float
    assert values(np.array([1.0, 2.0])).tolist() == [1.0, 2.0]
    assert gradients(np.zeros(0), 3).shape == (0, 3)


def test_lift_and_value() -> None:
    jet = Jet(1.0, (2.0,), 3.0, 4.0)
    assert lift(jet, 1) is jet
    assert parts(lift(7.0, 2)) == [7.0] + [0.0] * 6
    assert value(jet) == 1.0
    assert value(3.5) == 3.5


@pytest.mark.parametrize("compare", [operator.lt, operator.le, operator.gt, operator.ge])
def test_comparisons_look_at_values(compare: Callable[[Any, Any], Any]) -> None:
    for a, b in ((1.0, 2.0), (2.0, 1.0), (1.0, 1.0), (math.nan, 1.0)):
        x, y = Jet(a, (5.0,), -5.0, 9.0), Jet(b, (-7.0,), 3.0, -2.0)
        assert compare(x, y) == compare(x, b) == compare(a, y) == compare(np.float64(a), y) == compare(a, b)
        assert type(compare(x, y)) is np.bool_  # knows ~, unlike Python's own


@pytest.mark.parametrize("compare", [operator.lt, operator.le, operator.gt, operator.ge])
def test_jets_compare_with_symbols(compare: Callable[[Any, Any], Any]) -> None:
    x, jet = variable("x"), Jet(0.5, (1.0,), 1.0, 0.0)
    traced = [compare(x, jet), compare(jet, x)]
    for at in (0.0, 0.5, 1.0):
        assert evaluated(traced, [x], [at]).tolist() == [compare(at, 0.5), compare(0.5, at)]


def test_where_blends_every_part() -> None:
    a, b = Jet(1.0, (2.0, 3.0), 4.0, 5.0, (6.0, 7.0)), Jet(-1.0, (0.5, 1.0), 8.0, 9.0, (10.0, 11.0))
    assert parts(a.blend(True, a, b)) == parts(a)
    assert parts(a.blend(False, a, b)) == parts(b)
    assert parts(a.blend(False, a, 3.0)) == [3.0] + [0.0] * 6
    assert parts(where(a < b, a, b)) == parts(b)
    assert parts(where(1 < 2, 3.0, b)) == [3.0] + [0.0] * 6


@pytest.mark.parametrize("x", [-0.5, 0.0, 0.5])
def test_absolute_value_has_the_slope_of_its_side(x: float) -> None:
    jet = abs(Jet(x, (2.0,), 3.0, 4.0, (5.0,)))
    sign = -1.0 if x < 0 else 1.0
    assert parts(jet) == [abs(x), 2.0 * sign, 3.0 * sign, 4.0 * sign, 5.0 * sign]


@pytest.mark.parametrize("kind", [float, np.float64])
def test_powers_at_zero(kind: Callable[[float], Any]) -> None:
    x = Jet(kind(0.0), (1.0,), 3.0, 4.0, (5.0,))
    assert parts(x**0) == parts(x**0.0) == [1.0, 0.0, 0.0, 0.0, 0.0]
    assert parts(x**1) == parts(x**1.0) == parts(x)


def test_squares_are_exact_at_zero() -> None:
    (x,) = coordinates(np.zeros(1), np.array([3.0]))
    assert parts(x**2) == [0.0, 0.0, 0.0, 18.0, 6.0]
    assert parts(x**3) == [0.0] * 5


# --- arrays of jets -------------------------------------------------------------------------------------------------------
def test_arrays_of_jets_have_linear_algebra() -> None:
    q = coordinates(np.array([1.0, 2.0]), np.array([3.0, 4.0]))
    A = np.array([[1.0, 2.0], [3.0, 5.0]])
    y = A @ q
    assert values(y).tolist() == [5.0, 13.0]
    assert rates(y).tolist() == [11.0, 29.0]
    assert gradients(y, 2).tolist() == A.tolist()
    energy = q @ A @ q
    assert energy.x == 1 + 5 * 2 + 5 * 4
    assert energy.rate == np.array([3.0, 4.0]) @ (A + A.T) @ [1.0, 2.0]
    assert energy.bias == 2 * np.array([3.0, 4.0]) @ A @ [3.0, 4.0]
    np.testing.assert_array_equal(np.array(energy.grad_rate), (A + A.T) @ [3.0, 4.0])


@pytest.mark.parametrize("op", [operator.add, operator.sub, operator.mul, operator.truediv])
def test_a_jet_and_an_array_combine_entry_by_entry(op: Callable[[Any, Any], Any]) -> None:
    jet, A = Jet(2.0, (1.0,), 3.0, 4.0), np.array([1.0, 4.0])
    for result, expected in ((op(jet, A), [op(jet, a) for a in A]), (op(A, jet), [op(a, jet) for a in A])):
        assert isinstance(result, np.ndarray)
        assert [parts(r) for r in result] == [parts(e) for e in expected]


def test_functions_of_numpy_on_arrays() -> None:
    q = coordinates(np.array([0.25, 0.5]), np.array([1.0, -2.0]))
    for name in ("sin", "cos", "tan", "sqrt", "exp", "log", "sinh", "cosh", "tanh", "arctan", "arcsin", "arccos", "fabs"):
        result = getattr(np, name)(q)
        assert [parts(r) for r in result] == [parts(getattr(x, name)()) for x in q]
    assert parts(np.arctan2(q, q[::-1])[0]) == parts(q[0].arctan2(q[1]))
    assert stack(*q).dtype == object


def test_functions_of_symbols_are_functions_of_jets() -> None:
    own = {name for name in vars(Symbol) if isinstance(getattr(np, name.strip("_"), None), np.ufunc)}
    assert {"sin", "arctan2", "sign", "__floor__"} <= own
    assert own - {"__invert__"} <= set(dir(Jet))


def test_jets_of_different_coordinates_do_not_mix() -> None:
    with pytest.raises(ValueError, match="zip"):
        Jet(1.0, (1.0,), 0.0, 0.0) + Jet(1.0, (1.0, 2.0), 0.0, 0.0)


def test_repr_shows_the_parts() -> None:
    assert repr(Jet(1.0, (2.0,), 3.0, 4.0)) == "Jet(1.0, grad=(2.0,), rate=3.0, bias=4.0)"
