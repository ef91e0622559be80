"""Files that cannot be read, and what each format can say that cannot be: URDF, MJCF, RedMax scenes."""

from __future__ import annotations

import copy
import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from cases import Bad, bad

import linkwork as lw
from linkwork.io.redmax import RedmaxScene, read_scene

SWING = Path(__file__).parents[1] / "data" / "redmax" / "swing.json"
FOLDER = tempfile.TemporaryDirectory()  # of this process, gone with it

INERTIAL = '<inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'
BASE = '<link name="base"/>'
ARM = f'<link name="arm">{INERTIAL}</link>'
LIMIT = '<limit lower="-1" upper="1" effort="1" velocity="1"/>'
ENDS = '<parent link="base"/><child link="arm"/>'
PIN = f'<joint name="pin" type="revolute">{ENDS}<axis xyz="0 0 1"/>{LIMIT}</joint>'
ROBOT = f'<robot name="r">{BASE}{ARM}{PIN}</robot>'
HAND = f'<link name="hand">{INERTIAL}</link>'
WRIST = f'<joint name="wrist" type="revolute"><parent link="arm"/><child link="hand"/>{LIMIT}</joint>'
SCENE = (
    '<mujoco><worldbody><body name="arm"><joint name="pin" type="hinge"/><geom name="g" size=".1"/></body></worldbody></mujoco>'
)


def text_of(name: str, text: str | bytes) -> Path:
    """A file with this text."""
    path = Path(FOLDER.name) / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def urdf(old: str = "", new: str = "", robot: str = ROBOT, **options: Any) -> Callable[[], Any]:
    """Loads a robot in which some text is replaced."""
    assert old in robot
    return lambda: lw.load(text_of("robot.urdf", robot.replace(old, new, 1) if old else new), **options)


def mjcf(old: str = "", new: str = "", scene: str = SCENE, **options: Any) -> Callable[[], Any]:
    assert old in scene
    return lambda: lw.load(text_of("scene.xml", scene.replace(old, new, 1) if old else new), **options)


def problems(scene: RedmaxScene) -> None:
    """Make everything that a scene describes."""
    for run in scene.runs:
        scene.problem(run)


def redmax(*path: Any, value: Any) -> Callable[[], Any]:
    """Reads all of a scene in which one value is replaced; `...` removes it."""

    def read() -> None:
        scene = copy.deepcopy(json.loads(SWING.read_text()))
        at: Any = scene
        for key in path[:-1]:
            at = at[key]
        if value is ...:
            del at[path[-1]]
        else:
            at[path[-1]] = value
        problems(RedmaxScene(scene, "swing.json"))

    return read


def mimic(text: str) -> str:
    return ROBOT.replace("</robot>", f"{HAND}{WRIST.replace('</joint>', text + '</joint>')}</robot>")


NAN_SCENE = SWING.read_text().replace('"mass": 1.5', '"mass": NaN')
FILES: dict[str, Bad] = {
    # --- any file
    "missing": bad(lambda: lw.load("nowhere/robot.urdf"), "nowhere/robot.urdf", "no file"),
    "folder": bad(lambda: lw.load(FOLDER.name), "no file"),
    "suffix": bad(lambda: lw.load(text_of("robot.stl", "x")), ".stl", ".urdf"),
    "no suffix": bad(lambda: lw.load(text_of("robot", "x")), "suffix", ".urdf"),
    "path none": bad(lambda: lw.load(None), "path", "None"),  # type: ignore[arg-type]
    "path number": bad(lambda: lw.load(3), "path", "3"),  # type: ignore[arg-type]
    "path empty": bad(lambda: lw.load(""), "no file"),
    "path with a null": bad(lambda: lw.load("ro\0bot.urdf"), "no file"),
    "text instead of a path": bad(lambda: lw.load(ROBOT), "no file"),
    "option inertia": bad(urdf(robot=ROBOT, inertia="repir", new=ROBOT), "inertia", "'repir'", "did you mean 'repair'"),
    "option mimic": bad(urdf(new=ROBOT, mimic="coupl"), "mimic", "'coupl'", "did you mean 'couple'"),
    "option gravity": bad(urdf(new=ROBOT, gravity=-9.81), "gravity", "-9.81", "three"),
    "option floating": bad(urdf(new=ROBOT, floating="yes"), "floating", "'yes'", "True or False"),
    "option allow": bad(mjcf(new=SCENE, allow=[3]), "allow", "3"),
    # --- URDF
    "urdf empty": bad(urdf(new=""), "robot.urdf", "not XML"),
    "urdf binary": bad(urdf(new=b"\x00\x01\xff\xfe\x80"), "robot.urdf", "not XML"),  # type: ignore[arg-type]
    "urdf cut": bad(urdf(new=ROBOT[:200]), "robot.urdf", "not XML"),
    "urdf not closed": bad(urdf("</robot>", ""), "robot.urdf", "not XML"),
    "urdf utf-16": bad(urdf(new=ROBOT.encode("utf-16")[:-1]), "robot.urdf", "not XML"),  # type: ignore[arg-type]
    "urdf unknown encoding": bad(urdf(new=f'<?xml version="1.0" encoding="klingon"?>{ROBOT}'), "robot.urdf", "not XML"),
    "urdf of another root": bad(urdf(new="<mujoco/>"), "<mujoco>", "<robot>"),
    "urdf without links": bad(urdf(new='<robot name="r"/>'), "no links"),
    "urdf bomb": bad(
        urdf(new=f'<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]>{ROBOT.replace("arm", "&b;", 1)}'),
        "line 1",
        "entities",
    ),
    "urdf foreign entity": bad(urdf(new=f'<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]>{ROBOT}'), "entities"),
    "urdf doctype": bad(urdf(new=f"<!DOCTYPE robot>{ROBOT}"), "document types"),
    "urdf deep": bad(urdf(new="<a>" * 5000 + "</a>" * 5000), "100 elements"),
    "urdf xacro": bad(urdf("</robot>", '<xacro:include filename="x"/></robot>'), "xacro"),
    "urdf two links": bad(urdf(BASE, BASE + BASE), "two links", "'base'"),
    "urdf two joints": bad(urdf(PIN, PIN + PIN), "two joints", "'pin'"),
    "urdf link without a name": bad(urdf('<link name="base"/>', "<link/>"), "name"),
    "urdf parent misspelt": bad(urdf('parent link="base"', 'parent link="bse"'), "pin", "'bse'", "did you mean 'base'"),
    "urdf child misspelt": bad(urdf('child link="arm"', 'child link="amr"'), "pin", "'amr'", "did you mean 'arm'"),
    "urdf own parent": bad(urdf('parent link="base"', 'parent link="arm"'), "pin", "cycle"),
    "urdf two parents": bad(urdf(PIN, PIN + PIN.replace('"pin"', '"pin2"')), "arm", "two joints"),
    "urdf two roots": bad(urdf(BASE, BASE + '<link name="other"/>'), "'other'", "one tree"),
    "urdf type misspelt": bad(urdf('"revolute"', '"revolut"'), "pin", "'revolut'", "did you mean 'revolute'"),
    "urdf axis zero": bad(urdf('axis xyz="0 0 1"', 'axis xyz="0 0 0"'), "pin", "axis", "zero"),
    "urdf axis of two": bad(urdf('axis xyz="0 0 1"', 'axis xyz="0 1"'), "pin", "xyz", "'0 1'", "3 numbers"),
    "urdf axis nan": bad(urdf('axis xyz="0 0 1"', 'axis xyz="0 nan 1"'), "pin", "nan", "finite"),
    "urdf axis inf": bad(urdf('axis xyz="0 0 1"', 'axis xyz="0 inf 1"'), "pin", "inf", "finite"),
    "urdf axis text": bad(urdf('axis xyz="0 0 1"', 'axis xyz="0 y 1"'), "pin", "'y'", "number"),
    "urdf mass negative": bad(urdf('mass value="1"', 'mass value="-1"'), "arm", "mass", "-1"),
    "urdf mass zero": bad(urdf('mass value="1"', 'mass value="0"'), "arm", "mass"),
    "urdf mass nan": bad(urdf('mass value="1"', 'mass value="nan"'), "arm", "mass", "nan"),
    "urdf mass inf": bad(urdf('mass value="1"', 'mass value="inf"'), "arm", "mass", "inf"),
    "urdf mass huge": bad(urdf('mass value="1"', 'mass value="1e999"'), "arm", "mass", "1e999"),
    "urdf mass text": bad(urdf('mass value="1"', 'mass value="one"'), "arm", "mass", "one"),
    "urdf mass in hex": bad(urdf('mass value="1"', 'mass value="0x10"'), "arm", "mass", "0x10"),
    "urdf mass with underscores": bad(urdf('mass value="1"', 'mass value="1_0"'), "arm", "mass", "1_0"),
    "urdf mass missing": bad(urdf('<mass value="1"/>', ""), "arm", "mass"),
    "urdf two masses": bad(urdf('<mass value="1"/>', '<mass value="1"/><mass value="2"/>'), "arm", "<mass>"),
    "urdf inertia triangle": bad(urdf('izz="1"', 'izz="9"'), "arm", "triangle"),
    "urdf inertia negative": bad(urdf('izz="1"', 'izz="-1"'), "arm", "negative"),
    "urdf inertia nan": bad(urdf('ixy="0"', 'ixy="nan"'), "arm", "ixy", "nan"),
    "urdf inertia missing": bad(urdf(' izz="1"', ""), "arm", "izz"),
    "urdf moves without mass": bad(urdf(INERTIAL, ""), "arm", "no mass"),
    "urdf limits upside down": bad(urdf('lower="-1" upper="1"', 'lower="2" upper="1"'), "pin", "2", "1", "above"),
    "urdf limits nan": bad(urdf('lower="-1"', 'lower="nan"'), "pin", "lower", "nan"),
    "urdf effort negative": bad(urdf('effort="1"', 'effort="-1"'), "pin", "effort", "-1"),
    "urdf velocity negative": bad(urdf('velocity="1"', 'velocity="-1"'), "pin", "speed", "-1"),
    "urdf damping negative": bad(urdf(LIMIT, LIMIT + '<dynamics damping="-1"/>'), "pin", "damping", "-1"),
    "urdf friction negative": bad(urdf(LIMIT, LIMIT + '<dynamics friction="-1"/>'), "pin", "friction", "-1"),
    "urdf origin nan": bad(urdf(LIMIT, LIMIT + '<origin xyz="0 0 nan"/>'), "pin", "nan"),
    "urdf rpy of two": bad(urdf(LIMIT, LIMIT + '<origin rpy="0 0"/>'), "pin", "rpy", "3 numbers"),
    "urdf mimic itself": bad(urdf(LIMIT, LIMIT + '<mimic joint="pin"/>'), "pin", "itself"),
    "urdf mimic missing": bad(urdf(LIMIT, LIMIT + '<mimic joint="pim"/>'), "pin", "'pim'", "did you mean 'pin'"),
    "urdf mimic circle": bad(
        urdf(LIMIT, LIMIT + '<mimic joint="wrist"/>', mimic('<mimic joint="pin"/>')), "'pin'", "'wrist'", "circle"
    ),
    "urdf mimic ratio nan": bad(urdf(new=mimic('<mimic joint="pin" multiplier="nan"/>')), "wrist", "multiplier", "nan"),
    "urdf fixed alone": bad(urdf('"revolute"', '"fixed"'), "nothing", "moves"),
    # --- MJCF
    "mjcf empty": bad(mjcf(new=""), "scene.xml"),
    "mjcf binary": bad(mjcf(new=b"\x00\x01\xff"), "scene.xml"),  # type: ignore[arg-type]
    "mjcf cut": bad(mjcf(new=SCENE[:60]), "scene.xml"),
    "mjcf of another root": bad(mjcf(new=ROBOT.replace("robot", "robots")), "scene.xml"),
    "mjcf bomb": bad(mjcf(new=f'<!DOCTYPE x [<!ENTITY a "aaaa">]>{SCENE}'), "scene.xml", "entities"),
    "mjcf deep": bad(mjcf(new="<a>" * 5000 + "</a>" * 5000), "scene.xml"),
    "mjcf without bodies": bad(mjcf(new="<mujoco><worldbody/></mujoco>"), "scene.xml", "moves"),
    "mjcf nothing moves": bad(mjcf('<joint name="pin" type="hinge"/>', ""), "scene.xml", "move"),
    "mjcf type misspelt": bad(mjcf('"hinge"', '"hing"'), "scene.xml", "hing"),
    "mjcf element misspelt": bad(mjcf("<joint ", "<jiont "), "scene.xml", "jiont"),
    "mjcf names twice": bad(
        mjcf('<geom name="g" size=".1"/>', '<geom name="g" size=".1"/><geom name="g" size=".1"/>'), "scene.xml", "g"
    ),
    "mjcf size zero": bad(mjcf('size=".1"', 'size="0"'), "scene.xml", "size"),
    "mjcf size nan": bad(mjcf('size=".1"', 'size="nan"'), "scene.xml", "nan"),
    "mjcf mass negative": bad(mjcf('size=".1"', 'size=".1" mass="-1"'), "scene.xml", "mass"),
    "mjcf mass zero": bad(mjcf('size=".1"', 'size=".1" mass="0"'), "arm", "mass"),
    "mjcf mass nan": bad(mjcf('size=".1"', 'size=".1" mass="nan"'), "scene.xml", "nan"),
    "mjcf damping negative": bad(mjcf('"hinge"', '"hinge" damping="-1"'), "pin", "damping", "-1"),
    "mjcf damping nan": bad(mjcf('"hinge"', '"hinge" damping="nan"'), "scene.xml", "nan"),
    "mjcf armature negative": bad(mjcf('"hinge"', '"hinge" armature="-1"'), "armature", "-1"),
    "mjcf stiffness negative": bad(mjcf('"hinge"', '"hinge" stiffness="-1"'), "stiffness", "-1"),
    "mjcf frictionloss negative": bad(mjcf('"hinge"', '"hinge" frictionloss="-1"'), "friction", "-1"),
    "mjcf range upside down": bad(mjcf('"hinge"', '"hinge" range="40 -40" limited="true"'), "scene.xml", "range"),
    "mjcf axis zero": bad(mjcf('"hinge"', '"hinge" axis="0 0 0"'), "scene.xml", "axis"),
    "mjcf axis nan": bad(mjcf('"hinge"', '"hinge" axis="0 nan 0"'), "scene.xml", "nan"),
    "mjcf quaternion zero": bad(mjcf('<body name="arm">', '<body name="arm" quat="0 0 0 0">'), "scene.xml", "quat"),
    "mjcf position nan": bad(mjcf('<body name="arm">', '<body name="arm" pos="0 0 nan">'), "scene.xml", "nan"),
    "mjcf gravity nan": bad(mjcf("<mujoco>", '<mujoco><option gravity="0 0 nan"/>'), "scene.xml", "nan"),
    "mjcf friction negative": bad(mjcf('size=".1"', 'size=".1" friction="-1"'), "friction", "-1"),
    "mjcf inertia triangle": bad(
        mjcf('size=".1"/>', 'size=".1"/><inertial pos="0 0 0" mass="1" diaginertia="1 1 9"/>'), "scene.xml", "inertia"
    ),
    "mjcf equality of itself": bad(
        mjcf("</worldbody>", '</worldbody><equality><connect body1="arm" body2="arm" anchor="0 0 0"/></equality>'), "arm"
    ),
    "mjcf mesh missing": bad(mjcf("<mujoco>", '<mujoco><asset><mesh file="no.stl"/></asset>'), "no.stl"),
    "mjcf include missing": bad(mjcf("<worldbody>", '<include file="no.xml"/><worldbody>'), "no.xml"),
    "mjcf allow misspelt": bad(mjcf(new=SCENE, allow=["tendon"]), "'tendon'", "did you mean 'tendons'"),
    # --- RedMax scenes
    "scene missing": bad(lambda: read_scene(Path("nowhere.json")), "nowhere.json"),
    "scene empty": bad(lambda: read_scene(text_of("s.json", "")), "s.json", "JSON"),
    "scene binary": bad(lambda: read_scene(text_of("s.json", b"\x00\xff")), "s.json", "JSON"),
    "scene cut": bad(lambda: read_scene(text_of("s.json", SWING.read_text()[:300])), "s.json", "JSON"),
    "scene deep": bad(lambda: read_scene(text_of("s.json", "[" * 100000)), "s.json", "JSON"),
    "scene of a list": bad(lambda: read_scene(text_of("s.json", "[1, 2]")), "s.json", "schema"),
    "scene NaN": bad(lambda: problems(read_scene(text_of("s.json", NAN_SCENE))), "bob", "mass", "nan"),
    "scene schema": bad(redmax("schema", value="redmax-scene/9"), "schema", "redmax-scene/1"),
    "scene mass negative": bad(redmax("bodies", 0, "mass", value=-1), "bob", "mass", "-1"),
    "scene mass text": bad(redmax("bodies", 0, "mass", value="1"), "bob", "mass", "'1'"),
    "scene mass missing": bad(redmax("bodies", 0, "mass", value=...), "bob", "mass"),
    "scene mass bool": bad(redmax("bodies", 0, "mass", value=True), "bob", "mass", "True"),
    "scene inertia of two": bad(redmax("bodies", 0, "inertia_diag", value=[1, 1]), "bob", "inertia_diag", "(3,)"),
    "scene inertia negative": bad(redmax("bodies", 0, "inertia_diag", value=[1, 1, -1]), "bob", "-1"),
    "scene inertia triangle": bad(redmax("bodies", 0, "inertia_diag", value=[1, 1, 9]), "bob", "triangle"),
    "scene inertia ragged": bad(redmax("bodies", 0, "inertia_diag", value=[[1], 1, 9]), "bob", "inertia_diag", "numbers"),
    "scene pose stretched": bad(redmax("bodies", 0, "E_ji", 0, 0, value=2.0), "bob", "E_ji", "pose"),
    "scene body misspelt": bad(redmax("joints", 0, "body", value="bub"), "hinge", "'bub'", "did you mean 'bob'"),
    "scene parent misspelt": bad(redmax("joints", 0, "parent", value="bub"), "hinge", "'bub'"),
    "scene own parent": bad(redmax("joints", 0, "parent", value="hinge"), "bob", "cycle"),
    "scene type misspelt": bad(redmax("joints", 0, "type", value="revolut"), "hinge", "'revolut'", "did you mean 'revolute'"),
    "scene axis zero": bad(redmax("joints", 0, "axis", value=[0, 0, 0]), "hinge", "axis", "zero"),
    "scene q0 of two": bad(redmax("joints", 0, "q0", value=[1, 2]), "hinge", "q0", "1"),
    "scene stiffness negative": bad(redmax("joints", 0, "stiffness", value=-1), "stiffness", "-1"),
    "scene damping negative": bad(redmax("joints", 0, "damping", value=-1), "damping", "-1"),
    "scene body damping negative": bad(redmax("bodies", 0, "damping", value=-1), "damping", "-1"),
    "scene gravity of two": bad(redmax("gravity", value=[0, 0]), "gravity", "(3,)"),
    "scene step zero": bad(redmax("integrators", "REDMAX_EULER", "h", value=0), "REDMAX_EULER", "h", "0"),
    "scene step negative": bad(redmax("integrators", "REDMAX_EULER", "h", value=-0.01), "REDMAX_EULER", "h", "-0.01"),
    "scene time upside down": bad(redmax("integrators", "REDMAX_EULER", "tspan", value=[1, 0]), "REDMAX_EULER", "tspan"),
    "scene force misspelt": bad(redmax("forces", value=[{"type": "sprng_damper"}]), "'sprng_damper'", "did you mean"),
    "scene bodies of text": bad(redmax("bodies", value="bob"), "bodies", "list"),
    "scene body of a number": bad(redmax("bodies", 0, value=3), "bodies[0]", "object"),
}
