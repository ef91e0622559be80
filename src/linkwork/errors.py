"""The one family of exceptions that linkwork raises on purpose."""

from __future__ import annotations

from typing import Any


class LinkworkError(Exception):
    """Base of all errors of the library; the message says in one line what, where and what to do."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*(" ".join(x.split()) if isinstance(x, str) and "\n" in x else x for x in arguments))


class ModelError(LinkworkError, ValueError):
    """A model, or a part of one, that cannot exist: the message names the element, the value and the rule."""


class InputError(LinkworkError, ValueError):
    """An argument of a call with the wrong shape, kind or value."""


class ArgumentError(LinkworkError, TypeError):
    """An argument of a name that there is not."""


class SymbolError(LinkworkError, TypeError):
    """Python asked a traced value for something only a number has (its truth, its float, an equality)."""


class CompileError(LinkworkError, RuntimeError):
    """A local rule could not be turned into machine code."""


class SolverError(LinkworkError, RuntimeError):
    """A numerical problem has no solution, or none was found.

    trajectory   of a run that stopped: what was computed until then
    """

    trajectory: Any = None
