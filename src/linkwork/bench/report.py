"""What a benchmark hands out: rows for machines, a table for people."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from .timing import Contender

OURS = "linkwork"
MATCH = {
    "batch64": ("batch64",),
    "batch32": ("batch64",),
    "native": ("native", "batch64"),
    "single": ("single",),
    "prepared": ("single",),
}
"""The modes of a rival that ours is compared with, the first that was measured."""

Row = dict[str, Any]


def rows_of(contenders: Sequence[Contender], us: Sequence[float]) -> list[Row]:
    """One row per contender; `us` are microseconds per state or step."""
    return [
        {"case": c.case, "quantity": c.quantity, "engine": c.engine, "mode": c.mode, "threads": c.threads, "us": float(t)}
        for c, t in zip(contenders, us, strict=True)
    ]


def missing(peer: str) -> str:
    """The note for a peer that cannot be imported."""
    return f'{peer} is not installed, so there is nothing to compare with; pip install "linkwork[peers]"'


def rival(rows: Sequence[Row], ours: Row, engine: str) -> Row | None:
    """The row of an engine that did the same work as one of ours."""
    same = [r for r in rows if r["engine"] == engine and all(r[k] == ours[k] for k in ("case", "quantity", "threads"))]
    by_mode = {r["mode"]: r for r in same}
    return next((by_mode[m] for m in MATCH.get(ours["mode"], (ours["mode"],)) if m in by_mode), None)


def table(title: str, rows: Sequence[Row], flops: Mapping[tuple[str, str], int] | None = None) -> Table:
    """Our rows, each with its rivals and how many times longer they take.

    flops   (case, quantity) -> floating-point operations of ours per state; adds their rate
    """
    engines = list(dict.fromkeys(r["engine"] for r in rows if r["engine"] != OURS))
    out = Table(title=title, caption="microseconds per state; x: how many times longer the rival takes")
    for name in ("case", "quantity", "mode"):
        out.add_column(name)
    for name in ("threads", OURS, *(column for e in engines for column in (e, "x"))):
        out.add_column(name, justify="right")
    if flops:
        out.add_column("flops", justify="right")
        out.add_column("GFLOP/s", justify="right")
    for r in rows:
        if r["engine"] != OURS:
            continue
        cells = [r["case"], r["quantity"], r["mode"], str(r["threads"]), f"{r['us']:.4g}"]
        for engine in engines:
            other = rival(rows, r, engine)
            cells += ["-", "-"] if other is None else [f"{other['us']:.4g}", f"{other['us'] / r['us']:.1f}"]
        if flops:
            work = flops.get((r["case"], r["quantity"]))
            cells += ["-", "-"] if work is None else [str(work), f"{work / r['us'] * 1e-3:.2f}"]
        out.add_row(*cells)
    return out


def publish(
    title: str,
    rows: list[Row],
    file: Path | None,
    notes: Sequence[str] = (),
    flops: Mapping[tuple[str, str], int] | None = None,
) -> list[Row]:
    """Print the table and the notes, write the rows if a file is given, and return them."""
    console = Console(width=None if sys.stdout.isatty() else 140)
    console.print(table(title, rows, flops))
    for note in notes:
        console.print(f"- {note}", markup=False, highlight=False)
    if file is not None:
        Path(file).write_text(json.dumps(rows, indent=1) + "\n")
    return rows
