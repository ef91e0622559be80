"""A four-bar linkage for two seconds: how far each way of stabilising lets the loop open, and what projection does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import linkwork as lw
from linkwork.scenes.loop import four_bar
from linkwork.view.drift import constraint_errors, write_drift_plot

# options, bounds of the residual (m): at least, at most; and of the rate (m/s), at most
CASES: dict[str, tuple[dict[str, Any], float, float, float]] = {
    "none": ({"stabilise": "none"}, 1e-4, 1e-3, 0.1),
    "velocity": ({"stabilise": "baumgarte"}, 1e-6, 1e-4, 0.1),
    "projected": ({"stabilise": "project"}, 0.0, 1e-6, 1e-12),
    "maximal": ({"method": "maximal", "stabilise": "project"}, 0.0, 1e-6, 1e-12),
    "ode45": ({"stepper": "ode45", "stabilise": "none"}, 5e-4, 0.1, 0.05),
    "ode45 projected": ({"stepper": "ode45", "rtol": 1e-8}, 0.0, 1e-6, 1e-5),
    "dop853 projected": ({"stepper": "dop853"}, 0.0, 1e-8, 1e-6),
    "acceleration": ({"stepper": "ode45", "baumgarte": (10.0, 10.0)}, 0.0, 1e-4, 2e-3),
    "rk4": ({"stepper": "rk4", "stabilise": "none"}, 1e-8, 1e-4, 1e-4),
    "rk4 projected": ({"stepper": "rk4"}, 0.0, 1e-13, 1e-13),
    "maximal rk4": ({"method": "maximal", "stepper": "rk4"}, 0.0, 1e-12, 1e-12),
    "maximal rk4 projected": ({"method": "maximal", "stepper": "rk4", "stabilise": "project"}, 0.0, 1e-12, 1e-12),
}


@pytest.mark.parametrize("case", CASES)
def test_drift(case: str) -> None:
    model, start = four_bar()
    options, least, most, rate = CASES[case]
    errors = constraint_errors(lw.simulate(model, start, 2.0, 5e-3, every=4, **options))
    assert least <= errors[0].max() < most
    assert errors[1].max() < rate


@pytest.mark.parametrize("maximal", [False, True])
def test_project(maximal: bool) -> None:
    model, start = four_bar()
    off = lw.State(start.q + np.array([0.05, -0.1, 0.08]), np.array([1.0, 0.5, -0.3]))
    state = lw.to_reduced(model, lw.project(model, lw.to_maximal(model, off))) if maximal else lw.project(model, off)
    run = lw.simulate(model, state, 1e-9, 1e-9, stepper="rk4")
    residual, rate = constraint_errors(run)
    assert residual[0] < 1e-10
    assert rate[0] < 1e-12
    assert np.abs(state.q - off.q).max() < 0.3
    again = lw.project(model, state)
    assert np.abs(again.q - state.q).max() < 1e-9
    assert np.abs(again.v - state.v).max() < 1e-9


def test_velocities_are_the_nearest_in_the_mass_metric() -> None:
    """What projection takes away is orthogonal, in the mass metric, to every motion that is allowed."""
    model, start = four_bar()
    v = np.array([1.0, 0.5, -0.3])
    allowed = lw.project(model, lw.State(start.q, v)).v
    assert abs(allowed @ lw.mass_matrix(model, start.q) @ (v - allowed)) < 1e-12


def test_maximal_projection_converges() -> None:
    """Order 1, with the error of Baumgarte's way: joints are closed by their own impulses, which keep the momentum."""
    model, start = four_bar()
    exact = lw.simulate(model, start, 0.4, 0.4, stepper="dop853", rtol=1e-11, atol=1e-12).final

    def error(stabilise: str, h: float) -> float:
        run = lw.simulate(model, lw.to_maximal(model, start), 0.4, h, method="maximal", stabilise=stabilise)
        return float(np.abs(lw.to_reduced(model, run.final).q - exact.q).max())

    errors = np.array([error("project", h) for h in (4e-3, 2e-3, 1e-3)])
    assert np.all(np.abs(np.log2(errors[:-1] / errors[1:]) - 1.0) < 0.1), errors
    assert errors[-1] < 1.1 * error("baumgarte", 1e-3)


@pytest.mark.parametrize("stepper", ["symplectic_euler", "rk4"])
def test_a_projected_batch_is_its_members(stepper: str) -> None:
    """To the bit; and bodies of a tree without constraints are put back on their joints, too."""
    model, start = four_bar()
    states = [lw.project(model, lw.State(start.q + np.array([x, 0, 0]), start.v)) for x in np.linspace(0.0, 0.3, 5)]
    tree, many = model.replace(elements=[]), lw.State(np.array([s.q for s in states]), np.array([s.v for s in states]))
    how: dict[str, Any] = {"method": "maximal", "stepper": stepper, "stabilise": "project"}
    batch = lw.simulate(model, many, 0.1, 5e-3, **how)
    for k, state in enumerate(states):
        alone = lw.simulate(model, state, 0.1, 5e-3, **how)
        np.testing.assert_array_equal(batch.arrays["poses"][k], alone.arrays["poses"])
    assert (lw.simulate(tree, many, 0.1, 5e-3, **how).health.joint_gap or 0.0) < 1e-10


def opened(armature: float) -> tuple[lw.Model, lw.MaximalState]:
    """A free base with an arm on a joint whose subspace moves, closed to a third body; bodies off their joints, in motion."""
    b = lw.ModelBuilder()
    block = lw.Inertia(1.0, (0.1, 0.05, -0.1), np.diag([0.05, 0.07, 0.09]))
    b.body("base", joint=lw.Free(), inertia=block)
    b.body("arm", parent="base", joint=lw.Universal(), placement=lw.SE3(p=(0.3, 0, 0)), inertia=block, armature=armature)
    b.body("hand", parent="arm", joint=lw.Revolute((0, 1, 0)), placement=lw.SE3(p=(0.3, 0.1, 0)), inertia=block)
    b.add(lw.Loop("hand", "base", point_a=(0.1, 0, 0.4), point_b=(0.5, 0, 0.3)))
    model = b.build()
    q = np.array([0.1, 0.2, 0.3, 1.0, 0, 0, 0, 0.2, -0.1, 0.4])
    state = lw.to_maximal(model, lw.State(q, np.zeros(model.nv)))
    rng = np.random.default_rng(2)
    poses = np.array([E @ np.asarray(lw.SE3.exp(0.02 * rng.normal(size=6)).matrix, float) for E in state.poses])
    return model, lw.MaximalState(poses, rng.normal(size=(3, 6)), state.q_fit)


@pytest.mark.parametrize("armature", [0.0, 0.3])
def test_maximal_projection_closes_joints_and_loops(armature: float) -> None:
    model, state = opened(armature)
    found = lw.project(model, state)
    reduced = lw.to_reduced(model, found)
    again = lw.to_maximal(model, reduced)
    assert np.abs(again.poses - found.poses).max() < 1e-9
    assert np.abs(again.twists - found.twists).max() < 1e-9
    assert np.abs(lw.project(model, reduced).q - reduced.q).max() < 1e-9
    assert np.abs(lw.project(model, reduced).v - reduced.v).max() < 1e-9


@pytest.mark.parametrize("armature", [0.0, 0.3])
def test_maximal_projection_is_orthogonal_to_what_is_allowed(armature: float) -> None:
    """In the metric of bodies and drives: M dphi + drives . phi = 0 for every motion phi that joints and loops allow."""
    model, state = opened(armature)
    at = lw.project(model, state)  # where everything is closed; then twists that are not
    start = lw.MaximalState(at.poses, state.twists, at.q_fit)
    change = lw.project(model, start).twists - start.twists
    dv = lw.to_reduced(model, lw.project(model, start)).v - lw.to_reduced(model, start).v
    q, rng = lw.to_reduced(model, at).q, np.random.default_rng(3)
    M = [body.inertia.matrix for body in model.bodies]
    for _ in range(5):
        v = lw.project(model, lw.State(q, rng.normal(size=model.nv))).v
        phi = lw.kinematics(model, q, v).twists
        assert abs(sum(a @ m @ b for a, m, b in zip(change, M, phi, strict=True)) + model.armature * dv @ v) < 1e-9


def test_what_cannot_be_reached() -> None:
    model, start = four_bar()
    far = model.replace(elements=[lw.Loop("rocker", "world", (0.9, 0, 0), (9.0, 0, 1))])
    with pytest.raises(lw.SolverError, match="still violated"):
        lw.project(far, start)
    with pytest.raises(lw.InputError, match="stabilise must be one of none, baumgarte, project, not 'x'"):
        lw.simulate(model, start, 0.1, 1e-2, stabilise="x")


def test_plot(tmp_path: Path) -> None:
    model, start = four_bar()
    write_drift_plot({"run": lw.simulate(model, start, 0.05, 1e-2)}, tmp_path / "drift.png")
    assert (tmp_path / "drift.png").stat().st_size > 1000
