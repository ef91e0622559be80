"""Friction inside joints against closed forms: torque under load, spin-down, sticking, losses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import linkwork as lw
from linkwork.errors import InputError, ModelError
from linkwork.model import Model, State
from linkwork.redmax.joint_friction import PROJECTIONS, JointFriction, friction_step
from linkwork.steppers.rubbing import friction_run

G = 9.81


def wheel(gravity: Any = (0.0, 0.0, -G), axis: Any = (0.0, 1.0, 0.0)) -> Model:
    """A balanced wheel of 2 kg whose moment of inertia about its axis is 0.3 kg m^2."""
    b = lw.ModelBuilder(gravity=gravity)
    return b.body("wheel", joint=lw.Revolute(axis), inertia=lw.Inertia(2.0, tensor=0.3 * np.eye(3))).build()


# --- revolute -------------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("projections", PROJECTIONS)
@pytest.mark.parametrize("angle", [0.0, 0.3, np.pi / 4, 2.0])
def test_torque_of_a_loaded_pin(angle: float, projections: str) -> None:
    """mu r |F|, from whichever side the load comes."""
    model = wheel(G * np.array([np.sin(angle), 0.0, -np.cos(angle)]))
    friction = [JointFriction("wheel", 0.2, radius=0.05)]
    states = friction_run(model, State(np.zeros(1), np.array([5.0])), 1, 1e-3, friction, projections=projections)
    torque = 0.3 * (states[0].v[0] - states[1].v[0]) / 1e-3
    assert torque == pytest.approx(0.2 * 0.05 * 2.0 * G, rel=1e-9)


def test_torque_of_a_pin_under_thrust_and_tilt() -> None:
    """Radial forces at two ends, and an axial one: mu r (|F_1| + |F_2| + |F_axial|)."""
    b = lw.ModelBuilder(gravity=(0.0, -3.0, -4.0))
    model = b.body("wheel", joint=lw.Revolute((0, 1, 0)), inertia=lw.Inertia(2.0, (0, 0.5, 0), tensor=0.3 * np.eye(3))).build()
    friction = [JointFriction("wheel", 0.1, radius=0.05, length=0.4)]
    states = friction_run(model, State(np.zeros(1), np.array([1e-3])), 1, 1e-6, friction)
    weight, arm = 2.0 * 4.0, 0.5
    ends = abs(weight / 2 + weight * arm / 0.4), abs(weight / 2 - weight * arm / 0.4)
    torque = 0.3 * (states[0].v[0] - states[1].v[0]) / 1e-6
    assert torque == pytest.approx(0.1 * 0.05 * (sum(ends) + 2.0 * 3.0), rel=1e-6)


@pytest.mark.parametrize("projections", PROJECTIONS)
def test_spin_down_time(projections: str) -> None:
    """I w / (mu r m g), to 0.1 %; then it stands."""
    expected = 0.3 * 0.13 / (0.2 * 0.05 * 2.0 * G)
    h = 1e-4 * 1.7
    steps = int(1.2 * expected / h)
    friction = [JointFriction("wheel", 0.2, radius=0.05)]
    v = np.array([s.v[0] for s in friction_run(wheel(), State(np.zeros(1), np.array([0.13])), steps, h, friction)])
    moving = v > 1e-12
    last = int(np.flatnonzero(moving)[-1])
    slope = (v[0] - v[last]) / (last * h)
    assert v[0] / slope == pytest.approx(expected, rel=1e-3)
    assert abs(np.count_nonzero(moving) * h - expected) <= 1.5 * h
    assert np.abs(v[~moving]).max() < 1e-12


@pytest.mark.parametrize(("part", "holds"), [(0.999, True), (1.001, False)])
def test_a_pin_holds_below_the_threshold(part: float, holds: bool) -> None:
    most = 0.2 * 0.05 * 2.0 * G
    friction = [JointFriction("wheel", 0.2, radius=0.05)]
    tau = np.array([part * most])
    states = friction_run(wheel(), State(np.zeros(1), np.zeros(1)), 20, 1e-3, friction, control=lambda t, s: tau)
    if holds:
        assert abs(states[-1].v[0]) < 1e-13
    else:
        assert states[-1].v[0] == pytest.approx(0.02 * 0.001 * most / 0.3, rel=1e-6)


# --- other joints ---------------------------------------------------------------------------------------------------------------
def test_a_guide_under_its_load() -> None:
    """A slider on an incline: g (sin a - mu cos a)."""
    b = lw.ModelBuilder(gravity=(G * np.sin(0.6), 0.0, -G * np.cos(0.6)))
    model = b.body("slider", joint=lw.Prismatic((1, 0, 0)), inertia=lw.Inertia(3.0, tensor=0.1 * np.eye(3))).build()
    for mu, expected in ((0.3, G * (np.sin(0.6) - 0.3 * np.cos(0.6))), (0.7, 0.0)):
        states = friction_run(model, State(np.zeros(1), np.zeros(1)), 10, 1e-3, [JointFriction("slider", mu, length=0.2)])
        assert states[-1].v[0] == pytest.approx(0.01 * expected, rel=1e-9, abs=1e-13)


def test_a_ball_in_a_socket() -> None:
    """A balanced ball spins down about any axis, with mu r m g."""
    b = lw.ModelBuilder(gravity=(0.0, 0.0, -G))
    model = b.body("ball", joint=lw.Spherical(), inertia=lw.Inertia(2.0, tensor=0.3 * np.eye(3))).build()
    spin = np.array([1.0, -2.0, 0.5])
    state = State(model.neutral(), spin)
    states = friction_run(model, state, 100, 1e-3, [JointFriction("ball", 0.2, radius=0.05)])
    size = np.linalg.norm(spin)
    assert np.allclose(states[-1].v, spin * (1 - 0.1 * 0.2 * 0.05 * 2.0 * G / 0.3 / size), rtol=1e-9)


def test_a_joint_with_surfaces_of_its_own() -> None:
    """A planar joint on four feet is a block on a table: mu g."""
    b = lw.ModelBuilder(gravity=(0.0, 0.0, -G))
    model = b.body("block", joint=lw.Planar(), inertia=lw.Inertia(2.0, tensor=0.3 * np.eye(3))).build()
    feet = [(x, y, 0.0) for x in (-0.2, 0.2) for y in (-0.1, 0.1)]
    friction = [JointFriction("block", 0.3, points=feet, normals=[(0, 0, 1)] * 4)]
    v = np.array([0.6, 0.8])
    states = friction_run(model, State(np.zeros(2), v), 10, 1e-3, friction)
    assert np.allclose(states[-1].v, v * (1 - 0.01 * 0.3 * G), rtol=1e-9)


# --- linkages -------------------------------------------------------------------------------------------------------------------
def linkage(mu: float) -> tuple[Model, State, list[JointFriction]]:
    """A parallelogram that swings, all four pins of which rub."""
    rod = lw.Inertia.cuboid(1.0, (0.02, 0.02, 1.0), (0, 0, -0.5))
    b = lw.ModelBuilder(gravity=(0.0, 0.0, -G))
    b.body("left", joint=lw.Revolute((0, 1, 0)), inertia=rod)
    bar = lw.Inertia.cuboid(1.0, (1.0, 0.02, 0.02), (0.5, 0, 0))
    b.body("bar", parent="left", joint=lw.Revolute((0, 1, 0)), placement=lw.SE3(p=(0, 0, -1)), inertia=bar)
    b.body("right", joint=lw.Revolute((0, 1, 0)), placement=lw.SE3(p=(1, 0, 0)), inertia=rod)
    loop = lw.Loop("bar", "right", (1, 0, 0), (0, 0, -1))
    model = b.add(loop).build()
    friction: list[JointFriction] = [JointFriction(name, mu, radius=0.02) for name in ("left", "bar", "right")]
    friction.append(JointFriction(loop, mu, radius=0.02, axis=(0, 1, 0)))
    q = np.zeros(3)
    for name, value in (("left", 0.7), ("bar", -0.7), ("right", 0.7)):
        q[model.q_index(name)] = value
    return model, State(q, np.zeros(3)), friction


def test_a_linkage_never_gains_energy() -> None:
    model, state, friction = linkage(0.5)
    states = friction_run(model, state, 150, 5e-3, friction)
    energies = [float(lw.energy(model, s).total) for s in states]
    assert np.diff(energies).max() <= 1e-9
    smooth = friction_run(model, state, 150, 5e-3, [])
    assert energies[-1] < float(lw.energy(model, smooth[-1]).total) - 1e-2


def test_both_projections_find_the_same_motion() -> None:
    model, state, friction = linkage(0.3)
    ends = [friction_run(model, state, 20, 5e-3, friction, projections=name)[-1].v for name in PROJECTIONS]
    assert np.allclose(ends[0], ends[1], rtol=1e-7)


def test_a_pin_under_a_body_that_rubs_on_a_floor() -> None:
    """A wheel on a sled that slides on the floor: contact and joint brake at once, each with its own law."""
    b = lw.ModelBuilder(gravity=(0.0, 0.0, -G))
    b.body("sled", joint=lw.Translational(), inertia=lw.Inertia(3.0, tensor=np.eye(3)))
    b.body("wheel", parent="sled", joint=lw.Revolute((0, 1, 0)), inertia=lw.Inertia(2.0, tensor=0.3 * np.eye(3)))
    b.add(lw.Contact("sled", lw.Sphere(radius=0.1), shape_b=lw.Plane(normal=(0, 0, 1), point=(0, 0, -0.1)), friction=0.4))
    model = b.build()
    start = State(np.zeros(4), np.array([1.0, 0.0, 0.0, 5.0]))
    end = friction_run(model, start, 20, 1e-3, [JointFriction("wheel", 0.2, radius=0.05)])[-1]
    assert end.v[0] == pytest.approx(1.0 - 0.02 * 0.4 * G, rel=1e-6)
    # the wheel's pin also carries what brakes it: m g and m mu g
    assert end.v[3] == pytest.approx(5.0 - 0.02 * 0.2 * 0.05 * 2.0 * G * np.hypot(1.0, 0.4) / 0.3, rel=1e-6)


# --- bad input ------------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"mu": -0.1}, "mu"),
        ({"mu": np.nan}, "mu"),
        ({"mu": 0.1, "radius": -1.0}, "radius"),
        ({"mu": 0.1, "points": [(0, 0, 0)]}, "normals"),
        ({"mu": 0.1, "points": [(0, 0, 0)], "normals": [(0, 0, 0)]}, "zero"),
        ({"mu": 0.1, "points": [(0, 0)], "normals": [(0, 0, 1)]}, "three"),
        ({"mu": 0.1, "points": [(0, 0, 1)] * 2, "normals": [(0, 0, 1)]}, "2 points"),
    ],
)
def test_bad_numbers_are_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises(ModelError, match=message):
        JointFriction("wheel", **given)


def test_what_does_not_fit_a_model_is_refused() -> None:
    model, state = wheel(), State(np.zeros(1), np.zeros(1))
    for friction, message in (
        (JointFriction("door", 0.1, radius=0.1), "no joint 'door'"),
        (JointFriction("wheel", 0.1), "radius"),
        (JointFriction(lw.Loop("wheel", "world", (0, 0, 0), (0, 0, 0)), 0.1, radius=0.1), "no such constraint"),
    ):
        with pytest.raises(InputError, match=message):
            friction_step(model, state, 1e-3, [friction])
    with pytest.raises(InputError, match="projections"):
        friction_step(model, state, 1e-3, [], projections="none")
