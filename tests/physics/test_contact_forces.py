"""Contact forces at acceleration level: closed forms, steps as h -> 0, and rods that dig in (Painleve)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import linkwork as lw
from linkwork.reduced.contact_forces import contact_forces

G, MU = 9.81, 0.5


def block(angle: float) -> lw.Model:
    """On four points of a plane that leans by an angle along x."""
    b = lw.ModelBuilder(gravity=(G * np.sin(angle), 0, -G * np.cos(angle)))
    b.body("block", joint=lw.Free(), inertia=lw.Inertia.cuboid(mass=2.0, size=(0.2, 0.2, 0.02)))
    for x in (-0.1, 0.1):
        for y in (-0.1, 0.1):
            b.add(lw.Contact("block", lw.Sphere(0.001, (x, y, -0.009)), friction=MU))
    return b.build()


BLOCK = np.array([0, 0, 0.01, 1, 0, 0, 0.0])


def ball(angle: float) -> lw.Model:
    b = lw.ModelBuilder(gravity=(G * np.sin(angle), 0, -G * np.cos(angle)))
    b.body("ball", joint=lw.Free(), inertia=lw.Inertia.sphere(mass=2.0, radius=0.1))
    return b.add(lw.Contact("ball", lw.Sphere(0.1), friction=MU)).build()


BALL = np.array([0, 0, 0.1, 1, 0, 0, 0.0])
CASES = {
    "sticks": (block(0.3), BLOCK, (0, 0, 0, 0, 0, 0), 0.0),
    "begins to slide": (block(0.6), BLOCK, (0, 0, 0, 0, 0, 0), G * (np.sin(0.6) - MU * np.cos(0.6))),
    "slides down": (block(0.1), BLOCK, (0, 0, 0, 1.0, 0, 0), G * (np.sin(0.1) - MU * np.cos(0.1))),
    "slides up": (block(0.1), BLOCK, (0, 0, 0, -1.0, 0, 0), G * (np.sin(0.1) + MU * np.cos(0.1))),
    "slides across": (block(0.3), BLOCK, (0, 0, 0, 0, 1.0, 0), G * np.sin(0.3)),
    "rolls": (ball(0.3), BALL, (0, 2.0, 0, 0.2, 0, 0), 5.0 / 7.0 * G * np.sin(0.3)),
    "slips": (ball(0.0), BALL, (0, 0, 0, 1.0, 0, 0), -MU * G),
    "rolls too steeply": (ball(1.2), BALL, (0, 0, 0, 0, 0, 0), G * (np.sin(1.2) - MU * np.cos(1.2))),
}


@pytest.mark.parametrize("name", CASES)
def test_accelerations_are_the_closed_form_and_what_steps_tend_to(name: str) -> None:
    model, q, velocity, expected = CASES[name]
    v = np.array(velocity, float)
    found = contact_forces(model, q, v)
    assert found.jumps == 0
    np.testing.assert_array_equal(found.v, v)
    assert found.accelerations[3] == pytest.approx(expected, abs=1e-9)
    errors = []
    for h in (1e-3, 5e-4):
        run = lw.simulate(model, lw.State(q, v), h, h, evaluations=0)
        rate = (run.v[-1] - v) / h  # along the normal, axes that turn count by half: velocities are those of the middle of a step
        errors.append(float(np.abs((rate - found.accelerations)[:5]).max()))
    assert errors[0] < 0.1
    assert errors[1] < 0.6 * errors[0] + 1e-6


def rod(mu: float, angle: float, speed: float) -> tuple[lw.Model, np.ndarray, np.ndarray]:
    """A rod of 2 m and 1 kg that leans along x and whose tip slides over a floor at a speed; it does not turn."""
    b = lw.ModelBuilder()
    b.body("rod", joint=lw.Free(), inertia=lw.Inertia(1.0, (0, 0, 0), np.diag([1e-3, 1.0, 1.0]) / 3.0))
    b.add(lw.Contact("rod", lw.Sphere(1e-6, (-1.0, 0, 0)), friction=mu))
    height, half = np.sin(angle) + 1e-6, -0.5 * angle  # its lower end is at -x
    R = lw.SE3.rot_y(-angle).R
    q = np.array([0, 0, height, np.cos(half), 0, np.sin(half), 0])
    return b.build(), q, np.array([0, 0, 0, *(R.T @ np.array([speed, 0, 0]))])


ANGLE = np.pi / 3


def answer(mu: float, way: float) -> float:
    """The acceleration of the tip per normal force, while it slides along +x or -x: 1/m + l^2/I cos a (cos a +- mu sin a)."""
    return 1.0 + 3.0 * np.cos(ANGLE) * (np.cos(ANGLE) + way * mu * np.sin(ANGLE))


@pytest.mark.parametrize("way", [1.0, -1.0])
def test_a_rod_that_slides_has_forces_where_a_push_lifts_its_tip(way: float) -> None:
    model, q, v = rod(0.4, ANGLE, way)
    found = contact_forces(model, q, v)
    assert found.jumps == 0
    assert found.forces[0] == pytest.approx(G / answer(0.4, way), rel=1e-5)


def test_a_rod_that_digs_in_is_stopped_by_an_impulse() -> None:
    """Sliding one way every force makes the approach faster: there are none, and its tip is stopped; not so the other way."""
    mu = 2.0
    signs = [way for way in (1.0, -1.0) if answer(mu, way) < 0.0]
    assert len(signs) == 1
    model, q, v = rod(mu, ANGLE, signs[0])
    found = contact_forces(model, q, v)
    assert found.jumps == 1
    tip = found.v[3:] + np.cross(found.v[:3], (-1.0, 0.0, 0.0))
    np.testing.assert_allclose(tip, 0.0, atol=1e-5)  # within the radius of its sphere
    M = lw.mass_matrix(model, q)
    assert found.v @ M @ found.v < v @ M @ v
    assert found.forces[0] >= 0.0
    jumps = []
    for h in (1e-4, 1e-5):  # a step makes the same jump
        run = lw.simulate(model, lw.State(q, v), h, h, evaluations=0)
        jumps.append(float(np.abs(run.v[-1] - found.v).max()))
    assert jumps[0] < 1e-2
    assert jumps[1] < 0.2 * jumps[0]
    model, q, v = rod(mu, ANGLE, -signs[0])
    assert contact_forces(model, q, v).jumps == 0


def test_what_approaches_is_in_an_impact_first() -> None:
    model, q = ball(0.0), BALL
    found = contact_forces(model, q, np.array([0, 0, 0, 0, 0, -1.0]))
    assert found.jumps == 1
    np.testing.assert_allclose(found.v, 0.0, atol=1e-12)
    assert found.forces[0] == pytest.approx(2.0 * G)


def test_limits_and_loops_act_beside_contacts() -> None:
    """A ball at the end of a hinged arm presses on the floor; the hinge carries the rest. Forces are those of constrained
    dynamics where there is no friction."""
    b = lw.ModelBuilder()
    b.body(
        "arm",
        joint=lw.Revolute((0, 1, 0)),
        placement=lw.SE3(p=(0, 0, 0.1)),
        inertia=lw.Inertia.cuboid(2.0, (1.0, 0.1, 0.1), (0.5, 0, 0)),
    )
    model = b.add(lw.Contact("arm", lw.Sphere(0.1, (1.0, 0, 0)), friction=0.0)).build()
    q, v = np.zeros(1), np.zeros(1)
    a, f = lw.constrained_dynamics(model, q, v)
    found = contact_forces(model, q, v)
    np.testing.assert_allclose(found.accelerations, a, atol=1e-12)
    np.testing.assert_allclose(found.forces, f, rtol=1e-9)


def shaped(angle: float, **joint: Any) -> lw.Model:
    """The block on its ground, as shapes; and beside it an arm whose joint declares a stop and friction."""
    b = lw.ModelBuilder(gravity=(G * np.sin(angle), 0, -G * np.cos(angle)))
    b.ground(friction=MU)
    b.body("block", joint=lw.Free(), shapes=[lw.Box((0.2, 0.2, 0.02), mass=2.0)])
    rod = lw.Inertia.cuboid(1.0, (1.0, 0.1, 0.1), (0.5, 0, 0))
    b.body("arm", joint=lw.Revolute((0, 1, 0)), placement=lw.SE3(p=(0, 0, 9)), inertia=rod, **joint)
    return b.build()


@pytest.mark.parametrize("name", ["sticks", "begins to slide", "slides down", "slides up", "slides across"])
def test_shapes_and_stops_act_as_they_are_declared(name: str) -> None:
    """In both functions, and in batches; what joints declare, too."""
    _, q, velocity, expected = CASES[name]
    angle = {"sticks": 0.3, "begins to slide": 0.6, "slides across": 0.3}.get(name, 0.1)
    model = shaped(angle, limits=(-1.0, 0.2))
    q, v = np.append(q, 0.2), np.append(velocity, 0.0)
    one, found = lw.constrained_dynamics(model, q, v), contact_forces(model, q, v)
    assert one.accelerations[3] == pytest.approx(expected, abs=1e-9)
    assert one.accelerations[6] == pytest.approx(0.0, abs=1e-9)  # on its stop
    assert one.multipliers.shape == (8 * 3 + 2,)
    np.testing.assert_array_equal(found.accelerations, one.accelerations)
    np.testing.assert_array_equal(found.forces, one.multipliers)
    assert one.multipliers[:24:3].sum() == pytest.approx(2.0 * G * np.cos(angle))
    higher = q + 0.1 * np.eye(8)[2]
    many = lw.constrained_dynamics(model, np.array([q, higher]), v)
    np.testing.assert_array_equal(many.accelerations[0], one.accelerations)
    assert many.accelerations[1, 5] == pytest.approx(-G * np.cos(angle))
    coupled = model.add(lw.Limit("arm", -1.0, 0.2))  # rows of the model itself come first
    rows = np.r_[24:26, 0:24]
    np.testing.assert_allclose(lw.constrained_dynamics(coupled, q, v).multipliers, one.multipliers[rows], atol=1e-9)
    none = lw.constrained_dynamics(model, q, v, limit_model="off", contact="off")
    np.testing.assert_array_equal(none.accelerations, lw.forward_dynamics(model, q, v))
    assert none.multipliers.shape == (0,)


@pytest.mark.parametrize("speed", [0.0, 0.5, -0.5])
def test_dry_friction_of_joints_beside_contacts(speed: float) -> None:
    """It holds the arm, or brakes it by its largest force; as without contacts."""
    model = shaped(0.3, friction=30.0 if speed == 0.0 else 1.0)
    q, v = np.append(BLOCK, 0.1), np.append(np.zeros(6), speed)
    a, x = lw.constrained_dynamics(model, q, v, external=np.zeros((2, 6)), t=0.3)
    alone, friction = lw.constrained_dynamics(model, q, v, contact="frictionless")
    assert a[6] == pytest.approx(alone[6], abs=1e-9)
    assert x[-1] == pytest.approx(friction[-1])
    assert (x[-1] == -np.sign(speed)) if speed else (a[6] == pytest.approx(0.0, abs=1e-9))


def test_what_it_does_not_know_is_said() -> None:
    with pytest.raises(lw.InputError, match="one state"):
        contact_forces(ball(0.0), np.zeros((2, 7)), np.zeros((2, 6)))
    b = lw.ModelBuilder().body("wheel", joint=lw.Revolute((0, 1, 0)), inertia=lw.Inertia.sphere(mass=2.0, radius=0.1))
    with pytest.raises(lw.InputError, match="do not know"):
        contact_forces(b.add(lw.JointFriction("wheel", 0.2, radius=0.01)).build(), np.zeros(1), np.zeros(1))


@pytest.mark.parametrize("spin", [0.0, 3.0, -3.0])
@pytest.mark.parametrize("torque", [0.02, -0.3])
def test_spinning_friction_holds_or_brakes(spin: float, torque: float) -> None:
    """Of a ball of 2 kg on a floor, up to 0.01 m of its weight: 0.196 N m."""
    b = lw.ModelBuilder().body("ball", joint=lw.Free(), inertia=lw.Inertia.sphere(mass=2.0, radius=0.1))
    model = b.add(lw.Contact("ball", lw.Sphere(0.1), friction=0.5, spinning=0.01)).build()
    q, v, tau = np.array([0, 0, 0.1, 1, 0, 0, 0]), np.array([0, 0, spin, 0, 0, 0]), np.array([0, 0, torque, 0, 0, 0])
    most = 0.01 * 2.0 * G
    friction = -most * np.sign(spin) if spin else -np.clip(torque, -most, most)
    found = contact_forces(model, q, v, tau)
    assert found.accelerations == pytest.approx([0, 0, (torque + friction) / (0.4 * 2.0 * 0.01), 0, 0, 0], abs=1e-9)
    assert found.forces == pytest.approx([2.0 * G, 0, 0, friction], abs=1e-9)
    assert lw.constrained_dynamics(model, q, v, tau)[0] == pytest.approx(found.accelerations)


@pytest.mark.parametrize("slope", [0.04, 0.08])
@pytest.mark.parametrize("speed", [0.0, 0.5])
def test_rolling_friction_holds_or_brakes(slope: float, speed: float) -> None:
    """5 mm for a radius of 100 mm: it holds a ball on a slope of 0.05."""
    b = lw.ModelBuilder(gravity=(G * np.sin(slope), 0, -G * np.cos(slope)))
    b.body("ball", joint=lw.Free(), inertia=lw.Inertia.sphere(mass=2.0, radius=0.1))
    model = b.add(lw.Contact("ball", lw.Sphere(0.1), friction=0.5, rolling=0.005)).build()
    found = contact_forces(model, np.array([0, 0, 0.1, 1, 0, 0, 0]), np.array([0, speed / 0.1, 0, speed, 0, 0]))
    rolls = (np.sin(slope) - 0.05 * np.cos(slope)) * G / 1.4
    wanted = rolls if speed else max(rolls, 0.0)
    assert found.accelerations[[1, 3]] == pytest.approx([wanted / 0.1 + 0.0, wanted], abs=1e-9)
