"""Limits, dry friction and prescribed motion in every formulation and stepper; prescribed joints against hybrid dynamics."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import linkwork as lw
from linkwork.constraints.rows import ConstraintRows, constraint_set
from linkwork.elements.collection import collection
from linkwork.elements.derive import derive
from linkwork.elements.ports import JointAt

BLOCK = lw.Inertia(1.0, (0.2, 0.05, -0.1), np.diag([0.3, 0.4, 0.5]))


def arm(*elements: Any) -> lw.Model:
    b = lw.ModelBuilder()
    b.body("a", joint=lw.Revolute((0, 1, 0)), inertia=BLOCK)
    b.body("b", parent="a", joint=lw.Universal(), placement=lw.SE3(p=(0.5, 0, 0)), inertia=BLOCK)
    for element in elements:
        b.add(element)
    return b.build()


def sway(t: float) -> tuple[float, float, float]:
    return 0.3 * np.sin(2 * t), 0.6 * np.cos(2 * t), -1.2 * np.sin(2 * t)


START = lw.State([0.0, 0.2, -0.3], [0.6, 0.4, -0.2])


def test_accelerations_are_those_of_hybrid_dynamics() -> None:
    model = arm(lw.PrescribedJoint("a", sway))
    t = 0.7
    q, v = np.array([sway(t)[0], 0.2, -0.3]), np.array([sway(t)[1], 0.4, -0.2])
    a, tau = lw.hybrid_dynamics(arm(), q, v, np.zeros(3), [sway(t)[2], 0, 0], ["a"])
    assert np.abs(lw.forward_dynamics(model, q, v, t=t) - a).max() < 1e-12
    run = lw.simulate(model, lw.State(q, v, t), 1e-6, 1e-6, stepper="rk4", open_loops="allow")
    assert abs(run.forces[0, 0] - tau[0]) < 1e-10


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"stepper": "dop853", "rtol": 1e-10, "atol": 1e-11}, 1e-8),
        ({"stepper": "ode45", "rtol": 1e-8}, 1e-6),
        ({"method": "redmax", "stepper": "ode45", "rtol": 1e-8}, 1e-6),
        ({"stepper": "rk4"}, 1e-7),
        ({}, 5e-3),
        ({"method": "maximal"}, 5e-3),
        ({"method": "redmax"}, 5e-3),
    ],
)
def test_a_prescribed_joint_goes_where_it_is_told(options: dict[str, Any], error: float) -> None:
    """The others move as if it were driven by the forces that hybrid dynamics finds."""
    model = arm(lw.PrescribedJoint("a", sway))
    run = lw.simulate(model, START, 1.0, 2e-3, **options)
    assert np.abs(run.q[:, 0] - [sway(t)[0] for t in run.t]).max() < error

    def motor(t: float, state: lw.State) -> np.ndarray:
        return lw.hybrid_dynamics(free, state.q, state.v, np.zeros(3), [sway(t)[2], 0, 0], ["a"])[1]

    free = arm()
    truth = lw.simulate(free, START, 1.0, 1.0, stepper="dop853", rtol=1e-11, atol=1e-12, control=motor).final
    assert np.abs(run.q[-1] - truth.q).max() < 20 * error


@pytest.mark.parametrize("options", [{}, {"method": "maximal"}, {"method": "redmax"}, {"method": "redmax", "baumgarte": 20.0}])
def test_limits_stop_a_joint(options: dict[str, Any]) -> None:
    model = arm(lw.Limit("a", -0.1, 0.2), lw.Limit("b", [-0.5, -np.inf], [np.inf, 0.4]))
    assert constraint_set(model).count == 4
    run = lw.simulate(model, START, 1.0, 1e-3, **options)
    assert run.q[:, 0].max() < 0.2 + 5e-3
    assert run.q[:, 0].max() > 0.199
    assert run.q[:, 1].min() > -0.5 - 5e-3
    assert run.q[:, 2].max() < 0.4 + 5e-3
    assert np.all(run.forces[1:] >= -1e-9)


def test_a_prescribed_twist() -> None:
    """A frame on a free body whose spin and one velocity are given; the rest of it falls freely."""

    def motion(t: float) -> tuple[Any, Any, Any, Any]:
        return (0, 0, t), (0.5 * t, 0, 0), (0, 0, 1), (0.5, 0, 0)

    frame = lw.SE3(p=(0.3, 0, 0))
    b = lw.ModelBuilder().body("a", joint=lw.Free(), inertia=lw.Inertia(1.0, (0, 0, 0), np.eye(3)))
    model = b.add(lw.PrescribedTwist("a", motion, [0, 1, 2], frame)).build()
    start = lw.State(model.neutral(), np.zeros(6))
    run = lw.simulate(model, start, 1.0, 0.1, stepper="dop853")
    assert np.abs(run.v[:, :3] - np.outer(run.t, [0, 0, 1])).max() < 1e-9
    assert np.abs(run.q[:, :3] - np.outer(-0.5 * 9.81 * run.t**2, [0, 0, 1])).max() < 1e-8
    guided = model.replace(elements=[lw.PrescribedTwist("a", motion, range(6), frame)])
    run = lw.simulate(guided, start, 1.0, 0.1, stepper="dop853")
    corner = run.poses[:, 0] @ [0.3, 0, 0, 1]
    assert np.abs(corner[:, :3] - np.array([0.3, 0, 0]) - np.outer(0.25 * run.t**2, [1, 0, 0])).max() < 1e-7


def test_time_must_be_known() -> None:
    model = arm(lw.PrescribedJoint("a", sway))
    k = lw.kinematics(model, START.q, START.v)
    with pytest.raises(lw.InputError, match=r"PrescribedJoint\('a'\) moves with time"):
        constraint_set(model).at(k.poses, k.twists, START.q, START.v)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: lw.PrescribedJoint("a", 3.0), "motion must be a function"),
        (lambda: lw.PrescribedTwist("a", 3.0), "motion must be a function"),
        (lambda: lw.PrescribedTwist("a", sway, [0, 0]), "different numbers from 0 to 5"),
        (lambda: lw.PrescribedTwist("a", sway, [6]), "different numbers from 0 to 5"),
        (lambda: lw.Limit("a", 1.0, 0.0), "lower limit must not lie above"),
        (lambda: lw.Limit("a", np.nan), "lower limit must not lie above"),
        (lambda: arm(lw.PrescribedJoint("z", sway)), "there is no joint 'z'"),
        (lambda: arm(lw.PrescribedTwist("z", sway)), "there is no body 'z'"),
        (lambda: arm(lw.Limit("z")), "there is no joint 'z'"),
        (lambda: arm(lw.Limit("b", [0.0, 0.0, 0.0])), "has 2 coordinates"),
    ],
)
def test_refused(make: Any, message: str) -> None:
    with pytest.raises(lw.ModelError, match=message):
        make()


def test_motions_must_return_numbers() -> None:
    for motion in (lambda t: (0.0, np.nan, 0.0), lambda t: (0.0, 0.0)):
        with pytest.raises(lw.InputError, match="three finite values"):
            lw.forward_dynamics(arm(lw.PrescribedJoint("a", motion)), START.q, START.v)
    b = lw.ModelBuilder().body("ball", joint=lw.Spherical(), inertia=BLOCK)
    with pytest.raises(lw.ModelError, match="no coordinates whose rates are its velocities"):
        b.add(lw.PrescribedJoint("ball", sway)).build()


def rows(element: Any, t: float) -> ConstraintRows:
    model = arm(element)
    k = lw.kinematics(model, START.q, START.v)
    return constraint_set(model).at(k.poses, k.twists, START.q, START.v, t)


def swing(t: float) -> tuple[float, float, float]:
    """The same as `sway`, in functions of numbers."""
    return 0.3 * math.sin(2 * t), 0.6 * math.cos(2 * t), -1.2 * math.sin(2 * t)


def branching(t: float) -> tuple[float, float, float]:
    return sway(t) if t < 100 else (0.0, 0.0, 0.0)


def spin(t: Any) -> tuple[Any, Any, Any, Any]:
    return (t, 0.0, np.sin(t)), (t * t, 1.0, 0.0), (1.0, 0.0, np.cos(t)), (2 * t, 0.0, 0.0)


def turning(t: float) -> tuple[Any, Any, Any, Any]:
    return spin(float(t))


@pytest.mark.parametrize(
    ("traced", "asked"),
    [
        (lw.PrescribedJoint("a", sway), lw.PrescribedJoint("a", swing)),
        (lw.PrescribedJoint("a", sway), lw.PrescribedJoint("a", branching)),
        (
            lw.PrescribedTwist("b", spin, [5, 0, 2], lw.SE3.rot_x(0.3)),
            lw.PrescribedTwist("b", turning, [5, 0, 2], lw.SE3.rot_x(0.3)),
        ),
    ],
)
def test_motions_are_traced_or_asked(traced: Any, asked: Any) -> None:
    """Rates that are derived are those that are stated."""
    assert traced.traced
    assert not asked.traced
    one, other = rows(traced, 0.7), rows(asked, 0.7)
    assert (traced.fitted_to(arm()).inputs, asked.fitted_to(arm()).inputs > 0) == (0, True)
    for name in ("residual", "rate", "bias", "given"):
        assert np.abs(getattr(one, name) - getattr(other, name)).max() < 1e-14
    assert np.array_equal(one.rows.joint_value, other.rows.joint_value)
    assert np.array_equal(one.rows.body_block, other.rows.body_block)


def test_stated_rates_must_be_those_of_the_values() -> None:
    def wrong(t: Any) -> tuple[Any, Any, Any]:
        return np.sin(t), np.cos(t), np.sin(t)

    with pytest.raises(lw.ModelError, match=r"PrescribedJoint\('a'\): .*wrong states the second rate"):
        lw.PrescribedJoint("a", wrong)
    with pytest.raises(lw.ModelError, match="states the first rate 1 at"):
        lw.PrescribedTwist("a", lambda t: ((0, 0, 2 * t), (0, 0, 0), (0, 0, 1), (0, 0, 0)))


def declared(*elements: Any) -> lw.Model:
    b = lw.ModelBuilder()
    b.body("a", joint=lw.Revolute((0, 1, 0)), inertia=BLOCK, limits=(-0.1, 0.2), friction=2.0)
    b.body("b", parent="a", joint=lw.Spherical(), placement=lw.SE3(p=(0.5, 0, 0)), inertia=BLOCK)
    for element in elements:
        b.add(element)
    return b.build()


def test_a_limit_without_numbers_is_the_one_that_the_joint_declares() -> None:
    laws = [collection(declared(e)).rows[0] for e in (lw.Limit("a"), lw.Limit("a", -0.1, 0.2))]
    assert [law.size for law in laws] == [2, 2]
    assert [law.stops.tolist() for law in laws] == [[-0.1, 0.2]] * 2
    assert lw.Limit("a", upper=1.0).fitted_to(declared()).sides == ((0, -1.0),)
    with pytest.raises(lw.ModelError, match="declares no limits"):
        arm(lw.Limit("a"))
    with pytest.raises(lw.ModelError, match="has no stop"):
        arm(lw.Limit("a", -np.inf))


def test_dry_friction_is_a_row_with_bounds() -> None:
    model = declared(lw.DryFriction("a"), lw.DryFriction("b", [0.1, 0.2, 0.3]))
    one, three = collection(model).rows
    assert [x.tolist() for x in one.bounds()] == [[-2.0], [2.0]]
    assert [x.tolist() for x in three.bounds()] == [[-0.1, -0.2, -0.3], [0.1, 0.2, 0.3]]
    q, v = model.bodies[1].joint.random(np.random.default_rng(0)), np.array([0.3, -0.2, 0.4])
    found = derive(three, [JointAt(model.bodies[1].joint, q, v)], 0.0, np.zeros(0))
    assert np.array_equal(np.asarray(found.G, float), np.eye(3))
    assert np.asarray(found.rate, float).tolist() == v.tolist()
    assert not np.any(found.bias)
    k, v = lw.kinematics(model, model.neutral(), np.ones(4)), np.ones(4)
    assert constraint_set(model).look(k.poses, k.twists, model.neutral(), v).rate.tolist() == [1.0] * 4
    with pytest.raises(lw.InputError, match=r"DryFriction\('a'\) has a largest force"):
        constraint_set(model).at(k.poses, k.twists, model.neutral(), v)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: lw.DryFriction("a", -1.0), "friction"),
        (lambda: arm(lw.DryFriction("a")), "declares no friction"),
        (lambda: arm(lw.DryFriction("z")), "there is no joint 'z'"),
        (lambda: arm(lw.DryFriction("b", [1.0, 2.0, 3.0])), "has 2 velocities"),
    ],
)
def test_friction_that_is_refused(make: Any, message: str) -> None:
    with pytest.raises(lw.ModelError, match=message):
        make()


@pytest.mark.parametrize(("v", "tau", "expected"), [(1.0, 0.0, -0.25), (-1.0, 0.0, 0.25), (0.0, 0.3, 0.0), (0.0, 0.9, 0.2)])
def test_dry_friction_of_accelerations(v: float, tau: float, expected: float) -> None:
    """What slips is braked by the whole force, what sticks stays until it is overcome."""
    b = lw.ModelBuilder(gravity=(0, 0, 0)).body("x", joint=lw.Prismatic((1, 0, 0)), inertia=lw.Inertia(2.0, tensor=np.eye(3)))
    model = b.add(lw.DryFriction("x", 0.5)).build()
    a, force = lw.constrained_dynamics(model, np.zeros(1), np.array([v]), np.array([tau]))
    assert a[0] == pytest.approx(expected, abs=1e-12)
    assert force[0] == pytest.approx(2.0 * expected - tau, abs=1e-12)
