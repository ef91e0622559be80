"""What is unusual and legal stays so: batches of no states, models that cannot move, numbers of other kinds."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from cases import ROD, ball, plain, run

import linkwork as lw
from linkwork.kernel.soundness import guarded, sound

NONE = np.zeros((0, 2))


def test_batches_of_no_states_have_empty_results() -> None:
    assert lw.forward_dynamics(plain(), NONE, NONE, NONE).shape == (0, 2)
    assert lw.inverse_dynamics(plain(), NONE, NONE, NONE).shape == (0, 2)
    assert lw.mass_matrix(plain(), NONE).shape == (0, 2, 2)
    assert lw.kinematics(ball(), np.zeros((0, 4))).poses.shape == (0, 1, 4, 4)


def test_a_model_of_fixed_joints_alone() -> None:
    model = lw.ModelBuilder().body("stone", joint=lw.Fixed(), inertia=ROD).build()
    assert lw.forward_dynamics(model, [], [], []).shape == (0,)
    assert lw.mass_matrix(model, []).shape == (0, 0)
    assert len(run(model)) == 11


def test_numbers_of_other_kinds() -> None:
    expected = lw.forward_dynamics(plain(), np.array([1.0, 2.0]), np.zeros(2), np.zeros(2))
    for q in ([1, 2], (1.0, 2), np.array([1, 2]), np.array([1.0, 2.0], object), [Fraction(1), Fraction(2)], np.float32([1, 2])):
        found = lw.forward_dynamics(plain(), q, [0, 0], [0, 0])
        assert np.allclose(found, expected, rtol=1e-5)
    assert lw.Inertia(Fraction(1, 2)).mass == 0.5
    assert lw.Inertia(np.float32(0.5)).mass == 0.5


def test_quaternions_that_rounding_moved_are_unit() -> None:
    q = np.array([0.5, 0.5, 0.5, 0.5]) * (1.0 + 5e-7)
    assert np.isfinite(lw.forward_dynamics(ball(), q, np.zeros(3), np.zeros(3))).all()


@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_every_place_is_looked_at(kind: type) -> None:
    """Arrays of every length up to 70, and what is not finite at every place of them."""
    look = sound(np.dtype(kind), [], range(1))
    for n in range(70):
        x = np.linspace(-1e30, 1e30, n, dtype=kind)
        assert look(x) is True
        for k in range(n):
            for wrong in (np.nan, np.inf, -np.inf):
                y = x.copy()
                y[k] = wrong
                assert look(y) is None


@pytest.mark.parametrize("kind", [np.float64, np.float32])
@pytest.mark.parametrize("count", range(1, 10))
def test_every_quaternion_is_looked_at(kind: type, count: int) -> None:
    rng, offsets = np.random.default_rng(count), [3 + 5 * i for i in range(count)]
    look = sound(np.dtype(kind), [(1, at) for at in offsets], range(2))
    for rows in (0, 1, 2, 3, 4, 5, 7, 8, 9):
        q = rng.normal(size=(rows, 5 + 5 * count))
        for at in offsets:
            q[:, at : at + 4] /= np.linalg.norm(q[:, at : at + 4], axis=1, keepdims=True)
        q, other = q.astype(kind), np.zeros((rows, 2), kind)
        assert look(other, q) is True
        for row in range(rows):
            for at in offsets:
                wrong = q.copy()
                wrong[row, at : at + 4] *= 1.0001
                assert look(other, wrong) is None


def test_a_guarded_function_gives_what_it_guards() -> None:
    """The same bits as the prepared function, and nothing where that would be wrong."""
    f = plain().function("forward_dynamics")
    guard = guarded(f, np.dtype(float), [], 3, 2)
    q, v, tau = np.array([0.3, -0.4]), np.array([1.0, 2.0]), np.array([0.1, 0.2])
    expected = f(q, v, tau).copy()
    assert np.array_equal(guard(q, v, tau), expected)
    assert guard(np.array([np.nan, 0.0]), v, tau) is None
    assert np.array_equal(guard(q, v, tau), expected)
