"""Boxes on boxes: how many points a face has, where they are, and which feature is chosen."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.spatial import ConvexHull, HalfspaceIntersection

import linkwork as lw
from linkwork.contact.pairs import contact_points
from linkwork.contact.point import ContactPoint

ONE = lw.Box((1.0, 1.0, 1.0))
HULL = lw.Convex([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
GROUND = lw.SE3()


def touching(a: Any, E_a: lw.SE3, b: Any = ONE, E_b: lw.SE3 = GROUND) -> list[ContactPoint]:
    return [p for p in contact_points(a, E_a, b, E_b) if p.on]


def up(z: float, turn: lw.SE3 | None = None, x: float = 0.0, y: float = 0.0) -> lw.SE3:
    return lw.SE3(p=(x, y, z)) @ (turn or lw.SE3())


@pytest.mark.parametrize("angle", [0.0, 1e-12, 1e-9, np.pi / 2, np.pi])
@pytest.mark.parametrize("gap", [1e-6, 1e-12, 1e-16, 0.0, -1e-16, -1e-9, -1e-3])
@pytest.mark.parametrize("solid", [ONE, HULL], ids=lambda s: s.kind)
def test_a_stack_of_equal_boxes_has_four_points(angle: float, gap: float, solid: Any) -> None:
    points = touching(solid, up(1.0 + gap, lw.SE3.rot_z(angle)))
    assert len(points) == 4
    corners = {tuple(np.sign(p.point[:2])) for p in points}
    assert len(corners) == 4
    for p in points:
        np.testing.assert_allclose(np.abs(p.point[:2]), 0.5, atol=1e-8)
        np.testing.assert_allclose(p.normal, [0, 0, 1], atol=1e-12)
        assert p.gap == pytest.approx(gap, abs=1e-12)
        assert p.point[2] == pytest.approx(0.5 + 0.5 * gap, abs=1e-12)


@pytest.mark.parametrize("swapped", [False, True])
@pytest.mark.parametrize("solid", [ONE, HULL], ids=lambda s: s.kind)
def test_crossed_boxes_have_the_eight_points_of_an_octagon(swapped: bool, solid: Any) -> None:
    E = up(0.999, lw.SE3.rot_z(np.pi / 4))
    points = touching(ONE, GROUND, solid, E) if swapped else touching(solid, E)
    assert len(points) == 8
    at = np.array([p.point for p in points])
    cut = np.sqrt(2.0) / 2.0 - 0.5  # the square |x| + |y| <= 1/sqrt 2 cut at 1/2
    expected = {(round(s * x, 9), round(t * y, 9)) for x, y in ((0.5, cut), (cut, 0.5)) for s in (-1, 1) for t in (-1, 1)}
    assert {(round(x, 9), round(y, 9)) for x, y, _ in at} == expected
    np.testing.assert_allclose([p.gap for p in points], -0.001, atol=1e-12)


@pytest.mark.parametrize("size", [0.3, 3.0])
def test_the_smaller_face_counts(size: float) -> None:
    """A small box on a large one, and a large box on a small one: the corners of the small face."""
    other = lw.Box((size, size, size))
    points = touching(other, up(0.5 + 0.5 * size, x=0.1, y=-0.05))
    assert len(points) == 4
    half = 0.5 * min(size, 1.0)
    middle = np.array([0.1, -0.05]) if size < 1 else np.zeros(2)
    np.testing.assert_allclose(np.abs(np.array([p.point[:2] for p in points]) - middle), half, atol=1e-9)


def test_half_on_the_edge_of_a_table() -> None:
    points = touching(ONE, up(1.0, x=0.7, y=0.0))
    x = sorted(round(float(p.point[0]), 9) for p in points)
    assert x == [0.2, 0.2, 0.5, 0.5]


@pytest.mark.parametrize("seed", range(12))
def test_the_polygon_is_the_intersection_of_the_faces(seed: int) -> None:
    """Its area against that of the intersection of the half-planes of both faces."""
    rng = np.random.default_rng(seed)
    a, b = lw.Box(rng.uniform(0.5, 2.0, 3)), lw.Box(rng.uniform(0.5, 2.0, 3))
    angle, x, y = rng.uniform(-3, 3), *rng.uniform(-0.3, 0.3, 2)
    E = up(0.5 * (a.size[2] + b.size[2]) - 1e-4, lw.SE3.rot_z(angle), x, y)
    points = touching(a, E, b, GROUND)
    rows = []
    for size, R, p in ((a.size, np.asarray(E.R, float), np.asarray(E.p, float)), (b.size, np.eye(3), np.zeros(3))):
        for k in range(2):
            for s in (-1.0, 1.0):
                n = s * R[:2, k]
                rows.append([*n, -(n @ p[:2]) - 0.5 * size[k]])
    inside = np.mean([q.point[:2] for q in points], axis=0)
    expected = ConvexHull(HalfspaceIntersection(np.array(rows), inside).intersections)
    found = ConvexHull(np.array([q.point[:2] for q in points]))
    assert found.volume == pytest.approx(expected.volume, rel=1e-9)
    assert len(points) == len(expected.vertices)


def test_tilted_faces_have_their_own_gaps() -> None:
    """Every point is as high over the lower face as the tilted face is there."""
    tilt = 0.01
    points = touching(lw.Box((0.6, 0.6, 0.6)), up(0.8, lw.SE3.rot_y(tilt)))
    assert len(points) == 4
    for p in points:
        corner_x = np.sign(p.point[0]) * 0.3
        assert p.gap == pytest.approx(0.3 - corner_x * np.sin(tilt) - 0.3 * np.cos(tilt), abs=1e-9)


def test_two_edges_touch_at_one_point() -> None:
    """Both boxes stand on an edge, the edges crossed."""
    lower, upper = lw.SE3.rot_x(np.pi / 4), up(np.sqrt(2.0) - 0.01, lw.SE3.rot_y(np.pi / 4))
    (p,) = touching(ONE, upper, ONE, lower)
    assert p.gap == pytest.approx(-0.01, abs=1e-12)
    np.testing.assert_allclose(p.normal, [0, 0, 1], atol=1e-12)
    np.testing.assert_allclose(p.point, [0, 0, np.sqrt(0.5) - 0.005], atol=1e-12)


def test_a_corner_on_a_face_is_the_lowest_point() -> None:
    turn = lw.SE3.rot_y(np.arctan(np.sqrt(0.5))) @ lw.SE3.rot_x(np.pi / 4)
    points = touching(lw.Box((0.4, 0.4, 0.4)), up(0.5 + 0.2 * np.sqrt(3.0) - 0.001, turn))
    lowest = min(points, key=lambda p: p.gap)
    assert lowest.gap == pytest.approx(-0.001, abs=1e-6)
    np.testing.assert_allclose(lowest.point[:2], 0.0, atol=1e-9)


def test_slots_keep_their_places_while_a_box_slides() -> None:
    """The slots that are on, and the corners that they stand for, stay the same along a path without an event."""
    small = lw.Box((0.4, 0.4, 0.4))
    first = contact_points(small, up(0.7, lw.SE3.rot_z(0.1)), ONE, GROUND)
    for k in range(20):
        now = contact_points(small, up(0.7, lw.SE3.rot_z(0.1 + 0.01 * k), x=0.005 * k), ONE, GROUND)
        assert [p.on for p in now] == [p.on for p in first]
        moved = max(np.linalg.norm(p.point - q.point) for p, q in zip(now, first, strict=True) if p.on)
        assert moved <= 0.16


def test_stones_of_an_arch_touch_at_the_corners_of_their_joint() -> None:
    """Two wedges of 20 degrees side by side in a ring: four points on the plane between them, normals around the ring."""
    inner, outer, half, depth = 1.0, 1.4, np.deg2rad(10.0), 0.3
    corners = [[r * np.sin(t), y, r * np.cos(t)] for r in (inner, outer) for t in (-half, half) for y in (-depth, depth)]
    stone = lw.Convex(corners)
    points = touching(stone, lw.SE3.rot_y(2 * half - 1e-7), stone)
    assert len(points) == 4
    across = np.array([np.cos(half), 0.0, -np.sin(half)])
    for p in points:
        np.testing.assert_allclose(p.normal, across, atol=1e-6)
        assert p.gap == pytest.approx(-1e-7 * np.hypot(p.point[0], p.point[2]), rel=1e-3)
    found = sorted((round(float(np.hypot(p.point[0], p.point[2])), 6), round(float(p.point[1]), 6)) for p in points)
    assert found == [(1.0, -0.3), (1.0, 0.3), (1.4, -0.3), (1.4, 0.3)]
