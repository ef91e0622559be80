"""Two hundred random trees with every kind of joint: the library against a dense solve, itself, Pinocchio and MuJoCo."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from identities.dense import (
    bodies_at,
    dense_dynamics,
    dense_inverse,
    dense_mass_matrix,
    in_body_axes,
    jacobian_of,
    jacobian_rate_of,
    rate_in_body_axes,
)
from identities.peers import MuJoCo, Pinocchio
from identities.trees import HIGHER_PAIRS, KINDS, compact_state, random_forest
from models import Rng, random_forces, relative

import linkwork as lw
from linkwork.joints import ALL_JOINTS, CustomJoint

TOLERANCE = 1e-10

OWN = ("torus", "rail", "spline curve", "closed spline curve", "spline surface")
IN_PINOCCHIO = tuple(k for k in KINDS if k not in ("custom", "spherical exp", "free exp TR", "free exp RT", *OWN, *HIGHER_PAIRS))
IN_MUJOCO = ("fixed", "revolute", "revolute y", "prismatic", "spherical")

# Sizes up to 60, and many smaller trees.
CASES = [(seed, 5 * seed + 5 if seed < 12 else 1 + seed % 12) for seed in range(210)]
PEER_CASES = [(seed, 2 + (7 * seed) % 59) for seed in range(30)]


class Case:
    """A tree in motion with forces on it, and what the dense equations say about it."""

    def __init__(self, seed: int, n: int) -> None:
        self.model = m = random_forest(seed, n, tuple(KINDS))
        self.state = compact_state(m, seed)
        self.q, self.v = self.state.q, self.state.v
        self.tau, self.external = random_forces(m, seed)
        self.seed = seed
        self.bodies = bodies_at(m, self.q, self.v)
        self.world_J = jacobian_of(m, self.bodies)
        self.world_J_dot = jacobian_rate_of(m, self.bodies, self.world_J)
        self.J = in_body_axes(self.bodies, self.world_J)
        self.J_dot = rate_in_body_axes(self.bodies, self.world_J, self.world_J_dot)
        self.M = dense_mass_matrix(m, self.bodies, self.world_J)

    def rng(self, test: int) -> Rng:
        """The same numbers for a test whatever runs before it."""
        return np.random.default_rng([self.seed, 3, test])

    def forces_for(self, a: np.ndarray, external: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Joint forces and transmitted wrenches that go with joint accelerations, by Newton and Euler."""
        acc = (self.world_J @ a + self.world_J_dot @ self.v).reshape(-1, 6)
        tau, wrenches = dense_inverse(self.model, self.bodies, self.world_J, acc, external)
        return tau + self.model.armature * a + self.model.damping * self.v, wrenches


@pytest.fixture(scope="module", params=CASES, ids=lambda c: f"{c[0]}-{c[1]}")
def case(request: pytest.FixtureRequest) -> Case:
    return Case(*request.param)


def test_the_cases_hold_every_kind_of_tree() -> None:
    assert len(CASES) >= 200
    assert {n for _, n in CASES} >= {*range(1, 13), *range(5, 61, 5)}
    models = [random_forest(seed, n, tuple(KINDS)) for seed, n in CASES[:60]]
    assert {type(b.joint) for m in models for b in m.bodies} == {*ALL_JOINTS.values(), CustomJoint}
    children = [np.bincount(m.parents + 1, minlength=m.nb + 1) for m in models]
    assert sum(c[0] > 1 for c in children) > 5  # forests
    assert sum((c[1:] > 1).any() for c in children) > 5  # branches
    assert all(np.count_nonzero(m.gravity) == 3 for m in models)
    assert sum(m.armature.any() and m.damping.any() for m in models) > 10


def test_forward_dynamics(case: Case) -> None:
    c = case
    expected = dense_dynamics(c.model, c.state, c.tau, c.external, bodies=c.bodies)
    a = lw.forward_dynamics(c.model, c.q, c.v, c.tau, c.external)
    assert relative(a, expected.v_dot) < TOLERANCE
    assert relative(lw.joint_wrenches(c.model, c.q, c.v, a, c.external), expected.wrenches) < TOLERANCE
    assert relative(lw.inverse_dynamics(c.model, c.q, c.v, a, c.external), c.tau) < TOLERANCE
    k = lw.kinematics(c.model, c.q, c.v, a)
    assert relative(k.twists, expected.twists) < TOLERANCE
    assert relative(k.twists_dot, expected.twists_dot) < TOLERANCE
    maximal = lw.maximal_dynamics(c.model, lw.to_maximal(c.model, c.state), c.tau, c.external)
    assert relative(maximal.a, expected.v_dot) < TOLERANCE
    assert relative(maximal.twists_dot, expected.twists_dot) < TOLERANCE
    assert relative(maximal.wrenches, expected.wrenches) < TOLERANCE


def test_inverse_dynamics(case: Case) -> None:
    c = case
    a, none = c.rng(0).normal(size=c.model.nv), np.zeros_like(c.external)
    tau, wrenches = c.forces_for(a, c.external)
    assert relative(lw.inverse_dynamics(c.model, c.q, c.v, a, c.external), tau) < TOLERANCE
    assert relative(lw.joint_wrenches(c.model, c.q, c.v, a, c.external), wrenches) < TOLERANCE
    assert relative(lw.forward_dynamics(c.model, c.q, c.v, tau, c.external), a) < TOLERANCE
    assert relative(lw.bias_forces(c.model, c.q, c.v), c.forces_for(0.0 * a, none)[0]) < TOLERANCE
    still = replace(c.bodies, w=0.0 * c.bodies.w)
    weight, _ = dense_inverse(c.model, still, c.world_J, np.zeros((c.model.nb, 6)), none)
    assert relative(lw.gravity_forces(c.model, c.q), weight) < TOLERANCE


def test_hybrid_dynamics(case: Case) -> None:
    """Some joints (or none, or all) move as told: the others answer to M a + h = tau without the rows of these."""
    c, rng = case, case.rng(1)
    told, share = rng.normal(size=c.model.nv), rng.choice([0.0, 0.3, 0.6, 1.0])
    chosen = [body.name for body in c.model.bodies if rng.uniform() < share]
    moved = np.zeros(c.model.nv, bool)
    for name in chosen:
        moved[c.model.v_index(name)] = True
    expected = np.where(moved, told, 0.0)
    rest = c.tau - c.forces_for(expected, c.external)[0]
    expected[~moved] = np.linalg.solve(c.M[np.ix_(~moved, ~moved)], rest[~moved])
    a, tau = lw.hybrid_dynamics(c.model, c.q, c.v, c.tau, told, chosen, c.external)
    assert relative(a, expected) < TOLERANCE
    assert relative(tau, c.forces_for(expected, c.external)[0]) < TOLERANCE
    assert np.array_equal(a[moved], told[moved])
    assert np.array_equal(tau[~moved], c.tau[~moved])


def related(model: lw.Model) -> np.ndarray:
    """(nv, nv): whether the body of one freedom carries that of the other."""
    carries = np.eye(model.nb, dtype=bool)
    for i, p in enumerate(model.parents):
        if p >= 0:
            carries[:, i] |= carries[:, p]
    owner = np.repeat(np.arange(model.nb), [body.joint.nv for body in model.bodies])
    return (carries | carries.T)[np.ix_(owner, owner)]


def test_mass_matrix(case: Case) -> None:
    c = case
    M, L = lw.mass_matrix(c.model, c.q), lw.mass_matrix_factor(c.model, c.q)
    assert relative(M, c.M) < TOLERANCE
    assert relative(lw.inverse_mass_matrix(c.model, c.q), np.linalg.inv(c.M)) < TOLERANCE
    assert relative(L, np.linalg.cholesky(c.M[::-1, ::-1])[::-1, ::-1].T) < TOLERANCE
    assert not np.triu(L, 1).any()
    assert not L[~related(c.model)].any()  # no fill-in


def test_jacobians(case: Case) -> None:
    c, n, rng = case, case.model.nb, case.rng(2)
    x, f = rng.normal(size=(3, c.model.nv)), rng.normal(size=(3, n, 6))
    scale = max(1.0, np.abs(c.J_dot).max())  # one body that turns has none
    assert relative(lw.body_jacobian(c.model, c.q), c.J) < TOLERANCE
    assert np.abs(lw.body_jacobian_dot(c.model, c.q, c.v) - c.J_dot).max() < TOLERANCE * scale
    assert relative(lw.jacobian_product(c.model, c.q, x).reshape(3, -1), x @ c.J.T) < TOLERANCE
    assert np.abs(lw.jacobian_dot_product(c.model, c.q, c.v, x).reshape(3, -1) - x @ c.J_dot.T).max() < TOLERANCE * scale
    assert relative(lw.jacobian_transpose_product(c.model, c.q, f), f.reshape(3, -1) @ c.J) < TOLERANCE
    i = int(rng.integers(n))
    of_body = lw.jacobian(c.model, c.q, c.model.bodies[i].name)
    assert np.abs(of_body - c.J[6 * i : 6 * i + 6]).max() < TOLERANCE * np.abs(c.J).max()


def test_inverse_inertia_product(case: Case) -> None:
    """(M + J^T P_m J + P_r)^-1 x, bare and with terms; the blocks on bodies are definite and not symmetric."""
    c, n, rng = case, case.model.nb, case.rng(3)
    x = rng.normal(size=(2, c.model.nv))
    assert relative(lw.inverse_inertia_product(c.model, c.q, x), np.linalg.solve(c.M, x.T).T) < TOLERANCE
    joints, blocks = rng.uniform(0.0, 0.5, c.model.nv), 0.5 * np.eye(6) + 0.1 * rng.normal(size=(n, 6, 6))
    J = c.J.reshape(n, 6, c.model.nv)
    A = c.M + np.diag(joints) + c.J.T @ (blocks @ J).reshape(c.J.shape)
    assert relative(lw.inverse_inertia_product(c.model, c.q, x, joints, blocks), np.linalg.solve(A, x.T).T) < TOLERANCE


# --- other engines ------------------------------------------------------------------------------------------------------
def agree(model: lw.Model, peer: Any, seed: int) -> None:
    """Everything that an engine can compute, in our coordinates."""
    state, (tau, external) = compact_state(model, seed), random_forces(model, seed)
    told = np.random.default_rng([seed, 4]).normal(size=model.nv)
    q, v = state.q, state.v
    peer.move(q, v)
    assert relative(lw.forward_dynamics(model, q, v, tau, external), peer.forward(tau, external)) < TOLERANCE
    assert relative(lw.inverse_dynamics(model, q, v, told, external), peer.inverse(told, external)) < TOLERANCE
    assert relative(lw.mass_matrix(model, q), peer.mass_matrix()) < TOLERANCE
    assert relative(lw.body_jacobian(model, q), peer.jacobian()) < TOLERANCE


@pytest.mark.parametrize(("seed", "n"), PEER_CASES)
def test_pinocchio(seed: int, n: int) -> None:
    model = random_forest(seed, n, IN_PINOCCHIO)
    peer = Pinocchio(model)
    agree(model, peer, seed)
    state, (_, external) = compact_state(model, seed), random_forces(model, seed)
    told = np.random.default_rng([seed, 5]).normal(size=model.nv)
    assert relative(lw.inverse_mass_matrix(model, state.q), peer.inverse_mass_matrix()) < TOLERANCE
    assert relative(lw.jacobian_dot_product(model, state.q, state.v, state.v), peer.drifts()) < TOLERANCE
    moving = [i for i, body in enumerate(model.bodies) if body.joint.nv]  # Pinocchio has no fixed joints
    wrenches = lw.joint_wrenches(model, state.q, state.v, told, external)
    assert relative(wrenches[moving], peer.wrenches(told, external)[moving]) < TOLERANCE


@pytest.mark.parametrize(("seed", "n"), PEER_CASES)
def test_mujoco(seed: int, n: int) -> None:
    model = random_forest(seed, n, IN_MUJOCO, roots=("free",))
    agree(model, MuJoCo(model), seed)
