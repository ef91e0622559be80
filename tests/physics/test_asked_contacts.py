"""Pairs of shapes that Coal finds act in steps as compiled pairs do: they stick and slide, rest, roll and land."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

import linkwork as lw
from linkwork.contact.asked import AskedContact, told_numbers
from linkwork.contact.coal_pairs import SLOTS, CoalPair
from linkwork.contact.formulations import touching
from linkwork.contact.patches import feature
from linkwork.contact.rounding import rolling

G, TILT = 9.81, 0.3
CORNERS = np.array([[x, y, z] for x in (-0.2, 0.2) for y in (-0.2, 0.2) for z in (-0.2, 0.2)])
HULL = lw.Convex(CORNERS)
CUBE = lw.Mesh(HULL.vertices, HULL.faces, mass=1.0)
FLOOR = lw.Box((40.0, 10.0, 1.0), lw.SE3(p=(0, 0, -0.5)), friction=0.5)
LYING = lw.SE3.rot_x(np.pi / 2)


def on(ground: Any, shape: Any, z: float, tilt: float = 0.0, v: Any = None, quaternion: Any = None) -> tuple[lw.Model, lw.State]:
    """A free body with its origin at a height over ground that leans down along x."""
    b = lw.ModelBuilder(gravity=(G * np.sin(tilt), 0.0, -G * np.cos(tilt)))
    b.world(ground)
    b.body("thing", joint=lw.Free(), shapes=[shape])
    model = b.build()
    q = model.neutral()
    q[2] = z
    if quaternion is not None:
        q[3:7] = np.asarray(quaternion, float) / np.linalg.norm(quaternion)
    return model, lw.State(q, np.zeros(6) if v is None else np.array(v, float))


def gains(run: lw.Trajectory) -> float:
    """The largest energy that a step adds."""
    return float(np.diff(run.energy.total).max())


def worst(run: lw.Trajectory, what: str) -> float:
    """Of the health of a run."""
    found = getattr(run.health, what)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("shape", "z"),
    [(lw.Cylinder(0.2, 0.3, mass=1.0), 0.15), (lw.Cylinder(0.2, 0.6, lw.SE3.rot_y(np.pi / 2), mass=1.0), 0.2)],
    ids=["standing", "lying"],
)
@pytest.mark.parametrize("mu", [0.2, np.tan(TILT) - 0.005, np.tan(TILT) + 0.005, 0.5])
def test_a_cylinder_sticks_and_slides_as_a_box_does(shape: Any, z: float, mu: float) -> None:
    ground = lw.Box(FLOOR.size, FLOOR.pose, friction=mu)
    run = lw.simulate(*on(ground, shape, z, TILT), duration=0.3, dt=1e-3)
    expected = max(0.0, G * (np.sin(TILT) - mu * np.cos(TILT)))
    assert run.v[-1, 3] / 0.3 == pytest.approx(expected, abs=1e-3)
    assert np.abs(run.q[:, 2] - z).max() < 1e-6
    assert worst(run, "penetration") < 1e-6
    assert worst(run, "complementarity") < 1e-12
    assert gains(run) < 1e-9


def test_a_cylinder_rolls_down_a_box() -> None:
    """2/3 g sin a; it neither sinks in nor is lifted."""
    run = lw.simulate(*on(FLOOR, lw.Cylinder(0.2, 0.4, LYING, mass=1.0), 0.2, TILT), duration=0.5, dt=1e-3)
    p = run.q[:, 0]
    assert np.diff(p, 2).mean() / 1e-6 == pytest.approx(2.0 / 3.0 * G * np.sin(TILT), rel=1e-3)
    assert np.abs(run.q[:, 2] - 0.2).max() < 1e-6


@pytest.mark.parametrize("method", ["reduced", "maximal", "maximal-implicit", "redmax"])
def test_a_mesh_cube_rests_on_a_box(method: str) -> None:
    model, state = on(FLOOR, CUBE, 0.2)
    run = lw.simulate(model, state, duration=2.0 if method == "reduced" else 0.2, dt=1e-3, method=method)
    assert np.abs(run.q - state.q).max() < 1e-6
    assert run.forces is not None
    forces = run.forces[-1].reshape(-1, 3)
    assert forces[:, 0].sum() == pytest.approx(G, abs=1e-6)
    assert worst(run, "penetration") < 1e-6


def test_a_hull_of_many_corners_rests_on_a_mesh() -> None:
    angle = 2.0 * np.pi * np.arange(12) / 12
    drum = lw.Convex([[0.2 * np.cos(x), 0.2 * np.sin(x), z] for x in angle for z in (-0.1, 0.1)], mass=1.0, friction=0.5)
    model, state = on(lw.Mesh(HULL.vertices, HULL.faces), drum, 0.3)
    run = lw.simulate(model, state, duration=0.3, dt=1e-3)
    assert np.abs(run.q - state.q).max() < 1e-6


def test_an_ellipsoid_that_is_dropped_comes_to_rest() -> None:
    egg = lw.Ellipsoid((0.2, 0.15, 0.1), mass=1.0)
    run = lw.simulate(*on(FLOOR, egg, 0.3), duration=0.6, dt=1e-3)
    assert run.q[-1, 2] == pytest.approx(0.1, abs=1e-6)
    assert np.abs(run.v[-1]).max() < 1e-5
    assert run.q[:, 2].min() > 0.1 - 1e-5
    assert gains(run) < 1e-9


def test_an_ellipsoid_that_rocks_stays_on_the_box() -> None:
    egg = lw.Ellipsoid((0.2, 0.15, 0.1), mass=1.0)
    run = lw.simulate(*on(FLOOR, egg, 0.3, quaternion=(1.0, 0.3, 0.2, 0.0)), duration=1.0, dt=1e-3)
    assert worst(run, "penetration") < 1e-5
    assert gains(run) < 1e-4


def test_a_ball_rolls_over_a_height_field() -> None:
    x = np.linspace(-3.0, 3.0, 25)
    heights = 0.2 * np.sin(2.0 * x)[:, None] * np.cos(1.5 * x)[None, :]
    field = lw.HeightField(heights, (6.0, 6.0), friction=0.5)
    run = lw.simulate(*on(field, lw.Sphere(0.15, mass=1.0), 0.3), duration=1.0, dt=1e-3)
    assert worst(run, "penetration") < 1e-4
    assert np.linalg.norm(run.q[-1, :2]) > 0.3
    assert run.q[:, 2].min() > -0.2
    assert gains(run) < 1e-4


def test_a_fast_cylinder_does_not_pass_through_a_plate() -> None:
    """40 m/s, 4 cm a step: four times what the plate is thick."""
    plate = lw.Box((2.0, 2.0, 0.01), friction=0.5)
    run = lw.simulate(*on(plate, lw.Cylinder(0.1, 0.2, mass=1.0), 1.0, v=(0, 0, 0, 0, 0, -40.0)), duration=0.05, dt=1e-3)
    assert run.q[:, 2].min() > 0.1


def test_restitution_turns_the_speed() -> None:
    egg = lw.Ellipsoid((0.1, 0.1, 0.1), mass=1.0, restitution=0.5)
    run = lw.simulate(*on(FLOOR, egg, 0.2, v=(0, 0, 0, 0, 0, -2.0)), duration=0.1, dt=1e-3)
    hit = -run.v[:, 5].min()
    assert run.v[:, 5].max() == pytest.approx(0.5 * hit, rel=0.02)


def test_batches_and_the_simulator_make_the_same_steps() -> None:
    model, state = on(FLOOR, CUBE, 0.25)
    q = np.stack([state.q, state.q + np.eye(7)[2] * 0.1])
    many = lw.simulate(model, lw.State(q, np.zeros((2, 6))), duration=0.15, dt=1e-3)
    for k in range(2):
        assert np.array_equal(lw.simulate(model, lw.State(q[k], np.zeros(6)), duration=0.15, dt=1e-3).q, many.q[k])
    sim, both = lw.Simulator(model, dt=1e-3, state=state), lw.Simulator(model, dt=1e-3, state=lw.State(q, np.zeros((2, 6))))
    sim.step(100)
    for _ in range(50):
        sim.step()
    both.step(150)
    for one, last in ((sim, many.q[0, -1]), (both, many.q[:, -1])):
        assert isinstance(one.state, lw.State)
        assert np.array_equal(one.state.q, last)


def test_a_controller_and_records_now_and_then_see_it_too() -> None:
    model, state = on(FLOOR, CUBE, 0.2)
    run = lw.simulate(model, state, duration=0.1, dt=1e-3, every=10, control=lambda t, s: np.array([0, 0, 0, 2.0, 0, 0]))
    assert np.abs(run.q[-1] - state.q).max() < 1e-6  # 2 N do not move what friction of 4.9 N holds


def test_those_that_cannot_say_so() -> None:
    model, state = on(lw.Box((4.0, 4.0, 1.0), lw.SE3(p=(0, 0, -0.5))), CUBE, 0.2)
    with pytest.raises(
        lw.InputError, match=r"AskedContact\('thing', 'world'\).*found by Coal, which the stepper 'rk4' does not ask"
    ):
        lw.simulate(model, state, duration=0.01, dt=1e-3, stepper="rk4")
    with pytest.raises(lw.InputError, match="found by Coal, which contact='compliant' does not ask"):
        lw.simulate(model, state, duration=0.01, dt=1e-3, contact="compliant")
    with pytest.raises(lw.InputError, match="found by Coal, whose points are not differentiated"):
        lw.step_derivatives(model, state, 1e-3)
    with pytest.raises(lw.InputError, match="found by Coal from Python, which a page has not"):
        lw.save_live(model, state, "never.html")
    with pytest.raises(lw.ModelError, match="two surfaces of triangles"):
        lw.simulate(*on(CUBE, lw.Mesh(HULL.vertices, HULL.faces, mass=1.0), 0.4), duration=0.01, dt=1e-3)


def test_without_coal_the_error_says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "coal", None)
    with pytest.raises(lw.ModelError, match="needs Coal: pip install coal"):
        lw.simulate(*on(lw.Box((4.0, 4.0, 1.0)), lw.Cylinder(0.1, 0.2, mass=1.0), 1.0), duration=0.01, dt=1e-3)


def test_accelerations_know_them() -> None:
    model, state = on(FLOOR, CUBE, 0.2)
    found = lw.contact_forces(model, state.q, state.v)
    assert np.abs(found.accelerations).max() < 1e-9


@pytest.mark.parametrize(
    "shape", [lw.Ellipsoid((0.3, 0.2, 0.1), LYING), lw.Cylinder(0.3, 0.4, LYING), lw.Sphere(0.2), lw.Capsule(0.1, 1.0)]
)
def test_the_slope_of_a_support_point(shape: Any) -> None:
    """Is that of the points which features have in directions near one another."""
    rng = np.random.default_rng(0)
    R, p = (np.asarray(x, float) for x in (getattr(shape, "R", np.eye(3)), getattr(shape, "p", np.zeros(3))))
    for _ in range(20):
        d, e = (x / np.linalg.norm(x) for x in np.array([[0.0, 0, 0], 1e-6 * rng.normal(size=3)]) + rng.normal(size=3))
        change = feature(shape, R, p, e)[0] - feature(shape, R, p, d)[0]
        np.testing.assert_allclose(rolling(shape, d) @ (e - d), change, atol=1e-10)


def test_a_law_finds_again_what_it_was_told() -> None:
    a, b, E, F = lw.Cylinder(0.2, 0.3), lw.Box((1, 1, 1)), lw.SE3(p=(0.1, 0, 0.649)), lw.SE3()
    points = CoalPair(a, b)(E, F)
    law = AskedContact("a", a, "b", b, friction=0.5).with_inputs(told_numbers(CoalPair(a, b), points, (E, F), True))
    for told, found in zip(points, law.touch((E, F)), strict=True):
        assert told.on == found.on
        if told.on:
            for x, y in zip(told, found, strict=True):
                np.testing.assert_allclose(x, y, atol=1e-14)
    assert len(points) == SLOTS


def test_compiled_pairs_stay_compiled() -> None:
    model, _ = on(FLOOR, lw.Sphere(0.1, mass=1.0), 0.2)
    assert not any(isinstance(law, AskedContact) for law in touching(model, "exact").elements)
