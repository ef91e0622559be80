"""Assemblies as scenes: parts of every kind where their points are."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

import linkwork as lw
from linkwork.scenes.baraff import star
from linkwork.view import write_assembly
from linkwork.view.assemblies import assembly_page, describe_assembly, part_frames
from linkwork.view.packed import unzipped


def mixed() -> lw.Assembly:
    made = lw.Assembly(gravity=(0, 0, -9.81))
    inertia = lw.Inertia.cuboid(2.0, (1.0, 0.2, 0.1))
    made.add("mass", lw.parts.Particle(1.0), [0.0, 0.0, 1.0])
    for k, kind in enumerate((lw.parts.Body3D, lw.parts.AffineBody)):
        part = kind(inertia)
        made.add(kind.__name__, part, part.coordinates(lw.SE3(p=(1.0 + k, 0, 0)) @ lw.SE3.rot_z(0.3)))
    scaled = lw.parts.ScaledBody(inertia)
    made.add("scaled", scaled, scaled.coordinates(lw.SE3(p=(0, 2, 0)), 1.5))
    made.attach(lw.interactions.Spring("mass", "Body3D", 10.0, 1.0, at_b=(0.5, 0, 0)))
    return made


def test_frames_carry_points_to_where_the_assembly_has_them() -> None:
    made = mixed()
    state = made.start
    frames = part_frames(made, state.q[None])[0]
    local = np.array([0.3, -0.1, 0.2])
    for i, name in enumerate(made.names):
        at = np.zeros(0) if name == "mass" else local
        drawn = frames[i] @ [*(at if len(at) else np.zeros(3)), 1.0]
        np.testing.assert_allclose(drawn, made.point(state, name, at), atol=1e-12)


def test_planar_assemblies_stand_upright() -> None:
    made = lw.Assembly(gravity=(0, -9.81))
    for k in range(3):
        made.add(f"rod{k}", lw.parts.Body2D(1.0, 0.1), [0.5 * k, 1.0, 0.4 * k])
    state = made.start
    frames = part_frames(made, state.q[None])[0]
    for i, name in enumerate(made.names):
        x, y = made.point(state, name, (0.2, 0.1))
        np.testing.assert_allclose(frames[i] @ [0.2, 0.0, 0.1, 1.0], [x, 0.0, y], atol=1e-12)
        assert np.linalg.det(frames[i][:, :3]) == pytest.approx(1.0)


def test_the_page_holds_all_parts_and_springs(tmp_path: Path) -> None:
    made = mixed()
    run = made.simulate(0.1, 0.01)
    held = re.search(r'id="scene" type="text/plain">(.*?)<', assembly_page(made, run))
    assert held
    scene = json.loads(unzipped(held[1]))
    assert [body["name"] for body in scene["bodies"]] == list(made.names)
    assert {shape["body"] for shape in scene["shapes"]} == set(range(4))
    assert scene["paths"] == [{"kind": "spring", "name": "spring", "points": [[0, [0, 0, 0]], [1, [0.5, 0, 0]]]}]
    assert write_assembly(made, run, tmp_path / "parts.html").read_text().startswith("<!doctype html>")
    assert describe_assembly(star(4))["shapes"][0]["kind"] == "capsule"
