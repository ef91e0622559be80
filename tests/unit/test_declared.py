"""What joints declare acts in every run, or a line says that it does not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from models import two_links

import linkwork as lw

ROD = lw.Inertia.cuboid(mass=1.0, size=(1, 0.1, 0.1), com=(0.5, 0, 0))


def door(*laws: Any, joint: Any = None, **properties: Any) -> lw.Model:
    """A rod that falls about a hinge."""
    b = lw.ModelBuilder()
    b.body("door", joint=joint or lw.Revolute((0, 1, 0)), joint_name="hinge", inertia=ROD, **properties)
    for law in laws:
        b.add(law)
    return b.build()


def fallen(model: lw.Model, **how: Any) -> lw.Trajectory:
    return lw.simulate(model, lw.State(model.neutral(), np.zeros(model.nv)), 1.0, 1e-3, **how)


@pytest.mark.parametrize("method", ["reduced", "maximal", "redmax"])
def test_declared_limits_stop_a_fall(method: str) -> None:
    run = fallen(door(limits=(-1.0, 0.5)), method=method)
    assert abs(run.q.max() - 0.5) < 1e-3
    assert run.health.limits < 1e-3
    assert run.health.penetration is None  # stops are no contacts
    assert run.health.complementarity < 1e-9
    assert run.forces.shape == (1001, 2)
    assert np.isclose(run.forces[-1, 1], 9.81 * 0.5 * np.cos(0.5), rtol=1e-3)  # the upper stop carries the rod
    assert not run.health.notes


def test_springs_give_way_and_hold() -> None:
    run = fallen(door(limits=(-1.0, 0.5)), limit_model="spring")
    assert 0.5 < run.q.max() < 0.6
    assert run.health.limits == pytest.approx(run.q.max() - 0.5)
    assert run.forces is None


def test_off_is_the_motion_without_limits() -> None:
    free = fallen(door())
    assert np.array_equal(fallen(door(limits=(-1.0, 0.5)), limit_model="off").q, free.q)
    assert free.health.limits is None


def test_a_limit_of_its_own_stands() -> None:
    own = fallen(door(lw.Limit("hinge", -1.0, 0.3), limits=(-1.0, 0.5)))
    assert abs(own.q.max() - 0.3) < 1e-3
    assert len(own.model.elements) == 1
    soft = fallen(door(lw.LimitSpring("door", 1e4, 10.0), limits=(-1.0, 0.5)))
    assert soft.forces is None


def test_rows_of_declared_limits_come_last() -> None:
    model = two_links(lw.Coupling("lower", "upper", -1.0, 0.0)).replace(bodies={"upper": {"limits": (-0.5, 0.2)}})
    run = lw.simulate(model, lw.State(np.zeros(2), np.zeros(2)), 0.5, 1e-3)
    assert run.forces.shape == (501, 3)
    assert [type(e).__name__ for e in run.model.elements] == ["Coupling", "Limit"]
    assert run.q[:, 0].max() < 0.201


@pytest.mark.parametrize("limit_model", ["hard", "off"])
def test_declared_friction_holds(limit_model: str) -> None:
    """The weight of the rod turns it with at most 4.9 N m."""
    assert np.abs(fallen(door(friction=6.0), limit_model=limit_model).q).max() < 1e-9
    slipping = fallen(door(friction=2.0), limit_model=limit_model)
    assert slipping.q.max() > 0.5
    assert slipping.health.work_of == ("dry friction",)
    assert slipping.health.energy_drift < 5e-3
    assert np.array_equal(slipping.q, fallen(door(lw.DryFriction("hinge", 2.0), friction=7.0)).q)


def test_a_start_beyond_a_stop_is_led_back_slowly() -> None:
    model = door(limits=(-1.0, 0.5))
    run = lw.simulate(model, lw.State([0.8], [0.0]), 1.0, 1e-3)
    assert np.abs(run.v).max() < 1.01
    assert run.q[-1, 0] < 0.501
    assert run.health.limits == pytest.approx(0.3)


def test_what_a_stepper_cannot_enforce_is_said() -> None:
    run = fallen(door(limits=(-1.0, 0.5), friction=0.1), stepper="dop853", control=lambda t, s: np.zeros(1))
    words = "limits of 1 joint ('hinge') and dry friction of 1 joint ('hinge') are not enforced by the stepper"
    assert run.health.notes == (f"{words} 'dop853'",)
    assert words in str(run.health)
    assert run.health.limits > 0.5


@pytest.mark.parametrize("stepper", ["symplectic_euler", "dop853", "rk4", "rosenbrock", "variational", "bdf2", "sdirk2"])
def test_restitution_acts_in_every_stepper(stepper: str) -> None:
    b = lw.ModelBuilder().body("ball", joint=lw.Prismatic((0, 0, 1)), inertia=lw.Inertia(1.0))
    b.add(lw.Contact("ball", lw.Sphere(0.1), shape_b=lw.Plane((0, 0, -0.1)), restitution=0.8))
    run = lw.simulate(b.build(), lw.State([0.2], [0.0]), 0.4, 1e-3, stepper=stepper)
    assert run.health.notes == ()
    assert run.q[250:].max() > 0.05


@pytest.mark.parametrize(
    "stepper", ["rk4", "dop853", "ode45", "rosenbrock", "bdf1", "bdf2", "sdirk2", "variational", "variational4"]
)
def test_steps_of_higher_order_enforce_it(stepper: str) -> None:
    run = fallen(door(limits=(-1.0, 0.5), friction=0.1), stepper=stepper)
    assert run.health.notes == ()
    assert run.q.max() < 0.5 + 1e-4
    assert run.q[-1, 0] > 0.49


SEVERAL = [
    lw.Free2D(),
    lw.Planar(),
    lw.Translational(),
    lw.Universal(),
    lw.Cylindrical(),
    lw.SphericalEuler(),
    lw.Composite(lw.Revolute((1, 0, 0)), lw.Prismatic((0, 1, 0))),
    lw.joint(lambda q: lw.SE3.rot_x(q[0]) @ lw.SE3(p=(0, q[1], 0)), 2),
]


@pytest.mark.parametrize("joint", SEVERAL, ids=repr)
@pytest.mark.parametrize("method", ["reduced", "maximal", "maximal-implicit", "redmax"])
def test_limits_of_joints_of_several_freedoms_hold_or_are_refused(method: str, joint: lw.Joint) -> None:
    b = lw.ModelBuilder(gravity=(0, 0, 0))
    model = b.body("a", joint=joint, inertia=lw.Inertia(1.0, tensor=np.eye(3)), limits=(-0.1, 0.1)).build()
    run = lw.simulate(model, lw.State(model.neutral(), np.full(model.nv, 2.0)), 0.2, 1e-3, method)
    assert np.abs(run.q).max() < 0.1 + (1e-9 if method in ("reduced", "redmax") else 2e-3)  # joints drift by that


def test_efforts_clip_what_is_asked_for() -> None:
    model = door(effort=3.0)
    held, asked = fallen(model, tau=[-5.0]), fallen(model, control=lambda t, s: np.array([-5.0 if t < 0.1005 else -2.0]))
    assert np.array_equal(held.q, fallen(model, tau=[-3.0]).q)
    assert held.health.clipped == {"hinge": 1000}
    assert asked.health.clipped == {"hinge": 101}
    assert asked.tau.min() == -3.0
    assert "efforts clipped at 'hinge' in 101 steps" in str(asked.health)
    assert not fallen(model, tau=[-3.0]).health.clipped
    many = lw.simulate(model, lw.State(np.zeros((3, 1)), np.zeros(1)), 0.01, 1e-3, control=lambda t, s: [[-5.0], [0.0], [1.0]])
    assert many.health.clipped == {"hinge": 10}
    assert np.array_equal(many.tau[:, 0, 0], [-3.0, 0.0, 1.0])
    assert lw.simulate(model, lw.State([0.0], [0.0]), 0.1, control=lambda t, s: [9.0], stepper="dop853").tau.max() == 3.0


def test_speeds_are_watched() -> None:
    run = fallen(door(speed=2.0))
    assert run.health.speeding == {"hinge": pytest.approx(np.abs(run.v).max())}
    assert "too fast 'hinge' at" in str(run.health)
    assert not fallen(door(speed=20.0)).health.speeding


def test_a_simulator_feels_them_too() -> None:
    model = door(limits=(-1.0, 0.5), effort=3.0)
    sim, free = lw.Simulator(model), lw.Simulator(model, limit_model="off")
    assert sim.step(1000).q[0] < 0.501  # pyright: ignore[reportAttributeAccessIssue]
    assert free.step(1000).q[0] > 1.0  # pyright: ignore[reportAttributeAccessIssue]
    sim.step(tau=np.array([-5.0]))
    sim.step(4, tau=[-5.0])
    assert sim.clipped == {"hinge": 5}


def test_unknown_limit_models_are_refused() -> None:
    with pytest.raises(lw.InputError, match="limit_model must be one of 'hard', 'spring', 'off', not 'soft'"):
        fallen(door(), limit_model="soft")


def test_the_variant_is_made_once() -> None:
    model = door(limits=(-1.0, 0.5))
    assert fallen(model).model is fallen(model, tau=[0.0]).model
    assert fallen(door()).model.elements == ()
