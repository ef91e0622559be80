"""Meshes: their inertia by hand, against closed forms and against trimesh; files; what is refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import trimesh
from models import relative, rotation, unit

from linkwork.errors import ModelError
from linkwork.geometry.mesh import Mesh, mesh_inertia
from linkwork.spatial import SE3, Inertia

# The unit cube between 0 and 1: corner k is (k // 4, k // 2 % 2, k % 2); two triangles per side, outward.
CORNERS = np.array([[k // 4, k // 2 % 2, k % 2] for k in range(8)], dtype=float)
QUADS = [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]]
SIDES = np.array([t for a, b, c, d in QUADS for t in ((a, b, c), (a, c, d))])
TETRAHEDRON = Mesh(np.vstack([np.zeros(3), np.eye(3)]), [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])


def cube(size: Any = 1.0, at: Any = (0, 0, 0)) -> Mesh:
    return Mesh((CORNERS - 0.5) * size + at, SIDES)


def joined(*meshes: Mesh) -> Mesh:
    starts = np.cumsum([0, *(len(m.vertices) for m in meshes)])
    return Mesh(
        np.concatenate([m.vertices for m in meshes]),
        np.concatenate([m.faces + s for m, s in zip(meshes, starts, strict=False)]),
    )


def reversed_(mesh: Mesh) -> Mesh:
    return Mesh(mesh.vertices, mesh.faces[:, ::-1])


def icosphere(subdivisions: int) -> Mesh:
    made = trimesh.creation.icosphere(subdivisions=subdivisions)
    return Mesh(made.vertices, made.faces)


# --- inertia --------------------------------------------------------------------------------------------------------------
def test_tetrahedron_by_hand() -> None:
    """Corners 0, x, y, z: int x^2 = 1/60, int x y = 1/120, volume 1/6, centre (1, 1, 1)/4."""
    found = mesh_inertia(TETRAHEDRON, density=6.0)
    second = 6.0 * (np.full((3, 3), 1 / 120) + np.eye(3) / 120) - np.full((3, 3), 1 / 16)
    assert found.mass == pytest.approx(1.0)
    np.testing.assert_allclose(found.com, [0.25] * 3)
    np.testing.assert_allclose(found.tensor, np.trace(second) * np.eye(3) - second, atol=1e-16)


@pytest.mark.parametrize("seed", range(4))
def test_cuboid_anywhere(seed: int) -> None:
    rng = np.random.default_rng(seed)
    size, p, R = rng.uniform(0.1, 3.0, 3), rng.normal(size=3) * 5, rotation(unit(rng), 1.0)
    mesh = Mesh(cube(size).vertices @ R.T + p, SIDES)
    expected = Inertia.cuboid(2.5, size).moved(R, p)
    for found in (mesh_inertia(mesh, mass=2.5), mesh_inertia(mesh, density=2.5 / float(np.prod(size)))):
        assert found.mass == pytest.approx(2.5)
        assert relative(found.com, expected.com) < 1e-14
        assert relative(found.tensor, expected.tensor) < 1e-13


def test_how_a_side_is_divided_does_not_matter() -> None:
    """A side in four instead of two triangles: the mean of the vertices moves, the solid does not."""
    a, b, c, d = QUADS[1]
    fan = [(a, b, 8), (b, c, 8), (c, d, 8), (d, a, 8)]
    mesh = Mesh(np.vstack([CORNERS, (1.0, 0.3, 0.8)]), [*(SIDES.tolist()[:2]), *(SIDES.tolist()[4:]), *fan])
    found = mesh_inertia(mesh, density=1.0)
    assert np.abs(mesh.vertices.mean(axis=0) - 0.5).max() > 0.03
    np.testing.assert_allclose(found.com, [0.5] * 3, atol=1e-15)
    np.testing.assert_allclose(found.tensor, np.eye(3) / 6, atol=1e-15)


def test_far_from_the_origin_digits_are_kept() -> None:
    mesh = cube(1.0, (1e5, -1e5, 1e5))
    assert relative(mesh_inertia(mesh, mass=1.0).tensor, np.eye(3) / 6) < 1e-9


def test_icospheres_converge_to_the_sphere() -> None:
    """The error of an inscribed polyhedron falls with the square of its edges: four times per subdivision."""
    exact = Inertia.sphere(4 / 3 * np.pi, 1.0).tensor
    errors = [relative(mesh_inertia(icosphere(k), density=1.0).tensor, exact) for k in range(1, 5)]
    slopes = np.log2(np.divide(errors[:-1], errors[1:]))
    assert errors[-1] < 5e-3
    np.testing.assert_allclose(slopes[1:], 2.0, atol=0.1)


@pytest.mark.parametrize(
    "made",
    [
        lambda: trimesh.creation.icosphere(subdivisions=2),
        lambda: trimesh.creation.capsule(height=0.7, radius=0.2),
        lambda: trimesh.creation.annulus(r_min=0.3, r_max=0.5, height=0.4),
        lambda: trimesh.creation.torus(major_radius=1.0, minor_radius=0.2),
        lambda: trimesh.creation.cone(radius=0.5, height=2.0),
    ],
    ids=["ball", "capsule", "ring", "torus", "cone"],
)
def test_agrees_with_trimesh(made: Callable[[], Any]) -> None:
    rng = np.random.default_rng(1)
    theirs = made()
    E = SE3(R=rotation(unit(rng), 2.0), p=rng.normal(size=3))
    theirs.apply_transform(E.matrix)
    theirs.density = 3.0
    ours = mesh_inertia(Mesh(theirs.vertices, theirs.faces), density=3.0)
    assert ours.mass == pytest.approx(theirs.mass, rel=1e-12)
    assert relative(ours.com, theirs.center_mass) < 1e-12
    assert relative(ours.tensor, theirs.moment_inertia) < 1e-11


def test_cavities_and_separate_parts() -> None:
    outer, inner = Inertia.cuboid(8.0, (2, 2, 2)), Inertia.cuboid(1.0, (1, 1, 1))
    hollow = mesh_inertia(joined(cube(2.0), reversed_(cube(1.0))), density=1.0)
    assert hollow.mass == pytest.approx(7.0)
    np.testing.assert_allclose(hollow.tensor, outer.tensor - inner.tensor, atol=1e-14)
    pair = mesh_inertia(joined(cube(1.0, (2, 0, 0)), cube(1.0, (-2, 1, 0))), density=1.0)
    expected = Inertia.combined([(inner, SE3(p=(2, 0, 0))), (inner, SE3(p=(-2, 1, 0)))])
    np.testing.assert_allclose(pair.com, expected.com)
    np.testing.assert_allclose(pair.tensor, expected.tensor, atol=1e-13)


def test_degenerate_triangles_and_shared_edges_do_no_harm() -> None:
    with_needle = Mesh(CORNERS, [*SIDES.tolist(), [0, 0, 1]])
    assert (with_needle.open_edges, with_needle.twisted_edges) == (0, 0)
    assert relative(mesh_inertia(with_needle, mass=1.0).tensor, np.eye(3) / 6) < 1e-15
    touching = joined(cube(), cube(1.0, (1, 1, 0)))  # the edge at x = y = 1/2, made common
    vertices, back = np.unique(touching.vertices, axis=0, return_inverse=True)
    edge_to_edge = Mesh(vertices, back.reshape(-1)[touching.faces])
    assert len(vertices) == 14
    assert mesh_inertia(edge_to_edge, density=1.0).mass == pytest.approx(2.0)


# --- operations -----------------------------------------------------------------------------------------------------------
def test_outward_turns_only_what_faces_inward() -> None:
    mesh = cube()
    assert mesh.outward() is mesh
    assert reversed_(mesh).volume == pytest.approx(-1.0)
    assert reversed_(mesh).outward().volume == pytest.approx(1.0)


def test_scaled_keeps_the_outside_outside() -> None:
    assert cube().scaled(0.1).volume == pytest.approx(1e-3)
    assert cube().scaled((1, -2, 3)).volume == pytest.approx(6.0)
    assert cube().scaled(-1).volume == pytest.approx(1.0)


def test_a_mesh_cannot_be_written_to() -> None:
    vertices = CORNERS.copy()
    mesh = Mesh(vertices, SIDES)
    vertices[0] = 7.0
    assert mesh.vertices[0].tolist() == [0, 0, 0]
    with pytest.raises(ValueError, match="read-only"):
        mesh.vertices[0] = 1.0


# --- files ----------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("kind", ["stl", "obj", "ply", "off", "glb"])
def test_files_round_trip(kind: str, tmp_path: Path) -> None:
    file = tmp_path / f"cube.{kind}"
    trimesh.Trimesh(CORNERS * [1, 2, 3], SIDES, process=False).export(file)
    mesh = Mesh.load(file)
    assert len(mesh.vertices) == 8  # STL stores each corner of each triangle: they are joined
    assert mesh.open_edges == 0
    assert relative(mesh_inertia(mesh, mass=1.0).tensor, Inertia.cuboid(1.0, (1, 2, 3)).tensor) < 1e-6


def test_files_with_nan_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "bad.obj"
    file.write_text("v 0 0 0\nv 1 0 0\nv nan 1 0\nf 1 2 3\n")
    with pytest.raises(ModelError, match="1 of its 3 vertices are not finite, the first is number 2"):
        Mesh.load(file)


@pytest.mark.parametrize(
    ("name", "text", "rule"),
    [
        ("no.stl", None, "there is no such file"),
        ("cube.foo", "x", "cannot be read"),
        ("empty.stl", "", "cannot be read|no triangles"),
        ("words.obj", "once upon a time\n", "no triangles"),
        ("points.obj", "v 0 0 0\nv 1 0 0\n", "no triangles"),
    ],
)
def test_unreadable_files(name: str, text: str | None, rule: str, tmp_path: Path) -> None:
    if text is not None:
        (tmp_path / name).write_text(text)
    with pytest.raises(ModelError, match=rule) as caught:
        Mesh.load(tmp_path / name)
    assert name in str(caught.value)


def test_addresses_on_the_web_are_not_files() -> None:
    with pytest.raises(ModelError, match="there is no such file"):
        Mesh.load("https://example.com/cube.stl")


# --- what is refused ------------------------------------------------------------------------------------------------------
REFUSED: list[tuple[Callable[[], object], str]] = [
    (lambda: Mesh([], []), "no triangles"),
    (lambda: Mesh(CORNERS, []), "no triangles"),
    (lambda: Mesh("abc", SIDES), "vertices must be numbers"),
    (lambda: Mesh(CORNERS[:, :2], SIDES), r"vertices must have shape \(n, 3\), not \(8, 2\)"),
    (lambda: Mesh(CORNERS * np.nan, SIDES), "8 of its 8 vertices are not finite"),
    (lambda: Mesh(CORNERS, SIDES * 1.0), r"faces must be integers of shape \(m, 3\), not float64"),
    (lambda: Mesh(CORNERS, QUADS), r"faces must be integers of shape \(m, 3\), not int64 of shape \(6, 4\)"),
    (lambda: Mesh(CORNERS, [[0, 1, 2], [0, 1]]), "every face must name three vertices"),
    (lambda: Mesh(CORNERS, [[0, 1, 8]]), "a face names vertex 8; there are 8"),
    (lambda: Mesh(CORNERS, [[0, 1, -1]]), "a face names vertex -1; there are 8"),
    (lambda: cube().scaled(0), "scale .* must be finite and not zero"),
    (lambda: cube().scaled((1, 2)), "scale .* must be a number or three numbers"),
    (lambda: mesh_inertia(cube()), "the density or the mass"),
    (lambda: mesh_inertia(cube(), density=1.0, mass=1.0), "the density or the mass"),
    (lambda: mesh_inertia(cube(), density=0.0), "density = 0.0 must be positive"),
    (lambda: mesh_inertia(cube(), mass=-1.0), "mass = -1.0 must be positive"),
    (lambda: mesh_inertia(Mesh(CORNERS, SIDES[:-1]), mass=1.0), "not closed: 3 open edges"),
    (lambda: mesh_inertia(Mesh(CORNERS, SIDES[:-2]), mass=1.0), "not closed: 4 open edges"),
    (lambda: mesh_inertia(reversed_(cube()), mass=1.0), r"negative \(-1 m\^3\).*outward\(\)"),
    (lambda: mesh_inertia(Mesh(CORNERS, [*SIDES[:-1].tolist(), SIDES[-1, ::-1]]), mass=1.0), "disagree .* at 3 edges"),
    (lambda: mesh_inertia(Mesh(CORNERS[:4], [[0, 1, 2], [2, 1, 0]]), mass=1.0), "encloses no volume"),
]


@pytest.mark.parametrize(("make", "rule"), REFUSED, ids=[str(i) for i in range(len(REFUSED))])
def test_bad_input_names_the_rule(make: Callable[[], object], rule: str) -> None:
    with pytest.raises(ModelError, match=rule):
        make()
