"""`linkwork check`: what is wrong or doubtful in a model file."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path

from .app import FOUND, Flag, app, print_json


@app.command
def check(file: Path, /, *, strict: Flag = False, notes: Flag = False, json: Flag = False) -> None:
    """Explain what is wrong or doubtful in a model file, line by line, and what to do about it.

    Errors cannot be simulated; doubts can, but are hardly meant (units, missing limits, shapes that overlap at the start).
    The exit code is 1 if there are errors, with --strict also if there are doubts.

    Examples:
        linkwork check robot.urdf
        linkwork check ant.xml --notes
        linkwork check robot.urdf --strict --json

    Parameters
    ----------
    file
        URDF, MJCF (.xml) or RedMax scene (.json).
    strict
        Count doubts as errors.
    notes
        Also print what the reader changed, ignored or assumed.
    json
        Print the findings as JSON.
    """
    from ..io.checks import check_file

    found = check_file(file)
    count = {level: sum(f.level == level for f in found) for level in ("error", "doubt", "note")}
    if json:
        print_json({"file": str(file), **{f"{level}s": n for level, n in count.items()}, "findings": [asdict(f) for f in found]})
    else:
        for f in found:
            if notes or f.level != "note":
                print(f.text(str(file)))
        hidden = "" if notes or not count["note"] else " (--notes prints them)"
        parts = [f"{n} {level}{'s' * (n != 1)}" for level, n in count.items()]
        print(f"{file}: {', '.join(parts)}{hidden}")
    if count["error"] or (strict and count["doubt"]):
        sys.exit(FOUND)
