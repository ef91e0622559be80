"""Shapes that go through Coal: points of flat features, meshes without ghosts of their inner edges, hulls against boxes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from contact_cases import outside, random_pose, random_shape, seen_distance

import linkwork as lw
from linkwork.contact.coal_pairs import SLOTS, CoalPair, spread
from linkwork.contact.pairs import contact_points
from linkwork.contact.point import ContactPoint

CORNERS = np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
BOX, HULL = lw.Box((1.0, 1.0, 1.0)), lw.Convex(CORNERS)
MESH = lw.Mesh(HULL.vertices, HULL.faces)
CAN, EGG, BALL = lw.Cylinder(0.5, 1.0), lw.Ellipsoid((0.3, 0.4, 0.5)), lw.Sphere(0.3, (0, 0, -0.2))
ROD = lw.Capsule(0.2, 0.5, lw.SE3.rot_x(np.pi / 2))
FLAT_FIELD = lw.HeightField(np.zeros((4, 5)), (4.0, 3.0))
HALF_HEIGHT = {"box": 0.5, "convex": 0.5, "mesh": 0.5, "cylinder": 0.5, "ellipsoid": 0.5, "sphere": 0.5, "capsule": 0.2}


def touching(a: Any, E_a: lw.SE3, b: Any, E_b: lw.SE3 | None = None) -> list[ContactPoint]:
    points = CoalPair(a, b)(E_a, E_b or lw.SE3())
    assert len(points) == SLOTS
    return [p for p in points if p.on]


@pytest.mark.parametrize("b", [BOX, HULL, MESH, CAN, FLAT_FIELD], ids=lambda s: s.kind)
@pytest.mark.parametrize("a", [BOX, HULL, CAN, EGG, BALL, ROD], ids=lambda s: s.kind)
@pytest.mark.parametrize("gap", [-1e-2, -1e-5, 5e-3])
def test_a_thing_on_a_flat_top(a: Any, b: Any, gap: float) -> None:
    """Normals point up, gaps are right, and what is flat has points on all sides of its centre."""
    top = 0.0 if b is FLAT_FIELD else 0.5
    E = lw.SE3(p=(0.1, 0.03, top + HALF_HEIGHT[a.kind] + gap))
    points = touching(a, E, b)
    for p in points:
        np.testing.assert_allclose(p.normal, [0, 0, 1], atol=1e-4)
        assert p.gap == pytest.approx(gap, abs=1e-5)
        assert p.point[2] == pytest.approx(top + 0.5 * gap, abs=1e-5)
    at = np.array([p.point[:2] for p in points]) - [0.1, 0.03]
    if a.kind in ("box", "convex", "cylinder"):
        assert len(points) >= 4
        assert np.all(at.min(axis=0) < -0.2)
        assert np.all(at.max(axis=0) > 0.2)
    elif a is ROD:
        np.testing.assert_allclose([at[:, 1].min(), at[:, 1].max()], [-0.25, 0.25], atol=1e-4)
    else:
        assert len(points) == 1


@pytest.mark.parametrize("gap", [0.0, 1.4e-17, 1e-12, -1e-12, 1e-9, -1e-9])
def test_what_touches_without_depth_is_not_pushed_through(gap: float) -> None:
    """Coal finds the far side of the floor here."""
    floor, egg = lw.Box((40.0, 10.0, 1.0)), lw.Ellipsoid((0.2, 0.15, 0.1))
    (found,) = touching(egg, lw.SE3(p=(0, 0, 0.6 + gap)), floor)
    np.testing.assert_allclose(found.normal, [0, 0, 1], atol=1e-6)
    assert found.gap == pytest.approx(gap, abs=1e-12)


@pytest.mark.parametrize("seed", range(30))
def test_a_hull_of_corners_is_a_box(seed: int) -> None:
    rng = np.random.default_rng(seed)
    E, F = random_pose(rng, 0.5), random_pose(rng, 0.5)
    box = lw.Box((0.7, 0.5, 0.9), random_pose(rng, 0.1))
    expected = [p for p in contact_points(box, E, BOX, F) if p.on]
    found = [p for p in CoalPair(box, HULL, margin=5.0)(E, F) if p.on]
    least = min(p.gap for p in expected)
    if least > 1e-3:
        assert min(p.gap for p in found) == pytest.approx(least, abs=1e-6)


@pytest.mark.parametrize("kinds", [("cylinder", "box"), ("ellipsoid", "capsule"), ("cylinder", "ellipsoid")], ids="-".join)
@pytest.mark.parametrize("seed", range(10))
def test_points_lie_on_both_surfaces(kinds: tuple[str, str], seed: int) -> None:
    rng = np.random.default_rng(seed)
    a, b = (random_shape(kind, rng) for kind in kinds)
    E, F = random_pose(rng, 0.3), random_pose(rng, 0.3)
    shadow = seen_distance(a, E, b, F)
    found = [p for p in CoalPair(a, b, margin=5.0)(E, F) if p.on]
    nearest = min(found, key=lambda p: p.gap)
    assert -1e-3 <= nearest.gap - shadow <= 0.03
    assert outside(a, E, nearest.point + 0.5 * nearest.gap * nearest.normal) == pytest.approx(0.0, abs=2e-3)
    assert outside(b, F, nearest.point - 0.5 * nearest.gap * nearest.normal) == pytest.approx(0.0, abs=2e-3)


def test_a_ball_rolling_over_triangles_feels_no_inner_edges() -> None:
    field = lw.HeightField(np.zeros((9, 9)), (2.0, 2.0))
    pair = CoalPair(lw.Sphere(0.1), field)
    for x in np.linspace(-0.8, 0.8, 60):
        (p,) = [q for q in pair(lw.SE3(p=(x, 0.3 * x + 0.01, 0.0999)), lw.SE3()) if q.on]
        np.testing.assert_allclose(p.normal, [0, 0, 1], atol=1e-6)
        assert p.gap == pytest.approx(-1e-4, abs=1e-6)


def test_a_height_field_is_where_it_says() -> None:
    """z = 0.2 x + 0.1 y + 1, seen by a small ball; rows run along y, columns along x."""
    x, y = np.meshgrid(np.linspace(-2, 2, 5), np.linspace(-1.5, 1.5, 4))
    field = lw.HeightField(0.2 * x + 0.1 * y + 1.0, (4.0, 3.0), lw.SE3(p=(1.0, 0.0, 0.0)))
    n = np.array([-0.2, -0.1, 1.0]) / np.sqrt(1.05)
    foot = np.array([1.7, -0.4, 0.2 * 0.7 - 0.1 * 0.4 + 1.0])
    (p,) = touching(lw.Sphere(0.1), lw.SE3(p=foot + 0.105 * n), field)
    assert p.gap == pytest.approx(0.005, abs=1e-8)
    np.testing.assert_allclose(p.normal, n, atol=1e-8)


def test_a_ball_on_a_convex_edge_of_a_mesh() -> None:
    d = 0.1 / np.sqrt(2.0)
    (p,) = touching(lw.Sphere(0.1), lw.SE3(p=(0.5 + d, 0.1, 0.5 + d)), MESH)
    np.testing.assert_allclose(p.normal, [np.sqrt(0.5), 0, np.sqrt(0.5)], atol=1e-6)
    assert p.gap == pytest.approx(0.0, abs=1e-8)


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("solid", [HULL, MESH], ids=lambda s: s.kind)
def test_corners_over_a_plane(solid: Any, first: bool) -> None:
    E, ground = lw.SE3(p=(0.2, 0.0, 0.499)) @ lw.SE3.rot_z(0.3), lw.Plane()
    points = touching(solid, E, ground) if first else touching(ground, lw.SE3(), solid, E)
    assert len(points) == 4
    for p in points:
        assert p.gap == pytest.approx(-0.001)
        np.testing.assert_allclose(p.normal, [0, 0, 1 if first else -1])


def test_far_away_nothing_is_on() -> None:
    assert not touching(HULL, lw.SE3(p=(0, 0, 3)), BOX)
    assert not touching(HULL, lw.SE3(p=(0, 0, 3)), lw.Plane())


def test_spread_keeps_the_deepest_and_the_farthest() -> None:
    n = np.array([0.0, 0.0, 1.0])
    points = [ContactPoint(np.array([x, y, 0.0]), n, -1.0 if (x, y) == (1, 1) else 0.0, 1.0) for x in range(4) for y in range(4)]
    kept = spread(points, 5, 1e-9)
    assert kept[0].gap == -1.0
    assert {(0, 3), (3, 0), (3, 3)} <= {tuple(p.point[:2].astype(int)) for p in kept}


REFUSED = {
    "two planes": (lambda: CoalPair(lw.Plane(), lw.Plane()), "contact of plane and plane: neither has an end"),
    "field on plane": (lambda: CoalPair(FLAT_FIELD, lw.Plane()), "contact of height field and plane: neither has an end"),
    "two meshes": (
        lambda: CoalPair(MESH, MESH),
        "contact of mesh and mesh: two surfaces of triangles; make one of them of Convex",
    ),
    "mesh on field": (lambda: CoalPair(MESH, FLAT_FIELD), "contact of mesh and height field: two surfaces of triangles"),
    "compiled": (lambda: CoalPair(BOX, lw.Plane()), "contact of box and plane is compiled; use"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_pairs_that_cannot_be(what: str) -> None:
    make, rule = REFUSED[what]
    with pytest.raises(lw.ModelError, match=rule):
        make()


@pytest.mark.parametrize("lean", [0.0, 1e-4, 5e-3])
@pytest.mark.parametrize("name", ["cylinder", "ellipsoid"])
def test_normals_of_faces_are_the_faces_own(monkeypatch: pytest.MonkeyPatch, name: str, lean: float) -> None:
    """However much the normal leans that Coal finds: the gap of what lies on a box is that along the face."""
    lying = lw.SE3.rot_x(np.pi / 2)
    shape = {"cylinder": lw.Cylinder(0.2, 0.4, lying), "ellipsoid": lw.Ellipsoid((0.3, 0.1, 0.2))}[name]
    pair = CoalPair(shape, lw.Box((2.0, 2.0, 1.0), lw.SE3(p=(0, 0, -0.5))))

    class Leaning:
        normal, penetration_depth, b1, b2 = -np.array([np.sin(lean), 0.0, np.cos(lean)]), -1e-9, 0, 0

    monkeypatch.setattr(pair, "_contacts", lambda *given: [Leaning()])
    points = [p for p in pair(lw.SE3(p=(0, 0, 0.2 - 1e-9)), lw.SE3()) if p.on]
    assert points
    for p in points:
        assert p.gap == pytest.approx(-1e-9, abs=1e-15)
        assert np.array_equal(p.normal, [0.0, 0.0, 1.0])
        assert p.point[0] == pytest.approx(0.0, abs=1e-15)


def test_what_lies_beside_a_face_keeps_its_normal() -> None:
    """A ball over the edge of a box: its normal is no face's, however little it leans."""
    pair = CoalPair(lw.Ellipsoid((0.2, 0.2, 0.2)), lw.Box((2.0, 2.0, 1.0), lw.SE3(p=(0, 0, -0.5))))
    (found,) = (p for p in pair(lw.SE3(p=(1.001, 0, 0.199)), lw.SE3()) if p.on)
    np.testing.assert_allclose(found.normal, np.array([0.001, 0.0, 0.199]) / np.hypot(0.001, 0.199), atol=2e-3)
    assert found.normal[0] > 2e-3
    assert found.gap == pytest.approx(np.hypot(0.001, 0.199) - 0.2, abs=1e-6)


# --- where Coal knows no depth -------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("offset", [0.0, 1e-9, 0.01, 0.1])
def test_a_sphere_deep_in_an_ellipsoid_has_the_depth_of_the_shortest_way_out(
    offset: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Coal's answer is withheld: along z, the shortest half-axis, the ball leaves after 0.1 + 0.2 - offset."""
    monkeypatch.setattr("linkwork.contact.coal_pairs.ACCURACIES", ())
    pair = CoalPair(lw.Sphere(0.2), lw.Ellipsoid((0.3, 0.25, 0.1)))
    deepest = min((x for x in pair(lw.SE3(p=(0, 0, offset)), lw.SE3()) if x.on), key=lambda x: x.gap)
    assert deepest.gap == pytest.approx(offset - 0.3, abs=1e-9)
    assert abs(deepest.normal[2]) == pytest.approx(1.0, abs=1e-6)
    if offset > 1e-6:
        assert deepest.normal[2] > 0.0


@pytest.mark.parametrize("seed", range(6))
def test_the_search_for_a_depth_agrees_with_coal(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(seed)
    shapes = [lw.Sphere(0.2), lw.Box((0.1, 0.2, 0.3)), lw.Capsule(0.1, 0.3), lw.Cylinder(0.1, 0.4), lw.Ellipsoid((0.1, 0.2, 0.3))]
    pair = CoalPair([*shapes, lw.Convex(rng.normal(size=(20, 3)) * 0.1)][seed], lw.Ellipsoid(rng.uniform(0.1, 0.4, 3)))
    poses = lw.SE3(np.linalg.qr(rng.normal(size=(3, 3)))[0] * [1, 1, 1], rng.normal(size=3) * 0.05), lw.SE3()
    if np.linalg.det(poses[0].R) < 0:
        poses = lw.SE3(-np.asarray(poses[0].R), poses[0].p), poses[1]
    depths = []
    for _ in range(2):
        depths.append(min(x.gap for x in pair(*poses) if x.on))
        monkeypatch.setattr("linkwork.contact.coal_pairs.ACCURACIES", ())
    assert depths[1] == pytest.approx(depths[0], rel=0.01)


def test_a_depth_that_nobody_finds_names_bodies_shapes_and_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("linkwork.contact.coal_pairs.ACCURACIES", ())
    b = lw.ModelBuilder().world(lw.HeightField(np.zeros((3, 3)), (2, 2), name="hills"))
    b.body("egg", joint=lw.Free(), shapes=[lw.Ellipsoid((0.1, 0.2, 0.3), mass=1.0, name="shell")])
    state = lw.State([0, 0, 0.05, 1, 0, 0, 0], np.zeros(6), t=1.5)
    with pytest.raises(lw.SolverError, match=r"'egg'.* at t = 1\.5 s: .*start them apart") as error:
        lw.simulate(b.build(), state, 0.01, 1e-3)
    assert "'shell'" in str(error.value)
    assert "'hills'" in str(error.value)
