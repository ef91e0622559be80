"""Gradients made of duals: exact second derivatives, beside numbers, duals and jets."""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw
from linkwork.spatial.dual import Dual, Gradient, displaced
from linkwork.spatial.jet import coordinates
from linkwork.spatial.se3 import SE3

FUNCTIONS = {
    "products": lambda x, y: x * y * y - 2.0 * x / y + 1.0 / x - (-y),
    "powers": lambda x, y: x**3 + y**0.5 + x**y + 2.0**x,
    "trigonometric": lambda x, y: np.sin(x * y) + np.cos(y) * np.tan(x) + np.arctan2(x, y) + np.arctan2(y, 2.0),
    "exponential": lambda x, y: np.exp(x * y) + np.log(x + y) + np.sqrt(x) + np.tanh(y) * np.cosh(x),
    "branches": lambda x, y: lw.math.where(x < y, x * x * y, y) + lw.math.maximum(x * y, y**2) + abs(x - y) ** 3,
}


def nested(x: float, y: float) -> tuple[Gradient, Gradient]:
    return Gradient(Dual(x, (1.0, 0.0)), (1.0, 0.0)), Gradient(Dual(y, (0.0, 1.0)), (0.0, 1.0))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_second_derivatives(name: str) -> None:
    """The duals inside a gradient are the derivatives of the gradient that duals alone give."""
    f, h = FUNCTIONS[name], 1e-5
    found = f(*nested(0.4, 0.7))

    def slopes(x: float, y: float) -> np.ndarray:
        return np.array(f(Dual(x, (1.0, 0.0)), Dual(y, (0.0, 1.0))).grad, float)

    assert [g.x for g in found.grad] == pytest.approx(slopes(0.4, 0.7), rel=1e-14)
    numeric = [(slopes(0.4 + h, 0.7) - slopes(0.4 - h, 0.7)) / (2 * h), (slopes(0.4, 0.7 + h) - slopes(0.4, 0.7 - h)) / (2 * h)]
    hessian = np.array([g.grad for g in found.grad], float)
    assert hessian == pytest.approx(np.array(numeric).T, rel=1e-7, abs=1e-8)
    assert hessian == pytest.approx(hessian.T, rel=1e-13)


def test_gradients_stand_above_duals_whatever_the_order() -> None:
    x, _ = nested(0.4, 0.7)
    d = Dual(2.0, (0.5, 0.0))
    for mixed in (x + d, d + x, x - d, d - x, x * d, d * x, x / d, d / x, np.arctan2(x, d), np.arctan2(d, x)):
        assert type(mixed) is Gradient
        assert len(mixed.grad) == 2
    assert (x - d).x.grad == (0.5, 0.0)
    assert (d / x).grad[0].x == pytest.approx(-2.0 / 0.16)
    assert x < d
    assert d >= x
    for a, b in ((x, d), (d, x)):
        assert type(lw.math.where(x < 1.0, a, b)) is Gradient


def test_jets_stand_above_all() -> None:
    (q,) = coordinates(np.array([0.3]), np.array([1.0]))
    assert type(np.arctan2(Dual(0.4, (1.0,)), q)) is type(q)
    assert (Dual(0.4, (1.0,)) * q).grad[0].grad == (1.0,)


def test_poses_know_their_displacements_twice() -> None:
    """d^2/dxi deta of (E exp(eta) exp(xi) x): the order of the displacements is that of the levels."""
    E, x = SE3.exp(np.array([0.3, -0.5, 0.2, 1.0, 2.0, 3.0])), np.array([0.4, 0.1, -0.2])
    y = displaced(displaced(E, 6), 6, 0, Gradient) @ x
    found = np.array([[g.grad for g in e.grad] for e in y], float)
    h = 1e-3
    for i in range(6):
        for j in range(6):
            a, b = h * np.eye(6)[i], h * np.eye(6)[j]
            corners = [s * t * ((E @ SE3.exp(t * b) @ SE3.exp(s * a)) @ x) for s in (1, -1) for t in (1, -1)]
            assert found[:, i, j] == pytest.approx(sum(corners) / (4 * h * h), abs=1e-5)
