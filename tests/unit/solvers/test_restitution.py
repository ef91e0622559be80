"""Newton's and Poisson's restitution: where they agree, where they differ, and that Poisson's gives no energy."""

from __future__ import annotations

import numpy as np
import pytest

from linkwork.solvers.problem import Cones, Problem
from linkwork.solvers.restitution import energy_change, newton_impact, poisson_impact

LAWS = (newton_impact, poisson_impact)


def tip_of_rod(angle: float, mu: float, v: tuple[float, float, float], w: float = 0.0) -> Problem:
    """The lower tip of a rod of 1 kg and 2 m in the plane x z that meets a floor; v of its middle, w about y."""
    r = -np.array([np.cos(angle), 0.0, np.sin(angle)])
    M_inv = np.diag([3e3, 3.0, 3.0, 1.0, 1.0, 1.0])
    J = np.array([np.r_[np.cross(r, d), d] for d in np.array([(0, 0, 1), (1, 0, 0), (0, 1, 0)], float)])
    return Problem(J @ M_inv @ J.T, J @ np.array([0.0, w, 0.0, *v]), Cones.coulomb([mu]))


@pytest.mark.parametrize("impact", LAWS)
@pytest.mark.parametrize("e", [0.0, 0.3, 1.0])
def test_a_ball_bounces_with_e_by_both_laws(impact: object, e: float) -> None:
    """Friction at a ball changes no normal velocity."""
    A = np.diag([0.5, 0.5 + 1.25, 0.5 + 1.25])
    p = Problem(A, np.array([-2.0, 1.0, 0.5]), Cones.coulomb([0.4]))
    u = p.motion(impact(p, e))  # type: ignore[operator]
    assert u[0] == pytest.approx(2.0 * e, abs=1e-12)


@pytest.mark.parametrize("impact", LAWS)
def test_a_rod_without_friction_bounces_alike(impact: object) -> None:
    p = tip_of_rod(0.8, 0.0, (1.0, 0.0, -1.0))
    u = p.motion(impact(p, 0.6))  # type: ignore[operator]
    assert u[0] == pytest.approx(-0.6 * p.b[0])


def test_newtons_law_can_give_energy_and_poissons_does_not() -> None:
    """A rod that slides as it falls on its tip: all leanings, coefficients and directions."""
    gains: dict[str, list[float]] = {"newton": [], "poisson": []}
    apart = 0.0
    for angle in np.linspace(0.2, 1.5, 8):
        for mu in (0.1, 0.5, 1.0):
            for slide in (-4.0, -1.0, 0.0, 1.0, 4.0):
                for e in (0.3, 0.8, 1.0):
                    p = tip_of_rod(angle, mu, (slide, 0.0, -1.0))
                    found = [impact(p, e) for impact in LAWS]
                    for name, x in zip(gains, found, strict=True):
                        gains[name].append(energy_change(p, x) / (0.5 * (slide**2 + 1.0)))
                    apart = max(apart, float(np.abs(p.motion(found[0]) - p.motion(found[1])).max()))
                    assert p.motion(found[1])[0] > -1e-12
    assert max(gains["poisson"]) < 1e-12
    assert max(gains["newton"]) > 1e-3
    assert apart > 0.1


def test_poisson_gives_back_its_part_of_the_impulse() -> None:
    p = tip_of_rod(0.9, 0.3, (0.5, 0.0, -1.0))
    still = poisson_impact(p, 0.0)
    for e in (0.25, 0.5, 1.0):
        assert poisson_impact(p, e)[0] == pytest.approx((1.0 + e) * still[0], rel=1e-9)


def test_two_points_share_an_expansion() -> None:
    """A box that falls flat on two corners leaves with e times its speed; one point that lags is held from the floor."""
    J = np.array(
        [
            [0, 0.5, 0, 0, 0, 1.0],
            [0, 0, 0, 1, 0, 0],
            [0, 0, 0, 0, 1, 0],
            [0, -0.5, 0, 0, 0, 1.0],
            [0, 0, 0, 1, 0, 0],
            [0, 0, 0, 0, 1, 0],
        ]
    )
    A = J @ np.diag([6.0, 6.0, 6.0, 1.0, 1.0, 1.0]) @ J.T
    p = Problem(A, J @ np.array([0, 0, 0, 0, 0, -1.0]), Cones.coulomb([0.5, 0.5]))
    assert p.motion(poisson_impact(p, 0.5))[[0, 3]] == pytest.approx([0.5, 0.5])
    p = Problem(A, J @ np.array([0, 0.4, 0, 0, 0, -1.0]), Cones.coulomb([0.5, 0.5]))
    assert p.motion(poisson_impact(p, np.array([0.9, 0.0])))[[0, 3]].min() > -1e-12
