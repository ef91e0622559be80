"""URDF: what is read, what is made of it, what is noted, and what is refused."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import linkwork as lw
from linkwork.io import element, load
from linkwork.io.inertias import nearest_possible

INERTIAL = '<inertial><origin xyz="{com}" rpy="{rpy}"/><mass value="{mass}"/>{tensor}</inertial>'
TENSOR = '<inertia ixx="{}" ixy="0" ixz="0" iyy="{}" iyz="0" izz="{}"/>'


def link(name: str, mass: float | None = 1.0, moments: Any = (0.02, 0.03, 0.04), com: str = "0 0 0", rpy: str = "0 0 0") -> str:
    inside = "" if mass is None else INERTIAL.format(com=com, rpy=rpy, mass=mass, tensor=TENSOR.format(*moments))
    return f'<link name="{name}">{inside}</link>\n'


def joint(name: str, parent: str, child: str, kind: str = "revolute", inside: str = "") -> str:
    limit = '<limit lower="-1" upper="2" effort="30" velocity="4"/>' if kind in ("revolute", "prismatic") else ""
    limit = "" if "<limit" in inside else limit
    ends = f'<parent link="{parent}"/><child link="{child}"/>'
    return f'<joint name="{name}" type="{kind}">{ends}{limit}{inside}</joint>\n'


def axis(xyz: str) -> str:
    return f'<axis xyz="{xyz}"/>'


def origin(xyz: str = "0 0 0", rpy: str = "0 0 0") -> str:
    return f'<origin xyz="{xyz}" rpy="{rpy}"/>'


@pytest.fixture
def read(tmp_path: Path) -> Any:
    """Loads a robot with the given elements, which start in line 2 of its file."""

    def read(inside: str, **options: Any) -> lw.Model:
        path = tmp_path / "robot.urdf"
        path.write_text(f'<robot name="robot">\n{inside}</robot>\n')
        return load(path, **options)

    return read


ARM = link("base") + link("arm") + joint("shoulder", "base", "arm", inside=axis("0 1 0"))


# --- files ------------------------------------------------------------------------------------------------------------
def test_path_and_suffix(tmp_path: Path) -> None:
    with pytest.raises(lw.InputError, match="there is no file"):
        load(tmp_path / "nothing.urdf")
    with pytest.raises(lw.InputError, match="there is no file"):
        load(tmp_path)
    other = tmp_path / "robot.sdf"
    other.write_text("<sdf/>")
    with pytest.raises(lw.InputError, match=r"'\.sdf'; linkwork reads \.urdf"):
        load(other)


@pytest.mark.parametrize("option", ["inertia", "mimic"])
def test_unknown_choice(read: Any, option: str) -> None:
    with pytest.raises(lw.InputError, match=f"{option} = 'maybe'; choose one of"):
        read(ARM, **{option: "maybe"})


BOMB = '<!DOCTYPE r [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;">]><robot name="&b;"/>'
OUTSIDE = '<!DOCTYPE r [<!ENTITY a SYSTEM "file:///etc/passwd">]><robot name="r">&a;</robot>'


@pytest.mark.parametrize("text", [BOMB, OUTSIDE, '<!DOCTYPE robot SYSTEM "http://example.org/robot.dtd"><robot name="r"/>'])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_entities_are_refused(tmp_path: Path, text: str, encoding: str) -> None:
    path = tmp_path / "robot.urdf"
    path.write_bytes(text.encode(encoding))
    with pytest.raises(lw.ModelError, match=r"robot.urdf, line 1: document types and entities"):
        load(path)


def test_what_is_not_xml(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "robot.urdf"
    path.write_text('<robot name="r">\n  <link name="a">\n</robot>')
    with pytest.raises(lw.ModelError, match=r"robot.urdf, line 3, column 3: this is not XML \(mismatched tag\)"):
        load(path)
    path.write_bytes(b"")
    with pytest.raises(lw.ModelError, match="this is not XML"):
        load(path)
    path.write_bytes(b'<?xml version="1.0" encoding="klingon"?><robot/>')
    with pytest.raises(lw.ModelError, match="this is not XML"):
        load(path)
    path.write_text("<a>" * 200 + "</a>" * 200)
    with pytest.raises(lw.ModelError, match="more than 100 elements inside each other"):
        load(path)
    path.write_text("<mujoco/>")
    with pytest.raises(lw.ModelError, match="the root element is <mujoco>, not <robot>"):
        load(path)
    path.write_text('<robot name="r" xmlns:xacro="x"><link name="a"><xacro:box/></link></robot>')
    with pytest.raises(lw.ModelError, match="<xacro:box> must be expanded first"):
        load(path)
    monkeypatch.setattr(element, "MAX_BYTES", 10)
    with pytest.raises(lw.InputError, match="are not read"):
        load(path)


# --- bad descriptions -------------------------------------------------------------------------------------------------
TWO = link("a") + link("b")
REVOLUTE = '<joint name="j" type="revolute"><parent link="a"/><child link="b"/>{}</joint>'
BAD = {
    "no links": ("", "the robot has no links"),
    "parent": (TWO + joint("j", "x", "b"), "line 4: joint 'j': its parent link 'x' does not exist"),
    "child": (TWO + joint("j", "a", "x"), "joint 'j': its child link 'x' does not exist"),
    "two parents": (
        TWO + link("c") + joint("j", "a", "b") + joint("k", "c", "b"),
        "line 6: link 'b' is the child of two joints, 'j' and 'k'",
    ),
    "cycle": (TWO + joint("j", "a", "b") + joint("k", "b", "a"), "joint 'k': its links hang on each other in a cycle"),
    "cycle apart": (
        TWO + link("c") + joint("j", "b", "c") + joint("k", "c", "b"),
        "joint 'k': its links hang on each other in a cycle",
    ),
    "itself": (TWO + joint("j", "b", "b"), "joint 'j': its links hang on each other in a cycle"),
    "roots": (TWO, "the links 'a', 'b' have no parent"),
    "link twice": (TWO + link("a"), "line 4: there are two links 'a'"),
    "joint twice": (TWO + link("c") + joint("j", "a", "b") + joint("j", "b", "c"), "line 6: there are two joints 'j'"),
    "nameless": ("<link/>", "line 2: <robot>, <link> needs the attribute 'name'"),
    "type": (TWO + joint("j", "a", "b", "rotary"), "joint 'j' has the unknown type 'rotary'; known are revolute"),
    "no parent": (TWO + '<joint name="j" type="fixed"><child link="b"/></joint>', "joint 'j' needs an element <parent>"),
    "no type": (TWO + '<joint name="j"/>', "joint 'j' needs the attribute 'type'"),
    "zero axis": (TWO + joint("j", "a", "b", inside=axis("0 0 0")), "joint 'j': its axis is zero"),
    "empty axis": (TWO + joint("j", "a", "b", inside="<axis/>"), "joint 'j', <axis>: xyz = None must be 3 numbers"),
    "short axis": (TWO + joint("j", "a", "b", inside=axis("0 1")), "joint 'j', <axis>: xyz = '0 1' must be 3 numbers"),
    "word": (TWO + joint("j", "a", "b", inside=origin("0 0 up")), "joint 'j', <origin>: xyz = 'up' is not a number"),
    "underscore": (TWO + joint("j", "a", "b", inside=origin("0 0 1_0")), "xyz = '1_0' is not a number"),
    "nan": (TWO + joint("j", "a", "b", inside=origin(rpy="0 nan 0")), "joint 'j', <origin>: rpy = 'nan' is not finite"),
    "infinite": (TWO + joint("j", "a", "b", inside=origin("0 inf 0")), "xyz = 'inf' is not finite"),
    "two origins": (TWO + joint("j", "a", "b", inside=origin() + origin()), "joint 'j' has 2 elements <origin>"),
    "quaternion": (TWO + joint("j", "a", "b", inside='<origin quat_xyzw="0 0 0 2"/>'), "quat_xyzw has norm 2, not 1"),
    "both": (TWO + joint("j", "a", "b", inside='<origin rpy="0 0 0" quat_xyzw="0 0 0 1"/>'), "both rpy and quat_xyzw"),
    "effort": (TWO + REVOLUTE.format('<limit velocity="1"/>'), "joint 'j', <limit> needs the attribute 'effort'"),
    "limits": (
        TWO + REVOLUTE.format('<limit lower="2" upper="1" effort="1" velocity="1"/>'),
        "line 4: joint 'j': its lower limit",
    ),
    "damping": (TWO + joint("j", "a", "b", inside='<dynamics damping="-1"/>'), "joint 'j': damping = "),
    "mass": ('<link name="a"><inertial/></link>', "link 'a', <inertial> needs an element <mass>"),
    "moments": (
        '<link name="a"><inertial><mass value="1"/><inertia ixx="1"/></inertial></link>',
        "link 'a', <inertial>, <inertia> needs the attribute 'ixy'",
    ),
    "still": (link("a"), "nothing in this robot moves"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_description(read: Any, case: str) -> None:
    inside, message = BAD[case]
    with pytest.raises(lw.ModelError) as caught:
        read(inside)
    assert message in str(caught.value)
    assert str(caught.value).startswith("robot.urdf")


# --- joints -----------------------------------------------------------------------------------------------------------
def test_properties_of_a_joint(read: Any) -> None:
    losses = '<dynamics damping="0.5" friction="0.25"/>'
    model = read(TWO + joint("j", "a", "b", inside=axis("0 0 -1") + losses + origin("1 2 3", "0 0 1.57079632679")))
    body = model.bodies[0]
    assert (body.name, body.joint_name, body.parent) == ("b", "j", -1)
    assert isinstance(body.joint, lw.Revolute)
    np.testing.assert_array_equal(body.joint.axis, [0, 0, -1])
    np.testing.assert_array_equal(body.placement.R, [[0, -1, 0], [1, 0, 0], [0, 0, 1]])
    np.testing.assert_array_equal(body.placement.p, [1, 2, 3])
    p = body.properties
    values = {"lower": -1, "upper": 2, "effort": 30, "speed": 4, "damping": 0.5, "friction": 0.25, "armature": 0}
    assert {name: getattr(p, name).item() for name in values} == values
    assert model.notes == ("part of the world, 1 kg that do not move: 'a'",)


@pytest.mark.parametrize(
    ("kind", "cls"),
    [
        ("continuous", lw.Revolute),
        ("prismatic", lw.Prismatic),
        ("floating", lw.Free),
        ("planar", lw.Free2D),
        ("spherical", lw.Spherical),
        ("ball", lw.Spherical),
    ],
)
def test_kinds(read: Any, kind: str, cls: type) -> None:
    body = read(TWO + joint("j", "a", "b", kind)).bodies[0]
    assert type(body.joint) is cls
    if hasattr(body.joint, "axis"):
        np.testing.assert_array_equal(body.joint.axis, [1, 0, 0])  # URDF's default


def test_limits_that_are_missing(read: Any) -> None:
    model = read(TWO + joint("j", "a", "b", inside='<limit effort="inf" velocity="1"/>'))
    assert np.isinf(model.bodies[0].properties.upper.item())
    assert "joint 'j': its <limit> has neither lower nor upper; it is not limited" in model.notes
    model = read(TWO + joint("j", "a", "b", inside='<limit lower="-1" upper="1" effort="0" velocity="0.0"/>'))
    assert (model.bodies[0].properties.effort.item(), model.bodies[0].properties.speed.item()) == (np.inf, np.inf)
    for name in ("effort", "velocity"):
        assert f"joint 'j': its <limit> has {name} 0, taken as not given; it is not limited" in model.notes
    model = read(TWO + joint("j", "a", "b", inside='<limit upper="1" effort="1" velocity="1"/>'))
    assert (model.bodies[0].properties.lower.item(), model.bodies[0].properties.upper.item()) == (0, 1)
    model = read(TWO + REVOLUTE.format(""))
    assert "joint 'j' is revolute and has no <limit>; it is not limited" in model.notes
    model = read(TWO + joint("j", "a", "b", "continuous", '<limit lower="-3" effort="1" velocity="1"/>'))
    assert np.isinf(model.bodies[0].properties.lower.item())
    assert any("attribute 'lower' of the <limit> of a continuous joint" in n for n in model.notes)


def test_axes_are_normalised(read: Any) -> None:
    model = read(TWO + joint("j", "a", "b", inside=axis("0 3 4")))
    np.testing.assert_allclose(model.bodies[0].joint.axis, [0, 0.6, 0.8], rtol=1e-15)
    assert "joint 'j': its axis [0.0, 3.0, 4.0] has length 5; it is divided by it" in model.notes
    assert not any("axis" in n for n in read(TWO + joint("j", "a", "b", inside=axis("0 0.6000001 0.8"))).notes)


def test_rotations_are_snapped_as_a_whole_or_not_at_all(read: Any) -> None:
    """Two angles of 1.5708 leave cos^2 = 1e-11, which is no zero while cos = 4e-6 stays."""
    R = read(TWO + joint("j", "a", "b", inside=origin(rpy="1.5708 0 1.5708"))).bodies[0].placement.R
    assert 0 < abs(R[1, 1]) < 1e-10
    np.testing.assert_allclose(R @ R.T, np.eye(3), atol=1e-15)
    R = read(TWO + joint("j", "a", "b", inside=origin(rpy="1.57079632679 0 0.3"))).bodies[0].placement.R
    assert R[0, 1] == 0 == R[1, 1]
    assert R[2, 1] == 1


def test_quaternion_of_an_origin(read: Any) -> None:
    c = np.cos(0.2)
    s = np.sin(0.2)
    R = read(TWO + joint("j", "a", "b", inside=f'<origin quat_xyzw="{s} 0 0 {c}"/>')).bodies[0].placement.R
    np.testing.assert_allclose(R, lw.SE3.rot_x(0.4).R, atol=1e-15)


def test_planar_joint_moves_in_the_plane_normal_to_its_axis(read: Any) -> None:
    """The frame of a link welded to the moving one starts where the file says, and leaves along the plane."""
    hand = link("hand") + joint("weld", "b", "hand", "fixed", origin("0.1 0.2 0.3", "0.4 0 0"))
    model = read(TWO + hand + joint("j", "a", "b", "planar", axis("0 1 0") + origin("1 2 3", "0 0 0.5")))
    assert any("joint 'j' is planar with the normal [0.0, 1.0, 0.0]" in n for n in model.notes)
    E0 = lw.SE3(R=lw.SE3.rot_z(0.5).R, p=(1, 2, 3))
    weld = lw.SE3(R=lw.SE3.rot_x(0.4).R, p=(0.1, 0.2, 0.3))
    np.testing.assert_allclose(lw.frame_pose(model, np.zeros(3), "hand"), (E0 @ weld).matrix.astype(float), atol=1e-14)
    moved = lw.frame_pose(model, np.array([0.3, -0.2, 0.7]), "b")
    normal = np.asarray(E0.R, float)[:, 1]
    assert normal @ (moved[:3, 3] - np.array([1, 2, 3])) == pytest.approx(0, abs=1e-14)
    assert np.linalg.norm(moved[:3, 3] - np.array([1, 2, 3])) == pytest.approx(np.hypot(0.3, 0.2))
    np.testing.assert_allclose(moved[:3, 2], normal, atol=1e-14)  # the body's z is the normal
    tilted = read(TWO + joint("j", "a", "b", "planar", axis("0.6 0 0.8"))).bodies[0].placement.R
    np.testing.assert_allclose(tilted[:, 2], [0.6, 0, 0.8], atol=1e-15)


# --- fixed joints -----------------------------------------------------------------------------------------------------
WELDED = (
    link("base", 5.0)
    + link("arm", 1.0, com="0.1 0 0.2", rpy="0.3 0.2 0.1")
    + link("flange", None)
    + link("tool", 0.5, com="0 0.3 0", rpy="1 0 0")
    + link("stand", 2.0)
    + link("finger", 0.2, com="0 0 0.1")
    + joint("shoulder", "base", "arm", inside=axis("0 1 0") + origin("0 0 1"))
    + joint("mount", "arm", "flange", "fixed", origin("0.5 0 0", "0 0.4 0"))
    + joint("weld", "flange", "tool", "fixed", origin("0 0.2 0.1", "0.1 0.2 0.3"))
    + joint("foot", "base", "stand", "fixed", origin("0 0 -1"))
    + joint("grip", "tool", "finger", "prismatic", axis("1 0 0") + origin("0 0 0.3", "0 0 0.7"))
)


def test_merged_links_move_like_separate_ones(read: Any) -> None:
    merged, separate = read(WELDED), read(WELDED, merge_fixed=False)
    assert [b.name for b in merged.bodies] == ["arm", "finger"]
    assert [b.name for b in separate.bodies] == ["arm", "flange", "tool", "finger", "stand"]
    assert set(merged.frames) == {"base", "stand", "foot", "flange", "mount", "tool", "weld"}
    q, v, tau = np.array([0.4, 0.2]), np.array([1.0, -2.0]), np.array([0.5, 0.3])
    a, b = (lw.forward_dynamics(m, q, v, tau) for m in (merged, separate))
    np.testing.assert_allclose(a, b, rtol=1e-12)
    for name in ("arm", "flange", "tool", "finger"):
        np.testing.assert_allclose(lw.frame_pose(merged, q, name), lw.frame_pose(separate, q, name), atol=1e-14)
    np.testing.assert_array_equal(lw.frame_pose(merged, q, "tool"), lw.frame_pose(merged, q, "weld"))
    assert "merged into the bodies that carry them, and frames there: 'flange', 'tool'" in merged.notes
    assert "part of the world, 7 kg that do not move: 'base', 'stand'" in merged.notes


def test_merged_inertia(read: Any) -> None:
    """Momenta of rigid motions add: the 6x6 inertias, moved to one frame."""
    merged, separate = read(WELDED), read(WELDED, merge_fixed=False)
    total, E = np.zeros((6, 6)), lw.SE3()
    for body in separate.bodies[:3]:
        E = E @ body.placement if body.name != "arm" else E
        Ad = lw.Ad(E.inverse()).astype(float)
        total += Ad.T @ body.inertia.matrix @ Ad
    np.testing.assert_allclose(merged.bodies[0].inertia.matrix, total, atol=1e-14)
    assert merged.bodies[0].inertia.mass == 1.5


def test_frames_of_the_world(read: Any) -> None:
    model = read(WELDED)
    assert model.frames["foot"].body == "world"
    np.testing.assert_array_equal(model.frames["stand"].placement.p, [0, 0, -1])
    body, placement = model.frame("stand")
    assert body == -1
    np.testing.assert_array_equal(lw.frame_pose(model, model.neutral(), "stand"), placement.matrix)
    np.testing.assert_array_equal(lw.jacobian(model, model.neutral(), "stand"), np.zeros((6, model.nv)))


# --- the root ---------------------------------------------------------------------------------------------------------
def test_floating(read: Any) -> None:
    model = read(WELDED, floating=True, gravity=(0, 0, -2))
    assert [b.name for b in model.bodies] == ["base", "arm", "finger"]
    assert isinstance(model.bodies[0].joint, lw.Free)
    assert model.bodies[0].joint_name == "root_joint"
    assert model.bodies[0].inertia.mass == 7.0
    a = lw.forward_dynamics(model, model.neutral(), np.zeros(model.nv))
    np.testing.assert_allclose(a[model.v_index("root_joint")], [0, 0, 0, 0, 0, -2], atol=1e-12)


def test_root_called_world(read: Any) -> None:
    robot = link("world", None) + link("arm") + joint("j", "world", "arm")
    assert read(robot).frames == {}
    model = read(robot + link("box") + joint("weld", "world", "box", "fixed"), floating=True)
    assert model.bodies[0].name == "world_link"
    assert "link 'world' has the name of the world; it is called 'world_link'" in model.notes


def test_links_and_joints_of_one_name(read: Any) -> None:
    robot = link("hip") + link("leg") + link("foot") + joint("foot", "hip", "leg", inside=axis("0 1 0"))
    model = read(robot + joint("ankle", "leg", "foot"))
    assert [(b.name, b.joint_name) for b in model.bodies] == [("leg", "foot"), ("foot_link", "ankle")]
    assert model.v_index("foot") == slice(0, 1)
    assert "link 'foot' has the name of a joint; it is called 'foot_link'" in model.notes
    model = read(link("a") + link("j") + link("k") + joint("j", "a", "j") + joint("k", "j", "k", "fixed"))
    assert (model.bodies[0].name, model.bodies[0].joint_name, set(model.frames)) == ("j", "j", {"a", "k"})
    assert not any("has the name" in n for n in model.notes)


# --- mimic joints -----------------------------------------------------------------------------------------------------
def mimic(leader: str, ratio: float = 1.0, offset: float = 0.0) -> str:
    return axis("0 1 0") + f'<mimic joint="{leader}" multiplier="{ratio}" offset="{offset}"/>'


HAND = link("palm") + "".join(link(f"f{k}", com="0.1 0 0") for k in (1, 2, 3))
FINGERS = HAND + joint("j1", "palm", "f1", inside=axis("0 1 0"))
CHAIN = FINGERS + joint("j3", "palm", "f3", inside=mimic("j2", -0.5, 0.1)) + joint("j2", "palm", "f2", inside=mimic("j1", 2, 1))


def test_mimic_joints_are_coupled(read: Any) -> None:
    """j2 = 2 j1 + 1 and j3 = -0.5 j2 + 0.1 = -j1 - 0.4."""
    model = read(CHAIN)
    found = {c.follower: (c.leader, c.ratio, c.offset) for c in model.elements_of(lw.Coupling)}
    assert found == {"j2": ("j1", 2.0, 1.0), "j3": ("j1", -1.0, pytest.approx(-0.4))}
    j1, j2, j3 = (model.v_index(f"j{k}").start for k in (1, 2, 3))
    q, v = np.zeros(3), np.zeros(3)
    q[[j1, j2, j3]] = 0.2, 1.4, -0.6
    v[[j1, j2, j3]] = 1.0, 2.0, -1.0
    a = lw.forward_dynamics(model, q, v, np.array([0.3, 0.1, -0.2]))
    assert a[j2] == pytest.approx(2 * a[j1])
    assert a[j3] == pytest.approx(-a[j1])


def test_mimic_joints_left_free(read: Any) -> None:
    model = read(CHAIN, mimic="independent")
    assert not model.elements
    assert "joint 'j2' is left free; its file has it follow 'j1' (ratio 2, offset 1)" in model.notes


@pytest.mark.parametrize(
    ("leader", "more", "message"),
    [
        ("j9", "", "joint 'j2' mimics 'j9', which does not exist"),
        ("j2", "", "joint 'j2' mimics itself"),
        ("j3", joint("j3", "palm", "f3", "fixed"), "joint 'j2' mimics 'j3', whose type is 'fixed'"),
        ("j3", joint("j3", "palm", "f3", inside=mimic("j2")), "joints 'j3', 'j2' mimic each other in a circle"),
    ],
)
def test_bad_mimic(read: Any, leader: str, more: str, message: str) -> None:
    more = more or joint("j3", "palm", "f3")
    with pytest.raises(lw.ModelError, match=message):
        read(FINGERS + more + joint("j2", "palm", "f2", inside=mimic(leader)))


# --- inertias ---------------------------------------------------------------------------------------------------------
def test_impossible_moments(read: Any) -> None:
    robot = link("base") + link("arm", moments=(0.1, 0.1, 0.5)) + joint("j", "base", "arm")
    with pytest.raises(lw.ModelError, match=r"line 3: link 'arm': principal moments 0.1, 0.1, 0.5 violate the triangle"):
        read(robot)
    kept = read(robot, inertia="accept")
    np.testing.assert_array_equal(kept.bodies[0].inertia.tensor, np.diag([0.1, 0.1, 0.5]))
    assert any("link 'arm'" in n and "accepted as it is" in n for n in kept.notes)
    repaired = read(robot, inertia="repair")
    np.testing.assert_allclose(repaired.bodies[0].inertia.tensor, np.diag([0.2, 0.2, 0.4]), atol=1e-15)
    assert any("link 'arm'" in n and "repaired" in n for n in repaired.notes)
    with pytest.raises(lw.ModelError, match=r"negative principal moment -0\.1"):
        read(link("base") + link("arm", moments=(-0.1, 0.1, 0.1)) + joint("j", "base", "arm"))


@pytest.mark.parametrize("seed", range(5))
def test_nearest_possible_tensor(seed: int) -> None:
    """It is possible, and no step towards another possible tensor comes nearer (the set is convex)."""
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(3, 3))
    tensor = A + A.T
    found = nearest_possible(tensor)
    lw.Inertia(1.0, tensor=found)
    for _ in range(200):
        B = rng.normal(size=(3, 3)) * rng.uniform(0, 2)
        second = B @ B.T
        other = np.trace(second) * np.eye(3) - second
        assert np.sum((tensor - found) * (other - found)) < 1e-12 * np.sum(other**2)


def test_rounding_errors_of_zero(read: Any) -> None:
    model = read(link("base") + link("arm", moments=(1e-20, -1e-20, 3e-20), com="1 0 0") + joint("j", "base", "arm"))
    assert not model.bodies[0].inertia.tensor.any()
    assert any("a zero with rounding errors" in n for n in model.notes)


@pytest.mark.parametrize("massless", [link("arm", None), link("arm", 0.0, (0, 0, 0))])
def test_moving_links_without_mass(read: Any, massless: str) -> None:
    robot = link("base") + massless + joint("j", "base", "arm", inside=axis("0 1 0"))
    with pytest.raises(lw.ModelError, match=r"line 4: body 'arm' moves and has no mass"):
        read(robot)
    kept = read(robot, inertia="accept")
    assert kept.bodies[0].inertia.mass == 0
    assert "body 'arm' moves and has no mass; accepted as it is" in kept.notes
    repaired = read(robot, inertia="repair")
    assert repaired.bodies[0].inertia.mass == pytest.approx(1e-6)
    assert np.all(np.isfinite(lw.forward_dynamics(repaired, [0.1], [0.2])))
    tip = link("tip") + joint("weld", "arm", "tip", "fixed")
    for merge in (True, False):
        assert sum(b.inertia.mass for b in read(robot + tip, merge_fixed=merge).bodies) == 1.0


def test_negative_mass(read: Any) -> None:
    """It counts where it moves: a body of 0.75 kg is possible, one of -0.5 kg is not."""
    robot = ARM + link("tip", -0.25) + joint("weld", "arm", "tip", "fixed")
    for policy in ("strict", "repair", "accept"):
        model = read(robot, inertia=policy)
        assert model.bodies[0].inertia.mass == 0.75
        assert any(n.startswith("link 'tip' has the negative mass -0.25; kept, as body 'arm' (links") for n in model.notes)
    light = robot.replace("-0.25", "-1.5")
    with pytest.raises(
        lw.ModelError, match=r"line 3: body 'arm' \(links 'arm', 'tip' welded together\) has the negative mass -0\.5"
    ):
        read(light)
    for merge in (True, False):
        assert sum(b.inertia.mass for b in read(light, inertia="accept", merge_fixed=merge).bodies) == -0.5
        assert sum(b.inertia.mass for b in read(light, inertia="repair", merge_fixed=merge).bodies) == 1.0
    for policy in ("strict", "accept"):
        with pytest.raises(lw.ModelError, match=r"robot\.urdf, line 3: body 'arm': its positive and negative masses cancel"):
            read(robot.replace("-0.25", "-1.0"), inertia=policy)


SENSOR = link("sensor", 0.1, (-1e-4, 1e-4, 3e-4)) + joint("weld", "arm", "sensor", "fixed", origin("0.1 0 0", "0.3 0.2 0.1"))


@pytest.mark.parametrize("merge", [True, False])
@pytest.mark.parametrize("policy", ["strict", "repair", "accept"])
def test_impossible_links_of_possible_bodies(read: Any, policy: str, merge: bool) -> None:
    """Only what moves as one is checked; the link is noted and kept."""
    model, kept = (read(ARM + SENSOR, inertia=p, merge_fixed=merge) for p in (policy, "accept"))
    for body, other in zip(model.bodies, kept.bodies, strict=True):
        np.testing.assert_array_equal(body.inertia.matrix, other.inertia.matrix)
    line = "kept, as body 'arm' (links 'arm', 'sensor' welded together) is possible"
    assert [n for n in model.notes if n.startswith("link 'sensor': the tensor has a negative") and n.endswith(line)]


def test_possible_links_of_impossible_bodies(read: Any) -> None:
    """Messages name all links that are welded together; both ways to load give the same repaired motion."""
    robot = ARM.replace('ixx="0.02"', 'ixx="-0.2"') + SENSOR.replace('ixx="-0.0001"', 'ixx="0.0003"')
    who = r"body 'arm' \(links 'arm', 'sensor' welded together\): the tensor has a negative principal moment"
    with pytest.raises(lw.ModelError, match=f"line 3: {who}"):
        read(robot)
    merged, apart = (read(robot, inertia="repair", merge_fixed=merge) for merge in (True, False))
    assert [n for n in merged.notes if re.match(who, n) and "repaired: principal moments" in n]
    inertia = merged.bodies[0].inertia
    lw.Inertia(inertia.mass, inertia.com, inertia.tensor)
    for q in (0.0, 0.7):
        np.testing.assert_allclose(lw.mass_matrix(merged, [q]), lw.mass_matrix(apart, [q]), rtol=1e-12)


def test_impossible_links_of_the_world(read: Any) -> None:
    robot = ARM.replace('ixx="0.02"', 'ixx="-0.2"', 1)
    note = "link 'base': the tensor has a negative principal moment -0.2; kept, as it is part of the world and does not move"
    assert note in read(robot).notes
    with pytest.raises(lw.ModelError, match="link 'base': the tensor has a negative principal moment"):
        read(robot, floating=True)


# --- what is ignored --------------------------------------------------------------------------------------------------
def test_everything_ignored_is_noted(read: Any) -> None:
    robot = ARM.replace('<link name="arm">', '<link name="arm"><visual/><visual/><collision/><spin speed="1"/>')
    robot = robot.replace("<axis ", '<axis colour="red" ') + "<gazebo><link/></gazebo><hat/>"
    notes = read(robot + link("c") + joint("weld", "arm", "c", "fixed", axis("0 0 1"))).notes
    for line in (
        "left out, a <visual>: robot.urdf, line 3: link 'arm', <visual> needs an element <geometry>",
        "left out, a <collision>: robot.urdf, line 3: link 'arm', <collision> needs an element <geometry>",
        "ignored: unknown <spin> of <link> (1; first in line 3)",
        "ignored: attribute 'colour' of <axis> (1; first in line 4)",
        "ignored: <gazebo> of <robot> (1; first in line 5)",
        "ignored: unknown <hat> of <robot> (1; first in line 5)",
        "ignored: <axis> of fixed joint (1; first in line 6)",
    ):
        assert line in notes


def test_long_chains(read: Any) -> None:
    """Nothing recurses: five hundred links, half of them welded."""
    n = 500
    links = "".join(link(f"l{k}") for k in range(n + 1))
    joints = "".join(joint(f"j{k}", f"l{k}", f"l{k + 1}", "fixed" if k % 2 else "continuous") for k in range(n))
    assert read(links + joints).nv == n // 2


# --- what links look like ---------------------------------------------------------------------------------------------------
SEEN = """<robot name="seen"><material name="blue"><color rgba="0 0 1 1"/></material>
<link name="base"><visual><geometry><cylinder radius="0.1" length="0.2"/></geometry></visual></link>
<link name="arm"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
  <visual><origin xyz="1 0 0"/><geometry><mesh filename="{mesh}" scale="2 2 2"/></geometry><material name="blue"/></visual>
  <collision><geometry><box size="1 2 3"/></geometry></collision>
  <collision><geometry><mesh filename="{mesh}"/></geometry></collision></link>
<joint name="hinge" type="continuous"><parent link="base"/><child link="arm"/><axis xyz="0 1 0"/></joint></robot>"""


@pytest.mark.parametrize("mesh", ["package://robot/meshes/part.stl", "../meshes/part.stl", "part.stl"])
def test_visuals_meshes_and_materials_are_read(mesh: str, tmp_path: Path) -> None:
    import trimesh

    home = tmp_path / "robot"
    (home / "urdf").mkdir(parents=True)
    (home / "meshes").mkdir()
    (home / "package.xml").write_text("<package/>")
    for folder in ("meshes", "urdf"):
        trimesh.creation.box((1, 1, 1)).export(home / folder / "part.stl")
    file = home / "urdf" / "robot.urdf"
    file.write_text(SEEN.format(mesh=mesh))
    model = lw.load(file)
    (arm,) = model.bodies
    (visual,) = arm.visuals
    assert visual.color == (0, 0, 1, 1)
    np.testing.assert_allclose(visual.bounding_box(), [[0, -1, -1], [2, 1, 1]], atol=1e-6)
    assert [(type(s).__name__, s.group) for s in arm.shapes] == [("Box", 0), ("MeshFile", 0)]
    assert [type(s).__name__ for s in model.world_visuals] == ["Cylinder"]
    touching = lw.load(file, collisions="touch").bodies[0].shapes
    assert [(type(s).__name__, s.group, s.mask) for s in touching] == [("Box", 2, 1), ("Convex", 2, 1)]


@pytest.mark.parametrize(
    ("mesh", "why"),
    [
        ("../../secret.stl", "outside"),
        ("/etc/passwd", "no mesh"),
        ("file:///etc/secret.stl", "outside"),
        ("package://robot/../../secret.stl", "outside"),
        ("package://other/part.stl", "outside"),
        ("http://example.org/part.stl", "not on this machine"),
        ("none.stl", "does not exist"),
    ],
)
def test_no_mesh_is_read_outside_of_the_package(mesh: str, why: str, tmp_path: Path) -> None:
    (tmp_path / "secret.stl").write_bytes(b"solid\nendsolid\n")
    home = tmp_path / "robot" / "urdf"
    home.mkdir(parents=True)
    (home / "robot.urdf").write_text(SEEN.format(mesh=mesh))
    model = lw.load(home / "robot.urdf")
    assert model.bodies[0].visuals == ()
    notes = [note for note in model.notes if "left out" in note]
    assert len(notes) == 2
    assert all(why in note and "line" in note for note in notes)


def test_other_folders_can_be_named(tmp_path: Path) -> None:
    import trimesh

    (tmp_path / "far" / "robot").mkdir(parents=True)
    trimesh.creation.box((1, 1, 1)).export(tmp_path / "far" / "robot" / "part.stl")
    (tmp_path / "robot.urdf").write_text(SEEN.format(mesh="package://robot/part.stl"))
    for folder in (tmp_path / "far", tmp_path / "far" / "robot"):
        assert len(lw.load(tmp_path / "robot.urdf", packages=[folder]).bodies[0].visuals) == 1
    assert lw.load(tmp_path / "robot.urdf").bodies[0].visuals == ()
    with pytest.raises(lw.InputError, match="collisions"):
        lw.load(tmp_path / "robot.urdf", collisions="bounce")  # pyright: ignore


def test_links_that_share_a_mesh_share_its_hull(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Collisions of two links that name one mesh: the file is read once, and each hull stands at its own origin."""
    import trimesh

    from linkwork.geometry import mesh_file

    trimesh.creation.icosphere(subdivisions=4, radius=0.1).export(tmp_path / "ball.stl")
    reads: list[Path] = []
    read_file = mesh_file._read
    monkeypatch.setattr(mesh_file, "_read", lambda path, name: reads.append(path) or read_file(path, name))
    inertial = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'

    def link(name: str, x: float) -> str:
        shape = '<geometry><mesh filename="ball.stl"/></geometry>'
        return f'<link name="{name}">{inertial}<collision><origin xyz="{x} 0 0"/>{shape}</collision></link>'

    path = tmp_path / "two.urdf"
    joint = '<joint name="j" type="continuous"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/></joint>'
    path.write_text(f'<robot name="two">{link("a", 0.5)}{link("b", -0.25)}{joint}</robot>')
    model = lw.load(path, floating=True, collisions="touch")
    first, second = (next(s for s in body.shapes if s.group) for body in model.bodies)
    assert len(reads) == 1
    assert np.allclose(first.bounding_sphere()[0], [0.5, 0.0, 0.0], atol=1e-3)
    assert np.allclose(second.bounding_sphere()[0], [-0.25, 0.0, 0.0], atol=1e-3)
