"""Derivatives of the loaded model's dynamics against central differences, and of batches against single states."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from identities.loaded_kinds import EXTERNAL, KINDS, TAU, TIME, A, Q, V, model, moving

import linkwork as lw
from linkwork.elements.collection import collection
from linkwork.reduced.loaded_derivatives import derivatives_on_duals
from linkwork.reduced.loaded_slopes import _driven, loaded_slopes

STEP = 1e-5
EVERY_KIND = pytest.mark.parametrize("kind", KINDS)
Function = Callable[[np.ndarray, np.ndarray], np.ndarray]


def differences(m: lw.Model, f: Function, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Central differences of fourth order along displacements and velocities."""

    def column(at: Callable[[float], np.ndarray]) -> np.ndarray:
        return (8 * (at(STEP) - at(-STEP)) - (at(2 * STEP) - at(-2 * STEP))) / (12 * STEP)

    dq = [column(lambda s, e=e: f(m.integrate(q, s * e), v)) for e in np.eye(m.nv)]
    dv = [column(lambda s, e=e: f(q, v + s * e)) for e in np.eye(m.nv)]
    return np.array(dq).T, np.array(dv).T


def close(x: np.ndarray, y: np.ndarray, tolerance: float) -> bool:
    return bool(np.abs(x - y).max() <= tolerance * (1.0 + np.abs(y).max()))


@EVERY_KIND
def test_inverse_dynamics(kind: str) -> None:
    m, v = model(kind), moving(kind)
    dq, dv, da = lw.inverse_dynamics_derivatives(m, Q, v, A, EXTERNAL, t=TIME)
    fq, fv = differences(m, lambda q, v: lw.inverse_dynamics(m, q, v, A, EXTERNAL, t=TIME), Q, v)
    assert close(dq, fq, 1e-7)
    assert close(dv, fv, 1e-7)
    assert close(da, lw.mass_matrix(m, Q), 1e-13)


@EVERY_KIND
def test_forward_dynamics(kind: str) -> None:
    """Near the state the rows do not hold, and are what they are there: accelerations obey G a + bias = 0 all the same."""
    m, v = model(kind), moving(kind)
    dq, dv = lw.forward_dynamics_derivatives(m, Q, v, TAU, EXTERNAL, t=TIME)
    fq, fv = differences(m, lambda q, v: lw.forward_dynamics(m, q, v, TAU, EXTERNAL, t=TIME), Q, v)
    assert close(dq, fq, 1e-6)
    assert close(dv, fv, 1e-6)


@EVERY_KIND
def test_recursions_and_dual_numbers(kind: str) -> None:
    m, v = model(kind), moving(kind)
    found = lw.linearised_dynamics(m, Q, v, TAU, EXTERNAL, t=TIME)
    other = derivatives_on_duals(m, Q, v, TAU, EXTERNAL, TIME, None)
    assert all(close(x, y, 1e-10) for x, y in zip(found, other, strict=True))


@EVERY_KIND
def test_batches(kind: str) -> None:
    m, v = model(kind), moving(kind)
    rng = np.random.default_rng(2)
    q = np.array([m.integrate(Q, 0.05 * k * rng.normal(size=m.nv)) for k in range(5)])
    tau, external = rng.normal(size=(5, m.nv)), rng.normal(size=(5, m.nb, 6))
    forward = lw.forward_dynamics_derivatives(m, q, v, tau, external, t=TIME)
    inverse = lw.inverse_dynamics_derivatives(m, q, v, A, external, t=TIME)
    for k in range(5):
        one = lw.forward_dynamics_derivatives(m, q[k], v, tau[k], external[k], t=TIME)
        assert all(close(x[k], y, 1e-12) for x, y in zip(forward, one, strict=True))
        one = lw.inverse_dynamics_derivatives(m, q[k], v, A, external[k], t=TIME)
        assert all(np.array_equal(x[k], y) for x, y in zip(inverse, one, strict=True))


def test_friction_that_sticks() -> None:
    """A joint that sticks does not begin to move by small changes; one that slips keeps its force."""
    m, still = model("dry friction"), np.zeros_like(V)
    sticking = lw.inverse_dynamics(m, Q, still, still)
    dq, _ = lw.forward_dynamics_derivatives(m, Q, still, sticking)
    fq, _ = differences(m, lambda q, v: lw.forward_dynamics(m, q, v, sticking), Q, still)
    assert close(dq, fq, 1e-6)
    assert np.abs(dq[m.v_index("a")]).max() < 1e-9


def driven() -> lw.Model:
    """Forces on joints of one and of several freedoms, two of them on one joint."""
    rod = lw.Inertia.cuboid(1.0, (0.1, 0.1, 0.4))
    b = lw.ModelBuilder()
    b.body("base", joint=lw.Free(), inertia=rod)
    for k, joint in enumerate((lw.Spherical(), lw.Revolute((0, 1, 0)), lw.Universal())):
        b.body(f"b{k}", parent="base" if k < 2 else "b0", joint=joint, placement=lw.SE3(p=(0, 0.1 * k, 0.4)), inertia=rod)
    drives = (lw.PDController("b1", 20.0, 0.5, target=[0.2]), lw.PDController("b0", 4.0, 0.2, target=[1.0, 0.0, 0.0, 0.0]))
    return b.build().add(*drives, lw.JointSpring("b1", 7.0, damping=0.1), lw.JointSpring("b2", 3.0, damping=0.3))


def test_forces_on_joints_are_one_program() -> None:
    """As by ports and by dual numbers; a batch is its states; time, inputs and wrenches may be given."""
    m, rng = driven(), np.random.default_rng(0)
    smooth = _driven(m)
    assert smooth is not None
    q = np.array([m.random_configuration(k) for k in range(3)])
    v, tau, external = rng.normal(size=(3, m.nv)), rng.normal(size=(3, m.nv)), rng.normal(size=(3, m.nb, 6))
    u = collection(m).initial_inputs + 0.1 * rng.normal(size=len(collection(m).initial_inputs))
    many = lw.linearised_dynamics(m, q, v, tau)
    loaded = lw.linearised_dynamics(m, q, v, tau, external, t=0.3, inputs=u)
    for k in range(3):
        one = lw.linearised_dynamics(m, q[k], v[k], tau[k])
        assert all(np.array_equal(x, y[k]) for x, y in zip(one, many, strict=True))
        for given in ((tau[k], None, 0.0, None), (tau[k], external[k], 0.3, u), (None, None, 0.0, None)):
            found = lw.linearised_dynamics(m, q[k], v[k], given[0], given[1], t=given[2], inputs=given[3])
            for other in (loaded_slopes(m).derivatives(q[k], v[k], *given), derivatives_on_duals(m, q[k], v[k], *given)):
                assert all(close(x, y, 1e-11) for x, y in zip(found, other, strict=True))
        assert all(
            np.array_equal(x[k], y)
            for x, y in zip(loaded, lw.linearised_dynamics(m, q[k], v[k], tau[k], external[k], t=0.3, inputs=u), strict=True)
        )
