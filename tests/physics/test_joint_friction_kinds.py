"""Friction inside joints of every kind against closed forms: thresholds of sticking in all directions, torques, decelerations."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import linkwork as lw
from linkwork.errors import InputError, ModelError
from linkwork.redmax.joint_friction import friction_step

G = 9.81
METHODS = ("reduced", "maximal", "maximal-implicit", "redmax")
MASS, R, MU = 2.0, 0.05, 0.3


def rubbing(joint: lw.Joint, mu: float = MU, *, tensor: Any = 0.3, gravity: Any = (0.0, 0.0, -G), **given: Any) -> lw.Model:
    """One body on a joint that rubs."""
    b = lw.ModelBuilder(gravity=gravity)
    b.body("body", joint=joint, inertia=lw.Inertia(MASS, tensor=np.diag(np.broadcast_to(tensor, 3))))
    return b.add(lw.JointFriction("body", mu, **given)).build()


def last(model: lw.Model, q: Any, v: Any, steps: int, h: float, method: str, **given: Any) -> np.ndarray:
    """v (..., nv) after some steps."""
    run = lw.simulate(model, lw.State(np.asarray(q, float), np.asarray(v, float)), steps * h, h, method, **given)
    assert run.health.complementarity is not None
    assert run.health.complementarity < 1e-12
    return np.asarray(run.v[..., -1, :])


def directions(count: int, size: int) -> np.ndarray:
    n = np.random.default_rng(0).normal(size=(count, size))
    return n / np.linalg.norm(n, axis=1, keepdims=True)


# --- one disc for all directions ------------------------------------------------------------------------------------------------
DISCS: dict[str, tuple[Any, dict[str, Any], int, float]] = {
    "ball": (lw.Spherical, {"radius": R}, 3, R),
    "planar": (lw.Planar, {}, 2, 1.0),
    "feet": (
        lw.Planar,
        {"points": [(x, y, 0.0) for x in (-0.2, 0.2) for y in (-0.1, 0.1)], "normals": [(0, 0, 1)] * 4},
        2,
        1.0,
    ),
    "a ball of one's own": (lambda: lw.Composite(lw.Spherical(), lw.Fixed()), {"radius": R}, 3, R),
}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", DISCS)
def test_breakaway_is_alike_in_all_directions(kind: str, method: str) -> None:
    """mu N (times the radius), to 1e-6, in a hundred random directions."""
    make, given, size, lever = DISCS[kind]
    model, n = rubbing(make(), tensor=(0.1, 0.3, 0.35), **given), directions(100, size)
    q, v, most = np.tile(model.neutral(), (100, 1)), np.zeros((100, size)), MU * MASS * G * lever
    below, above = (last(model, q, v, 3, 1e-3, method, tau=part * most * n) for part in (1.0 - 1e-6, 1.0 + 1e-6))
    assert np.abs(below).max() < 1e-15
    assert np.linalg.norm(above, axis=1).min() > 1e-10


@pytest.mark.parametrize("method", METHODS)
def test_a_sole_that_slides_and_turns_brakes_against_its_slip(method: str) -> None:
    """With a moment of inertia of m r^2 the slip (v, r w) of a Free2D, or of a sleeve, shrinks along itself by mu g t.

    In the plane to the first order in h w, by which the axes of the body turn in a step.
    """
    for joint, gravity in ((lw.Free2D(), (0.0, 0.0, -G)), (lw.Cylindrical((0, 0, 1)), (G, 0.0, 0.0))):
        model = rubbing(joint, tensor=MASS * R**2, gravity=gravity, radius=R)
        v = np.array([0.3, -0.4, 0.1 / R] if model.nv == 3 else [1.2 / R, 0.5])
        units = np.array([1.0, 1.0, R] if model.nv == 3 else [R, 1.0])
        slip = float(np.linalg.norm(units * v))
        found = last(model, np.zeros(model.nv), v, 20, 1e-3, method)
        assert np.allclose(found, v * (1.0 - 0.02 * MU * G / slip), rtol=1e-3 if model.nv == 3 else 1e-9)


# --- wires ----------------------------------------------------------------------------------------------------------------------
def wire(slope: float) -> lw.Joint:
    """A bead on a parabola z = slope x^2 / 2."""
    return lw.joint(lambda q, slope: lw.SE3(p=(q[0], 0.0, 0.5 * slope * q[0] * q[0])), 1, parameters={"slope": slope})


@pytest.mark.parametrize("method", METHODS)
def test_a_bead_sticks_where_the_wire_is_less_steep_than_mu(method: str) -> None:
    model, steep = rubbing(wire(2.0)), np.array([0.2, 0.999999, -0.999999, 1.000001, -1.000001, 3.0]) * MU
    v = last(model, steep[:, None] / 2.0, np.zeros((6, 1)), 3, 1e-3, method)[:, 0]
    assert np.abs(v[:3]).max() < 1e-15
    assert np.all(v[3:] * steep[3:] < -1e-10)


@pytest.mark.parametrize("turns", [False, True])
@pytest.mark.parametrize("method", METHODS)
def test_a_bead_on_a_ring_is_braked_by_its_own_speed(method: str, turns: bool) -> None:
    """v' = -mu v^2 / R: v = v_0 / (1 + mu v_0 t / R), whether or not its frame turns along the ring."""
    size, speed, h = 0.5, 2.0, 1e-4

    def place(q: Any) -> lw.SE3:
        centre = lw.SE3(p=(size * np.sin(q[0]), 0.0, -size * np.cos(q[0])))
        return centre @ lw.SE3.rot_y(-q[0]) if turns else centre

    model = rubbing(lw.joint(place, 1), tensor=1e-9, gravity=(0, 0, 0))
    v = last(model, [0.3], [speed / size], 1000, h, method)[0] * size
    assert v == pytest.approx(speed / (1.0 + MU * speed * 0.1 / size), rel=2e-3)


@pytest.mark.parametrize("method", METHODS)
def test_a_bead_on_a_spline_slides_as_on_an_incline(method: str) -> None:
    frames = [lw.SE3(p=(k * np.cos(0.5), 0.0, -k * np.sin(0.5))) for k in range(6)]
    model = rubbing(lw.SplineCurve(frames), 0.2)
    v = last(model, [1.0], [0.0], 10, 1e-3, method)[0]
    assert v == pytest.approx(0.01 * G * (np.sin(0.5) - 0.2 * np.cos(0.5)), rel=1e-6)


def test_the_point_of_a_bead_that_is_not_its_origin() -> None:
    """A rod that a wire leads through a hole off its middle, with no turn: the force on the hole is the same."""
    for at in (None, (0.0, 0.0, 0.2)):
        model = rubbing(wire(0.0), at=at)
        assert last(model, [0.0], [1.0], 10, 1e-3, "reduced")[0] == pytest.approx(1.0 - 0.01 * MU * G, rel=1e-12)


# --- screws ---------------------------------------------------------------------------------------------------------------------
PITCH = 0.01


def thread() -> lw.Joint:
    """`Helical` as a joint of one's own."""
    return lw.joint(lambda q: lw.SE3.rot_z(q[0]) @ lw.SE3(p=(0, 0, PITCH * q[0])), 1)


@pytest.mark.parametrize("make", [lambda: lw.Helical((0, 0, 1), PITCH), thread])
@pytest.mark.parametrize("method", METHODS)
def test_a_nut_holds_its_load_where_the_lead_is_less_steep_than_mu(method: str, make: Any) -> None:
    for mu, holds in ((PITCH / R * 1.000001, True), (PITCH / R * 0.999999, False)):
        v = last(rubbing(make(), mu, radius=R), [0.0], [0.0], 3, 1e-3, method)[0]
        assert (abs(v) < 1e-15) if holds else (v < -1e-10)


@pytest.mark.parametrize("method", METHODS)
def test_the_torque_that_raises_a_load_by_a_screw(method: str) -> None:
    """F r (tan a + mu) / (1 - mu tan a): the nut turns on at its speed."""
    slope = PITCH / R
    raising = MASS * G * R * (slope + MU) / (1.0 - MU * slope)
    model = rubbing(lw.Helical((0, 0, 1), PITCH), radius=R)
    assert last(model, [0.0], [2.0], 10, 1e-3, method, tau=np.array([raising]))[0] == pytest.approx(2.0, rel=1e-9)


# --- rows of joints -------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("method", METHODS)
def test_pins_of_a_universal_joint_hold_each_by_itself(method: str) -> None:
    """mu r m g about each axis, at any angle of the other pin: the load is radial to the first, and turns about the second."""
    model, most = rubbing(lw.Universal(), gravity=(0, 0, -G), radius=R), MU * R * MASS * G
    for part, moves in ((0.999999, False), (1.000001, True)):
        tau = np.array([[part, 0.0], [0.0, part], [part, part]]) * most
        v = np.abs(last(model, [[0.0, 0.4]] * 3, np.zeros((3, 2)), 3, 1e-3, method, tau=tau))
        assert np.all((v > 1e-10) == (moves & (tau > 0.0)))


@pytest.mark.parametrize("method", METHODS)
def test_parts_of_a_composite_joint_rub_under_one_load(method: str) -> None:
    """A trolley with a pin: mu m g holds the one, mu r m g the other."""
    model = rubbing(lw.Composite(lw.Prismatic((1, 0, 0)), lw.Revolute((0, 1, 0))), radius=R)
    most = np.array([MU * MASS * G, MU * R * MASS * G])
    for part, moves in ((0.999999, False), (1.000001, True)):
        for k in range(2):
            tau = np.where(np.arange(2) == k, part * most, 0.0)
            v = np.abs(last(model, np.zeros(2), np.zeros(2), 3, 1e-3, method, tau=tau))
            assert np.all((v > 1e-10) == (moves & (tau > 0.0)))


def test_a_row_of_one_is_the_joint_itself() -> None:
    for joint, given in (
        (lw.Revolute((0.6, 0.8, 0)), {"radius": R, "length": 0.2}),
        (lw.Prismatic((0.6, 0, 0.8)), {"length": 0.3}),
    ):
        runs = [
            last(rubbing(kind, **given), np.zeros(1), [1.0], 10, 1e-3, "reduced")
            for kind in (joint, lw.Composite(joint, lw.Fixed()))
        ]
        assert np.allclose(*runs, rtol=1e-12)


# --- loops ----------------------------------------------------------------------------------------------------------------------
def test_a_sleeve_that_closes_a_loop() -> None:
    """A free bar in a sleeve that its closure makes slides and turns as on the joint."""
    free = lw.Cylindrical((1, 0, 0))
    b = lw.ModelBuilder(gravity=(0, 0, -G))
    b.body("bar", joint=lw.Free(), inertia=lw.Inertia(MASS, tensor=MASS * R**2 * np.eye(3)))
    loop = lw.Closure(free, "bar", "world")
    model = b.add(loop).add(lw.JointFriction(loop, MU, radius=R)).build()
    v = np.array([1.2 / R, 0, 0, 0.5, 0, 0])
    found = last(model, model.neutral(), v, 20, 1e-3, "reduced")
    assert np.allclose(found[[0, 3]], v[[0, 3]] * (1.0 - 0.02 * MU * G / 1.3), rtol=1e-6)


# --- bad input ------------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("joint", "given", "message"),
    [
        (lw.Free(), {"radius": R}, "carries no force"),
        (lw.Translational(), {}, "carries no force"),
        (lw.Universal(), {}, "radius"),
        (lw.Cylindrical(), {}, "radius"),
        (lw.Helical((0, 0, 1), PITCH), {}, "radius"),
        (lw.Free2D(), {}, "radius"),
        (thread(), {}, None),
        (lw.joint(lambda q: lw.SE3.rot_z(q[0]), 1), {}, "give the radius"),
        (lw.SurfaceSurface(lw.Torus(0.5, 0.1), lw.Torus(0.5, 0.1)), {"radius": R}, "moves over the body"),
    ],
)
def test_what_cannot_rub_so_says_what_to_give(joint: lw.Joint, given: dict[str, Any], message: str | None) -> None:
    if message is None:
        rubbing(joint, **given)
        return
    with pytest.raises(ModelError, match=message):
        rubbing(joint, **given)


def test_dense_projections_refuse_what_they_do_not_know() -> None:
    with pytest.raises(InputError, match="surfaces move"):
        friction_step(rubbing(wire(1.0)), lw.State([0.0], [0.0]), 1e-3)
