"""Verification: what linkwork computes beside closed forms, published problems, other engines, and the papers it is made from.

A family is a module with items; an item has a source, and finds a figure that must not be above its tolerance. `linkwork verify`
runs them and prints or writes their rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from ..errors import InputError
from .analytic import ANALYTIC
from .baraff import BARAFF
from .differential import DIFFERENTIAL
from .errata import ERRATA
from .hernandez import HERNANDEZ
from .item import Family, Item, Outcome, Row, run_item
from .laws import LAWS
from .liu_jain import LIU_JAIN
from .published import PUBLISHED
from .redmax import REDMAX
from .report import counts, heading, line, markdown, write_html, write_json
from .si_guenter import SI_GUENTER
from .sueda import SUEDA
from .touching import TOUCHING

FAMILIES: tuple[Family, ...] = (
    ANALYTIC,
    TOUCHING,
    PUBLISHED,
    LAWS,
    DIFFERENTIAL,
    HERNANDEZ,
    BARAFF,
    SI_GUENTER,
    LIU_JAIN,
    SUEDA,
    REDMAX,
    ERRATA,
)


def items(names: Sequence[str] = ()) -> list[Item]:
    """All items, or those named: an item, or a family for all of its items."""
    every = [item for family in FAMILIES for item in family.items]
    for name in names:
        if not any(_named(item, name) for item in every):
            known = ", ".join([*(family.name for family in FAMILIES), *(item.name for item in every)])
            raise InputError(f"there is nothing called {name!r} to verify; choose from {known}")
    return [item for item in every if not names or any(_named(item, name) for name in names)]


def _named(item: Item, name: str) -> bool:
    return item.name == name or item.name.split(".")[0] == name


def verify(
    names: Sequence[str] = (),
    *,
    quick: bool = False,
    begin: Callable[[Item], object] | None = None,
    end: Callable[[Row], object] | None = None,
) -> list[Row]:
    """Run items one after the other; `begin` and `end` are told of each."""
    rows = []
    for item in items(names):
        if begin is not None:
            begin(item)
        rows.append(run_item(item, quick))
        if end is not None:
            end(rows[-1])
    return rows


def write(rows: Sequence[Row], *, json: Path | None = None, html: Path | None = None, table: Path | None = None) -> list[Path]:
    """Write the files asked for; their paths."""
    if json is not None:
        write_json(rows, json)
    if html is not None:
        write_html(rows, FAMILIES, html)
    if table is not None:
        table.parent.mkdir(parents=True, exist_ok=True)
        table.write_text(markdown(rows, FAMILIES))
    return [path for path in (json, html, table) if path is not None]


__all__ = ["FAMILIES", "Family", "Item", "Outcome", "Row", "counts", "heading", "items", "line", "verify", "write"]
