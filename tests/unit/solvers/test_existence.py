"""The search of all modes finds solutions where there are some, and proves that there is none where there is none."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from linkwork.bench.contact_problems import problems
from linkwork.solvers.coulomb import solve, solve_all
from linkwork.solvers.existence import search_all_modes
from linkwork.solvers.opening import opens, opens_against_friction
from linkwork.solvers.problem import Cones, Problem


@pytest.mark.parametrize("family", ["standing", "landing", "bound", "collapsed"])
def test_it_finds_what_the_default_solver_finds(family: str) -> None:
    """By another way: where u is unique both agree."""
    for p in problems(family, 2, seed=3):
        found = search_all_modes(p)
        assert found.x is not None
        assert p.residual(found.x) < 1e-8 * np.abs(p.b).max()
        np.testing.assert_allclose(p.motion(found.x), p.motion(solve(p)[0]), atol=1e-7 * np.abs(p.b).max())


def test_rows_with_bounds_and_further_friction() -> None:
    rng = np.random.default_rng(0)
    cones = Cones.coulomb([0.6], 0.1) + Cones.rubbing([0.4]) + Cones.push(1) + Cones.bounded([-0.2], [0.3]) + Cones.equal(1)
    n = len(cones.rows)
    for _ in range(5):
        J = rng.normal(size=(n, n + 2))
        p = Problem(J @ J.T, rng.normal(size=n), cones)
        found = search_all_modes(p)
        assert found.x is not None
        np.testing.assert_allclose(found.x, solve(p)[0], atol=1e-6)


def test_opposite_contacts_that_ask_to_separate_have_no_solution() -> None:
    """A body between two walls that both ask for 0.1 m/s: no motion opens both."""
    J = np.array([[0, 0, 1.0], [1, 0, 0], [0, 1, 0], [0, 0, -1], [1, 0, 0], [0, 1, 0]])
    p = Problem(J @ J.T, np.array([-0.1, 0.2, 0, -0.1, 0.2, 0]), Cones.coulomb([0.5, 0.5]))
    assert not opens(p)
    assert search_all_modes(p).proves_none
    free = replace(p, b=np.array([0.1, 0.2, 0, -0.1, 0.2, 0]))
    assert search_all_modes(free).x is not None


WEDGED = problems("wedged", 250)
HARD = (74, 219)  # of them: forces are 1e4 times the velocities asked for


@pytest.mark.parametrize("k", HARD)
def test_the_default_solver_finds_jammed_solutions(k: int) -> None:
    p = WEDGED[k]
    x, info = solve(p)
    assert info.left < 1e-8
    assert p.residual(x) < 1e-8
    assert np.abs(x).max() > 100.0


def test_lanes_of_the_ladder_agree_to_the_bit() -> None:
    """One that climbs, beside those that need not and those that climb in vain."""
    alike = [*[k for k, p in enumerate(WEDGED) if len(p.b) == 12][:7], 219]
    together = solve_all([WEDGED[k] for k in alike])
    for lane, k in enumerate(alike):
        alone = solve_all([WEDGED[k]])
        np.testing.assert_array_equal(together[0][lane], alone[0][0])
        assert together[1][lane] == alone[1][0]


def test_what_is_left_of_wedged_problems_has_no_solution() -> None:
    """The first ones; `linkwork bench contact-problems --full` searches all."""
    seen = 0
    for p in WEDGED[:130]:
        if len(p.b) <= 12 and seen < 6 and solve(p)[1].left > 1e-8:
            seen += 1
            assert not opens_against_friction(p)
            assert search_all_modes(p).proves_none
    assert seen == 6
