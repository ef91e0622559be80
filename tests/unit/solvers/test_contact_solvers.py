"""All solvers of contact problems against one another, and the errors that the relaxed ones are known for."""

from __future__ import annotations

import numpy as np
import pytest
from random_contacts import random_problem

from linkwork.errors import InputError
from linkwork.solvers.problem import Cones, Problem
from linkwork.solvers.pyramid import solve_pyramid
from linkwork.solvers.registry import ALL_SOLVERS, EXACT, FRICTIONLESS, RELAXED
from linkwork.solvers.staggered import solve_staggered


def point_mass(velocity: float, mu: float = 0.5) -> Problem:
    """A point mass that slides along x and falls at 0.1 m/s."""
    return Problem(np.eye(3), np.array((-0.1, velocity, 0.0)), Cones.coulomb([mu]))


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("name", EXACT)
def test_exact_solvers_agree(name: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    p = random_problem(rng, 1 + seed, seed % 3, 3 * seed + 10)
    x, info = EXACT[name](p, None)
    expected = EXACT["exact"](p, None)[0]
    assert info.left < 1e-9
    assert np.allclose(x, expected, rtol=0.0, atol=1e-8 * (1.0 + np.abs(expected).max()))


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("name", ALL_SOLVERS)
def test_all_solvers_agree_without_friction(name: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    p = random_problem(rng, 1 + seed, seed % 3, 3 * seed + 10).frictionless()
    x, info = ALL_SOLVERS[name](p, None)
    expected = EXACT["exact"](p, None)[0]
    assert info.left < 1e-9
    assert np.allclose(x, expected, rtol=0.0, atol=1e-9 * (1.0 + np.abs(expected).max()))


@pytest.mark.parametrize("name", ALL_SOLVERS)
def test_redundant_contacts_without_friction_have_one_motion(name: str) -> None:
    rng = np.random.default_rng(4)
    p = random_problem(rng, 8, 2, 6).frictionless()
    x = ALL_SOLVERS[name](p, None)[0]
    expected = EXACT["exact"](p, None)[0]
    rows = np.setdiff1d(np.arange(len(x)), np.concatenate([p.cones.normals + 1, p.cones.normals + 2]))
    assert np.allclose(p.motion(x)[rows], p.motion(expected)[rows], rtol=0.0, atol=1e-9 * (1.0 + np.abs(p.b).max()))


@pytest.mark.parametrize("name", [*EXACT, *RELAXED])
def test_all_solvers_agree_on_what_sticks(name: str) -> None:
    p = point_mass(0.01)
    assert np.allclose(ALL_SOLVERS[name](p, None)[0], (0.1, -0.01, 0.0), atol=1e-9)


def test_the_pyramid_lifts_what_slides() -> None:
    """[errata 12] One step of a block at 1 m/s: v = (0.76, 0.38) instead of (0.95, 0)."""
    x, info = solve_pyramid(point_mass(1.0))
    assert np.allclose(point_mass(1.0).motion(x)[:2], (0.38, 0.76), atol=1e-12)
    assert info.left > 0.1


def test_staggered_projections_slide_as_coulomb_says() -> None:
    """[errata 11] Along a tangent, v = 1 becomes 0.95; at rest it stays; a start of the right friction ends at once."""
    x, info = solve_staggered(point_mass(1.0))
    assert np.allclose(point_mass(1.0).motion(x), (0.0, 0.95, 0.0), atol=1e-12)
    assert info.left < 1e-12
    assert solve_staggered(point_mass(1.0), x)[1].rounds <= info.rounds


@pytest.mark.parametrize("name", EXACT)
def test_rows_bounded_by_others_in_every_exact_solver(name: str) -> None:
    A = np.array([[1.0, 0.0, 0.0, 0.2], [0.0, 1.0, 0.1, 0.0], [0.0, 0.1, 1.0, 0.0], [0.2, 0.0, 0.0, 4.0]])
    p = Problem(A, np.array((-1.0, 0.2, 0.0, 3.0)), Cones.coulomb([0.5], 0.1))
    x, info = EXACT[name](p, None)
    assert info.left < 1e-9
    n = 1.0 / (1.0 - 0.1 * 0.2)  # u_n = 0 with x_spin = -0.1 x_n
    assert x[[0, 3]] == pytest.approx((n, -0.1 * n), abs=1e-8)


def test_methods_that_know_no_other_bounds_say_so() -> None:
    p = Problem(np.eye(1), np.ones(1), Cones.bounded([-1.0], [1.0]))
    for name in ("primal", "lemke"):
        with pytest.raises(InputError, match="no other bounds"):
            FRICTIONLESS[name](p, None)
    assert FRICTIONLESS["dual"](p, None)[0] == pytest.approx([-1.0])
