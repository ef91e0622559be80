"""Derivatives of the tree by recursions: against dual numbers, differences, Pinocchio, themselves run eagerly; and batches."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from derivatives.test_joints import SAMPLES

import linkwork as lw
from linkwork.bench import models
from linkwork.kernel import eager
from linkwork.kernel.directional import directional
from linkwork.reduced.derivatives import columns, square_function
from linkwork.reduced.dof_tree import dof_plans
from linkwork.reduced.forward import FORWARD_DYNAMICS
from linkwork.reduced.forward_derivatives import FORWARD_DERIVATIVES
from linkwork.reduced.inverse import INVERSE_DYNAMICS
from linkwork.reduced.inverse_by_chains import INVERSE_BY_CHAINS
from linkwork.reduced.inverse_derivatives import INVERSE_DERIVATIVES
from linkwork.reduced.inverse_mass_matrix import INVERSE_MASS_MATRIX

BLOCK = lw.Inertia(1.2, (0.1, 0.2, -0.1), np.diag([0.5, 0.7, 0.9]))
DUAL = {"tau": directional(INVERSE_DYNAMICS), "a": directional(FORWARD_DYNAMICS)}
JOINTS = [
    lw.Free(),
    lw.Spherical(),
    lw.Universal(),
    lw.Fixed(),
    lw.Planar(),
    lw.SphericalEuler("xyz", "xzx"),
    lw.Revolute((0, 0.6, 0.8)),
    lw.joint(lambda q: lw.SE3.rot_z(q[0]) @ lw.SE3(p=(0.3 * q[0] ** 2, q[1], 0.1 * q[0] * q[1])), nv=2),
]


@cache
def tree(kind: str) -> lw.Model:
    """Trees of several roots and branches: the parent of body i."""
    parents = {
        "chain": lambda i: i - 1,
        "binary": lambda i: (i + 1) // 2 - 1,
        "star": lambda i: min(i - 1, 0),
        "roots": lambda i: -1 if i % 4 == 0 else i - 1 - i % 2,
    }[kind]
    b = lw.ModelBuilder(gravity=(1.0, -2.0, -9.0))
    turn = lw.SE3.rot_axis(np.array([0.36, 0.48, 0.8]), 0.7)
    for i, joint in enumerate(JOINTS):
        p = parents(i)
        placement = lw.SE3(p=(0.3, 0.1, -0.2)) @ turn
        extra = {"damping": 0.3, "armature": 0.1} if i % 2 and joint.nv else {}
        b.body(f"b{i}", parent="world" if p < 0 else f"b{p}", joint=joint, placement=placement, inertia=BLOCK, **extra)
    return b.build()


KINDS = pytest.mark.parametrize("kind", ["chain", "binary", "star", "roots"])


def sample(model: lw.Model, seed: int = 0) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(seed)
    return model.random_configuration(seed), *rng.normal(size=(2, model.nv)), rng.normal(size=(model.nb, 6))


def on_duals(model: lw.Model, result: str, q: np.ndarray, v: np.ndarray, x: np.ndarray, w: np.ndarray) -> np.ndarray:
    """The derivatives (2, nv, nv) of tau or a by the same recursions on dual numbers."""
    given = {"q": q, "v": v, ("a" if result == "tau" else "tau"): x, "external": w, "gravity": model.gravity}
    return columns(lambda inputs, wanted: model.call(DUAL[result], inputs, 1, wanted), model, given, ("q", "v"), (result,))[
        result
    ]


def close(x: np.ndarray, y: np.ndarray, tolerance: float) -> bool:
    return bool(np.abs(x - y).max() <= tolerance * (1.0 + np.abs(y).max()))


@KINDS
@pytest.mark.parametrize("seed", range(2))
def test_against_dual_numbers(kind: str, seed: int) -> None:
    model = tree(kind)
    q, v, x, w = sample(model, seed)
    dq, dv, da = lw.tree_inverse_dynamics_derivatives(model, q, v, x, w)
    assert all(close(y, z, 1e-12) for y, z in zip((dq, dv), on_duals(model, "tau", q, v, x, w), strict=True))
    assert close(da, lw.mass_matrix(model, q), 1e-13)
    found = lw.tree_linearised_dynamics(model, q, v, x, w)
    assert close(found.a, lw.tree_dynamics(model, q, v, x, w), 1e-11)
    assert all(close(y, z, 1e-10) for y, z in zip(found[1:3], on_duals(model, "a", q, v, x, w), strict=True))
    assert close(found.da_dtau @ da, np.eye(model.nv), 1e-11)
    assert close(lw.inverse_mass_matrix(model, q), found.da_dtau, 1e-12)


@KINDS
def test_as_they_stand(kind: str) -> None:
    """The rules on floats, and loops in plain Python."""
    model = tree(kind)
    q, v, x, w = sample(model)
    inputs = {"q": q, "v": v, "a": x, "tau": x, "external": w, "gravity": model.gravity}
    compiled = lw.tree_inverse_dynamics_derivatives(model, q, v, x, w)
    shape, own = (model.nv, model.nv), dof_plans(model).tree
    for algorithm, results in (
        (INVERSE_DERIVATIVES, compiled),
        (FORWARD_DERIVATIVES, lw.tree_linearised_dynamics(model, q, v, x, w)[1:]),
    ):
        names = [name for name in algorithm.results if name != "a"]
        found = eager.run(algorithm, own, {name: y for name, y in inputs.items() if name in algorithm.fields})
        assert all(close(found[name].reshape(shape), y, 1e-11) for name, y in zip(names, results, strict=True))
    for algorithm in (INVERSE_MASS_MATRIX, INVERSE_BY_CHAINS):
        found = eager.run(algorithm, own, {"q": q})
        assert close(found["M_inverse"].reshape(shape), lw.inverse_mass_matrix(model, q), 1e-11)


@KINDS
def test_inverses_by_chains(kind: str) -> None:
    """Two ways to the inverse of the mass matrix, single states and batches to the bit."""
    model = tree(kind)
    inverse = square_function(model, INVERSE_BY_CHAINS, ("q",), ("M_inverse",))
    q = np.array([sample(model, seed)[0] for seed in range(9)])
    found = inverse(q)[0]
    assert close(found, lw.inverse_mass_matrix(model, q), 1e-11)
    assert all(np.array_equal(inverse(x)[0], y) for x, y in zip(q, found, strict=True))


def test_every_joint_against_differences() -> None:
    """A joint of each kind between two others, by central differences."""
    b = lw.ModelBuilder(gravity=(1.0, -2.0, -9.0))
    b.body("base", joint=lw.Spherical(), inertia=BLOCK)
    for name, joint in SAMPLES.items():
        b.body(name, parent="base", joint=joint, placement=lw.SE3(p=(0.3, 0.1, 0.0)), inertia=BLOCK)
        b.body(f"{name} end", parent=name, joint=lw.Revolute((0, 1, 0)), placement=lw.SE3(p=(0.3, 0.1, 0.0)), inertia=BLOCK)
    model = b.build()
    q, v, x, w = sample(model, 3)
    step = 1e-6

    def differences(f: object) -> list[np.ndarray]:
        ends = [[f(model.integrate(q, s * e), v) for s in (step, -step)] for e in np.eye(model.nv)]  # type: ignore[operator]
        more = [[f(q, v + s * e) for s in (step, -step)] for e in np.eye(model.nv)]  # type: ignore[operator]
        return [np.array([(p - m) / (2 * step) for p, m in pairs]).T for pairs in (ends, more)]

    found = lw.tree_inverse_dynamics_derivatives(model, q, v, x, w)
    expected = differences(lambda q, v: lw.tree_inverse_dynamics(model, q, v, x, w))
    assert all(close(y, z, 1e-6) for y, z in zip(found, expected, strict=False))
    found = lw.tree_dynamics_derivatives(model, q, v, x, w)
    expected = differences(lambda q, v: lw.tree_dynamics(model, q, v, x, w))
    assert all(close(y, z, 1e-6) for y, z in zip(found, expected, strict=False))


@pytest.mark.parametrize("kind", ["binary"])
def test_batches(kind: str) -> None:
    """Batches of any size are their states to the bit, one value for all broadcasts, threads share."""
    model = tree(kind)
    rng = np.random.default_rng(1)
    q = np.array([model.random_configuration(k) for k in range(19)])
    v, tau = rng.normal(size=(2, 19, model.nv))
    batch = lw.linearised_dynamics(model, q, v, tau)
    inverse, M_inverse = lw.inverse_dynamics_derivatives(model, q, v, tau), lw.inverse_mass_matrix(model, q)
    for k in (0, 7, 18):
        one = lw.linearised_dynamics(model, q[k], v[k], tau[k])
        assert all(np.array_equal(x[k], y) for x, y in zip(batch, one, strict=True))
        one = lw.inverse_dynamics_derivatives(model, q[k], v[k], tau[k])
        assert all(np.array_equal(x[k], y) for x, y in zip(inverse, one, strict=True))
        assert np.array_equal(M_inverse[k], lw.inverse_mass_matrix(model, q[k]))
    few = lw.linearised_dynamics(model, q[:3], v[:3], tau[:3])
    assert all(np.array_equal(x[:3], y) for x, y in zip(batch, few, strict=True))
    assert np.array_equal(lw.forward_dynamics_derivatives(model, q, v, tau, threads=2)[0], batch.da_dq)
    assert np.array_equal(lw.forward_dynamics_derivatives(model, q, v[0], tau[0])[1][0], batch.da_dv[0])
    unforced = lw.linearised_dynamics(model, q[0], v[0], 0 * tau[0])
    assert close(lw.forward_dynamics_derivatives(model, q[0], v[0])[0], unforced.da_dq, 1e-12)


def test_far_from_the_origin() -> None:
    """Where the world's origin is does not matter: nothing is summed about it."""
    model = models.robot("solo12") if models.robots_folder() else tree("chain")
    q, v, x, _ = sample(model)
    far = q.copy()
    far[:3] += (3e6, -1e6, 2e6)
    for f in (lw.forward_dynamics_derivatives, lw.inverse_dynamics_derivatives):
        assert all(np.array_equal(y, z) for y, z in zip(f(model, far, v, x), f(model, q, v, x), strict=True))


def test_without_freedoms() -> None:
    b = lw.ModelBuilder()
    b.body("a", joint=lw.Fixed(), inertia=BLOCK)
    model = b.build()
    none = np.zeros(0)
    assert [x.shape for x in lw.inverse_dynamics_derivatives(model, none, none, none)] == [(0, 0)] * 3
    assert lw.linearised_dynamics(model, none, none).da_dtau.shape == (0, 0)
    assert lw.inverse_mass_matrix(model, none).shape == (0, 0)


@pytest.mark.parametrize("name", ["panda", "solo12", "talos"])
def test_against_pinocchio(name: str) -> None:
    """Its free joint has the velocity (linear, angular) and the same displacements; rows and columns change places."""
    pin = pytest.importorskip("pinocchio")
    from linkwork.bench import peers

    if models.robots_folder() is None:
        pytest.skip("the robots are not installed")
    model = models.robot(name)
    peer = peers.Pinocchio(model)
    states = models.random_states(model, 2, seed=3)
    theirs, order = peer.layout(states), peer.velocity_order
    for k in range(2):
        q, v, a, tau = (theirs[x][k] for x in ("q", "v", "a", "tau"))
        data = peer.model.createData()
        pin.computeRNEADerivatives(peer.model, data, q, v, a)
        M = np.triu(data.M) + np.triu(data.M, 1).T
        found = lw.inverse_dynamics_derivatives(model, *(states[x][k] for x in ("q", "v", "a")))
        assert all(close(y[np.ix_(order, order)], z, 1e-11) for y, z in zip(found, (data.dtau_dq, data.dtau_dv, M), strict=True))
        pin.computeABADerivatives(peer.model, data, q, v, tau)
        inverse = np.triu(data.Minv) + np.triu(data.Minv, 1).T
        found = lw.linearised_dynamics(model, *(states[x][k] for x in ("q", "v", "tau")))[1:]
        assert all(
            close(y[np.ix_(order, order)], z, 1e-9) for y, z in zip(found, (data.ddq_dq, data.ddq_dv, inverse), strict=True)
        )


def test_a_long_chain_is_ready_soon() -> None:
    """Kernels belong to classes of joints: a hundred links cost no more than ten."""
    model = models.chain(100)
    q, v, tau, _ = sample(model)
    found = lw.linearised_dynamics(model, q, v, tau)
    assert close(found.da_dtau @ lw.mass_matrix(model, q), np.eye(100), 1e-8)
    sizes = [len(lw.linearised_dynamics(models.chain(n), q[:n], v[:n], tau[:n]).a) for n in (9, 10)]
    assert sizes == [9, 10]
