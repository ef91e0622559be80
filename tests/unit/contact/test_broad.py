"""The broad phase: no pair that is near is missed; sweep and prune against all pairs, in lanes, in any order of the shapes."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from contact_cases import random_pose, random_shape, support
from hypothesis import given, settings
from hypothesis import strategies as st

import linkwork as lw
from linkwork.contact.broad import near, speed_bound, world_box
from linkwork.contact.pairs import PAIRS, contact_points, is_compiled, separation
from linkwork.geometry.near_segments import find_near_segments
from linkwork.geometry.sweep_and_prune import partners, sweep_and_prune
from linkwork.kernel.lanes import Lanes

SOLIDS = ("sphere", "capsule", "box", "cylinder", "ellipsoid")


@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=100, deadline=None, derandomize=True)
def test_near_is_never_false_for_shapes_that_are(seed: int) -> None:
    rng = np.random.default_rng(seed)
    kinds = list(PAIRS)[seed % len(PAIRS)]
    a, b = (random_shape(kind, rng) for kind in kinds)
    E, F, margin = random_pose(rng, 1.0), random_pose(rng, 1.0), rng.uniform(0, 0.2)
    if separation(contact_points(a, E, b, F)) <= margin:
        assert near(a, E, b, F, margin)
        assert near(b, F, a, E, margin)


@pytest.mark.parametrize("kind", SOLIDS)
def test_no_point_is_faster_than_the_bound(kind: str) -> None:
    rng = np.random.default_rng(4)
    for _ in range(20):
        shape, twist = random_shape(kind, rng), rng.normal(size=6)
        w, v = twist[:3], twist[3:]
        most = speed_bound(shape, np.array([np.linalg.norm(v), np.linalg.norm(w)]))
        center, radius = shape.bounding_sphere()
        for direction in rng.normal(size=(20, 3)):
            point = center + radius * direction / np.linalg.norm(direction)
            speed = np.linalg.norm(v + np.cross(w, point)) + np.linalg.norm(w) * np.linalg.norm(point)
            assert speed <= most * (1.0 + 1e-12)
    assert speed_bound(lw.Sphere(1.0), np.zeros(2)) == 0.0


def test_near_is_false_for_balls_apart() -> None:
    one = lw.Sphere(0.5)
    assert near(one, lw.SE3(p=(1.09, 0, 0)), one, lw.SE3(), 0.1)
    assert not near(one, lw.SE3(p=(1.11, 0, 0)), one, lw.SE3(), 0.1)
    assert not near(one, lw.SE3(p=(0, 0, 0.61)), lw.Plane(), lw.SE3(), 0.1)


@pytest.mark.parametrize("kind", SOLIDS)
@pytest.mark.parametrize("seed", range(5))
def test_boxes_in_the_world_are_tight(kind: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    shape, E = random_shape(kind, rng), random_pose(rng)
    low, high = world_box(shape, E, 0.01)
    axes = np.eye(3)
    np.testing.assert_allclose(high, support(shape, E, axes) + 0.01, atol=1e-12)
    np.testing.assert_allclose(low, -support(shape, E, -axes) - 0.01, atol=1e-12)


def held_by_segment(shape: lw.Shape, E: lw.SE3) -> tuple[np.ndarray, np.ndarray, float, float]:
    """Middle, axis, half length and reach of the segment that holds a shape."""
    center, radius = shape.bounding_sphere()
    if isinstance(shape, lw.Capsule):
        return E @ center, E.rotate(shape.R[:, 2]), 0.5 * shape.length, shape.radius
    return E @ center, np.zeros(3), 0.0, float(radius)


@pytest.mark.parametrize("width", [1, 4])
@pytest.mark.parametrize("seed", range(10))
def test_segments_are_near_where_their_shapes_are(width: int, seed: int) -> None:
    """Of capsules and spheres exactly there, of others wherever they touch, and no more often than `near` says."""
    rng = np.random.default_rng(seed)
    shapes = [random_shape(SOLIDS[k % len(SOLIDS)], rng) for k in range(12)]
    pairs = np.array(list(itertools.combinations(range(len(shapes)), 2)))
    rng.shuffle(pairs)
    poses = [[random_pose(rng, 1.5) for _ in range(width)] for _ in shapes]
    held = [[held_by_segment(shape, E) for E in at] for shape, at in zip(shapes, poses, strict=True)]
    middle, axis = (np.ascontiguousarray(np.concatenate([np.array([x[k] for x in some]).T for some in held])) for k in (0, 1))
    half, reach = (np.array([[x[k] for x in some] for some in held]) for k in (2, 3))
    eager, compiled = np.full((2, len(pairs), width), np.nan)
    tables = partners(len(shapes), pairs)
    find_near_segments(len(shapes), *tables, middle, axis, half, reach, eager)
    find_near_segments.call(Lanes(width), len(shapes), *tables, middle, axis, half, reach, compiled)
    np.testing.assert_array_equal(eager, compiled)
    round_ones = (lw.Sphere, lw.Capsule)
    for (i, j), found in zip(pairs, compiled, strict=True):
        for lane in range(width):
            pair = (shapes[i], poses[i][lane], shapes[j], poses[j][lane])
            expected = near(*pair, 0.0)
            assert expected or not found[lane]
            if is_compiled(shapes[i], shapes[j]) and separation(contact_points(*pair)) <= 0.0:
                assert found[lane]
            if isinstance(shapes[i], round_ones) and isinstance(shapes[j], round_ones):
                assert found[lane] == expected


def random_boxes(rng: np.random.Generator, count: int, width: int) -> tuple[np.ndarray, np.ndarray]:
    center, half = rng.uniform(0, 4, (3 * count, width)), rng.uniform(0.1, 0.5, (3 * count, width))
    return center - half, center + half


@pytest.mark.parametrize("width", [1, 8])
@pytest.mark.parametrize("count", [0, 1, 2, 40])
def test_sweep_and_prune_finds_what_all_pairs_do(width: int, count: int) -> None:
    rng = np.random.default_rng(count)
    pairs = np.array([p for p in itertools.combinations(range(count), 2) if rng.random() < 0.8], np.int64).reshape(-1, 2)
    rng.shuffle(pairs)
    tables = partners(count, pairs)
    order = rng.permutation(count).astype(np.int64)
    for _ in range(3):  # the order of the last time is used again
        low, high = random_boxes(rng, count, width)
        middle, reach = 0.5 * (low + high), rng.uniform(0.2, 0.8, (count, width))
        rest, awake = np.zeros((count + 1, width)), np.full((len(pairs), width), np.nan)
        active = np.zeros(len(pairs) + 1, np.int64)
        eager, compiled = ([x.copy() for x in (order, rest, awake, active)] for _ in range(2))
        sweep_and_prune(count, len(pairs), *tables, low, high, middle, reach, *eager)
        sweep_and_prune.call(Lanes(width), count, len(pairs), *tables, low, high, middle, reach, *compiled)
        L, H = low.reshape(count, 3, width), high.reshape(count, 3, width)
        C = middle.reshape(count, 3, width)
        boxes = np.array([np.all((L[i] <= H[j]) & (L[j] <= H[i]), axis=0) for i, j in pairs], bool).reshape(-1, width)
        balls = np.array([np.linalg.norm(C[i] - C[j], axis=0) <= reach[i] + reach[j] for i, j in pairs], bool)
        balls = balls.reshape(-1, width)
        expected = (boxes & balls).astype(float)
        for found, listed in ((eager[2], eager[3]), (compiled[2], compiled[3])):
            np.testing.assert_array_equal(found, expected)
            assert set(listed[1 : listed[0] + 1]) == set(np.flatnonzero(expected.any(axis=1)))
        order = compiled[0]
        assert sorted(order) == list(range(count))
