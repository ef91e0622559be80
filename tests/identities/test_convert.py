"""Between generalized and Cartesian coordinates on random trees: round trips, residuals, batches [Liu & Jain, section 6]."""

from __future__ import annotations

import numpy as np
import pytest
from identities.trees import KINDS, compact_state, random_forest
from models import random_state, relative

import linkwork as lw
from linkwork import convert, lagrange

CLOSED = 1e-12


@pytest.fixture(scope="module", params=[2, 9], ids=str)
def case(request: pytest.FixtureRequest) -> tuple[lw.Model, lw.State]:
    model = random_forest(request.param, 6, list(KINDS))
    return model, compact_state(model, 5)


def test_states_come_back(case: tuple[lw.Model, lw.State]) -> None:
    model, state = case
    tau = np.random.default_rng(1).normal(size=model.nv)
    there = lw.to_cartesian(model, state.q, state.v, tau)
    back = lw.from_cartesian(model, there, state.q, tolerance=1e-10)
    assert np.abs(model.difference(state.q, back.q)).max() < CLOSED
    assert np.abs(back.v - state.v).max() < CLOSED
    assert np.abs(back.tau - tau).max() < CLOSED
    assert max(back.pose_residual, back.velocity_residual) < CLOSED


def test_poses_are_found_without_a_hint(case: tuple[lw.Model, lw.State]) -> None:
    """The coordinates may be others (turns, signs, branches), the poses are the same."""
    model, _ = case
    q = np.array([random_state(model, k).q for k in range(3)])
    found = lw.from_cartesian(model, lw.to_cartesian(model, q))
    assert found.pose_residual < 1e-11
    assert np.abs(lw.kinematics(model, found.q).poses - lw.kinematics(model, q).poses).max() < 1e-10


def test_cartesian_states_are_those_of_an_engine(case: tuple[lw.Model, lw.State]) -> None:
    """Centres of mass, world axes: potential and kinetic energy, and momentum, without knowing the joints."""
    model, state = case
    there = lw.to_cartesian(model, state.q, state.v)
    masses = np.array([float(b.inertia.mass) for b in model.bodies])
    tensors = np.array([b.inertia.tensor for b in model.bodies])
    I = there.rotations @ tensors @ there.rotations.swapaxes(-1, -2)
    kinetic = 0.5 * masses @ (there.linear**2).sum(-1) + 0.5 * np.einsum("ki,kij,kj->", there.angular, I, there.angular)
    bare = lw.Model(model.bodies, model.gravity)
    energy = lw.energy(bare, state)
    assert kinetic + 0.5 * state.v**2 @ model.armature == pytest.approx(float(energy.kinetic), rel=1e-12)
    assert -masses @ there.positions @ model.gravity == pytest.approx(float(energy.potential), rel=1e-10, abs=1e-10)
    assert relative(masses @ there.linear, lw.momentum(model, state.q, state.v)[3:]) < 1e-11


@pytest.mark.parametrize("route", ["pseudo_inverse", "rows", "joints"])
def test_velocities_come_back(case: tuple[lw.Model, lw.State], route: str) -> None:
    model, state = case
    linear, angular = lagrange.link_velocities(model, state.q, state.v)
    found = getattr(convert, f"velocities_by_{route}")(model, state.q, linear, angular)
    assert np.abs(found.v - state.v).max() < CLOSED
    assert found.residual < CLOSED


def test_forces_come_back(case: tuple[lw.Model, lw.State]) -> None:
    model, state = case
    rng = np.random.default_rng(2)
    tau, points = rng.normal(size=model.nv), rng.normal(size=(model.nb, 3))
    f, n = convert.cartesian_forces(model, state.q, tau)
    assert np.abs(convert.generalized_forces(model, state.q, f, n) - tau).max() < CLOSED
    f, torques = convert.forces_at_points(model, state.q, tau, points)
    back = convert.generalized_forces_of_joint_torques(model, state.q, f, torques, points)
    assert np.abs(back - tau).max() < CLOSED
    w = convert.drive_wrenches(model, state.q, tau)
    assert np.abs(lw.jacobian_transpose_product(model, state.q, w) - tau).max() < CLOSED
    accelerations = lw.tree_dynamics(model, state.q, state.v, None, w)
    assert relative(accelerations, lw.tree_dynamics(model, state.q, state.v, tau)) < 1e-9


def test_drives_push_the_whole_only_through_its_roots(case: tuple[lw.Model, lw.State]) -> None:
    model, state = case
    tau = np.random.default_rng(2).normal(size=model.nv)
    for i in np.flatnonzero(model.parents < 0):
        tau[model.v_index(model.bodies[i].name)] = 0.0
    there = lw.to_cartesian(model, state.q, state.v, tau)
    assert np.abs(there.forces.sum(axis=0)).max() < 1e-11
    assert np.abs((there.torques + np.cross(there.positions, there.forces)).sum(axis=0)).max() < 1e-11


def three_links() -> lw.Model:
    b = lw.ModelBuilder()
    rod = lw.Inertia.cuboid(1.0, (0.5, 0.1, 0.1), com=(0.25, 0, 0))
    for k, joint in enumerate((lw.Revolute((0, 1, 0)), lw.Spherical(), lw.Universal())):
        b.body(f"l{k}", parent=f"l{k - 1}" if k else "world", joint=joint, placement=lw.SE3(p=(0.5 * (k > 0), 0, 0)), inertia=rod)
    return b.build()


def test_a_link_off_its_joint_is_reported() -> None:
    """0.3 m beside its joint: the rest fits, the gap is told, and with a tolerance the link is named."""
    model = three_links()
    q = model.random_configuration(3)
    there = lw.to_cartesian(model, q)
    moved = there.positions.copy()
    moved[1] += 0.3 * there.rotations[0][:, 1]  # along the axis of the first hinge: seen by both joints of the link
    torn = lw.Cartesian(moved, there.quaternions_wxyz, there.linear, there.angular, there.forces, there.torques)
    found = lw.from_cartesian(model, torn, q)
    assert found.pose_residual == pytest.approx(0.3, abs=0.15)
    assert np.linalg.norm(found.gaps[1, 3:]) == pytest.approx(0.3, rel=1e-9)
    with pytest.raises(lw.InputError, match="the pose of link 'l1'"):
        lw.from_cartesian(model, torn, q, tolerance=1e-6)


def test_a_velocity_that_tears_is_reported() -> None:
    model = three_links()
    q, v = model.random_configuration(3), np.random.default_rng(3).normal(size=model.nv)
    there = lw.to_cartesian(model, q, v)
    torn = lw.Cartesian(
        there.positions,
        there.quaternions_wxyz,
        there.linear + np.array([[0, 0, 0], [0, 0, 0], [0.2, 0, 0]]),
        there.angular,
        there.forces,
        there.torques,
    )
    assert lw.from_cartesian(model, torn, q).velocity_residual > 0.01
    with pytest.raises(lw.InputError, match="the velocity of link 'l2'"):
        lw.from_cartesian(model, torn, q, tolerance=1e-6)
    fit = convert.velocities_by_pseudo_inverse(model, q, torn.linear, torn.angular)
    assert fit.residual > 0.01


def test_rows_that_say_too_little_are_refused() -> None:
    model = three_links()
    linear, angular = lagrange.link_velocities(model, model.neutral(), np.ones(model.nv))
    with pytest.raises(lw.InputError, match="do not determine"):
        convert.velocities_by_rows(model, model.neutral(), linear, angular, rows=range(4))


def test_batches() -> None:
    model = three_links()
    rng = np.random.default_rng(4)
    q = np.array([model.random_configuration(k) for k in range(6)])
    v, tau = rng.normal(size=(2, 6, model.nv))
    there = lw.to_cartesian(model, q, v, tau)
    back = lw.from_cartesian(model, there, q)
    assert max(np.abs(back.v - v).max(), np.abs(back.tau - tau).max(), back.pose_residual) < CLOSED
    for k in range(6):
        assert np.array_equal(lw.to_cartesian(model, q[k], v[k], tau[k]).torques, there.torques[k])
    for route in (convert.velocities_by_joints, convert.velocities_by_pseudo_inverse):
        assert np.abs(route(model, q, there.linear, there.angular).v - v).max() < CLOSED
    f, n = convert.cartesian_forces(model, q, tau)
    assert np.abs(convert.generalized_forces(model, q, f, n) - tau).max() < CLOSED
