"""Studies from files and from the command line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from command import called

TOML = """
scene = "pendulum"
duration = 0.02
dt = 0.001
runs = 8

[sobol]
"q[0]" = [-1.0, 1.0]
"gravity[2]" = [-20.0, -1.0]
"""
PYTHON = """
import linkwork as lw
b = lw.ModelBuilder()
b.body("arm", joint=lw.Revolute((0, 1, 0)), inertia=lw.Inertia.cuboid(1.0, (0.3, 0.1, 0.05), com=(0.15, 0, 0)))
model = b.build()
design = lw.Design({"arm.mass": [1.0, 2.0, 3.0]})
duration = 0.1

def measure(run):
    return {"fall": run.q[-1, 0]}
"""


def test_a_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    (tmp_path / "sweep.toml").write_text(TOML)
    assert called("study", str(tmp_path / "sweep.toml"), "--headless") == 0
    assert "8 runs over q[0], gravity[2]" in capsys.readouterr().out
    assert parquet.read_table(tmp_path / "sweep.parquet").num_rows == 8


def test_python_with_a_plot(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    (tmp_path / "falls.py").write_text(PYTHON)
    picture = tmp_path / "falls.png"
    assert called("study", str(tmp_path / "falls.py"), "--headless", "--plot", str(picture)) == 0
    assert "fall:" in capsys.readouterr().out
    fall = parquet.read_table(tmp_path / "falls.parquet").column("fall").to_numpy()
    assert np.ptp(fall) > 0  # the tensor stays as it is, so the mass matters
    assert picture.stat().st_size > 1000


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("a.toml", TOML.replace("[sobol]", "[halton]"), "[grid], [random], [latin], [sobol]"),
        ("a.toml", TOML.replace("runs = 8", ""), "runs = 256"),
        ("a.toml", TOML.replace('"pendulum"', '"pendulm"'), "no scene 'pendulm'"),
        ("a.toml", TOML.replace('scene = "pendulum"', ""), "name the model"),
        ("a.toml", TOML.replace("duration = 0.02", ""), "duration"),
        ("a.toml", TOML.replace("[-1.0, 1.0]", "[1.0, -1.0]"), "range"),
        ("a.toml", "scene = ", "a.toml"),
        ("a.py", PYTHON.replace("duration = 0.1", ""), "'duration'"),
        ("a.py", "model = (", "line 1"),
        ("a.json", "{}", "NAME.py or NAME.toml"),
    ],
)
def test_wrong_files_are_one_line(name: str, text: str, told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / name).write_text(text)
    assert called("study", str(tmp_path / name)) == 2
    error = capsys.readouterr().err.strip()
    assert error.startswith("linkwork: ")
    assert told in error
    assert "\n" not in error
