"""The variational steppers as programs: every law at their order, eagerly, in batches; rows that push and rows that rub."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from models import ALL_KINDS, random_forces, random_state, random_tree

import linkwork as lw
from linkwork.elements.collection import collection
from linkwork.kernel import eager
from linkwork.steppers import ALL_STEPPERS
from linkwork.steppers.variational import told_tree

STEPPERS = ("variational", "variational4")
TIGHT: dict[str, Any] = {"stepper": "dop853", "rtol": 1e-12, "atol": 1e-13}
BLOCK = lw.Inertia(1.0, (0.2, 0.05, -0.1), np.diag([0.3, 0.4, 0.5]))
HEAVY = lw.Inertia(2.0, (0, 0, 0), 0.1 * np.eye(3))
MOTION: dict[str, Any] = {"traced": lambda t: (np.sin(3 * t), 3 * np.cos(3 * t), -9 * np.sin(3 * t))}
MOTION["asked"] = lambda t: tuple(float(x) for x in MOTION["traced"](float(t)))  # no symbol has a float
PATH = [("world", (-0.05, 0, 0.05)), ("a", (0.2, 0, 0.05)), ("b", (0.1, 0, 0.05))]
LAWS: dict[str, Any] = {
    "bare": (),
    "springs": (
        lw.JointSpring("c", 20.0, damping=0.3),
        lw.SpringDamper("d", "world", (0.1, 0, 0), (0.5, 0, 0.3), stiffness=20.0, rest_length=0.2, damping=0.1),
    ),
    "muscle": (lw.Muscle(PATH, max_force=20.0, optimal_length=0.2, tendon_length=0.2, activation=0.4),),
    "coupling": (lw.Coupling("c", "d", 0.5, 0.1),),
    "loop": (lw.constraint(["b", "d"], lambda E, l: lw.math.norm(E[0].p - E[1].p) - l, parameters={"l": 0.7}),),
    "traced motion": (lw.PrescribedJoint("c", MOTION["traced"]),),
    "asked motion": (lw.PrescribedJoint("c", MOTION["asked"]),),
    "skate": (lw.constraint("d", rate=lambda E, phi: phi[0][4] + 0.3 * phi[0][2]), lw.JointSpring("b", 5.0)),
    "limit": (lw.Limit("c", -0.5, 0.35), lw.Coupling("d", "b", 0.4, 0.1)),
    "contact": (lw.Contact("d", lw.Sphere(0.1), shape_b=lw.Plane((0, 0, 0), (0, 0, 1))), lw.JointSpring("b", 5.0)),
    "friction": (lw.DryFriction("c", 0.4), lw.DryFriction("b", 0.2)),
}
PUSHES = ("limit", "contact", "friction")


@cache
def case(name: str) -> tuple[lw.Model, lw.State]:
    """A ball joint with two arms: hinges and a slide; under the muscle, whose curves have pieces, two hinges."""
    b = lw.ModelBuilder()
    if name == "muscle":
        rod = lw.Inertia.cuboid(mass=1.0, size=(0.4, 0.06, 0.05), com=(0.2, 0.01, 0.0))
        b.body("a", joint=lw.Revolute((0, 1, 0)), inertia=rod)
        b.body("b", parent="a", joint=lw.Revolute((0, 1, 0)), placement=lw.SE3(p=(0.4, 0, 0)), inertia=rod)
        return b.add(*LAWS[name]).build(), lw.State([0.4, 0.6], [0.0, 0.0])
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
    k = lw.kinematics(run.model, run.final.q, run.final.v)
    return np.concatenate([k.poses.ravel(), k.twists.ravel()])


@pytest.mark.parametrize("stepper", STEPPERS)
@pytest.mark.parametrize("laws", [name for name in LAWS if name not in PUSHES])
def test_order_under_every_law(laws: str, stepper: str) -> None:
    model, state = case(laws)
    truth = parts(lw.simulate(model, state, 0.3, 0.3, **TIGHT))
    runs = [lw.simulate(model, state, 0.3, 0.3 / n, stepper=stepper) for n in (60, 120)]
    errors = [np.linalg.norm(parts(run) - truth) for run in runs]
    assert errors[1] < (1e-3 if stepper == "variational" else 3e-6)
    assert abs(np.log2(errors[0] / errors[1]) - ALL_STEPPERS[stepper].order) < 0.1, errors
    residual = runs[1].health.constraint_residual
    assert residual is None or residual < 1e-13


@pytest.mark.parametrize("stepper", STEPPERS)
@pytest.mark.parametrize("seed", range(4))
def test_order_on_random_trees(seed: int, stepper: str) -> None:
    """Joints of many kinds, with drives and damping, under forces of all kinds."""
    kinds = tuple(kind for kind in ALL_KINDS if "exp" not in kind)
    model = random_tree(seed, 8, kinds)
    last = model.bodies[-1].name
    model = model.replace(
        elements=[lw.SpringDamper(last, stiffness=3.0, rest_length=0.1, damping=0.1), lw.BodyDamping(last, 0.3)]
    )
    state, (tau, external) = random_state(model, seed), random_forces(model, seed)
    state, given = lw.State(state.q, 0.3 * state.v), {"tau": 0.1 * tau, "external": 0.1 * external, "limit_model": "off"}
    truth = lw.simulate(model, state, 0.02, 0.02, **TIGHT, **given).final.q
    ends = [lw.simulate(model, state, 0.02, 0.02 / n, stepper=stepper, **given).final.q for n in (4, 8)]
    coarse, fine = (np.abs(model.difference(truth, q)).max() for q in ends)
    assert np.log2(coarse / fine) == pytest.approx(ALL_STEPPERS[stepper].order, abs=0.1)


@pytest.mark.parametrize("stepper", STEPPERS)
def test_what_slips_keeps_the_order(stepper: str) -> None:
    """The friction of both joints slips all the time: two steady forces."""
    model, state = case("friction")
    steady, tau = model.replace(elements=()), np.array([0.0, 0, 0, -0.2, -0.4, 0.0])
    truth = lw.simulate(steady, state, 0.3, 0.3, tau=tau, **TIGHT)
    assert (lw.simulate(steady, state, 0.3, 0.01, tau=tau, **TIGHT).v[:, 3:5] > 0.1).all()
    runs = [lw.simulate(model, state, 0.3, 0.3 / n, stepper=stepper) for n in (60, 120)]
    errors = [np.linalg.norm(parts(run) - parts(truth)) for run in runs]
    assert abs(np.log2(errors[0] / errors[1]) - ALL_STEPPERS[stepper].order) < 0.1, errors
    np.testing.assert_allclose(runs[0].forces, np.tile([-0.4, -0.2], (61, 1)), rtol=1e-12)


@pytest.mark.parametrize("stepper", STEPPERS)
@pytest.mark.parametrize("laws", ["limit", "contact"])
def test_pushes(laws: str, stepper: str) -> None:
    """Where a method of order 1 goes, better with smaller steps; rows only push, depths are of order 2."""
    model, state = case(laws)
    truth = parts(lw.simulate(model, state, 0.3, 0.3 / 24000, every=24000))
    runs = [lw.simulate(model, state, 0.3, 0.3 / n, stepper=stepper) for n in (100, 400)]
    errors = [np.linalg.norm(parts(run) - truth) for run in runs]
    assert errors[1] < 8e-3
    assert errors[1] < 0.5 * errors[0], errors
    for run, depth in zip(runs, (4e-4, 2.5e-5), strict=True):
        assert (run.health.limits if laws == "limit" else run.health.penetration) < depth
        pushing = run.forces if laws == "contact" else run.forces[:, :2]
        assert pushing.min() >= 0.0
        assert pushing.max() > 1.0


@pytest.mark.parametrize("stepper", STEPPERS)
@pytest.mark.parametrize("laws", LAWS)
def test_the_program_run_eagerly(laws: str, stepper: str) -> None:
    (model, state), h = case(laws), 0.01
    program, forces = ALL_STEPPERS[stepper]().program("reduced", model), np.linspace(-0.5, 0.5, model.nv)
    given = {"q": state.q.reshape(1, -1), "v": state.v.reshape(1, -1)}
    inputs = program.entered(model, given, 0.0) | program.given(model, h) | {"tau": forces}
    c = collection(model)
    if c.told_count:
        inputs["told"] = np.concatenate([c.told_at(x * h) for x in program.times])
    found = eager.run(program.algorithm, told_tree(model, len(ALL_STEPPERS[stepper].parts)), inputs)
    run = lw.simulate(model, state, h, h, stepper=stepper, tau=forces)
    for name in ("q", "v"):
        np.testing.assert_allclose(found[name], run.arrays[name][-1].ravel(), rtol=1e-11, atol=1e-12)
    assert found["t"] == pytest.approx(h)


@pytest.mark.parametrize("stepper", STEPPERS)
@pytest.mark.parametrize("laws", LAWS)
def test_a_batch_is_its_runs(laws: str, stepper: str) -> None:
    model, state = case(laws)
    v = state.v + np.linspace(0, 0.3, 11)[:, None] * (1.0 if "motion" not in laws else 0.0)
    batch = lw.simulate(model, lw.State(state.q, v), 0.1, 0.005, stepper=stepper, threads=2)
    for k in (0, 7):
        alone = lw.simulate(model, lw.State(state.q, v[k]), 0.1, 0.005, stepper=stepper)
        for name, a in alone.arrays.items():
            np.testing.assert_array_equal(batch.arrays[name][k], a)
        np.testing.assert_array_equal(batch.forces[k], alone.forces) if alone.forces is not None else None


@pytest.mark.parametrize("stepper", STEPPERS)
def test_a_ball_falls_and_stays(stepper: str) -> None:
    b = lw.ModelBuilder().body("ball", joint=lw.Free(), inertia=HEAVY)
    model = b.add(lw.Contact("ball", lw.Sphere(0.1))).build()
    start = lw.State(model.integrate(model.neutral(), [0, 0, 0, 0, 0, 0.5]), np.array([0, 0, 0, 1.0, 0, 0]))
    for h in (4e-3, 2e-3):
        run = lw.simulate(model, start, 1.0, h, stepper=stepper)
        gap, t = run.q[:, 2] - 0.1, run.t
        flight = t < np.sqrt(0.8 / 9.81) - 2 * h
        np.testing.assert_allclose(gap[flight], 0.4 - 9.81 / 2 * t[flight] ** 2, atol=1e-12)  # nothing acts before
        assert gap.min() > -2.5 * 9.81 * h * h
        assert run.forces[-1] == pytest.approx([2 * 9.81])
        assert run.q[-1, 0] == pytest.approx(1.0)
    rest = lw.State(model.integrate(model.neutral(), [0, 0, 0, 0, 0, 0.1]), np.zeros(6))
    still = lw.simulate(model, rest, 1.0, 1e-2, stepper=stepper)
    assert np.abs(still.q - rest.q).max() < 1e-15
    np.testing.assert_allclose(still.forces, 2 * 9.81, rtol=1e-12)


@pytest.mark.parametrize("stepper", STEPPERS)
@pytest.mark.parametrize(("tau", "way"), [(0.0, 1.0), (0.5, 2.0), (1.5, 10.5)])
def test_dry_friction_slips_and_sticks(stepper: str, tau: float, way: float) -> None:
    b = lw.ModelBuilder(gravity=(0, 0, 0)).body("a", joint=lw.Prismatic((1, 0, 0)), inertia=HEAVY)
    model = b.add(lw.DryFriction("a", 1.0)).build()
    run = lw.simulate(model, lw.State([0.0], [1.0]), 6.0, 1e-2, stepper=stepper, tau=[tau])
    assert run.final.q[0] == pytest.approx(way, abs=1e-4)
    assert run.final.v[0] == pytest.approx(2.5 if tau > 1 else 0.0, abs=1e-9)
    assert run.forces[-1] == pytest.approx(-min(tau, 1.0), abs=1e-9)
    stopped = np.flatnonzero(np.abs(run.v[:, 0]) < 1e-12)
    assert len(stopped) == 0 or np.ptp(run.q[stopped[0] + 1 :]) < 1e-12  # it does not creep


@pytest.mark.parametrize("stepper", STEPPERS)
def test_forces_of_rows_are_means_over_a_step(stepper: str) -> None:
    model, state = case("coupling")
    truth = lw.simulate(model, state, 0.1, 0.001, **TIGHT).forces
    mean = (truth[0] + truth[-1] + 4 * truth[1:-1:2].sum(0) + 2 * truth[2:-1:2].sum(0)) / 300  # Simpson's rule
    run = lw.simulate(model, state, 0.1, 0.02, stepper=stepper)
    np.testing.assert_allclose(run.forces[1:].mean(axis=0), mean, rtol=5e-3)


@pytest.mark.parametrize("stepper", STEPPERS)
def test_a_lane_that_is_lost_says_so(stepper: str) -> None:
    """One of several runs has no step that Newton's method finds."""
    model, state = case("springs")
    v = np.tile(state.v, (3, 1))
    v[1] *= 300.0
    with pytest.raises(lw.SolverError, match=r"did not converge: .* take a smaller dt"):
        lw.simulate(model, lw.State(state.q, v), 0.1, 0.05, stepper=stepper)
