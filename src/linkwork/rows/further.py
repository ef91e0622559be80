"""Rows of shapes that touch at some points nearly always, and at further ones in special positions alone: two rules.

Two capsules have one point where they are nearest, and two more where they lie along each other. What a rule of all of them
computes for those is a long way for nothing, as they are seldom on: they have a rule of their own, which is passed over.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..spatial.scalar import array
from .asked import ask, hold_rows, row_law_at

ROW_FIELDS = frozenset({"on", "levers", "b", "lower", "upper", "soft", "room", "strikes", "mu"})
PLACE_FIELDS = frozenset({"p", "c"})


class SomeRows:
    """A node, or a place, of whose fields a rule sees and writes the part that some rows have.

    names         of these fields; what is set besides is not kept
    first, last   the rows, of so many
    """

    def __init__(self, whole: Any, names: frozenset[str], first: int, last: int, size: int) -> None:
        vars(self).update(_whole=whole, _names=names, _first=first, _last=last, _size=size)

    def _part(self, count: int) -> slice:
        return slice(count * self._first // self._size, count * self._last // self._size)

    def __getattr__(self, name: str) -> Any:
        x = getattr(self._whole, name)
        return x[self._part(len(x))] if name in self._names else x

    def __setattr__(self, name: str, value: Any) -> None:
        if name in self._names:
            x = list(getattr(self._whole, name))
            x[self._part(len(x))] = list(value)
            setattr(self._whole, name, array(x))


def hold_usual(n: Any, *around: Any) -> None:
    """`hold_velocities` of all points but those that only special positions have."""
    hold_points(n, around, 0, n.law.usual)


def hold_further(n: Any, *around: Any) -> None:
    """The same of those."""
    hold_points(n, around, n.law.usual, n.law.size // n.law.per_point)


def hold_points(n: Any, around: Sequence[Any], first: int, last: int) -> None:
    """The same of some points."""
    if first == last:
        return
    ports, places = around[: len(around) // 2], around[len(around) // 2 :]
    law, at = row_law_at(n, ports)
    if last - first == law.size // law.per_point:
        hold_rows(ask, n, law, at, ports, places)
        return
    rows = (first * law.per_point, last * law.per_point, law.size)
    own, there = SomeRows(n, ROW_FIELDS, *rows), [SomeRows(place, PLACE_FIELDS, *rows) for place in places]
    hold_rows(ask, own, law.of_points(first, last), at, ports, there)
