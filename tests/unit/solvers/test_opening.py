"""Which contacts a motion can open."""

from __future__ import annotations

import numpy as np

from linkwork.solvers.opening import opens, opens_against_friction
from linkwork.solvers.problem import Cones, Problem


def walls(lean: float, mu: float) -> Problem:
    """A point between two walls that lean outward."""
    c, s = np.cos(lean), np.sin(lean)
    J = np.array([[c, 0, s], [-s, 0, c], [0, 1, 0], [-c, 0, s], [s, 0, c], [0, 1, 0]], float)
    return Problem(J @ J.T, np.zeros(6), Cones.coulomb([mu, mu]))


def test_walls_that_lean_outward_open_upward() -> None:
    assert opens(walls(0.3, 0.5))
    assert not opens(walls(0.0, 0.5))


def test_a_wedge_jams_within_the_angle_of_friction() -> None:
    assert opens_against_friction(walls(0.3, 0.9 * np.tan(0.3)))
    assert not opens_against_friction(walls(0.3, 1.1 * np.tan(0.3)))


def test_equalities_keep_contacts_shut() -> None:
    J = np.eye(3)[[0, 0, 1, 2]]
    assert not opens(Problem(J @ J.T, np.zeros(4), Cones.equal(1) + Cones.coulomb([0.5])))
    assert opens(Problem(np.eye(4), np.zeros(4), Cones.equal(1) + Cones.coulomb([0.5])))
