"""What the commands do besides running scenes: files, views, comparisons, galleries."""

from __future__ import annotations

import json
import subprocess
import sys
import webbrowser
from pathlib import Path

import numpy as np
import pytest
from command import called

import linkwork as lw
from linkwork.cli.app import app
from linkwork.cli.problem import Problem, problem_of, scene_options
from linkwork.scenes import ALL_SCENES

ARM = """<robot name="arm">
<link name="base"><inertial><mass value="3"/><inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial></link>
<link name="a"><inertial><origin xyz="0.2 0 0"/><mass value="1"/>
<inertia ixx="0.001" ixy="0" ixz="0" iyy="0.01" iyz="0" izz="0.01"/></inertial></link>
<joint name="j" type="revolute"><parent link="base"/><child link="a"/><axis xyz="0 1 0"/>
<limit lower="0.2" upper="2" effort="9" velocity="9"/></joint></robot>"""


@pytest.fixture
def arm(tmp_path: Path) -> str:
    (tmp_path / "arm.urdf").write_text(ARM)
    return str(tmp_path / "arm.urdf")


def said(capsys: pytest.CaptureFixture[str]) -> dict:
    return json.loads(capsys.readouterr().out)


def test_a_session_ends_by_itself(arm: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What it recorded is written; coordinates that are functions of others are refused."""
    pytest.importorskip("viser")
    file = tmp_path / "session.npz"
    assert called("live", arm, "--duration", "0.05", "--headless", "--record", str(file)) == 0
    out = capsys.readouterr().out
    assert "live at http://127.0.0.1:" in out
    assert str(file) in out
    model = lw.load(arm)
    assert np.array_equal(np.load(file)["q"], lw.simulate(model, lw.State(np.array([0.2]), np.zeros(1)), 0.05).q)
    assert called("live", "hyper_chain", "--headless") == 2
    assert "use run" in capsys.readouterr().err


def test_a_robot_runs_from_its_file(arm: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = ["--duration", "0.1", "--out", str(tmp_path), "--headless"]
    assert called("run", arm, *given) == 0
    text = capsys.readouterr().out
    for word in ("scene    arm", "dofs     1", "steps/s", "energy drift", "times real time"):
        assert word in text
    with np.load(tmp_path / "arm.npz") as saved:
        assert saved["q"][0, 0] == 0.2  # zero is beyond its limit
    assert called("run", arm, *given, "--floating", "--height", "2", "--ground", "--gravity", "0", "0", "-1", "--json") == 0
    facts = said(capsys)
    assert (facts["bodies"], facts["dofs"]) == (2, 7)
    with np.load(tmp_path / "arm.npz") as saved:
        assert saved["q"][0, 2] == 2.0


def test_a_run_that_breaks_down_writes_what_it_has_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    model, state = ALL_SCENES["pendulum"].build(links=2)
    fast = lw.State(state.q, np.array([1e4, -1e4]))
    monkeypatch.setattr(sys.modules["linkwork.cli.run"], "problem_of", lambda *_: Problem("lost", model, fast, 20.0, 0.5))
    assert called("run", "lost", "--headless", "--out", str(tmp_path)) == 3
    captured = capsys.readouterr()
    assert captured.err.count("\n") == 1
    assert "not finite" in captured.err
    assert (tmp_path / "lost.npz").exists()


@pytest.mark.parametrize("name", ALL_SCENES)
def test_every_option_of_every_scene_is_taken(name: str) -> None:
    scene = ALL_SCENES[name]
    for option, own in scene.defaults.items():
        if isinstance(own, bool):
            assert scene_options(scene, [f"--{option}"]) == {option: True}
            assert scene_options(scene, [f"--no-{option}"]) == {option: False}
            assert scene_options(scene, [f"--{option}", "no"]) == {option: False}
        else:
            assert scene_options(scene, [f"--{option}", str(own)]) == {option: own}
            assert scene_options(scene, [f"--{option}={own}"]) == {option: own}


@pytest.mark.parametrize("word", ["option", "options"])
def test_what_descriptions_advertise_is_an_option(word: str) -> None:
    for scene in ALL_SCENES.values():
        _, found, rest = scene.description.partition(f"({word}: ")
        if found:
            assert set(rest.rstrip(")").split(", ")) <= set(scene.options), scene.name


def test_options_of_a_scene_change_it() -> None:
    assert problem_of("pendulum", ["--links", "5"]).model.nb == 5
    heavy = problem_of("elbow", ["--weight", "7.5"]).model
    assert sum(b.inertia.mass for b in heavy.bodies) > 7.5


def test_a_model_is_viewed(arm: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert called("view", arm, "--out", str(tmp_path), "--headless") == 0
    assert "Revolute y" in capsys.readouterr().out
    assert (tmp_path / "arm.view.html").stat().st_size > 1000
    assert called("view", "leg", "--move", "--out", str(tmp_path), "--headless", "--json") == 0
    assert said(capsys)["files"] == [str(tmp_path / "leg.view.html")]


def test_joints_are_moved_through_their_ranges() -> None:
    from linkwork.cli.standing import standing

    run = standing(problem_of("leg"), move=True)
    low, high = run.q.min(axis=0), run.q.max(axis=0)
    for body in run.model.bodies[1:]:
        part, p = run.model.q_index(body.name), body.properties
        assert low[part] == pytest.approx(p.lower, rel=0.01, abs=0.01)
        assert high[part] == pytest.approx(p.upper, rel=0.01)
    assert np.abs(np.diff(run.q, axis=0)).max() < 0.5
    np.testing.assert_allclose(run.q[-1], run.q[0], atol=1e-12)


def test_a_saved_page_is_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr(webbrowser, "open", lambda uri: not opened.append(uri))
    page = tmp_path / "run.html"
    page.write_text("<!doctype html>")
    assert called("view", str(page)) == 0
    assert opened == [page.resolve().as_uri()]


def test_methods_are_compared(capsys: pytest.CaptureFixture[str]) -> None:
    given = ["--duration", "0.1", "--links", "2"]
    assert called("compare", "pendulum", *given) == 0
    text = capsys.readouterr().out
    for word in ("reduced", "maximal", "maximal-implicit", "redmax", "us/step", "energy drift"):
        assert word in text
    assert called("compare", "pendulum", *given, "--methods", "reduced", "--methods", "maximal", "--json") == 0
    rows = said(capsys)["rows"]
    assert [r["method"] for r in rows] == ["reduced", "maximal"]
    assert rows[0]["distance"] == 0.0
    assert 0.0 < rows[1]["distance"] < 1e-6
    assert called("compare", "pendulum", *given, "--within", "1e-12", "--json") == 1


def test_what_a_method_cannot_run_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        called("compare", "hyper_chain", "--links", "3", "--duration", "0.02", "--methods", "reduced", "--methods", "maximal")
        == 0
    )
    assert "maximal cannot run it: " in capsys.readouterr().out


def test_a_plot_of_ones_choice(tmp_path: Path) -> None:
    path = tmp_path / "phase.svg"
    given = ["--duration", "0.05", "--show", "phase", "--show", "residuals", "--joint", "link1", "--out", str(path), "--headless"]
    assert called("plot", "pendulum", *given) == 0
    text = path.read_text()
    assert "<svg" in text


def test_scenes_tell_their_options(capsys: pytest.CaptureFixture[str]) -> None:
    assert called("scenes", "stack", "drag") == 0
    text = capsys.readouterr().out
    for word in ("--boxes 10", "--stiff, --no-stiff", "linkwork run stack"):
        assert word in text
    assert called("scenes", "--json") == 0
    rows = json.loads(capsys.readouterr().out)
    assert [r["name"] for r in rows] == list(ALL_SCENES)
    assert rows[0]["options"] == {"links": 3}


def test_scenes_are_timed(capsys: pytest.CaptureFixture[str]) -> None:
    assert called("scenes", "helix", "pendulum", "--time", "--json") == 0
    assert all(r["real_time"] > 1.0 for r in json.loads(capsys.readouterr().out))


@pytest.mark.parametrize("recorded", [True, False])
def test_the_gallery_shows_its_scenes(recorded: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = ["--recorded"] if recorded else []
    assert called("demo", "helix", "pendulum", *given, "--out", str(tmp_path), "--headless") == 0
    index = (tmp_path / "index.html").read_text()
    for name in ("helix", "pendulum"):
        assert f'href="{name}.html"' in index
        page = (tmp_path / f"{name}.html").read_text()
        assert "refresh" not in page[:400]
        assert ("WebAssembly" in page) != recorded
        assert list(tmp_path.glob(f"{name}.[pjsw]*[gp]"))
    assert "http" not in index.replace("http-equiv", "")


COMMANDS = sorted(name for name in app if not name.startswith("-"))


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_examples(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert called(command, "--help") == 0
    text = capsys.readouterr().out
    assert f"linkwork {command}" in text
    assert "Examples:" in text or command == "version"


def test_every_scene_has_a_picture() -> None:
    from linkwork.cli.gallery import PICTURES

    folder = next(p for p in PICTURES if p.is_dir())
    assert {p.stem for p in folder.iterdir()} >= set(ALL_SCENES)


def test_completion_is_made_for_shells() -> None:
    script = app.generate_completion(prog_name="linkwork", shell="bash")
    for command in COMMANDS:
        assert command in script


def test_help_of_a_command_comes_without_the_compiler() -> None:
    code = (
        "import sys\nfrom linkwork.cli import main\ntry:\n    main(['export', '--help'])\nexcept SystemExit:\n    pass\n"
        "print([n for n in ('llvmlite', 'matplotlib', 'scipy') if n in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_scenes_run_in_their_pages(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert called("run", "pendulum", "--links", "2", "--live", "--headless", "--json", "--out", str(tmp_path)) == 0
    assert json.loads(capsys.readouterr().out)["files"] == [str(tmp_path / "pendulum_live.html")]
    assert "makeSimulation" in (tmp_path / "pendulum_live.html").read_text()
    assert called("run", "pendulum", "--stepper", "dop853", "--live", "--headless", "--out", str(tmp_path)) == 2
    assert "chooses its own steps" in capsys.readouterr().err
    assert called("demo", "helix", "--live", "--out", str(tmp_path), "--headless") == 0
    assert "makeSimulation" in (tmp_path / "helix.html").read_text()


def test_python_minus_m_is_the_command() -> None:
    done = subprocess.run([sys.executable, "-m", "linkwork", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == lw.__version__
