"""States and rows: what is refused, and the algebra of sparse rows against dense matrices."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import linkwork as lw
from linkwork.model.state import Motion, Response, Rows, State, check_state, force_arrays

ROD = lw.Inertia.cuboid(1.0, (1.0, 0.1, 0.1))
MODEL = (
    lw.ModelBuilder()
    .body("base", joint=lw.Free(), inertia=ROD, joint_name="root")
    .body("arm", parent="base", joint=lw.Revolute(), inertia=ROD, joint_name="elbow")
    .body("hand", parent="arm", joint=lw.Spherical(), inertia=ROD)
    .build()
)
NB, NQ, NV = MODEL.nb, MODEL.nq, MODEL.nv
Q = MODEL.neutral()


def changed(x: np.ndarray, at: int, value: float) -> np.ndarray:
    x = x.copy()
    x[at] = value
    return x


# --- check_state ----------------------------------------------------------------------------------------------------------
REFUSED: dict[str, tuple[State, str]] = {
    "short q": (State(Q[:-1], np.zeros(NV)), r"state.q has shape \(11,\); this model needs \(12,\) or \(batch, 12\)"),
    "long v": (State(Q, np.zeros(NV + 1)), r"state.v has shape \(11,\); this model needs \(10,\) or \(batch, 10\)"),
    "scalar q": (State(np.array(0.0), np.zeros(NV)), r"state.q has shape \(\)"),
    "deep q": (State(Q[None, None], np.zeros(NV)), r"state.q has shape \(1, 1, 12\)"),
    "nan q": (State(changed(Q, 7, np.nan), np.zeros(NV)), "state.q is not finite at joint 'elbow'"),
    "inf v": (State(Q, changed(np.zeros(NV), 9, np.inf)), "state.v is not finite at joint 'hand'"),
    "nan in a batch": (State(np.stack([Q, changed(Q, 0, np.nan)]), np.zeros(NV)), "state.q is not finite at joint 'root'"),
    "quaternion": (State(changed(Q, 3, 2.0), np.zeros(NV)), r"joint 'root': its quaternion \(wxyz\) has norm 2, not 1"),
    "zero quaternion": (State(changed(Q, 8, 0.0), np.zeros(NV)), "joint 'hand': its quaternion .* has norm 0, not 1"),
    "quaternion in a batch": (State(np.stack([Q, changed(Q, 8, 1.1)]), np.zeros((2, NV))), "joint 'hand': .* norm 1.1, not 1"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_bad_states_are_refused(what: str) -> None:
    state, rule = REFUSED[what]
    with pytest.raises(lw.InputError, match=rule):
        check_state(MODEL, state)


def test_good_states_pass() -> None:
    check_state(MODEL, State(Q, np.zeros(NV)))
    check_state(MODEL, State(MODEL.random_configuration(3), np.ones(NV), t=2))
    check_state(MODEL, State(np.stack([Q, Q]), np.zeros((2, NV))))
    assert State([0], [1], t=1).t == 1.0  # type: ignore[arg-type]
    assert State([0], [1]).q.dtype == float  # type: ignore[arg-type]


def test_composites_are_looked_at_where_a_part_has_something_to_look_at() -> None:
    slides = lw.Composite(lw.Prismatic((1, 0, 0)), lw.Prismatic((0, 1, 0)))
    turns = lw.Composite(slides, lw.Spherical())
    assert slides.takes_any
    assert not turns.takes_any
    b = lw.ModelBuilder()
    b.body("arm", joint=turns, inertia=lw.Inertia.cuboid(1.0, (1, 1, 1)))
    model = b.build()
    q, v = model.neutral(), np.zeros(model.nv)
    check_state(model, State(q, v))
    with pytest.raises(lw.InputError, match="quaternion"):
        check_state(model, State(2.0 * q, v))


# --- rows -----------------------------------------------------------------------------------------------------------------
def random_rows(rng: np.random.Generator, count: int, entries: int) -> Rows:
    """Rows with several entries in the same place, which add up."""
    e = entries if count else 0
    return Rows(
        count,
        rng.integers(count, size=e) if count else np.zeros(0, int),
        rng.integers(NB, size=e),
        rng.normal(size=(e, 6)),
        rng.integers(count, size=e) if count else np.zeros(0, int),
        rng.integers(NV, size=e),
        rng.normal(size=e),
    )


def dense(rows: Rows) -> tuple[np.ndarray, np.ndarray]:
    """G on body twists (k, 6 bodies) and on joint velocities (k, nv)."""
    A, B = np.zeros((rows.count, NB, 6)), np.zeros((rows.count, NV))
    for row, body, block in zip(rows.body_row, rows.body_index, rows.body_block, strict=True):
        A[row, body] += block
    for row, index, value in zip(rows.joint_row, rows.joint_index, rows.joint_value, strict=True):
        B[row, index] += value
    return A.reshape(rows.count, 6 * NB), B


def random_motion(rng: np.random.Generator, *lead: int) -> Motion:
    return Motion(rng.normal(size=(*lead, NB, 6)), rng.normal(size=(*lead, NV)))


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(0, 5), st.integers(0, 12), st.sampled_from([(), (1,), (3,), (2, 3)]))
def test_rows_are_sparse_matrices(seed: int, count: int, entries: int, lead: tuple[int, ...]) -> None:
    rng = np.random.default_rng(seed)
    rows = random_rows(rng, count, entries)
    A, B = dense(rows)
    motion, weights = random_motion(rng, *lead), rng.normal(size=(*lead, count))
    flat = motion.bodies.reshape(*lead, NB * 6)
    np.testing.assert_allclose(rows @ motion, flat @ A.T + motion.joints @ B.T, atol=1e-12)
    wrenches, forces = rows.transposed(weights, NB, NV)
    np.testing.assert_allclose(wrenches.reshape(*lead, NB * 6), weights @ A, atol=1e-12)
    np.testing.assert_allclose(forces, weights @ B, atol=1e-12)


@pytest.mark.parametrize("counts", [[], [0], [2], [1, 0, 3], [2, 2]])
def test_stacked_rows_are_stacked_matrices(counts: list[int]) -> None:
    rng = np.random.default_rng(0)
    parts = [random_rows(rng, count, 5) for count in counts]
    whole = Rows.stacked(parts)
    assert whole.count == sum(counts)
    for found, *pieces in zip(dense(whole), *(dense(p) for p in parts), strict=True):
        np.testing.assert_array_equal(found, np.concatenate([found[:0], *pieces]))


def test_empty_rows_give_nothing() -> None:
    rng = np.random.default_rng(0)
    assert (Rows(0) @ random_motion(rng)).shape == (0,)
    np.testing.assert_array_equal(Rows(2) @ random_motion(rng, 3), np.zeros((3, 2)))
    wrenches, forces = Rows(2).transposed(np.ones(2), NB, NV)
    assert not wrenches.any()
    assert not forces.any()


def test_motions_form_a_vector_space() -> None:
    rng = np.random.default_rng(0)
    a, b = random_motion(rng), random_motion(rng)
    c = a + 2.0 * b
    np.testing.assert_array_equal(c.bodies, a.bodies + 2.0 * b.bodies)
    np.testing.assert_array_equal((a + b * 2.0).joints, c.joints)


class DenseResponse(Response):
    """A response that is a dense matrix on (wrenches, joint forces); deliberately not symmetric."""

    def __init__(self, operator: np.ndarray, free: Motion) -> None:
        self.model, self.free, self.operator = MODEL, free, operator

    def apply(self, body_wrenches: object = None, joint_forces: object = None) -> Motion:
        flat, lead = force_arrays(MODEL, body_wrenches, joint_forces)
        out = np.concatenate([flat["wrench"], flat["tau"]], axis=1) @ self.operator.T
        return Motion(out[:, : 6 * NB].reshape(*lead, NB, 6), out[:, 6 * NB :].reshape(*lead, NV))


def test_delassus_and_corrected_against_dense_matrices() -> None:
    rng = np.random.default_rng(1)
    W = rng.normal(size=(6 * NB + NV, 6 * NB + NV))
    response = DenseResponse(W, random_motion(rng))
    rows = random_rows(rng, 4, 9)
    G = np.hstack(dense(rows))
    np.testing.assert_allclose(response.delassus(rows), G @ W @ G.T, atol=1e-11)
    x = rng.normal(size=4)
    free = np.concatenate([response.free.bodies.ravel(), response.free.joints])
    found = response.corrected(rows, x)
    np.testing.assert_allclose(np.concatenate([found.bodies.ravel(), found.joints]), free + W @ G.T @ x, atol=1e-11)


def test_a_response_must_say_how_it_answers() -> None:
    with pytest.raises(TypeError, match="Response must define apply"):
        Response().apply()


# --- force_arrays ---------------------------------------------------------------------------------------------------------
BAD_FORCES: dict[str, tuple[Callable[[], object], str]] = {
    "wrench size": (lambda: force_arrays(MODEL, np.zeros((NB, 5)), None), r"shape \(3, 5\); expected \(..., 3, 6\)"),
    "bodies": (lambda: force_arrays(MODEL, np.zeros((NB + 1, 6)), None), r"shape \(4, 6\); expected \(..., 3, 6\)"),
    "flat wrenches": (lambda: force_arrays(MODEL, np.zeros(NB * 6), None), r"body wrenches have shape \(18,\)"),
    "joint forces": (lambda: force_arrays(MODEL, None, np.zeros(NV - 1)), r"shape \(9,\); expected \(..., 10\)"),
    "leads": (
        lambda: force_arrays(MODEL, np.zeros((2, NB, 6)), np.zeros((3, NV))),
        r"different leading axes: \(2,\) and \(3,\)",
    ),
    "one lead": (lambda: force_arrays(MODEL, np.zeros((2, NB, 6)), np.zeros(NV)), r"different leading axes: \(2,\) and \(\)"),
}


@pytest.mark.parametrize("what", BAD_FORCES)
def test_bad_forces_are_refused(what: str) -> None:
    make, rule = BAD_FORCES[what]
    with pytest.raises(lw.InputError, match=rule):
        make()


def test_missing_forces_are_zero() -> None:
    flat, lead = force_arrays(MODEL, None, None)
    assert lead == ()
    assert flat["wrench"].shape == (1, NB * 6)
    assert not flat["wrench"].any()
    assert not flat["tau"].any()
    wrenches = np.arange(4.0 * NB * 6).reshape(2, 2, NB, 6)
    flat, lead = force_arrays(MODEL, wrenches, None)
    assert lead == (2, 2)
    np.testing.assert_array_equal(flat["wrench"].reshape(wrenches.shape), wrenches)
    assert flat["tau"].shape == (4, NV)
