"""The one family of exceptions that linkwork raises on purpose."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable
from typing import Any

PACKAGE = f"{__package__}."


def meant(name: Any, known: Iterable[Any]) -> str:
    """`; did you mean 'x'?` where a name is close to a known one, or nothing."""
    import difflib  # takes as long to import as all of this module

    if not isinstance(name, str):
        return ""
    lower = {k.lower(): k for k in known if isinstance(k, str)}
    close = difflib.get_close_matches(name.lower(), lower, n=1, cutoff=0.6)
    return f"; did you mean {lower[close[0]]!r}?" if close else ""


class LinkworkError(Exception):
    """Base of all errors of the library; the message says in one line what, where and what to do.

    >>> try:
    ...     lw.load("robot.docx")
    ... except lw.LinkworkError as error:
    ...     print("not loaded")
    not loaded
    """

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*(" ".join(x.split()) if isinstance(x, str) and "\n" in x else x for x in arguments))


class ModelError(LinkworkError, ValueError):
    """A model, or a part of one, that cannot exist: the message names the element, the value and the rule.

    >>> lw.Inertia(-1.0)
    Traceback (most recent call last):
    linkwork.errors.ModelError: ...
    """


class InputError(LinkworkError, ValueError):
    """An argument of a call with the wrong shape, kind or value.

    >>> lw.forward_dynamics(model, [0.0], v)
    Traceback (most recent call last):
    linkwork.errors.InputError: ...
    """


class StartWarning(UserWarning):
    """A run begins in a state that makes its results doubtful; `health.reasons` says the same.

    >>> issubclass(lw.StartWarning, UserWarning)
    True
    """


class UnitWarning(UserWarning):
    """An angle that is given in degrees, as it seems: linkwork takes radians. `np.deg2rad` converts.

    >>> issubclass(lw.UnitWarning, UserWarning)
    True
    """


def warn(lines: Iterable[str], kind: type[Warning]) -> None:
    """Warn with every line, at the line of the caller of the library."""
    depth, frame = 1, sys._getframe()
    while frame.f_back is not None and str(frame.f_globals.get("__name__")).startswith(PACKAGE):
        depth, frame = depth + 1, frame.f_back
    for line in lines:
        warnings.warn(line, kind, stacklevel=depth)


class ArgumentError(LinkworkError, TypeError):
    """An argument of a name that there is not."""


class SymbolError(LinkworkError, TypeError):
    """Python asked a traced value for something only a number has (its truth, its float, an equality).

    >>> issubclass(lw.SymbolError, TypeError)
    True
    """


class CompileError(LinkworkError, RuntimeError):
    """A local rule could not be turned into machine code.

    >>> issubclass(lw.CompileError, lw.LinkworkError)
    True
    """


class SolverError(LinkworkError, RuntimeError):
    """A numerical problem has no solution, or none was found.

    trajectory   of a run that stopped: what was computed until then

    >>> fast = lw.State(q, [1e4, -1e4])
    >>> try:
    ...     lw.simulate(model, fast, 20.0, 0.5)
    ... except lw.SolverError as error:
    ...     kept = error.trajectory
    """

    trajectory: Any = None


class WriteError(LinkworkError, OSError):
    """A file could not be written: no room, no permission, or its folder is gone.

    trajectory   of a run that stopped for it: what was written until then

    >>> issubclass(lw.WriteError, lw.LinkworkError)
    True
    """

    trajectory: Any = None

    @staticmethod
    def of(path: Any, error: OSError) -> WriteError:
        """Why a file could not be written."""
        return WriteError(f"cannot write {path}: {error.strerror or error}")


class RunInterrupted(KeyboardInterrupt):
    """Ctrl-C ended a run.

    trajectory   what was computed until then

    >>> issubclass(lw.RunInterrupted, KeyboardInterrupt)
    True
    """

    trajectory: Any = None
