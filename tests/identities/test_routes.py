"""One linearly implicit step by four routes: a dense system written out, and the program's dense matrix, O(n) recursion, and
conjugate gradients, with loops, couplings, stops, contacts and prescribed joints."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from dense_steps import linearly_implicit

import linkwork as lw
from linkwork.redmax import laws
from linkwork.redmax.system import dynamics
from linkwork.solvers.conjugate_gradients import conjugate_gradients
from linkwork.steppers import ALL_STEPPERS
from linkwork.steppers.stepping import Stepping

STEP = 0.01
TOLERANCE = 1e-9
JOINTS = (lw.Free(), lw.Revolute((0, 1, 0)), lw.Spherical(), lw.Universal(), lw.Revolute((0, 0, 1)), lw.Prismatic((1, 0, 0)))


def tree(seed: int, n: int = 9) -> lw.ModelBuilder:
    """Bodies "b0", ... with springs and dampers on single joints and bodies."""
    rng = np.random.default_rng(seed)
    b = lw.ModelBuilder(gravity=rng.normal(size=3) * 5)
    for i in range(n):
        block = lw.Inertia(rng.uniform(0.5, 2.0), rng.uniform(-0.2, 0.2, 3), np.diag(rng.uniform(0.3, 0.5, 3)))
        place = lw.SE3.exp(rng.normal(size=6) * 0.4)
        parent = f"b{rng.integers(i)}" if i else "world"
        joint = JOINTS[i % len(JOINTS)] if i else lw.Revolute((1, 0, 0))
        b.body(f"b{i}", parent=parent, joint=joint, placement=place, inertia=block, damping=0.1, armature=0.05)
    b.add(lw.BodyDamping("b2", 3.0))
    b.add(lw.JointSpring("b1", 200.0, damping=2.0))
    b.add(lw.JointSpring("b4", 500.0))
    b.add(lw.PointSpring("b3", "world", (0.1, 0, 0), (0.3, 0.2, 0.1), stiffness=20.0))
    return b


def elements(model: lw.Model, q: np.ndarray, distant: bool) -> list[Any]:
    """A loop, a coupling, stops of which one is touched, a contact, a prescribed joint; and perhaps a spring across the tree."""
    poses = lw.kinematics(model, q).poses
    tip = poses[8] @ np.array([0.1, 0, 0, 1])
    touching = float(q[model.q_index("b4")][0])
    lowest = poses[6][:3, 3]
    center = poses[6][:3, :3].T @ (np.array([0.0, 0.0, 0.1]) + np.array([lowest[0], lowest[1], 0]) - lowest)
    found: list[Any] = [
        lw.Loop("b8", "world", (0.1, 0, 0), tip[:3] + 1e-3),
        lw.Coupling("b1", "b5", 0.7, 0.1),
        lw.Limit("b4", touching + 1e-3, touching + 1.0),
        lw.Contact("b6", lw.Sphere(0.1, center)),
        lw.PrescribedJoint("b0", lambda t: (0.3 * t, 0.3, 0.0)),
    ]
    if distant:
        spring = lw.SpringDamper("b7", "b3", (0.1, 0, 0), (0, 0.1, 0), stiffness=300.0, rest_length=0.5, damping=5.0)
        found += [spring, lw.Bushing("b8", "b2", stiffness=40.0, damping=1.0)]
    return found


RATE = 10.0


def case(seed: int, distant: bool, constrained: bool) -> tuple[lw.Model, lw.State, dict[str, Any]]:
    """A model at a random state, and what acts on it."""
    bare = tree(seed).build()
    rng = np.random.default_rng([seed, 1])
    q, v = bare.random_configuration(seed), rng.normal(size=bare.nv)
    more = elements(bare, q, distant)
    kept = more if constrained else [e for e in more if isinstance(e, lw.SpringDamper | lw.Bushing)]
    model = bare.replace(elements=(*bare.elements, *kept))
    return model, lw.State(q, v), {"tau": rng.normal(size=model.nv), "external": rng.normal(size=(model.nb, 6))}


def step(model: lw.Model, state: lw.State, given: dict[str, Any], route: str) -> lw.Trajectory:
    return lw.simulate(model, state, STEP, STEP, "redmax", baumgarte=RATE, route=route, open_loops="allow", **given)


@pytest.mark.parametrize("constrained", [False, True])
@pytest.mark.parametrize("distant", [False, True])
@pytest.mark.parametrize("seed", [0, 3, 6])
def test_all_routes_make_the_same_step(seed: int, distant: bool, constrained: bool) -> None:
    model, state, given = case(seed, distant, constrained)
    end, forces = linearly_implicit(model, state, STEP, given["tau"], given["external"], RATE)
    scale = 1.0 + np.abs(end.v).max()
    for route in ("auto", "dense", "pcg", *(() if distant else ("recursive",))):
        run = step(model, state, given, route)
        assert np.abs(run.v[1] - end.v).max() < TOLERANCE * scale, route
        found = np.zeros(0) if run.forces is None else run.forces[1]
        assert np.abs(found - forces).max(initial=0.0) < TOLERANCE * (1.0 + np.abs(forces).max(initial=0.0)), route


@pytest.mark.parametrize("distant", [False, True])
def test_constraints_hold_after_the_step(distant: bool) -> None:
    model, state, given = case(3, distant, True)
    run = step(model, state, given, "pcg")
    now = dynamics(model, state, t=STEP)
    c = now.constraints
    touched = ~c.unilateral | (c.residual <= 0.0)
    assert run.forces is not None
    moved, y = (now.dense(c.rows) @ run.v[1] - c.given + RATE * c.residual)[touched], run.forces[1][touched]
    pushes = c.unilateral[touched]
    assert np.abs(moved[~pushes]).max() < 1e-9
    assert moved[pushes].min() > -1e-9
    assert y[pushes].min() >= 0.0
    assert np.abs(moved * y)[pushes].max() < 1e-7


def long_chain(links: int) -> lw.Model:
    """Stiff joints, and a spring from end to end."""
    b = lw.ModelBuilder()
    for i in range(links):
        rod = lw.Inertia.cuboid(mass=1.0, size=(0.1, 0.02, 0.02), com=(0.05, 0, 0))
        place = lw.SE3(p=(0.1 if i else 0.0, 0, 0))
        b.body(f"b{i}", parent=f"b{i - 1}" if i else "world", joint=lw.Revolute((0, 1, 0)), placement=place, inertia=rod)
        b.add(lw.JointSpring(f"b{i}", 10.0 ** (i % 5)))
    return b.add(lw.SpringDamper(f"b{links - 1}", "b0", stiffness=1000.0, rest_length=2.0)).build()


def test_few_products_are_needed() -> None:
    """Conjugate gradients preconditioned by Alg. 10: what the recursion takes is exact, one spring is a few directions more."""
    model = long_chain(40)
    program = ALL_STEPPERS["linearly_implicit"](route="pcg").program("redmax", model)  # type: ignore[call-arg]
    run = Stepping(model, program, program.entered(model, {"q": np.full((1, 40), 0.05), "v": np.zeros((1, 40))}, 0.0), STEP)
    run.step(np.zeros(40))
    assert 1 <= run.reports["products"][0, 0] <= 8


@pytest.mark.parametrize("stepper", ["linearly_implicit", "rosenbrock", "bdf1", "bdf2", "sdirk2"])
def test_large_systems_with_distant_forces_run_by_conjugate_gradients(stepper: str, monkeypatch: Any) -> None:
    """They are what the dense matrix gives."""
    model = long_chain(30).add(lw.Coupling("b20", "b3", 1.0))
    state = lw.State(np.full(30, 0.05), np.full(30, 0.1))
    dense = lw.simulate(model, state, 3e-3, 1e-3, stepper=stepper)
    monkeypatch.setattr(laws, "LARGE", 10)
    large = model.replace(elements=model.elements)
    assert laws.stiff_laws(large).softness.way == laws.GRADIENTS
    found = lw.simulate(large, state, 3e-3, 1e-3, stepper=stepper)
    np.testing.assert_allclose(found.q, dense.q, atol=1e-10)
    np.testing.assert_allclose(found.v, dense.v, atol=1e-8 * (1.0 + np.abs(dense.v).max()))
    assert found.forces is not None
    assert dense.forces is not None
    np.testing.assert_allclose(found.forces[1:], dense.forces[1:], atol=1e-7 * (1.0 + np.abs(dense.forces).max()))
    states = lw.State(np.array([state.q, 1.1 * state.q, state.q]), state.v)
    together = lw.simulate(large, states, 3e-3, 1e-3, stepper=stepper, open_loops="allow")
    assert np.array_equal(together.q[0], found.q)
    assert np.array_equal(together.q[2], found.q)


def test_routes_that_cannot_be_taken_are_refused() -> None:
    model, state, given = case(0, True, False)
    with pytest.raises(lw.InputError, match="the recursive route needs stiffness of joints, bodies, neighbours"):
        step(model, state, given, "recursive")
    with pytest.raises(lw.InputError, match="linearly_implicit: there is no route 'direct'"):
        step(model, state, given, "direct")


def test_conjugate_gradients_say_what_is_wrong() -> None:
    with pytest.raises(lw.SolverError, match="not positive definite"):
        conjugate_gradients(lambda x: -x, np.ones(3))
    skew = np.array([[1.0, 5.0], [-5.0, 1.0]])
    with pytest.raises(lw.SolverError, match="did not converge in 7 products"):
        conjugate_gradients(lambda x: skew @ x, np.ones(2), None, 1e-12, 7)
    assert conjugate_gradients(lambda x: 2 * x, np.zeros(3))[1] == 0
