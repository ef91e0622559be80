"""Rotations: exp in 60 digits and as a matrix exponential, log from zero to pi, Jacobians against their definition."""

from __future__ import annotations

from functools import cache
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.lib.mixins import NDArrayOperatorsMixin

from linkwork.spatial import quaternion, so3
from linkwork.spatial.jet import biases, coordinates, gradients, rates, values

ANGLES = [0.0, 1e-300, 1e-160, 1e-12, 1e-9, 1e-5, 1e-3, 0.5, 1.0, 2.0, 3.0, np.pi - 1e-5, np.pi - 1e-9, np.pi]
AXES = np.array([[1, 0, 0], [0, -1, 0], [0, 0, 1], [1, 1, 0], [-1, 2, 3], [1, 1e-9, 0]])
AXES = AXES / np.linalg.norm(AXES, axis=1, keepdims=True)
TO_PI = pytest.mark.parametrize("angle", ANGLES)
BEYOND_PI = pytest.mark.parametrize("angle", [*ANGLES, np.pi + 1e-5, 4.0, 4.4721, 4.4722, 6.0])

entries = st.floats(-1.0, 1.0)
directions = st.tuples(entries, entries, entries).map(np.array).filter(lambda a: np.linalg.norm(a) > 1e-3)
axes = directions.map(lambda a: a / np.linalg.norm(a))
vectors = st.tuples(*3 * [st.floats(-3.0, 3.0)]).map(np.array)


def exact_hat(w: mp.matrix) -> mp.matrix:
    return mp.matrix([[0, -w[2], w[1]], [w[2], 0, -w[0]], [-w[1], w[0], 0]])


def exact_exp(w: mp.matrix) -> mp.matrix:
    """The rotation with the axis and the angle of w, in the precision set."""
    W, x = exact_hat(w), mp.norm(w)
    return mp.eye(3) + (mp.sin(x) / x * W + (1 - mp.cos(x)) / x**2 * W * W if x else W)


def rounded(A: mp.matrix) -> np.ndarray:
    return np.array(A.tolist(), dtype=float)


@cache
def exact_exp_and_left_jacobian(w: tuple[float, ...]) -> tuple[np.ndarray, np.ndarray]:
    """exp(w), and columns vee(dR/dw_k R^T) by central differences of step 1e-16 in 60 digits, rounded."""
    with mp.workdps(60):
        w, h = mp.matrix(w), mp.mpf("1e-16")
        R, J = exact_exp(w), mp.matrix(3, 3)
        for k in range(3):
            step = mp.matrix([h if j == k else 0 for j in range(3)])
            spin = (exact_exp(w + step) - exact_exp(w - step)) * R.T / (2 * h)
            J[:, k] = mp.matrix([spin[2, 1], spin[0, 2], spin[1, 0]])
        return rounded(R), rounded(J)


def close(a: np.ndarray, b: np.ndarray, tolerance: float = 2e-15) -> bool:
    return bool(np.max(np.abs(a - b)) <= tolerance)


def same_up_to_sign_at_pi(a: np.ndarray, b: np.ndarray, relative: float = 2e-15) -> bool:
    """True if a = b, or a = -b where the angle is pi to rounding and the axis has no sign."""
    size, error = np.max(np.abs(b)), np.max(np.abs(a - b))
    if np.linalg.norm(b) > np.pi - 1e-14:
        error = min(error, np.max(np.abs(a + b)))
    return bool(error <= relative * size + 1e-307)


def test_hat_is_the_cross_product_and_vee_its_inverse() -> None:
    w, x = np.array([1.0, -2.0, 3.0]), np.array([0.5, 4.0, -1.0])
    assert close(so3.hat(w) @ x, np.cross(w, x), 0.0)
    assert close(so3.vee(so3.hat(w)), w, 0.0)


def test_exp_is_the_matrix_exponential() -> None:
    for angle in (1e-9, 1.0, 4.0):
        w = angle * AXES[4]
        assert close(so3.exp(w), rounded(mp.expm(exact_hat(mp.matrix(w)))), 1e-15)


@BEYOND_PI
def test_exp_is_exact(angle: float) -> None:
    for w in angle * AXES:
        truth, _ = exact_exp_and_left_jacobian(tuple(w))
        R = so3.exp(w)
        assert R.dtype == float
        assert close(R, truth, 1e-15)
        skew, truth = so3.vee(R - R.T), so3.vee(truth - truth.T)
        assert close(skew, truth, 2e-15 * np.max(np.abs(w)))  # small angles keep their digits


@settings(deadline=None, max_examples=100)
@given(w=vectors, s=st.floats(-2.0, 2.0))
def test_exp_is_a_one_parameter_group_of_rotations(w: np.ndarray, s: float) -> None:
    R = so3.exp(w)
    assert close(R.T @ R, np.eye(3), 4e-15)
    assert abs(np.linalg.det(R) - 1.0) < 5e-15
    assert close(R @ w, w, 5e-15)
    assert close(R @ so3.exp(-w), np.eye(3), 4e-15)
    assert close(R @ so3.exp(s * w), so3.exp((1.0 + s) * w), 1e-14)


@TO_PI
def test_log_inverts_exp(angle: float) -> None:
    for w in angle * AXES:
        truth, _ = exact_exp_and_left_jacobian(tuple(w))
        assert same_up_to_sign_at_pi(so3.log(truth), w)
        assert same_up_to_sign_at_pi(so3.log(so3.exp(w)), w)
        assert close(so3.exp(so3.log(truth)), truth)


@settings(deadline=None, max_examples=200)
@given(axis=axes, angle=st.one_of(st.floats(0.0, np.pi), st.floats(0.0, 1e-3).map(lambda d: np.pi - d)))
def test_log_inverts_exp_anywhere(axis: np.ndarray, angle: float) -> None:
    R = so3.exp(angle * axis)
    assert same_up_to_sign_at_pi(so3.log(R), angle * axis, 3e-15)
    assert close(so3.exp(so3.log(R)), R, 4e-15)


@settings(deadline=None, max_examples=50)
@given(a=vectors, b=vectors)
def test_log_is_the_shortest_and_inverts_with_its_rotation(a: np.ndarray, b: np.ndarray) -> None:
    R = so3.exp(a) @ so3.exp(b)
    w = so3.log(R)
    assert np.linalg.norm(w) <= np.pi + 1e-15
    assert close(so3.exp(w), R, 4e-15)
    assert same_up_to_sign_at_pi(so3.log(R.T), -w, 1e-14) or np.linalg.norm(w) > np.pi - 1e-12


@BEYOND_PI
def test_jacobians_are_exact(angle: float) -> None:
    for w in angle * AXES:
        R, J = exact_exp_and_left_jacobian(tuple(w))
        assert close(so3.left_jacobian(w), J, 1e-15)
        assert close(so3.right_jacobian(w), R.T @ J, 2e-15)
        assert close(so3.right_jacobian(w), so3.left_jacobian(w).T, 0.0)


@BEYOND_PI
def test_inverse_jacobians_invert(angle: float) -> None:
    for w in angle * AXES:
        size = np.max(np.abs(so3.left_jacobian_inverse(w)))
        assert close(so3.left_jacobian_inverse(w) @ so3.left_jacobian(w), np.eye(3), 3e-15 * size)
        assert close(so3.right_jacobian(w) @ so3.right_jacobian_inverse(w), np.eye(3), 3e-15 * size)


@settings(deadline=None, max_examples=100)
@given(w=vectors, v=vectors)
def test_jets_of_exp_give_the_body_angular_velocity(w: np.ndarray, v: np.ndarray) -> None:
    """R^T R_dot = [J_r v], and the rate of that is R^T R_ddot + R_dot^T R_dot."""
    jets = coordinates(w, v)
    R = so3.exp(jets)
    omega = so3.right_jacobian(jets) @ v
    R, R_dot, R_ddot = values(R), rates(R), biases(R)
    assert close(R.T @ R_dot, so3.hat(values(omega)), 1e-14)
    assert close(R.T @ R_ddot + R_dot.T @ R_dot, so3.hat(rates(omega)), 1e-13)


@pytest.mark.parametrize("angle", [0.0, 1e-160, 1e-9, 1e-5, 1e-3, 1.0, 2.5, np.pi - 1e-5])
def test_jets_of_log_of_exp_are_those_of_the_argument(angle: float) -> None:
    v = np.array([0.3, -0.5, 0.8])
    for axis in AXES:
        w = so3.log(so3.exp(coordinates(angle * axis, v)))
        assert close(gradients(w, 3).astype(float), np.eye(3), 4e-15)
        assert close(rates(w), v, 4e-15)
        assert close(biases(w), np.zeros(3), 2e-14)


class Opaque(NDArrayOperatorsMixin):
    """Stands in for a traced symbol: its value is hidden from Python, and an intermediate that is not finite fails."""

    def __init__(self, x: float) -> None:
        assert np.isfinite(x), "an intermediate value is not finite"
        self.x = x

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any) -> Any:
        return opaque(ufunc(*(shown(x) for x in inputs)))

    def __bool__(self) -> bool:
        raise TypeError("a symbol has no truth value")

    def __float__(self) -> float:
        raise TypeError("a symbol has no value yet")

    def select(self, a: Any, b: Any) -> Opaque:
        return Opaque(shown(a) if self.x else shown(b))


def opaque(x: Any) -> Any:
    return np.frompyfunc(Opaque, 1, 1)(x)


def shown(x: Any) -> Any:
    if isinstance(x, np.ndarray):
        return np.array([shown(e) for e in x.flat], dtype=float).reshape(x.shape)
    return x.x if isinstance(x, Opaque) else x


@BEYOND_PI
def test_symbols_agree_with_floats(angle: float) -> None:
    for w in angle * AXES:
        for function in (so3.exp, so3.left_jacobian, so3.right_jacobian_inverse, quaternion.exp):
            assert close(shown(function(opaque(w))), function(w), 0.0)
        R = so3.exp(w)
        assert close(shown(so3.log(opaque(R))), so3.log(R), 0.0)
        q = quaternion.exp(w)
        assert close(shown(quaternion.to_rotation(opaque(q))), quaternion.to_rotation(q), 0.0)
