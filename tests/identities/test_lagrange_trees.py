"""Quantities of the Lagrangian side on random trees with every joint: two routes to each, batches to the bit, Pinocchio."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from identities.dense import bodies_at
from identities.trees import KINDS, compact_state, random_forest
from models import relative

import linkwork as lw
from linkwork import lagrange
from linkwork.kernel import eager
from linkwork.lagrange import centre_of_mass, centroidal, coriolis, frame_programs, spaces
from linkwork.lagrange.links import LINK_COLUMNS
from linkwork.lagrange.regressor import REGRESSOR, regressor_tree

TIGHT = 1e-11
SEEDS = (1, 4)


@pytest.fixture(scope="module", params=SEEDS, ids=str)
def case(request: pytest.FixtureRequest) -> tuple[lw.Model, lw.State]:
    model = random_forest(request.param, 5, list(KINDS))
    return model, compact_state(model, 5)


def rate(model: lw.Model, q: np.ndarray, v: np.ndarray, f: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """The derivative of a function of q along v; the path is that of `integrate`, straight to second order only."""
    h = 1e-4
    near, far = ((f(model.integrate(q, s * v)) - f(model.integrate(q, -s * v))) / (2.0 * s) for s in (h, 2.0 * h))
    return (4.0 * near - far) / 3.0


def columns(model: lw.Model, q: np.ndarray, body: int, point: np.ndarray) -> np.ndarray:
    """(6, nv): what unit velocities do to a point of a body, from `dense`."""
    out = []
    for e in np.eye(model.nv):
        b = bodies_at(model, q, e)
        out.append(np.r_[b.w[body], b.u[body] + np.cross(b.w[body], b.R[body] @ point)])
    return np.stack(out, axis=1)


@pytest.mark.parametrize("axes", frame_programs.AXES)
def test_frame_jacobians(case: tuple[lw.Model, lw.State], axes: str) -> None:
    model, state = case
    q, v = state.q, state.v
    a = np.random.default_rng(1).normal(size=model.nv)
    name, point = model.bodies[-1].name, np.array([0.3, -0.2, 0.5])
    aligned = columns(model, q, model.nb - 1, point)
    b = bodies_at(model, q, v)
    R, p = b.R[-1], b.x[-1] + b.R[-1] @ point
    expected = {
        "aligned": aligned,
        "body": np.vstack([R.T @ aligned[:3], R.T @ aligned[3:]]),
        "world": np.vstack([aligned[:3], aligned[3:] - np.cross(aligned[:3], p[:, None], axis=0)]),
    }[axes]
    J = lw.frame_jacobian(model, q, name, axes, point)
    assert np.abs(J - expected).max() < TIGHT
    J_dot = lw.frame_jacobian_dot(model, q, v, name, axes, point)
    assert np.abs(J_dot - rate(model, q, v, lambda x: lw.frame_jacobian(model, x, name, axes, point))).max() < 1e-9
    assert np.abs(lw.frame_velocity(model, q, v, name, axes, point) - J @ v).max() < TIGHT
    assert np.abs(lw.frame_acceleration(model, q, v, a, name, axes, point) - (J @ a + J_dot @ v)).max() < TIGHT
    assert np.abs(lw.frame_acceleration(model, q, v, None, name, axes, point) - J_dot @ v).max() < TIGHT
    f = np.arange(1.0, 7.0)
    assert np.abs(lw.frame_forces(model, q, f, name, axes, point) - J.T @ f).max() < TIGHT


def test_the_body_jacobian_is_that_of_the_other_function(case: tuple[lw.Model, lw.State]) -> None:
    model, state = case
    for body in model.bodies:
        found = lw.frame_jacobian(model, state.q, body.name, "body")
        assert np.abs(found - lw.jacobian(model, state.q, body.name)).max() < TIGHT


def test_centre_of_mass_and_momentum(case: tuple[lw.Model, lw.State]) -> None:
    model, state = case
    q, v = state.q, state.v
    J, A = lw.com_jacobian(model, q), lw.centroidal_momentum_matrix(model, q)
    mass = sum(float(b.inertia.mass) for b in model.bodies)
    assert np.abs(J @ v - rate(model, q, v, lambda x: lw.center_of_mass(model, x))).max() < 1e-9
    assert np.abs(lw.com_jacobian_dot(model, q, v) - rate(model, q, v, lambda x: lw.com_jacobian(model, x))).max() < 1e-9
    assert relative(A[3:], mass * J) < TIGHT
    b, total = bodies_at(model, q, v), np.zeros(3)
    for k, body in enumerate(model.bodies):
        arm, I = b.R[k] @ body.inertia.com, b.R[k] @ body.inertia.tensor @ b.R[k].T
        u = b.u[k] + np.cross(b.w[k], arm)
        total += I @ b.w[k] + float(body.inertia.mass) * np.cross(b.x[k] + arm - lw.center_of_mass(model, q), u)
    assert relative((A @ v)[:3], total) < TIGHT
    A_dot = lw.centroidal_momentum_matrix_dot(model, q, v)
    assert np.abs(A_dot - rate(model, q, v, lambda x: lw.centroidal_momentum_matrix(model, x))).max() < 1e-8


def test_momentum_changes_by_weight_alone() -> None:
    """A a + A_dot v of a floating tree is its weight."""
    model = random_forest(3, 6, ["revolute", "spherical", "universal"], roots=()).replace(gravity=(1.0, 2.0, -9.0))
    b = lw.ModelBuilder(gravity=model.gravity)
    b.body("base", joint=lw.Free(), inertia=model.bodies[0].inertia)
    for body in model.bodies:
        parent = "base" if body.parent < 0 else model.bodies[body.parent].name
        b.body(body.name, parent=parent, joint=body.joint, placement=body.placement, inertia=body.inertia)
    floating = b.build()
    q, v = floating.random_configuration(2), np.random.default_rng(2).normal(size=floating.nv)
    a = lw.tree_dynamics(floating, q, v)
    found = lw.centroidal_momentum_matrix(floating, q) @ a + lw.centroidal_momentum_matrix_dot(floating, q, v) @ v
    mass = sum(float(body.inertia.mass) for body in floating.bodies)
    assert np.abs(found - np.r_[0, 0, 0, mass * floating.gravity]).max() < 1e-10


def test_coriolis(case: tuple[lw.Model, lw.State]) -> None:
    model, state = case
    q, v = state.q, state.v
    C = lw.coriolis_forces(model, q, v)
    assert relative(C + lw.gravity_forces(model, q) + model.damping * v, lw.bias_forces(model, q, v)) < TIGHT
    assert np.abs(lagrange.coriolis_forces_from_mass_matrix(model, q, v) - C).max() < TIGHT
    M_dot = lagrange.mass_matrix_derivatives(model, q) @ v
    assert np.abs(M_dot - rate(model, q, v, lambda x: lw.mass_matrix(model, x))).max() < 1e-8
    for matrix in (lw.coriolis_matrix(model, q, v), lagrange.coriolis_matrix_by_links(model, q, v)):
        assert np.abs(matrix @ v - C).max() < TIGHT
        assert np.abs(M_dot - matrix - matrix.T).max() < TIGHT
    a = np.random.default_rng(4).normal(size=model.nv)
    assert np.abs(lagrange.lagrange_forces(model, q, v, a) - lw.mass_matrix(model, q) @ a - C).max() < TIGHT
    assert relative(lagrange.mass_matrix_by_links(model, q), lw.mass_matrix(model, q)) < TIGHT


def test_regressor(case: tuple[lw.Model, lw.State]) -> None:
    model, state = case
    a = np.random.default_rng(4).normal(size=model.nv)
    found = lw.regressor(model, state.q, state.v, a) @ lw.inertial_parameters(model)
    expected = lw.tree_inverse_dynamics(model, state.q, state.v, a) - model.damping * state.v - model.armature * a
    assert np.abs(found - expected).max() < TIGHT
    blocks = np.zeros((model.nv, model.nb, 10))
    blocks[lagrange.regressor_pairs(model)] = lagrange.regressor_blocks(model, state.q, state.v, a)
    assert np.array_equal(blocks.reshape(model.nv, -1), lw.regressor(model, state.q, state.v, a))


def test_link_dynamics(case: tuple[lw.Model, lw.State]) -> None:
    """Translations, charts, floating roots, forces from outside."""
    model, state = case
    rng = np.random.default_rng(4)
    a, external = rng.normal(size=model.nv), rng.normal(size=(model.nb, 6))
    found = lw.link_dynamics(model, state.q, state.v, a, external)
    assert relative(found.Q, lw.tree_inverse_dynamics(model, state.q, state.v, a, external)) < TIGHT
    assert relative(np.hstack([found.torque, found.force]), lw.joint_wrenches(model, state.q, state.v, a, external)) < TIGHT


def test_global_form(case: tuple[lw.Model, lw.State]) -> None:
    model, state = case
    g = lw.global_form(model, state.q, state.v)
    bare = lw.mass_matrix(model, state.q) - np.diag(model.armature)
    assert relative(g.M, bare) < TIGHT
    assert relative(g.C @ state.v, lw.coriolis_forces(model, state.q, state.v)) < TIGHT
    assert relative(g.phi, lw.gravity_forces(model, state.q)) < TIGHT
    assert np.abs(g.M_inverse @ bare - np.eye(model.nv)).max() < 1e-9
    assert relative(g.Gamma @ g.G, g.G - np.eye(6 * model.nb)) < TIGHT


def test_far_from_the_origin_nothing_is_lost() -> None:
    """A floating robot a thousand kilometres away has the Coriolis matrix that it has here, to ten digits."""
    b = lw.ModelBuilder()
    rod = lw.Inertia.cuboid(1.0, (0.5, 0.1, 0.1), com=(0.25, 0, 0))
    b.body("base", joint=lw.Free(), inertia=rod)
    b.body("arm", parent="base", joint=lw.Revolute((0, 1, 0)), placement=lw.SE3(p=(0.5, 0, 0)), inertia=rod)
    model = b.build()
    q, v = model.random_configuration(1), np.random.default_rng(1).normal(size=7)
    there = q + np.r_[1e6, -1e6, 1e6, np.zeros(5)]
    functions: list[Callable[[np.ndarray], np.ndarray]] = [
        lambda x: lw.coriolis_matrix(model, x, v),
        lambda x: lw.centroidal_momentum_matrix_dot(model, x, v),
        lambda x: lw.com_jacobian_dot(model, x, v),
        lambda x: lw.frame_jacobian_dot(model, x, v, "arm"),
        lambda x: lagrange.link_jacobians_dot(model, x, v).stacked,
    ]
    for f in functions:
        assert relative(f(there), f(q)) < 1e-8


# --- batches, and the rules as they stand -------------------------------------------------------------------------------------
BATCHED: list[Callable[..., np.ndarray]] = [
    lambda m, q, v, a: lw.frame_jacobian(m, q, m.bodies[-1].name, "aligned"),
    lambda m, q, v, a: lw.frame_jacobian(m, q, m.bodies[-1].name, "body", (0.1, 0.2, 0.3)),
    lambda m, q, v, a: lw.frame_jacobian_dot(m, q, v, m.bodies[-1].name, "world"),
    lambda m, q, v, a: lw.frame_velocity(m, q, v, m.bodies[-1].name),
    lambda m, q, v, a: lw.frame_acceleration(m, q, v, a, m.bodies[-1].name, "body"),
    lambda m, q, v, a: lw.com_jacobian(m, q),
    lambda m, q, v, a: lw.com_jacobian_dot(m, q, v),
    lambda m, q, v, a: lw.centroidal_momentum_matrix(m, q),
    lambda m, q, v, a: lw.centroidal_momentum_matrix_dot(m, q, v),
    lambda m, q, v, a: lw.coriolis_matrix(m, q, v),
    lambda m, q, v, a: lw.coriolis_forces(m, q, v),
    lambda m, q, v, a: lw.regressor(m, q, v, a),
    lambda m, q, v, a: lagrange.regressor_blocks(m, q, v, a),
    lambda m, q, v, a: lw.link_dynamics(m, q, v, a).torque,
]


@pytest.mark.parametrize("f", BATCHED, ids=map(str, range(len(BATCHED))))
def test_batches_are_single_runs_to_the_bit(f: Callable[..., np.ndarray]) -> None:
    model = random_forest(4, 6, list(KINDS))
    rng = np.random.default_rng(3)
    q = np.array([model.random_configuration(k) for k in range(5)])
    v, a = rng.normal(size=(2, 5, model.nv))
    found = f(model, q, v, a)
    for k in range(5):
        assert np.array_equal(found[k], f(model, q[k], v[k], a[k]))


def programs(model: lw.Model) -> dict[str, tuple[Any, Any, str]]:
    """Algorithms with the trees that they run on, and a result."""
    body, world = model.nb - 1, spaces.world_tree(model)
    way = spaces.path_tree(model, body)
    return {
        "frame": (frame_programs.JACOBIAN["aligned"], way, "J"),
        "frame dot": (frame_programs.JACOBIAN_DOT["body"], way, "J_dot"),
        "frame motion": (frame_programs.MOTION["world"], way, "acceleration"),
        "frame forces": (frame_programs.FORCES["aligned"], way, "tau"),
        "centre": (centre_of_mass.CENTRE_JACOBIAN, world, "J"),
        "centre dot": (centre_of_mass.CENTRE_JACOBIAN_DOT, world, "J_dot"),
        "centroidal": (centroidal.CENTROIDAL_MATRIX, world, "A"),
        "centroidal dot": (centroidal.CENTROIDAL_MATRIX_DOT, world, "A_dot"),
        "coriolis": (coriolis.CORIOLIS_MATRIX, coriolis.coriolis_tree(model), "C"),
        "regressor": (REGRESSOR, regressor_tree(model), "Y"),
        "links": (LINK_COLUMNS, world, "C_dot"),
    }


@pytest.mark.parametrize("name", programs(random_forest(1, 2, ["revolute"])))
def test_compiled_rules_are_the_rules(name: str) -> None:
    model = random_forest(4, 6, list(KINDS))
    state, rng = compact_state(model, 2), np.random.default_rng(1)
    algorithm, tree, result = programs(model)[name]
    tip = np.concatenate([np.eye(3).reshape(-1), [0.1, 0.2, 0.3]])
    known = {
        "q": state.q,
        "v": state.v,
        "a": rng.normal(size=model.nv),
        "gravity": model.gravity,
        "tip": tip,
        "wrench": rng.normal(size=6),
        "inverse_mass": np.array([0.1]),
        "com": rng.normal(size=(model.nb, 3)),
    }
    inputs = {n: known[n] for n, f in algorithm.fields.items() if f.kind == "input"}
    plans = spaces.plans_of(model, name, lambda: tree)
    shapes = {"C": (model.nv, model.nv), "Y": (model.nv, 10 * model.nb), "velocity": (6,), "acceleration": (6,)}
    if name == "links":
        shapes = {}
    call = spaces.interface(model, algorithm, plans, shapes).function(tuple(inputs), (result,), ())
    expected = eager.run(algorithm, tree, {n: np.reshape(x, -1) for n, x in inputs.items()})[result]
    assert relative(call(*inputs.values())[0].reshape(-1), expected) < 1e-12


def test_threads_do_not_share_memory() -> None:
    """The shortest way of a call belongs to its thread: many at once give what one gives."""
    model = random_forest(1, 4, ["revolute", "spherical"])
    q = [model.random_configuration(k) for k in range(4)]
    functions: list[Callable[[np.ndarray], np.ndarray]] = [
        lambda x: lw.frame_jacobian(model, x, "b3"),
        lambda x: lw.com_jacobian(model, x),
        lambda x: lw.centroidal_momentum_matrix(model, x),
    ]
    for f in functions:
        expected = [f(x) for x in q]
        with ThreadPoolExecutor(4) as pool:
            found = list(pool.map(lambda k, f=f: [f(q[k % 4]) for _ in range(50)], range(16)))
        assert all(np.array_equal(y, expected[k % 4]) for k, many in enumerate(found) for y in many)
        assert f(q[0]) is not f(q[0])  # results belong to the caller


def test_bad_arguments_are_named() -> None:
    model = random_forest(1, 3, ["revolute"])
    with pytest.raises(lw.InputError, match="axes must be one of"):
        lw.frame_jacobian(model, model.neutral(), "b0", "sideways")
    with pytest.raises(lw.InputError, match="three coordinates"):
        lw.point_jacobian(model, model.neutral(), "b0", (1.0, 2.0))
    with pytest.raises(lw.InputError, match="no body or joint"):
        lw.frame_jacobian(model, model.neutral(), "nobody")
    with pytest.raises(lw.InputError, match="one state"):
        lw.global_form(model, np.zeros((2, model.nq)), np.zeros((2, model.nv)))


def test_a_frame_of_the_world_does_not_move() -> None:
    b = lw.ModelBuilder()
    b.body("a", joint=lw.Revolute((0, 0, 1)), inertia=lw.Inertia.sphere(1.0, 0.1))
    b.frame("post", body="world", placement=lw.SE3(p=(1, 0, 0)))
    model = b.build()
    assert not lw.frame_jacobian(model, np.zeros((4, 1)), "post").any()
    assert lw.frame_jacobian(model, np.zeros((4, 1)), "post").shape == (4, 6, 1)
    assert lw.frame_velocity(model, np.zeros(1), np.ones(1), "post").shape == (6,)
