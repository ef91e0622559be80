"""What a benchmark hands out: rows for machines, tables for people, progress while it runs."""

from __future__ import annotations

import contextlib
import json
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from ..errors import InputError
from ..spatial.gate import meant
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
Who = tuple[str, str, int]  # engine, mode, threads
Ratios = Mapping[str, tuple[Who, Who]]
PINOCCHIO_RATIOS: Ratios = {
    "batch64": (("pinocchio", "batch64", 1), (OURS, "batch64", 1)),
    "native": (("pinocchio", "batch64", 1), (OURS, "native", 1)),
    "single": (("pinocchio", "single", 1), (OURS, "single", 1)),
    "prepared": (("pinocchio", "single", 1), (OURS, "prepared", 1)),
    "float32": ((OURS, "batch64", 1), (OURS, "batch32", 1)),
    "2 threads": ((OURS, "batch64", 1), (OURS, "batch64", 2)),
}
"""Columns of a summary: the time of the first over that of the second."""


def rows_of(contenders: Sequence[Contender], us: Sequence[float]) -> list[Row]:
    """One row per contender; `us` are microseconds per state or step."""
    return [
        {"case": c.case, "quantity": c.quantity, "engine": c.engine, "mode": c.mode, "threads": c.threads, "us": float(t)}
        for c, t in zip(contenders, us, strict=True)
    ]


def require_known(names: Sequence[str], known: Iterable[str]) -> None:
    """Raise unless all names are those of cases."""
    for name in names:
        if name not in known:
            raise InputError(f"there is no case {name!r}; choose from {', '.join(known)}{meant(name, known)}")


def missing(package: str, consequence: str = "nothing is compared with it") -> str:
    """The note on a package that is not there."""
    extra = "suite" if package == "dm_control" else "peers"
    return f'{package} is not installed (pip install "linkwork[{extra}]"): {consequence}'


class Progress:
    """A line on stderr for every case, with its stages and their seconds.

    No spinner: its thread would run beside what is measured.
    """

    def __init__(self) -> None:
        self._begin = self._since = time.monotonic()
        self._open = False

    @contextlib.contextmanager
    def line(self, name: str) -> Iterator[None]:
        """The line of one case; ends with the seconds since the beginning."""
        self._write(f"{name}:")
        try:
            yield
        finally:
            self._close()
            self._write(f" {time.monotonic() - self._begin:.0f} s in all\n")

    def say(self, stage: str) -> None:
        """The stage that begins now."""
        self._close()
        self._since, self._open = time.monotonic(), True
        self._write(f" {stage} ...")

    def _close(self) -> None:
        if self._open:
            self._write(f" {time.monotonic() - self._since:.1f} s;")
            self._open = False

    def _write(self, text: str) -> None:
        print(text, end="", file=sys.stderr, flush=True)


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
    mine = [r for r in rows if r["engine"] == OURS]
    for r, last in zip(mine, _ends([r["case"] for r in mine]), strict=True):
        cells = [r["case"], r["quantity"], r["mode"], str(r["threads"]), f"{r['us']:.4g}"]
        for engine in engines:
            other = rival(rows, r, engine)
            cells += ["-", "-"] if other is None else [f"{other['us']:.4g}", f"{other['us'] / r['us']:.1f}"]
        if flops:
            work = flops.get((r["case"], r["quantity"]))
            cells += ["-", "-"] if work is None else [str(work), f"{work / r['us'] * 1e-3:.2f}"]
        out.add_row(*cells, end_section=last)
    return out


def summary(rows: Sequence[Row], ratios: Ratios) -> dict[tuple[str, str], list[float | None]]:
    """(case, quantity) -> the ratios; None where one of the two was not measured."""
    us = {(r["case"], r["quantity"], r["engine"], r["mode"], r["threads"]): r["us"] for r in rows}

    def ratio(key: tuple[str, str], longer: Who, shorter: Who) -> float | None:
        a, b = us.get((*key, *longer)), us.get((*key, *shorter))
        return a / b if a and b else None

    keys = dict.fromkeys((r["case"], r["quantity"]) for r in rows)
    return {key: [ratio(key, *pair) for pair in ratios.values()] for key in keys}


def summary_table(title: str, rows: Sequence[Row], ratios: Ratios) -> Table:
    """The summary: a row per case and quantity, a column per ratio."""
    out = Table(title=title)
    for name in ("case", "quantity"):
        out.add_column(name, no_wrap=True)
    for name, ((engine, mode, _), _) in ratios.items():
        out.add_column(f"{name}\nvs {engine}\n{mode}", justify="right")
    found = summary(rows, ratios)
    for (key, values), last in zip(found.items(), _ends([case for case, _ in found]), strict=True):
        out.add_row(*key, *("-" if x is None else f"{x:.2f}" for x in values), end_section=last)
    return out


def _ends(cases: list[str]) -> list[bool]:
    """Where the rows of a case end."""
    return [a != b for a, b in pairwise([*cases, None])]


def publish(
    title: str,
    rows: list[Row],
    file: Path | None,
    notes: Sequence[str] = (),
    flops: Mapping[tuple[str, str], int] | None = None,
    ratios: Ratios | None = None,
    parts: Mapping[str, Sequence[str]] | None = None,
    tables: Sequence[Table] = (),
) -> list[Row]:
    """Print the tables and the notes, write the rows if a file is given, and return them.

    parts    titles and the quantities under them, where one table would be too wide for all engines; none of them for no table
    tables   a benchmark's own, printed first
    """
    console = Console(width=None if sys.stdout.isatty() else 140)
    for own in tables:
        console.print(own)
    for name, quantities in ({title: {r["quantity"] for r in rows}} if parts is None else parts).items():
        if chosen := [r for r in rows if r["quantity"] in quantities]:
            console.print(table(name, chosen, flops))
    if ratios:
        console.print(summary_table(f"{title}: how many times faster", rows, ratios))
    for note in notes:
        console.print(f"- {note}", markup=False, highlight=False, emoji=False)
    if file is not None:
        Path(file).write_text(json.dumps(rows, indent=1) + "\n")
    return rows
