"""Flat faces are carried by their outline: what spins on one is braked as if all its weight were there."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import linkwork as lw
from linkwork.contact.coal_pairs import CoalPair
from linkwork.contact.implied import lower_hull, without_implied
from linkwork.contact.pairs import contact_points
from linkwork.contact.point import ContactPoint

METHODS = ("reduced", "maximal", "maximal-implicit", "redmax")
MU, G, RADIUS, HEIGHT, MASS, STEP = 0.5, 9.81, 0.1, 0.02, 2.0, 1e-3
TILT = lw.SE3.rot_y(0.7) @ lw.SE3.rot_x(0.4)


def prism(corners: int, radius: float, height: float, top: float) -> np.ndarray:
    """Corners of a regular prism with its axis along z, below a height."""
    turn = 2.0 * np.pi * np.arange(corners) / corners
    return np.array([[radius * np.cos(a), radius * np.sin(a), z] for a in turn for z in (top - height, top)])


def fan(corners: int) -> lw.Mesh:
    """A disc whose caps are triangles about their middles, as drawing programs make them."""
    turn = 2.0 * np.pi * np.arange(corners) / corners
    rims = [[RADIUS * np.cos(a), RADIUS * np.sin(a), z] for z in (-0.5 * HEIGHT, 0.5 * HEIGHT) for a in turn]
    low, high, faces = 2 * corners, 2 * corners + 1, []
    for i in range(corners):
        k = (i + 1) % corners
        faces += [[i, corners + k, corners + i], [i, k, corners + k], [low, k, i], [high, corners + i, corners + k]]
    return lw.Mesh(np.array([*rims, [0, 0, -0.5 * HEIGHT], [0, 0, 0.5 * HEIGHT]]), np.array(faces), mass=MASS, friction=MU)


DISCS = {
    "coin": lw.Cylinder(RADIUS, HEIGHT, mass=MASS, friction=MU),
    "hull": lw.Convex(prism(24, RADIUS, HEIGHT, 0.5 * HEIGHT), mass=MASS, friction=MU),
    "box": lw.Box((RADIUS * np.sqrt(2.0), RADIUS * np.sqrt(2.0), HEIGHT), mass=MASS, friction=MU),
    "mesh": fan(24),
}
GROUNDS = {
    "plane": lambda E: lw.Plane(normal=E.R[:, 2], friction=MU),
    "box": lambda E: lw.Box((2, 2, 1), E @ lw.SE3(p=(0, 0, -0.5)), friction=MU),
    "hull": lambda E: lw.Convex(prism(12, 1.0, 1.0, 0.0) @ np.asarray(E.R).T, friction=MU),
    "field": lambda E: lw.HeightField(np.zeros((21, 21)), (1, 1), E, friction=MU),
    "cap": lambda E: lw.Cylinder(RADIUS, 1.0, E @ lw.SE3(p=(0, 0, -0.5)), friction=MU),
}


def quaternion(R: np.ndarray) -> list[float]:
    w = 0.5 * np.sqrt(1.0 + np.trace(R))
    return [w, *((R[(k + 2) % 3, (k + 1) % 3] - R[(k + 1) % 3, (k + 2) % 3]) / (4 * w) for k in range(3))]


def braked(shape: Any, ground: Any, E: lw.SE3, height: float, method: str, spin: float = 10.0, steps: int = 5) -> float:
    """The torque about the normal that brakes what spins on ground, by mu m g."""
    b = lw.ModelBuilder(gravity=np.asarray(E.R)[:, 2] * -G)
    model = b.world(ground(E)).body("thing", joint=lw.Free(), shapes=[shape]).build()
    at = E @ lw.SE3(p=(0, 0, height)) @ lw.SE3.rot_z(0.3)
    start = lw.State([*at.p, *quaternion(np.asarray(at.R, float))], [0, 0, spin, 0, 0, 0])
    run = lw.simulate(model, start, steps * STEP, STEP, method)
    body = model.bodies[0].inertia
    return (spin - run.v[-1, 2]) * body.tensor[2, 2] / (steps * STEP * MU * body.mass * G)


@pytest.mark.parametrize("tilt", [lw.SE3(), TILT], ids=["level", "tilted"])
@pytest.mark.parametrize("ground", GROUNDS)
@pytest.mark.parametrize("method", METHODS)
def test_a_spinning_coin_is_braked_by_the_torque_of_its_rim(method: str, ground: str, tilt: lw.SE3) -> None:
    if ground != "plane":
        pytest.importorskip("coal")
    found = braked(DISCS["coin"], GROUNDS[ground], tilt, 0.5 * HEIGHT, method)
    assert 0.98 * RADIUS <= found <= (1.0 + 1e-6) * RADIUS


@pytest.mark.parametrize("ground", ["plane", "box", "hull", "field", "cap"])
@pytest.mark.parametrize("shape", ["hull", "box", "mesh"])
def test_discs_of_other_kinds_are_braked_alike(shape: str, ground: str) -> None:
    pytest.importorskip("coal")
    if (shape, ground) == ("mesh", "field"):
        return  # two surfaces of triangles do not touch
    found = braked(DISCS[shape], GROUNDS[ground], TILT, 0.5 * HEIGHT, "reduced")
    assert 0.98 * RADIUS <= found <= (1.0 + 1e-6) * RADIUS


@pytest.mark.parametrize("ground", ["plane", "box", "field"])
@pytest.mark.parametrize("method", METHODS)
def test_a_capsule_that_lies_is_carried_by_its_ends(method: str, ground: str) -> None:
    if ground == "field":
        pytest.importorskip("coal")
    rod = lw.Capsule(0.03, 0.4, lw.SE3.rot_y(np.pi / 2), mass=MASS, friction=MU)
    assert braked(rod, GROUNDS[ground], lw.SE3(), 0.03, method, spin=1.0) == pytest.approx(0.2, rel=0.02)


@pytest.mark.parametrize("speed", [0.5, 2.0])
def test_a_coin_that_slides_as_it_spins_is_braked_as_a_ring(speed: float) -> None:
    """The means of the friction of the points of a rim, to 3 % at every angle; speed is relative to that of the rim."""
    a = 2.0 * np.pi * (np.arange(10000) + 0.5) / 10000
    slip = np.array([speed - np.sin(a), np.cos(a)]) / np.hypot(speed - np.sin(a), np.cos(a))
    force, torque = slip[0].mean(), (np.cos(a) * slip[1] - np.sin(a) * slip[0]).mean()
    coin = lw.Cylinder(RADIUS, 1e-4, mass=MASS, friction=MU)  # thin: it does not tip
    model = lw.ModelBuilder().world(lw.Plane(friction=MU)).body("coin", joint=lw.Free(), shapes=[coin]).build()
    h, spin = 1e-4, 10.0
    for angle in np.linspace(0.0, np.pi / 3, 4):
        start = lw.State(
            [0, 0, 5e-5, np.cos(angle / 2), 0, 0, np.sin(angle / 2)],
            [0, 0, spin, *(speed * spin * RADIUS * np.array([np.cos(angle), -np.sin(angle), 0.0]))],
        )
        run = lw.simulate(model, start, h, h)
        change = (start.v - run.v[-1]) / (h * MU * G)
        along = np.cos(angle) * change[3] - np.sin(angle) * change[4]
        assert along == pytest.approx(force, abs=0.03)
        assert change[2] * 0.5 * RADIUS == pytest.approx(torque, abs=0.03)


@pytest.mark.parametrize("method", METHODS)
def test_no_energy_comes_from_the_rims_of_coins_that_tilt(method: str) -> None:
    model = lw.ModelBuilder().ground(friction=MU).body("coin", joint=lw.Free(), shapes=[DISCS["coin"]]).build()
    rng = np.random.default_rng(5)
    for _ in range(8):
        tilt, spin = 10.0 ** rng.uniform(-10, -0.5), rng.choice([0.0, 3.0, 20.0])
        R = np.asarray((lw.SE3.rot_z(rng.uniform(0, 6)) @ lw.SE3.rot_x(tilt) @ lw.SE3.rot_z(rng.uniform(0, 1))).R, float)
        height = RADIUS * np.sin(tilt) + 0.5 * HEIGHT * np.cos(tilt)
        v = [*(R.T @ [0, 0, spin]), *(R.T @ [*rng.normal(size=2), 0.0])]
        energy = lw.simulate(model, lw.State([0, 0, height, *quaternion(R)], v), 0.3, STEP, method).energy.total
        assert energy.max() <= energy[0] + 1e-9
        assert np.diff(energy).max() < 1e-4


# --- the points themselves -----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("turn", [0.0, 0.1, 0.6])
def test_a_cap_over_the_edge_of_a_box_touches_along_the_outline_of_the_overlap(turn: float) -> None:
    pytest.importorskip("coal")
    coin, box = lw.Cylinder(0.1, 0.02), lw.Box((1, 1, 1), lw.SE3(p=(0.5, 0, -0.5)))
    x = np.array([p.point for p in CoalPair(coin, box)(lw.SE3(p=(-0.03, 0, 0.01)) @ lw.SE3.rot_z(turn), lw.SE3()) if p.on])
    at = x[:, :2] - [-0.03, 0]
    on_chord, on_rim = np.abs(at[:, 0] - 0.03) < 1e-9, np.abs(np.linalg.norm(at, axis=1) - 0.1) < 1e-9
    assert len(x) >= 4
    assert np.all(on_chord | on_rim)
    half = np.sqrt(0.1**2 - 0.03**2)
    assert at[on_chord, 1].min() == pytest.approx(-half, rel=0.01)
    assert at[on_chord, 1].max() == pytest.approx(half, rel=0.01)


def test_a_capsule_has_a_point_between_its_ends_only_where_that_is_nearer() -> None:
    rod, box = lw.Capsule(0.03, 0.4, lw.SE3.rot_y(np.pi / 2)), lw.Box((1, 1, 1), lw.SE3(p=(0.5, 0, -0.5)))
    out = np.array([-0.03, 0.0, 0.03]) / np.sqrt(2.0)
    over = [p for p in contact_points(rod, lw.SE3(p=out) @ lw.SE3.rot_y(-np.pi / 4), box, lw.SE3()) if p.on]
    np.testing.assert_allclose(min(over, key=lambda p: p.gap).point, 0.0, atol=1e-9)
    flat = [p.point for p in contact_points(rod, lw.SE3(p=(0.5, 0, 0.03)), box, lw.SE3()) if p.on]
    np.testing.assert_allclose(np.sort([p[0] for p in flat]), [0.3, 0.7], atol=1e-9)


def test_points_that_others_imply_are_left_out() -> None:
    up = np.array([0.0, 0.0, 1.0])
    x = np.array([[i, k, 0.0] for i in range(5) for k in range(5)], float)
    corners = {0, 4, 20, 24}
    rng = np.random.default_rng(0)
    for slope in ([0.0, 0.0, 0.0], [0.01, -0.02, 0.0]):
        gaps = x @ slope + 1e-16 * rng.normal(size=len(x))
        assert set(lower_hull(x, gaps, up, 1e-6)) == corners
        gaps[7] -= 1e-3
        assert set(lower_hull(x, gaps, up, 1e-6)) == corners | {7}
    line = x[:5]
    assert set(lower_hull(line, np.zeros(5), up, 1e-6)) == {0, 4}
    assert set(lower_hull(line, np.array([0, 0, -1e-3, 0, 0]), up, 1e-6)) == {0, 2, 4}
    assert len(lower_hull(np.zeros((4, 3)), np.arange(4.0), up, 1e-6)) == 1
    leaning = np.array([np.sin(0.3), 0.0, np.cos(0.3)])
    points = [ContactPoint(p, n, 0.0, 1.0) for n in (up, leaning) for p in x]
    assert len(without_implied(points, 1e-6)) == 8
