"""All benchmarks, one after the other: one file for machines, one page for people."""

from __future__ import annotations

import json as encoder
import os
import platform
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from .. import __version__
from ..errors import InputError, LinkworkError
from ..store.files import whole_file

SCHEMA = "linkwork-bench/1"
PEERS = ("numpy", "scipy", "llvmlite", "pin", "mujoco", "casadi", "jax", "pybullet", "coal")
OWN = "linkwork"
TIMED = {"case", "quantity", "engine", "mode", "threads", "us"}  # what a row of times has
Rows = list[dict[str, Any]]


def machine() -> dict[str, Any]:
    """What measured: processor, cores, system, versions; how many processes wanted its cores in the minute before, and when."""
    found = {}
    for name in PEERS:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "system": platform.system(),
        "python": platform.python_version(),
        "linkwork": __version__,
        "packages": found,
        "load": load(),
        "date": time.strftime("%Y-%m-%d %H:%M", time.gmtime()),
    }


def load() -> float | None:
    """How many processes wanted to run in the last minute, on average; None where the system does not say."""
    return round(os.getloadavg()[0], 1) if hasattr(os, "getloadavg") else None


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def run(benchmarks: Mapping[str, Callable[..., Any]], json: Path | None, quick: bool, page: Path | None = None) -> Rows:
    """Every benchmark in turn; what one of them lacks is said, and the others go on. Written after each: a run that is killed
    keeps what was measured."""
    report: dict[str, Any] = {"schema": SCHEMA, "machine": machine(), "quick": quick, "benchmarks": {}, "missing": {}}
    for name, bench in benchmarks.items():
        print(f"\n== {name} ==", flush=True)
        begin = time.monotonic()
        try:
            rows = bench(None, quick)
        except (LinkworkError, ModuleNotFoundError) as error:
            report["missing"][name] = str(error)
            print(f"not measured: {error}", file=sys.stderr)
            continue
        report["benchmarks"][name] = {"seconds": round(time.monotonic() - begin, 1), "load": load(), "rows": rows}
        if json is not None:
            with whole_file(json) as part:
                part.write_text(encoder.dumps(report, indent=1, default=_plain), encoding="utf-8")
        if page is not None:
            with whole_file(page) as part:
                part.write_text(written(report), encoding="utf-8")
    if not report["benchmarks"]:
        raise InputError(f"nothing could be measured: {report['missing']}")
    return [{"benchmark": name, **row} for name, own in report["benchmarks"].items() for row in own["rows"]]


def _plain(x: Any) -> Any:
    return x.item() if hasattr(x, "item") else str(x)


# --- the page -------------------------------------------------------------------------------------------------------------------
def written(report: Mapping[str, Any]) -> str:
    """The report as a page of Markdown."""
    own = report["machine"]
    packages = ", ".join(f"{name} {number}" for name, number in own["packages"].items())
    parts = [
        "# Benchmarks",
        f"Made by `linkwork bench all{' --quick' if report['quick'] else ''} --json FILE --page PAGE` on {own['date']} "
        f"(UTC): {own['processor']}, {own['cores']} cores, {own['system']}, Python {own['python']}, linkwork {own['linkwork']}; "
        f"{packages}.",
        "Times are CPU times of one process on one core, best of several, contenders in turns; (2x): twice as long as linkwork.",
        _caution(report),
    ]
    for name, found in report["benchmarks"].items():
        parts += [f"## {name}", f"{found['seconds']:.0f} s, load {_said(found['load'])}.", _table(found["rows"])]
    for name, why in report["missing"].items():
        parts.append(f"Not measured: {name} ({why}).")
    return "\n\n".join(parts) + "\n"


def _caution(report: Mapping[str, Any]) -> str:
    """How far the figures can be trusted: what else ran meanwhile, and how often they were measured."""
    loads = [x for x in (report["machine"]["load"], *(b["load"] for b in report["benchmarks"].values())) if x is not None]
    busy = bool(loads) and max(loads) > report["machine"]["cores"]
    text = f"Load of the machine (processes that want a core): {_said(report['machine']['load'])} at the start, "
    text += f"{_said(max(loads, default=None))} at most. "
    if busy:
        text += (
            "**Others were using the cores:** caches and clocks were shared, so ratios of one table are worth more than times."
        )
    if report["quick"]:
        text += " Quick runs measure fewer cases, and less often."
    return text.strip()


def _said(x: float | None) -> str:
    return "unknown" if x is None else f"{x:g}"


def _table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Rows of times alone are a table with a column for each engine; others (times with what is left unsolved) are tables of
    what they have."""
    if rows and all(set(row) == TIMED for row in rows):
        return _compared(rows)
    names = list(dict.fromkeys(key for row in rows for key, x in row.items() if _shown(x) is not None))
    lines = [f"| {' | '.join(names)} |", f"| {' | '.join('---' for _ in names)} |"]
    lines += [f"| {' | '.join(_shown(row.get(name)) or '' for name in names)} |" for row in rows]
    return "\n".join(lines)


def _compared(rows: Sequence[Mapping[str, Any]]) -> str:
    engines = list(dict.fromkeys(row["engine"] for row in rows))
    found: dict[tuple[str, ...], dict[str, float]] = {}
    for row in rows:
        key = tuple(str(row.get(name, "")) for name in ("case", "quantity", "mode", "threads"))
        found.setdefault(key, {})[row["engine"]] = row["us"]
    head = ["case", "quantity", "mode", "threads", *(f"{engine}, us" for engine in engines)]
    lines = [f"| {' | '.join(head)} |", f"| {' | '.join('---' for _ in head)} |"]
    for key, times in found.items():
        cells = [f"{times[engine]:.4g}{_ratio(engine, times)}" if engine in times else "" for engine in engines]
        lines.append(f"| {' | '.join([*key, *cells])} |")
    return "\n".join(lines)


def _ratio(engine: str, times: Mapping[str, float]) -> str:
    """How many times as long as ours."""
    return "" if engine == OWN or OWN not in times else f" ({times[engine] / times[OWN]:.3g}x)"


def _shown(x: Any) -> str | None:
    if isinstance(x, bool) or x is None:
        return None if x is None else str(x)
    if isinstance(x, (int, str)):
        return str(x)
    return f"{float(x):.4g}" if hasattr(x, "__float__") else None
