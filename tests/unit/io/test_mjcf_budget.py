"""MJCF files that would take minutes, much memory, or files that are not theirs, are refused before they are compiled."""

from __future__ import annotations

import os
import struct
import time
from pathlib import Path

import pytest

import linkwork as lw
from linkwork.io.mjcf import child
from linkwork.io.mjcf.scan import scan

BODY = '<body name="arm"><joint type="slide" name="pin"/><geom size=".1"/></body>'
TRIANGLES = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 2 3\nf 1 3 4\nf 1 4 2\nf 2 4 3\n"


def scene(inside: str = "", body: str = BODY, outside: str = "") -> str:
    return f"<mujoco>{outside}<worldbody>{body}{inside}</worldbody></mujoco>"


def nested(tag: str, text: str, times: int) -> str:
    return f"<{tag}>" * times + text + f"</{tag}>" * times


def png(width: int, height: int) -> bytes:
    return b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sII", 13, b"IHDR", width, height) + b"\x08\x02\x00\x00\x00"


def files(folder: Path, **texts: str | bytes) -> Path:
    """A folder with these files, by name with "__" for "/" and an underscore before the suffix; the first one's path."""
    paths = []
    for name, text in texts.items():
        path = folder / ".".join(name.replace("__", "/").rsplit("_", 1))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        paths.append(path)
    return paths[0]


CUBE = '<flexcomp name="f" type="grid" count="1000 1000 1000" spacing=".1 .1 .1" dim="3"/>'
FIELD = '<asset><hfield name="h" nrow="100000" ncol="100000" size="1 1 1 1"/></asset>'
ROPE = '<composite prefix="r" type="cable" curve="s" count="100000000 1 1" size="1"><geom type="capsule" size=".01"/></composite>'
LARGE = {
    "replicate": (scene(f'<replicate count="100000000">{BODY}</replicate>'), "count='100000000'"),
    "flexcomp": (scene(CUBE), "count='1000 1000 1000'"),
    "hfield": (scene(outside=FIELD), "nrow='100000' ncol='100000'"),
    # variants of these
    "replicates in each other": (
        scene(f'<replicate count="1000"><replicate count="1000"><frame><replicate count="1000">{BODY}</replicate></frame>'
              "</replicate></replicate>"),
        "in <replicate count='1000'>",
    ),
    "character references": (scene(f'<replicate count="1&#48;0000000">{BODY}</replicate>'), "count='100000000'"),
    "frames inside": (scene(f'<replicate count="300000">{nested("frame", BODY, 100)}</replicate>'), "count='300000'"),
    "composite": (scene(ROPE), "composite"),
    "texture": (
        scene(outside='<asset><texture name="t" type="2d" builtin="flat" width="60000" height="60000"/></asset>'),
        "width='60000'",
    ),
    "memory": (scene(outside='<size memory="1000G"/>'), "memory='1000G'"),
    "room for users": (scene(outside='<size nuser_body="2000000000"/>'), "nuser_body='2000000000'"),
    "keyframes": (scene(outside='<size nkey="2000000000"/>'), "nkey"),
    "sensor": (scene(outside='<sensor><user dim="2000000000"/></sensor>'), "dim='2000000000'"),
    "samples": (
        scene(outside="<sensor>" + '<clock nsample="16000000" delay="1" interval="1"/>' * 9 + "</sensor>"),
        "nsample='16000000'",
    ),
    "soft body in a replicate": (
        scene(f'<replicate count="10000">{CUBE.replace("1000", "50")}</replicate>'),
        "in <replicate count='10000'>",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", LARGE)
def test_what_is_too_large_is_refused_at_once_and_named(tmp_path: Path, name: str) -> None:
    text, named = LARGE[name]
    start = time.perf_counter()
    with pytest.raises(lw.InputError, match="budget=") as found:
        lw.load(files(tmp_path, model_xml=text))
    assert named in str(found.value)
    assert time.perf_counter() - start < 2.0


REFERENCES = '<include file="part.xml"/>'
PART = f'<mujocoinclude><replicate count="100000000">{BODY}</replicate></mujocoinclude>'
DOUBLE = '<mujoco><asset><model name="m" file="{}.xml"/></asset><worldbody>{}</worldbody></mujoco>'
ATTACHED = "".join(f'<attach model="m" body="arm" prefix="{k}"/>' for k in range(30))


def test_included_files_are_counted_as_the_first_one(tmp_path: Path) -> None:
    path = files(tmp_path, model_xml=scene(REFERENCES), part_xml=PART)
    with pytest.raises(lw.InputError, match=r"count='100000000'> \(part.xml, line 1\)"):
        lw.load(path)
    path = files(tmp_path / "b", model_xml=scene('<INCLUDE file="sub/x.xml"/>'.lower()), sub__x_xml=f"<mujocoinclude>{REFERENCES}"
                 "</mujocoinclude>", sub__part_xml=PART)  # fmt: skip
    with pytest.raises(lw.InputError, match=r"part.xml, line 1"):
        lw.load(path)
    sensors = '<sensor><framepos objtype="body" objname="arm"/></sensor>'
    path = files(tmp_path / "c", model_xml=scene(f'<replicate count="1500">{BODY}</replicate>', "", sensors))
    assert scan(path).elements > 1500 * 4  # sensors are replicated with what they look at


def test_included_files_with_entities_are_refused(tmp_path: Path) -> None:
    bomb = f'<!DOCTYPE x [<!ENTITY a "aaaa">]>{PART}'
    with pytest.raises(lw.ModelError, match=r"part.xml, line 1: document types"):
        lw.load(files(tmp_path, model_xml=scene(REFERENCES), part_xml=bomb))
    with pytest.raises(lw.ModelError, match=r"part.xml, line 1: <geom>: size"):
        lw.load(files(tmp_path, model_xml=scene(REFERENCES), part_xml=f"<mujoco>{BODY.replace('.1', 'nan')}</mujoco>"))


def test_models_that_are_attached_multiply(tmp_path: Path) -> None:
    levels = {
        f"m{k}_xml": DOUBLE.format(f"m{k + 1}", f'<body name="arm"><joint/><geom size="1"/>{ATTACHED}</body>') for k in range(8)
    }
    with pytest.raises(lw.InputError, match="attach model='m'"):
        lw.load(files(tmp_path, **levels, m8_xml=scene()))


@pytest.mark.parametrize("text", [scene(REFERENCES), DOUBLE.format("part", BODY)], ids=["include", "model"])
def test_files_that_include_themselves_are_refused(tmp_path: Path, text: str) -> None:
    path = files(tmp_path, model_xml=text, part_xml=text.replace("part", "other"), other_xml=text)
    with pytest.raises(lw.ModelError, match="includes itself"):
        lw.load(path)
    (tmp_path / "loop").symlink_to(tmp_path)
    path.write_text(text.replace("part", "loop/model"))
    with pytest.raises(lw.ModelError, match="includes itself"):
        lw.load(path)


@pytest.mark.parametrize(
    "text",
    [
        scene('<geom name="<!--" size="1"/><replicate count="100000000">' + BODY + '</replicate><geom name="-->" size="1"/>'),
        scene(f'<replicate count="100000000">{BODY}</replicate>') + "<again/>",
        scene(f'<replicate count="100000000">{BODY}</replicate>', outside='<text name="a" data="a & b"/>'),
    ],
)
def test_what_only_mujoco_takes_for_xml_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(lw.ModelError, match="not XML"):
        lw.load(files(tmp_path, model_xml=text))


def test_comments_of_mjcf_files_are_taken(tmp_path: Path) -> None:
    path = files(tmp_path, model_xml=scene("<!-- ---- <!-- \n -- -->"))
    assert lw.load(path).nv == 1


ASSETS = {
    "include": scene('<include file="{}"/>'),
    "mesh": scene(outside='<asset><mesh file="{}"/></asset>'),
    "hfield": scene(outside='<asset><hfield name="h" size="1 1 1 1" file="{}"/></asset>'),
    "texture": scene(outside='<asset><texture name="t" type="2d" file="{}"/></asset>'),
    "cube": scene(outside='<asset><texture name="t" type="cube" fileback="{}"/></asset>'),
    "skin": scene(outside='<asset><skin name="s" file="{}"/></asset>'),
    "model": scene(outside='<asset><model name="m" file="{}"/></asset>'),
    "flexcomp": scene('<flexcomp name="f" type="mesh" dim="2" file="{}"/>'),
}


@pytest.mark.parametrize("kind", ASSETS)
@pytest.mark.parametrize("name", ["../out.obj", "in/../../out.obj", "..\\out.obj", "/{}/out.obj", "link.obj", "link/out.obj"])
def test_files_outside_are_refused(tmp_path: Path, kind: str, name: str) -> None:
    text = ASSETS[kind].format(name.format(tmp_path))
    path = files(tmp_path / "robot", model_xml=text, in__x_obj="")
    files(tmp_path, out_obj=TRIANGLES)
    path.with_name("link.obj").symlink_to(tmp_path / "out.obj")
    path.with_name("link").symlink_to(tmp_path)
    with pytest.raises(lw.InputError, match=r"model.xml, line 1: <\w+ file\w*=.* is outside .*packages="):
        lw.load(path)


@pytest.mark.parametrize(
    "compiler",
    ['meshdir="{}"', 'assetdir=".."', 'meshdir="in" assetdir="../"', 'meshdir="link"', 'strippath="true" meshdir=".."'],
)
def test_folders_of_the_compiler_lead_nowhere_else(tmp_path: Path, compiler: str) -> None:
    assets = f'<compiler {compiler.format(tmp_path)}/><asset><mesh file="out.obj"/></asset>'
    path = files(tmp_path / "robot", model_xml=scene(outside=assets), in__x_obj="")
    path.with_name("link").symlink_to(tmp_path)
    files(tmp_path, out_obj=TRIANGLES)
    with pytest.raises(lw.InputError, match="is outside"):
        lw.load(path)


def test_other_ways_to_files_are_refused(tmp_path: Path) -> None:
    path = files(tmp_path, model_xml=scene(outside='<asset dir="/etc/"><include file="passwd"/></asset>'))
    with pytest.raises(lw.ModelError, match="'dir'"):
        lw.load(path)
    path.write_text(scene('<include file="LoadModelFromString:&lt;mujoco>"/>'))
    with pytest.raises(lw.InputError, match="outside"):
        lw.load(path)
    path.write_text(ASSETS["mesh"].format("pipe.stl"))
    os.mkfifo(tmp_path / "pipe.stl")
    with pytest.raises(lw.InputError, match="no ordinary file"):
        lw.load(path)
    path.write_text('<robot name="r"/>')
    with pytest.raises(lw.ModelError, match="not MJCF"):
        lw.load(path)


def test_files_of_given_folders_are_read(tmp_path: Path) -> None:
    text = scene(
        '<geom type="mesh" mesh="m"/>', outside='<compiler meshdir="../shared"/><asset><mesh name="m" file="a.obj"/></asset>'
    )
    path = files(tmp_path / "robot", model_xml=scene('<include file="../shared/part.xml"/>', ""))
    files(tmp_path / "shared", part_xml=f"<mujoco>{BODY}</mujoco>", a_obj=TRIANGLES)
    assert lw.load(path, packages=[tmp_path / "shared"]).nv == 1
    path.write_text(text)
    assert lw.load(path, packages=tmp_path).nv == 1
    (tmp_path / "package.xml").write_text("<package/>")
    assert lw.load(path).nv == 1


def test_pictures_that_are_larger_inside_are_counted(tmp_path: Path) -> None:
    for kind in ("hfield", "texture"):
        path = files(tmp_path, model_xml=ASSETS[kind].format("p.png"), p_png=png(200000, 200000))
        with pytest.raises(lw.InputError, match=r"file='p.png'.* GiB"):
            lw.load(path)


@pytest.mark.parametrize(
    ("text", "long"),
    [
        (scene(outside='<option iterations="2000000000" tolerance="0"/>'), "iterations='2000000000'"),
        (scene(outside='<compiler><lengthrange inttotal="1e12"/></compiler>'), "inttotal='1e12'"),
        (scene(outside='<option sdf_initpoints="999999999"/>'), "sdf_initpoints"),
        (scene(outside='<asset><hfield name="h" size="1 1 1 1" file="h.bin"/></asset>'), "h.bin"),
    ],
)
def test_what_may_take_long_is_read_apart(tmp_path: Path, text: str, long: str) -> None:
    path = files(tmp_path, model_xml=text, h_bin=struct.pack("<ii", 65536, 65536))
    sizes = scan(path)
    assert long in sizes.long
    assert not sizes.is_ordinary


def test_a_large_file_is_read_in_its_budget(tmp_path: Path) -> None:
    """The same model as if it was read here; what is wrong in it is said in the same words."""
    text = scene(
        '<replicate count="30" offset="1 0 0"><body pos="1 0 0"><joint type="slide"/><geom size=".1"/></body></replicate>'
    )
    path = files(tmp_path, model_xml=text.replace("<world", '<option iterations="20000"/><world'))
    assert not scan(path).is_ordinary
    apart, here = lw.load(path), lw.load(files(tmp_path, here_xml=text))
    assert apart.notes == here.notes
    assert [b.name for b in apart.bodies] == [b.name for b in here.bodies]
    state = lw.State(here.neutral(), 0.1 + 0 * here.neutral())
    assert lw.simulate(apart, state, 0.01, 1e-3).final.q.tolist() == lw.simulate(here, state, 0.01, 1e-3).final.q.tolist()
    path.write_text(path.read_text().replace('size=".1"', 'size="0"'))
    with pytest.raises(lw.InputError, match=r"load: model.xml: Error: size 0 must be positive"):
        lw.load(path)


def test_time_and_memory_of_a_budget_hold(tmp_path: Path) -> None:
    path = files(tmp_path, model_xml=scene('<replicate count="200000"><body><joint/><geom size="1"/></body></replicate>'))
    start = time.perf_counter()
    with pytest.raises(lw.InputError, match=r"count='200000'.* takes more than 3 s; a file may take 3 s and 4 GiB"):
        lw.load(path, budget=(3, 4))
    assert time.perf_counter() - start < 10.0
    with pytest.raises(lw.InputError, match=r"needs at least .* GiB"):
        lw.load(path, budget=(3, 0.1))
    path.write_text(scene(outside='<size memory="1G"/><option iterations="20000"/>'))
    assert lw.load(path).nv == 1
    sizes = scan(path)
    options = child.Options(budget=(60.0, 0.2))
    with pytest.raises(lw.InputError, match="budget="):
        child.read_apart(path, sizes, options)


@pytest.mark.parametrize(
    "budget", [None, 3, (1,), (1, 2, 3), "60", (0, 1), (1, -1), (float("nan"), 1), (1, float("inf")), ("1", 1)]
)
def test_budgets_that_are_none(tmp_path: Path, budget: object) -> None:
    with pytest.raises(lw.InputError, match="budget"):
        lw.load(files(tmp_path, model_xml=scene()), budget=budget)  # type: ignore[arg-type]


def test_ordinary_files_stay_in_this_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(child.subprocess, "run", lambda *_, **__: pytest.fail("another process"))
    text = scene('<replicate count="50" offset="1 0 0"><body><joint/><geom size=".1"/></body></replicate>')
    assert lw.load(files(tmp_path, model_xml=text)).nv == 51
