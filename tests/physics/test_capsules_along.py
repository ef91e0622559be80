"""Capsules that lie along each other bear a load at both ends of where they do; those that cross have one point."""

from __future__ import annotations

import numpy as np

import linkwork as lw
from linkwork.bench.step_problems import pose
from linkwork.contact.round_pairs import PARALLEL

RADIUS, LENGTH = 0.05, 0.6


def on_a_rail(friction: float = 0.0) -> lw.Model:
    """A capsule that may fall and tilt, and turn, over a fixed one; both along x. Its mass is beside its middle."""
    small, rod = lw.Inertia(0.1, tensor=1e-3 * np.eye(3)), lw.Inertia(1.0, (0.1, 0.0, 0.0), 0.02 * np.eye(3))
    shape = lw.Capsule(RADIUS, LENGTH, lw.SE3.rot_y(np.pi / 2))
    b = lw.ModelBuilder()
    b.body("slide", joint=lw.Prismatic((0, 0, 1)), inertia=small)
    b.body("turn", parent="slide", joint=lw.Revolute((0, 0, 1)), inertia=small)
    b.body("rod", parent="turn", joint=lw.Revolute((0, 1, 0)), inertia=rod)
    return b.build().add(lw.Contact("rod", shape, shape_b=shape, friction=friction))


def test_a_capsule_along_another_does_not_tilt() -> None:
    model = on_a_rail()
    run = lw.simulate(model, lw.State(q=np.array([2 * RADIUS + 1e-3, 0.0, 0.0]), v=np.zeros(3)), 0.5, 1e-3)
    assert np.abs(run.q[:, 2]).max() < 1e-6
    assert abs(run.q[-1, 0] - 2 * RADIUS) < 1e-5


def test_neighbours_that_cross_change_nothing() -> None:
    """Lanes in which the further points are on beside others in which they are not, and none of the first."""
    model = on_a_rail()
    q = np.array([[2 * RADIUS + 1e-4, turn, tilt] for turn in (0.0, 0.5, 1.5) for tilt in (0.0, 0.02, -0.1)])
    q[-1, 0] = 1.0
    together = lw.simulate(model, lw.State(q=q, v=np.zeros(q.shape)), 0.1, 1e-3, every=10)
    for k in range(len(q)):
        alone = lw.simulate(model, lw.State(q=q[k], v=np.zeros(3)), 0.1, 1e-3, every=10)
        assert np.array_equal(together.q[k], alone.q)
        assert np.array_equal(together.v[k], alone.v)
    assert np.abs(together.q[0, -1, 2]) < 1e-6  # along: it lies
    assert np.abs(together.q[3, -1, 2]) > 1e-3  # across: it tilts


def test_points_that_are_gone_where_capsules_meet_have_no_rows() -> None:
    """They lie along each other, and do no more when they meet in the step: what asks nothing of the motion must not be there, as
    residuals are judged by the largest of what is asked."""
    model, h = on_a_rail(0.5), 5e-3
    q = np.array([2 * RADIUS + 2e-3, np.arcsin(np.sqrt(PARALLEL)) - 2e-3, 0.0])
    problem = pose(model, q, np.array([-1.0, 3.0, 0.0]), h)
    assert problem is not None
    assert np.abs(problem.b).max() < 10.0
