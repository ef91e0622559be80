"""`linkwork verify`: what is computed beside what was published."""

from __future__ import annotations

import sys
from pathlib import Path

from .app import Flag, app


@app.command
def verify(
    *names: str,
    quick: Flag = False,
    json: Path | None = None,
    html: Path | None = None,
    markdown: Path | None = None,
    right: Flag = False,
) -> None:
    """Compare what linkwork computes with closed forms, published numbers, other engines and the papers it is made from.

    Exit code 1 if an item fails.

    Examples:
        linkwork verify --quick
        linkwork verify redmax scenes/
        linkwork verify redmax scenes/ --right --json rows.json

    Parameters
    ----------
    names
        Items or families to run; all if none is given, and a wrong one lists those there are. 'redmax FOLDER' compares the
        scenes in a folder, or one file (of the schema redmax-scene/1), with the energies that the RedMax code prints.
    quick
        Fewer random models and shorter runs.
    json
        File for the rows: name, what is compared, source, figure, tolerance, verdict, note, seconds.
    html
        File for one page with all figures, tolerances and pictures.
    markdown
        File for the tables alone.
    right
        Of 'redmax FOLDER': where a published number rests on a slip of the original, also compute the right one, by two routes.
    """
    if len(names) == 2 and names[0] == "redmax":
        from ..studies import STUDIES

        if any(row.computed is not None and not row.passed for row in STUDIES["redmax"](Path(names[1]), json, right)):
            sys.exit(1)
        return
    from rich.console import Console

    from ..verify import Item, Row, counts, heading, items, line, verify, write

    count = len(items(names))
    console = Console(stderr=True)
    done: list[Row] = []
    print(heading(), flush=True)
    with console.status("") as status:

        def begin(item: Item) -> None:
            status.update(f"{len(done) + 1} of {count}: {item.name}")

        def end(row: Row) -> None:
            done.append(row)
            print(line(row), flush=True)

        verify(names, quick=quick, begin=begin, end=end)
    print(counts(done))
    for path in write(done, json=json, html=html, table=markdown):
        print(f"wrote {path}")
    if any(row.verdict == "FAIL" for row in done):
        sys.exit(1)
