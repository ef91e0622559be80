"""Meshes in files: everything that can be drawn is drawn, and a line says what is not."""

from __future__ import annotations

import base64
import json
import re
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import trimesh

import linkwork as lw
from linkwork.bench.models import ROBOTS, robots_folder
from linkwork.geometry import MeshFile
from linkwork.geometry.mesh_headers import is_sound
from linkwork.view.description import describe
from linkwork.view.html import content, still
from linkwork.view.packed import unzipped
from linkwork.view.simplify import simplified

SQUARE = "0 0 0 1 0 0 1 1 0 0 1 0"
TRIANGLES = (
    '<triangles count="2" material="paint"><input semantic="VERTEX" source="#v" offset="0"/><p>0 1 2 0 2 3</p></triangles>'
)
STRIPS = '<tristrips count="1" material="paint"><input semantic="VERTEX" source="#v" offset="0"/><p>0 1 3 2</p></tristrips>'
FANS = '<trifans count="1" material="paint"><input semantic="VERTEX" source="#v" offset="0"/><p>0 1 2 3</p></trifans>'
POLYGONS = '<polygons count="1" material="paint"><input semantic="VERTEX" source="#v" offset="0"/><p>0 1 2 3</p></polygons>'
LINES = '<lines count="1"><input semantic="VERTEX" source="#v" offset="0"/><p>0 1</p></lines>'
LINE_STRIPS = '<linestrips count="1"><input semantic="VERTEX" source="#v" offset="0"/><p>0 1 2</p></linestrips>'
PLAIN = "<diffuse><color>0.2 0.4 0.6 1</color></diffuse>"
TEXTURED = '<diffuse><texture texture="cloth-sampler" texcoord="UV"/></diffuse>'
BOUND = '<bind_material><technique_common><instance_material symbol="paint" target="#paint"/></technique_common></bind_material>'


def collada(faces: str = TRIANGLES, diffuse: str = PLAIN, bound: str = BOUND, geometry: str = "#square") -> str:
    """A COLLADA file with a unit square; TEXTURED refers to a sampler that the file does not have."""
    return f"""<?xml version="1.0"?><COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
<asset><unit meter="1"/><up_axis>Z_UP</up_axis></asset>
<library_effects><effect id="paint-effect"><profile_COMMON><technique sid="common"><lambert>{diffuse}</lambert></technique>
</profile_COMMON></effect></library_effects>
<library_materials><material id="paint"><instance_effect url="#paint-effect"/></material></library_materials>
<library_geometries><geometry id="square"><mesh><source id="p"><float_array id="pa" count="12">{SQUARE}</float_array>
<technique_common><accessor source="#pa" count="4" stride="3"><param name="X" type="float"/><param name="Y" type="float"/>
<param name="Z" type="float"/></accessor></technique_common></source>
<vertices id="v"><input semantic="POSITION" source="#p"/></vertices>{faces}</mesh></geometry></library_geometries>
<library_visual_scenes><visual_scene id="scene"><node id="n"><translate>0 0 2</translate>
<instance_geometry url="{geometry}">{bound}</instance_geometry></node></visual_scene></library_visual_scenes>
<scene><instance_visual_scene url="#scene"/></scene></COLLADA>"""


def arm(*visuals: MeshFile) -> lw.Model:
    b = lw.ModelBuilder()
    return b.body("arm", joint=lw.Revolute((0, 1, 0)), inertia=lw.Inertia.sphere(1.0, 0.1), visuals=visuals).build()


def area(file: MeshFile) -> float:
    corners = [s.vertices[s.faces] for s in file.surfaces]
    return sum(0.5 * np.linalg.norm(np.cross(c[:, 1] - c[:, 0], c[:, 2] - c[:, 0]), axis=1).sum() for c in corners)


@pytest.mark.parametrize("faces", [TRIANGLES, STRIPS, FANS, POLYGONS, TRIANGLES + LINES, LINE_STRIPS + TRIANGLES])
@pytest.mark.parametrize("diffuse", [PLAIN, TEXTURED, ""])
def test_every_face_of_collada_is_drawn_whatever_its_material_lacks(faces: str, diffuse: str, tmp_path: Path) -> None:
    path = tmp_path / "square.dae"
    path.write_text(collada(faces, diffuse))
    file = MeshFile(path)
    assert area(file) == pytest.approx(1.0)
    assert all(s.vertices[:, 2] == pytest.approx(2.0) for s in file.surfaces)
    if diffuse == PLAIN:
        assert [s.color for s in file.surfaces] == [(0.2, 0.4, 0.6)]
    model = arm(file)
    lost = [note for note in model.notes if note.startswith("not drawn: ")]
    assert len(lost) == ("<line" in faces)
    assert all("lines in square.dae" in note for note in lost)
    assert [note for note in describe(model)["notes"] if "not drawn" in note] == lost


@pytest.mark.parametrize("bound", [BOUND.replace("#paint", "#none"), ""])
def test_a_material_that_is_not_there_takes_no_triangles(bound: str, tmp_path: Path) -> None:
    (tmp_path / "square.dae").write_text(collada(bound=bound))
    file = MeshFile(tmp_path / "square.dae")
    assert area(file) == pytest.approx(1.0)
    assert arm(file).notes == ()


@pytest.mark.parametrize("semantic", ["NORMAL", "TEXCOORD", "COLOR"])
@pytest.mark.parametrize("offset", [0, 1])
def test_normals_and_textures_without_source_take_no_triangles(semantic: str, offset: int, tmp_path: Path) -> None:
    given = TRIANGLES.replace('offset="0"/>', f'offset="0"/><input semantic="{semantic}" source="#none" offset="{offset}"/>')
    corners = "0 7 1 7 2 7 0 7 2 7 3 7" if offset else "0 1 2 0 2 3"
    (tmp_path / "square.dae").write_text(collada(given.replace("0 1 2 0 2 3", corners)))
    file = MeshFile(tmp_path / "square.dae")
    assert area(file) == pytest.approx(1.0)
    assert arm(file).notes == ()


def test_faces_without_points_do_not_hide_others(tmp_path: Path) -> None:
    (tmp_path / "square.dae").write_text(collada(TRIANGLES + TRIANGLES.replace("#v", "#none")))
    file = MeshFile(tmp_path / "square.dae")
    assert area(file) == pytest.approx(1.0)
    assert arm(file).notes == ("not drawn: square.dae: 1 sets of faces without points in square.dae",)


def gltf(mode: int) -> bytes:
    points, corners = np.array(SQUARE.split(), np.float32).tobytes(), np.array([0, 1, 2, 3], np.uint16).tobytes()
    tree = {
        "asset": {"version": "2.0"},
        "scene": 0,
        "scenes": [{"nodes": [0]}],
        "nodes": [{"mesh": 0}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "indices": 1, "mode": mode}]}],
        "accessors": [
            {"bufferView": 0, "componentType": 5126, "count": 4, "type": "VEC3"},
            {"bufferView": 1, "componentType": 5123, "count": 4, "type": "SCALAR"},
        ],
        "bufferViews": [
            {"buffer": 0, "byteOffset": 0, "byteLength": len(points)},
            {"buffer": 0, "byteOffset": len(points), "byteLength": len(corners)},
        ],
        "buffers": [{"byteLength": len(points) + len(corners)}],
    }
    text = json.dumps(tree).encode()
    text += b" " * (-len(text) % 4)
    body = struct.pack("<I4s", len(text), b"JSON") + text
    body += struct.pack("<I4s", len(points + corners), b"BIN\0") + points + corners
    return struct.pack("<4sII", b"glTF", 2, 12 + len(body)) + body


FLAT = "solid x\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 2 0 0\nendloop\nendfacet\nendsolid x\n"
LOST: dict[str, Callable[[], bytes]] = {
    "empty.stl": lambda: b"",
    "header only.stl": lambda: bytes(84),
    "a line.stl": FLAT.encode,
    "cut.stl": lambda: trimesh.creation.box().export(file_type="stl")[:300],  # pyright: ignore
    "lines.obj": lambda: b"v 0 0 0\nv 1 0 0\nl 1 2\n",
    "points.ply": lambda: trimesh.PointCloud(np.eye(3)).export(file_type="ply"),  # pyright: ignore
    "other vertices.obj": lambda: b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 9\n",
    "not finite.obj": lambda: b"v 0 0 0\nv nan 0 0\nv 0 1 0\nf 1 2 3\nf 1 3 2\n",
    "no xml.dae": lambda: collada().encode()[:900],
    "lines.dae": lambda: collada(LINES).encode(),
    "no geometry.dae": lambda: collada(geometry="#circle").encode(),
    "points.glb": lambda: gltf(0),
    "fan.glb": lambda: gltf(6),
    "cut.glb": lambda: gltf(5)[:200],
}


@pytest.mark.parametrize("name", LOST)
def test_what_cannot_be_drawn_is_noted_with_file_and_reason(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(LOST[name]())
    model = arm(MeshFile(path))
    (note,) = model.notes
    assert note.startswith("not drawn: ")
    assert name in note
    assert content(still(model), "arm")["words"]["notes"].count(note) == 1


def test_live_pages_say_what_is_not_drawn(tmp_path: Path) -> None:
    (tmp_path / "lines.dae").write_text(collada(LINES))
    model = arm(MeshFile(tmp_path / "lines.dae"))
    saved = lw.save_live(model, lw.State([0.1], [0.0]), tmp_path / "arm.html").read_text()
    words = re.search('<script id="words" type="text/plain">([^<]*)</script>', saved)
    assert words is not None
    assert json.loads(unzipped(words[1]))["notes"].count(model.notes[0]) == 1


@pytest.mark.parametrize("materials", [[], [{"pbrMetallicRoughness": {"baseColorTexture": {"index": 3}}}]])
def test_a_material_that_gltf_lacks_takes_no_triangles(materials: list[Any], tmp_path: Path) -> None:
    head, _, body = gltf(4).partition(b"{")
    size = struct.unpack("<I", head[12:16])[0]
    tree = json.loads((b"{" + body)[:size])
    tree["meshes"][0]["primitives"][0] |= {"material": 0}
    tree["meshes"][0]["primitives"][0].pop("indices")
    tree["accessors"][0]["count"] = 3
    tree |= {"materials": materials}
    data = base64.b64encode((b"{" + body)[size + 8 :]).decode()
    tree["buffers"][0]["uri"] = f"data:application/octet-stream;base64,{data}"
    (tmp_path / "square.gltf").write_text(json.dumps(tree))
    assert area(MeshFile(tmp_path / "square.gltf")) == pytest.approx(0.5)
    assert arm(MeshFile(tmp_path / "square.gltf")).notes == ()


def test_strips_of_gltf_are_drawn(tmp_path: Path) -> None:
    (tmp_path / "strip.glb").write_bytes(gltf(5))
    assert len(arm(MeshFile(tmp_path / "strip.glb")).notes) == 0
    assert area(MeshFile(tmp_path / "strip.glb")) > 0.5


def test_a_link_whose_mesh_is_lost_is_drawn_by_its_shapes(tmp_path: Path) -> None:
    (tmp_path / "gone.stl").write_bytes(b"")
    inertial = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
    visual = '<visual><geometry><mesh filename="gone.stl"/></geometry></visual>'
    box = '<collision><geometry><box size="1 2 3"/></geometry></collision>'
    joint = '<joint name="j" type="continuous"><parent link="base"/><child link="arm"/></joint>'
    (tmp_path / "r.urdf").write_text(
        f'<robot name="r"><link name="base"/><link name="arm">{inertial}{visual}{box}</link>{joint}</robot>'
    )
    model = lw.load(tmp_path / "r.urdf")
    assert [note for note in model.notes if note.startswith("left out, a <visual>: ") and "gone.stl" in note and "line 1" in note]
    (shown,) = (note for note in describe(model)["notes"] if note.startswith("not drawn: "))
    assert "gone.stl" in shown
    assert [s["kind"] for s in describe(model)["shapes"]] == ["box"]


def test_a_wire_of_many_triangles_stays_when_meshes_are_simplified() -> None:
    """Thinner everywhere than a cell of the grid; and triangles that are all smaller than what is merged."""
    wire = trimesh.creation.cylinder(1e-4, 1.0, sections=20_000)
    ball = trimesh.creation.icosphere(5)
    found = simplified([(np.asarray(m.vertices, float), np.asarray(m.faces)) for m in (wire, ball)], 5000)
    assert all(len(faces) for _, faces in found)
    dust = np.array([[0, 0, 0], [1e-9, 0, 0], [0, 1e-9, 0], [1, 1, 1]], float)
    ((vertices, faces),) = simplified([(dust, np.array([[0, 1, 2]]))], 10)
    assert len(faces) == 1
    assert len(vertices) == 4


@pytest.mark.parametrize("name", ["anymal", "g1"])
def test_headers_of_robots_say_what_reading_finds(name: str) -> None:
    """Nothing of a robot is lost without a note; the whole package was compared so: 777 files, 762 known by their headers."""
    folder = robots_folder()
    if folder is None:
        pytest.skip("pip install linkwork[peers]")
    file = folder / ROBOTS[name][0] if name in ROBOTS else next(folder.rglob(f"{name}*.urdf"))
    model = lw.load(file, floating=True)
    files = {s.path: s for b in model.bodies for s in b.visuals if isinstance(s, MeshFile)}
    assert files
    for path, shape in files.items():
        assert shape.surfaces
        assert not is_sound(path) or not shape.missing
    assert not [note for note in model.notes if note.startswith("not drawn")]


def test_anymal_has_its_feet() -> None:
    folder = robots_folder()
    if folder is None:
        pytest.skip("pip install linkwork[peers]")
    model = lw.load(folder / "anymal_b_simple_description/robots/anymal.urdf", floating=True)
    feet = [s for b in model.bodies for s in b.visuals if isinstance(s, MeshFile) and s.path.name == "anymal_foot.dae"]
    assert [sum(len(part.faces) for part in foot.surfaces) for foot in feet] == [4604 - DEGENERATE] * 4


DEGENERATE = 0  # triangles of the foot without an area
