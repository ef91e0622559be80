"""What a problem is: its cones, their projections, and its residual."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linkwork.errors import InputError
from linkwork.solvers.problem import Cones, Problem, nearest_in_cone

numbers = st.floats(-3.0, 3.0)


@given(numbers, numbers, numbers, st.floats(0.0, 2.0))
def test_the_nearest_point_of_a_cone(n: float, t1: float, t2: float, mu: float) -> None:
    y = np.array((n, t1, t2))
    x = nearest_in_cone(y, mu)
    t = np.hypot(x[1], x[2])
    assert t <= mu * x[0] + 1e-12
    assert abs(x @ (x - y)) < 1e-12  # Moreau: x and what is cut off are orthogonal,
    assert (x - y)[0] >= mu * np.hypot(*(x - y)[1:]) - 1e-12  # and the latter lies in the dual cone


def test_rows_of_all_kinds() -> None:
    cones = Cones.equal(2) + Cones.push(1) + Cones.bounded([-1.0], [2.0]) + Cones.coulomb([0.5, 0.2], 0.1)
    assert cones.rows.tolist() == [0, 0, 0, 0, 1, 2, 3, -3, 1, 2, 3, -3]
    assert cones.normals.tolist() == [4, 8]
    x = cones.project(np.array((7.0, -7.0, -1.0, 3.0, 2.0, 0.1, 0.1, 9.0, -1.0, 0.0, 0.0, 1.0)))
    assert np.allclose(x, (7.0, -7.0, 0.0, 2.0, 2.0, 0.1, 0.1, 0.2, 0.0, 0.0, 0.0, 0.0))


@pytest.mark.parametrize(
    ("rows", "mu", "match"),
    [((1, 2, 0), 0.0, "tangents"), ((0, 2, 3), 0.0, "tangents"), ((-1, 0, 0), 0.0, "above"), ((0, 0, 0), -1.0, "friction")],
)
def test_rows_that_make_no_sense(rows: tuple[int, ...], mu: float, match: str) -> None:
    with pytest.raises(InputError, match=match):
        Cones(np.array(rows), np.zeros(3), np.ones(3), np.array((0.0, mu, 0.0)))


def test_bounds_and_sizes_are_checked() -> None:
    with pytest.raises(InputError, match="bound"):
        Cones.bounded([1.0], [0.0])
    with pytest.raises(InputError, match="friction"):
        Cones.coulomb([np.nan])
    with pytest.raises(InputError, match="need A"):
        Problem(np.eye(2), np.zeros(3), Cones.equal(3))


def test_the_residual_has_the_units_of_u() -> None:
    """A push that is missing shows with the speed it should have stopped, whatever the mass."""
    for mass in (1e-3, 1.0, 1e3):
        p = Problem(np.eye(3) / mass, np.array((-0.3, 0.0, 0.0)), Cones.coulomb([0.5]))
        assert p.residual(np.zeros(3)) == pytest.approx(0.3)
        assert p.residual(np.array((0.3 * mass, 0.0, 0.0))) == pytest.approx(0.0, abs=1e-15)


def test_scaling_keeps_solutions() -> None:
    rng = np.random.default_rng(1)
    L = rng.normal(size=(8, 8))
    p = Problem(L @ L.T, rng.normal(size=8), Cones.coulomb([0.4, 0.7], 0.3))
    unit = np.repeat((2.0, 3.0, 5.0, 7.0), (3, 1, 3, 1))
    x = p.cones.project(rng.normal(size=8))
    assert np.allclose(p.scaled(unit).motion(x / unit), unit * p.motion(x))
    assert np.allclose(p.scaled(unit).cones.project(x / unit), x / unit)
