"""Functions of pairs: distances by several other routes, points on the surfaces, continuity, symmetry, finite numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from contact_cases import (
    ROUNDED,
    coal_distance,
    core_distance,
    mujoco_distance,
    outside,
    random_pair,
    random_pose,
    seen_distance,
    support,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from models import unit

import linkwork as lw
from linkwork.contact.pairs import NO_CONTACT, PAIRS, contact_points, is_compiled, pair_function, separation, slot_count
from linkwork.errors import ModelError

KINDS = list(PAIRS)
SOLIDS = [kinds for kinds in KINDS if "plane" not in kinds]
CORES = [kinds for kinds in SOLIDS if set(kinds) <= set(ROUNDED)]
FACED = (("box", "box"), ("convex", "box"), ("convex", "convex"))
SEEDS = st.integers(0, 2**32 - 1)
EVERY_PAIR = pytest.mark.parametrize("kinds", KINDS, ids="-".join)
EVERY_SOLID = pytest.mark.parametrize("kinds", SOLIDS, ids="-".join)
MANY = settings(max_examples=25, deadline=None, derandomize=True)


def gap(a: Any, E_a: lw.SE3, b: Any, E_b: lw.SE3) -> float:
    return float(separation(contact_points(a, E_a, b, E_b)))


# --- distances --------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("kinds", CORES, ids="-".join)
@given(seed=SEEDS)
@MANY
def test_distance_apart_is_that_of_least_squares(kinds: tuple[str, str], seed: int) -> None:
    rng = np.random.default_rng(seed)
    case = random_pair(kinds, rng)
    expected = core_distance(*case)
    if expected > 1e-6:
        assert gap(*case) == pytest.approx(expected, abs=1e-9)


@EVERY_SOLID
@given(seed=SEEDS)
@MANY
def test_signed_distance_is_that_of_coal(kinds: tuple[str, str], seed: int) -> None:
    case = random_pair(kinds, np.random.default_rng(seed), 0.5)
    expected, found = coal_distance(*case), gap(*case)
    if expected > 0:
        assert found == pytest.approx(expected, abs=1e-7)
    elif kinds in FACED:  # a face is preferred to edges that are up to this less deep
        assert expected * 1.06 - 1e-5 <= found <= expected + 1e-7
    elif kinds != ("capsule", "box") or expected > -case[0].radius:  # type: ignore[attr-defined]
        assert found == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("kinds", CORES, ids="-".join)
@given(seed=SEEDS)
@settings(max_examples=20, deadline=None, derandomize=True)
def test_distance_apart_is_that_of_mujoco(kinds: tuple[str, str], seed: int) -> None:
    case = random_pair(kinds, np.random.default_rng(seed))
    expected = mujoco_distance(*case)
    if expected > 0:
        assert gap(*case) == pytest.approx(expected, abs=1e-5)


@EVERY_SOLID
@given(seed=SEEDS)
@settings(max_examples=30, deadline=None, derandomize=True)
def test_no_direction_sees_more(kinds: tuple[str, str], seed: int) -> None:
    """The gap is at least that between the shadows in any of 4000 directions, and not much more than in the best."""
    case = random_pair(kinds, np.random.default_rng(seed))
    shadow = seen_distance(*case)
    if shadow > 0 or kinds not in (*FACED, ("capsule", "box")):
        assert -1e-9 <= gap(*case) - shadow <= 0.02


@pytest.mark.parametrize("kind", [a for a, b in KINDS if b == "plane"])
@given(seed=SEEDS)
@MANY
def test_height_over_a_plane(kind: str, seed: int) -> None:
    """The lowest point is as high as the support of the shape says."""
    a, E_a, b, E_b = random_pair((kind, "plane"), np.random.default_rng(seed))
    plane = b.moved(E_b)
    n = np.asarray(plane.normal, float)
    lowest = -support(a, E_a, -n[None])[0] - n @ plane.point
    assert gap(a, E_a, b, E_b) == pytest.approx(lowest, abs=1e-9)


# --- points -----------------------------------------------------------------------------------------------------------------
@EVERY_PAIR
@given(seed=SEEDS)
@MANY
def test_points_lie_between_the_surfaces(kinds: tuple[str, str], seed: int) -> None:
    """Points of a and b are as far from one another as the gap says, along the normal, and the point of the slot is between: on
    a plane, or on what has one lowest point over it, else midway. They are on the surfaces for the nearest slot: nothing is a
    ghost."""
    case = random_pair(kinds, np.random.default_rng(seed), 0.5)
    a, E_a, b, E_b = case
    least = gap(*case)
    if kinds == ("capsule", "box") and least < -a.radius:  # type: ignore[attr-defined]
        return  # the axis pierces the box
    slack, above = 1e-9, 0.5 if "plane" not in kinds else 0.0 if kinds[0] in ("sphere", "ellipsoid") else 1.0
    for point, normal, d, on in contact_points(*case):
        assert np.linalg.norm(normal) == pytest.approx(1.0, abs=1e-12)
        if on:
            out = outside(a, E_a, point + above * d * normal), outside(b, E_b, point - (1.0 - above) * d * normal)
            assert max(out) <= slack
            if d == least:
                assert min(out) >= -slack


@EVERY_PAIR
@given(seed=SEEDS)
@MANY
def test_gap_changes_with_the_motion_along_the_normal(kinds: tuple[str, str], seed: int) -> None:
    """d gap = n . dx for every slot of shapes that are apart, where nothing switches."""
    rng = np.random.default_rng(seed)
    a, E_a, b, E_b = random_pair(kinds, rng)
    points = contact_points(a, E_a, b, E_b)
    least = min((p for p in points if p.on), key=lambda p: p.gap)
    if least.gap < 1e-3:
        return
    dx = 1e-7 * unit(rng)
    moved = gap(a, lw.SE3(p=dx) @ E_a, b, E_b)
    assert moved - least.gap == pytest.approx(least.normal @ dx, abs=2e-11)


@EVERY_PAIR
@given(seed=SEEDS)
@MANY
def test_a_common_motion_changes_nothing(kinds: tuple[str, str], seed: int) -> None:
    rng = np.random.default_rng(seed)
    a, E_a, b, E_b = random_pair(kinds, rng, 0.4)
    E = random_pose(rng)
    for p, q in zip(contact_points(a, E_a, b, E_b), contact_points(a, E @ E_a, b, E @ E_b), strict=True):
        assert p.on == q.on
        if p.on:
            assert q.gap == pytest.approx(p.gap, abs=1e-11)
            np.testing.assert_allclose(q.normal, E.rotate(p.normal), atol=1e-8)
            np.testing.assert_allclose(q.point, E @ p.point, atol=1e-8)


@EVERY_PAIR
@given(seed=SEEDS)
@MANY
def test_the_other_order_is_the_mirror_image(kinds: tuple[str, str], seed: int) -> None:
    a, E_a, b, E_b = random_pair(kinds, np.random.default_rng(seed), 0.4)
    there, back = contact_points(a, E_a, b, E_b), contact_points(b, E_b, a, E_a)
    assert separation(back) == pytest.approx(separation(there), abs=1e-11)
    one, other = (min((p for p in x if p.on), key=lambda p: p.gap) for x in (there, back))
    np.testing.assert_allclose(other.normal, -one.normal, atol=1e-9)
    if len({round(p.gap, 9) for p in there if p.on}) == sum(p.on > 0 for p in there):  # the nearest one is one point
        np.testing.assert_allclose(other.point, one.point, atol=1e-8)


@EVERY_PAIR
@given(seed=SEEDS)
@settings(max_examples=6, deadline=None, derandomize=True)
def test_the_separation_is_continuous(kinds: tuple[str, str], seed: int) -> None:
    """Along a path it changes by no more than the fastest point moves; overlapping boxes may prefer another feature."""
    rng = np.random.default_rng(seed)
    a, E_a, b, E_b = random_pair(kinds, rng, 0.4)
    xi = rng.normal(size=6)
    steps = 40 if "convex" in kinds else 150
    h = 1.0 / steps
    reach = 2.0 + np.linalg.norm(E_a.p)
    speed = np.linalg.norm(xi[3:]) + np.linalg.norm(xi[:3]) * reach
    found = np.array([gap(a, E_a @ lw.SE3.exp(xi * k * h), b, E_b) for k in range(steps)])
    jumps = np.abs(np.diff(found))
    slack = 0.06 * np.maximum(-found[1:], 0.0) if kinds in FACED else 0.0
    apart = np.minimum(found[1:], found[:-1]) > -0.05 if kinds == ("capsule", "box") else np.ones(steps - 1, bool)
    assert np.all((jumps <= 1.5 * speed * h + slack + 1e-6)[apart])


# --- singular places ----------------------------------------------------------------------------------------------------------
AXES = [lw.SE3(), lw.SE3.rot_x(np.pi / 2), lw.SE3.rot_y(np.pi / 4), lw.SE3.rot_z(1e-9), lw.SE3.rot_x(1e-13), lw.SE3.rot_y(np.pi)]
PLACES = [(0, 0, 0), (0, 0, 0.5), (0.5, 0.5, 0.5), (1, 0, 0), (0, 1e-16, 1.0), (0.25, 0.25, 1 + 1e-15), (2, 2, 2)]
PLAIN = {
    "plane": lw.Plane(),
    "sphere": lw.Sphere(0.5),
    "capsule": lw.Capsule(0.25, 1.0),
    "box": lw.Box((1.0, 1.0, 1.0)),
    "cylinder": lw.Cylinder(0.5, 1.0),
    "ellipsoid": lw.Ellipsoid((0.5, 0.5, 0.5)),
    "convex": lw.Convex([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)]),
}


@EVERY_PAIR
def test_numbers_are_finite_where_features_coincide(kinds: tuple[str, str]) -> None:
    a, b = (PLAIN[kind] for kind in kinds)
    with np.errstate(all="raise"):
        for turn in AXES:
            for place in PLACES:
                points = contact_points(a, lw.SE3(p=np.array(place, float)) @ turn, b, lw.SE3())
                assert len(points) == slot_count(a, b)
                assert any(p.on for p in points)
                for p in points:
                    assert np.all(np.isfinite([*p.point, *p.normal, p.gap]))
                    assert p.on in (0.0, 1.0)
                    assert np.linalg.norm(p.normal) == pytest.approx(1.0, abs=1e-9)


def test_a_capsule_without_length_is_a_ball() -> None:
    dot_, ball, box = lw.Capsule(0.3, 0.0), lw.Sphere(0.3), lw.Box((1, 1, 1))
    for seed in range(20):
        E, F = random_pose(np.random.default_rng(seed)), random_pose(np.random.default_rng(100 + seed))
        for other in (box, ball, lw.Capsule(0.1, 0.7), lw.Plane()):
            assert gap(dot_, E, other, F) == pytest.approx(gap(ball, E, other, F), abs=1e-14)


# --- ghosts -------------------------------------------------------------------------------------------------------------------
def test_a_ball_beside_an_edge_has_a_gap() -> None:
    """1 mm beside the top edge of a box, falling past it."""
    box, ball = lw.Box((1.0, 1.0, 1.0)), lw.Sphere(0.1)
    for z in np.linspace(1.0, -1.0, 41):
        (p,) = contact_points(ball, lw.SE3(p=(0.601, 0.2, z)), box, lw.SE3())
        assert p.gap >= 1e-3 - 1e-12


def test_a_box_beside_an_edge_has_a_gap() -> None:
    one = lw.Box((1.0, 1.0, 1.0))
    for z in np.linspace(1.5, -1.5, 41):
        assert gap(one, lw.SE3(p=(1.001, 0.2, z)), one, lw.SE3()) >= 1e-3 - 1e-12


def test_corners_that_pass_each_other_have_their_distance() -> None:
    """Cubes on a diagonal: no axis of theirs sees as much as the distance of the corners."""
    one = lw.Box((1.0, 1.0, 1.0))
    assert gap(one, lw.SE3(p=(1.1, 1.2, 1.3)), one, lw.SE3()) == pytest.approx(np.sqrt(0.01 + 0.04 + 0.09), abs=1e-12)
    assert gap(one, lw.SE3(p=(1.3, 0.0, 1.4)), one, lw.SE3()) == pytest.approx(0.5, abs=1e-12)


# --- the table ----------------------------------------------------------------------------------------------------------------
def test_kinds_without_a_function_are_refused() -> None:
    hull = lw.Convex(np.vstack([np.zeros(3), np.eye(3)]))
    assert not is_compiled(hull, lw.Sphere(1.0))
    assert is_compiled(lw.Plane(), lw.Sphere(1.0))
    with pytest.raises(ModelError, match=r"contact of convex and sphere is not compiled \(these are: sphere-plane, .*coal_pairs"):
        pair_function(hull, lw.Sphere(1.0))


def test_nothing_on_is_far_away() -> None:
    points = contact_points(PLAIN["sphere"], lw.SE3(), PLAIN["plane"], lw.SE3())
    assert separation([p._replace(on=0.0) for p in points]) == NO_CONTACT


@pytest.mark.parametrize("angle", [0.0, 0.3, 0.65, 1.0])
@pytest.mark.parametrize("height", [0.02, 0.004, 0.001, -0.001, -0.02])
def test_a_capsule_leaves_a_plate_where_its_middle_is(angle: float, height: float) -> None:
    """Its axis reaches through: both faces are as far from the piece inside, and rounding must not choose."""
    for turn in np.linspace(0.0, 3.0, 7):
        pose = lw.SE3(p=(0.1, 0.2, height)) @ lw.SE3.rot_z(turn) @ lw.SE3.rot_y(angle)
        points = contact_points(lw.Capsule(0.01, 0.06), pose, lw.Box((2.0, 2.0, 0.01)), lw.SE3())
        assert {float(np.sign(p.normal[2])) for p in points if p.on} == {np.sign(height)}
