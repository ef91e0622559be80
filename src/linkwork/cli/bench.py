"""`linkwork bench`: how fast it is on this machine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..errors import InputError
from ..spatial.gate import meant
from .app import Flag, Names, app

ALL = "all"


@app.command
def bench(
    name: str, *, case: Names = (), json: Path | None = None, page: Path | None = None, quick: Flag = False, full: Flag = False
) -> None:
    """Measure speed on this machine.

    Examples:
        linkwork bench dynamics --quick
        linkwork bench step --json rows.json
        linkwork bench all --json bench.json --page benchmarks.md

    Parameters
    ----------
    name
        Name of the benchmark; a wrong one lists those there are; 'all' runs every one.
    case
        Name of a case to run alone; may be repeated. A wrong one lists those there are.
    json
        File for the measured rows.
    page
        With 'all': file for a page of tables (Markdown).
    quick
        Fewer cases and repetitions, to see that all works.
    full
        All that is otherwise cut short (contact-problems: every solver on every problem), however long it takes.
    """
    try:
        from ..bench import BENCHMARKS, FULL
    except ModuleNotFoundError as error:
        raise InputError(f"benchmarks cannot be loaded: {error}; install the package that is missing") from error
    if full and (quick or name not in FULL):
        raise InputError(f"--full is for {', '.join(FULL)}, without --quick")
    if name == ALL:
        from ..bench.all import run

        if case:
            raise InputError("'all' runs every case; leave out --case")
        run(BENCHMARKS, json, quick, page)
        return
    if page is not None:
        raise InputError("--page is for 'linkwork bench all'; use --json for one benchmark")
    if name not in BENCHMARKS:
        raise InputError(
            f"there is no benchmark {name!r}; choose one of {', '.join(sorted(BENCHMARKS))}{meant(name, BENCHMARKS)}"
        )
    options: dict[str, Any] = ({"cases": case} if case else {}) | ({"full": True} if full else {})
    BENCHMARKS[name](json, quick, **options)
