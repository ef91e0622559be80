"""The variational integrators: energy over long times, momenta exactly, forces as far as they go."""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw
from linkwork.scenes.loop import four_bar
from linkwork.steppers.discrete_lagrangian import EXP, INVERSE, JACOBIAN, momenta
from linkwork.steppers.rows_at import rows_at

VARIATIONAL = ("variational", "variational4")


def pendulum(links: int) -> lw.Model:
    """Rods of 1 m and 1 kg, hinged about y; at zero it lies along x."""
    b = lw.ModelBuilder()
    rod = lw.Inertia.cuboid(mass=1.0, size=(1.0, 0.1, 0.1), com=(0.5, 0, 0))
    for i in range(links):
        place = lw.SE3(p=(1.0 if i else 0.0, 0, 0))
        b.body(f"rod{i}", parent=f"rod{i - 1}" if i else "world", joint=lw.Revolute((0, 1, 0)), placement=place, inertia=rod)
    return b.build()


def energies(run: lw.Trajectory) -> np.ndarray:
    return lw.energy(run.model, lw.State(run.q, run.v)).total


def depth(model: lw.Model) -> float:
    """The potential energy between horizontal and hanging, J."""
    hanging = np.zeros(model.nv)
    hanging[0] = np.pi / 2
    states = (lw.State(q, np.zeros(model.nv)) for q in (model.neutral(), hanging))
    top, bottom = (float(lw.energy(model, s).potential) for s in states)
    return top - bottom


@pytest.mark.slow
def test_a_million_steps_keep_the_energy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LINKWORK_LEVEL", "1")  # worth compiling well
    model = pendulum(5)
    run = lw.simulate(model, lw.State(model.neutral(), np.zeros(5)), 1000.0, 1e-3, stepper="variational4", every=20)
    error = np.abs(energies(run) - energies(run)[0]) / depth(model)
    assert error.max() < 1e-4
    assert error[-1000:].mean() < 2 * error[:1000].mean() + 1e-7  # no drift


def test_order_two_keeps_the_energy_of_a_gentle_swing() -> None:
    model = pendulum(3)
    q = np.array([np.pi / 2 - 0.3, 0.1, 0.1])
    run = lw.simulate(model, lw.State(q, np.zeros(3)), 100.0, 1e-3, stepper="variational", every=50)
    e = energies(run)
    assert np.abs(e - e[0]).max() < 1e-5 * depth(model)
    first, last = np.abs(e - e[0])[:500].max(), np.abs(e - e[0])[-500:].max()
    assert last < 1.5 * first


@pytest.mark.parametrize("stepper", VARIATIONAL)
def test_momenta_of_floating_bodies_are_kept(stepper: str) -> None:
    """No forces: linear and angular momentum to rounding, whatever the joints do inside."""
    b = lw.ModelBuilder(gravity=(0, 0, 0))
    block = lw.Inertia(1.0, (0.1, 0.2, -0.1), np.diag([0.5, 0.7, 0.9]))
    b.body("base", joint=lw.Free(), inertia=block)
    b.body("arm", parent="base", joint=lw.Spherical(), placement=lw.SE3(p=(0.3, 0, 0)), inertia=block)
    b.body("hand", parent="arm", joint=lw.Universal(), placement=lw.SE3(p=(0.3, 0.1, 0)), inertia=block)
    model = b.build()
    q, v = model.random_configuration(3), np.linspace(-1.0, 1.2, model.nv)
    run = lw.simulate(model, lw.State(q, v), 2.0, 2e-3, stepper=stepper, every=50)
    found = np.array([momentum(model, lw.State(*s)) for s in zip(run.q, run.v, strict=True)])
    assert np.abs(found - found[0]).max() < 1e-10 * np.abs(found[0]).max()


def momentum(model: lw.Model, state: lw.State) -> np.ndarray:
    """Angular about the world's origin, and linear."""
    k = lw.kinematics(model, state.q, state.v)
    total = np.zeros(6)
    for body, E, phi in zip(model.bodies, k.poses, k.twists, strict=True):
        R, p = E[:3, :3], E[:3, 3]
        c = R @ body.inertia.com
        w, u = R @ phi[:3], R @ phi[3:]
        linear = body.inertia.mass * (u + np.cross(w, c))
        spin = R @ body.inertia.tensor @ R.T @ w
        total += np.concatenate([spin + np.cross(p + c, linear), linear])
    return total


@pytest.mark.parametrize("stepper", VARIATIONAL)
def test_forces_and_damping_enter(stepper: str) -> None:
    """A driven, damped arm: the same motion as the accurate method."""
    b = lw.ModelBuilder()
    block = lw.Inertia(1.0, (0.3, 0.0, -0.1), np.diag([0.1, 0.2, 0.2]))
    b.body("a", joint=lw.Revolute((0, 1, 0)), inertia=block, damping=0.4, armature=0.2)
    b.body("b", parent="a", joint=lw.Spherical(), placement=lw.SE3(p=(0.5, 0, 0)), inertia=block)
    model = b.build()
    start = lw.State(model.neutral(), np.linspace(0.5, -0.5, model.nv))
    tau, external = np.array([1.0, -0.5, 0.2, 0.3]), np.linspace(-1, 1, 12).reshape(2, 6)
    exact = lw.simulate(model, start, 0.5, 0.5, stepper="dop853", tau=tau, external=external, rtol=1e-11, atol=1e-12)
    runs = [lw.simulate(model, start, 0.5, h, stepper=stepper, tau=tau, external=external) for h in (4e-3, 2e-3)]
    coarse, fine = (np.abs(model.difference(exact.final.q, r.final.q)).max() for r in runs)
    assert fine < 1e-5
    assert coarse / fine > 3.5


IDLE = lw.BodyDamping("body", 0.0)  # no force, but the sweeps of forces
ROUTES = pytest.mark.parametrize("elements", [(), (IDLE,)], ids=["bare", "loaded"])


def spinning(elements: tuple[object, ...], com: tuple[float, float, float] = (0.0, 0.0, 0.0), **drive: object) -> lw.Model:
    b = lw.ModelBuilder()
    b.body("body", joint=lw.Free(), inertia=lw.Inertia(1.0, com, np.diag([0.04, 0.04, 0.02])), **drive)
    return b.build().replace(elements=elements)


@ROUTES
@pytest.mark.parametrize("stepper", VARIATIONAL)
def test_a_spinning_body_falls_on_a_parabola(stepper: str, elements: tuple[object, ...]) -> None:
    """However fast it has become: turning and falling do not meet, so both are those of the method to rounding."""
    model = spinning(elements)
    start = lw.State(model.neutral(), np.array([2.0, 4.0, 6.0, 0.0, 0.0, 0.0]))
    run = lw.simulate(model, start, 10.0, 1e-2, stepper=stepper)
    fallen = np.outer(run.t**2 / 2, model.gravity)
    assert np.abs(run.q[:, :3] - fallen).max() < 1e-9
    assert np.abs(energies(run) - energies(run)[0]).max() < 1e-8


@pytest.mark.parametrize("stepper", VARIATIONAL)
def test_the_centre_of_mass_falls_on_a_parabola(stepper: str) -> None:
    """The origin circles it: its parabola has the error of the method, and the energy stays near its start."""
    model, order = spinning((), (0.1, 0.0, 0.05)), 2 if stepper == "variational" else 4
    c, start = model.bodies[0].inertia.com, lw.State(model.neutral(), np.array([2.0, 4.0, 6.0, 0.0, 0.0, 0.0]))
    errors = []
    for h in (1e-2, 5e-3):
        run = lw.simulate(model, start, 10.0, h, stepper=stepper)
        centres = np.array([lw.kinematics(model, q, v).poses[0] @ [*c, 1.0] for q, v in zip(run.q, run.v, strict=True)])[:, :3]
        speed = np.cross([2.0, 4.0, 6.0], c)
        errors.append(np.abs(centres - c - np.outer(run.t, speed) - np.outer(run.t**2 / 2, model.gravity)).max())
        e = energies(run)
        assert np.abs(e - e[0]).max() < 0.05
    assert errors[1] < 0.1
    assert np.log2(errors[0] / errors[1]) > order - 0.3


@ROUTES
@pytest.mark.parametrize("stepper", VARIATIONAL)
def test_forces_on_a_free_joint_enter(stepper: str, elements: tuple[object, ...]) -> None:
    """Its forces, damping and armature belong to its own velocities, in axes that turn; the path has others."""
    armature, damping = np.array([0.02, 0.02, 0.02, 0.0, 0.0, 0.0]), np.array([0.01, 0.0, 0.02, 0.1, 0.4, 0.2])
    model = spinning(elements, (0.05, 0.0, 0.1), armature=armature, damping=damping)
    start = lw.State(model.random_configuration(1), np.array([1.0, -2.0, 1.5, 0.3, 2.0, -0.5]))
    tau, external = np.linspace(0.1, -0.2, 6), np.linspace(-0.1, 0.3, 6)[None]
    exact = lw.simulate(model, start, 0.5, 0.5, stepper="dop853", tau=tau, external=external, rtol=1e-11, atol=1e-12)
    runs = [lw.simulate(model, start, 0.5, h, stepper=stepper, tau=tau, external=external) for h in (2e-2, 1e-2)]
    coarse, fine = (np.abs(model.difference(exact.final.q, r.final.q)).max() for r in runs)
    assert fine < 1e-3
    assert coarse / fine > 3.5


@pytest.mark.parametrize("stepper", VARIATIONAL)
@pytest.mark.parametrize("joint", [lw.Spherical(), lw.Free(), lw.Composite(lw.Translational(), lw.Spherical())], ids=repr)
def test_drives_with_inertia_of_their_own(joint: lw.Joint, stepper: str) -> None:
    """However different along the axes of a joint: it resists the rates of the joint's velocities, and nothing else."""
    block = lw.Inertia(1.0, (0.1, 0.2, -0.1), np.diag([0.3, 0.4, 0.5]))
    model = lw.ModelBuilder().body("a", joint=joint, inertia=block, armature=np.linspace(0.1, 0.3, joint.nv)).build()
    start = lw.State(model.random_configuration(1), np.linspace(1.0, 2.0, model.nv))
    exact = lw.simulate(model, start, 0.2, 0.2, stepper="dop853", rtol=1e-12, atol=1e-13)
    runs = [lw.simulate(model, start, 0.2, 0.2 / n, stepper=stepper) for n in (20, 40)]
    coarse, fine = (np.abs(model.difference(exact.final.q, r.final.q)).max() for r in runs)
    assert np.log2(coarse / fine) == pytest.approx(2 if stepper == "variational" else 4, abs=0.1)


def test_loops_stay_closed_and_keep_their_energy() -> None:
    """Half a turn of a four-bar linkage and back, several times: the error of the energy comes back with it."""
    model, state = four_bar()
    run = lw.simulate(model, state, 6.0, 1e-2, stepper="variational", every=2)
    e = run.energy
    error = np.abs(e.total - e.total[0]) / np.ptp(e.potential)
    assert error.max() < 5e-3
    assert error[-50:].max() < 1.5 * error[:100].max()
    assert run.health.constraint_residual < 1e-12
    assert max(np.abs(rows_at(model, s, s.t).rate).max() for s in (run[7], run.final)) < 1e-11


def test_redundant_rows_and_forces_of_constraints() -> None:
    """The loop closed twice: the same motion; once, with the forces of the accurate method."""
    model, state = four_bar()
    doubled = model.replace(elements=[*model.elements, *model.elements])
    plain, twice = (lw.simulate(m, state, 0.1, 1e-2, stepper="variational") for m in (model, doubled))
    np.testing.assert_allclose(twice.q, plain.q, rtol=0, atol=1e-10)
    np.testing.assert_allclose(twice.forces[:, :3] + twice.forces[:, 3:], plain.forces, rtol=0, atol=1e-6)
    exact = lw.simulate(model, state, 0.1, 5e-3, stepper="dop853", rtol=1e-10)
    np.testing.assert_allclose(plain.forces[5], exact.forces[9], rtol=0, atol=0.01 * np.abs(exact.forces).max())


@pytest.mark.slow
@pytest.mark.parametrize("stepper", VARIATIONAL)
def test_a_loop_with_a_spring_keeps_its_energy_for_long(stepper: str) -> None:
    """A hundred thousand steps of a linkage that swings on a spring: closed to rounding, no drift."""
    model, state = four_bar()
    coupler = model.bodies[1].name
    model = model.add(lw.SpringDamper(coupler, "world", (0, 0, 0), (0, 0, 1.0), stiffness=20.0, rest_length=0.5))
    run = lw.simulate(model, state, 500.0, 5e-3, stepper=stepper, every=20)
    e = run.energy
    error = np.abs(e.total - e.total[0]) / np.ptp(e.potential)
    assert error.max() < (1e-2 if stepper == "variational" else 1e-4)
    assert error[-1000:].mean() < 1.2 * error[:1000].mean()
    assert run.health.constraint_residual < 1e-12


def test_springs_keep_their_energy_too() -> None:
    """Forces with a potential belong to the discrete Lagrangian: no drift over many periods."""
    b = lw.ModelBuilder(gravity=(0, 0, 0))
    b.body("bob", joint=lw.Translational(), inertia=lw.Inertia(1.0))
    b.add(lw.SpringDamper("bob", "world", stiffness=40.0, rest_length=0.5))
    run = lw.simulate(b.build(), lw.State([0.8, 0, 0], [0.0, 1.0, 0.0]), 15.0, 0.05, stepper="variational", every=2)
    e = run.energy
    error = np.abs(e.total - e.total[0]) / e.total[0]
    assert error.max() < 0.03
    assert error[-30:].max() < 1.2 * error[:60].max()


@pytest.mark.parametrize("stepper", VARIATIONAL)
def test_what_is_on_velocities_only(stepper: str) -> None:
    b = lw.ModelBuilder().body("a", joint=lw.Translational(), inertia=lw.Inertia(2.0))
    b.add(lw.PrescribedTwist("a", lambda t: (np.zeros(3), [t, 0, 0], np.zeros(3), [1.0, 0, 0]), rows=[3]))
    run = lw.simulate(b.build(), lw.State(np.zeros(3), np.zeros(3)), 0.2, 0.01, stepper=stepper)
    np.testing.assert_allclose(run.v[:, 0], run.t, rtol=0, atol=1e-14)
    np.testing.assert_allclose(run.q[:, 0], run.t**2 / 2, rtol=0, atol=1e-14)
    np.testing.assert_allclose(run.forces, 2.0, rtol=1e-10)


@pytest.mark.parametrize("elements", [(), (lw.JointSpring("rod3", 1.0),)], ids=["bare", "loaded"])
def test_a_step_that_is_too_long_says_so(elements: tuple[object, ...]) -> None:
    model = pendulum(4).replace(elements=elements)
    with pytest.raises(lw.LinkworkError, match=r"did not converge: .*take a smaller dt"):
        lw.simulate(model, lw.State(model.neutral(), np.full(4, 30.0)), 1.0, 0.1, stepper="variational")


def test_a_controller_sees_states() -> None:
    model = pendulum(2)
    seen: list[np.ndarray] = []

    def control(t: float, state: lw.State) -> np.ndarray:
        seen.append(state.v)
        return np.zeros(2)

    start = lw.State(model.neutral(), np.array([1.0, -2.0]))
    driven = lw.simulate(model, start, 0.02, 1e-3, stepper="variational", control=control)
    free = lw.simulate(model, start, 0.02, 1e-3, stepper="variational")
    np.testing.assert_allclose(seen, free.v[:-1], rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(driven.q, free.q, rtol=1e-12, atol=1e-13)


def test_series_are_those_of_the_group() -> None:
    """On SO(3): exp(-A), the body Jacobian and its inverse, against closed forms."""
    from linkwork.spatial import so3

    xi = np.array([0.15, -0.1, 0.2])
    A = np.stack([np.cross(xi, e) for e in np.eye(3)], axis=1)

    def total(weights: list[float]) -> np.ndarray:
        return sum(w * np.linalg.matrix_power(A, k) for k, w in enumerate(weights))

    assert np.abs(total(EXP) - so3.exp(-xi)).max() < 1e-10
    assert np.abs(total(JACOBIAN) - so3.right_jacobian(xi)).max() < 1e-10
    assert np.abs(total(INVERSE) - so3.right_jacobian_inverse(xi)).max() < 1e-10
    p0, p1 = momenta(lw.Revolute(), np.array([0.3]), 0.1, np.array([2.0]), np.array([4.0]))
    assert (p0[0], p1[0]) == (1.8, 2.2)
