"""The benchmark of Table 1: rows of all methods, engines and modes, and what it takes to compile."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from linkwork.bench import BENCHMARKS, table1
from linkwork.errors import InputError


def test_rows_of_a_small_chain(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setitem(table1.SCENES, "RC20", ("revolute_chain", {"links": 3}))
    monkeypatch.setattr(table1, "preprocessing", lambda case, method: (0.5, 20.0))
    file = tmp_path / "rows.json"
    rows = BENCHMARKS["table1"](file, True, cases=["RC20"])
    assert json.loads(file.read_text()) == rows
    ours = {(r["quantity"], r["mode"]) for r in rows if r["engine"] == "linkwork"}
    assert ours >= {(q, m) for q in table1.QUANTITY.values() for m in ("native", "single", "batch1024")}
    assert {("preprocessing", "cold"), ("memory_MB_method_1", "cold")} <= ours
    assert [r["us"] for r in rows if r["engine"] == "published"] == [20.0, 20.0, 1000.0]
    assert all(r["us"] > 0 for r in rows)
    out = capsys.readouterr().out
    assert all(title in out for title in table1.TITLES.values())


def test_models_have_the_coordinates_of_the_paper() -> None:
    assert [table1.model_of(case).nv for case in table1.SCENES] == [20, 50, 100, 38, 78, 73]


def test_preprocessing_is_measured_in_a_process_of_its_own() -> None:
    seconds, megabytes = table1.preprocessing("RC20", "classes")
    assert seconds > 0
    assert megabytes > 1


def test_unknown_cases_are_refused() -> None:
    with pytest.raises(InputError, match="no case 'RC7'"):
        table1.run(cases=["RC7"])
