"""The site: all pages of docs/ as they stand, with an index of all public names.

    python -m pip install -e ".[docs]" && python -m sphinx -W -c docs . build/site

builds it into build/site without a warning. Links between pages, and to files beside docs/, are those of the repository.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "docs"), str(ROOT / "src")]

project = "linkwork"
author = "the linkwork authors"
extensions = ["myst_parser"]
source_suffix = {".md": "markdown"}
root_doc = "docs/README"
include_patterns = ["docs/**", "README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", "benchmarks/README.md"]
exclude_patterns = ["docs/conf.py", "docs/docs_api.py"]
myst_heading_anchors = 4
highlight_language = "python"
html_theme = "furo" if importlib.util.find_spec("furo") else "alabaster"
html_title = "linkwork"
html_show_sphinx = False

CHAPTERS = {
    "Use it": ["../README", "cli", "comfort", "howto/README", "view", "live", "live_python", "studies/README"],
    "Build models": [
        "joints/README",
        "forces/README",
        "constraints/README",
        "contact/README",
        "assembly/README",
        "redmax/README",
    ],
    "Move them": ["steppers/README", "dynamics", "maximal/README", "derivatives/README"],
    "Understand them": ["tutorial/README", "notation", "architecture"],
    "Trust it, change it": [
        "verify",
        "reliability",
        "reliability/values",
        "reliability/runs",
        "reliability/streams",
        "../SECURITY",
        "../CONTRIBUTING",
        *(f"contributing/{what}" for what in ("joint", "force", "constraint", "stepper", "importer")),
    ],
    "Reference": ["api", "../benchmarks/README", "../CHANGELOG"],
}


def setup(app: Any) -> None:
    """The index of names is made anew for every build; contents are added to the first page and to those of chapters."""
    from docs_api import write_api

    write_api(ROOT / "docs" / "api.md")
    app.connect("source-read", _with_contents)


def _with_contents(app: Any, name: str, source: list[str]) -> None:
    page = ROOT / f"{name}.md"
    if name == root_doc:
        listed = {p for pages in CHAPTERS.values() for p in pages}
        rest = [p for p in _pages() if p not in listed and p != "README"]
        lists = CHAPTERS | ({"More": rest} if rest else {})
        source[0] += "".join(_contents(title, pages) for title, pages in lists.items())
    elif page.name == "README.md" and page.parent.parent == ROOT / "docs":
        source[0] += _contents("", sorted(p.stem for p in page.parent.glob("*.md") if p != page))


def _pages() -> list[str]:
    """The pages that no other page lists: those beside this file, and of folders the README, or all where there is none."""
    docs = ROOT / "docs"
    found = sorted(docs.rglob("*.md"))
    top = [p for p in found if p.parent == docs or p.name == "README.md" or not (p.parent / "README.md").exists()]
    return [p.relative_to(docs).with_suffix("").as_posix() for p in top]


def _contents(title: str, pages: list[str]) -> str:
    caption = f":caption: {title}\n" if title else ""
    return "\n```{toctree}\n:hidden:\n" + caption + "\n".join(["", *pages]) + "\n```\n"
