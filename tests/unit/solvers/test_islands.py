"""Contacts at their joints, island by island, against the dense solver: motions, order, separate piles, kinds of rows."""

from __future__ import annotations

import numpy as np
import pytest
from sparse_problem import Pile, random_pile, solved

from linkwork.solvers.coulomb import solve
from linkwork.solvers.problem import Cones

SEEDS = range(30)


@pytest.mark.parametrize("seed", SEEDS)
def test_motions_are_those_of_the_dense_solver(seed: int) -> None:
    rng = np.random.default_rng(seed)
    bodies = int(rng.integers(1, 8))
    pile = random_pile(rng, bodies, int(rng.integers(1, 2 * bodies + 2)), 1 + seed % 3)
    problem = pile.dense
    x, motion, left = solved(pile)
    dense, _ = solve(problem)
    assert problem.residual(x) < 1e-11
    assert left < 1e-11
    np.testing.assert_allclose(motion, problem.A @ x + pile.b, atol=1e-11)
    if problem.residual(dense) < 1e-11:
        np.testing.assert_allclose(motion, problem.A @ dense + pile.b, atol=1e-9)


def test_python_says_the_same() -> None:
    pile = random_pile(np.random.default_rng(5), 3, 4, 2)
    for a, b in zip(solved(pile), solved(pile, compiled=False), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-12)


@pytest.mark.parametrize("seed", [0, 3, 4])
def test_the_order_of_bodies_does_not_matter(seed: int) -> None:
    rng = np.random.default_rng(seed)
    pile = random_pile(rng, 6, 9, 2)
    x, motion, _ = solved(pile)
    other, moved, _ = solved(pile.renumbered(rng.permutation(6)))
    np.testing.assert_allclose(moved, motion, atol=1e-10)
    np.testing.assert_allclose(other, x, atol=1e-8)


def test_islands_do_not_know_of_one_another() -> None:
    rng = np.random.default_rng(2)
    first, second = random_pile(rng, 4, 6), random_pile(rng, 3, 5, 2)
    shifted = [{body + 4: entry for body, entry in row.items()} for row in second.rows]
    both = Pile(first.rows + shifted, np.concatenate([first.inverse, second.inverse]), first.cones + second.cones, np.zeros(0))
    both.b = np.concatenate([first.b, second.b])
    x = solved(both)[0]
    np.testing.assert_array_equal(x, np.concatenate([solved(first)[0], solved(second)[0]]))


def test_a_row_that_is_broken_joins_its_islands() -> None:
    """The first row pushes a body against another, which it does not touch yet; a third one is far away."""
    up = np.eye(6)[5]
    rows = [{0: up}, {0: -up, 1: up}, {1: -up, 2: up}]
    pile = Pile(rows, np.tile(np.eye(6), (3, 1, 1)), Cones.push(3), np.array([-1.0, 0.3, 5.0]))
    x, motion, left = solved(pile)
    np.testing.assert_allclose(x, [1.7, 0.7, 0.0], atol=1e-14)
    np.testing.assert_allclose(motion, [0.0, 0.0, 4.3], atol=1e-14)
    assert left < 1e-14


@pytest.mark.parametrize("seed", range(6))
def test_open_contacts_do_not_change_what_is_found(seed: int) -> None:
    """Half of the contacts have room, some of which the motion uses up; from nothing, and from what acted before."""
    rng = np.random.default_rng(seed)
    pile = random_pile(rng, 24, 40)
    pile.b[::3] += rng.choice([0.0, 1.0, 4.0], 40)
    problem = pile.dense
    dense, info = solve(problem)
    before = rng.uniform(0.5, 1.5) * dense
    for x, motion, left in (solved(pile), solved(pile, warm=before)):
        assert problem.residual(x) < 1e-11
        assert left < 1e-11
        np.testing.assert_allclose(motion, problem.A @ x + pile.b, atol=1e-11)
        if info.left < 1e-11:
            np.testing.assert_allclose(motion, problem.A @ dense + pile.b, atol=1e-9)


def test_a_solution_that_is_given_is_kept() -> None:
    pile = random_pile(np.random.default_rng(7), 5, 7)
    x = solved(pile)[0]
    np.testing.assert_allclose(solved(pile, warm=x)[0], x, atol=1e-14)


@pytest.mark.parametrize("kinds", ["equal", "push", "bounded", "pyramid", "mixed"])
def test_rows_of_every_kind(kinds: str) -> None:
    rng = np.random.default_rng(11)
    pile = random_pile(rng, 5, 6)
    each, free = np.array([0, -1, -2], np.int32), np.full(18, np.inf)
    pyramid = Cones(np.tile(each, 6), np.tile([0.0, -np.inf, -np.inf], 6), free, np.tile([0.0, 0.5, 0.5], 6))
    cones = {
        "equal": Cones.equal(18),
        "push": Cones.push(18),
        "bounded": Cones.bounded(np.full(18, -0.1), np.full(18, 0.2)),
        "pyramid": pyramid,
        "mixed": Cones.coulomb([0.5, 0.3]) + Cones.push(6) + Cones.equal(3) + Cones.coulomb([0.7]),
    }
    pile.cones = cones[kinds]
    problem = pile.dense
    x, motion, _ = solved(pile)
    dense, _ = solve(problem)
    assert problem.residual(x) < 1e-11
    np.testing.assert_allclose(motion, problem.A @ dense + pile.b, atol=1e-9)


def test_softness_is_added_to_the_diagonal_of_scaled_rows() -> None:
    pile = random_pile(np.random.default_rng(3), 4, 5)
    problem, soft = pile.dense, 1e-2
    sizes = np.repeat(np.diag(problem.A).reshape(-1, 3).mean(axis=1), 3)
    stiff = type(problem)(problem.A + soft * np.diag(sizes), problem.b, problem.cones)
    np.testing.assert_allclose(solved(pile, soft=soft)[0], solve(stiff)[0], atol=1e-9)
