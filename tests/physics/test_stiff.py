"""Stiff chains at 60 steps a second: energy never grows, hardly decays, and the slow modes move as they should."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import eigh

import linkwork as lw
from linkwork.bench.stiff import DT, PEERS, bent, stiff_chain
from linkwork.bench.stiff_energy import ours, theirs
from linkwork.scenes.loop import four_bar

LINKS = 100


def test_a_stiff_chain_keeps_its_energy_for_a_minute() -> None:
    """MuJoCo's discrete integrator and DART keep less than 0.9 of it for ten seconds."""
    e = ours("reduced", "rosenbrock", 1e4, 60.0)
    assert e.max() <= 1.0 + 1e-9
    assert e[600] > 0.99
    assert e[-1] > 0.98


def test_a_chain_ten_thousand_times_as_stiff_never_gains_energy() -> None:
    """Its slowest mode has 35 rad/s, 0.6 rad in a step; of MuJoCo's discrete less than 1e-4 is left after one second."""
    e = ours("redmax", "sdirk2", 1e8, 0.2)
    assert np.diff(e).max() <= 0.0
    assert e[12] > 0.6


@pytest.mark.parametrize("stiffness", [1e3, 1e5])
def test_peers_lose_more(stiffness: float) -> None:
    """A shorter chain, less stiff, for a second; `python -m linkwork.bench.stiff_energy` runs the long one for a minute."""
    kept = ours("redmax", "sdirk2", stiffness, 1.0, 20)
    assert kept.max() <= 1.0 + 1e-9
    for engine in PEERS:
        e = theirs(engine, stiffness, 1.0, 20)
        if e is not None:
            assert e[0] == 1.0
            assert 0.0 <= e[1] < kept[-1]


@pytest.mark.parametrize("stiffness", [1e4, 1e8])
def test_implicit_maximal_steps_never_gain_energy_for_a_minute(stiffness: float) -> None:
    model = stiff_chain(LINKS, stiffness)
    e = lw.simulate(model, bent(LINKS), 60.0, DT, "maximal-implicit").energy.total
    assert e.max() <= e[0] + 1e-9 * abs(e[0])


@pytest.mark.parametrize("stepper", ["bdf1", "bdf2", "linearly_implicit"])
@pytest.mark.parametrize("stiffness", [1e4, 1e8])
def test_implicit_steps_never_gain_energy(stepper: str, stiffness: float) -> None:
    e = ours("redmax", stepper, stiffness, 0.25, 30)
    assert e.max() <= 1.0 + 1e-9
    if stepper == "bdf2" and stiffness == 1e4:
        assert e[-1] > 0.7


def test_slow_modes_are_those_of_a_fine_reference() -> None:
    """Along the three slowest modes of small motions the chain follows a reference at 1/6000 s within 5 % of their size."""
    model = stiff_chain(LINKS, 1e4)
    coarse = lw.simulate(model, bent(LINKS), 2.0, DT, stepper="rosenbrock").q
    fine = lw.simulate(model, bent(LINKS), 2.0, DT / 100, stepper="rosenbrock", every=100).q
    M = lw.mass_matrix(model, np.zeros(LINKS))
    _, modes = eigh(stiffness_at_rest(model), M)
    found, truth = (q @ M @ modes[:, :3] for q in (coarse, fine))
    assert np.all(np.abs(found - truth).max(axis=0) < 0.05 * np.abs(truth).max(axis=0))


def stiffness_at_rest(model: lw.Model) -> np.ndarray:
    """Minus the derivative of the joint forces that hold the chain, by central differences."""
    h, I = 1e-6, np.eye(model.nv)
    springs = lw.force_set(model)

    def held(q: np.ndarray) -> np.ndarray:
        return lw.gravity_forces(model, q) - springs.joint_forces(q, np.zeros_like(q))

    K = np.array([(held(h * e) - held(-h * e)) / (2 * h) for e in I])
    return 0.5 * (K + K.T)


def test_springs_and_dampers_in_parallel_are_one() -> None:
    b = lw.ModelBuilder()
    rod = lw.Inertia.cuboid(mass=1.0, size=(0.5, 0.1, 0.1), com=(0.25, 0, 0))
    b.body("a", joint=lw.Revolute((0, 1, 0)), inertia=rod)
    b.body("b", parent="a", joint=lw.Cylindrical((0, 0, 1)), placement=lw.SE3(p=(0.5, 0, 0)), inertia=rod)
    b.add(lw.JointSpring("a", 30.0, rest=0.2, damping=0.5))
    b.add(lw.JointSpring("a", 10.0, rest=-0.2))
    b.add(lw.JointDamping("b", (0.1, 0.2)))
    model = b.build()
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


def test_steps_from_python_are_those_of_the_program() -> None:
    """Springs on hinges, once with a force that does nothing: then both stages are solves in velocities."""
    model, start = stiff_chain(4), lw.State(np.full(4, 0.1), np.linspace(-1.0, 1.0, 4))
    idle = model.replace(elements=(*model.elements, lw.PointSpring("link1", stiffness=0.0)))
    fast, slow = (lw.simulate(m, start, 0.5, DT, stepper="rosenbrock") for m in (model, idle))
    np.testing.assert_allclose(fast.v, slow.v, rtol=0, atol=1e-8 * np.abs(fast.v).max())


def test_a_stiff_loop_stays_closed_and_does_not_gain() -> None:
    """A four-bar linkage with springs of 1e5 Nm/rad, turned a little: 60 steps a second, frequencies of 1e4 rad/s."""
    model, state = four_bar()
    springs = [lw.JointSpring(b.name, 1e5, rest=state.q[i]) for i, b in enumerate(model.bodies)]
    stiff = model.replace(elements=(*model.elements, *springs))
    start = lw.project(stiff, lw.State(state.q + np.array([0.01, 0.0, 0.0]), np.zeros(3)))
    run = lw.simulate(stiff, start, 2.0, DT, stepper="rosenbrock")
    assert run.health.constraint_residual < 1e-5
    assert np.all(np.diff(run.energy.total) < 1e-6)
    assert np.abs(run.q[-1] - state.q).max() < 1e-3
