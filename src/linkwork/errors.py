"""The one family of exceptions that linkwork raises on purpose."""

from __future__ import annotations

from typing import Any


class LinkworkError(Exception):
    """Base of all errors of the library; the message says what, where and what to do."""


class ModelError(LinkworkError, ValueError):
    """A model, or a part of one, that cannot exist: the message names the element, the value and the rule."""


class InputError(LinkworkError, ValueError):
    """An argument of a call with the wrong shape, kind or value."""


class SymbolError(LinkworkError, TypeError):
    """Python asked a traced value for something only a number has (its truth, its float, an equality)."""


class CompileError(LinkworkError, RuntimeError):
    """A local rule could not be turned into machine code."""


class SolverError(LinkworkError, RuntimeError):
    """A numerical problem has no solution, or none was found.

    trajectory   of a run that stopped: what was computed until then
    """

    trajectory: Any = None


class WriteError(LinkworkError, OSError):
    """A file could not be written: no room, no permission, or its folder is gone.

    trajectory   of a run that stopped for it: what was written until then
    """

    trajectory: Any = None

    @staticmethod
    def of(path: Any, error: OSError) -> WriteError:
        """Why a file could not be written."""
        return WriteError(f"cannot write {path}: {error.strerror or error}")


class RunInterrupted(KeyboardInterrupt):
    """Ctrl-C ended a run.

    trajectory   what was computed until then
    """

    trajectory: Any = None
