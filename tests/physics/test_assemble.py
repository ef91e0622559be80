"""Closed states from open ones: loops, limits, motions in time, batches, and what cannot be closed."""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw
from linkwork.constraints.rows import constraint_set
from linkwork.scenes.loop import four_bar

LINK = lw.Inertia.cuboid(mass=1.0, size=(0.5, 0.05, 0.05), com=(0.25, 0, 0))


def errors(model: lw.Model, state: lw.State) -> tuple[np.ndarray, np.ndarray]:
    """Residuals and rates of all rows."""
    k = lw.kinematics(model, state.q, state.v)
    rows = constraint_set(model).look(k.poses, k.twists, state.q, state.v, state.t)
    return rows.residual, rows.rate


def arm(*elements: object, links: int = 3) -> lw.Model:
    """Links of half a metre on hinges, from the origin along x."""
    b = lw.ModelBuilder()
    for i in range(links):
        parent, place = (f"l{i - 1}", lw.SE3(p=(0.5, 0, 0))) if i else ("world", lw.SE3())
        b.body(f"l{i}", parent=parent, joint=lw.Revolute((0, 1, 0)), placement=place, inertia=LINK)
    for element in elements:
        b.add(element)
    return b.build()


def test_a_loop_far_from_closed() -> None:
    model = arm(lw.Loop("l2", "world", (0.5, 0, 0), (0.6, 0, -0.5)))
    found = lw.assemble(model, lw.State([0.1, 0.1, 0.1], [1.0, -2.0, 0.5], 0.3))
    residual, rate = errors(model, found)
    assert np.abs(residual).max() < 1e-10
    assert np.abs(rate).max() < 1e-12
    assert found.t == 0.3


def test_velocities_are_the_nearest() -> None:
    """What is taken away is orthogonal, in the metric of the mass, to what is allowed."""
    model, start = four_bar()
    v = np.array([1.0, 0.5, -0.3])
    found = lw.assemble(model, lw.State(start.q, v))
    assert np.abs(found.q - start.q).max() < 1e-9
    assert abs(found.v @ lw.mass_matrix(model, found.q) @ (v - found.v)) < 1e-12


def test_limits_are_not_violated() -> None:
    """The end must reach a point; the first joint must not pass its stop on the way."""
    limit = lw.Limit("l0", -0.1, 3.0)
    model = arm(lw.Loop("l2", "world", (0.5, 0, 0), (0.6, 0, 0.5)), limit)
    q, v = np.array([-0.4, 0.3, 0.5]), np.array([-1.0, 0.0, 0.0])
    free = lw.assemble(arm(lw.Loop("l2", "world", (0.5, 0, 0), (0.6, 0, 0.5))), lw.State(q, v))
    assert free.q[0] < -0.1
    found = lw.assemble(model, lw.State(q, v))
    residual, _ = errors(model, found)
    equal = ~constraint_set(model).unilateral
    assert np.abs(residual[equal]).max() < 1e-10
    assert residual[~equal].min() > -1e-10
    still = arm(limit)
    held = lw.assemble(still, lw.State([-0.1, 0.0, 0.0], v))
    assert held.v[0] == pytest.approx(0.0, abs=1e-12)  # it does not go on into the stop


def test_a_batch_is_its_states() -> None:
    model, start = four_bar()
    rng = np.random.default_rng(0)
    q, v = start.q + 0.2 * rng.normal(size=(11, 3)), rng.normal(size=(11, 3))
    found = lw.assemble(model, lw.State(q, v))
    for k in range(11):
        one = lw.assemble(model, lw.State(q[k], v[k]))
        assert np.abs(found.q[k] - one.q).max() < 1e-12
        assert np.abs(found.v[k] - one.v).max() < 1e-11


def test_constraints_stand_at_the_time_of_the_state() -> None:
    model = arm(lw.PrescribedJoint("l0", lambda t: (0.2 + 2.0 * t, 2.0, 0.0)), links=2)
    found = lw.assemble(model, lw.State(np.zeros(2), np.zeros(2), 0.5))
    assert found.q[0] == pytest.approx(1.2, abs=1e-12)
    assert found.v[0] == pytest.approx(2.0, abs=1e-12)


def test_maximal_states() -> None:
    model, start = four_bar()
    found = lw.assemble(model, lw.to_maximal(model, lw.State(start.q + 0.05, np.ones(3))))
    residual, rate = errors(model, lw.to_reduced(model, found))
    assert np.abs(residual).max() < 1e-10
    assert np.abs(rate).max() < 1e-10


def test_what_cannot_close_is_named() -> None:
    out_of_reach = arm(lw.Loop("l2", "world", (0.5, 0, 0), (1.7, 0, 0)))
    with pytest.raises(lw.SolverError, match=r"Loop\('l2', 'world'\) is still violated by 0\.2"):
        lw.assemble(out_of_reach, lw.State([0.1, 0.2, -0.1], np.zeros(3)))
    two = arm(lw.Coupling("l1", "l0", 2.0), lw.Coupling("l1", "l0", 2.0, 0.3))
    with pytest.raises(lw.SolverError, match=r"ratio=2, offset=0(\.3)?\) is still violated by 0\.15,.*with"):
        lw.assemble(two, lw.State(np.zeros(3), np.zeros(3)))
    fast = arm(lw.PrescribedJoint("l0", lambda t: (t, 1.0, 0.0)), lw.PrescribedJoint("l0", lambda t: (2.0 * t, 2.0, 0.0)))
    with pytest.raises(lw.SolverError, match=r"no velocity satisfies PrescribedJoint\('l0'\).*rate of 0\.5 stays"):
        lw.assemble(fast, lw.State(np.zeros(3), np.zeros(3)))


def test_projection_inside_a_step_is_projection_after_it() -> None:
    """One program does what a step and lw.project did one after the other; forces are those of the step."""
    model, start = four_bar()
    run = lw.simulate(model, start, 0.2, 1e-2, stabilise="project")
    plain = lw.simulate(model, start, 1e-2, 1e-2, stabilise="none")
    after = lw.assemble(model, plain.final, weights="mass")
    assert np.abs(run.q[1] - after.q).max() < 1e-7  # one Gauss-Newton step, and as many as it takes
    assert run.forces is not None
    assert plain.forces is not None
    assert np.abs(run.forces[1] - plain.forces[1]).max() < 1e-9
    assert run.health.constraint_residual is not None
    assert run.health.constraint_residual < 1e-6


@pytest.mark.parametrize("method", ["reduced", "maximal"])
def test_open_loops_are_refused_at_the_start(method: str) -> None:
    model, start = four_bar()
    opened = lw.State(start.q + np.array([0.0, 0.0, 1e-3]), start.v)
    with pytest.raises(lw.InputError, match=r"Loop\('rocker', 'world'\) is open at the start.* 0\.00084\. .*lw\.assemble"):
        lw.simulate(model, opened, 0.01, 1e-3, method)
    with pytest.raises(lw.InputError, match="open at the start"):
        lw.Simulator(model, opened, method=method)
    pulled = lw.simulate(model, opened, 0.1, 1e-3, method, open_loops="allow")
    assert np.abs(errors(model, lw.State(pulled.q[-1], pulled.v[-1]))[0]).max() < 1e-5
    lw.simulate(model, lw.assemble(model, opened), 0.01, 1e-3, method)
    with pytest.raises(lw.InputError, match="open_loops must be one of refuse, allow, not 'maybe'"):
        lw.simulate(model, start, 0.01, 1e-3, method, open_loops="maybe")


def test_one_open_state_of_a_batch() -> None:
    model, start = four_bar()
    q = np.array([start.q, start.q + np.array([0.0, 0.0, 1e-3])])
    with pytest.raises(lw.InputError, match="open at the start of state 1"):
        lw.simulate(model, lw.State(q, np.zeros((2, 3))), 0.01, 1e-3)
