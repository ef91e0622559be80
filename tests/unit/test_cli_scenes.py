"""Every scene runs from the command line for a few frames and leaves in every format."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from command import called
from glb import animated_poses, read_glb

from linkwork.cli.export import FORMATS
from linkwork.scenes import ALL_SCENES

SMALLER = {
    "plant": ("--generations", "2"),
    "hair": ("--links", "6"),
    "chain": ("--links", "5"),
    "stack": ("--boxes", "3"),
    "arch": ("--stones", "3"),
    "dominoes": ("--count", "3"),
    "wall": ("--courses", "2"),
    "pile": ("--count", "12"),
    "revolute_chain": ("--links", "4"),
    "torus_chain": ("--links", "3"),
    "tori_on_spline": ("--links", "3"),
}
STEPS = 3


@pytest.mark.parametrize("name", ALL_SCENES)
def test_runs_and_leaves_in_every_format(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scene = ALL_SCENES[name]
    given = [*SMALLER.get(name, ()), "--duration", repr(STEPS * scene.dt), "--out", str(tmp_path), "--json", "--headless"]
    assert called("export", name, *given, "--to", "all") == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["steps"] == STEPS
    assert facts["health"]["finite"]
    expected = {f"{name}{suffix}" for suffix in FORMATS.values()}
    expected -= set() if shutil.which("ffmpeg") else {f"{name}.mp4"}
    assert {p.name for p in tmp_path.iterdir()} == expected
    assert all(p.stat().st_size > 100 for p in tmp_path.iterdir())
    with np.load(tmp_path / f"{name}.npz") as saved:
        t = saved["t"]
    document, binary = read_glb(tmp_path / f"{name}.glb")
    times, poses = animated_poses(document, binary)
    assert times[[0, -1]] == pytest.approx(t[[0, -1]] - t[0], abs=1e-6)
    assert len(poses) == facts["bodies"]
    rows = (tmp_path / f"{name}.csv").read_text().splitlines()
    assert len(rows) == STEPS + 2
    assert float(rows[-1].split(",")[0]) == t[-1]
