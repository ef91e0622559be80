"""What there is to draw of a model: shapes, meshes, bones, paths, marks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import trimesh

import linkwork as lw
from linkwork.forces.muscle_path import MusclePath
from linkwork.geometry import MeshFile
from linkwork.look import Look
from linkwork.scenes import ALL_SCENES
from linkwork.view.bones import equivalent_cuboid
from linkwork.view.description import describe
from linkwork.view.packed import unpacked
from linkwork.view.paths import path_line
from linkwork.view.simplify import simplified


def kinds(model: lw.Model, body: int, layer: str = "visual") -> list[str]:
    return [s["kind"] for s in describe(model)["shapes"] if s["body"] == body and s["layer"] == layer]


def hinged(**of_body: Any) -> lw.ModelBuilder:
    return lw.ModelBuilder().body("arm", joint=lw.Revolute((0, 1, 0)), **of_body)


# --- bodies without shapes -----------------------------------------------------------------------------------------------
def test_a_cuboid_is_found_from_its_inertia() -> None:
    size = np.array([0.5, 2.0, 1.0])
    turn = lw.SE3.rot_exp(np.array([0.3, -0.4, 0.5])).R
    straight = lw.Inertia.cuboid(3.0, size)
    edges, axes = equivalent_cuboid(lw.Inertia(3.0, tensor=turn @ straight.tensor @ turn.T))
    np.testing.assert_allclose(edges, size, rtol=1e-12)
    np.testing.assert_allclose(axes, turn, atol=1e-12)


def test_equivalent_cuboid_has_the_same_inertia() -> None:
    rng = np.random.default_rng(3)
    for _ in range(20):
        points = rng.normal(size=(6, 3))
        points -= points.mean(axis=0)
        tensor = sum((x @ x * np.eye(3) - np.outer(x, x) for x in points), np.zeros((3, 3)))
        edges, axes = equivalent_cuboid(lw.Inertia(6.0, tensor=tensor))
        again = axes @ lw.Inertia.cuboid(6.0, edges).tensor @ axes.T
        np.testing.assert_allclose(again, tensor, atol=1e-12)
        assert np.linalg.det(axes) == pytest.approx(1.0)


def test_a_point_mass_has_no_extent() -> None:
    np.testing.assert_array_equal(equivalent_cuboid(lw.Inertia(1.0))[0], np.zeros(3))


def test_bones_run_from_joint_to_joint() -> None:
    model, _ = ALL_SCENES["pendulum"].build(links=2)
    first, last = (s for s in describe(model)["shapes"])
    for shape in (first, last):
        assert shape["kind"] == "capsule"
        ends = [lw.SE3.rot_quat(np.array(shape["pose"][3:])) @ np.array([0, 0, s * 0.5 * shape["length"]]) for s in (-1, 1)]
        reach = sorted(np.linalg.norm(shape["pose"][:3] + x) for x in ends)
        end = np.linalg.norm(model.bodies[1].placement.p) if shape is first else 2 * np.linalg.norm(model.bodies[1].inertia.com)
        assert reach[1] + 0.5 * shape["radius"] == pytest.approx(end, rel=1e-6)


def test_a_ball_is_the_ellipsoid_of_its_inertia() -> None:
    b = lw.ModelBuilder().body("ball", joint=lw.Free(), inertia=lw.Inertia.sphere(2.0, 0.3))
    (shape,) = describe(b.build())["shapes"]
    assert shape["kind"] == "ellipsoid"
    np.testing.assert_allclose(shape["radii"], 0.3, rtol=1e-9)


# --- shapes ----------------------------------------------------------------------------------------------------------------
def test_shapes_are_drawn_and_visuals_take_their_place() -> None:
    box = lw.Box((1, 2, 3), mass=1.0, color=(1, 0, 0.5, 0.5))
    assert kinds(hinged(shapes=[box, lw.Sphere(0.2)]).build(), 0) == ["box", "sphere"]
    model = hinged(shapes=[box], visuals=[lw.Torus(0.5, 0.1)]).build()
    assert kinds(model, 0) == ["torus"]
    assert kinds(model, 0, "collision") == ["box"]
    (shape,) = (s for s in describe(model)["shapes"] if s["kind"] == "box")
    assert (shape["color"], shape["opacity"], shape["size"]) == ([1, 0, 0.5], 0.5, [1, 2, 3])
    assert model.replace(bodies={"arm": {"visuals": []}}).bodies[0].visuals == ()
    with pytest.raises(lw.ModelError, match="visuals must be"):
        hinged(shapes=[box], visuals=[3])  # pyright: ignore


@pytest.mark.parametrize(
    "shape",
    [
        lw.Box((1, 2, 3)),
        lw.Sphere(0.3, (1, 0, 0)),
        lw.Capsule(0.1, 1.0),
        lw.Cylinder(0.1, 1.0),
        lw.Ellipsoid((1, 2, 3)),
        lw.Torus(0.5, 0.1),
        lw.Convex(np.array([(x, y, z) for x in (0, 1) for y in (0, 1) for z in (0, 1)], float)),
        lw.HeightField(np.zeros((3, 4)), (2.0, 1.0)),
    ],
    ids=lambda s: type(s).__name__,
)
def test_every_shape_has_a_form(shape: Any) -> None:
    model = lw.ModelBuilder().world(shape).body("arm", joint=lw.Revolute(), inertia=lw.Inertia.sphere(1.0, 0.1)).build()
    scene = describe(model)
    (found,) = (s for s in scene["shapes"] if s["body"] == -1)
    assert len(found["pose"]) == 7
    if found["kind"] == "mesh":
        mesh = scene["meshes"][found["mesh"]]
        points = mesh["low"] + np.array(mesh["size"]) * unpacked(mesh["vertices"]) / 65535
        low, high = shape.bounding_box()
        top = 2 if isinstance(shape, lw.HeightField) else 3  # its floor is not drawn
        np.testing.assert_allclose(points.min(axis=0)[:top], low[:top], atol=1e-4)
        np.testing.assert_allclose(points.max(axis=0), high, atol=1e-4)
        assert unpacked(mesh["faces"]).max() < len(points)


def test_contacts_give_spheres_and_planes() -> None:
    b = lw.ModelBuilder()
    b.body("ball", joint=lw.Free(), inertia=lw.Inertia.sphere(1.0, 0.2))
    b.body("foot", joint=lw.Free(), inertia=lw.Inertia.cuboid(1.0, (1, 2, 3)))
    plane = lw.Plane(point=(0, 0, -1), normal=(0, 0.6, 0.8))
    b.add(lw.Contact("ball", lw.Sphere(0.2), "world", plane))
    b.add(lw.Contact("foot", lw.Sphere(0.1, center=(0, 0, -0.5)), "world", plane))
    model = b.build()
    assert kinds(model, 0) == ["sphere"]
    assert kinds(model, 1) == ["sphere", "ellipsoid"]
    assert describe(model)["planes"] == [{"body": -1, "point": [0.0, 0.0, -1.0], "normal": [0.0, 0.6, 0.8]}]


# --- meshes ------------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("suffix", ["stl", "obj", "ply", "glb"])
def test_mesh_files_are_read_when_looked_at(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"box.{suffix}"
    trimesh.creation.box((1, 2, 3)).export(path)
    file = MeshFile(path, scale=(2, 1, -1), pose=lw.SE3(p=(1, 0, 0)))
    low, high = file.bounding_box()
    np.testing.assert_allclose([low, high], [[0, -1, -1.5], [2, 1, 1.5]], atol=1e-6)
    assert file.mesh().volume == pytest.approx(12.0)
    model = hinged(inertia=lw.Inertia.sphere(1.0, 0.1), visuals=[file]).build()
    assert kinds(model, 0) == ["mesh"]
    path.unlink()
    assert describe(model)["notes"] == []  # it was read before


def test_a_mesh_that_cannot_be_read_is_noted(tmp_path: Path) -> None:
    broken = tmp_path / "broken.stl"
    broken.write_bytes(b"solid nothing")
    model = hinged(inertia=lw.Inertia.sphere(1.0, 0.1), visuals=[MeshFile(broken), MeshFile(tmp_path / "none.obj")]).build()
    notes = describe(model)["notes"]
    assert len(notes) == 2
    assert all("not drawn" in note for note in notes)


def test_simplified_meshes_keep_their_form() -> None:
    ball, box = trimesh.creation.icosphere(5), trimesh.creation.box((1, 2, 3)).subdivide_loop(0)
    for _ in range(5):
        box = box.subdivide()
    pieces = [(np.asarray(m.vertices, float), np.asarray(m.faces)) for m in (ball, box)]
    made = simplified(pieces, 4000)
    assert sum(len(f) for _, f in made) <= 4000 < sum(len(f) for _, f in pieces)
    for (v, f), (w, g) in zip(made, pieces, strict=True):
        np.testing.assert_allclose([v.min(0), v.max(0)], [w.min(0), w.max(0)], atol=0.03)
        assert lw.Mesh(v, f).volume == pytest.approx(lw.Mesh(w, g).volume, rel=0.03)
    assert simplified(pieces[:1], 10**6)[0][1].shape == pieces[0][1].shape


# --- paths and marks -----------------------------------------------------------------------------------------------------------
def test_springs_are_coils_and_nets_are_strands() -> None:
    b = hinged(inertia=lw.Inertia(1.0))
    b.add(lw.SpringDamper("arm", point_a=(0.5, 0, 0), point_b=(0, 0, 1), stiffness=1.0, rest_length=1.0))
    b.add(lw.MassSpringChain("c", (0, 0, 0), (1, 0, 0), nodes=2, mass=1.0, stiffness=1.0, attached={0: ("arm", (0, 0, 0))}))
    first, second = describe(b.build())["paths"]
    assert (first["kind"], first["points"], first["rest"]) == ("spring", [[0, [0.5, 0, 0]], [-1, [0, 0, 1]]], 1.0)
    assert (second["kind"], [body for body, _ in second["points"]]) == ("strand", [1, 2])


@pytest.mark.parametrize(
    "wrap",
    [
        lw.WrapSphere("world", radius=0.3),
        lw.WrapCylinder("world", axis=(0, 1, 0), radius=0.3),
        lw.WrapCylinder("world", axis=(0, 1, 0), radius=0.3, turn=1),
        lw.WrapCylinder("world", axis=(0, 1, 0), radius=0.3, turn=-1),
    ],
    ids=["sphere", "cylinder", "right", "left"],
)
def test_lines_around_obstacles_are_as_long_as_the_path(wrap: Any) -> None:
    rng = np.random.default_rng(1)
    path = MusclePath(("world", (-1.0, 0.2, 0.1)), wrap, ("arm", (0.5, 0.0, 0.0)))
    for _ in range(20):
        poses = [lw.SE3(), lw.SE3.rot_exp(rng.normal(size=3)) @ lw.SE3(p=(0.1, 0, 0))]
        if wrap.depth(np.asarray(poses[1] @ np.array([0.5, 0, 0]), float)) > 0:
            continue  # inside, it counts as lying on the surface
        line = path_line(path, poses)
        drawn = np.linalg.norm(np.diff(line, axis=0), axis=1).sum()
        assert drawn == pytest.approx(float(path.length(poses)), rel=6e-3)
        assert drawn <= float(path.length(poses)) * (1 + 1e-9)


def test_joints_loops_frames_and_layers() -> None:
    scene = describe(ALL_SCENES["loop"].build()[0])
    assert [j["axes"] for j in scene["joints"]] == [[{"kind": "turn", "axis": [0, 1, 0]}]] * 3
    assert len(scene["loops"]) == 1
    assert scene["layers"]["joints"]
    b = hinged(inertia=lw.Inertia.sphere(1.0, 0.1), limits=(-1, 2)).frame("tool", body="arm", placement=lw.SE3(p=(1, 0, 0)))
    scene = describe(b.build(), look=Look(show=("frames",), hide=("joints",), trails=("arm",)))
    assert scene["joints"][0]["limits"] == [-1, 2]
    assert scene["frames"] == [{"name": "tool", "body": 0, "pose": [1, 0, 0, 1, 0, 0, 0]}]
    assert (scene["layers"]["frames"], scene["layers"]["joints"], scene["trails"]) == (True, False, [0])
    with pytest.raises(lw.InputError, match="no layer 'hats'"):
        describe(b.build(), look=Look(show=("hats",)))


def test_ways_of_joints_are_drawn() -> None:
    helix = describe(ALL_SCENES["trefoil"].build()[0])["guides"]
    assert len(helix) == 1
    assert len(helix[0]["points"]) == 97
    assert describe(ALL_SCENES["pendulum"].build()[0])["guides"] == []


@pytest.mark.parametrize("name", ALL_SCENES)
def test_every_scene_has_something_to_draw(name: str) -> None:
    model, _ = ALL_SCENES[name].build()
    scene = describe(getattr(model, "model", model))
    drawn = {s["body"] for s in scene["shapes"]} | {body for path in scene["paths"] for body, _ in path["points"]}
    assert drawn >= set(range(len(scene["bodies"])))
