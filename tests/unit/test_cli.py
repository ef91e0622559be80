"""The command line: what it prints and writes, and how it fails."""

from __future__ import annotations

import subprocess
import sys
import webbrowser
from pathlib import Path

import numpy as np
import pytest
from command import called

import linkwork as lw


def test_run_writes_everything_and_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "new" / "folder"
    assert called("run", "pendulum", "--links", "2", "--duration", "0.1", "--out", str(out), "--headless") == 0
    text = capsys.readouterr().out
    for suffix in ("html", "png", "npz"):
        assert (out / f"pendulum.{suffix}").stat().st_size > 0
        assert str(out / f"pendulum.{suffix}") in text
    assert sorted(p.name for p in out.iterdir()) == ["pendulum.html", "pendulum.npz", "pendulum.png"]
    for word in ("bodies   2", "100 of 0.001 s", "steps/s", "energy drift"):
        assert word in text
    with np.load(out / "pendulum.npz") as saved:
        assert str(saved["kind"]) == "reduced"
        assert saved["t"][-1] == pytest.approx(0.1)


def test_method_and_step_are_passed_on(tmp_path: Path) -> None:
    given = ["--method", "maximal", "--duration", "0.02", "--dt", "0.002", "--out", str(tmp_path), "--headless"]
    assert called("run", "pendulum", *given) == 0
    with np.load(tmp_path / "pendulum.npz") as saved:
        assert str(saved["kind"]) == "maximal"
        assert len(saved["t"]) == 11


@pytest.mark.parametrize("broken", [lambda uri: False, lambda uri: (_ for _ in ()).throw(webbrowser.Error("none"))])
def test_a_missing_browser_is_said_not_fatal(
    broken: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(webbrowser, "open", broken)
    assert called("run", "helix", "--duration", "0.01", "--out", str(tmp_path)) == 0
    assert "no browser" in capsys.readouterr().out


def test_the_page_is_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    opened: list[str] = []
    monkeypatch.setattr(webbrowser, "open", lambda uri: not opened.append(uri))
    assert called("run", "helix", "--duration", "0.01", "--out", str(tmp_path)) == 0
    assert opened == [(tmp_path / "helix.html").resolve().as_uri()]
    assert "no browser" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["run", "nothing"], ["'nothing'", "pendulum", "ball"]),
        (["run", "ball", "--links", "3"], ["links"]),
        (["run", "pendulum", "--duration", "-1"], ["duration"]),
        (["run", "pendulum", "--dt", "0.3", "--duration", "1"], ["whole number of steps"]),
        (["run", "pendulum", "--links", "0"], ["links"]),
    ],
)
def test_errors_are_one_line_and_code_two(
    arguments: list[str], words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert called(*arguments, "--headless") == 2
    captured = capsys.readouterr()
    assert captured.err.count("\n") == 1
    assert captured.err.startswith("linkwork: ")
    assert "Traceback" not in captured.err
    for word in words:
        assert word in captured.err
    assert "wrote" not in captured.out


def test_an_unusable_folder_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "file"
    file.write_text("")
    assert called("run", "helix", "--out", str(file / "below"), "--headless") == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_unknown_benchmark_lists_the_known_ones(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    seen: list[tuple[Path | None, bool]] = []
    fake = type(sys)("linkwork.bench")
    fake.BENCHMARKS = {"first": lambda json, quick: seen.append((json, quick)), "second": lambda json, quick: None}  # pyright: ignore
    fake.FULL = ()  # pyright: ignore
    monkeypatch.setitem(sys.modules, "linkwork.bench", fake)
    monkeypatch.setattr(lw, "bench", fake, raising=False)
    assert called("bench", "third") == 2
    assert "first, second" in capsys.readouterr().err
    assert called("bench", "first", "--json", "rows.json", "--quick") == 0
    assert called("bench", "first") == 0
    assert seen == [(Path("rows.json"), True), (None, False)]


def test_published_and_right_energies(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = Path(__file__).parent.parent / "data" / "redmax" / "floor.json"
    (tmp_path / "floor.json").write_text(file.read_text())
    assert called("verify", "redmax", str(tmp_path)) == 0
    assert "StrictFloor" not in capsys.readouterr().out
    assert called("verify", "redmax", str(tmp_path), "--right") == 0
    assert "without StrictFloor" in capsys.readouterr().out


def test_scenes_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    from linkwork.scenes import ALL_SCENES

    assert called("scenes") == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == list(ALL_SCENES)
    assert all(scene.description in line for scene, line in zip(ALL_SCENES.values(), lines, strict=True))


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert called("version") == 0
    assert capsys.readouterr().out.strip() == lw.__version__


@pytest.mark.parametrize("command", ["run", "scenes", "version", "bench"])
def test_help_of_every_command(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert called(command, "--help") == 0
    assert f"linkwork {command}" in capsys.readouterr().out


def test_help_imports_nothing_heavy() -> None:
    """Help must come at once: no plots, no compiler."""
    heavy = ["matplotlib", "llvmlite", "scipy", "linkwork.view", "linkwork.scenes", "linkwork.bench"]
    code = f"""
import sys
from linkwork.cli import main
try:
    main(["--help"])
except SystemExit:
    pass
print([name for name in {heavy} if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "Commands" in done.stdout
    assert done.stdout.splitlines()[-1] == "[]"
