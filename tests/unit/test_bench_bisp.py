"""The benchmark of friction inside joints: all projections end, near one another."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from linkwork.bench.bisp import METHODS, run
from linkwork.errors import InputError


def test_projections_of_a_linkage(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "new" / "rows.json"
    rows = run(file, quick=True, cases=["four-bar"])
    assert json.loads(file.read_text()) == rows
    ways = [*((m, s) for m in METHODS for s in ("cold", "cached")), ("program", "cold")]
    assert [(row["method"], row["start"]) for row in rows] == ways
    assert all(row["unsettled"] == 0 for row in rows)
    assert all(row["apart"] < 1e-5 for row in rows if row["method"] not in ("staggered", "program"))
    assert rows[-1]["ms"] < 0.1 * min(row["ms"] for row in rows[:-1])
    assert "four-bar" in capsys.readouterr().out


def test_unknown_cases_are_refused() -> None:
    with pytest.raises(InputError, match="no case 'crane'"):
        run(cases=["crane"])
