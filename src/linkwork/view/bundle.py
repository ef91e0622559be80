"""One HTML file out of modules.

page/*.js are ES modules, which pages that are opened from a disk cannot load; here they become one script. A name at the top of
one module is therefore taken in all of them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from html import escape
from importlib.resources import files

from .packed import zipped
from .three import three_js

IMPORT = re.compile(r"^import\s+\{[^}]*\}\s+from\s+\"\./(\w+)\.js\";\n", re.MULTILINE)
EXPORT = re.compile(r"^export (?=(?:async )?(?:function|class|const))", re.MULTILINE)
TOP = re.compile(r"^(?:async )?(?:function|class|const|let) (\w+)", re.MULTILINE)
SAFE = "script-src 'unsafe-inline'"


def page_part(name: str) -> str:
    """A file of the page."""
    return (files("linkwork.view") / "page" / name).read_text(encoding="utf-8")


def script_of(entry: str, given: Mapping[str, str] | None = None) -> str:
    """A module with all that it imports, as one script.

    given   sources of further modules by name, beside those in page/
    """
    order: list[str] = []
    sources = {}

    def visit(name: str) -> None:
        if name in sources:
            return
        sources[name] = (given or {}).get(name) or page_part(f"{name}.js")
        for needed in IMPORT.findall(sources[name]):
            visit(needed)
        order.append(name)

    visit(entry)
    plain = [EXPORT.sub("", IMPORT.sub("", sources[name])) for name in order]
    counts = Counter(name for text in plain for name in TOP.findall(text))
    if twice := [name for name, n in counts.items() if n > 1]:
        raise RuntimeError(f"modules of the page {entry!r} use the names {', '.join(twice)} twice")
    return '(() => {\n"use strict";\n' + "\n".join(plain) + "})();"


@cache
def packed_three() -> str:
    """three.js as the page carries it."""
    return zipped(three_js())


def assembled(
    title: str, script: str, data: Mapping[str, str | bytes], scripts: str = SAFE, extra_style: Sequence[str] = ()
) -> str:
    """The page.

    script    what runs; it finds the data in elements by their names
    data      texts and bytes by name, that are kept compressed
    scripts   what the page may run, as its content security policy says it
    """
    kept = {"three": packed_three(), **{name: zipped(text) for name, text in data.items()}}
    parts = {
        "title": escape(title),
        "scripts": scripts,
        "style": "\n".join([page_part("page.css"), *extra_style]),
        "data": "\n".join(f'<script id="{name}" type="text/plain">{text}</script>' for name, text in kept.items()),
        "script": script,
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda m: parts[m[1]], page_part("page.html"))
