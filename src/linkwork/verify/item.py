"""What is verified: an item with its source, and what came out, a figure beside its tolerance."""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Picture = Callable[[], "Figure"]


@dataclass(frozen=True)
class Outcome:
    """What an item found: it passes where `figure` is at most `tolerance`.

    figure    an error, a ratio, a distance from what is expected; None where nothing can be computed, and `note` says why
    note      what the figure is of, and what else was seen
    picture   draws it
    """

    figure: float | None
    tolerance: float = 0.0
    note: str = ""
    picture: Picture | None = None


def absent(why: str, picture: Picture | None = None) -> Outcome:
    """The outcome of an item that cannot be reproduced, with the reason."""
    return Outcome(None, note=why, picture=picture)


@dataclass(frozen=True)
class Item:
    """Something that is said and can be checked.

    name     of the family and of the item, as in "analytic.pendulum"
    checks   what is compared
    source   whose figure it is compared with
    compute  finds the outcome; its argument asks for a quick one, with fewer models or a shorter run
    needs    modules of other projects that must be installed
    """

    name: str
    checks: str
    source: str
    compute: Callable[[bool], Outcome]
    needs: tuple[str, ...] = ()


@dataclass(frozen=True)
class Row:
    """An item and its outcome; `error` where it failed to give any."""

    item: Item
    outcome: Outcome
    seconds: float
    error: str = ""

    @property
    def verdict(self) -> str:
        """ "pass", "FAIL", "not here" (it cannot be reproduced) or "skipped" (something is not installed)."""
        if self.error:
            return "FAIL"
        if self.outcome.figure is None:
            return "skipped" if self.lacking else "not here"
        return "pass" if self.outcome.figure <= self.outcome.tolerance else "FAIL"  # a figure that is no number fails

    @property
    def lacking(self) -> bool:
        return bool(missing(self.item))


def missing(item: Item) -> list[str]:
    """The modules that an item needs and that are not installed."""
    return [name for name in item.needs if importlib.util.find_spec(name) is None]


def run_item(item: Item, quick: bool = False) -> Row:
    """The row of an item. One that breaks is a row that failed: the others still have theirs."""
    begin = time.perf_counter()
    if lacking := missing(item):
        return Row(item, absent(f"needs {', '.join(lacking)}, not installed here"), 0.0)
    try:
        return Row(item, item.compute(quick), time.perf_counter() - begin)
    except Exception as error:
        return Row(item, Outcome(None), time.perf_counter() - begin, f"{type(error).__name__}: {error}")


@dataclass(frozen=True)
class Family:
    """Items of one kind, with what they have in common.

    name    the first part of the names of its items
    title   for the page
    about   one sentence
    """

    name: str
    title: str
    about: str
    items: list[Item] = field(default_factory=list)

    def item(
        self, name: str, checks: str, source: str, needs: tuple[str, ...] = ()
    ) -> Callable[[Callable[[bool], Outcome]], Callable[[bool], Outcome]]:
        """Registers the function below as the item `family.name`."""

        def register(compute: Callable[[bool], Outcome]) -> Callable[[bool], Outcome]:
            self.items.append(Item(f"{self.name}.{name}", checks, source, compute, needs))
            return compute

        return register
