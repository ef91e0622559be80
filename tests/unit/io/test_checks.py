"""`linkwork check`: every finding names its line and a remedy; sound files have none."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command import called

import linkwork as lw
from linkwork.io.checks import check_file

GOOD = """<robot name="arm">
<link name="base"/>
<link name="upper">
 <inertial><origin xyz="0.2 0 0"/><mass value="2"/>
  <inertia ixx="0.002" ixy="0" ixz="0" iyy="0.03" iyz="0" izz="0.03"/></inertial>
 <collision><origin xyz="0.2 0 0"/><geometry><box size="0.4 0.1 0.1"/></geometry></collision>
</link>
<link name="lower">
 <inertial><origin xyz="0.2 0 0"/><mass value="1"/>
  <inertia ixx="0.001" ixy="0" ixz="0" iyy="0.015" iyz="0" izz="0.015"/></inertial>
</link>
<joint name="shoulder" type="revolute">
 <parent link="base"/><child link="upper"/><axis xyz="0 1 0"/>
 <limit lower="-2" upper="2" effort="50" velocity="3"/>
</joint>
<joint name="elbow" type="revolute">
 <parent link="upper"/><child link="lower"/><origin xyz="0.4 0 0"/><axis xyz="0 1 0"/>
 <limit lower="-2" upper="2" effort="50" velocity="3"/>
</joint>
</robot>
"""
SECOND = '<limit lower="-2" upper="2" effort="50" velocity="3"/>\n</joint>\n</robot>'
# What is changed into what, the level, the line, words of the finding and of its remedy.
CASES = [
    ('<mass value="1"/>', '<mass value="0"/>', "error", 9, "mass 0", "give it its mass"),
    ('<mass value="1"/>', '<mass value="-1"/>', "error", 9, "negative mass", "positive"),
    ('<mass value="1"/>', '<mass value="9000"/>', "doubt", 9, "9000 kg", "grams"),
    ('iyy="0.015" iyz="0" izz="0.015"', 'iyy="0.5" iyz="0" izz="0.015"', "error", 9, "sum of the others", "repair"),
    ('ixx="0.001" ixy="0"', 'ixx="0.001" ixy="0.1"', "error", 9, "not all positive", "repair"),
    ('ixx="0.002"', 'ixx="2"', "error", 4, "sum of the others", "repair"),
    (
        'ixx="0.002" ixy="0" ixz="0" iyy="0.03" iyz="0" izz="0.03"',
        'ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"',
        "doubt",
        4,
        "times those of a box",
        "units",
    ),
    (
        'ixx="0.002" ixy="0" ixz="0" iyy="0.03" iyz="0" izz="0.03"',
        'ixx="0" ixy="0" ixz="0" iyy="0" iyz="0" izz="0"',
        "doubt",
        4,
        "no moments of inertia",
        "shape",
    ),
    (
        '<origin xyz="0.4 0 0"/><axis xyz="0 1 0"/>',
        '<origin xyz="0.4 0 0"/><axis xyz="0 2 0"/>',
        "doubt",
        17,
        "length 2",
        "0 1 0",
    ),
    ('<origin xyz="0.4 0 0"/><axis xyz="0 1 0"/>', '<origin xyz="0.4 0 0"/>', "doubt", 16, "no <axis>", "write"),
    (
        '<origin xyz="0.4 0 0"/><axis xyz="0 1 0"/>',
        '<origin xyz="0.4 0 0"/><axis xyz="0 0 0"/>',
        "error",
        17,
        "axis is zero",
        "0 0 1",
    ),
    ('<origin xyz="0.4 0 0"/>', '<origin xyz="0.4 0 0" rpy="90 0 0"/>', "doubt", 17, "whole turn", "radians"),
    (SECOND, SECOND.replace('lower="-2" upper="2"', 'lower="2" upper="-2"'), "error", 18, "above the upper", "exchange"),
    (SECOND, SECOND.replace('lower="-2" upper="2"', 'lower="0" upper="0"'), "doubt", 18, "cannot move", "fixed"),
    (SECOND, SECOND.replace('lower="-2" upper="2"', 'lower="-90" upper="90"'), "doubt", 18, "degrees", "57.3"),
    (SECOND, SECOND.replace('lower="-2" upper="2"', 'lower="1" upper="2"'), "doubt", 16, "cannot be at 0", "start elsewhere"),
    (SECOND, SECOND.replace('lower="-2" upper="2" ', ""), "doubt", 18, "neither lower nor upper", "continuous"),
    (SECOND, SECOND.replace('effort="50"', 'effort="0"'), "doubt", 18, "effort is 0", "largest force"),
    (SECOND, SECOND.replace('velocity="3"', 'velocity="-3"'), "error", 18, "negative", "positive"),
    (SECOND, "</joint>\n</robot>", "doubt", 16, "no <limit>", "add <limit"),
    (SECOND, '<dynamics damping="-1"/>' + SECOND, "error", 16, "damping -1 is negative", "0 or more"),
    (SECOND, '<mimic joint="wrist"/>' + SECOND, "error", 18, "does not exist", "name a joint"),
    (SECOND, '<mimic joint="elbow"/>' + SECOND, "error", 18, "mimics itself", "free"),
    ("</robot>", '<link name="upper"/>\n</robot>', "error", 20, "two links 'upper'", "rename"),
    ("</robot>", '<link name="loose"/>\n</robot>', "error", 20, "hangs on no joint", "connect"),
    ('<child link="lower"/>', '<child link="hand"/>', "error", 16, "'hand' does not exist", "add or rename"),
    ('<child link="lower"/>', '<child link="upper"/>', "error", 16, "child of two joints", "trees"),
    ('type="revolute">\n <parent link="upper"', 'type="hinge">\n <parent link="upper"', "error", 16, "unknown type", "revolute"),
    ('<mass value="1"/>', '<mass value="1 kg"/>', "error", 9, "not a number", "<inertial>"),
    ("<box size", '<mesh filename="gone.stl"/><box size', "doubt", 6, "gone.stl", "relative"),
    ("</robot>", "", "error", 21, "not XML", "correct"),
]


def checked(text: str, tmp_path: Path) -> list:
    (tmp_path / "arm.urdf").write_text(text)
    return check_file(tmp_path / "arm.urdf")


def test_a_sound_file_has_no_findings_but_notes(tmp_path: Path) -> None:
    assert {f.level for f in checked(GOOD, tmp_path)} <= {"note"}


@pytest.mark.parametrize("case", CASES, ids=lambda c: f"{c[4]}")
def test_what_is_wrong_is_found_where_it_is(case: tuple, tmp_path: Path) -> None:
    old, new, level, line, words, remedy = case
    assert GOOD.count(old) >= 1
    before, _, after = GOOD.rpartition(old)
    found = [f for f in checked(before + new + after, tmp_path) if words in f.message]
    assert found, "it is not found"
    assert (found[0].level, found[0].line) == (level, line)
    assert remedy in found[0].remedy


def test_everything_is_found_at_once(tmp_path: Path) -> None:
    text = GOOD.replace('<mass value="1"/>', '<mass value="0"/>').replace("0 1 0", "0 3 0").replace('effort="50"', 'effort="0"')
    found = checked(text, tmp_path)
    assert sum(f.level == "error" for f in found) == 1
    assert sum(f.level == "doubt" for f in found) == 4
    assert [f.line for f in found if f.line] == sorted(f.line for f in found if f.line)


def test_chains_of_mimics_are_doubted(tmp_path: Path) -> None:
    link = (
        '<link name="{0}"><inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>'
    )
    joint = '<joint name="{0}" type="continuous"><parent link="base"/><child link="{1}"/><axis xyz="0 1 0"/>{2}</joint>'
    parts = [link.format(x) for x in "abc"]
    parts += [
        joint.format("j", "a", ""),
        joint.format("k", "b", '<mimic joint="j"/>'),
        joint.format("l", "c", '<mimic joint="k"/>'),
    ]
    text = "\n".join(['<robot name="r">', '<link name="base"/>', *parts, "</robot>"])
    found = [f for f in checked(text, tmp_path) if "mimic" in f.message and f.level == "doubt"]
    assert [(f.line, f.remedy) for f in found] == [(8, "follow 'j' directly, with the product of the ratios")]


def test_shapes_that_overlap_at_the_start_are_doubted(tmp_path: Path) -> None:
    pytest.importorskip("mujoco")
    file = tmp_path / "two.xml"
    ball = '<body name="{0}" pos="{1} 0 1"><freejoint/><geom type="sphere" size="0.1"/></body>'
    bodies = "\n".join(ball.format(name, x) for name, x in (("left", 0), ("right", 0.15), ("far", 1)))
    file.write_text(f"<mujoco>\n<worldbody>\n{bodies}\n</worldbody>\n</mujoco>")
    (found,) = [f for f in check_file(file) if f.level == "doubt"]
    assert "'left' and body 'right' overlap by 50 mm" in found.message
    assert found.line == 3


def test_errors_of_scenes_name_the_line_of_the_part(tmp_path: Path) -> None:
    text = (Path(__file__).parents[2] / "data" / "redmax" / "swing.json").read_text()
    good, bad = tmp_path / "good.json", tmp_path / "bad.json"
    good.write_text(text)
    assert check_file(good) == []
    bad.write_text(text.replace('"mass": 1.5', '"mass": "heavy"'))
    (found,) = check_file(bad)
    assert found.level == "error"
    assert "mass" in found.message
    assert text.splitlines()[(found.line or 0) - 1].strip() == '"name": "bob",'


def test_what_the_command_prints_and_its_exit_codes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "arm.urdf"
    file.write_text(GOOD)
    assert called("check", str(file)) == 0
    assert "0 errors, 0 doubts" in capsys.readouterr().out
    file.write_text(GOOD.replace("0 1 0", "0 3 0"))
    assert called("check", str(file)) == 0
    assert f"{file}:13: doubt: joint 'shoulder'" in capsys.readouterr().out
    assert called("check", str(file), "--strict") == 1
    capsys.readouterr()
    file.write_text(GOOD.replace('<mass value="1"/>', '<mass value="0"/>'))
    assert called("check", str(file), "--json") == 1
    said = json.loads(capsys.readouterr().out)
    assert said["errors"] == 1
    assert said["findings"][0]["line"] == 9


def test_files_of_other_kinds_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("")
    with pytest.raises(lw.InputError, match="suffix"):
        check_file(tmp_path / "a.txt")
