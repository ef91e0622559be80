"""Second derivatives of positions and energies against differences, on a tree with several kinds of joints that turn."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import linkwork as lw
from linkwork.lagrange import mass_matrix_derivatives

ROD = lw.Inertia.cuboid(mass=1.0, size=(0.4, 0.05, 0.05), com=(0.2, 0.1, 0))
E2 = 1e-4


def tree() -> lw.Model:
    b = lw.ModelBuilder()
    b.body("base", joint=lw.Free(), inertia=ROD)
    b.body("ball", parent="base", joint=lw.Spherical(), placement=lw.SE3(p=(0.4, 0, 0.1)), inertia=ROD)
    b.body("fork", parent="ball", joint=lw.Universal(), placement=lw.SE3(p=(0.3, 0.1, 0)), inertia=ROD)
    b.body("hand", parent="fork", joint=lw.Revolute((0, 0.6, 0.8)), placement=lw.SE3(p=(0.2, 0, 0)), inertia=ROD)
    b.frame("tip", body="hand", placement=lw.SE3.exp(np.array([0.3, -0.2, 0.5, 0.1, 0.2, 0.3])))
    return b.build()


@pytest.fixture(scope="module")
def model() -> lw.Model:
    return tree()


def second(f: Callable[[np.ndarray], np.ndarray], m: lw.Model, q: np.ndarray, j: int, k: int) -> np.ndarray:
    """d^2 f(integrate(q, e))/de_j de_k by differences."""
    a, b = E2 * np.eye(m.nv)[[j, k]]
    return (f(m.integrate(q, a + b)) - f(m.integrate(q, a - b)) - f(m.integrate(q, b - a)) + f(m.integrate(q, -a - b))) / (
        4 * E2**2
    )


def test_positions(model: lw.Model) -> None:
    q = model.random_configuration(1)
    H = lw.position_hessian(model, q, "tip")
    assert H.shape == (3, model.nv, model.nv)
    assert np.array_equal(H, H.swapaxes(-1, -2))
    for j, k in ((0, 0), (0, 4), (1, 2), (3, 1), (6, 8), (7, 7), (2, 9), (10, 11), (9, 10)):
        found = second(lambda q: lw.frame_pose(model, q, "tip")[:3, 3], model, q, j, k)
        assert np.abs(H[:, j, k] - found).max() < 1e-6


def test_jacobians_and_batches(model: lw.Model) -> None:
    q = np.array([model.random_configuration(k) for k in range(3)])
    dJ = lw.jacobian_derivatives(model, q, "tip")
    for k in range(model.nv):
        e = 1e-6 * np.eye(model.nv)[k]
        ends = [lw.jacobian(model, model.integrate(q[1], s * e), "tip") for s in (1, -1)]
        assert np.abs(dJ[1, :, :, k] - (ends[0] - ends[1]) / 2e-6).max() < 1e-8
    assert np.array_equal(lw.jacobian_derivatives(model, q[1], "tip"), dJ[1])
    assert np.allclose(lw.position_hessian(model, q, "tip")[2], lw.position_hessian(model, q[2], "tip"), rtol=0, atol=1e-14)


def test_energies(model: lw.Model) -> None:
    q, v = model.random_configuration(2), np.linspace(-1, 1, model.nv)
    H = lw.potential_hessian(model, q)

    def potential(q: np.ndarray) -> np.ndarray:
        return np.array(lw.energy(model, lw.State(q=q, v=0 * v)).potential)

    for j, k in ((3, 4), (0, 1), (7, 7), (6, 8), (9, 11), (10, 10)):
        assert abs(H[j, k] - float(second(potential, model, q, j, k))) < 1e-5
    p = lw.momentum_derivatives(model, q, v)
    e = 1e-6 * np.eye(model.nv)[7]
    ends = [lw.mass_matrix(model, model.integrate(q, s * e)) @ v for s in (1, -1)]
    assert np.abs(p[:, 7] - (ends[0] - ends[1]) / 2e-6).max() < 1e-8


def test_energies_of_a_loaded_model(model: lw.Model) -> None:
    """Kinetic energy, weight and springs: against differences of first derivatives, with moving and turning subspaces."""
    spring = lw.SpringDamper("hand", "base", (0.1, 0, 0), (0, 0.2, 0.1), stiffness=30.0, rest_length=0.2, damping=1.0)
    m = model.add(spring).add(lw.JointSpring("hand", 3.0, rest=[0.2]))
    q, v = m.random_configuration(2), np.linspace(-1, 1, m.nv)
    found = lw.energy_hessian(m, q, v)

    def kinetic_slopes(q: np.ndarray) -> np.ndarray:
        return 0.5 * np.einsum("ijk,i,j->k", mass_matrix_derivatives(m, q), v, v)

    def potential_slopes(q: np.ndarray) -> np.ndarray:
        return lw.inverse_dynamics(m, q, 0 * v, 0 * v)

    for slopes, H in ((kinetic_slopes, found.kinetic_qq), (potential_slopes, found.potential_qq)):
        ends = [[slopes(m.integrate(q, s * 1e-6 * e)) for e in np.eye(m.nv)] for s in (1, -1)]
        by_differences = (np.array(ends[0]) - np.array(ends[1])).T / 2e-6
        assert np.abs(H - 0.5 * (by_differences + by_differences.T)).max() < 1e-7
        assert np.array_equal(H, H.T)
    assert np.allclose(found.kinetic_qv.T, lw.momentum_derivatives(m, q, v), rtol=0, atol=1e-14)
    bare = lw.energy_hessian(model, q, v)
    assert np.allclose(bare.potential_qq, lw.potential_hessian(model, q), rtol=0, atol=1e-12)
    assert np.array_equal(bare.kinetic_qq, found.kinetic_qq)


def test_energies_of_batches(model: lw.Model) -> None:
    q, v = np.array([model.random_configuration(k) for k in range(3)]), np.linspace(-1, 1, model.nv)
    several, one = lw.energy_hessian(model, q, v), lw.energy_hessian(model, q[1], v)
    assert all(np.array_equal(x[1], y) for x, y in zip(several, one, strict=True))


def test_energies_by_casadi() -> None:
    ca = pytest.importorskip("casadi")
    b = lw.ModelBuilder()
    b.body("a", joint=lw.Universal(), inertia=ROD, armature=0.02)
    b.body("b", parent="a", joint=lw.Revolute((0, 0.6, 0.8)), placement=lw.SE3(p=(0.4, 0, 0)), inertia=ROD)
    b.add(lw.SpringDamper("b", "world", (0.4, 0, 0), (1, 0, 0), stiffness=30.0, rest_length=0.3, name="spring"))
    m = b.build()
    force, q, v = m.casadi("inverse_dynamics"), ca.SX.sym("q", 3), ca.SX.sym("v", 3)
    still = force(q, 0 * v, 0 * v)
    kinetic = 0.5 * ca.dot(v, force(q, 0 * v, v) - still)
    both = ca.hessian(kinetic, ca.vertcat(q, v))[0]
    f = ca.Function("f", [q, v], [both, ca.jacobian(still, q)])
    q0, v0 = np.array([0.3, -0.4, 0.8]), np.array([1.0, -0.5, 0.7])
    H, stiffness = (np.array(x) for x in f(q0, v0))
    found = lw.energy_hessian(m, q0, v0)
    assert np.allclose(found.kinetic_qq, H[:3, :3], rtol=0, atol=1e-12)
    assert np.allclose(found.kinetic_qv, H[:3, 3:], rtol=0, atol=1e-12)
    assert np.allclose(found.kinetic_vv, H[3:, 3:], rtol=0, atol=1e-12)
    assert np.allclose(found.potential_qq, stiffness, rtol=0, atol=1e-12)
