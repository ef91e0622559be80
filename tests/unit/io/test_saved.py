"""Models as files: what is read is what was saved, to the bit, and wrong files are refused in one line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command import called
from pages.live_models import contact, loop, muscles, springs, written_joint

import linkwork as lw
from linkwork.scenes import ALL_SCENES
from linkwork.store.data import Data
from linkwork.store.objects import encode

MADE = {f.__name__: f for f in (springs, loop, muscles, contact, written_joint)}
SCENES = ("pendulum", "four_bar_knee", "quadruped", "gears", "spline_knee", "hair")


@pytest.mark.parametrize("name", [*MADE, *SCENES])
def test_a_model_returns_from_its_file(name: str, tmp_path: Path) -> None:
    """Joints, forces and constraints of users included; it runs to the same bits."""
    model, state = MADE[name]() if name in MADE else ALL_SCENES[name].build()
    again = lw.load(model.save(tmp_path / "model.lwm"))
    assert encode(again).digest == encode(model).digest
    assert str(again) == str(model)
    dt = 1e-3 if name in MADE else ALL_SCENES[name].dt
    method = "reduced" if name in MADE else ALL_SCENES[name].methods[0]
    ours, theirs = (lw.simulate(m, state, 5 * dt, dt, method) for m in (again, model))
    for part, x in theirs.arrays.items():
        assert np.array_equal(ours.arrays[part], x)


def test_commands_run_and_show_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """From the state that it was saved with."""
    model, state = written_joint()
    file = str(model.save(tmp_path / "slot.lwm", state))
    assert lw.load(file).keyframes["start"].v == pytest.approx(state.v)
    out = ["--out", str(tmp_path), "--headless", "--json"]
    assert called("run", file, "--duration", "0.05", *out) == 0
    assert json.loads(capsys.readouterr().out)["bodies"] == model.nb
    run = np.load(tmp_path / "slot.npz")
    assert np.array_equal(run["q"], lw.simulate(model, state, 0.05).q)
    assert called("view", file, *out) == 0


def test_gravity_can_be_another(tmp_path: Path) -> None:
    file = springs()[0].save(tmp_path / "model.lwm")
    assert lw.load(file, gravity=(0, 0, -1.6)).gravity.tolist() == [0, 0, -1.6]


def test_what_cannot_be_saved(tmp_path: Path) -> None:
    model, state = springs()
    with pytest.raises(lw.InputError, match=r"ends in \.lwm, not 'model\.json'"):
        model.save(tmp_path / "model.json")
    with pytest.raises(lw.LinkworkError, match="q"):
        model.save(tmp_path / "model.lwm", lw.State(np.zeros(99), state.v))

    class Push(lw.Force):
        def __init__(self, body: str) -> None:
            self.between(body)

        def wrenches(self, poses: Any, twists: Any, t: Any, u: Any) -> Any:
            return [np.zeros(6)]

    with pytest.raises(lw.InputError, match="Push is not part of linkwork"):
        model.add(Push("rod0")).save(tmp_path / "model.lwm")
    assert not list(tmp_path.iterdir())


def data(tree: Any) -> dict[str, Any]:
    return {"schema": "linkwork-model/1", "model": tree, "arrays": {}, "digest": Data(tree, {}).digest}


BAD: dict[str, tuple[Any, str]] = {
    "no JSON": ("{", "no saved model"),
    "another file": ({"schema": "redmax-scene/1"}, "no saved model of the schema"),
    "nothing in it": ({"schema": "linkwork-model/1"}, "cannot be read"),
    "another object": (data({"object": 0, "of": "linkwork.joints.fixed:Fixed", "state": {"_finished": True}}), "holds a Fixed"),
    "a class": (data({"class": "linkwork.model.model:Model"}), "files do not contain 'class'"),
    "an object of others": (data({"object": 0, "of": "os:PathLike", "state": {}}), "no kind of part"),
    "changed": ({**data(1), "model": 2}, "changed after it was saved"),
    "an array of objects": (
        {"schema": "linkwork-model/1", "model": 1, "arrays": {"a": {"type": "|O", "shape": [1], "numbers": [1]}}},
        "type that no model has",
    ),
    "a wrong shape": (
        {"schema": "linkwork-model/1", "model": 1, "arrays": {"a": {"type": "<f8", "shape": [7], "numbers": [1.0]}}},
        "cannot be read",
    ),
    "deep": ("[" * 100_000, "no saved model"),
}


@pytest.mark.parametrize("what", BAD)
def test_wrong_files_are_one_line(what: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text, words = BAD[what]
    file = tmp_path / "bad.lwm"
    file.write_text(text if isinstance(text, str) else json.dumps(text))
    with pytest.raises(lw.ModelError, match=words):
        lw.load(file)
    assert called("run", str(file), "--headless", "--out", str(tmp_path)) == 2
    said = capsys.readouterr().err
    assert "bad.lwm" in said
    assert len(said.splitlines()) == 1
