"""What a slip of the original is to the reader: an element that knows the right one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar


class Slip:
    """Base of elements on which published numbers rest though they are wrong or approximate; their first line says how.

    kinds   the kinds of integrators whose numbers it changes; others have it without effect
    """

    kinds: ClassVar[tuple[str, ...]] = ("EULER", "ODE45", "BDF")

    def right(self) -> Any:
        """The element as it should be."""
        raise TypeError(f"{type(self).__name__} must define right()")


def righted(elements: Iterable[Any]) -> list[Any]:
    """The elements with every slip replaced by what is right."""
    return [e.right() if isinstance(e, Slip) else e for e in elements]


def named(elements: Iterable[Any], kind: str) -> list[str]:
    """The slips among the elements that change the numbers of a kind of integrator, each once: 'name: what it does'."""
    found = {type(e): None for e in elements if isinstance(e, Slip) and kind in e.kinds}
    return [f"{c.__name__}: {(c.__doc__ or '').splitlines()[0]}" for c in found]
