"""The command line streams, and continues what was killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from command import called
from reliability.runs import heeds_ctrl_c, wait_for

import linkwork as lw


def numbers(folder: Path, scene: str) -> dict[str, np.ndarray]:
    with np.load(folder / f"{scene}.npz") as saved:
        return {name: saved[name] for name in saved.files}


@pytest.mark.parametrize("scene", ["loop", "drag"])
def test_a_scene_that_was_cut_short_goes_on(tmp_path: Path, scene: str, capsys: pytest.CaptureFixture[str]) -> None:
    """`drag` has inputs that are functions: those of the scene."""
    whole, part = tmp_path / "whole", tmp_path / "part"
    for folder in (whole, part):
        assert called("run", scene, "--duration", "0.1", "--out", str(folder), "--headless", "--stream") == 0
    for suffix in (".npz", ".html", ".png"):
        (part / f"{scene}{suffix}").unlink()
    file = part / f"{scene}.lwk"
    data = file.read_bytes()
    file.write_bytes(data[: int(0.7 * len(data))])
    assert called("run", scene, "--duration", "0.1", "--out", str(part), "--headless") == 2
    assert "lw.resume continues it" in capsys.readouterr().err
    assert called("resume", str(file)) == 0
    a, b = numbers(whole, scene), numbers(part, scene)
    assert all(a[name].tobytes() == b[name].tobytes() for name in a)


def test_mistakes_are_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "junk.lwk").write_text("junk")
    for name in ("nothing.lwk", "junk.lwk"):
        assert called("resume", str(tmp_path / name)) == 2
        said = capsys.readouterr().err
        assert said.startswith("linkwork: ")
        assert said.count("\n") == 1


def test_ctrl_c_says_how_to_go_on(tmp_path: Path) -> None:
    given = ["run", "loop", "--duration", "100000", "--out", str(tmp_path), "--headless"]
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    run = subprocess.Popen(
        [sys.executable, "-c", "from linkwork.cli import main; main()", *given],
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
        preexec_fn=heeds_ctrl_c,
    )
    file = tmp_path / "loop.lwk"
    wait_for(file, 20_000)
    run.send_signal(signal.SIGINT)
    _, said = run.communicate(timeout=60)
    assert run.returncode == 130
    assert f"lw.resume('{file}') continues it" in said
    assert len(lw.Trajectory.load(file)) > 10
