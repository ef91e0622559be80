"""Files of models do nothing: whatever they say they are loaded, or refused in one line, and nothing else happens."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from robustness.mutations import digest, written
from robustness.stored_models import all_models

import linkwork as lw
from linkwork import constraints, contact, forces, geometry, joints
from linkwork.elements.law import Law
from linkwork.scenes import ALL_SCENES
from linkwork.store.kinds import ALL_FUNCTIONS, ALL_KINDS

TESTS = Path(__file__).parent.parent
COUNT = int(os.environ.get("LINKWORK_CHANGED_FILES", "250"))  # a sample; 10000 and more by hand


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Files of models that have every kind of part."""
    place = tmp_path_factory.mktemp("stored")
    return {name: model.save(place / f"{name}.lwm") for name, model in all_models().items()}


def watched(files: list[Path], first: int, count: int, mode: str, guard: str = "") -> dict[str, Any]:
    """What loading changed files did, told by a process of its own."""
    paths = os.pathsep.join([str(TESTS), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PYTHONPATH": paths, "LINKWORK_GUARD": guard, "LINKWORK_LEVEL": "0"}
    command = [sys.executable, "-m", "robustness.watched_loads", *map(str, files), str(first), str(count), mode]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=500, check=False, cwd=TESTS)
    assert done.returncode == 0, f"ended with {done.returncode} at {done.stderr[-2000:]}"
    return json.loads(done.stdout.splitlines()[-1])


def test_files_of_every_kind_of_part_return(stored: dict[str, Path]) -> None:
    for file in stored.values():
        model = lw.load(file)
        assert lw.load(model.save(file.with_name("again.lwm"))).nv == model.nv


@pytest.mark.parametrize("name", ALL_SCENES)
def test_every_scene_returns_from_its_file(name: str, tmp_path: Path) -> None:
    model, state = ALL_SCENES[name].build()
    if not isinstance(model, lw.Model):
        pytest.skip("it is no model")
    again = lw.load(model.save(tmp_path / "model.lwm"))
    assert again.gravity.tobytes() == model.gravity.tobytes()
    assert lw.kinematics(again, state.q, state.v).poses.tobytes() == lw.kinematics(model, state.q, state.v).poses.tobytes()


def test_changed_files_do_nothing(stored: dict[str, Path]) -> None:
    """No file is written, no socket opened, no process started, nothing else imported; no error but the library's own."""
    small = [file for name, file in stored.items() if name not in ("own joints", "pairs")]
    found = watched(small, 0, COUNT, "load")
    assert found["wrong"] == []
    assert set(found["ends"]) <= {"loaded", "refused"}
    assert found["ends"]["refused"] > COUNT / 2


def test_changed_files_that_load_run_within_their_arrays(stored: dict[str, Path]) -> None:
    found = watched([stored["joints"], stored["shapes"]], 10_000, 40, "simulate", "1")
    assert [x for x in found["wrong"] if "import" not in x] == []


# --- attacks ------------------------------------------------------------------------------------------------------------------
def pendulum() -> dict[str, Any]:
    """A stored model of one body with a force of a function and a contact shape."""
    b = lw.ModelBuilder()
    hull = lw.Convex([(x, y, z) for x in (0, 0.2) for y in (0, 0.3) for z in (0, 0.1)])
    shapes = [lw.Sphere(0.1, name="ball"), hull]
    b.body("rod", joint=lw.Revolute((0, 1, 0)), inertia=lw.Inertia(1.0, (0.2, 0, 0), np.eye(3)), shapes=shapes)
    b.add(lw.TorqueCurve("rod", lambda q: -np.tanh(q)), lw.JointSpring("rod", 2.0, name="spring"))
    file = b.build().save("pendulum.lwm")
    return json.loads(file.read_text())


def loaded(text: dict[str, Any]) -> lw.Model:
    Path("changed.lwm").write_text(written({**text, "digest": digest(text)}))
    return lw.load("changed.lwm")


def part(text: dict[str, Any], kind: str) -> dict[str, Any]:
    """The first object of a kind in a tree."""
    stack: list[Any] = [text["model"]]
    while stack:
        x = stack.pop()
        if isinstance(x, dict) and str(x.get("of", "")).endswith(f":{kind}"):
            return x["state"]
        stack += x.values() if isinstance(x, dict) else x if isinstance(x, list) else ()
    raise KeyError(kind)


def tape(text: dict[str, Any]) -> dict[str, Any]:
    """The operations of the law of the joint."""
    return part(text, "TorqueCurve")["_made_with"]["tuple"][0]["tuple"][1]["tape"]


def array(text: dict[str, Any], kind: str, name: str) -> dict[str, Any]:
    return text["arrays"][part(text, kind)[name]["array"]]


def writer(victim: str) -> dict[str, Any]:
    return {"named": "linkwork.store.blocks:BlockWriter", "members": [victim, 1]}


def door(victim: str) -> dict[str, Any]:
    return {"named": "linkwork.view.session.door:Door", "members": ["0.0.0.0", 45672, 22, None]}


def filled(victim: str) -> dict[str, Any]:
    """An object without its constructor, whose methods or destructor would act."""
    state = {"path": victim, "end": 1, "_at": victim, "_finished": True}
    return {"object": 0, "of": "linkwork.store.blocks:BlockWriter", "state": state}


def set_state(kind: str, name: str, value: Any) -> Callable[[dict[str, Any], str], None]:
    def change(text: dict[str, Any], victim: str) -> None:
        part(text, kind)[name] = value(victim) if callable(value) else value

    return change


def set_array(kind: str, name: str, **parts: Any) -> Callable[[dict[str, Any], str], None]:
    return lambda text, victim: array(text, kind, name).update(parts)


def grown(text: dict[str, Any], victim: str) -> None:
    """A function whose every step doubles an array."""
    nodes = tape(text)["nodes"]
    nodes += [["held", [{"array": [[len(nodes) + k - 1]] * 2, "shape": [2]}]] for k in range(40)]


def powers(text: dict[str, Any], victim: str) -> None:
    """A function whose constants are raised to powers without end."""
    tape(text)["nodes"] += [["pow", [9, 2**40]]]


def huge_input(text: dict[str, Any], victim: str) -> None:
    tape(text)["forms"][0] = [[2**20, 2**20]]


def borrowed_code(text: dict[str, Any], victim: str) -> None:
    """A function of the library in place of a law."""
    part(text, "TorqueCurve")["law"] = {"function": "linkwork.io.saved:save_model"}


def deep(text: dict[str, Any], victim: str) -> None:
    x: Any = 1.0
    for _ in range(200):
        x = {"tuple": [x]}
    part(text, "Model")["notes"] = x


ATTACKS: dict[str, tuple[Callable[[dict[str, Any], str], None], str]] = {
    "a constructor truncates a file": (set_state("Revolute", "writer", writer), "no tuple that files contain"),
    "a constructor opens a port": (set_state("Model", "door", door), "no tuple that files contain"),
    "an object that nobody made": (set_state("JointSpring", "rest", filled), "no kind of part"),
    "a function that writes": (borrowed_code, "no function that files contain"),
    "a class": (set_state("Model", "gravity", {"class": "linkwork.model.model:Model"}), "do not contain 'class'"),
    "a foreign object": (set_state("Model", "gravity", {"foreign": 0}), "do not contain 'foreign'"),
    "a module reached through another": (
        set_state("Model", "gravity", {"object": 0, "of": "linkwork.store.kinds:importlib.util._LazyModule", "state": {}}),
        "no kind of part",
    ),
    "an attribute that hides a method": (set_state("Revolute", "transform", "text"), "no attribute 'transform'"),
    "the class of an object": (set_state("Sphere", "__class__", "text"), "no attribute '__class__'"),
    "what a model has computed": (set_state("Model", "_kept", {"dict": []}), "attributes"),
    "a function that grows": (grown, "takes a scalar"),
    "powers without end": (powers, "of constants"),
    "an input of 2^40 numbers": (huge_input, "is not read as a whole"),
    "a range of 2^62": (set_state("Model", "notes", {"range": [0, 2**62, 1]}), "at most"),
    "nesting": (deep, "nested more than"),
    "itself": (set_state("Model", "notes", {"again": 0}), "no part before"),
}
WRONG: dict[str, tuple[Callable[[dict[str, Any], str], None], str]] = {
    "faces of vertices that are not there": (set_array("Convex", "faces", numbers=[0, 1, 2**30] * 12), "names vertex"),
    "faces turned inward": (lambda text, victim: array(text, "Convex", "faces")["numbers"].reverse(), "face"),
    "gravity without entries": (set_array("Model", "gravity", shape=[0], numbers=[]), "gravity"),
    "gravity in float32": (set_array("Model", "gravity", type="<f4"), "gravity"),
    "gravity that is not finite": (set_array("Model", "gravity", numbers=[0.0, 0.0, "nan"]), "gravity"),
    "a negative mass": (set_state("Inertia", "mass", -3.0), "mass -3"),
    "no mass": (set_state("Inertia", "mass", 0.0), "mass 0"),
    "a mass that is no number": (set_state("Inertia", "mass", {"float": "nan"}), "mass"),
    "a mass that is a text": (set_state("Inertia", "mass", "heavy"), "mass"),
    "an impossible tensor": (set_array("Inertia", "tensor", numbers=[9.0, 0, 0, 0, 1, 0, 0, 0, 1]), "triangle inequality"),
    "a centre of mass of two entries": (set_array("Inertia", "com", shape=[2], numbers=[0.0, 0.0]), "com"),
    "a stiffness that is a list": (set_state("JointSpring", "stiffness", [1.0]), "stiffness"),
    "a radius below zero": (set_state("Sphere", "radius", -0.1), "radius"),
    "an axis that is no unit vector": (set_array("Revolute", "axis", numbers=[0.0, 2.0, 0.0]), "axis"),
    "a parent that is not there": (set_state("Body", "parent", 7), "parent"),
    "limits that are not numbers": (set_array("JointProperties", "lower", numbers=["nan"]), "rod"),
    "damping below zero": (set_array("JointProperties", "damping", numbers=[-1.0]), "damping"),
    "damping of two entries": (set_array("JointProperties", "damping", shape=[2], numbers=[1.0, 1.0]), "damping"),
    "a joint that is not there": (set_state("JointSpring", "joint", "elbow"), "joint"),
    "no bodies": (
        lambda text, victim: part(text, "Model").update(bodies={"tuple": []}, elements={"tuple": []}, world_shapes={"tuple": []}),
        "no bodies",
    ),
    "a name of a body twice": (lambda text, victim: part(text, "Model")["bodies"]["tuple"].append({"again": 1}), "twice"),
}  # fmt: skip


@pytest.mark.parametrize("what", [*ATTACKS, *WRONG])
def test_what_no_model_says_is_refused_in_one_line(what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the file, the place and the rule; nothing is written, and nothing takes long."""
    monkeypatch.chdir(tmp_path)
    victim = tmp_path / "victim"
    victim.write_text("precious")
    text = pendulum()
    change, words = (ATTACKS | WRONG)[what]
    change(text, str(victim))
    begin = time.perf_counter()
    with pytest.raises(lw.ModelError, match=words) as error:
        loaded(text)
    assert time.perf_counter() - begin < 2.0
    assert "changed.lwm" in str(error.value)
    assert "\n" not in str(error.value)
    assert victim.read_text() == "precious"
    assert sorted(x.name for x in tmp_path.iterdir()) == ["changed.lwm", "pendulum.lwm", "victim"]


def test_what_is_not_changed_loads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert loaded(pendulum()).nv == 1


def test_frames_of_files_do_not_pass_for_those_of_shapes(tmp_path: Path) -> None:
    """Machine code is known by what a chart is said to compute: a file cannot say that of a sphere for something else."""
    model = all_models()["pairs"]
    text = json.loads(model.save(tmp_path / "pairs.lwm").read_text())
    own = next(n for n, b in enumerate(model.bodies) if b.name == "hoop on ellipsoid")
    chart = text["model"]["state"]["bodies"]["tuple"][own]["state"]["joint"]["state"]["b"]["state"]
    assert "tape" in chart["function"]
    chart["kind"] = {"tuple": ["Sphere"]}
    (tmp_path / "changed.lwm").write_text(written({**text, "digest": digest(text)}))
    joint = lw.load(tmp_path / "changed.lwm").bodies[own].joint
    assert "taped" in str(joint.signature)


def test_files_contain_every_public_kind() -> None:
    """What a model can be built of can be saved; meshes to look at, which stay in files of their own, cannot."""
    bases = {"Constraint", "Force", "FormulaJoint", "Joint", "JointConstraint", "JointForce", "Line", "Shape", "MeshFile"}
    for package in (constraints, contact, forces, geometry, joints):
        for name in package.__all__:
            kind = getattr(package, name)
            if isinstance(kind, type) and issubclass(kind, (lw.Joint, lw.Shape, Law)) and name not in bases:
                assert f"{kind.__module__}:{kind.__qualname__}" in ALL_KINDS


def test_the_list_of_kinds_is_closed() -> None:
    """No kind, and no function, that does anything but describe a model."""
    for name in (*ALL_KINDS, *ALL_FUNCTIONS):
        module = name.partition(":")[0]
        assert not module.startswith(("linkwork.view", "linkwork.streams", "linkwork.cli", "linkwork.kernel", "linkwork.store"))
