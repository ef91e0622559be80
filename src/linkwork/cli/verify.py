"""`linkwork verify`: what is computed beside what was published."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from .app import Flag, app


@app.command
def verify(name: Literal["redmax"], folder: Path, *, json: Path | None = None, right: Flag = False) -> None:
    """Compare what linkwork computes with published numbers.

    Examples:
        linkwork verify redmax scenes/
        linkwork verify redmax scenes/ --right --json rows.json

    Parameters
    ----------
    name
        The collection: redmax, scenes with the energies that the RedMax code prints (files of the schema redmax-scene/1).
    folder
        Folder with the files of the collection; those in folders below count too.
    json
        File for the rows: file, integrator, expected and computed energy (null where it was not computed).
    right
        Where a published number rests on a slip of the original, also compute the right one, by two routes.
    """
    from ..studies import STUDIES

    STUDIES[name](folder, json, right)
