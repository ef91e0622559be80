"""Capsules along capsules and on boxes: where their two ends count."""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw
from linkwork.contact.pairs import contact_points

LYING = lw.SE3.rot_y(np.pi / 2)  # the axis along x
CAPSULE = lw.Capsule(0.1, 1.0)


def on(a: object, E_a: lw.SE3, b: object, E_b: lw.SE3) -> np.ndarray:
    """Points and gaps of the slots that are on."""
    return np.array([[*p.point, p.gap] for p in contact_points(a, E_a, b, E_b) if p.on])  # type: ignore[arg-type]


@pytest.mark.parametrize("turn", [0.0, 1e-12, 1e-6, 1e-3])
def test_capsules_along_each_other_touch_at_both_ends_of_their_overlap(turn: float) -> None:
    upper = lw.SE3(p=(0.4, 0, 0.2)) @ lw.SE3.rot_z(turn) @ LYING
    found = on(CAPSULE, upper, CAPSULE, LYING)
    assert len(found) == 3
    np.testing.assert_allclose([found[:, 0].min(), found[:, 0].max()], [-0.1, 0.5], atol=1e-3 + turn)
    assert found[:, 3].min() == pytest.approx(0.0, abs=1e-5)


def test_crossed_capsules_touch_at_one_point() -> None:
    found = on(CAPSULE, lw.SE3(p=(0.1, 0.3, 0.19)) @ lw.SE3.rot_z(np.pi / 2) @ LYING, CAPSULE, LYING)
    np.testing.assert_allclose(found, [[0.1, 0.0, 0.095, -0.01]], atol=1e-12)


@pytest.mark.parametrize("tilt", [0.0, 1e-12, -1e-12, 1e-7, -1e-4])
def test_a_capsule_lying_on_a_box_touches_with_both_ends(tilt: float) -> None:
    box = lw.Box((2.0, 1.0, 0.4))
    found = on(CAPSULE, lw.SE3(p=(0.1, 0, 0.3)) @ lw.SE3.rot_y(tilt) @ LYING, box, lw.SE3())
    x = np.sort(found[:, 0])
    assert x[0] == pytest.approx(-0.4, abs=1e-4)
    assert x[-1] == pytest.approx(0.6, abs=1e-4)
    np.testing.assert_allclose(found[:, 3], -(found[:, 0] - 0.1) * np.sin(tilt), atol=1e-8)


def test_a_capsule_across_a_beam_touches_at_the_edges_of_the_beam() -> None:
    found = on(CAPSULE, lw.SE3(p=(0, 0, 0.3)) @ LYING, lw.Box((0.2, 3.0, 0.4)), lw.SE3())
    x = np.sort(found[:, 0])
    np.testing.assert_allclose([x[0], x[-1]], [-0.1, 0.1], atol=1e-6)
    np.testing.assert_allclose(found[:, 3], 0.0, atol=1e-12)


def test_a_capsule_along_an_edge_of_a_box_touches_with_both_ends() -> None:
    d = 0.1 / np.sqrt(2.0)
    found = on(CAPSULE, lw.SE3(p=(0.0, 0.5 + d, 0.5 + d)) @ LYING, lw.Box((2.0, 1.0, 1.0)), lw.SE3())
    x = np.sort(found[:, 0])
    np.testing.assert_allclose([x[0], x[-1]], [-0.5, 0.5], atol=1e-6)
    np.testing.assert_allclose(found[:, 3], 0.0, atol=1e-12)


def test_a_needle_through_a_box_leaves_across_its_axis() -> None:
    """A long capsule through the middle of a cube, a little above it: it is pushed up, not along itself."""
    points = contact_points(lw.Capsule(0.01, 5.0), lw.SE3(p=(0, 0, 0.1)) @ LYING, lw.Box((1.0, 1.0, 1.0)), lw.SE3())
    for p in points:
        if p.on:
            np.testing.assert_allclose(p.normal, [0, 0, 1], atol=1e-12)
            assert p.gap == pytest.approx(-0.41, abs=1e-9)


def test_a_standing_cylinder_touches_around_its_rim_and_a_lying_one_along_its_side() -> None:
    can, ground = lw.Cylinder(0.2, 1.0), lw.Plane()
    standing = contact_points(can, lw.SE3(p=(0, 0, 0.5)), ground, lw.SE3())
    touching = np.array([p.point for p in standing if p.on and p.gap < 1e-9])
    assert len(touching) == 6
    np.testing.assert_allclose(np.linalg.norm(touching[:, :2], axis=1), 0.2, atol=1e-12)
    lying = contact_points(
        can, lw.SE3(p=(0, 0, 0.2)) @ lw.SE3.rot_z(0.3) @ lw.SE3.rot_y(np.pi / 2) @ lw.SE3.rot_z(0.7), ground, lw.SE3()
    )
    touching = np.array([p.point for p in lying if p.on and p.gap < 1e-9])
    assert len(touching) == 2
    assert np.linalg.norm(touching[0] - touching[1]) == pytest.approx(1.0)
