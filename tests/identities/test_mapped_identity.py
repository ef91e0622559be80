"""A model on the coordinates of the identity map q = r is the model: its runs, with every law, contact and argument."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

import linkwork as lw

ROD = lw.Inertia.cuboid(mass=1.0, size=(0.5, 0.05, 0.05), com=(0.25, 0, 0))
Q, V, TAU = np.array([-0.3, 0.5, 0.4]), np.array([0.3, -2.0, 1.0]), np.array([0.2, 0.1, -0.3])


def arm(*laws: Any, friction: float | None = None, restitution: float = 0.0, limits: Any = None) -> lw.Model:
    """Three hinges with damping and armature; with `friction`, spheres at the last two tips fall on a floor."""
    b = lw.ModelBuilder()
    for k in range(3):
        parent, place = (f"link{k - 1}", (0.5, 0, 0)) if k else ("world", (0, 0, 0.3))
        axis, touch = ((0, 1, 0), (1, 0, 0), (0, 1, 0))[k], [lw.Sphere(0.05, (0.5, 0, 0))] if k and friction is not None else []
        own: dict[str, Any] = {"damping": 0.1, "armature": 0.02, "shapes": touch, "limits": limits if k == 1 else None}
        b.body(f"link{k}", parent=parent, joint=lw.Revolute(axis), placement=lw.SE3(p=place), inertia=ROD, **own)
    if friction is not None:
        b.ground(friction=friction, restitution=restitution)
    for law in laws:
        b.add(law)
    return b.build()


MODELS: dict[str, Any] = {
    "bare": arm,
    "springs": lambda: arm(
        lw.JointSpring("link1", 5.0, damping=0.2),
        lw.SpringDamper("link2", point_b=(0.3, 0, -1), stiffness=40.0, damping=0.5, rest_length=0.7),
    ),
    "coupling": lambda: arm(lw.Coupling("link2", "link1", ratio=0.8)),
    "stop": lambda: arm(limits=(0.4, 1.0)),
    "dry": lambda: arm(lw.DryFriction("link2", 0.2)),
    "floor": lambda: arm(friction=0.0),
    "rough": lambda: arm(friction=0.5),
    "bouncing": lambda: arm(friction=0.5, restitution=0.5),
}
STEPPERS = [("reduced", "symplectic_euler"), ("reduced", "rk4"), ("redmax", "linearly_implicit")]


@cache
def model(name: str) -> lw.Model:
    return MODELS[name]()


@cache
def mapped(name: str) -> lw.HyperReduced:
    return lw.HyperReduced(model(name), list, model(name).nv)


def start(name: str) -> lw.State:
    return lw.State(Q, V) if name != "coupling" else lw.State([-0.3, 0.5, 0.4], [0.3, -2.0, -1.6])


def compared(name: str, duration: float = 0.4, dt: float = 2e-3, **how: Any) -> tuple[lw.Trajectory, lw.Trajectory]:
    own, other = (lw.simulate(m, start(name), duration, dt, tau=TAU, **how) for m in (model(name), mapped(name)))
    np.testing.assert_allclose(other.q, own.q, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(other.v, own.v, rtol=1e-9, atol=1e-9)
    assert other.health.notes == own.health.notes
    return own, other


@pytest.mark.parametrize(("method", "stepper"), STEPPERS)
@pytest.mark.parametrize("name", MODELS)
def test_runs_are_those_of_the_model(name: str, method: str, stepper: str) -> None:
    how: dict[str, Any] = {"method": method, "stepper": stepper}
    if stepper == "rk4" and name in ("rough", "bouncing"):
        for m in (model(name), mapped(name)):
            with pytest.raises(lw.InputError, match="does not know friction of contacts"):
                lw.simulate(m, start(name), 0.1, **how)
        return
    own, other = compared(name, **how)
    if name in ("coupling", "stop", "floor"):
        assert own.forces is not None
        assert other.forces is not None
        assert np.abs(own.forces).max() > 0.1
        np.testing.assert_allclose(other.forces, own.forces, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("contact", ["pyramid", "staggered", "single_qp", "compliant", "frictionless", "off"])
def test_every_contact_model_acts_as_on_the_model(contact: str) -> None:
    low = lw.kinematics(model("rough"), compared("rough", contact=contact)[1].q[-1]).poses[:, 2, 3].min()
    assert (low < -0.3) == (contact == "off")


def test_numbers_of_compliant_contacts_act() -> None:
    soft, hard = (compared("rough", contact="compliant", contact_stiffness=k)[1].q[-1] for k in (1e3, 1e5))
    assert np.abs(soft - hard).max() > 1e-3


@pytest.mark.parametrize("limit_model", ["hard", "spring", "off"])
def test_limits_act_as_on_the_model(limit_model: str) -> None:
    least = compared("stop", limit_model=limit_model)[1].q[:, 1].min()
    assert (least < 0.39) == (limit_model == "off")


def test_batches_controls_wrenches_and_threads_are_those_of_the_model() -> None:
    states = lw.State(np.tile(Q, (9, 1)), V * np.linspace(0.5, 1.0, 9)[:, None])
    external = np.random.default_rng(0).normal(size=(9, 3, 6))
    how: dict[str, Any] = {"control": lambda t, s: TAU - 0.1 * s.v, "external": external, "threads": 2, "every": 5}
    own, other = (lw.simulate(m, states, 0.2, 2e-3, **how) for m in (model("rough"), mapped("rough")))
    np.testing.assert_allclose(other.q, own.q, rtol=1e-12, atol=1e-12)
    assert own.tau is not None
    assert other.tau is not None
    np.testing.assert_allclose(other.tau, own.tau, rtol=1e-9)


def test_inputs_of_forces_are_told() -> None:
    driven = arm(lw.PDController("link1", 30.0, 1.0))
    same = lw.HyperReduced(driven, list, 3)
    for inputs in ([0.7, 0.0], lambda t: [np.sin(9 * t), 0.0]):
        own, other = (lw.simulate(m, lw.State(Q, V), 0.2, 2e-3, inputs=inputs) for m in (driven, same))
        np.testing.assert_allclose(other.q, own.q, rtol=1e-12, atol=1e-12)
    still = lw.simulate(same, lw.State(Q, V), 0.2, 2e-3)
    assert np.abs(still.q[-1] - other.q[-1]).max() > 1e-3


def test_a_mapped_ball_lands_on_the_ground() -> None:
    b = lw.ModelBuilder()
    b.body("ball", joint=lw.Prismatic((0, 0, 1)), inertia=lw.Inertia.sphere(1.0, 0.05), shapes=[lw.Sphere(0.05)])
    ball = b.ground().build()
    squared = lw.HyperReduced(ball, lambda r: [r[0] + 0.2 * r[0] ** 2], 1)
    for method, stepper in STEPPERS:
        run = lw.simulate(squared, lw.State([0.3], [0.0]), 1.0, 1e-3, method, stepper=stepper)
        assert run.q[:, 0].min() > 0.05 - 2e-5  # rk4 closes a gap by its rate, as on the model
        assert run.q[-1, 0] == pytest.approx(0.05, abs=2e-5)
        assert run.forces is not None
        assert run.forces[-1, 0] == pytest.approx(9.81, rel=1e-3)


def test_loops_that_are_open_at_the_start_are_refused_or_allowed() -> None:
    coupled = mapped("coupling")
    opened = lw.State([-0.3, 0.5, 0.9], np.zeros(3))
    with pytest.raises(lw.InputError, match="is open at the start"):
        lw.simulate(coupled, opened, 0.1, 1e-3)
    run = lw.simulate(coupled, opened, 1.0, 1e-3, open_loops="allow")
    assert abs(run.q[-1, 2] - 0.8 * run.q[-1, 1]) < 1e-3


def test_velocities_that_break_a_coupling_are_changed_where_steps_would_keep_them() -> None:
    broken = lw.State([-0.3, 0.5, 0.4], [0.3, 1.0, 0.0])
    own, other = (lw.simulate(m, broken, 0.1, 1e-3, stepper="rk4") for m in (model("coupling"), mapped("coupling")))
    np.testing.assert_allclose(other.v, own.v, rtol=1e-9, atol=1e-9)
    assert "broke" in other.health.notes[0]


@pytest.mark.parametrize("name", ["bare", "springs", "coupling"])
def test_functions_are_those_of_the_model(name: str) -> None:
    own, other, rng = model(name), mapped(name), np.random.default_rng(1)
    q, v, a, tau = rng.normal(size=(4, 5, 3))
    external = rng.normal(size=(5, 3, 6))
    near: dict[str, Any] = {"rtol": 1e-11, "atol": 1e-12}
    np.testing.assert_allclose(other.mass_matrix(q), lw.mass_matrix(own, q), **near)
    forward = lw.forward_dynamics(own, q, v, tau, external)
    np.testing.assert_allclose(other.forward_dynamics(q, v, tau, external), forward, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(
        other.forward_dynamics(q[1], v, tau[2])[3], lw.forward_dynamics(own, q[1], v[3], tau[2]), rtol=1e-10
    )
    if name != "coupling":
        np.testing.assert_allclose(other.inverse_dynamics(q, v, a, external), lw.inverse_dynamics(own, q, v, a, external), **near)
        np.testing.assert_allclose(other.inverse_dynamics(q[0], v[0], a[0]), lw.inverse_dynamics(own, q[0], v[0], a[0]), **near)


def test_inverse_dynamics_undo_forward_dynamics_on_a_bent_map() -> None:
    bent = lw.HyperReduced(model("springs"), lambda r: [r[0], r[1] + 0.3 * r[0] ** 2, r[0] * r[1]], 2)
    r, r_dot = np.random.default_rng(2).normal(size=(2, 4, 2))
    again = bent.inverse_dynamics(r, r_dot, bent.forward_dynamics(r, r_dot, TAU))
    J = np.array([bent.moved(lw.State(a, b)).J for a, b in zip(r, r_dot, strict=True)])
    np.testing.assert_allclose(again, J.swapaxes(1, 2) @ TAU, rtol=1e-10, atol=1e-10)


def test_batches_of_other_sizes_and_other_functions_are_refused_by_name() -> None:
    other = mapped("bare")
    with pytest.raises(lw.InputError, match="arguments are batches of 2, 4 states"):
        other.forward_dynamics(np.zeros((2, 3)), np.zeros((4, 3)))
    with pytest.raises(lw.InputError, match=r"r has shape \(2,\); expected \(3,\) or \(batch, 3\)"):
        other.mass_matrix(np.zeros(2))
    for function in (lw.kinematics, lw.mass_matrix, lw.Simulator):
        with pytest.raises(lw.InputError, match="not a HyperReduced; hyper-reduced coordinates have forward_dynamics"):
            function(other, Q)


def test_friction_inside_joints_is_refused_by_name() -> None:
    rubbing = lw.HyperReduced(arm(lw.JointFriction("link1", mu=0.1, radius=0.02)), list, 3)
    with pytest.raises(lw.InputError, match="JointFriction"):
        lw.simulate(rubbing, lw.State(Q, V), 0.1, 1e-3)


def test_shapes_that_only_coal_knows_are_refused_by_name() -> None:
    b = lw.ModelBuilder()
    for name, x in (("a", 0.0), ("b", 1.0)):
        b.body(name, joint=lw.Prismatic((1, 0, 0)), placement=lw.SE3(p=(x, 0, 0)), inertia=ROD, shapes=[lw.Cylinder(0.1, 0.2)])
    both = lw.HyperReduced(b.build(), list, 2)
    with pytest.raises(lw.InputError, match="Coal"):
        lw.simulate(both, lw.State(np.zeros(2), np.zeros(2)), 0.1, 1e-3)
