"""Unit quaternions: the group's axioms, agreement with matrices, and logarithms from zero to pi."""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linkwork.spatial import quaternion as quat
from linkwork.spatial.jet import biases, coordinates, gradients, rates, values

IDENTITY = np.array([1.0, 0.0, 0.0, 0.0])
ANGLES = [0.0, 1e-300, 1e-160, 1e-12, 1e-9, 1e-5, 1e-3, 0.5, 1.0, 2.0, 3.0, np.pi - 1e-5, np.pi - 1e-9, np.pi]
AXES = np.array([[1, 0, 0], [0, -1, 0], [0, 0, 1], [1, 1, 0], [-1, 2, 3], [1, 1e-9, 0]])
AXES = AXES / np.linalg.norm(AXES, axis=1, keepdims=True)

entries = st.floats(-1.0, 1.0)
directions = st.tuples(entries, entries, entries).map(np.array).filter(lambda a: np.linalg.norm(a) > 1e-3)
axes = directions.map(lambda a: a / np.linalg.norm(a))
quaternions = st.tuples(axes, st.floats(0.0, 2 * np.pi)).map(lambda p: quat.exp(p[0] * p[1]))
vectors = st.tuples(*3 * [st.floats(-10.0, 10.0)]).map(np.array)


def exact_exp(w: np.ndarray) -> np.ndarray:
    """exp(w) in 50 digits, rounded."""
    with mp.workdps(50):
        w = [mp.mpf(float(e)) for e in w]
        x = mp.sqrt(sum(e * e for e in w)) or mp.mpf("1e-400")
        return np.array([float(mp.cos(x / 2))] + [float(mp.sin(x / 2) / x * e) for e in w])


def close(a: np.ndarray, b: np.ndarray, tolerance: float = 2e-15) -> bool:
    return bool(np.max(np.abs(a - b)) <= tolerance)


def same_up_to_sign_at_pi(a: np.ndarray, b: np.ndarray, relative: float) -> bool:
    """True if a = b, or a = -b where the angle is pi to rounding and the axis has no sign."""
    size, error = np.max(np.abs(b)), np.max(np.abs(a - b))
    if np.linalg.norm(b) > np.pi - 1e-14:
        error = min(error, np.max(np.abs(a + b)))
    return bool(error <= relative * size + 1e-307)


@settings(deadline=None, max_examples=100)
@given(a=quaternions, b=quaternions, c=quaternions)
def test_group_axioms(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> None:
    assert close(quat.multiply(quat.multiply(a, b), c), quat.multiply(a, quat.multiply(b, c)))
    assert close(quat.multiply(a, IDENTITY), a, 0.0)
    assert close(quat.multiply(IDENTITY, a), a, 0.0)
    assert close(quat.multiply(a, quat.conjugate(a)), IDENTITY)
    assert close(quat.conjugate(quat.multiply(a, b)), quat.multiply(quat.conjugate(b), quat.conjugate(a)))


def test_products_of_units() -> None:
    i, j, k = np.eye(4)[1:]
    for a, b, c in ((i, j, k), (j, k, i), (k, i, j)):
        assert close(quat.multiply(a, b), c, 0.0)
        assert close(quat.multiply(b, a), -c, 0.0)
        assert close(quat.multiply(a, a), -IDENTITY, 0.0)


@settings(deadline=None, max_examples=100)
@given(a=quaternions, b=quaternions, x=vectors)
def test_agrees_with_matrices(a: np.ndarray, b: np.ndarray, x: np.ndarray) -> None:
    A, B = quat.to_rotation(a), quat.to_rotation(b)
    assert close(quat.to_rotation(quat.multiply(a, b)), A @ B, 5e-15)
    assert close(quat.to_rotation(quat.conjugate(a)), A.T)
    assert close(quat.rotate(a, x), A @ x, 3e-14)
    assert close(A.T @ A, np.eye(3), 5e-15)
    assert abs(np.linalg.det(A) - 1.0) < 5e-15
    assert close(quat.from_rotation(A), quat.shortest(a)) or abs(a[0]) < 1e-14


def test_quarter_turn_about_z_sends_x_to_y() -> None:
    q = np.sqrt([0.5, 0.0, 0.0, 0.5])
    assert close(quat.rotate(q, np.array([1.0, 0.0, 0.0])), np.array([0.0, 1.0, 0.0]))
    assert close(quat.to_rotation(q), np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]))
    assert close(quat.log(q), np.array([0.0, 0.0, np.pi / 2]))


@pytest.mark.parametrize("angle", [*ANGLES, 4.0, 6.0, 10.0])
def test_exp_is_exact(angle: float) -> None:
    for w in angle * AXES:
        truth = exact_exp(w)
        computed = quat.exp(w)
        assert close(computed, truth, 4e-16)
        assert close(computed[1:], truth[1:], 6e-16 * np.max(np.abs(w)))  # small angles keep their digits


@pytest.mark.parametrize("angle", ANGLES)
def test_log_inverts_exact_exp(angle: float) -> None:
    for w in angle * AXES:
        for q in (exact_exp(w), -exact_exp(w), quat.exp(w)):
            assert same_up_to_sign_at_pi(quat.log(q), w, 1e-15)


@settings(deadline=None, max_examples=100)
@given(axis=axes, angle=st.floats(0.0, np.pi))
def test_log_inverts_exp_anywhere(axis: np.ndarray, angle: float) -> None:
    assert same_up_to_sign_at_pi(quat.log(quat.exp(angle * axis)), angle * axis, 2e-15)
    q = quat.exp((2 * np.pi - angle) * axis)
    assert same_up_to_sign_at_pi(quat.log(q), -angle * axis, 4e-15) or angle < 1.0


@pytest.mark.parametrize("angle", ANGLES)
def test_from_rotation_inverts_to_rotation(angle: float) -> None:
    for w in angle * AXES:
        q = exact_exp(w)
        found = quat.from_rotation(quat.to_rotation(q))
        assert found[0] >= 0.0
        assert close(found, q, 4e-16) or (close(found, -q, 4e-16) and abs(q[0]) < 1e-15)
        if angle < 1.0:
            assert close(found[1:], q[1:], 1e-15 * np.max(np.abs(q[1:])))


def test_half_turns_about_each_axis() -> None:
    for k in range(3):
        R = -np.eye(3)
        R[k, k] = 1.0
        assert close(quat.from_rotation(R), np.eye(4)[k + 1], 0.0)
        assert close(quat.log(quat.from_rotation(R)), np.pi * np.eye(3)[k], 1e-15)


def test_normalize() -> None:
    q = np.array([1.0, -2.0, 3.0, -4.0])
    assert close(quat.normalize(q), q / np.sqrt(30.0), 2e-16)


@pytest.mark.parametrize("angle", [0.0, 1e-160, 1e-9, 1e-5, 1e-3, 1.0, 2.5, np.pi - 1e-5])
def test_jets_of_log_of_exp_are_those_of_the_argument(angle: float) -> None:
    v = np.array([0.3, -0.5, 0.8])
    for axis in AXES:
        q = quat.exp(coordinates(angle * axis, v))
        for w in (quat.log(q), quat.log(quat.from_rotation(quat.to_rotation(q)))):
            assert close(values(w), angle * axis)
            assert close(gradients(w, 3).astype(float), np.eye(3), 4e-15)
            assert close(rates(w), v, 4e-15)
            assert close(biases(w), np.zeros(3), 2e-14)
