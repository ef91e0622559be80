"""Animations in glTF: the file says what the run was, read back by two readers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from glb import accessor, animated_poses, read_glb

import linkwork as lw
from linkwork.scenes import ALL_SCENES
from linkwork.view.gltf import poses_of
from linkwork.view.triangles import surfaces, triangles

SHAPES = [
    lw.Sphere(0.3, (0.1, 0.2, 0.3)),
    lw.Box((0.2, 0.4, 0.6), lw.SE3.rot_x(0.3)),
    lw.Capsule(0.1, 0.5, lw.SE3(p=(1, 0, 0)) @ lw.SE3.rot_y(0.4)),
    lw.Cylinder(0.2, 0.3),
    lw.Ellipsoid((0.1, 0.2, 0.3)),
    lw.Torus(0.5, 0.1),
    lw.Convex([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]),
]


def run_of(name: str, duration: float, method: str = "reduced") -> lw.Trajectory:
    scene = ALL_SCENES[name]
    model, state = scene.build()
    return lw.simulate(model, state, duration, scene.dt, method)


@pytest.mark.parametrize(("name", "method"), [("pendulum", "reduced"), ("loop", "maximal"), ("ball", "reduced")])
def test_the_animation_is_the_trajectory(name: str, method: str, tmp_path: Path) -> None:
    run = run_of(name, 0.5, method)
    document, binary = read_glb(run.save(tmp_path / "run.glb"))
    times, poses = animated_poses(document, binary)
    k = np.round((times - times[0]) / (run.t[1] - run.t[0])).astype(int)
    assert run.t[k] == pytest.approx(times, abs=1e-6)
    assert len(times) == 31
    assert list(poses) == [b.name for b in run.model.bodies]
    for i, E in enumerate(poses.values()):
        np.testing.assert_allclose(E, run.poses[k, i], atol=1e-6)
    assert document["nodes"][0]["rotation"] == pytest.approx([-np.sqrt(0.5), 0, 0, np.sqrt(0.5)])


def test_trimesh_reads_the_same_places(tmp_path: Path) -> None:
    """An independent reader: corners of all bodies at the start, with y up."""
    import trimesh

    run = run_of("pendulum", 0.02)
    scene = trimesh.load(run.save(tmp_path / "run.glb"))
    found = np.sort(np.concatenate([g.vertices for g in scene.dump()]), axis=0)
    parts = [s.vertices @ run.poses[0, s.body, :3, :3].T + run.poses[0, s.body, :3, 3] for s in surfaces(run.model)]
    world = np.concatenate(parts)
    expected = np.stack([world[:, 0], world[:, 2], -world[:, 1]], axis=1)
    np.testing.assert_allclose(found.min(axis=0), expected.min(axis=0), atol=1e-6)
    np.testing.assert_allclose(found.max(axis=0), expected.max(axis=0), atol=1e-6)


def test_quaternions_do_not_jump() -> None:
    turns = np.array([lw.SE3.rot_z(a).R for a in np.linspace(0.0, 20.0, 200)], float)
    poses = np.tile(np.eye(4), (200, 1, 1, 1))
    poses[:, 0, :3, :3] = turns
    _, quat = poses_of(poses)
    assert np.abs(np.diff(quat[:, 0], axis=0)).max() < 0.06


@pytest.mark.parametrize("shape", SHAPES, ids=lambda s: type(s).__name__)
def test_triangles_of_shapes_are_closed_face_outward_and_have_their_volume(shape: lw.Shape) -> None:
    import trimesh

    vertices, faces = triangles(shape)
    mesh = trimesh.Trimesh(vertices, faces, process=True)
    assert mesh.is_watertight
    volume = {
        lw.Sphere: 4 / 3 * np.pi * 0.3**3,
        lw.Box: 0.048,
        lw.Capsule: np.pi * 0.01 * 0.5 + 4 / 3 * np.pi * 0.001,
        lw.Cylinder: np.pi * 0.04 * 0.3,
        lw.Ellipsoid: 4 / 3 * np.pi * 0.006,
        lw.Torus: 2 * np.pi**2 * 0.5 * 0.01,
        lw.Convex: 1 / 6,
    }[type(shape)]
    assert mesh.volume == pytest.approx(volume, rel=0.06)
    assert mesh.volume > 0


def test_every_face_names_a_corner_of_its_own_mesh(tmp_path: Path) -> None:
    document, binary = read_glb(run_of("ball", 0.01).save(tmp_path / "run.glb"))
    for mesh in document["meshes"]:
        for part in mesh["primitives"]:
            corners = accessor(document, binary, part["attributes"]["POSITION"])
            assert accessor(document, binary, part["indices"]).max() < len(corners)
