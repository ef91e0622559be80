"""Explicit Runge-Kutta methods as programs: every law, both formulations, against tight solutions, eagerly, and in batches."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

import linkwork as lw
from linkwork.elements.collection import collection
from linkwork.kernel import eager
from linkwork.steppers.rk4 import RungeKutta4
from linkwork.steppers.runge_kutta import staged_tree
from linkwork.steppers.tableau import KUTTA, Tableau

TIGHT = {"stepper": "dop853", "rtol": 1e-12, "atol": 1e-13}
METHODS = ("reduced", "maximal")
BLOCK = lw.Inertia(1.0, (0.2, 0.05, -0.1), np.diag([0.3, 0.4, 0.5]))
HEAVY = lw.Inertia(2.0, (0, 0, 0), 0.1 * np.eye(3))
MOTION = {"traced": lambda t: (np.sin(3 * t), 3 * np.cos(3 * t), -9 * np.sin(3 * t))}
MOTION["asked"] = lambda t: tuple(float(x) for x in MOTION["traced"](float(t)))  # no symbol has a float
LAWS: dict[str, Any] = {
    "bare": (),
    "springs": (
        lw.JointSpring("c", 20.0, damping=0.3),
        lw.SpringDamper("d", "world", (0.1, 0, 0), (0.5, 0, 0.3), stiffness=20.0, rest_length=0.2, damping=0.1),
    ),
    "coupling": (lw.Coupling("c", "d", 0.5, 0.1),),
    "traced motion": (lw.PrescribedJoint("c", MOTION["traced"]),),
    "asked motion": (lw.PrescribedJoint("c", MOTION["asked"]),),
    "limit": (lw.Limit("c", -0.5, 0.35), lw.Coupling("d", "b", 0.4, 0.1)),
    "contact": (lw.Contact("d", lw.Sphere(0.1), shape_b=lw.Plane((0, 0, -0.35), (0, 0, 1))), lw.JointSpring("b", 5.0)),
    "friction": (lw.DryFriction("c", 0.4), lw.DryFriction("b", 0.2)),
}
PUSHES = ("limit", "contact", "friction")


@cache
def case(name: str) -> tuple[lw.Model, lw.State]:
    """A ball joint with two arms: hinges and a slide."""
    b = lw.ModelBuilder()
    b.body("a", joint=lw.Spherical(), inertia=BLOCK)
    b.body("b", parent="a", joint=lw.Revolute((0, 1, 0)), placement=lw.SE3(p=(0.4, 0, 0)), inertia=BLOCK)
    b.body("c", parent="a", joint=lw.Revolute((0, 0, 1)), placement=lw.SE3(p=(0, 0.4, 0)), inertia=BLOCK)
    b.body("d", parent="c", joint=lw.Prismatic((0.6, 0, 0.8)), placement=lw.SE3(p=(0.4, 0, 0)), inertia=BLOCK)
    for law in LAWS[name]:
        b.add(law)
    model = b.build()
    q, v = model.integrate(model.neutral(), np.linspace(-0.3, 0.3, 6)), np.linspace(-1.0, 1.5, 6)
    if "motion" in name:
        q[5], v[4] = 0.0, 3.0
    state = lw.State(q, v)
    return model, state if name in ("contact", "friction") else lw.project(model, state)


def parts(run: lw.Trajectory) -> np.ndarray:
    """All entries of poses and twists at the end."""
    k = run.final if run.kind == "maximal" else lw.kinematics(run.model, run.final.q, run.final.v)
    return np.concatenate([k.poses.ravel(), k.twists.ravel()])


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("laws", [name for name in LAWS if name not in PUSHES])
def test_order_under_every_law(laws: str, method: str) -> None:
    model, state = case(laws)
    truth, errors = parts(lw.simulate(model, state, 0.3, 0.3, **TIGHT)), []
    for n in (15, 30):
        errors.append(np.linalg.norm(parts(lw.simulate(model, state, 0.3, 0.3 / n, method, stepper="rk4")) - truth))
    assert errors[1] < 1e-5
    assert abs(np.log2(errors[0] / errors[1]) - 4) < 0.25, errors


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("laws", LAWS)
def test_the_program_run_eagerly(laws: str, method: str) -> None:
    model, state = case(laws)
    start, h = lw.to_maximal(model, state) if method == "maximal" else state, 0.01
    stepper = RungeKutta4()
    program, forces = stepper.program(method, model), np.linspace(-0.5, 0.5, model.nv)
    names = ("q", "v") if method == "reduced" else ("poses", "twists", "q_fit")
    given = {name: np.reshape(getattr(start, name), (1, -1)) for name in names}
    inputs = program.entered(model, given, 0.0) | program.given(model, h) | {"tau": forces}
    c = collection(model)
    if c.told_count:
        inputs["told"] = np.concatenate([c.told_at(x * h) for x in program.times])
    found = eager.run(program.algorithm, staged_tree(model, method, KUTTA.stages), inputs)
    run = lw.simulate(model, state, h, h, method, stepper="rk4", tau=forces)
    for name in names:
        np.testing.assert_allclose(found[name], run.arrays[name][-1].ravel(), rtol=1e-9, atol=1e-11)
    assert found["t"] == pytest.approx(h)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("laws", LAWS)
def test_a_batch_is_its_runs(laws: str, method: str) -> None:
    model, state = case(laws)
    v = state.v + np.linspace(0, 0.3, 11)[:, None] * (1.0 if "motion" not in laws else 0.0)
    batch = lw.simulate(model, lw.State(state.q, v), 0.1, 0.005, method, stepper="rk4", threads=2)
    for k in (0, 7):
        alone = lw.simulate(model, lw.State(state.q, v[k]), 0.1, 0.005, method, stepper="rk4")
        for name, a in alone.arrays.items():
            np.testing.assert_array_equal(batch.arrays[name][k], a)


@pytest.mark.parametrize("method", METHODS)
def test_a_ball_falls_and_stays(method: str) -> None:
    b = lw.ModelBuilder().body("ball", joint=lw.Free(), inertia=HEAVY)
    model = b.add(lw.Contact("ball", lw.Sphere(0.1))).build()
    start = lw.State(model.integrate(model.neutral(), [0, 0, 0, 0, 0, 0.5]), np.array([0, 0, 0, 1.0, 0, 0]))
    for h in (4e-3, 2e-3):
        run = lw.simulate(model, start, 1.0, h, method, stepper="rk4")
        poses = run.poses if run.kind == "maximal" else lw.kinematics(model, run.q).poses
        gap, t = poses[:, 0, 2, 3] - 0.1, run.t
        flight = t < np.sqrt(0.8 / 9.81) - 2 * h
        np.testing.assert_allclose(gap[flight], 0.4 - 9.81 / 2 * t[flight] ** 2, atol=1e-12)  # nothing acts before
        assert gap.min() == pytest.approx(-5 / 3 * 9.81 * h * h)  # where it rests: a fifth of the depth is removed by a step
        assert run.forces[-1] == pytest.approx([2 * 9.81])
        assert poses[-1, 0, 0, 3] == pytest.approx(1.0)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("tau", "way"), [(0.0, 1.0), (0.5, 2.0), (1.5, 10.5)])
def test_dry_friction_slips_and_sticks(method: str, tau: float, way: float) -> None:
    b = lw.ModelBuilder(gravity=(0, 0, 0)).body("a", joint=lw.Prismatic((1, 0, 0)), inertia=HEAVY)
    model = b.add(lw.DryFriction("a", 1.0)).build()
    run = lw.simulate(model, lw.State([0.0], [1.0]), 6.0, 1e-2, method, stepper="rk4", tau=[tau])
    end = lw.to_reduced(model, run.final) if method == "maximal" else run.final
    assert end.q[0] == pytest.approx(way, abs=1e-4)
    assert end.v[0] == pytest.approx(2.5 if tau > 1 else 0.0, abs=1e-9)


def test_impulses_of_rows_are_the_weighted_forces_of_the_stages() -> None:
    model, state = case("coupling")
    truth = lw.simulate(model, state, 0.1, 0.001, stepper="dop853", rtol=1e-12, atol=1e-13).forces
    mean = (truth[0] + truth[-1] + 4 * truth[1:-1:2].sum(0) + 2 * truth[2:-1:2].sum(0)) / 300  # Simpson's rule
    run = lw.simulate(model, state, 0.1, 0.1, stepper="rk4")
    np.testing.assert_allclose(run.forces[-1], mean, rtol=2e-3)


def test_tableaux_are_consistent() -> None:
    midpoint = Tableau(((), (0.5,)), (0.0, 1.0), 2)
    assert midpoint.stages == 2
    np.testing.assert_array_equal(midpoint.matrix, [[0, 0], [0.5, 0], [0, 1]])
    for tableau in (midpoint, KUTTA):
        b, c = np.array(tableau.weights), tableau.nodes[:-1]
        for k in range(1, tableau.order + 1):
            assert b @ c ** (k - 1) == pytest.approx(1 / k)


def test_project_puts_states_back_in_both_formulations() -> None:
    model, state = case("coupling")
    for method in METHODS:
        run = lw.simulate(model, state, 0.2, 0.01, method, stepper="rk4", stabilise="project")
        assert run.health.constraint_residual < 1e-12
        free = lw.simulate(model, state, 0.2, 0.01, method, stepper="rk4")
        np.testing.assert_allclose(parts(run), parts(free), atol=1e-5)


def test_a_projected_batch_is_its_runs() -> None:
    model, state = case("coupling")
    states, options = lw.State(np.array([state.q] * 3), state.v), {"stepper": "rk4", "stabilise": "project"}
    tau = np.linspace(-1.0, 1.0, 3 * model.nv).reshape(3, -1)
    batch = lw.simulate(model, states, 0.2, 0.01, tau=tau, **options)
    for k in range(3):
        alone = lw.simulate(model, state, 0.2, 0.01, tau=tau[k], **options)
        np.testing.assert_array_equal(batch.arrays["q"][k], alone.q)
        np.testing.assert_array_equal(batch.forces[k], alone.forces)
