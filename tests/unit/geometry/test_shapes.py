"""Shapes: what they keep, what they fill, where they can be, and what they refuse."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import trimesh
from models import rotation

from linkwork.errors import ModelError
from linkwork.geometry import (
    ALL_SHAPES,
    Box,
    Capsule,
    Convex,
    Cylinder,
    Ellipsoid,
    HeightField,
    Mesh,
    Plane,
    Shape,
    Sphere,
    Torus,
    mesh_inertia,
)
from linkwork.spatial import SE3

NAN, INF = float("nan"), float("inf")
CORNERS = np.array([[x, y, z] for x in (0.0, 1.0) for y in (0.0, 1.0) for z in (0.0, 1.0)])
POSE = SE3(rotation(np.array([2.0, -1.0, 2.0]) / 3.0, 0.8), (0.3, -0.2, 0.5))
REFUSED: list[tuple[Callable[[], Shape], str]] = [
    (lambda: Sphere(0.0), "Sphere: the radius 0.0 must be positive"),
    (lambda: Sphere(-1.0), "Sphere: the radius -1.0 must be positive"),
    (lambda: Sphere(NAN), "Sphere: the radius nan must be positive"),
    (lambda: Sphere(INF), "Sphere: the radius inf must be positive"),
    (lambda: Sphere(1.0, (0, 0)), "Sphere center must be three finite numbers"),
    (lambda: Sphere(1.0, (0, 0, NAN)), "Sphere center must be three finite numbers"),
    (lambda: Plane(point=(0, INF, 0)), "Plane point must be three finite numbers"),
    (lambda: Plane(normal=(0, 0, 0, 1)), "Plane normal must be three finite numbers"),
    (lambda: Plane(normal=(0, 0, 0)), "Plane: the normal .* has length 0; give a unit vector"),
    (lambda: Plane(normal=(0, 0, 2)), "Plane: the normal .* has length 2; give a unit vector"),
    (lambda: Plane(normal=(0, NAN, 1)), "Plane normal must be three finite numbers"),
    # sizes
    (lambda: Sphere(1e-12), "Sphere: the radius 1e-12 is absurd; lengths are metres, from 1e-09 to 1e\\+09"),
    (lambda: Sphere(1e12), "Sphere: the radius .* is absurd"),
    (lambda: Sphere("one"), "Sphere: the radius 'one' must be positive"),  # type: ignore[arg-type]
    (lambda: Sphere(1.0, (0, 0, 1e12)), "Sphere center = .* lies beyond 1e\\+09 m"),
    (lambda: Box((1, 0, 1)), "Box: the size 0 must be positive"),
    (lambda: Box((1, -1, 1)), "Box: the size -1 must be positive"),
    (lambda: Box((1, NAN, 1)), "Box: the size nan must be positive"),
    (lambda: Box((1, 1)), "Box: the size must be three lengths, not \\(1, 1\\)"),
    (lambda: Box(1.0), "Box: the size must be three lengths, not 1.0"),
    (lambda: Capsule(0.0, 1.0), "Capsule: the radius 0.0 must be positive"),
    (lambda: Capsule(0.1, -1.0), "Capsule: length must be a number, between 0 and 1e\\+09, not -1.0"),
    (lambda: Capsule(0.1, NAN), "Capsule: length must be a number"),
    (lambda: Cylinder(0.1, 0.0), "Cylinder: the length 0.0 must be positive"),
    (lambda: Cylinder(INF, 1.0), "Cylinder: the radius inf must be positive"),
    (lambda: Torus(0.1, 0.1), "Torus: the tube 0.1 must be thinner than the ring 0.1"),
    (lambda: Torus(0.0, 0.1), "Torus: the ring 0.0 must be positive"),
    (lambda: Ellipsoid((1, 1, 0)), "Ellipsoid: the radii 0 must be positive"),
    # poses
    (lambda: Box((1, 1, 1), SE3(p=(0, NAN, 0))), "Box: its pose is not finite"),
    (lambda: Box((1, 1, 1), SE3(R=np.full((3, 3), NAN))), "Box: its pose is not finite"),
    (lambda: Box((1, 1, 1), SE3(R=1.1 * np.eye(3))), "Box: the rotation of its pose is not a rotation"),
    (lambda: Box((1, 1, 1), SE3(R=np.diag([1.0, 1.0, -1.0]))), "Box: the rotation of its pose is not a rotation"),
    (lambda: Capsule(0.1, 1.0, (0, 0, 1)), "Capsule: pose must be an SE3, not tuple"),  # type: ignore[arg-type]
    (lambda: Cylinder(0.1, 1.0, SE3(p=(1e10, 0, 0))), "Cylinder position = .* lies beyond"),
    # what the surface is like
    (lambda: Sphere(1.0, friction=-0.1), "Sphere: friction must be a number, at least 0, not -0.1"),
    (lambda: Box((1, 1, 1), friction=NAN, name="foot"), "foot: friction must be a number, at least 0, not nan"),
    (lambda: Sphere(1.0, friction=INF), "Sphere: friction must be a number, at least 0, not inf"),
    (lambda: Sphere(1.0, friction="much"), "Sphere: friction must be a number"),  # type: ignore[arg-type]
    (lambda: Plane(restitution=1.5), "Plane: restitution must be a number, between 0 and 1, not 1.5"),
    (lambda: Plane(restitution=-0.5), "Plane: restitution must be a number, between 0 and 1, not -0.5"),
    (lambda: Plane(restitution=NAN), "Plane: restitution must be a number, between 0 and 1, not nan"),
    (lambda: Sphere(1.0, density=0.0), "Sphere: density must be above 0, not 0.0"),
    (lambda: Sphere(1.0, mass=NAN), "Sphere: mass must be a number, finite, not nan"),
    (lambda: Sphere(1.0, mass=1.0, density=1.0), "Sphere: give the density or the mass, not both"),
    (lambda: Sphere(1.0, color=(1, 2, 3)), "Sphere: color must be three or four numbers from 0 to 1"),
    (lambda: Sphere(1.0, color="red"), "Sphere: color must be three or four numbers from 0 to 1"),
    (lambda: Sphere(1.0, group=-1), "Sphere: group must be a whole number, not negative"),
    (lambda: Sphere(1.0, mask=1.5), "Sphere: mask must be a whole number"),  # type: ignore[arg-type]
    (lambda: Sphere(1.0, name=""), "Sphere: its name must be a text"),
    # hulls, meshes, fields
    (lambda: Convex(np.zeros((4, 3))), "Convex: its 4 points lie in a plane"),
    (lambda: Convex(CORNERS[:3]), "Convex: points must have shape .* four of them at least, not \\(3, 3\\)"),
    (lambda: Convex(CORNERS * [1, 1, 0]), "Convex: its 8 points lie in a plane"),
    (lambda: Convex(np.vstack([CORNERS, [NAN, 0, 0]])), "Convex: 1 of its 9 points are not finite"),
    (lambda: Convex("points"), "Convex: points must be numbers"),
    (lambda: HeightField([[0.0, 1.0]], (1, 1)), "HeightField: heights must be finite numbers on a grid of 2 x 2 at least"),
    (lambda: HeightField([[0, 0], [0, NAN]], (1, 1)), "HeightField: 1 of its 4 heights are not finite"),
    (lambda: HeightField(np.zeros((2, 2)), (1, 0)), "HeightField: the size 0 must be positive"),
    (lambda: HeightField(np.zeros((2, 2)), (1, 1), base=-1.0), "HeightField: the base -1.0 must be positive"),
]


@pytest.mark.parametrize(("make", "rule"), REFUSED, ids=[str(i) for i in range(len(REFUSED))])
def test_bad_input_names_the_rule(make: Callable[[], Shape], rule: str) -> None:
    with pytest.raises(ModelError, match=rule):
        make()


def test_defaults() -> None:
    ball, ground = Sphere(0.5), Plane()
    assert (ball.radius, ball.center.tolist()) == (0.5, [0, 0, 0])
    assert (ground.point.tolist(), ground.normal.tolist()) == ([0, 0, 0], [0, 0, 1])


def test_nearly_unit_normals_become_unit() -> None:
    rough = np.array([0.6, 0.0, 0.8]) * (1 + 5e-7)
    assert np.linalg.norm(Plane(normal=rough).normal) == pytest.approx(1.0, abs=1e-15)


# --- what they fill ---------------------------------------------------------------------------------------------------------
def solids(**attributes: Any) -> dict[str, tuple[Shape, trimesh.Trimesh]]:
    """Shapes in a frame, and fine meshes of them about the origin."""
    egg = trimesh.creation.icosphere(subdivisions=5)
    egg.apply_scale([0.3, 0.5, 0.4])
    return {
        "sphere": (Sphere(0.4, POSE.p, **attributes), trimesh.creation.icosphere(subdivisions=5, radius=0.4)),
        "box": (Box((0.3, 0.5, 0.8), POSE, **attributes), trimesh.creation.box((0.3, 0.5, 0.8))),
        "capsule": (Capsule(0.2, 0.7, POSE, **attributes), capsule_mesh(0.2, 0.7)),
        "cylinder": (Cylinder(0.2, 0.7, POSE, **attributes), trimesh.creation.cylinder(0.2, 0.7, sections=400)),
        "ellipsoid": (Ellipsoid((0.3, 0.5, 0.4), POSE, **attributes), egg),
        "torus": (Torus(0.5, 0.2, POSE, **attributes), trimesh.creation.torus(0.5, 0.2, major_sections=200, minor_sections=80)),
    }


def capsule_mesh(radius: float, length: float) -> trimesh.Trimesh:
    """A fine ball whose upper half is moved up."""
    ball = trimesh.creation.icosphere(subdivisions=5, radius=radius)
    points = ball.vertices + np.outer(np.sign(ball.vertices[:, 2]) * 0.5 * length, [0, 0, 1])
    return trimesh.convex.convex_hull(points)


@pytest.mark.parametrize("kind", solids())
def test_volume_and_inertia_are_those_of_a_fine_mesh(kind: str) -> None:
    shape, fine = solids(density=700.0)[kind]
    placed = Mesh(fine.vertices @ POSE.R.T + POSE.p, fine.faces)
    expected, found = mesh_inertia(placed, density=700.0), shape.inertia()
    assert shape.volume == pytest.approx(placed.volume, rel=2e-3)
    assert found.mass == pytest.approx(expected.mass, rel=2e-3)
    np.testing.assert_allclose(found.com, expected.com, atol=1e-4)
    np.testing.assert_allclose(shape.com, found.com, atol=1e-12)
    np.testing.assert_allclose(found.tensor, expected.tensor, atol=4e-3 * np.trace(expected.tensor))


@pytest.mark.parametrize("kind", solids())
def test_a_mass_is_spread_evenly(kind: str) -> None:
    by_mass, by_density = solids(mass=3.0)[kind][0].inertia(), solids(density=1.0)[kind][0].inertia()
    assert by_mass.mass == 3.0
    np.testing.assert_allclose(by_mass.tensor, by_density.tensor * 3.0 / by_density.mass, atol=1e-14)


@pytest.mark.parametrize("kind", solids())
def test_bounds_hold_the_shape(kind: str) -> None:
    shape, fine = solids()[kind]
    x = fine.vertices @ POSE.R.T + POSE.p
    low, high = shape.bounding_box()
    assert np.all(x >= low - 1e-9)
    assert np.all(x <= high + 1e-9)
    np.testing.assert_allclose([x.min(axis=0), x.max(axis=0)], [low, high], atol=2e-3)
    center, radius = shape.bounding_sphere()
    far = np.linalg.norm(x - center, axis=1).max()
    assert radius - 2e-3 <= far <= radius + 1e-9


def test_a_hull_keeps_its_corners_only() -> None:
    rng = np.random.default_rng(0)
    hull = Convex(np.vstack([CORNERS, rng.uniform(0.1, 0.9, (50, 3))]), density=2.0)
    assert len(hull.vertices) == 8
    assert hull.volume == pytest.approx(1.0)
    hull.require_solid()
    np.testing.assert_allclose(hull.com, 0.5)
    np.testing.assert_allclose(hull.inertia().tensor, np.eye(3) * 2.0 / 6.0, atol=1e-12)
    np.testing.assert_allclose(hull.bounding_box(), [np.zeros(3), np.ones(3)])
    assert hull.bounding_sphere()[1] == pytest.approx(np.sqrt(0.75))


def test_meshes_in_contact_must_be_closed_and_face_outward() -> None:
    hull = Convex(CORNERS)
    Mesh(hull.vertices, hull.faces).require_solid()
    with pytest.raises(ModelError, match="triangles face inward"):
        Mesh(hull.vertices, hull.faces[:, ::-1]).require_solid()
    with pytest.raises(ModelError, match="not closed: 3 open edges"):
        Mesh(hull.vertices, hull.faces[1:], "shell").require_solid()
    with pytest.raises(ModelError, match="encloses no volume"):
        Mesh(hull.vertices * [1, 1, 0], hull.faces).require_solid()
    with pytest.raises(ModelError, match="its size 1e-12 is absurd"):
        Mesh(hull.vertices * 1e-12, hull.faces).require_solid()


def test_a_mesh_keeps_its_attributes() -> None:
    hull = Convex(CORNERS)
    mesh = Mesh(hull.vertices, hull.faces, "stone", friction=0.4, density=3.0).scaled(-2.0)
    assert (mesh.name, mesh.friction, mesh.inertia().mass) == ("stone", 0.4, pytest.approx(24.0))


def test_a_height_field_faces_up() -> None:
    heights = np.array([[0.0, 0.0, 0.0], [0.0, 1.0, 0.5]])
    field = HeightField(heights, (2.0, 1.0), POSE, base=0.5)
    surface = field.surface()
    local = (surface.vertices - POSE.p) @ POSE.R
    np.testing.assert_allclose(local[4], [0.0, 0.5, 1.0], atol=1e-12)
    corners = local[surface.faces]
    up = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])[:, 2]
    assert np.all(up > 0)
    assert up.sum() / 2 == pytest.approx(2.0)
    low, high = field.bounding_box()
    assert np.all(surface.vertices >= low - 1e-12)
    assert np.all(surface.vertices <= high + 1e-12)
    center, radius = field.bounding_sphere()
    assert np.linalg.norm(surface.vertices - center, axis=1).max() <= radius + 1e-12
    with pytest.raises(ModelError, match="HeightField encloses no volume"):
        _ = field.volume


# --- what they keep ---------------------------------------------------------------------------------------------------------
EXAMPLES: dict[type[Shape], Callable[..., Shape]] = {
    Plane: lambda **k: Plane(**k),
    Sphere: lambda **k: Sphere(0.1, **k),
    Box: lambda **k: Box((1, 1, 1), **k),
    Capsule: lambda **k: Capsule(0.1, 1.0, **k),
    Cylinder: lambda **k: Cylinder(0.1, 1.0, **k),
    Ellipsoid: lambda **k: Ellipsoid((1, 2, 3), **k),
    Torus: lambda **k: Torus(0.5, 0.1, **k),
    Convex: lambda **k: Convex(CORNERS, **k),
    Mesh: lambda **k: Mesh(Convex(CORNERS).vertices, Convex(CORNERS).faces, **k),
    HeightField: lambda **k: HeightField(np.zeros((2, 2)), (1, 1), **k),
}


@pytest.mark.parametrize("kind", ALL_SHAPES)
def test_every_shape_takes_the_same_attributes(kind: type[Shape]) -> None:
    shape = EXAMPLES[kind](friction=0.5, restitution=0.2, density=3.0, color=(1, 0, 0), group=2, mask=6, name="thing")
    assert (shape.friction, shape.restitution, shape.density, shape.mass) == (0.5, 0.2, 3.0, None)
    assert (shape.color, shape.group, shape.mask, shape.name) == ((1.0, 0.0, 0.0), 2, 6, "thing")
    plain = EXAMPLES[kind]()
    assert (plain.friction, plain.restitution, plain.density, plain.group, plain.mask) == (None, None, None, 1, 1)
    assert plain.name == kind.__name__
    assert kind.__name__ in repr(plain)
    with pytest.raises(TypeError, match="bounciness"):
        EXAMPLES[kind](bounciness=1.0)
    for value in shape.parameters().values():
        assert np.all(np.isfinite(value))


@pytest.mark.parametrize("kind", [k for k in ALL_SHAPES if k.parameter_names])
def test_the_arrays_of_a_shape_cannot_be_written_to(kind: type[Shape]) -> None:
    shape = EXAMPLES[kind]()
    for name in shape.parameter_names:
        value = getattr(shape, name)
        if isinstance(value, np.ndarray):
            with pytest.raises(ValueError, match="read-only"):
                value[:] = 0.0


@pytest.mark.parametrize("kind", [k for k in ALL_SHAPES if k.parameter_names])
def test_bound_replaces_numbers_and_leaves_the_shape_alone(kind: type[Shape]) -> None:
    shape = EXAMPLES[kind](friction=0.3)
    before = shape.parameters()
    other = shape.bound({name: x + 1.0 for name, x in before.items()})
    assert other.friction == 0.3
    for name, x in before.items():
        np.testing.assert_array_equal(getattr(other, name), x + 1.0)
        np.testing.assert_array_equal(getattr(shape, name), x)
