"""How far a run is, for those who wait for it: `with watched(listener)`, runs tell `listener(steps)` what they have done."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Listener = Callable[[int], object]
_LISTENER: ContextVar[Listener | None] = ContextVar("listener", default=None)


@contextmanager
def watched(listener: Listener) -> Iterator[None]:
    """Inside, `listener` is called with the number of steps that a run has done since it was last called."""
    token = _LISTENER.set(listener)
    try:
        yield
    finally:
        _LISTENER.reset(token)


def listener() -> Listener | None:
    """Who listens."""
    return _LISTENER.get()
