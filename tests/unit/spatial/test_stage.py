"""Elementary stages against dense matrices, and which rotation matrices become turns."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from models import rotation, turn, unit
from symbols import evaluated

from linkwork.kernel.graph import build
from linkwork.kernel.symbol import Symbol, variable
from linkwork.spatial.scalar import stack, zeros
from linkwork.spatial.stage import (
    Rotation,
    Shift,
    Stage,
    Turn,
    move_matrix,
    move_symmetric,
    move_vector,
    pull_vector,
    rotation_matrix,
    rotation_stages,
    shift_stages,
    skew,
)

RNG = np.random.default_rng(0)
STAGES: dict[str, tuple[Stage, np.ndarray]] = {
    **{f"turn {k}": (Turn(k, np.cos(a), np.sin(a)), turn(k, a)) for k, a in enumerate((0.7, -1.9, 2.6))},
    "quarter turn": (Turn(1, 0.0, 1.0), turn(1, np.pi / 2).round()),
    "half turn": (Turn(2, -1.0, 0.0), turn(2, np.pi).round()),
    "rotation": (Rotation(rotation([0.36, -0.48, 0.8], 1.1)), rotation([0.36, -0.48, 0.8], 1.1)),
    "shift": (Shift(np.array([1.0, -2.0, 0.5])), np.eye(3)),
}
EVERY_STAGE = pytest.mark.parametrize("name", STAGES)
CLOSE = {"rtol": 0, "atol": 4e-15}

numbers = st.floats(-10, 10)


def matrices(n: int) -> st.SearchStrategy[np.ndarray]:
    return st.lists(numbers, min_size=3 * n, max_size=3 * n).map(lambda x: np.array(x).reshape(3, n))


@EVERY_STAGE
@settings(deadline=None, max_examples=20)
@given(x=matrices(1), H=matrices(3))
def test_vectors_and_matrices(name: str, x: np.ndarray, H: np.ndarray) -> None:
    stage, R = STAGES[name]
    x = x[:, 0]
    before = x.copy(), H.copy()
    np.testing.assert_allclose(rotation_matrix(stage), R, **CLOSE)
    np.testing.assert_allclose(move_vector(stage, x), R @ x, rtol=0, atol=1e-13)
    np.testing.assert_allclose(pull_vector(stage, x), R.T @ x, rtol=0, atol=1e-13)
    np.testing.assert_allclose(move_matrix(stage, H), R @ H @ R.T, rtol=0, atol=1e-13)
    M = H + H.T
    moved = move_symmetric(stage, M)
    np.testing.assert_allclose(moved, R @ M @ R.T, rtol=0, atol=2e-13)
    assert np.array_equal(moved, moved.T)
    assert all(a.dtype == float for a in (move_vector(stage, x), pull_vector(stage, x), move_matrix(stage, H), moved))
    assert np.array_equal(x, before[0])
    assert np.array_equal(H, before[1])


@EVERY_STAGE
def test_inverses(name: str) -> None:
    stage, R = STAGES[name]
    back = stage.inverse()
    assert type(back) is type(stage)
    np.testing.assert_allclose(rotation_matrix(back), R.T, **CLOSE)
    x = np.array([0.3, -0.7, 1.9])
    np.testing.assert_allclose(move_vector(back, move_vector(stage, x)), x, **CLOSE)
    np.testing.assert_allclose(pull_vector(stage, move_vector(stage, x)), x, **CLOSE)
    if isinstance(stage, Shift) and isinstance(back, Shift):
        np.testing.assert_array_equal(back.p, -stage.p)


@pytest.mark.parametrize("axis", range(3))
def test_turns_of_symbols(axis: int) -> None:
    symbols = [variable(f"s{k}") for k in range(14)]
    c, s, *rest = symbols
    x, H = stack(*rest[:3]), stack(*rest[3:12]).reshape(3, 3)
    M = zeros(3, 3)
    for i in range(3):
        for j in range(3):
            M[i, j] = H[min(i, j), max(i, j)]
    angle = 0.9
    at = np.concatenate([[np.cos(angle), np.sin(angle)], RNG.normal(size=12)])
    stage, R = Turn(axis, c, s), turn(axis, angle)
    x0, H0 = at[2:5], at[5:14].reshape(3, 3)
    M0 = np.triu(H0) + np.triu(H0, 1).T
    for computed, expected in (
        (rotation_matrix(stage), R),
        (move_vector(stage, x), R @ x0),
        (pull_vector(stage, x), R.T @ x0),
        (move_matrix(stage, H), R @ H0 @ R.T),
        (move_symmetric(stage, M), R @ M0 @ R.T),
    ):
        assert computed.dtype == object
        np.testing.assert_allclose(evaluated([*computed.flat], symbols, at), expected.reshape(-1), **CLOSE)


@pytest.mark.parametrize("name", ["quarter turn", "half turn"])
def test_right_angles_only_change_places_and_signs(name: str) -> None:
    stage, R = STAGES[name]
    H = np.array([[1e16, 1.0, 2.0], [3.0, 0.1, 5.0], [6.0, 7.0, 0.3]])
    M = np.triu(H) + np.triu(H, 1).T
    assert np.array_equal(move_matrix(stage, H), R @ H @ R.T)
    assert np.array_equal(move_symmetric(stage, M), R @ M @ R.T)
    entries = stack(*(variable(f"h{k}") for k in range(9)))
    moved = move_matrix(stage, entries.reshape(3, 3))
    known = {id(s) for x in entries for s in (x, -x)}
    assert {id(x) for x in moved.flat} <= known


def products(outputs: list[Any], symbols: list[Symbol]) -> int:
    ops, _ = build(symbols, outputs)
    return sum(op[0] in ("mul", "fma", "fms", "fnma") for op in ops)


def test_a_turn_is_cheaper_than_a_rotation() -> None:
    """The 8 multiplications of the module's text for a symmetric matrix, 4 for a vector; a dense product has 45."""
    symbols = [variable(f"s{k}") for k in range(20)]
    M = zeros(3, 3)
    upper = [(i, j) for i in range(3) for j in range(i, 3)]
    for (i, j), s in zip(upper, symbols, strict=False):
        M[i, j] = M[j, i] = s
    turned = move_symmetric(Turn(2, symbols[6], symbols[7]), M)
    assert products([turned[i] for i in upper], symbols) == 9  # one of them is fused with two sums
    assert products(list(move_vector(Turn(0, symbols[6], symbols[7]), stack(*symbols[:3]))), symbols) == 4
    dense = move_symmetric(Rotation(stack(*symbols[6:15]).reshape(3, 3)), M)
    assert products([dense[i] for i in upper], symbols) == 45


# --- which stages -----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("axis", range(3))
@pytest.mark.parametrize("angle", [0.3, -2.0, np.pi / 2, np.pi, 1e-300])
def test_a_matrix_that_keeps_an_axis_is_a_turn(axis: int, angle: float) -> None:
    R = turn(axis, angle)
    (stage,) = rotation_stages(R)
    assert isinstance(stage, Turn)
    assert stage.axis == axis
    np.testing.assert_array_equal(rotation_matrix(stage), R)


@pytest.mark.parametrize("axis", range(3))
def test_half_turns_keep_their_axis(axis: int) -> None:
    R = -np.eye(3)
    R[axis, axis] = 1.0
    assert rotation_stages(R) == (Turn(axis, -1.0, -0.0),)


def test_the_identity_is_no_stage() -> None:
    assert rotation_stages(np.eye(3)) == ()
    assert rotation_stages(np.eye(3) * np.array([[1, -1, -1], [-1, 1, -1], [-1, -1, 1]])) == ()  # with -0.0
    assert rotation_stages(np.array(np.eye(3), dtype=object)) == ()


@pytest.mark.parametrize(
    "R",
    [
        rotation(unit(RNG), 1.0),
        np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]),
        rotation((0.6, 0.8, 0.0), np.pi),
        turn(0, 0.5) @ turn(1, 0.5),
        np.array([[1.0, 0.0, 0.0], [0.0, 0.8, -0.6], [0.0, 0.6, 0.8 + 1e-15]]),
        np.array([[1.0, 0.0, 0.0], [0.0, 0.8, -0.6], [0.0, 0.6 + 1e-15, 0.8]]),
        np.diag([1.0, 1.0, -1.0]),
        turn(2, 0.4) + np.array([[0, 0, 0], [0, 0, 1e-300], [0, 0, 0]]),
        turn(2, 0.4) + np.array([[0, 0, 1e-300], [0, 0, 0], [0, 0, 0]]),
        turn(2, 0.4) + np.array([[0, 0, 0], [0, 0, 0], [1e-300, 0, 0]]),
        turn(2, 0.4) + np.array([[0, 0, 0], [0, 0, 0], [0, 1e-300, 0]]),
        np.diag([1.0, 1.0 + 1e-15, 1.0]) + np.array([[0, 1e-15, 0], [0, 0, 1e-15], [1e-15, 0, 0]]),
    ],
)
def test_other_matrices_stay_rotations(R: np.ndarray) -> None:
    (stage,) = rotation_stages(R)
    assert isinstance(stage, Rotation)
    assert stage.R is R


@pytest.mark.parametrize("axis", range(3))
def test_turns_are_seen_through_symbols(axis: int) -> None:
    c, s = variable("c"), variable("s")
    R = rotation_matrix(Turn(axis, c, s))
    (stage,) = rotation_stages(R)
    assert isinstance(stage, Turn)
    assert (stage.axis, hash(stage.c), hash(stage.s)) == (axis, hash(c), hash(s))
    R[axis, axis] = c  # what is not known to be 1 keeps no axis
    assert isinstance(rotation_stages(R)[0], Rotation)


def test_shifts() -> None:
    assert shift_stages(np.zeros(3)) == ()
    assert shift_stages(np.array([0.0, -0.0, 0.0])) == ()
    for p in (np.array([0.0, 1e-300, 0.0]), stack(0.0, 0.0, variable("x"))):
        (stage,) = shift_stages(p)
        assert isinstance(stage, Shift)
        assert stage.p is p


@settings(deadline=None, max_examples=20)
@given(p=matrices(1), x=matrices(1))
def test_skew_is_the_cross_product(p: np.ndarray, x: np.ndarray) -> None:
    P = skew(p[:, 0])
    np.testing.assert_allclose(P @ x[:, 0], np.cross(p[:, 0], x[:, 0]), rtol=0, atol=1e-13)
    np.testing.assert_array_equal(P, -P.T)
