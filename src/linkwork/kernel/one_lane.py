"""Loop functions with a text of their own for one lane, in which whole registers run along numbers that lie side by side.

Other numbers of lanes run the function as it stands; both round alike.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import machine
from .lanes import Lanes
from .loops import LoopFunction


class InOneLane(LoopFunction):
    """A loop function with a text of its own for one lane of double precision, given the name, the width of registers and how far
    apart the numbers of `Strided` arrays lie."""

    def __init__(self, function: Callable[..., Any], text: Callable[[str, int, int], str]) -> None:
        super().__init__(function)
        self._text = text

    def written(self, lanes: Lanes, symbol: str, stride: int) -> str | None:
        return None if lanes.width > 1 or lanes.single else self._text(symbol, machine.register_bytes() // 8, stride)


def in_one_lane(text: Callable[[str, int], str]) -> Callable[[Callable[..., Any]], InOneLane]:
    """A decorator of functions without `Strided` arrays: see `InOneLane`."""
    return in_strided_lane(lambda symbol, width, stride: text(symbol, width))


def in_strided_lane(text: Callable[[str, int, int], str]) -> Callable[[Callable[..., Any]], InOneLane]:
    """The same of functions with such."""
    return lambda function: InOneLane(function, text)
