"""The exact solver of contact with friction: cases with known answers, random and redundant problems, lanes, order, jams."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from random_contacts import random_problem

from linkwork.kernel.lanes import Lanes
from linkwork.solvers.boxes import solve_boxes
from linkwork.solvers.coulomb import scratch_of, solve, solve_all, solve_cones, solve_packed_cones
from linkwork.solvers.problem import Cones, Problem

ONE = st.floats(-2.0, 2.0)


def block(velocity: tuple[float, float, float], mu: float, mass: float = 2.0) -> tuple[np.ndarray, np.ndarray]:
    """x and u of a point mass that meets a plane."""
    p = Problem(np.eye(3) / mass, np.array(velocity), Cones.coulomb([mu]))
    x, info = solve(p)
    assert info.left < 1e-14
    assert p.residual(x) < 1e-14
    return x, p.motion(x)


def test_a_block_sticks() -> None:
    x, u = block((-0.5, 0.1, -0.2), 0.5)
    assert np.allclose(x, (1.0, -0.2, 0.4), atol=1e-14)
    assert np.allclose(u, 0.0, atol=1e-15)


def test_a_block_slides_and_does_not_lift() -> None:
    x, u = block((-0.1, 3.0, 4.0), 0.5)
    assert np.allclose(x, (0.2, -0.06, -0.08), atol=1e-14)
    assert np.allclose(u, (0.0, 2.97, 3.96), atol=1e-14)


def test_a_block_separates() -> None:
    x, u = block((0.1, 3.0, 4.0), 0.5)
    assert not x.any()
    assert np.allclose(u, (0.1, 3.0, 4.0))


@pytest.mark.parametrize("off", [0.0, 1e-15, -1e-15, 1e-9, -1e-9])
def test_a_block_at_the_edge_of_the_cone(off: float) -> None:
    """Sticking and sliding meet at |v_t| = mu |v_n|."""
    x, u = block((-1.0, 0.5 * (1.0 + off), 0.0), 0.5)
    assert np.allclose(x, (2.0, -1.0, 0.0), atol=1e-8)
    assert abs(u[0]) < 1e-14
    assert -1e-15 < u[1] <= max(0.5 * off, 0.0) + 1e-15


def test_a_block_that_neither_approaches_nor_presses() -> None:
    x, u = block((0.0, 1.0, 0.0), 0.8)
    assert not x.any()
    assert u[1] == 1.0
    assert not block((0.0, 0.0, 0.0), 0.8)[0].any()


def test_without_friction_nothing_acts_along_the_plane() -> None:
    x, u = block((-1.0, 2.0, 1.0), 0.0)
    assert np.allclose(x, (2.0, 0.0, 0.0), atol=1e-14)
    assert np.allclose(u, (0.0, 2.0, 1.0))


@settings(max_examples=100, deadline=None)
@given(st.lists(ONE, min_size=9, max_size=9), st.lists(ONE, min_size=3, max_size=3), st.floats(0.0, 2.0))
@example([0.0, 2.0, 0.125, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0], [-1e-5, 1.0, 0.0], 1.0)  # a push of next to nothing on what slides
def test_one_contact_of_any_mass(entries: list[float], b: list[float], mu: float) -> None:
    L = np.array(entries).reshape(3, 3)
    p = Problem(L @ L.T + 0.01 * np.eye(3), np.array(b), Cones.coulomb([mu]))
    x, info = solve(p)
    assert p.residual(x) < 1e-12
    assert info.left == pytest.approx(p.residual(x), abs=1e-13)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 12), st.integers(0, 5))
def test_definite_problems(seed: int, contacts: int, equalities: int) -> None:
    rng = np.random.default_rng(seed)
    p = random_problem(rng, contacts, equalities, equalities + 3 * contacts + 4)
    x, info = solve(p)
    assert p.residual(x) < 1e-10
    assert info.left == pytest.approx(p.residual(x), abs=1e-12)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(3, 12))
@example(181637, 12)  # found late: it takes more than 30 changes of modes
def test_redundant_problems(seed: int, contacts: int) -> None:
    rng = np.random.default_rng(seed)
    p = random_problem(rng, contacts, 2, 8)
    assert np.linalg.matrix_rank(p.A) < len(p.b)
    assert p.residual(solve(p)[0]) < 1e-10


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 8))
def test_unsymmetric_problems(seed: int, contacts: int) -> None:
    """As implicit steps have them: a skew part beside the definite one."""
    rng = np.random.default_rng(seed)
    p = random_problem(rng, contacts, 2, 3 * contacts + 6)
    K = rng.normal(size=p.A.shape)
    q = Problem(p.A + 0.1 * (K - K.T), p.b, p.cones)
    assert q.residual(solve(q)[0]) < 1e-10


@pytest.mark.parametrize("seed", range(8))
def test_the_order_of_contacts_does_not_matter(seed: int) -> None:
    rng = np.random.default_rng(seed)
    contacts = 2 + seed
    p = random_problem(rng, contacts, 3, 3 * contacts + 6)
    order = np.concatenate([range(3), *(3 + 3 * k + np.arange(3) for k in rng.permutation(contacts))])
    cones = Cones(*(x[order] for x in p.cones.fields))
    x, y = solve(p)[0], solve(Problem(p.A[np.ix_(order, order)], p.b[order], cones))[0]
    assert np.allclose(y, x[order], rtol=0.0, atol=1e-9 * (1.0 + np.abs(x).max()))


def plate(velocity: np.ndarray, spin: float) -> Problem:
    """A square plate of mass 1 on its four corners, one force too many: moves and spins on the floor."""
    J = []
    for x, y in ((1.0, 1.0), (-1.0, 1.0), (-1.0, -1.0), (1.0, -1.0)):
        J += [[0.0, 0.0, 1.0, y, -x, 0.0], [1.0, 0.0, 0.0, 0.0, 0.0, -y], [0.0, 1.0, 0.0, 0.0, 0.0, x]]
    inverse = np.diag([1.0, 1.0, 1.0, 3.0, 3.0, 1.5])
    J = np.array(J)
    return Problem(J @ inverse @ J.T, J @ np.array((*velocity, -0.1, 0.0, 0.0, spin)), Cones.coulomb([0.5] * 4))


def test_redundant_contacts_share_alike() -> None:
    p = plate(np.array((2.0, 0.0)), 0.0)
    x, _ = solve(p)
    assert np.allclose(x.reshape(4, 3), (0.025, -0.0125, 0.0), atol=1e-9)
    assert np.allclose(p.motion(x).reshape(4, 3), (0.0, 1.95, 0.0), atol=1e-12)


@pytest.mark.parametrize("order", [(0, 1, 2, 3), (3, 1, 0, 2), (2, 3, 1, 0)])
def test_redundant_contacts_in_any_order(order: tuple[int, ...]) -> None:
    p = plate(np.array((0.3, 0.1)), 2.0)
    rows = np.concatenate([3 * k + np.arange(3) for k in order])
    y = solve(Problem(p.A[np.ix_(rows, rows)], p.b[rows], p.cones))[0]
    x = solve(p)[0]
    assert np.allclose(y, x[rows], rtol=0.0, atol=1e-9)


def test_spinning_and_rolling_friction_are_further_rows() -> None:
    """A ball pressed on a floor: its spin is braked by at most the coefficient times the push."""
    A = np.diag([1.0, 1.0, 1.0, 4.0, 4.0, 4.0])
    cones = Cones.coulomb([0.5], 0.1, 0.02, 0.02)
    x, info = solve(Problem(A, np.array((-1.0, 0.2, 0.0, 3.0, -0.05, 0.0)), cones))
    assert np.allclose(x, (1.0, -0.2, 0.0, -0.1, 0.0125, 0.0), atol=1e-13)
    assert info.left < 1e-13


@pytest.mark.parametrize("seed", range(10))
def test_coupled_rows_bounded_by_others(seed: int) -> None:
    rng = np.random.default_rng(seed)
    cones = Cones.coulomb([0.5, 0.3], 0.05, 0.02, 0.02) + Cones.rubbing([0.4]) + Cones.bounded([-0.1], [0.1]) + Cones.equal(1)
    L = rng.normal(size=(16, 20))
    p = Problem(L @ L.T, rng.normal(size=16), cones)
    assert p.residual(solve(p)[0]) < 1e-11


@pytest.mark.parametrize("lanes", [2, 8])
def test_lanes_agree_to_the_bit_with_single_problems(lanes: int) -> None:
    rng = np.random.default_rng(lanes)
    problems = [random_problem(rng, 5, 2, 12 if k % 2 else 30) for k in range(lanes)]
    together, left, _ = solve_all(problems)
    for p, x, rest in zip(problems, together, left, strict=True):
        alone, info = solve(p)
        assert np.array_equal(alone, x)
        assert info.left == rest


def test_the_routine_as_it_stands() -> None:
    """Python and compiled code agree to rounding."""
    rng = np.random.default_rng(5)
    p = random_problem(rng, 3, 1, 16)
    m = len(p.b)
    x, left, rounds = np.zeros(m), np.zeros(1), np.zeros(1)
    active = np.arange(-1, m)
    active[0] = m
    scratch = scratch_of(solve_cones, m)
    c = p.cones
    solve_cones(active, c.rows, c.mu, np.ones(m), p.b, c.lower, c.upper, x, p.A.flatten(), left, rounds, *scratch)
    assert np.allclose(x, solve(p)[0], rtol=0.0, atol=1e-11)


def test_rows_that_are_off_do_not_act() -> None:
    """In every lane only rows that are on take part; here the second contact is on in the second lane alone."""
    rng = np.random.default_rng(6)
    p = random_problem(rng, 2, 1, 12)
    m, lanes = len(p.b), 2
    on = np.ones((m, lanes))
    on[4:, 0] = 0.0
    given = [np.ascontiguousarray(np.tile(x[:, None], lanes), float) for x in (p.cones.mu, p.b, p.cones.lower, p.cones.upper)]
    mu, b, lower, upper = given
    x, A = np.zeros((m, lanes)), np.ascontiguousarray(np.tile(p.A.reshape(-1, 1), lanes))
    active = np.arange(-1, m)
    active[0] = m
    scratch = scratch_of(solve_cones, m, lanes)
    out = np.zeros((1, lanes)), np.zeros((1, lanes))
    solve_cones.call(Lanes(lanes), active, p.cones.rows, mu, on, b, lower, upper, x, A, *out, *scratch)
    first = Problem(p.A[:4, :4], p.b[:4], Cones.equal(1) + Cones.coulomb([p.cones.mu[2]]))
    assert np.array_equal(x[:4, 0], solve(first)[0])
    assert not x[4:, 0].any()
    assert np.array_equal(x[:, 1], solve(p)[0])


@pytest.mark.parametrize("seed", range(6))
def test_rows_with_bounds_alone_agree_with_boxes(seed: int) -> None:
    rng = np.random.default_rng(seed)
    m = 4 + seed
    L = rng.normal(size=(m, m + 2))
    lower, upper = np.where(rng.uniform(size=m) < 0.5, 0.0, -0.3), np.where(rng.uniform(size=m) < 0.5, np.inf, 0.3)
    p = Problem(L @ L.T, rng.normal(size=m), Cones.bounded(lower, upper))
    x, active = np.zeros(m), np.arange(-1, m)
    active[0] = m
    packed, scratch = p.A[np.tril_indices(m)].copy(), [np.zeros(m * (m + 1) // 2), *np.zeros((10, m)), np.zeros(m + 1, np.int64)]
    solve_boxes.call(Lanes(1), active, np.ones(m), p.b, p.cones.lower, p.cones.upper, x, packed, np.zeros(1), *scratch)
    assert np.allclose(solve(p)[0], x, rtol=0.0, atol=1e-11)


@pytest.mark.parametrize("lanes", [1, 4, 8])
def test_lanes_pack_the_rows_that_are_on_in_them(lanes: int) -> None:
    """A list of contacts, limits and rows of friction, of which every lane has others on: as each problem alone, to rounding."""
    rng = np.random.default_rng(lanes)
    cones = Cones.push(2) + Cones.coulomb([0.5] * 4) + Cones.rubbing([0.3]) + Cones.coulomb([0.4], 0.02) + Cones.equal(1)
    m, groups = len(cones.rows), np.flatnonzero((cones.rows == 0) | (cones.rows == 1))
    ends, packed = [*groups[1:], m], np.zeros((m * (m + 1) // 2, lanes))
    x, on, b, problems = np.zeros((m, lanes)), np.zeros((m, lanes)), rng.normal(size=(m, lanes)), []
    for lane in range(lanes):
        L = rng.normal(size=(m, m + 3))
        A, chosen = L @ L.T, rng.uniform(size=len(groups)) < 0.6
        rows = np.concatenate(
            [np.arange(a, z) for a, z, take in zip(groups, ends, chosen, strict=True) if take] or [np.arange(1)]
        )
        packed[:, lane], on[rows, lane] = A[np.tril_indices(m)], 1.0
        problems.append((rows, Problem(A[np.ix_(rows, rows)], b[rows, lane], Cones(*(f[rows] for f in cones.fields)))))
    given = [np.ascontiguousarray(np.tile(f[:, None], lanes), float) for f in (cones.mu, cones.lower, cones.upper)]
    active = np.arange(-1, m)
    active[0] = m
    out = np.zeros((1, lanes)), np.zeros((1, lanes))
    scratch = scratch_of(solve_packed_cones, m, lanes)
    solve_packed_cones.call(Lanes(lanes), active, cones.rows, given[0], on, b, given[1], given[2], x, packed, *out, *scratch)
    for lane, (rows, p) in enumerate(problems):
        assert p.residual(x[rows, lane]) < 1e-12
        assert np.allclose(x[rows, lane], solve(p)[0], rtol=0.0, atol=1e-10)
        assert not np.delete(x[:, lane], rows).any()


def test_contradictions_move_the_load_to_a_bound() -> None:
    """Two rows of one direction ask for motions that differ by a little: the one that asks for less lets go."""
    for off in (1e-2, 1e-4, 1e-6):
        p = Problem(np.ones((2, 2)), np.array([-1.0, -1.0 + off]), Cones.push(2))
        x, info = solve(p)
        assert info.left < 1e-15
        assert np.allclose(x, (1.0, 0.0), rtol=0.0, atol=1e-12)


def test_a_warm_start_at_the_solution_needs_no_system() -> None:
    rng = np.random.default_rng(9)
    p = random_problem(rng, 6, 2, 24)
    x, info = solve(p)
    again, warm = solve(p, x)
    assert info.rounds >= 1
    assert warm.rounds == 0
    assert np.allclose(again, x, rtol=0.0, atol=1e-12)


def test_contacts_that_contradict_one_another_are_told() -> None:
    """Two walls that both ask a body between them to leave: 0.1 m/s cannot be had on both sides."""
    J = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [-1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    b = np.array((-0.1, 0.0, 0.0, -0.1, 0.0, 0.0))
    p = Problem(J @ J.T, b, Cones.coulomb([0.5, 0.5]))
    x, info = solve(p)
    assert np.isfinite(x).all()
    assert info.left >= 0.05
    assert info.left == pytest.approx(p.residual(x), rel=1e-6)


def test_opposite_contacts_that_press_are_solved() -> None:
    """The same walls, neither of which asks to leave, hold a body that falls."""
    J = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [-1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    p = Problem(J @ J.T, J @ np.array((0.3, 0.0, -0.05)), Cones.coulomb([0.5, 0.5]))
    x, _ = solve(p)
    assert p.residual(x) < 1e-10
    assert abs(p.motion(x)[0]) < 1e-10


def test_numbers_that_are_none_are_told() -> None:
    p = Problem(np.eye(3), np.array((np.nan, 0.0, 0.0)), Cones.coulomb([0.5]))
    assert np.isnan(solve(p)[1].left)


def test_nothing_to_solve() -> None:
    x, info = solve(Problem(np.zeros((0, 0)), np.zeros(0), Cones.equal(0)))
    assert x.shape == (0,)
    assert info.left == 0.0


def test_small_contradictions_of_points_that_stick_end_the_search() -> None:
    """Two points of one rigid body, along the line between them: no motion of the body brings them apart."""
    J = np.zeros((6, 6))
    for k, r in enumerate(((0.3, 0.0, -0.1), (-0.3, 0.0, -0.1))):
        for row, d in enumerate(((0.0, 0.0, 1.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0))):
            J[3 * k + row] = np.concatenate([np.cross(r, d), d])
    A, away = J @ np.diag([40.0, 30.0, 50.0, 1.0, 1.0, 1.0]) @ J.T, np.array([0.0, 1.0, 0.0, 0.0, -1.0, 0.0])
    assert np.allclose(away @ J, 0.0)
    consistent = J @ np.array([0.01, 0.02, 0.01, 0.01, -0.02, -0.3])
    right, _ = solve(Problem(A, consistent, Cones.coulomb([0.8, 0.8])))
    for size in (8e-13, 1e-12):
        x, info = solve(Problem(A, consistent + size * away, Cones.coulomb([0.8, 0.8])))
        assert info.rounds <= 3
        assert info.left < 1.01 * size
        assert np.allclose(x, right, atol=1e-4 * np.abs(right).max())
    for size in (1e-9, 1e-7, 1e-5):  # larger ones have a solution: one of the points slides
        p = Problem(A, consistent + size * away, Cones.coulomb([0.8, 0.8]))
        x, info = solve(p)
        assert p.residual(x) < 1e-14
        assert np.allclose(p.motion(x)[[0, 3]], 0.0, atol=1e-14)
