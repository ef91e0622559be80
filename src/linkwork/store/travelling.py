"""Objects that pickle, copy and go to other processes, whatever was computed with them before."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from types import FunctionType
from typing import Any, Self

import numpy as np

from .data import Data, state_of
from .objects import decode, encode, is_own, refuse


class Travelling:
    """Base of what never changes once it is made: a copy shares its parts, a pickle is its data (see `objects`).

    What was computed from it stays behind. Functions of users arrive as what they compute.
    """

    def __reduce__(self) -> Any:
        if not is_own(type(self)):  # a class of a user: its module is imported where it arrives
            return _blank, (type(self),), state_of(self)
        strangers: list[Any] = []

        def foreign(x: Any, where: str) -> Any:
            if isinstance(x, FunctionType) and not _has_name(x):
                return refuse(x, where)
            strangers.append(x)
            return {"foreign": len(strangers) - 1}

        data = encode(self, foreign)
        return _arrived, (data.tree, data.arrays, strangers)

    def __copy__(self) -> Self:
        made = _blank(type(self))
        made.__dict__.update(self.__dict__)
        return made

    def __deepcopy__(self, memo: Any) -> Self:
        made = _blank(type(self))
        made.__dict__.update(state_of(self))
        return made


def _blank(kind: type) -> Any:
    return object.__new__(kind)


def _arrived(tree: Any, arrays: Mapping[str, np.ndarray], strangers: list[Any]) -> Any:
    return decode(Data(tree, dict(arrays)), strangers)


def _has_name(function: FunctionType) -> bool:
    """Whether a function is found under its name in its module."""
    found: Any = importlib.import_module(function.__module__) if function.__module__ else None
    for part in function.__qualname__.split("."):
        found = getattr(found, part, None)
    return found is function
