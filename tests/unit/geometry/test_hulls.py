"""Convex hulls: their flat faces and edges, on points of every kind, large ones in time that grows with their size."""

from __future__ import annotations

import numpy as np
import pytest

from linkwork.errors import ModelError
from linkwork.geometry import Convex
from linkwork.spatial import SE3

KINDS = ("normal", "flat", "needle", "doubled", "grid", "lens", "far", "rounded grid")


def cap(rng: np.random.Generator, n: int, width: float, radius: float) -> np.ndarray:
    """Points on a ball of a radius, within a disc of a width."""
    angle, r = rng.uniform(0.0, 2.0 * np.pi, n), 0.5 * width * np.sqrt(rng.uniform(0.0, 1.0, n))
    return np.stack([r * np.cos(angle), r * np.sin(angle), (0.25 * width**2 - r**2) / (2.0 * radius)], axis=1)


def lens(rng: np.random.Generator, n: int, radius: float) -> np.ndarray:
    half = cap(rng, n, 0.2, radius)
    return np.concatenate([half, half * [1.0, 1.0, -1.0]])


def points(kind: str, rng: np.random.Generator) -> np.ndarray:
    n = int(rng.integers(4, 60))
    x = rng.normal(size=(n, 3))
    match kind:
        case "flat":
            x[:, 2] *= 10.0 ** rng.uniform(-14, -3)
        case "needle":
            x[:, 1:] *= 10.0 ** rng.uniform(-12, -2)
        case "doubled":
            x = np.repeat(x, 3, axis=0) + 10.0 ** rng.uniform(-17, -6) * rng.normal(size=(3 * n, 3))
        case "grid":
            x = np.round(3.0 * x) / 3.0
        case "lens":
            x = lens(rng, n, 10.0 ** rng.uniform(0, 6))
        case "far":
            x = x * 10.0 ** rng.uniform(-3, 3) + 10.0 ** rng.uniform(-3, 6)
        case "rounded grid":
            x = rng.integers(0, 4, (n, 3)) + 10.0 ** rng.uniform(-17, -7) * rng.normal(size=(n, 3))
    return x


@pytest.mark.parametrize("kind", KINDS)
def test_faces_of_any_points_are_simple_loops_that_cover_the_hull(kind: str) -> None:
    rng = np.random.default_rng(KINDS.index(kind))
    accepted = 0
    for _ in range(60):
        try:
            hull = Convex(points(kind, rng))
        except ModelError:  # without volume
            continue
        accepted += 1
        for loop in hull.outlines:
            assert len(set(loop)) == len(loop) >= 3
        assert sum(len(loop) - 2 for loop in hull.outlines) <= len(hull.faces)
        triangles = [(f[0], f[k], f[k + 1]) for f in hull.outlines for k in range(1, len(f) - 1)]
        a, b, c = np.moveaxis((hull.vertices - hull.vertices.mean(axis=0))[np.array(triangles)], 1, 0)
        size = np.ptp(hull.vertices, axis=0).max()  # triangles in one face lean by up to 1.4e-4 rad
        assert np.isclose(np.einsum("fi,fi->", a, np.cross(b, c)) / 6.0, hull.volume, rtol=1e-9, atol=3e-4 * size**3)
        assert np.allclose(np.linalg.norm(hull.directions, axis=1), 1.0, atol=1e-12)
    assert accepted or kind in ("flat", "needle")


def test_a_lens_whose_triangles_of_one_normal_meet_in_corners_only() -> None:
    hull = Convex(lens(np.random.default_rng(0), 150, 1000.0))
    assert len(hull.corners) == len(hull.normals) == len(hull.outlines)


def test_faces_and_directions_of_a_prism() -> None:
    angle = 2.0 * np.pi * np.arange(6) / 6
    rim = np.stack([np.cos(angle), np.sin(angle), np.zeros(6)], axis=1)
    hull = Convex(np.concatenate([rim, rim + np.array([0.0, 0.0, 2.0])]))
    assert sorted(map(len, hull.outlines)) == [4] * 6 + [6] * 2
    assert len(hull.directions) == 4
    middle = hull.vertices.mean(axis=0)
    for loop, normal in zip(hull.outlines, hull.normals, strict=True):
        assert np.allclose((hull.vertices[loop] - hull.vertices[loop[0]]) @ normal, 0.0, atol=1e-12)
        assert (hull.vertices[loop[0]] - middle) @ normal > 0.0


def test_large_hulls_take_no_loops_over_pairs() -> None:
    """Counts, not seconds: 4000 corners with 12000 edges are far beyond what comparisons of all pairs can do here."""
    x = np.random.default_rng(3).normal(size=(4000, 3))
    hull = Convex(x / np.linalg.norm(x, axis=1)[:, None])
    assert len(hull.vertices) == 4000
    assert len(hull.directions) > 11_000
    assert hull.bounding_sphere()[1] <= 1.01


def test_a_placed_hull_is_the_hull_of_placed_points() -> None:
    rng = np.random.default_rng(4)
    x, pose = rng.normal(size=(20, 3)), SE3.rot_x(0.4) @ SE3(p=(1.0, 2.0, 3.0))
    hull = Convex(x)
    assert len(hull.normals)  # computed before
    placed, direct = hull.placed(pose, name="shell", group=2, mask=1), Convex(x @ np.asarray(pose.R).T + np.asarray(pose.p))
    assert (placed.name, placed.group, placed.mask) == ("shell", 2, 1)
    assert np.isclose(placed.volume, direct.volume)
    assert np.allclose(sorted(map(tuple, placed.normals)), sorted(map(tuple, direct.normals)))
    assert np.allclose(placed.bounding_sphere()[0], direct.bounding_sphere()[0])
    with pytest.raises(ValueError, match="read-only"):
        placed.vertices[0, 0] = 1.0
