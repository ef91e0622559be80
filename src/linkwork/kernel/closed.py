"""What a function computes without being run: its code, and the values of all that it refers to.

Functions of which this is equal compute the same, so that a thousand lambdas of one line are traced once. Where a function refers
to something whose value may change unseen (an array, an object), nothing is said.
"""

from __future__ import annotations

from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

VALUES = (int, float, complex, str, bytes, type(None))  # a bool is an int
SETTLED = (ModuleType, type, BuiltinFunctionType, np.ufunc)  # what a name of theirs means does not change
PACKAGES = ("linkwork", "numpy", "math")


def closed_key(f: Any) -> Any:
    """A key of what a function computes, or None where that cannot be said without running it."""
    try:
        return _key(f, ())
    except _OpenError:
        return None


class _OpenError(Exception):
    """It refers to what may change."""


def _key(x: Any, above: tuple[int, ...]) -> Any:
    if isinstance(x, VALUES):
        return (type(x).__name__, repr(x))
    if isinstance(x, SETTLED):
        return id(x)
    if isinstance(x, tuple):
        return tuple(_key(e, above) for e in x)
    if not isinstance(x, FunctionType):
        raise _OpenError
    if (x.__module__ or "").partition(".")[0] in PACKAGES or id(x) in above:
        return id(x)
    above = (*above, id(x))
    cells = tuple(_key(cell.cell_contents, above) for cell in x.__closure__ or ())
    named = (x.__globals__[name] for name in _names(x.__code__) if name in x.__globals__)
    given = (*(x.__defaults__ or ()), *(x.__kwdefaults__ or {}).values())
    return (x.__code__, cells, tuple(_key(v, above) for v in (*named, *given)))


def _names(code: CodeType) -> list[str]:
    """The names that a piece of code may look up among globals, with those of the functions in it."""
    found = list(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            found += _names(constant)
    return found
