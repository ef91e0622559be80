"""Forward dynamics four ways: articulated bodies, multipliers, a dense solve in world axes, and Pinocchio."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from identities.dense import Dense, dense_dynamics
from models import (
    ALL_KINDS,
    JOINTS,
    KINDS,
    PLACEMENTS,
    REVOLUTES,
    random_forces,
    random_inertia,
    random_state,
    random_tree,
    relative,
)

import linkwork as lw
from linkwork.joints.complement import complement
from linkwork.maximal import MaximalAcceleration

TOLERANCE = 1e-10
CASES = [(seed, 1 + seed % 20) for seed in range(20)]  # test_random_trees has many more
EVERY_TREE = pytest.mark.parametrize(("seed", "n"), CASES)
seeds = st.integers(0, 2**31 - 1)


class Case:
    """A random tree in motion, and its accelerations by three routes."""

    def __init__(self, model: lw.Model, seed: int) -> None:
        self.model, self.state = model, random_state(model, seed)
        self.q, self.v = self.state.q, self.state.v
        self.tau, self.external = random_forces(model, seed)
        self.a: np.ndarray = lw.tree_dynamics(model, self.q, self.v, self.tau, self.external)
        self.maximal: MaximalAcceleration = lw.maximal_dynamics(model, lw.to_maximal(model, self.state), self.tau, self.external)
        self.dense: Dense = dense_dynamics(model, self.state, self.tau, self.external)

    @property
    def wrenches(self) -> np.ndarray:
        return lw.joint_wrenches(self.model, self.q, self.v, self.a, self.external)


@cache
def case(seed: int, n: int) -> Case:
    return Case(random_tree(seed, n), seed)


def test_the_cases_hold_every_kind_of_tree() -> None:
    models = [case(*c).model for c in CASES]
    parents = [m.parents.tolist() for m in models]
    assert {m.nb for m in models} == set(range(1, 21))
    assert any(p.count(-1) > 1 for p in parents)  # forests
    assert any(p.count(i) > 1 for p in parents for i in range(20))  # branches
    kinds = {type(b.joint).__name__ for m in models for b in m.bodies}
    assert kinds == {"Revolute", "Spherical", "Free", "CustomJoint"}
    axes = {tuple(b.joint.axis) for m in models for b in m.bodies if isinstance(b.joint, lw.Revolute)}
    assert {(1, 0, 0), (0, 1, 0), (0, 0, 1), (-1, 0, 0), (0, 0, -1)} < axes
    assert sum(np.count_nonzero(a) == 3 for a in axes) > 5


@EVERY_TREE
def test_articulated_bodies_agree_with_the_dense_solve(seed: int, n: int) -> None:
    c = case(seed, n)
    assert relative(c.a, c.dense.v_dot) < TOLERANCE


@EVERY_TREE
def test_multipliers_agree_with_the_dense_solve(seed: int, n: int) -> None:
    c = case(seed, n)
    assert relative(c.maximal.a, c.dense.v_dot) < TOLERANCE


@EVERY_TREE
def test_articulated_bodies_agree_with_multipliers(seed: int, n: int) -> None:
    c = case(seed, n)
    assert relative(c.a, c.maximal.a) < TOLERANCE


@EVERY_TREE
def test_bodies_accelerate_alike(seed: int, n: int) -> None:
    c = case(seed, n)
    k = lw.kinematics(c.model, c.q, c.v, c.a)
    assert relative(k.poses[:, :3, :3], c.dense.bodies.R) < TOLERANCE
    assert np.abs(k.poses[:, :3, 3] - c.dense.bodies.x).max() < TOLERANCE
    assert relative(k.twists, c.dense.twists) < TOLERANCE
    assert relative(k.twists_dot, c.dense.twists_dot) < TOLERANCE
    assert relative(c.maximal.twists_dot, c.dense.twists_dot) < TOLERANCE


@EVERY_TREE
def test_inverse_dynamics_undoes_forward_dynamics(seed: int, n: int) -> None:
    c = case(seed, n)
    assert relative(lw.inverse_dynamics(c.model, c.q, c.v, c.a, c.external), c.tau) < TOLERANCE
    a = np.random.default_rng(seed).normal(size=c.model.nv)
    tau = lw.inverse_dynamics(c.model, c.q, c.v, a, c.external)
    assert relative(lw.tree_dynamics(c.model, c.q, c.v, tau, c.external), a) < TOLERANCE


@EVERY_TREE
def test_joints_transmit_the_wrenches_of_the_dense_solve(seed: int, n: int) -> None:
    c = case(seed, n)
    assert relative(c.wrenches, c.dense.wrenches) < TOLERANCE


@EVERY_TREE
def test_multipliers_and_joint_forces_make_the_transmitted_wrench(seed: int, n: int) -> None:
    """T lam + S (S^T S)^-1 (tau - damping v - armature a), joint by joint."""
    c = case(seed, n)
    wrenches = np.zeros((n, 6))
    row = 0
    for i, body in enumerate(c.model.bodies):
        q, at = c.q[c.model.q_index(body.name)], c.model.v_index(body.name)
        S = np.array(body.joint.motion(q, np.zeros(body.joint.nv)).tangent.S, float)
        T = np.array(complement(S), float)
        lam = c.maximal.lam[row : row + T.shape[1]]
        row += T.shape[1]
        along = c.tau[at] - body.properties.damping * c.v[at] - body.properties.armature * c.a[at]
        wrenches[i] = T @ lam + S @ np.linalg.solve(S.T @ S, along)
    assert row == len(c.maximal.lam)
    assert relative(wrenches, c.wrenches) < TOLERANCE


@EVERY_TREE
def test_conversions_undo_each_other(seed: int, n: int) -> None:
    """Also when the coordinates to start from are a little off."""
    c = case(seed, n)
    maximal = lw.to_maximal(c.model, c.state)
    near = c.model.integrate(c.q, 0.02 * np.random.default_rng(seed).normal(size=c.model.nv))
    for start in (c.q, near):
        found = lw.to_reduced(c.model, lw.MaximalState(maximal.poses, maximal.twists, start))
        assert np.abs(c.model.difference(c.q, found.q)).max() < 1e-12
        assert relative(found.v, c.v) < 1e-11


@settings(deadline=None, max_examples=15)
@given(seed=seeds, n=st.integers(1, 20))
def test_three_routes_agree_on_any_tree(seed: int, n: int) -> None:
    c = Case(random_tree(seed, n), seed)
    assert relative(c.a, c.dense.v_dot) < TOLERANCE
    assert relative(c.maximal.a, c.dense.v_dot) < TOLERANCE
    assert relative(c.wrenches, c.dense.wrenches) < TOLERANCE


@pytest.mark.slow
@pytest.mark.parametrize("placement", PLACEMENTS)
def test_every_joint_at_every_placement(placement: str) -> None:
    """One branch with many kinds of joints, each carried by the one before; every kind at three placements."""
    rng = np.random.default_rng(list(placement.encode()))
    builder = lw.ModelBuilder(gravity=rng.normal(size=3))
    kinds = [kind for i, kind in enumerate(KINDS) if (i + list(PLACEMENTS).index(placement)) % 3 == 0]
    for kind, before in zip(kinds, ("world", *kinds), strict=False):
        placed = PLACEMENTS[placement](rng)
        builder.body(kind, parent=before, joint=JOINTS[kind](rng), placement=placed, inertia=random_inertia(rng))
    c = Case(builder.build(), 1)
    assert relative(c.a, c.dense.v_dot) < TOLERANCE
    assert relative(c.maximal.a, c.dense.v_dot) < TOLERANCE
    assert relative(c.wrenches, c.dense.wrenches) < TOLERANCE


@pytest.mark.parametrize("kind", ALL_KINDS)
@pytest.mark.parametrize("part", ["neutral", "still", "weightless"])
def test_special_states(kind: str, part: str) -> None:
    """Zero coordinates, zero velocities and zero forces do not divide by anything."""
    model = random_tree(5, 2, [kind])
    state, (tau, external) = random_state(model, 5), random_forces(model, 5)
    q = model.neutral() if part == "neutral" else state.q
    v = np.zeros(model.nv) if part == "still" else state.v
    if part == "weightless":
        model = lw.Model(model.bodies, np.zeros(3))
    state = lw.State(q, v)
    expected = dense_dynamics(model, state, tau, 0.0 * external).v_dot
    assert relative(lw.tree_dynamics(model, q, v, tau), expected) < TOLERANCE
    assert relative(lw.maximal_dynamics(model, lw.to_maximal(model, state), tau).a, expected) < TOLERANCE


# --- Pinocchio ---------------------------------------------------------------------------------------------------------
class Peer:
    """The same tree in Pinocchio: twists are (linear, angular), quaternions xyzw; joints keep the order of the bodies."""

    def __init__(self, model: lw.Model) -> None:
        self.pin = pytest.importorskip("pinocchio")
        pin = self.pin
        self.model, self.peer = model, pin.Model()
        self.peer.gravity.linear = np.array(model.gravity)
        self.ids: list[int] = []
        for body in model.bodies:
            placement = pin.SE3(np.array(body.placement.R, float), np.array(body.placement.p, float))
            parent = 0 if body.parent < 0 else self.ids[body.parent]
            index = self.peer.addJoint(parent, self._joint(body.joint), placement, body.name)
            inertia = pin.Inertia(body.inertia.mass, body.inertia.com, body.inertia.tensor)
            self.peer.appendBodyToJoint(index, inertia, pin.SE3.Identity())
            self.ids.append(index)
        self.peer.armature = self.v(np.concatenate([b.properties.armature for b in model.bodies]))
        self.damping = self.v(np.concatenate([b.properties.damping for b in model.bodies]))
        self.data = self.peer.createData()

    def _joint(self, joint: lw.Joint) -> object:
        pin = self.pin
        if isinstance(joint, lw.Spherical):
            return pin.JointModelSpherical()
        if isinstance(joint, lw.Free):
            return pin.JointModelFreeFlyer()
        aligned = {(1, 0, 0): pin.JointModelRX, (0, 1, 0): pin.JointModelRY, (0, 0, 1): pin.JointModelRZ}
        axis = tuple(joint.axis)
        return aligned[axis]() if axis in aligned else pin.JointModelRevoluteUnaligned(*axis)

    def q(self, q: np.ndarray) -> np.ndarray:
        out = np.zeros(self.peer.nq)
        for body, i in zip(self.model.bodies, self.ids, strict=True):
            x = q[self.model.q_index(body.name)]
            at = self.peer.idx_qs[i]
            if body.joint.nq > 1:
                x = np.concatenate([x[:-4], x[-3:], x[-4:-3]])
            out[at : at + len(x)] = x
        return out

    def v(self, v: np.ndarray) -> np.ndarray:
        out = np.zeros(self.peer.nv)
        for body, i in zip(self.model.bodies, self.ids, strict=True):
            x = v[self.model.v_index(body.name)]
            at = self.peer.idx_vs[i]
            out[at : at + len(x)] = np.concatenate([x[3:], x[:3]])
        return out

    def forces(self, wrenches: np.ndarray) -> object:
        out = self.pin.StdVec_Force()
        out.append(self.pin.Force.Zero())
        for w in wrenches:
            out.append(self.pin.Force(w[3:], w[:3]))
        return out


@pytest.mark.parametrize(("seed", "n"), [(seed, 1 + seed % 20) for seed in range(100, 120)])
def test_pinocchio_agrees(seed: int, n: int) -> None:
    model = random_tree(seed, n, [*REVOLUTES, "spherical", "free"])
    state = random_state(model, seed)
    tau, external = random_forces(model, seed)
    peer = Peer(model)
    q, v, forces = peer.q(state.q), peer.v(state.v), peer.forces(external)
    a = lw.tree_dynamics(model, state.q, state.v, tau, external)
    damping = peer.damping * v
    expected = peer.pin.aba(peer.peer, peer.data, q, v, peer.v(tau) - damping, forces)
    assert relative(peer.v(a), expected) < TOLERANCE
    b = np.random.default_rng(seed).normal(size=model.nv)
    found = lw.inverse_dynamics(model, state.q, state.v, b, external)
    assert relative(peer.v(found), peer.pin.rnea(peer.peer, peer.data, q, v, peer.v(b), forces) + damping) < TOLERANCE
    transmitted = np.array([np.concatenate([peer.data.f[i].angular, peer.data.f[i].linear]) for i in peer.ids])
    assert relative(lw.joint_wrenches(model, state.q, state.v, b, external), transmitted) < TOLERANCE
    peer.pin.forwardKinematics(peer.peer, peer.data, q)
    positions = np.array([peer.data.oMi[i].homogeneous for i in peer.ids])
    assert relative(lw.kinematics(model, state.q).poses, positions) < TOLERANCE
