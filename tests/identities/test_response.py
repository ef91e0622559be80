"""The response of both formulations: apply is M^-1, on joints and on bodies, for one force or many."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from identities.dense import bodies_at, body_jacobian
from models import random_forces, random_state, random_tree, relative

import linkwork as lw

TOLERANCE = 1e-10
CASES = [(seed, 1 + seed % 12) for seed in range(200, 224)]
EVERY_TREE = pytest.mark.parametrize(("seed", "n"), CASES)
EVERY_FORMULATION = pytest.mark.parametrize("formulation", ["reduced", "maximal"])
DT = 1e-2


class Case:
    """A random tree in motion with forces on it, its mass matrix and the Jacobian of its body twists."""

    def __init__(self, seed: int, n: int) -> None:
        self.model = m = random_tree(seed, n)
        self.state = random_state(m, seed)
        self.q, self.v = self.state.q, self.state.v
        self.tau, self.external = random_forces(m, seed)
        zero, one = np.zeros(m.nv), np.eye(m.nv)
        self.M = (lw.inverse_dynamics(m, self.q, zero, one) - lw.inverse_dynamics(m, self.q, zero, zero)).T
        b = bodies_at(m, self.q, zero)
        world = body_jacobian(m, self.q).reshape(n, 2, 3, m.nv)
        self.J = np.einsum("nji,nkjv->nkiv", b.R, world).reshape(n, 6, m.nv)  # body twists = J v

    def response(self, formulation: str, dt: float | None = None) -> lw.Response:
        if formulation == "reduced":
            return lw.factor(self.model, self.q, self.v, self.tau, self.external, dt)
        return lw.factor(self.model, lw.to_maximal(self.model, self.state), tau=self.tau, external=self.external, dt=dt)


@cache
def case(seed: int, n: int) -> Case:
    return Case(seed, n)


def forces(c: Case, *lead: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(len(lead))
    return rng.normal(size=(*lead, c.model.nb, 6)), rng.normal(size=(*lead, c.model.nv))


@EVERY_TREE
def test_the_mass_matrix_is_symmetric_and_makes_the_kinetic_energy(seed: int, n: int) -> None:
    c = case(seed, n)
    assert relative(c.M, c.M.T) < 1e-12
    assert np.linalg.eigvalsh(c.M).min() > 0
    assert lw.energy(c.model, c.state).kinetic == pytest.approx(0.5 * c.v @ c.M @ c.v, rel=1e-12)
    assert relative(lw.kinematics(c.model, c.q, c.v).twists, c.J @ c.v) < 1e-12


@EVERY_TREE
@EVERY_FORMULATION
def test_joint_forces_answer_with_the_inverse_mass_matrix(seed: int, n: int, formulation: str) -> None:
    c = case(seed, n)
    change = c.response(formulation).apply(joint_forces=np.eye(c.model.nv))
    assert relative(change.joints, np.linalg.inv(c.M)) < TOLERANCE
    assert relative(change.bodies, np.einsum("niv,vk->kni", c.J, np.linalg.inv(c.M))) < TOLERANCE


@EVERY_TREE
@EVERY_FORMULATION
def test_wrenches_and_forces_answer_together(seed: int, n: int, formulation: str) -> None:
    """dv = M^-1 (tau + J^T wrench), bodies J dv."""
    c = case(seed, n)
    wrench, tau = forces(c)
    dv = np.linalg.solve(c.M, tau + np.einsum("niv,ni->v", c.J, wrench))
    response = c.response(formulation)
    change = response.apply(wrench, tau)
    assert relative(change.joints, dv) < TOLERANCE
    assert relative(change.bodies, c.J @ dv) < TOLERANCE
    parts = response.apply(wrench) + response.apply(joint_forces=tau)
    assert relative(parts.joints, change.joints) < TOLERANCE
    assert relative(parts.bodies, change.bodies) < TOLERANCE


@EVERY_TREE
def test_both_formulations_agree(seed: int, n: int) -> None:
    c = case(seed, n)
    reduced, maximal = c.response("reduced"), c.response("maximal")
    assert reduced.symmetric
    assert maximal.symmetric
    assert relative(reduced.free.joints, maximal.free.joints) < TOLERANCE
    assert relative(reduced.free.bodies, maximal.free.bodies) < TOLERANCE
    x, y = (r.apply(*forces(c, 5)) for r in (reduced, maximal))
    assert relative(x.joints, y.joints) < TOLERANCE
    assert relative(x.bodies, y.bodies) < TOLERANCE


@EVERY_TREE
@EVERY_FORMULATION
def test_a_batch_equals_its_members(seed: int, n: int, formulation: str) -> None:
    c = case(seed, n)
    response = c.response(formulation)
    wrench, tau = forces(c, 3, 4)
    many = response.apply(wrench, tau)
    assert many.bodies.shape == (3, 4, n, 6)
    assert many.joints.shape == (3, 4, c.model.nv)
    for at in np.ndindex(3, 4):
        one = response.apply(wrench[at], tau[at])
        assert np.array_equal(many.joints[at], one.joints)
        assert np.array_equal(many.bodies[at], one.bodies)


@EVERY_TREE
@EVERY_FORMULATION
def test_free_motion_and_its_change_are_the_dynamics(seed: int, n: int, formulation: str) -> None:
    """free is the acceleration; free + apply(more) is the acceleration under more forces."""
    c = case(seed, n)
    response = c.response(formulation)
    a = lw.tree_dynamics(c.model, c.q, c.v, c.tau, c.external)
    assert relative(response.free.joints, a) < TOLERANCE
    assert relative(response.free.bodies, lw.kinematics(c.model, c.q, c.v, a).twists_dot) < TOLERANCE
    wrench, tau = forces(c)
    pushed = response.free + response.apply(wrench, tau)
    a = lw.tree_dynamics(c.model, c.q, c.v, c.tau + tau, c.external + wrench)
    assert relative(pushed.joints, a) < TOLERANCE
    assert relative(pushed.bodies, lw.kinematics(c.model, c.q, c.v, a).twists_dot) < TOLERANCE


@EVERY_TREE
@EVERY_FORMULATION
def test_velocity_level(seed: int, n: int, formulation: str) -> None:
    """With dt, free is the velocity after the step and impulses change velocities by the same operator."""
    c = case(seed, n)
    response, rates = c.response(formulation, DT), c.response(formulation)
    a = lw.tree_dynamics(c.model, c.q, c.v, c.tau, c.external)
    k = lw.kinematics(c.model, c.q, c.v, a)
    assert relative(response.free.joints, c.v + DT * a) < TOLERANCE
    assert relative(response.free.bodies, k.twists + DT * k.twists_dot) < TOLERANCE
    impulses = forces(c, 2)
    assert np.array_equal(response.apply(*impulses).joints, rates.apply(*impulses).joints)
    assert np.array_equal(response.apply(*impulses).bodies, rates.apply(*impulses).bodies)


@EVERY_FORMULATION
def test_rows_of_joints_and_bodies(formulation: str) -> None:
    """G apply(G^T) for rows that mix bodies and joints, dense."""
    c = case(*CASES[7])
    rng = np.random.default_rng(3)
    k, nb, nv = 6, c.model.nb, c.model.nv
    rows = lw.Rows(
        k,
        rng.integers(k, size=9),
        rng.integers(nb, size=9),
        rng.normal(size=(9, 6)),
        rng.integers(k, size=5),
        rng.integers(nv, size=5),
        rng.normal(size=5),
    )
    G = np.zeros((k, nv))
    for r, b, block in zip(rows.body_row, rows.body_index, rows.body_block, strict=True):
        G[r] += block @ c.J[b]
    for r, j, x in zip(rows.joint_row, rows.joint_index, rows.joint_value, strict=True):
        G[r, j] += x
    response = c.response(formulation)
    A = response.delassus(rows)
    assert relative(A, G @ np.linalg.solve(c.M, G.T)) < TOLERANCE
    x = rng.normal(size=k)
    moved = response.corrected(rows, x)
    assert relative(moved.joints, response.free.joints + np.linalg.solve(c.M, G.T @ x)) < TOLERANCE


@EVERY_FORMULATION
def test_a_response_outlives_later_ones(formulation: str) -> None:
    """Each response keeps its own factor: a later one of the same model at another state does not disturb it."""
    c = case(*CASES[5])
    first = c.response(formulation)
    wrench, tau = forces(c)
    before = first.apply(wrench, tau)
    other = random_state(c.model, 99)
    lw.factor(c.model, other.q, other.v).apply(wrench, tau)
    lw.factor(c.model, lw.to_maximal(c.model, other)).apply(wrench, tau)
    after = first.apply(wrench, tau)
    assert np.array_equal(before.joints, after.joints)
    assert np.array_equal(before.bodies, after.bodies)


@EVERY_FORMULATION
def test_wrong_shapes_are_refused(formulation: str) -> None:
    c = case(*CASES[4])
    response = c.response(formulation)
    wrench, tau = forces(c, 2)
    with pytest.raises(lw.InputError, match="body wrenches"):
        response.apply(wrench[..., :5])
    with pytest.raises(lw.InputError, match="joint forces"):
        response.apply(joint_forces=tau[:, :-1])
    with pytest.raises(lw.InputError, match="leading axes"):
        response.apply(wrench, tau[0])


@EVERY_FORMULATION
def test_no_forces_and_no_rows(formulation: str) -> None:
    """An empty batch of forces moves nothing, no rows make a matrix of size zero."""
    c = case(*CASES[4])
    response = c.response(formulation)
    wrench, tau = forces(c, 0)
    assert response.apply(wrench, tau).bodies.shape == (0, c.model.nb, 6)
    assert response.delassus(lw.Rows(0)).shape == (0, 0)


@EVERY_FORMULATION
def test_a_batch_of_states_is_refused(formulation: str) -> None:
    """One response belongs to one state."""
    c = case(*CASES[4])
    batch = lw.State(np.tile(c.q, (2, 1)), np.tile(c.v, (2, 1)))
    with pytest.raises(lw.InputError):
        lw.factor(c.model, batch.q, batch.v) if formulation == "reduced" else lw.factor(c.model, lw.to_maximal(c.model, batch))
