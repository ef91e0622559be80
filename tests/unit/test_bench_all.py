"""All benchmarks as one: a file that machines read and a page that people read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command import called

import linkwork as lw
from linkwork import bench
from linkwork.bench.all import written


def rows(*_: object) -> list[dict[str, object]]:
    return [
        {"case": "arm", "quantity": "step", "engine": "linkwork", "mode": "single", "threads": 1, "us": 2.0},
        {"case": "arm", "quantity": "step", "engine": "mujoco", "mode": "single", "threads": 1, "us": 5.0},
    ]


def shares(*_: object) -> list[dict[str, object]]:
    return [{"family": "standing", "solved": 0.5, "problems": 10}]


def broken(*_: object) -> list[dict[str, object]]:
    raise lw.InputError("a peer is missing")


def test_one_file_and_one_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench, "BENCHMARKS", {"step": rows, "solvers": shares, "other": broken})
    file, page = tmp_path / "bench.json", tmp_path / "benchmarks.md"
    assert called("bench", "all", "--quick", "--json", str(file), "--page", str(page)) == 0
    report = json.loads(file.read_text())
    assert report["schema"] == "linkwork-bench/1"
    assert report["machine"]["linkwork"] == lw.__version__
    assert report["benchmarks"]["step"]["rows"][1]["us"] == 5.0
    text = page.read_text()
    assert "| arm | step | single | 1 | 2 | 5 (2.5x) |" in text
    assert "| standing | 0.5 | 10 |" in text
    assert report["machine"]["date"] in text
    assert f"load {report['benchmarks']['step']['load']:g}." in text
    assert sorted(p.name for p in tmp_path.iterdir()) == ["bench.json", "benchmarks.md"]


def test_what_is_missing_is_said() -> None:
    report = {
        "machine": {
            "processor": "p",
            "cores": 2,
            "system": "s",
            "python": "3",
            "linkwork": "0",
            "packages": {},
            "load": None,
            "date": "d",
        },
        "quick": False,
        "benchmarks": {},
        "missing": {"other": "a peer is missing"},
    }
    assert "Not measured: other (a peer is missing)" in written(report)


@pytest.mark.parametrize(("load", "busy"), [(0.5, False), (9.0, True)])
def test_a_busy_machine_is_named(load: float, busy: bool) -> None:
    own = {"processor": "p", "cores": 2, "system": "s", "python": "3", "linkwork": "0", "packages": {}, "load": 0.1, "date": "d"}
    report = {"machine": own, "quick": True, "benchmarks": {"step": {"seconds": 1, "load": load, "rows": rows()}}, "missing": {}}
    text = written(report)
    assert ("Others were using the cores" in text) == busy
    assert f"{load:g} at most" in text


@pytest.mark.parametrize("arguments", [("all", "--case", "arm"), ("step", "--page", "x.md")])
def test_wrong_options(arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    assert called("bench", *arguments) == 2
    assert "linkwork: " in capsys.readouterr().err
