"""Dual numbers: every function against finite differences, with numbers, jets and arrays beside them."""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw
from linkwork.kernel.symbol import Symbol
from linkwork.spatial.dual import Dual, displaced, split, variables
from linkwork.spatial.jet import Jet, coordinates

X, Y = Dual(0.4, (1.0, 0.0)), Dual(0.7, (0.0, 1.0))
FUNCTIONS = {
    "sum": lambda x, y: x + 2.0 * y - 1.0,
    "difference": lambda x, y: 3.0 - x - (-y),
    "product": lambda x, y: x * y * 2.0,
    "quotient": lambda x, y: x / y + 1.0 / x + y / 3.0,
    "powers": lambda x, y: x**2 + y**3 + x**0.5 + x**y + 2.0**y + x**-1,
    "trigonometric": lambda x, y: np.sin(x) * np.cos(y) + np.tan(x),
    "inverse": lambda x, y: np.arcsin(x) + np.arccos(y) + np.arctan(x * y) + np.arctan2(x, y) + np.arctan2(2.0, y),
    "exponential": lambda x, y: np.exp(x) + np.log(y) + np.sqrt(x + y) + np.sinh(x) + np.cosh(y) + np.tanh(x),
    "branches": lambda x, y: lw.math.where(x < y, x * x, y) + lw.math.maximum(x, y) + abs(x - y) + lw.math.minimum(x, 0.1),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(name: str) -> None:
    f, h = FUNCTIONS[name], 1e-6
    found = f(X, Y)
    assert found.x == pytest.approx(f(0.4, 0.7), rel=1e-15)
    numeric = [(f(0.4 + h, 0.7) - f(0.4 - h, 0.7)) / (2 * h), (f(0.4, 0.7 + h) - f(0.4, 0.7 - h)) / (2 * h)]
    assert np.allclose(np.array(found.grad, float), numeric, rtol=1e-8, atol=1e-9)


def test_functions_of_symbols_are_functions_of_duals() -> None:
    own = {name for name in vars(Symbol) if isinstance(getattr(np, name.strip("_"), None), np.ufunc)}
    assert own - {"__invert__"} <= set(dir(Dual))


def test_comparisons_look_at_values() -> None:
    assert X < Y
    assert X <= Y
    assert Y >= 0.7
    assert not X > 0.4


def test_jets_of_duals_give_second_derivatives() -> None:
    """The gradient of x^2 y by jets; its derivatives by the duals inside."""
    jets = coordinates(np.array([X, Y], dtype=object), np.zeros(2))
    f = jets[0] * jets[0] * jets[1]
    assert isinstance(f, Jet)
    assert [(g.x, g.grad) for g in f.grad] == [
        (pytest.approx(0.56), (pytest.approx(1.4), pytest.approx(0.8))),
        (pytest.approx(0.16), (pytest.approx(0.8), 0.0)),
    ]
    mixed = X * jets[0] + jets[1] / Y - X
    assert mixed.x.x == pytest.approx(0.16 + 1.0 - 0.4)
    assert lw.math.where(X < Y, jets[0], X).grad[0] == 1.0


def test_arrays_of_duals() -> None:
    v = variables(np.array([1.0, 2.0, 3.0]), 5, 1)
    values, slopes = split(np.diag([1.0, 2.0, 3.0]) @ v, 5)
    np.testing.assert_array_equal(values, [1, 4, 9])
    np.testing.assert_array_equal(slopes, np.diag([1.0, 2.0, 3.0]) @ np.eye(5)[1:4])
    constant, none = split(np.array([1.0, 2.0]), 4)
    assert constant.tolist() == [1, 2]
    assert not none.any()


def test_displacements_of_a_pose() -> None:
    E, point, h = lw.SE3.exp(np.array([0.3, -0.2, 0.5, 1.0, 2.0, 3.0])), np.array([0.1, 0.2, 0.3]), 1e-6
    _, slopes = split(displaced(E, 6) @ point, 6)
    for k, e in enumerate(np.eye(6)):
        ahead, behind = (E @ lw.SE3.exp(s * h * e) @ point for s in (1, -1))
        np.testing.assert_allclose(np.asarray(slopes[:, k], float), (ahead - behind) / (2 * h), atol=1e-9)
