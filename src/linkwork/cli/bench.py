"""`linkwork bench`: how fast it is on this machine."""

from __future__ import annotations

from pathlib import Path

from ..errors import InputError
from ..spatial.gate import meant
from .app import Flag, Names, app


@app.command
def bench(name: str, *, case: Names = (), json: Path | None = None, quick: Flag = False) -> None:
    """Measure speed on this machine.

    Parameters
    ----------
    name
        Name of the benchmark; a wrong one lists those there are.
    case
        Name of a case to run alone; may be repeated. A wrong one lists those there are.
    json
        File for the measured rows.
    quick
        Fewer cases and repetitions, to see that all works.
    """
    try:
        from ..bench import BENCHMARKS
    except ModuleNotFoundError as error:
        raise InputError(f"benchmarks cannot be loaded: {error}; install the package that is missing") from error
    if name not in BENCHMARKS:
        raise InputError(
            f"there is no benchmark {name!r}; choose one of {', '.join(sorted(BENCHMARKS))}{meant(name, BENCHMARKS)}"
        )
    options = {"cases": case} if case else {}
    BENCHMARKS[name](json, quick, **options)
