"""Rows as text, JSON, Markdown and one HTML page that needs no other file."""

from __future__ import annotations

import base64
import datetime
import html
import io
import json
import platform
from collections.abc import Sequence
from pathlib import Path
from string import Template
from typing import Any

from .item import Family, Row

PAGE = Template("""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>linkwork verify</title><style>
body { font: 15px/1.45 system-ui, sans-serif; margin: 2em auto; max-width: 76em; padding: 0 1em; color: #1c2733; }
h1 { margin-bottom: .2em } h2 { margin: 2em 0 .2em } p { max-width: 60em }
table { border-collapse: collapse; width: 100%; margin-top: .6em }
th, td { text-align: left; vertical-align: top; padding: .35em .6em; border-bottom: 1px solid #dde3ea }
th { background: #f2f5f8; font-weight: 600 }
td.number { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums }
td.name { white-space: nowrap; font-family: ui-monospace, monospace; font-size: 13px }
.note, .source { color: #566575; font-size: 13px } .verdict { font-weight: 600; white-space: nowrap }
.pass { color: #14713d } .FAIL { color: #b3261e } .not-here, .skipped { color: #8a6100 }
img { max-width: 30em; width: 100%; display: block; margin-top: .4em }
</style></head><body>
<h1>What linkwork was verified against</h1>
<p>$summary</p>
$families
</body></html>
""")
TABLE = Template("""<h2>$title</h2><p>$about</p>
<table><thead><tr><th>item</th><th>what is compared</th><th>figure</th><th>tolerance</th><th>verdict</th></tr></thead>
<tbody>
$rows
</tbody></table>
""")
LINE = Template("""<tr><td class="name">$name</td><td>$checks
<div class="source">$source</div><div class="note">$note</div>$picture</td>
<td class="number">$figure</td><td class="number">$tolerance</td><td class="verdict $style">$verdict</td></tr>""")


def number(x: float | None) -> str:
    return "-" if x is None else f"{x:.2g}"


def note_of(row: Row) -> str:
    return row.error or row.outcome.note


def heading() -> str:
    return f"{'item':38} {'figure':>9} {'tolerance':>9} {'time':>7}  verdict"


def line(row: Row) -> str:
    """One line of text for a row, and a second one where it fails or cannot be."""
    out = row.outcome
    tolerance = None if out.figure is None else out.tolerance
    text = f"{row.item.name:38} {number(out.figure):>9} {number(tolerance):>9} {row.seconds:5.1f} s  {row.verdict}"
    return text if row.verdict == "pass" else f"{text}\n    {note_of(row)}"


def counts(rows: Sequence[Row]) -> str:
    """How many rows have which verdict."""
    found = [row.verdict for row in rows]
    named = (("pass", "pass"), ("FAIL", "fail"), ("not here", "cannot be reproduced"), ("skipped", "skipped"))
    return ", ".join(f"{found.count(verdict)} {text}" for verdict, text in named if found.count(verdict) or verdict == "pass")


def record(row: Row) -> dict[str, Any]:
    """What the JSON file says of a row."""
    out = row.outcome
    return {
        "name": row.item.name,
        "checks": row.item.checks,
        "source": row.item.source,
        "figure": out.figure,
        "tolerance": None if out.figure is None else out.tolerance,
        "verdict": row.verdict,
        "note": note_of(row),
        "seconds": round(row.seconds, 3),
    }


def write_json(rows: Sequence[Row], file: Path) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps([record(row) for row in rows], indent=1) + "\n")


def summary(rows: Sequence[Row]) -> str:
    from .. import __version__

    machine = f"Python {platform.python_version()} on {platform.machine()}"
    seconds = sum(row.seconds for row in rows)
    return f"linkwork {__version__}, {datetime.date.today()}, {machine}: {counts(rows)}, in {seconds:.0f} s."


def write_html(rows: Sequence[Row], families: Sequence[Family], file: Path) -> None:
    """One page; pictures are inside."""
    tables = []
    for family in families:
        own = [row for row in rows if row.item in family.items]
        if own:
            lines = "\n".join(map(_line, own))
            tables.append(TABLE.substitute(title=html.escape(family.title), about=html.escape(family.about), rows=lines))
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(PAGE.substitute(summary=html.escape(summary(rows)), families="\n".join(tables)))


def _line(row: Row) -> str:
    out = row.outcome
    return LINE.substitute(
        name=html.escape(row.item.name),
        checks=html.escape(row.item.checks),
        source=html.escape(row.item.source),
        note=html.escape(note_of(row)),
        picture=_picture(row),
        figure=number(out.figure),
        tolerance=number(None if out.figure is None else out.tolerance),
        verdict=row.verdict,
        style=row.verdict.replace(" ", "-"),
    )


def _picture(row: Row) -> str:
    if row.outcome.picture is None:
        return ""
    image = io.BytesIO()
    row.outcome.picture().savefig(image, format="png", dpi=110)
    data = base64.b64encode(image.getvalue()).decode()
    return f'<img alt="{html.escape(row.item.name)}" src="data:image/png;base64,{data}">'


def markdown(rows: Sequence[Row], families: Sequence[Family]) -> str:
    """The tables of the page in Markdown."""
    parts = []
    for family in families:
        own = [row for row in rows if row.item in family.items]
        if not own:
            continue
        parts += [f"## {family.title}", "", family.about, "", "| item | what is compared | figure | tolerance | verdict |"]
        parts.append("| --- | --- | --- | --- | --- |")
        for row in own:
            tolerance = None if row.outcome.figure is None else row.outcome.tolerance
            said = " ".join(f"{row.item.checks}. {row.item.source}. {note_of(row)}".split()).replace("|", "\\|")
            cells = (f"`{row.item.name}`", said, number(row.outcome.figure), number(tolerance), row.verdict)
            parts.append(f"| {' | '.join(cells)} |")
        parts.append("")
    return "\n".join(parts)
