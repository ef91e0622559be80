"""The Python on the pages of docs/ runs as it stands: blocks in order, one namespace per page."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\((?!https?:)([^)#]+)")
PAGES = sorted(p for p in DOCS.rglob("*.md") if p != DOCS / "api.md")  # the site makes that one of texts that run elsewhere
NEEDS = re.compile(r"^<!-- needs (\w+) -->")  # an extra, without which the code of a page does not run
CODE = [page for page in PAGES if BLOCK.search(page.read_text())]


def name(page: Path) -> str:
    return str(page.relative_to(DOCS))


@pytest.mark.parametrize("page", CODE, ids=name)
def test_the_code_of_a_page_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    if needed := NEEDS.match(page.read_text()):
        pytest.importorskip(needed[1])
    text, space = page.read_text(), {"__name__": f"docs.{page.stem}"}
    for block in BLOCK.finditer(text):
        line = text.count("\n", 0, block.start(1))
        exec(compile("\n" * line + block[1], str(page), "exec"), space)


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_the_links_of_a_page_lead_somewhere(page: Path) -> None:
    for target in LINK.findall(page.read_text()):
        assert (page.parent / target).exists(), target


def test_the_links_of_contributing_lead_somewhere() -> None:
    page = DOCS.parent / "CONTRIBUTING.md"
    targets = LINK.findall(page.read_text())
    assert len(targets) >= 5
    assert all((page.parent / target).exists() for target in targets)
