"""`linkwork verify`: every item passes in a quick run; the report; what fails, is skipped or cannot be."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from command import called

from linkwork.errors import InputError
from linkwork.verify import FAMILIES, items, verify
from linkwork.verify.item import Family, Item, Outcome, Row, absent, run_item

DOCS = Path(__file__).parents[2] / "docs"
# Every numbered figure and table of the five papers.
PAPERS = {
    "hernandez": ("fig1", "fig2", "fig3", "fig4", "fig5"),
    "baraff": ("fig1a", "fig1b", "fig2", "fig3"),
    "si_guenter": ("fig1", "fig2", "fig3", "fig4", "table1"),
    "liu_jain": ("fig1", "fig2"),
    "sueda": ("fig1",),
}
CANNOT = {"hernandez.fig1", "errata.scans"}


@pytest.mark.parametrize("item", items(), ids=lambda item: item.name)
def test_a_quick_run_passes(item: Item) -> None:
    row = run_item(item, quick=True)
    assert row.verdict == ("not here" if item.name in CANNOT else "skipped" if row.lacking else "pass"), (row.outcome, row.error)


def test_every_figure_and_table_has_a_row() -> None:
    names = {item.name for item in items()}
    assert {f"{paper}.{figure}" for paper, figures in PAPERS.items() for figure in figures} <= names
    assert len(names) == len(items())
    assert all(item.name.startswith(f"{family.name}.") for family in FAMILIES for item in family.items)


def test_the_page_of_docs_lists_all_items() -> None:
    text = (DOCS / "verify.md").read_text()
    assert set(re.findall(r"^\| `(\w+\.\w+)` \|", text, re.MULTILINE)) == {item.name for item in items()}


def test_files_of_a_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = ("analytic.stiff_oscillator", "hernandez.fig1", "liu_jain.fig2")
    files = {kind: tmp_path / "new" / f"page.{kind}" for kind in ("json", "html", "markdown")}
    given = [x for kind, file in files.items() for x in (f"--{kind}", str(file))]
    assert called("verify", *names, "--quick", *given) == 0
    out = capsys.readouterr().out
    assert "2 pass, 1 cannot be reproduced" in out
    rows = json.loads(files["json"].read_text())
    assert [row["name"] for row in rows] == list(names)
    assert [row["verdict"] for row in rows] == ["pass", "not here", "pass"]
    assert rows[0]["figure"] <= rows[0]["tolerance"]
    assert rows[1]["figure"] is None
    page = files["html"].read_text()
    assert page.count("data:image/png;base64,") == 1
    assert all(f">{name}<" in page for name in names)
    assert files["markdown"].read_text().count("\n| `") == 3


def test_a_family_by_its_name() -> None:
    assert {item.name for item in items(["contact"])} == {item.name for item in items() if item.name.startswith("contact.")}
    with pytest.raises(InputError, match="nothing called 'contacts'"):
        items(["contacts"])


def test_what_fails_is_said_and_ends_with_code_one(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    broken = Family("broken", "Broken", "All wrong.")

    @broken.item("far", "a figure", "nobody")
    def far(quick: bool) -> Outcome:
        return Outcome(2.0, 1.0, "too far")

    @broken.item("nan", "a figure", "nobody")
    def nan(quick: bool) -> Outcome:
        return Outcome(float("nan"), 1.0)

    @broken.item("raises", "a figure", "nobody")
    def raises(quick: bool) -> Outcome:
        raise ValueError("no figure")

    @broken.item("cannot", "a figure", "nobody")
    def cannot(quick: bool) -> Outcome:
        return absent("nobody knows")

    @broken.item("lacks", "a figure", "nobody", needs=("no_such_module",))
    def lacks(quick: bool) -> Outcome:
        raise AssertionError

    monkeypatch.setattr("linkwork.verify.FAMILIES", (broken,))
    told: list[Row] = []
    rows = verify(end=told.append)
    assert rows == told
    assert [row.verdict for row in rows] == ["FAIL", "FAIL", "FAIL", "not here", "skipped"]
    assert called("verify") == 1
    out = capsys.readouterr().out
    for words in ("too far", "ValueError: no figure", "nobody knows", "needs no_such_module", "0 pass, 3 fail"):
        assert words in out
    assert called("verify", "broken.cannot") == 0
