"""One linearly implicit step by four routes: a dense system of all unknowns, dense by itself, the O(n) recursion, and conjugate
gradients, with loops, couplings, stops, contacts and prescribed joints."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import linkwork as lw
from linkwork.redmax.operator import ImplicitOperator
from linkwork.redmax.system import dynamics
from linkwork.solvers.conjugate_gradients import conjugate_gradients

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


def case(seed: int, distant: bool, constrained: bool) -> tuple[Any, np.ndarray, np.ndarray]:
    """The dynamics at a random state, and the targets of its rows."""
    bare = tree(seed).build()
    rng = np.random.default_rng([seed, 1])
    q, v = bare.random_configuration(seed), rng.normal(size=bare.nv)
    more = elements(bare, q, distant)
    kept = more if constrained else [e for e in more if isinstance(e, lw.SpringDamper | lw.Bushing)]
    model = bare.replace(elements=(*bare.elements, *kept))
    now = dynamics(model, lw.State(q, v), rng.normal(size=model.nv), rng.normal(size=(model.nb, 6)), STEP)
    return now, now.constraints.given - 10.0 * now.constraints.residual, v


@pytest.mark.parametrize("constrained", [False, True])
@pytest.mark.parametrize("distant", [False, True])
@pytest.mark.parametrize("seed", [0, 3, 6])
def test_all_routes_make_the_same_step(seed: int, distant: bool, constrained: bool) -> None:
    now, target, _ = case(seed, distant, constrained)
    expected, impulses = now.implicit_velocities(STEP, now.constraints, target, "dense")
    scale = 1.0 + np.abs(expected).max()
    for route in ("auto", "pcg", *(() if distant else ("recursive",))):
        v, y = now.implicit_velocities(STEP, now.constraints, target, route)
        assert np.abs(v - expected).max() < TOLERANCE * scale, route
        assert np.abs(y - impulses).max(initial=0.0) < TOLERANCE * (1.0 + np.abs(impulses).max(initial=0.0)), route


@pytest.mark.parametrize("distant", [False, True])
def test_constraints_hold_after_the_step(distant: bool) -> None:
    now, target, _ = case(3, distant, True)
    c = now.constraints
    v, y = now.implicit_velocities(STEP, c, target, "pcg")
    moved = now.dense(c.rows) @ v - target
    assert np.abs(moved[~c.unilateral]).max() < 1e-9
    assert moved[c.unilateral].min() > -1e-9
    assert y[c.unilateral].min() >= 0.0
    assert np.abs(moved * y)[c.unilateral].max() < 1e-7


@pytest.mark.parametrize("seed", range(3))
def test_the_operator_is_its_matrix(seed: int) -> None:
    now, _, _ = case(seed, True, False)
    A = ImplicitOperator(now, STEP, "dense")
    x = np.random.default_rng(seed).normal(size=(4, now.model.nv))
    np.testing.assert_allclose(A.apply(x), x @ A.matrix.T, atol=1e-10 * np.abs(A.matrix).max())
    K, D = now.stiffness_and_damping
    np.testing.assert_allclose(A.matrix, now.M + STEP * D - STEP**2 * K, atol=1e-11 * np.abs(A.matrix).max())


def test_the_preconditioner_pays() -> None:
    """Conjugate gradients with and without Alg. 10, on a chain with stiff joints and a spring from end to end."""
    b = lw.ModelBuilder()
    for i in range(40):
        rod = lw.Inertia.cuboid(mass=1.0, size=(0.1, 0.02, 0.02), com=(0.05, 0, 0))
        place = lw.SE3(p=(0.1 if i else 0.0, 0, 0))
        b.body(f"b{i}", parent=f"b{i - 1}" if i else "world", joint=lw.Revolute((0, 1, 0)), placement=place, inertia=rod)
        b.add(lw.JointSpring(f"b{i}", 10.0 ** (i % 5)))
    b.add(lw.SpringDamper("b39", "b0", stiffness=1000.0, rest_length=2.0))
    model = b.build()
    now = dynamics(model, lw.State(np.full(40, 0.05), np.zeros(40)))
    A = ImplicitOperator(now, STEP, "pcg")
    b_side = A.right_side()
    plain = conjugate_gradients(A.apply, b_side, None, 1e-10)[1]
    helped = conjugate_gradients(A.apply, b_side, A.recursion, 1e-10)[1]
    print(f"products with A: {plain} without Alg. 10, {helped} with it")
    assert helped <= 6
    assert plain > 4 * helped


def test_equalities_that_contradict_one_another_are_named() -> None:
    """In this tree the loop, the coupling and the prescribed joint ask for more than the bodies' freedoms allow."""
    now, target, _ = case(2, False, True)
    with pytest.raises(lw.SolverError, match=r"no forces satisfy the 8 constraints: the equalities of rows .* contradict"):
        now.implicit_velocities(STEP, now.constraints, target, "pcg")


def test_routes_that_cannot_be_taken_are_refused() -> None:
    now, target, _ = case(0, True, False)
    with pytest.raises(lw.InputError, match="the recursive route needs stiffness and damping on single joints or bodies"):
        now.implicit_velocities(STEP, now.constraints, target, "recursive")
    with pytest.raises(lw.InputError, match="there is no route 'direct'"):
        now.implicit_velocities(STEP, now.constraints, target, "direct")
    with pytest.raises(lw.InputError, match="linearly_implicit: there is no route 'direct'"):
        lw.simulate(now.model, now.state, 0.1, 0.1, "redmax", route="direct")


@pytest.mark.parametrize("route", ["auto", "dense", "pcg"])
def test_simulations_by_all_routes(route: str) -> None:
    now, _, v = case(1, True, False)
    start = lw.State(now.state.q, v)
    runs = [lw.simulate(now.model, start, 0.05, 0.01, "redmax", route=r) for r in ("dense", route)]
    np.testing.assert_allclose(runs[1].q, runs[0].q, atol=1e-9)


def test_conjugate_gradients_say_what_is_wrong() -> None:
    with pytest.raises(lw.SolverError, match="not positive definite"):
        conjugate_gradients(lambda x: -x, np.ones(3))
    skew = np.array([[1.0, 5.0], [-5.0, 1.0]])
    with pytest.raises(lw.SolverError, match="did not converge in 7 products"):
        conjugate_gradients(lambda x: skew @ x, np.ones(2), None, 1e-12, 7)
    assert conjugate_gradients(lambda x: 2 * x, np.zeros(3))[1] == 0
