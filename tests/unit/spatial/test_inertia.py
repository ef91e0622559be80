"""Inertia: solids against quadrature over their volume, composition against sums of their points, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from models import random_inertia, relative, rotation, unit

from linkwork.errors import ModelError
from linkwork.spatial import SE3, Ad, Articulated, Inertia

lengths = st.floats(0.05, 3.0)
masses = st.floats(1e-3, 1e3)
points = st.tuples(*3 * [st.floats(-2.0, 2.0)]).map(np.array)
directions = st.tuples(*3 * [st.floats(-1.0, 1.0)]).map(np.array).filter(lambda a: np.linalg.norm(a) > 1e-3)
axes = directions.map(lambda a: a / np.linalg.norm(a))
Cloud = tuple[np.ndarray, np.ndarray]  # points (n, 3) and weights (n,) that integrate polynomials of degree 2 exactly


# --- quadrature ---------------------------------------------------------------------------------------------------------
def gauss(a: float, b: float, n: int = 6) -> tuple[np.ndarray, np.ndarray]:
    x, w = np.polynomial.legendre.leggauss(n)
    return (a + b) / 2 + (b - a) / 2 * x, (b - a) / 2 * w


def revolved(profile: Callable[[np.ndarray], np.ndarray], a: float, b: float) -> Cloud:
    """Between z = a and b, inside the radius profile(z) about the z axis."""
    z, wz = gauss(a, b)
    s, ws = gauss(0.0, 1.0)
    angle = np.arange(8) * np.pi / 4
    R = profile(z)
    r = R[:, None, None] * s[None, :, None] * np.ones(8)
    x = np.stack([r * np.cos(angle), r * np.sin(angle), np.broadcast_to(z[:, None, None], r.shape)], axis=-1)
    w = wz[:, None, None] * R[:, None, None] * ws[None, :, None] * r * (np.pi / 4)
    return x.reshape(-1, 3), w.reshape(-1)


def joined(*clouds: Cloud) -> Cloud:
    return np.concatenate([c[0] for c in clouds]), np.concatenate([c[1] for c in clouds])


def tube(radius: float, length: float) -> Cloud:
    return revolved(lambda z: np.full_like(z, radius), -length / 2, length / 2)


def ball(radii: Any) -> Cloud:
    x, w = revolved(lambda z: np.sqrt(1 - z * z), -1.0, 1.0)
    return x * np.asarray(radii), w * np.prod(radii)


def pill(radius: float, length: float) -> Cloud:
    cap = revolved(lambda z: np.sqrt(radius**2 - z * z), 0.0, radius)
    up = cap[0] + [0, 0, length / 2]
    return joined(tube(radius, length), (up, cap[1]), (up * [1, 1, -1], cap[1]))


def brick(size: Any) -> Cloud:
    nodes, weights = zip(*(gauss(-s / 2, s / 2, 2) for s in size), strict=True)
    x = np.stack(np.meshgrid(*nodes, indexing="ij"), axis=-1).reshape(-1, 3)
    return x, np.einsum("i,j,k->ijk", *weights).reshape(-1)


def turning_z_to(axis: np.ndarray) -> np.ndarray:
    """Some rotation that takes z to the axis."""
    helper = np.eye(3)[np.abs(axis).argmin()]
    x = np.cross(helper, axis)
    x = x / np.linalg.norm(x)
    return np.stack([x, np.cross(axis, x), axis], axis=1)


def of_cloud(cloud: Cloud, mass: float) -> Inertia:
    """Mass, centre and tensor by plain sums."""
    x, w = cloud
    w = w * (mass / w.sum())
    com = w @ x / mass
    d = x - com
    second = np.einsum("e,ei,ej->ij", w, d, d)
    return Inertia(mass, com, np.trace(second) * np.eye(3) - second)


def assert_same(a: Inertia, b: Inertia, tol: float = 1e-11) -> None:
    assert a.mass == pytest.approx(b.mass, rel=tol)
    np.testing.assert_allclose(a.com, b.com, rtol=0, atol=tol * (1 + np.abs(b.com).max()))
    assert relative(a.tensor, b.tensor) < tol


# --- solids ---------------------------------------------------------------------------------------------------------------
@settings(max_examples=40, deadline=None)
@given(masses, lengths, lengths, lengths, points)
def test_cuboid_and_ellipsoid(mass: float, x: float, y: float, z: float, com: np.ndarray) -> None:
    box, egg = brick((x, y, z)), ball((x, y, z))
    assert box[1].sum() == pytest.approx(x * y * z)
    assert egg[1].sum() == pytest.approx(4 / 3 * np.pi * x * y * z)
    assert_same(Inertia.cuboid(mass, (x, y, z), com), of_cloud((box[0] + com, box[1]), mass))
    assert_same(Inertia.ellipsoid(mass, (x, y, z), com), of_cloud((egg[0] + com, egg[1]), mass))


@settings(max_examples=40, deadline=None)
@given(masses, lengths, lengths, axes, points)
def test_cylinder_and_capsule(mass: float, radius: float, length: float, axis: np.ndarray, com: np.ndarray) -> None:
    R = turning_z_to(axis)
    for make, (x, w), volume in (
        (Inertia.cylinder, tube(radius, length), np.pi * radius**2 * length),
        (Inertia.capsule, pill(radius, length), np.pi * radius**2 * (length + 4 / 3 * radius)),
    ):
        assert w.sum() == pytest.approx(volume)
        assert_same(make(mass, radius, length, axis, com), of_cloud((x @ R.T + com, w), mass))


@settings(max_examples=40, deadline=None)
@given(masses, lengths)
def test_special_cases_agree(mass: float, r: float) -> None:
    assert_same(Inertia.ellipsoid(mass, (r, r, r)), Inertia.sphere(mass, r))
    assert_same(Inertia.capsule(mass, r, 0.0, (0, 1, 0)), Inertia.sphere(mass, r))
    np.testing.assert_allclose(np.diag(Inertia.cylinder(mass, r, 1.0).tensor)[2], mass * r * r / 2)
    assert Inertia.cylinder(mass, r, 2.0, (1, 0, 0)).tensor[1, 1] > Inertia.cylinder(mass, r, 1.0, (1, 0, 0)).tensor[1, 1]


# --- principal frame ------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("seed", range(8))
def test_principal_frame(seed: int) -> None:
    inertia = random_inertia(np.random.default_rng(seed))
    moments, R = inertia.principal()
    assert np.all(np.diff(moments) >= 0)
    np.testing.assert_allclose(R @ R.T, np.eye(3), atol=1e-14)
    assert np.linalg.det(R) == pytest.approx(1.0)
    assert_same(Inertia.from_moments(inertia.mass, inertia.com, moments, R), inertia)


def test_principal_frame_of_a_turned_cuboid() -> None:
    R = rotation((0.6, 0.0, 0.8), 0.4)
    turned = Inertia.cuboid(2.0, (3.0, 2.0, 1.0)).moved(R)  # moments ascend along x, y, z
    moments, axes_ = turned.principal()
    np.testing.assert_allclose(moments, [5 / 6, 10 / 6, 13 / 6])
    np.testing.assert_allclose(axes_, R, atol=1e-12)


def test_principal_frame_of_diagonal_tensors_is_a_permutation() -> None:
    for moments in ([3.0, 2.0, 1.5], [1.0, 1.0, 1.0], [2.0, 1.0, 2.0]):
        found, R = Inertia.from_moments(1.0, (0, 0, 0), moments).principal()
        assert sorted(moments) == found.tolist()
        assert sorted(np.abs(R).ravel().tolist()) == [0.0] * 6 + [1.0] * 3
        assert np.linalg.det(R) == 1.0


# --- composition ----------------------------------------------------------------------------------------------------------
def random_pose(rng: np.random.Generator) -> SE3:
    return SE3(R=rotation(unit(rng), rng.uniform(0.2, 3.0)), p=rng.normal(size=3))


@pytest.mark.parametrize("seed", range(5))
def test_moved_is_the_spatial_inertia_in_other_axes(seed: int) -> None:
    """[Sueda, Eq. 1.26]: M_c = Ad(E_kc)^T M_k Ad(E_kc)."""
    rng = np.random.default_rng(seed)
    inertia, E = random_inertia(rng), random_pose(rng)
    A = Ad(E.inverse())
    moved = inertia.moved(E.R, E.p)
    assert relative(moved.matrix, A.T @ inertia.matrix @ A) < 1e-13
    assert_same(moved.moved(E.R.T, -E.R.T @ E.p), inertia)


@pytest.mark.parametrize("seed", range(5))
def test_combined_is_the_sum_of_spatial_inertias(seed: int) -> None:
    rng = np.random.default_rng(seed)
    parts = [(random_inertia(rng), random_pose(rng)) for _ in range(4)]
    M = sum(Ad(E.inverse()).T @ part.matrix @ Ad(E.inverse()) for part, E in parts)
    whole = Inertia.combined(parts)
    assert relative(whole.matrix, M) < 1e-13
    assert whole.mass == pytest.approx(sum(part.mass for part, _ in parts))
    a, b = (part.moved(E.R, E.p) for part, E in parts[:2])
    assert_same(a + b, b + a)
    assert_same(Inertia.combined(iter(parts[:2])), a + b)


def test_two_halves_make_a_cuboid() -> None:
    half = Inertia.cuboid(1.0, (0.5, 0.3, 0.2))
    whole = Inertia.combined([(half, SE3(p=(0.25, 0, 0))), (half, SE3(p=(-0.25, 0, 0)))])
    assert_same(whole, Inertia.cuboid(2.0, (1.0, 0.3, 0.2)))


def test_addition_far_from_the_origin_keeps_its_digits() -> None:
    """Summing about the origin would lose 14 digits of the tensor here."""
    far, quarter = np.array([1e7, 0.0, 0.0]), np.array([0.25, 0.0, 0.0])
    half = Inertia.cuboid(1.0, (0.5, 0.5, 0.5))
    whole = half.moved(np.eye(3), far - quarter) + half.moved(np.eye(3), far + quarter)
    assert relative(whole.tensor, Inertia.cuboid(2.0, (1.0, 0.5, 0.5)).tensor) < 1e-8


def test_matrix_gives_the_kinetic_energy_of_points() -> None:
    rng = np.random.default_rng(0)
    x, m, twist = rng.normal(size=(9, 3)), rng.uniform(0.1, 1.0, 9), rng.normal(size=6)
    velocities = twist[3:] + np.cross(twist[:3], x)
    inertia = of_cloud((x, m), m.sum())
    assert twist @ inertia.matrix @ twist == pytest.approx(m @ (velocities**2).sum(axis=1))
    rigid = Articulated.rigid(inertia.mass, inertia.first_moment, inertia.about_origin)
    np.testing.assert_allclose(np.asarray(rigid @ twist, float), inertia.matrix @ twist)


# --- what is refused ------------------------------------------------------------------------------------------------------
NAN, INF = float("nan"), float("inf")
MIRROR = np.diag([1.0, 1.0, -1.0])
REFUSED: list[tuple[Callable[[], object], str]] = [
    (lambda: Inertia(0.0), "mass 0 must be positive"),
    (lambda: Inertia(-1.0), "mass -1 must be positive"),
    (lambda: Inertia(NAN), "mass = nan is not finite"),
    (lambda: Inertia(INF), "mass = inf is not finite"),
    (lambda: Inertia("heavy"), "mass must be numbers, not 'heavy'"),  # type: ignore[arg-type]
    (lambda: Inertia(None), "mass must be numbers, not None|mass = nan is not finite"),  # type: ignore[arg-type]
    (lambda: Inertia(1.0, com=(0, 0)), r"com must have shape \(3,\), not \(2,\)"),
    (lambda: Inertia(1.0, com=(0, NAN, 0)), "com = .* is not finite"),
    (lambda: Inertia(1.0, tensor=(1, 1, 1)), r"tensor must have shape \(3, 3\)"),
    (lambda: Inertia(1.0, tensor=np.diag([1, 1, INF])), "tensor = .* is not finite"),
    (lambda: Inertia(1.0, tensor=[[1, 0.1, 0], [0, 1, 0], [0, 0, 1]]), "is not symmetric"),
    (lambda: Inertia(1.0, tensor=np.diag([1, 1, -0.1])), "negative principal moment -0.1"),
    (lambda: Inertia(1.0, tensor=-np.eye(3)), "negative principal moment -1"),
    (lambda: Inertia(1.0, tensor=np.diag([1, 1, 2.1])), "1, 1, 2.1 violate the triangle inequality"),
    (lambda: Inertia.cuboid(-1.0, (1, 1, 1)), "cuboid mass = -1.0 must be positive"),
    (lambda: Inertia.cuboid("a", (1, 1, 1)), "cuboid mass must be numbers"),  # type: ignore[arg-type]
    (lambda: Inertia.cuboid(1.0, (1, 0, 1)), "cuboid size = .* must be positive"),
    (lambda: Inertia.cuboid(1.0, 2.0), r"cuboid size must have shape \(3,\), not \(\)"),
    (lambda: Inertia.sphere(1.0, -0.1), "sphere radius = -0.1 must be positive"),
    (lambda: Inertia.sphere(NAN, 0.1), "sphere mass = nan is not finite"),
    (lambda: Inertia.ellipsoid(1.0, (1, -1, 1)), "ellipsoid radii = .* must be positive"),
    (lambda: Inertia.ellipsoid(0.0, (1, 1, 1)), "ellipsoid mass = 0.0 must be positive"),
    (lambda: Inertia.cylinder(1.0, 0.0, 1.0), "cylinder radius = 0.0 must be positive"),
    (lambda: Inertia.cylinder(1.0, 1.0, 0.0), "cylinder length = 0.0 must be positive"),
    (lambda: Inertia.cylinder(1.0, 1.0, 1.0, axis=(0, 0, 2)), "cylinder axis = .* has length 2; give a unit vector"),
    (lambda: Inertia.cylinder(1.0, 1.0, 1.0, axis=(0, 0, 0)), "cylinder axis = .* has length 0; give a unit vector"),
    (lambda: Inertia.cylinder(1.0, 1.0, 1.0, axis=(0, NAN, 0)), "cylinder axis = .* is not finite"),
    (lambda: Inertia.cylinder(1.0, 1.0, 1.0, axis=(0, 1)), r"cylinder axis must have shape \(3,\)"),
    (lambda: Inertia.capsule(1.0, -1.0, 1.0), "capsule radius = -1.0 must be positive"),
    (lambda: Inertia.capsule(1.0, 1.0, -0.1), "capsule length = -0.1 must not be negative"),
    (lambda: Inertia.capsule(1.0, 1.0, 1.0, axis=(1, 1, 0)), "capsule axis = .* give a unit vector"),
    (lambda: Inertia.from_moments(1.0, (0, 0, 0), (1, 2, 4)), "1, 2, 4 violate the triangle inequality"),
    (lambda: Inertia.from_moments(1.0, (0, 0, 0), (1, 2)), r"principal moments must have shape \(3,\)"),
    (lambda: Inertia.from_moments(1.0, (0, 0, 0), (1, 1, 1), 2 * np.eye(3)), "principal axes is not a rotation"),
    (lambda: Inertia.from_moments(1.0, (0, 0, 0), (1, 1, 1), MIRROR), "principal axes is left-handed"),
    (lambda: Inertia.sphere(1.0, 1.0).moved(MIRROR), "R is left-handed"),
    (lambda: Inertia.sphere(1.0, 1.0).moved(1.1 * np.eye(3)), "R is not a rotation: R R.T is off by 0.21"),
    (lambda: Inertia.sphere(1.0, 1.0).moved(np.eye(3), (0, 0, NAN)), "p = .* is not finite"),
    (lambda: Inertia.combined([]), "no parts"),
    (lambda: Inertia.combined([Inertia(1.0)]), r"must be \(Inertia, SE3\)"),  # type: ignore[list-item]
    (lambda: Inertia.combined([(Inertia(1.0), (0, 0, 1))]), r"must be \(Inertia, SE3\)"),  # type: ignore[list-item]
]


@pytest.mark.parametrize(("make", "rule"), REFUSED, ids=[rule for _, rule in REFUSED])
def test_bad_input_names_the_rule(make: Callable[[], object], rule: str) -> None:
    with pytest.raises(ModelError, match=rule):
        make()


def test_limits_of_what_is_possible_are_accepted() -> None:
    Inertia(1.0)  # a point
    Inertia(1.0, tensor=np.diag([0.0, 1.0, 1.0]))  # a rod
    Inertia(1.0, tensor=np.diag([1.0, 1.0, 2.0]))  # a disc
    rod = Inertia(1.0, tensor=np.diag([0.0, 1.0, 1.0])).moved(rotation((0.6, 0.8, 0.0), 1.0))
    Inertia.from_moments(1.0, (0, 0, 0), *rod.principal())


def test_arguments_are_copied() -> None:
    com = np.zeros(3)
    inertia = Inertia(1.0, com)
    com[0] = 5.0
    assert inertia.com.tolist() == [0, 0, 0]


def test_only_inertias_add() -> None:
    with pytest.raises(TypeError):
        Inertia(1.0) + 1.0  # type: ignore[operator]
