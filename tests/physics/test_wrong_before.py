"""What was wrong once, one test for each: motion in time, energy of what spins, stops, impacts, batches under constraints."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import linkwork as lw

G = 9.81
SPHERICAL = lw.Spherical()
METHODS = pytest.mark.parametrize("method", ["reduced", "maximal", "redmax"])


def particle(gravity: float = 0.0, *elements: object) -> lw.Model:
    """A mass of 1 kg that moves along z."""
    b = lw.ModelBuilder(gravity=(0, 0, -gravity))
    b.body("p", joint=lw.Prismatic((0, 0, 1)), inertia=lw.Inertia(1.0, tensor=np.eye(3)))
    for element in elements:
        b.add(element)
    return b.build()


@METHODS
def test_a_floor_that_rises(method: str) -> None:
    """It moves as fast as the mass: nothing happens between them."""
    model = particle(0.0, lw.constraint("p", lambda E, t: E[0].p[2] - t, unilateral=True))
    run = lw.simulate(model, lw.State([0.0], [1.0]), 0.8, 1e-3, method)
    assert run.v[-1, 0] == pytest.approx(1.0, abs=1e-9)
    assert run.q[-1, 0] == pytest.approx(0.8, abs=1e-9)
    slower = lw.simulate(model, lw.State([0.0], [0.4]), 0.8, 1e-3, method)  # the floor catches it at once
    assert slower.v[-1, 0] == pytest.approx(1.0, abs=1e-9)
    assert slower.q[-1, 0] == pytest.approx(0.8, abs=1e-9)


@METHODS
def test_a_joint_that_is_led_turns_from_the_start(method: str) -> None:
    """A wheel led at 2 rad/s, where it is and as fast as it should be: the motor has nothing to do."""
    b = lw.ModelBuilder()
    b.body("wheel", joint=lw.Revolute((0, 0, 1)), inertia=lw.Inertia(1.0, tensor=np.eye(3)))
    model = b.add(lw.PrescribedJoint("wheel", lambda t: (2.0 * t, 2.0, 0.0))).build()
    run = lw.simulate(model, lw.State([0.0], [2.0]), 0.1, 1e-4, method)
    assert run.forces is not None
    assert np.abs(run.v - 2.0).max() < 1e-9
    assert np.abs(run.forces).max() < 1e-6  # of rounding in q, divided by h^2
    late = lw.simulate(model, lw.State([0.0], [0.0]), 0.1, 1e-4, method)
    assert late.v[1, 0] == pytest.approx(2.0, abs=1e-9)


def spinning_body(joint: lw.Joint) -> tuple[lw.Model, lw.State]:
    b = lw.ModelBuilder(gravity=(0, 0, 0))
    b.body("a", joint=joint, inertia=lw.Inertia(1.0, tensor=np.diag([1, 1, 0.2])))
    model = b.build()
    return model, lw.State(model.neutral(), [0, 0, 0, 1, 0, 50] if repr(joint) == "FreeExp('TR')" else [1, 0, 50, 0, 0, 0])


def rods(gravity: float, speed: float, joint: lw.Joint = SPHERICAL) -> tuple[lw.Model, lw.State]:
    """Six rods of 0.3 m on ball joints, horizontal."""
    b, parent = lw.ModelBuilder(gravity=(0, 0, -gravity)), "world"
    for i in range(6):
        place, inertia = lw.SE3(p=(0.3 if i else 0, 0, 0)), lw.Inertia.cuboid(mass=1.0, size=(0.3, 0.06, 0.04), com=(0.15, 0, 0))
        b.body(f"b{i}", parent=parent, joint=joint, placement=place, inertia=inertia)
        parent = f"b{i}"
    model = b.build()
    return model, lw.State(model.neutral(), speed * np.random.default_rng(0).normal(size=model.nv))


def energy_errors(model: lw.Model, start: lw.State, method: str, duration: float) -> tuple[float, float]:
    """The trend (mean of the last sixth less that of the first) and the largest excursion, of the largest kinetic energy."""
    run = lw.simulate(model, start, duration, 1e-3, method, every=100)
    total, most = run.energy.total, run.energy.kinetic.max()
    part = len(total) // 6
    return abs(total[-part:].mean() - total[:part].mean()) / most, np.abs(total - total[0]).max() / most


@METHODS
@pytest.mark.parametrize("joint", [lw.Free(), lw.FreeExp("TR"), lw.FreeExp("RT")], ids=repr)
def test_a_body_that_spins_keeps_its_energy(joint: lw.Joint, method: str) -> None:
    """Exponential coordinates change their chart 478 times meanwhile."""
    _, excursion = energy_errors(*spinning_body(joint), method, 60.0)
    assert excursion < 1e-3


@METHODS
@pytest.mark.parametrize("joint", [lw.SphericalExp(), lw.SphericalEuler("xyz", "xzx")], ids=repr)
@pytest.mark.parametrize(("gravity", "speed"), [(G, (3, 1, -4)), (0.0, (20, 10, -14)), (G, (20, 10, -14))])
def test_a_rod_keeps_its_energy_over_changes_of_charts(gravity: float, speed: Any, joint: lw.Joint, method: str) -> None:
    b = lw.ModelBuilder(gravity=(0, 0, -gravity))
    b.body("rod", joint=joint, inertia=lw.Inertia.cuboid(mass=1.0, size=(0.3, 0.06, 0.04), com=(0.15, 0, 0)))
    model = b.build()
    trend, excursion = energy_errors(model, lw.State(model.neutral(), speed), method, 60.0)
    assert trend < 5e-3
    assert excursion < 1e-2


@METHODS
@pytest.mark.parametrize("joint", [SPHERICAL, lw.SphericalExp(), lw.SphericalEuler("xyz", "xzx")], ids=repr)
def test_rods_that_are_spun_keep_their_energy(joint: lw.Joint, method: str) -> None:
    trend, excursion = energy_errors(*rods(0.0, 5.0, joint), method, 60.0)
    assert trend < 0.02
    assert excursion < 0.1


@METHODS
def test_rods_that_are_released_keep_their_energy(method: str) -> None:
    trend, excursion = energy_errors(*rods(G, 0.0), method, 60.0)
    assert trend < 0.02
    assert excursion < 0.1


@pytest.mark.parametrize(("method", "error"), [("reduced", 0.1), ("maximal", 1e-3), ("redmax", 0.1)])
def test_a_tumbling_body_falls_as_it_should(method: str, error: float) -> None:
    """490 m in ten seconds, with the g t h / 2 of the method; in reduced coordinates velocities turn with the body."""
    b = lw.ModelBuilder()
    b.body("a", joint=lw.Free(), inertia=lw.Inertia(1.0, tensor=np.diag([0.04, 0.04, 0.02])))
    model = b.build()
    run = lw.simulate(model, lw.State(model.neutral(), [2, 4, 6, 0, 0, 0]), 10.0, 1e-3, method, every=1000)
    assert np.abs(run.poses[-1, 0, :3, 3] - [0, 0, -0.5 * G * 10.0 * (10.0 + 1e-3)]).max() < error


@pytest.mark.parametrize("newton", [False, True])
@pytest.mark.parametrize(
    "joint", [lw.Spherical(), lw.Universal(), lw.Prismatic((0, 0.6, 0.8)), lw.SphericalEuler("zyx")], ids=repr
)
def test_drives_with_inertia_on_a_turning_parent(joint: lw.Joint, newton: bool) -> None:
    """Implicit steps in maximal coordinates tend to the motion that reduced coordinates have, with an error of order h."""
    b, box = lw.ModelBuilder(), lw.Inertia(1.0, (0.1, -0.05, 0.2), np.diag([0.05, 0.08, 0.06]))
    b.body("base", joint=lw.Free(), inertia=box)
    b.body("arm", parent="base", joint=joint, placement=lw.SE3(p=(0.3, 0, 0.1)), inertia=box, armature=0.2)
    model = b.build()
    q, v = model.random_configuration(3), np.linspace(-2.0, 2.0, model.nv)
    truth = lw.simulate(model, lw.State(q, v), 0.1, 0.1, stepper="dop853", rtol=1e-11, atol=1e-12).poses[-1]
    coarse, fine = (
        lw.simulate(model, lw.State(q, v), 0.1, h, "maximal-implicit", every=round(0.1 / h), newton=newton).poses[-1]
        for h in (1e-3, 5e-4)
    )
    assert np.abs(2 * fine - coarse - truth).max() < 2e-6


@METHODS
def test_a_slider_rests_at_one_of_two_near_stops(method: str) -> None:
    b = lw.ModelBuilder(gravity=(0, 0, 0))
    b.body("s", joint=lw.Prismatic((1, 0, 0)), inertia=lw.Inertia(1.0, tensor=np.eye(3)))
    model = b.add(lw.Limit("s", 0, 0.1)).build()
    run = lw.simulate(model, lw.State([0.1], [0.0]), 1.0, 1e-3, method, tau=np.array([10.0]))
    assert run.forces is not None
    assert np.abs(run.forces - [0.0, 10.0]).max() < 1e-9
    assert np.abs(run.q - 0.1).max() < 1e-12
    pushed = lw.simulate(model, lw.State([0.05], [0.0]), 1.0, 1e-3, method, tau=np.array([10.0]))
    assert pushed.forces is not None
    assert np.abs(pushed.forces[-500:] - [0.0, 10.0]).max() < 1e-9


@METHODS
@pytest.mark.parametrize(("height", "speed", "dt"), [(1.0, 0.0, 0.01), (5.0, -100.0, 1 / 60)])
def test_a_ball_does_not_enter_the_floor(method: str, height: float, speed: float, dt: float) -> None:
    b = lw.ModelBuilder()
    b.body("ball", joint=lw.Free(), inertia=lw.Inertia(1.0, tensor=0.01 * np.eye(3)))
    model = b.add(lw.Contact("ball", lw.Sphere(radius=0.1))).build()
    q, v = model.neutral(), np.zeros(6)
    q[2], v[5] = height, speed
    run = lw.simulate(model, lw.State(q, v), 100 * dt, dt, method)
    assert run.q[:, 2].min() > 0.1 - 1e-9
    assert run.q[-1, 2] == pytest.approx(0.1, abs=1e-9)
    assert run.health.penetration is not None
    assert run.health.penetration < 1e-9


def test_forward_dynamics_with_a_coupling() -> None:
    """No velocities, and a batch of wrenches."""
    b = lw.ModelBuilder()
    for name in ("a", "b"):
        b.body(name, joint=lw.Revolute((0, 1, 0)), inertia=lw.Inertia(1.0, (0.3, 0, 0), np.eye(3)))
    model = b.add(lw.Coupling("b", "a", 2.0)).build()
    q = np.array([0.1, 0.2])
    a = lw.forward_dynamics(model, q, None)
    assert np.abs(a - lw.forward_dynamics(model, q, np.zeros(2))).max() < 1e-14
    assert a[1] == pytest.approx(2.0 * a[0])
    external = np.random.default_rng(0).normal(size=(5, 2, 6))
    many = lw.forward_dynamics(model, q, None, None, external)
    assert many.shape == (5, 2)
    for k in range(5):
        assert np.abs(many[k] - lw.forward_dynamics(model, q, None, None, external[k])).max() < 1e-12


def test_constrained_dynamics_of_a_ball_at_rest() -> None:
    b = lw.ModelBuilder()
    b.body("ball", joint=lw.Free(), inertia=lw.Inertia(2.0, tensor=0.01 * np.eye(3)))
    model = b.add(lw.Contact("ball", lw.Sphere(radius=0.1))).build()
    q = model.neutral()
    q[2] = 0.1
    a, force = lw.constrained_dynamics(model, q, np.zeros(6))
    assert np.abs(a).max() < 1e-12
    assert force == pytest.approx([2.0 * G])
    q[2] = 0.2
    a, force = lw.constrained_dynamics(model, q, np.zeros(6))
    assert a[5] == pytest.approx(-G)
    assert force == pytest.approx([0.0])
