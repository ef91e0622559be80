"""Exact derivatives of inverse and forward dynamics: against Pinocchio, and against finite differences for all joints."""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw
from linkwork.bench.models import arm7
from linkwork.kernel import eager
from linkwork.kernel.directional import directional
from linkwork.reduced.derivatives import (
    coordinate_columns,
    tree_dynamics_derivatives,
    tree_inverse_dynamics_derivatives,
)
from linkwork.reduced.inverse import INVERSE_DYNAMICS

STEP = 1e-6
JOINTS = (lw.Free(), lw.Spherical(), lw.Universal(), lw.SphericalExp(), lw.Planar(), lw.Cylindrical((0, 0.6, 0.8)))


def tree() -> lw.Model:
    """Joints whose velocities are rates of coordinates, and joints where they are not."""
    b = lw.ModelBuilder(gravity=(1.0, -2.0, -9.0))
    block = lw.Inertia(1.2, (0.1, 0.2, -0.1), np.diag([0.5, 0.7, 0.9]))
    for i, joint in enumerate(JOINTS):
        parent = "world" if i == 0 else f"b{(i - 1) // 2}"
        b.body(
            f"b{i}", parent=parent, joint=joint, placement=lw.SE3(p=(0.3, 0.1, -0.2)), inertia=block, damping=0.3, armature=0.1
        )
    return b.build()


def sample(model: lw.Model, seed: int) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(seed)
    return model.random_configuration(seed), *rng.normal(size=(2, model.nv)), rng.normal(size=(model.nb, 6))


def differences(model: lw.Model, f: object, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    def column(e: np.ndarray, which: int) -> np.ndarray:
        ends = [(model.integrate(q, s * e), v) if which == 0 else (q, v + s * e) for s in (STEP, -STEP)]
        return (f(*ends[0]) - f(*ends[1])) / (2 * STEP)  # type: ignore[operator]

    return tuple(np.array([column(e, which) for e in np.eye(model.nv)]).T for which in (0, 1))  # type: ignore[return-value]


@pytest.mark.parametrize("seed", range(4))
def test_against_finite_differences(seed: int) -> None:
    model = tree()
    q, v, x, w = sample(model, seed)
    dq, dv, da = tree_inverse_dynamics_derivatives(model, q, v, x, w)
    fq, fv = differences(model, lambda q, v: lw.tree_inverse_dynamics(model, q, v, x, w), q, v)
    scale = np.abs(fq).max()
    assert np.abs(dq - fq).max() < 1e-7 * scale
    assert np.abs(dv - fv).max() < 1e-7 * scale
    np.testing.assert_allclose(da, lw.mass_matrix(model, q), atol=1e-13)
    aq, av = tree_dynamics_derivatives(model, q, v, x, w)
    fq, fv = differences(model, lambda q, v: lw.tree_dynamics(model, q, v, x, w), q, v)
    assert np.abs(aq - fq).max() < 1e-6 * np.abs(fq).max()
    assert np.abs(av - fv).max() < 1e-6 * np.abs(fv).max()


@pytest.mark.parametrize("seed", range(4))
def test_forward_and_inverse_belong_together(seed: int) -> None:
    """da_dq = -M^-1 dtau_dq at the accelerations of forward dynamics."""
    model = tree()
    q, v, tau, w = sample(model, seed)
    a = lw.tree_dynamics(model, q, v, tau, w)
    dq, dv, M = tree_inverse_dynamics_derivatives(model, q, v, a, w)
    aq, av = tree_dynamics_derivatives(model, q, v, tau, w)
    for slope, other in ((dq, aq), (dv, av)):
        np.testing.assert_allclose(M @ other, -slope, atol=1e-9 * np.abs(slope).max())


def test_against_pinocchio() -> None:
    pin = pytest.importorskip("pinocchio")
    from linkwork.bench import peers

    model = arm7()
    theirs = peers.Pinocchio(model).model
    q, v, a, _ = sample(model, 1)
    dq, dv, _ = tree_inverse_dynamics_derivatives(model, q, v, a)
    data = theirs.createData()
    expected = pin.computeRNEADerivatives(theirs, data, q, v, a)
    np.testing.assert_allclose(dq, expected[0], atol=1e-12)
    np.testing.assert_allclose(dv, expected[1], atol=1e-12)
    expected = pin.computeABADerivatives(theirs, data, q, v, a)
    aq, av = tree_dynamics_derivatives(model, q, v, a)
    np.testing.assert_allclose(aq, expected[0], atol=1e-10 * np.abs(aq).max())
    np.testing.assert_allclose(av, expected[1], atol=1e-10 * np.abs(av).max())


def test_columns_of_coordinates() -> None:
    model = tree()
    q = model.random_configuration(5)
    numeric = [(model.integrate(q, STEP * e) - model.integrate(q, -STEP * e)) / (2 * STEP) for e in np.eye(model.nv)]
    np.testing.assert_allclose(coordinate_columns(model, q), numeric, atol=1e-9)


def test_wrenches_that_change() -> None:
    """d_external adds -J^T dw along every direction."""
    model = tree()
    q, v, a, w = sample(model, 2)
    change = np.random.default_rng(0).normal(size=(2 * model.nv, model.nb, 6))
    plain = tree_inverse_dynamics_derivatives(model, q, v, a, w)
    with_change = tree_inverse_dynamics_derivatives(model, q, v, a, w, change)
    found = np.concatenate([with_change[k] - plain[k] for k in (0, 1)], axis=1).T
    np.testing.assert_allclose(found, -lw.jacobian_transpose_product(model, q, change), atol=1e-12)


def test_rules_on_duals_as_they_stand() -> None:
    """The reference: the same rules on floats."""
    model = tree()
    q, v, a, w = sample(model, 3)
    direction = coordinate_columns(model, q)[2]
    inputs = {"q": q, "d_q": direction, "v": v, "a": a, "external": w, "gravity": model.gravity}
    found = eager.run(directional(INVERSE_DYNAMICS), model.tree, inputs)["d_tau"]
    np.testing.assert_allclose(found, tree_inverse_dynamics_derivatives(model, q, v, a, w)[0][:, 2], atol=1e-11)
