"""What a user gets wrong: one line with the file, the line and a remedy, exit code 2, no traceback."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from command import called

LINK = '<link name="a"><inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>'
HINGE = '<joint name="j" type="revolute"><parent link="base"/><child link="a"/><axis xyz="0 1 0"/></joint>'


def robot(*parts: str) -> str:
    return "\n".join(['<robot name="r">', '<link name="base"/>', *parts, "</robot>"])


def hinge(inside: str, kind: str = "revolute") -> str:
    return f'<joint name="j" type="{kind}"><parent link="base"/><child link="a"/>{inside}</joint>'


def inertial(mass: str, moments: str = "1 1 1", name: str = "a") -> str:
    x, y, z = moments.split()
    entries = f'ixx="{x}" ixy="0" ixz="0" iyy="{y}" iyz="0" izz="{z}"'
    return f'<link name="{name}"><inertial><mass value="{mass}"/><inertia {entries}/></inertial></link>'


SCENE = '{"schema": "redmax-scene/1", "name": "s", "gravity": [0, 0, -9.81], "bodies": [], "joints": [], "integrators": %s}'
# Name of the file, its text, words that the message must have; "line K" where the line is known.
FILES = [
    ("empty.urdf", "", ["empty.urdf", "line 1", "not XML"]),
    ("text.urdf", "hello", ["text.urdf", "line 1", "not XML"]),
    ("open.urdf", '<robot name="r">\n<link name="base">\n</robot>', ["open.urdf", "line 3", "not XML"]),
    ("other.urdf", "<mujoco/>", ["other.urdf", "line 1", "<robot>"]),
    ("doctype.urdf", '<!DOCTYPE x>\n<robot name="r"/>', ["doctype.urdf", "line 1", "remove"]),
    ("xacro.urdf", robot("<xacro:include/>"), ["xacro.urdf", "line 3", "xacro xacro.urdf"]),
    ("nothing.urdf", '<robot name="r"></robot>', ["nothing.urdf", "no links"]),
    ("still.urdf", robot(), ["still.urdf", "nothing in this robot moves", "floating"]),
    ("unnamed.urdf", robot("<link/>"), ["unnamed.urdf", "line 3", "'name'"]),
    ("twice.urdf", robot('<link name="base"/>'), ["twice.urdf", "line 3", "two links 'base'", "rename"]),
    ("type.urdf", robot(LINK, hinge("", "hinge")), ["type.urdf", "line 4", "'hinge'", "revolute"]),
    ("axis.urdf", robot(LINK, hinge('<axis xyz="0 0 0"/>')), ["axis.urdf", "line 4", "axis is zero", "xyz"]),
    ("axis2.urdf", robot(LINK, hinge('<axis xyz="0 1"/>')), ["axis2.urdf", "line 4", "3 numbers"]),
    ("parent.urdf", robot(LINK, HINGE.replace("base", "trunk")), ["parent.urdf", "line 4", "'trunk'", "does not exist"]),
    ("two_roots.urdf", robot(LINK), ["two_roots.urdf", "'base', 'a'", "connect"]),
    ("two_parents.urdf", robot(LINK, HINGE, HINGE.replace('"j"', '"k"')), ["two_parents.urdf", "line 5", "two joints", "Loop"]),
    ("massless.urdf", robot('<link name="a"/>', HINGE), ["massless.urdf", "line 4", "no mass", "repair"]),
    ("negative.urdf", robot(inertial("-1"), HINGE), ["negative.urdf", "negative mass", "repair"]),
    ("moments.urdf", robot(inertial("1", "1 1 3"), HINGE), ["moments.urdf", "line 3", "inertia", "repair"]),
    ("word.urdf", robot(inertial("heavy"), HINGE), ["word.urdf", "line 3", "'heavy'", "number"]),
    ("nan.urdf", robot(inertial("nan"), HINGE), ["nan.urdf", "line 3", "'nan'", "finite"]),
    (
        "limits.urdf",
        robot(LINK, hinge('<limit lower="1" upper="-1" effort="1" velocity="1"/>')),
        ["limits.urdf", "line 4", "lower limit", "above", "exchange"],
    ),
    ("mimic.urdf", robot(LINK, hinge('<mimic joint="k"/>')), ["mimic.urdf", "line 4", "'k'", "independent"]),
    ("circle.urdf", robot(LINK, hinge('<mimic joint="j"/>')), ["circle.urdf", "line 4", "itself", "independent"]),
    ("broken.xml", "<mujoco>\n<worldbody>\n<body>\n</worldbody>\n</mujoco>", ["broken.xml", "line"]),
    ("element.xml", "<mujoco>\n<worldbody>\n<bodie/>\n</worldbody>\n</mujoco>", ["element.xml", "line 3", "bodie"]),
    ("still.xml", "<mujoco/>", ["still.xml", "nothing in this model moves", "joint"]),
    ("comma.json", '{"schema": "redmax-scene/1",\n "name": }', ["comma.json", "line 2", "not JSON"]),
    ("other.json", '{"a": 1}', ["other.json", "redmax-scene/1"]),
    ("list.json", "[]", ["list.json", "redmax-scene/1"]),
    ("gravity.json", SCENE.replace("-9.81", '"down"') % "{}", ["gravity.json", "integrator"]),
    ("no_run.json", SCENE % "{}", ["no_run.json", "integrator", "add one"]),
    ("model.stl", "solid", ["model.stl", ".urdf"]),
]


@pytest.mark.parametrize(("name", "text", "words"), FILES, ids=[f[0] for f in FILES])
def test_a_bad_file(
    name: str, text: str, words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).write_text(text)
    if name.endswith(".xml"):
        pytest.importorskip("mujoco")
    _one_line(("run", name, "--headless"), words, capsys)
    assert not (tmp_path / "runs").exists()


# What is typed, and words that the message must have.
COMMANDS = [
    ("runn pendulum", ["runn", '"run"', "--help"]),
    ("run", ["SCENE", "--help"]),
    ("run pendulun", ["'pendulun'", "did you mean 'pendulum'"]),
    ("run nowhere.urdf", ["nowhere.urdf", "no file"]),
    ("run pendulum --duration long", ["--duration", '"long"', "--help"]),
    ("run pendulum --duration -1", ["duration", "positive"]),
    ("run pendulum --duration nan", ["duration", "finite"]),
    ("run pendulum --dt 0", ["dt", "positive"]),
    ("run pendulum --duration 1 --dt 0.3", ["whole number of steps"]),
    ("run pendulum --method newton", ["--method", "newton", "reduced"]),
    ("run pendulum --stepper euler", ["'euler'", "symplectic_euler"]),
    ("run pendulum --stepper backward_euler", ["'backward_euler'", "maximal-implicit"]),
    ("run pendulum --links", ["--links needs a value"]),
    ("run pendulum --links many", ["--links must be a whole number", "'many'"]),
    ("run pendulum --links 0", ["links", "0"]),
    ("run pendulum --link 3", ["'--link'", "did you mean --links"]),
    ("run pendulum 3", ["'3'", "--name value"]),
    ("run ball --links 3", ["'--links'", "it has none"]),
    ("run drag --stiff maybe", ["'maybe'"]),
    ("run chain --joint glue", ["joint", "'glue'"]),
    ("run hand --method reduced --keyframe", ["--keyframe"]),
    ("live pendulum --record a.wav", [".wav", ".html"]),
    ("live pendulum --record nowhere/a.html", ["nowhere", "create it"]),
    ("live pendulum --port 99999999", ["99999999", "cannot listen"]),
    ("live hyper_chain", ["hyper_chain", "use run"]),
    ("view nothing.xml", ["nothing.xml", "no file"]),
    ("check nothing.urdf", ["nothing.urdf", "no file"]),
    ("check setup.cfg", ["setup.cfg"]),
    ("export pendulum --to wav", ["'wav'", "npz"]),
    ("export pendulum --duration 0.001 --to a.wav", [".wav", ".glb"]),
    ("export pendulum --duration 0.001 --to nowhere/a.csv", ["nowhere", "create it"]),
    ("plot pendulum --duration 0.001 --show colours", ["'colours'", "energy"]),
    ("plot pendulum --duration 0.001 --joint knee", ["'knee'", "link1"]),
    ("plot pendulum --duration 0.001 --out a.txt", [".txt", ".png"]),
    ("compare pendulum --methods exact", ["'exact'", "reduced"]),
    ("scenes windmil", ["'windmil'", "windmill"]),
    ("demo windmil", ["'windmil'", "windmill"]),
    ("bench speed", ["'speed'", "dynamics"]),
]


@pytest.mark.parametrize(("typed", "words"), COMMANDS, ids=[c[0] for c in COMMANDS])
def test_a_bad_command(
    typed: str, words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    _one_line((*typed.split(), *(["--headless"] if typed.startswith(("view", "demo", "live")) else [])), words, capsys)


def _one_line(arguments: tuple[str, ...], words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert called(*arguments) == 2
    said = capsys.readouterr()
    assert said.err.count("\n") == 1
    assert said.err.startswith("linkwork: ")
    assert "Traceback" not in said.err + said.out
    for word in words:
        assert word in said.err
    assert not re.search(r"\b0x[0-9a-f]+|<linkwork\.", said.err), "no objects as Python prints them"
    assert "wrote" not in said.out
