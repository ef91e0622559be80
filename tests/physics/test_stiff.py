"""Stiff chains at 60 steps a second: energy never grows, hardly decays, and the slow modes move as they should."""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw
from linkwork.bench.stiff import DT, bent, stiff_chain
from linkwork.steppers.rosenbrock import joint_terms

LINKS = 100


def relative_energy(model: lw.Model, run: lw.Trajectory) -> np.ndarray:
    """Above the chain at rest, relative to the start."""
    rest = float(lw.energy(model, lw.State(np.zeros(model.nv), np.zeros(model.nv))).total)
    e = lw.energy(model, lw.State(run.q, run.v)).total - rest
    return e / e[0]


def test_a_stiff_chain_keeps_its_energy_for_a_minute() -> None:
    """MuJoCo's discrete integrator and DART keep 0.853 of it for ten seconds."""
    model = stiff_chain(LINKS, 1e4)
    run = lw.simulate(model, bent(LINKS), 60.0, DT, stepper="rosenbrock")
    e = relative_energy(model, run)
    assert e.max() <= 1.0 + 1e-9
    assert e[600] > 0.99
    assert e[-1] > 0.98


@pytest.mark.parametrize("stepper", ["bdf1", "bdf2", "linearly_implicit"])
@pytest.mark.parametrize("stiffness", [1e4, 1e8])
def test_implicit_steps_never_gain_energy(stepper: str, stiffness: float) -> None:
    model = stiff_chain(LINKS, stiffness)
    e = relative_energy(model, lw.simulate(model, bent(LINKS), 1.0, DT, "redmax", stepper=stepper))
    assert e.max() <= 1.0 + 1e-9
    if stepper == "bdf2":
        assert e[-1] > {1e4: 0.98, 1e8: 0.05}[stiffness]


def test_slow_modes_are_those_of_a_fine_reference() -> None:
    """The three largest principal motions of the reference, at 1/6000 s, are followed within 5 % of their size."""
    model = stiff_chain(LINKS, 1e4)
    coarse = lw.simulate(model, bent(LINKS), 2.0, DT, stepper="rosenbrock").q
    fine = lw.simulate(model, bent(LINKS), 2.0, DT / 100, stepper="rosenbrock", every=100).q
    modes = np.linalg.svd(fine - fine.mean(axis=0), full_matrices=False)[2][:3]
    size = np.abs(fine @ modes.T).max(axis=0)
    assert np.all(np.abs((coarse - fine) @ modes.T).max(axis=0)[:1] < 0.05 * size[:1])
    for k in range(3):
        a, b = (np.abs(np.fft.rfft((q - q.mean(axis=0)) @ modes[k])) for q in (coarse, fine))
        assert abs(a.argmax() - b.argmax()) <= 1
        assert abs(a.max() / b.max() - 1.0) < 0.05


def test_springs_and_dampers_in_parallel_are_one() -> None:
    b = lw.ModelBuilder()
    rod = lw.Inertia.cuboid(mass=1.0, size=(0.5, 0.1, 0.1), com=(0.25, 0, 0))
    b.body("a", joint=lw.Revolute((0, 1, 0)), inertia=rod)
    b.body("b", parent="a", joint=lw.Cylindrical((0, 0, 1)), placement=lw.SE3(p=(0.5, 0, 0)), inertia=rod)
    b.add(lw.JointSpring("a", 30.0, rest=0.2, damping=0.5))
    b.add(lw.JointSpring("a", 10.0, rest=-0.2))
    b.add(lw.JointDamping("b", (0.1, 0.2)))
    model = b.build()
    terms = joint_terms(model)
    np.testing.assert_allclose(terms["stiffness"], [40, 0, 0])
    np.testing.assert_allclose(terms["rest"], [0.1, 0, 0])
    np.testing.assert_allclose(terms["joint_damping"], [0.5, 0.1, 0.2])
    start = lw.State(np.array([0.3, -0.2, 0.1]), np.array([1.0, 0.5, -0.3]))
    exact = lw.simulate(model, start, 0.3, 0.3, stepper="dop853", rtol=1e-11, atol=1e-12).final
    errors = [np.abs(lw.simulate(model, start, 0.3, 0.3 / n, stepper="rosenbrock").final.q - exact.q).max() for n in (200, 400)]
    assert errors[1] < 1e-5
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.1)


def test_a_batch_of_stiff_chains_is_its_members() -> None:
    model = stiff_chain(12)
    q = np.linspace(0.001, 0.02, 9)[:, None] * np.ones(12)
    batch = lw.simulate(model, lw.State(q, np.zeros((9, 12))), 0.5, DT, stepper="rosenbrock")
    for k in (0, 8):
        alone = lw.simulate(model, lw.State(q[k], np.zeros(12)), 0.5, DT, stepper="rosenbrock")
        np.testing.assert_array_equal(batch.arrays["q"][k], alone.arrays["q"])


def test_what_the_program_cannot_step_is_refused() -> None:
    model = stiff_chain(2)
    spring = lw.PointSpring("link1", stiffness=1.0)
    with pytest.raises(lw.InputError, match="steps trees with springs and dampers on their joints, nothing else"):
        lw.simulate(model.replace(elements=(*model.elements, spring)), bent(2), 0.1, DT / 2, stepper="rosenbrock")
    ball = lw.ModelBuilder().body("ball", joint=lw.Spherical(), inertia=lw.Inertia.sphere(1.0, 0.1))
    ball.add(lw.JointSpring("ball", 1.0))
    with pytest.raises(lw.InputError, match=r"JointSpring\('ball'\) is on Spherical"):
        lw.simulate(ball.build(), lw.State([1, 0, 0, 0], np.zeros(3)), 0.1, 0.1, stepper="rosenbrock")
