"""Scene files of the schema redmax-scene/1: what is read, what is refused and how it is said, the command that runs them."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command import called
from models import control_frames, control_values
from scipy.spatial.transform import Rotation

import linkwork as lw
from linkwork.io.redmax import RedmaxScene, UnsupportedError, read_scene
from linkwork.io.redmax.expressions import compiled, piecewise
from linkwork.io.redmax.joints import joint_of, start_of
from linkwork.io.redmax.published_forces import GroundCuboid
from linkwork.io.redmax.record import Record

FOLDER = Path(__file__).parents[2] / "data" / "redmax"


def data(name: str) -> dict[str, Any]:
    return json.loads((FOLDER / f"{name}.json").read_text())


def changed(name: str, path: tuple[Any, ...], value: Any) -> dict[str, Any]:
    """The scene of a file with one value replaced; `...` removes it."""
    scene = copy.deepcopy(data(name))
    at: Any = scene
    for key in path[:-1]:
        at = at[key]
    if value is ...:
        del at[path[-1]]
    else:
        at[path[-1]] = value
    return scene


def problems(scene: dict[str, Any]) -> None:
    """Read all of a scene."""
    s = RedmaxScene(scene, "it.json")
    for r in s.runs:
        s.problem(r)


# --- expressions ------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1", 1.0),
        ("-t", -2.0),
        ("2*((t-a)/(3-a)-0.5)", 2 * ((2 - 0.5) / 2.5 - 0.5)),
        ("exp(-a*t)*pi", np.exp(-1.0) * np.pi),
        ("2**3**a", 2.0 ** (3.0**0.5)),
        ("+t - -t", 4.0),
        (7, 7.0),
    ],
)
def test_expressions(text: Any, value: float) -> None:
    assert compiled(text, "here", {"t", "a"})({"t": 2.0, "a": 0.5}) == pytest.approx(value, rel=1e-15)


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os').system('true')",
        "().__class__",
        "t.real",
        "t if t else 1",
        "[t][0]",
        "lambda: 1",
        "exp(t, t)",
        "exp(x=t)",
        "sin(t)",
        "open",
        "t and 1",
        "~1",
        "1 < 2",
        "True",
        "'a'",
        "1j",
        "t := 1",
        "",
        "t t",
        "(" * 500,
        "1+" * 1500 + "1",
        None,
        True,
        {"t": 1},
    ],
)
def test_what_expressions_may_not_say(text: Any) -> None:
    with pytest.raises(lw.ModelError, match="here"):
        compiled(text, "here", {"t"})


@pytest.mark.parametrize("text", ["1/t", "9**9**9**9**9", "exp(1000)", "(-1)**0.5"])
def test_expressions_without_a_value(text: str) -> None:
    with pytest.raises(lw.ModelError, match="has no value"):
        compiled(text, "here", {"t"})({"t": 0.0})


def test_pieces() -> None:
    pieces = [
        {"t_lt": 1.0, "constants": {"b": 2}, "auxiliary": {"u": "b*t", "w": "u+1"}, "q": "w", "qd": ["b", "u"]},
        {"t_lt": None, "q": "pi", "qd": 0},
    ]
    f = piecewise(Record({"pieces": pieces}, "here"), ("q", "qd"))
    assert f(0.5)[0] == 2.0
    assert np.array_equal(f(0.5)[1], [2.0, 1.0])
    assert f(1.0) == (np.pi, 0.0)
    for broken, message in ((pieces[:1], "the last of them without 't_lt'"), ([{"q": "u", "qd": "0"}], "'u' is not known")):
        with pytest.raises(lw.ModelError, match=message):
            piecewise(Record({"pieces": broken}, "here"), ("q", "qd"))
    with pytest.raises(lw.ModelError, match="needs 'qd'"):
        piecewise(Record({"pieces": [{"q": "1"}]}, "here"), ("q", "qd"))


# --- joints -----------------------------------------------------------------------------------------------------------
def E(R: Any = None, p: Any = (0, 0, 0)) -> np.ndarray:
    out = np.eye(4)
    out[:3, :3], out[:3, 3] = np.eye(3) if R is None else R.as_matrix(), p
    return out


def vec(r: Any) -> Rotation:
    return Rotation.from_rotvec(r)


AXIS = np.array([0.6, 0.0, 0.8])
POSES: dict[str, Any] = {
    "fixed": lambda q: E(),
    "revolute": lambda q: E(vec(q[0] * AXIS)),
    "prismatic": lambda q: E(p=q[0] * AXIS),
    "planar": lambda q: E(p=(q[0], q[1], 0)),
    "translational": lambda q: E(p=q),
    "universal": lambda q: E(Rotation.from_euler("XY", q)),
    "free2d": lambda q: E(Rotation.from_euler("Z", q[2]), (q[0], q[1], 0)),
    "spherical_exp": lambda q: E(vec(q)),
    "free3d_exp": lambda q: E(vec(q[3:]), q[:3]),
    "free_ST": lambda q: E(vec(q[:3])) @ E(p=q[3:]),
    "spherical_euler": lambda q: E(Rotation.from_euler("YZX", q)),
    "free3d_euler": lambda q: E(Rotation.from_euler("YZX", q[3:]), q[:3]),
    "composite": lambda q: E(vec(q[0] * AXIS)) @ E(p=(q[1], q[2], 0)),
}
SIZES = {"fixed": 0, "revolute": 1, "prismatic": 1, "universal": 2, "planar": 2, "free3d_exp": 6, "free_ST": 6, "free3d_euler": 6}
PARTS = [{"type": "revolute", "axis": AXIS.tolist()}, {"type": "planar"}]


@pytest.mark.parametrize("kind", POSES)
def test_joints_move_as_the_format_says(kind: str) -> None:
    """Pose and velocity at random coordinates, against SciPy's rotations and differences."""
    n = SIZES.get(kind, 3)
    rng = np.random.default_rng(n)
    given = {"type": kind, "axis": (2 * AXIS).tolist(), "chart": "YZX", "q0": rng.uniform(-1, 1, n).tolist(), "parts": PARTS}
    given["qd0"] = rng.uniform(-1, 1, n).tolist()
    if kind != "composite":
        del given["parts"]
    joint = joint_of(Record(given, "j"))
    q, v = start_of(Record(given, "j"), joint)
    moved = joint.motion(q, v)
    pose, h = POSES[kind], 1e-6
    x, x_dot = np.array(given["q0"]), np.array(given["qd0"])
    assert np.abs(np.asarray(moved.matrix, float) - pose(x)).max() < 1e-14
    rate = np.linalg.solve(pose(x), (pose(x + h * x_dot) - pose(x - h * x_dot)) / (2 * h))
    twist = np.array([rate[2, 1], rate[0, 2], rate[1, 0], *rate[:3, 3]])
    assert np.abs(np.asarray(moved.tangent.phi, float) - twist).max() < 1e-9


@pytest.mark.parametrize(
    "parts",
    [
        {"parts": PARTS},
        {"joint1": PARTS[0], "joint2": PARTS[1]},
        {"joints": [{"kind": "revolute", "axis": AXIS.tolist()}, {"kind": "planar"}]},
        {"axis": AXIS.tolist(), "types": ["revolute", "planar"]},
    ],
)
def test_parts_of_composite_joints(parts: dict[str, Any]) -> None:
    joint = joint_of(Record({"type": "composite", **parts}, "j"))
    assert repr(joint) == repr(lw.Composite(lw.Revolute(AXIS), lw.Planar()))


def test_spline_joints() -> None:
    """Control values as six grids or as grids of six; screws and angles below 1e-9 rad do not turn, as published."""
    grid = control_values(0, 4, 4)
    q = np.array([0.3, 1.2])  # beyond the patch too
    expected = lw.SplineSurface(grid, domain=(None, None)).transform(q).matrix
    for values in (grid, np.moveaxis(grid, 0, -1)):
        joint = joint_of(Record({"type": "spline_surface", "control_values": values.tolist()}, "j"))
        assert np.array_equal(np.asarray(joint.transform(q).matrix), np.asarray(expected))
    flat = np.concatenate([grid[:3], np.full((3, 4, 4), 1e-10)])
    joint = joint_of(Record({"type": "spline_surface", "control_values": flat.tolist()}, "j"))
    assert np.array_equal(np.asarray(joint.transform(q).R), np.eye(3))
    frames = [np.asarray(E.matrix, float).tolist() for E in control_frames(0, 5)]
    curve: Any = joint_of(Record({"type": "spline_curve", "control_frames": frames}, "j"))
    right = curve.right()
    assert any(curve.cyclic)
    for x, same in ((0.4, True), (2.0 + 1e-4, False)):
        a, b = (np.asarray(j.transform(np.array([x])).matrix, float) for j in (curve, right))
        assert np.array_equal(a, b) == same
        assert np.abs(a - b).max() < 2e-9
    with pytest.raises(lw.ModelError, match="'control_values' must be six grids"):
        joint_of(Record({"type": "spline_surface", "control_values": np.zeros((4, 4, 5)).tolist()}, "j"))


# --- what is refused --------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("name", "path", "value", "message"),
    [
        ("swing", ("joints", 0, "type"), "magnetic", "joints of type 'magnetic'; there are fixed, revolute"),
        ("swing", ("joints", 0, "type"), "composite", "two parts"),
        ("cart", ("forces", 0, "type"), "glue", "forces of type 'glue'; there are point_direction"),
        ("cart", ("forces", 0, "type"), "spring_damper", "a 'spring_damper' with BDF"),
        ("stops", ("constraints", 0, "type"), "glue", "constraints of type 'glue'"),
        ("tether", ("integrators", "REDMAX_EULER", "friction"), True, "deformables with friction"),
        ("tether", ("deformables", 0, "type"), "cloth", "deformables of type 'cloth'"),
        ("tether", ("deformables", 0, "damping"), 1.0, "a chain with damping"),
        ("driven", ("time_functions", 0, "type"), "wind", "time functions of type 'wind'"),
        ("parallelogram", ("joints", 3, "type"), "planar", "a joint with an axis|coordinates"),
    ],
)
def test_unsupported_elements_say_so(name: str, path: tuple[Any, ...], value: Any, message: str) -> None:
    scene = changed(name, path, value)
    if name == "parallelogram":
        scene["joints"][3].pop("axis")
        scene["joints"][3] |= {"q0": [0, 0], "qd0": [0, 0], "ndof": 2}
    with pytest.raises(UnsupportedError, match=message):
        problems(scene)


@pytest.mark.parametrize(
    ("name", "path", "value", "message"),
    [
        ("swing", ("schema",), "redmax-scene/2", "no scene of the schema"),
        ("swing", ("gravity",), ..., "it.json: needs 'gravity'"),
        ("swing", ("joints", 0, "type"), "spline_curve", r"joints\[0\] 'hinge': needs 'control_frames'"),
        ("swing", ("joints", 0, "type"), "spline_surface", r"joints\[0\] 'hinge': needs 'control_values'"),
        ("swing", ("gravity",), [0, 0], r"'gravity' must be finite numbers of shape \(3,\)"),
        ("swing", ("bodies", 0, "mass"), ..., r"it.json, bodies\[0\] 'bob': needs 'mass'"),
        ("swing", ("bodies", 0, "mass"), -1.0, r"bodies\[0\] 'bob': inertia: the mass -1 must be positive"),
        ("swing", ("bodies", 0, "mass"), "heavy", "'mass' must be a finite number"),
        ("swing", ("bodies", 0, "inertia_diag"), [1, 1, 5], "'bob': inertia"),
        ("swing", ("bodies", 0, "E_ji"), [[2, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]], "'E_ji' is no pose"),
        ("swing", ("joints", 0, "axis"), [0, 0, 0], "'axis' must not be zero"),
        ("swing", ("joints", 0, "q0"), [1, 2], "'q0' must have 1 numbers, not 2"),
        ("swing", ("joints", 0, "ndof"), 3, "'ndof' is 3"),
        ("swing", ("joints", 0, "body"), "ghost", "there is no body 'ghost'|no joint carries"),
        ("swing", ("joints", 0, "parent"), "ghost", "there is no joint 'ghost'"),
        ("swing", ("joints", 0, "parent"), "hinge", "cycle"),
        ("swing", ("joints", 0), 5, "must be an object"),
        ("swing", ("joints",), {}, "'joints' must be a list"),
        ("swing", ("integrators", "BDF1", "tspan"), [1, 2], "'tspan' must begin at 0"),
        ("swing", ("integrators", "BDF1", "steps"), 2.5, "'steps' must be a whole number"),
        ("parallelogram", ("constraints", 0, "body_A"), "ghost", r"constraints\[0\]: 'body_A': there is no body 'ghost'"),
        ("cart", ("forces", 0, "body2"), None, "acts on no body|rest length"),
        ("cart", ("forces", 0, "rest_length"), 0.0, "the rest length is 0"),
        ("drop", ("bodies", 0, "shape"), "sphere", "its body must be a cuboid"),
        ("tether", ("deformables", 0, "nodes"), 1, "two nodes at least"),
        ("tether", ("deformables", 0, "r0"), [0, 0, 0], "at the same place"),
        ("driven", ("constraints", 0, "motion", "pieces", 0, "q"), "__import__('os')", "q: .* is no expression"),
        ("driven", ("time_functions", 0, "pieces", 0, "tau"), {"ghost": "1"}, "there is no joint 'ghost'"),
        ("swing", ("integrators", "BDF1", "steps"), 7, "7 'steps' of 'h' = .* do not end at"),
        ("guided", ("constraints", 0, "rows"), [7], "rows must be different numbers"),
    ],
)
def test_broken_scenes_say_where(name: str, path: tuple[Any, ...], value: Any, message: str) -> None:
    scene = changed(name, path, value)
    if name == "cart" and path[-1] == "body2":
        scene["forces"][0]["body1"] = None
    with pytest.raises(lw.ModelError, match=message) as error:
        problems(scene)
    assert not isinstance(error.value, UnsupportedError)


@pytest.mark.parametrize(("units", "notes"), [({"length": "cm", "mass": "g"}, 1), ({"length": "m", "mass": "kg"}, 0)])
def test_units_of_the_file_are_told(units: dict[str, str], notes: int) -> None:
    """Nothing is converted, so what reports call J may be erg."""
    scene = RedmaxScene(changed("swing", ("units",), units), "it.json")
    found = scene.problem(scene.runs[0]).model.notes
    assert len(found) == notes
    assert all("length in cm, mass in g" in note for note in found)


@pytest.mark.parametrize(
    ("path", "misspelt"), [(("joints", 0, "stiffness"), "stifness"), (("constraints",), "constraint"), (("forces",), "Forces")]
)
def test_keys_that_are_misspelt(path: tuple[Any, ...], misspelt: str) -> None:
    scene = changed("swing", path, ...)
    at: Any = scene
    for key in path[:-1]:
        at = at[key]
    at[misspelt] = 3.0
    with pytest.raises(lw.ModelError, match=f"there is no key '{misspelt}'; did you mean '{path[-1]}'"):
        problems(scene)


def test_two_parents_in_a_ring() -> None:
    scene = data("driven")
    scene["joints"][0]["parent"] = "z"
    with pytest.raises(lw.ModelError, match="cycle"):
        problems(scene)


def test_names_must_be_different() -> None:
    for part in ("bodies", "joints"):
        scene = data("driven")
        scene[part][1]["name"] = scene[part][0]["name"]
        with pytest.raises(lw.ModelError, match="the same name"):
            problems(scene)


def test_other_files(tmp_path: Path) -> None:
    (tmp_path / "bad.json").write_text("{")
    with pytest.raises(lw.ModelError, match=r"bad.json: this is not JSON"):
        read_scene(tmp_path / "bad.json")
    with pytest.raises(lw.InputError, match="cannot read"):
        read_scene(tmp_path / "none.json")


# --- forces -----------------------------------------------------------------------------------------------------------
def test_the_law_of_the_ground() -> None:
    """Sticking below mu kn |d|, beyond it sliding friction along the velocity, as published."""
    ground = GroundCuboid("box", np.zeros((1, 3)), lw.SE3(p=(0, 0, 0.5)), kn=10.0, kt=2.0, kd=3.0, mu=0.5)
    slow, fast = (np.array([v, 0.0, -1.0]) for v in (0.1, 4.0))
    assert np.allclose(np.asarray(ground._force(-0.2, slow), float), [-0.2, 0, 2 + 3])
    assert np.allclose(np.asarray(ground._force(-0.2, fast), float), [0.5 * 10 * 0.2, 0, 2 + 3])
    (wrench,) = ground.wrenches([lw.SE3(p=(0, 0, 0.3))], [np.array([0, 0, 0, *fast])], 0.0, np.zeros(0))
    assert np.allclose(np.asarray(wrench, float), [0, 0, 0, 1, 0, 5])
    (wrench,) = ground.wrenches([lw.SE3(p=(0, 0, 0.7))], [np.array([0, 0, 0, *fast])], 0.0, np.zeros(0))
    assert not np.any(np.asarray(wrench, float))
    assert float(ground.energy([lw.SE3(p=(0, 0, 0.3))])) == pytest.approx(0.5 * 10 * 0.04)


def test_a_cable() -> None:
    """At rest where it starts; tension k e + c l_dot / L along its segments while it is stretched, else nothing."""
    knots = [{"body": "wall", "x": [0, 0, 0]}, {"body": "wall", "x": [0, 0.6, 0]}, {"body": "cart", "x": [0, 0, 0]}]
    law = {"type": "cable", "points": knots, "stiffness": 50.0, "damping": 6.0, "rest_length": "initial length"}
    scene = RedmaxScene(changed("cart", ("forces", 0), law), "it.json")
    model = scene.problem(scene.runs[0]).model
    forces = lw.force_set(model)

    def pull(x: float, v: float) -> float:
        k = lw.kinematics(model, np.array([x]), np.array([v]))
        return forces.wrenches(k.poses, k.twists)[-1, 3]

    L, l = 0.6 + 1.0, 0.6 + np.hypot(1.1, 0.6)
    for v in (0.4, -9.0):
        assert pull(0.3, v) == pytest.approx(-(50.0 * (l - L) + 6.0 * v * 1.1 / (l - 0.6)) / L * 1.1 / (l - 0.6))
    assert pull(-0.3, 9.0) == 0.0
    with pytest.raises(lw.ModelError, match="it needs two points or more"):
        problems(changed("cart", ("forces", 0), law | {"points": knots[:1]}))


# --- the command ------------------------------------------------------------------------------------------------------
def test_a_folder_is_verified(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Good, wrong, unsupported and broken files side by side, and some that are no scenes."""
    below = tmp_path / "scenes" / "below"
    below.mkdir(parents=True)
    wrong = changed("stops", ("integrators", "REDMAX_EULER", "expected_H"), 9.0)
    files = {
        "good": data("stops"),
        "wrong": wrong,
        "glue": changed("stops", ("constraints", 0, "type"), "glue"),
        "broken": changed("stops", ("gravity",), ...),
        "silent": changed("stops", ("integrators", "REDMAX_EULER", "expected_H"), None),
        "index": [{"file": "good.json"}],
    }
    for name, content in files.items():
        (below / f"{name}.json").write_text(json.dumps(content))
    (below / "text.json").write_text("not JSON")
    report = tmp_path / "new" / "rows.json"
    assert called("verify", "redmax", str(tmp_path / "scenes"), "--json", str(report)) == 1  # one fails
    rows = {row["file"]: row for row in json.loads(report.read_text())}
    assert sorted(rows) == [f"below/{name}.json" for name in ("broken", "glue", "good", "text", "wrong")]
    good = rows["below/good.json"]
    assert list(good) == ["file", "integrator", "expected", "computed"]
    assert good["integrator"] == "REDMAX_EULER"
    assert abs(good["computed"] - good["expected"]) < 1e-9
    assert rows["below/wrong.json"]["computed"] == good["computed"]
    assert all(rows[f"below/{name}.json"]["computed"] is None for name in ("broken", "glue", "text"))
    text = capsys.readouterr().out
    for words in (
        "not supported: below/glue.json, constraints[0]: constraints of type 'glue'",
        "error: below/broken.json: needs 'gravity'",
        "FAIL",
    ):
        assert words in text
    assert text.splitlines()[-1] == "1 of 5 pass, 1 fail, 3 not computed"


def test_one_file_is_verified(capsys: pytest.CaptureFixture[str]) -> None:
    assert called("verify", "redmax", str(FOLDER / "stops.json")) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "1 of 1 pass, 0 fail, 0 not computed"


@pytest.mark.parametrize("path", [("joints", 0), (), ("bodies", 0), ("integrators", "REDMAX_EULER")])
def test_keys_that_nobody_reads_are_said(path: tuple[Any, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "more.json"
    file.write_text(json.dumps(changed("stops", (*path, "armature"), 5.0)))
    assert called("verify", "redmax", str(file)) == 0
    assert "the key 'armature' is not of the schema redmax-scene/1, and was not read" in capsys.readouterr().out
    assert called("check", str(file)) == 0
    assert "doubt" in capsys.readouterr().out
    file.write_text(json.dumps(changed("stops", (*path, "remark"), "for readers")))
    assert called("check", str(file)) == 0
    assert "remark" not in capsys.readouterr().out


def test_folders_without_scenes_are_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for folder in (tmp_path, tmp_path / "none"):
        assert called("verify", "redmax", str(folder)) == 2
        assert capsys.readouterr().err.count("\n") == 1
