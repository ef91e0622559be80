"""The path of smoothed cones: its slopes against differences, and problems in which contacts slide by next to nothing."""

from __future__ import annotations

import numpy as np
import pytest

from linkwork.solvers.cone_modes import Modes
from linkwork.solvers.cone_path import path_matrix, path_residual, path_slopes, start_path
from linkwork.solvers.cone_rows import Rows
from linkwork.solvers.coulomb import solve, solve_all
from linkwork.solvers.problem import Cones, Problem

KINDS = Cones.coulomb([0.5, 0.8], 0.1) + Cones.push(1) + Cones.bounded([-0.3], [0.4]) + Cones.equal(1) + Cones.rubbing([0.6])
TAU = 0.05


def posed(seed: int) -> tuple[Rows, np.ndarray]:
    """The rows of a random problem in one lane, and its matrix."""
    rng, m = np.random.default_rng(seed), len(KINDS.rows)
    J = rng.normal(size=(m, m + 2))
    ones = np.ones((m, 1))
    lane = [x.reshape(-1, 1).copy() for x in ((J @ J.T).reshape(-1), rng.normal(size=m))]
    bounds = [KINDS.lower.reshape(-1, 1).copy(), np.where(KINDS.rows == 0, KINDS.upper, KINDS.mu).reshape(-1, 1).copy()]
    return Rows(KINDS.rows.astype(np.int64), *bounds, ones, lane[1]), lane[0]


@pytest.mark.parametrize("seed", range(4))
def test_the_matrix_is_the_slope_of_the_residual(seed: int) -> None:
    rows, A = posed(seed)
    m = len(rows.kinds)
    y, T = np.random.default_rng(seed + 9).normal(size=(m, 1)), np.zeros((m * m, 1))
    x, u, f = np.zeros((3, m, 1))
    modes = Modes(*np.zeros((3, m, 1)), np.zeros(m, np.int64))

    def residual(y: np.ndarray) -> np.ndarray:
        path_residual(m, rows, A, y, np.array([TAU]), x, u, f)
        return f[:, 0].copy()

    residual(y)
    path_slopes(m, rows, y, np.array([TAU]), x, modes)
    path_matrix(m, rows, A, modes, T)
    step = 1e-6
    for k in range(m):
        d = np.zeros((m, 1))
        d[k] = step
        slope = (residual(y + d) - residual(y - d)) / (2 * step)
        np.testing.assert_allclose(T.reshape(m, m)[k], slope, atol=1e-7 * np.abs(T).max())


def test_a_solution_is_where_the_path_ends() -> None:
    """At tau = 0 the residual is zero at the y of a solution."""
    p = Problem(np.eye(3), np.array([-1.0, 0.9, 0.0]), Cones.coulomb([0.5]))
    x = solve(p)[0].reshape(-1, 1)
    u, y, found, motion, f = p.motion(x[:, 0]).reshape(-1, 1), *np.zeros((4, 3, 1))
    lower, mu, b = (array.reshape(-1, 1).copy() for array in (p.cones.lower, p.cones.mu, p.b))
    rows = Rows(p.cones.rows.astype(np.int64), lower, mu, np.ones((3, 1)), b)
    start_path(3, rows, x, u, y)
    assert path_residual(3, rows, p.A.reshape(-1, 1).copy(), y, np.zeros(1), found, motion, f) < 1e-14
    np.testing.assert_allclose(found, x, atol=1e-14)


def rod(off: float, mu: float = 0.6, points: int = 2) -> Problem:
    """A rigid rod on points along x that presses on all of them; they ask for velocities along it that differ by `off`."""
    rng, M = np.random.default_rng(1), np.diag([0.1, 0.1, 0.1, 1.0, 1.0, 1.0])
    rows = []
    for k in range(points):
        r = np.array([0.3 * k - 0.2, 0.0, 0.0])
        for n in ((0.0, 0.0, 1.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)):
            rows.append(np.r_[np.cross(r, n), n])
    G = np.array(rows)
    v = np.array([0.0, 0.0, 0.0, 0.01, 0.02, -0.5])
    b = G @ v
    b[1::3] += off * rng.normal(size=points)
    return Problem(G @ np.linalg.solve(M, G.T), b, Cones.coulomb([mu] * points))


@pytest.mark.parametrize("off", [1e-3, 1e-5, 1e-7, 1e-9])
@pytest.mark.parametrize("points", [2, 4, 7])
def test_who_slides_where_points_of_one_body_contradict_one_another(off: float, points: int) -> None:
    p = rod(off, points=points)
    x, info = solve(p)
    assert info.left < 1e-12
    assert p.residual(x) < 1e-12
    slips = np.hypot(*p.motion(x).reshape(-1, 3)[:, 1:].T)
    assert slips.max() > 0.1 * off  # they cannot all stick


def test_lanes_do_not_see_one_another() -> None:
    given = [rod(off, points=4) for off in (1e-3, 0.0, 1e-6, 1e-8)]
    together = solve_all(given)[0]
    for p, x in zip(given, together, strict=True):
        np.testing.assert_array_equal(solve(p)[0], x)
