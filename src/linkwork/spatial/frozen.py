"""What describes a mechanism or a motion is finished when it is made.

One rule for joints, laws, shapes, bodies, models, states and records of runs: their arrays are their own, copies of what they
were given, and nobody can write to them; their attributes cannot be set. So what they show is what is computed with, and no two
share numbers that somebody may change. Copies, deep copies and what is unpickled are finished, too. A function that returns a
bare array returns it for good: it belongs to the caller.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from ..errors import ModelError
from .scalar import read_only

FINISHED = "_finished"  # in the attributes of what may not be changed any more


def is_frozen(a: np.ndarray) -> bool:
    """Whether nobody can write to the numbers of an array, through whatever array."""
    owner: Any = a
    while isinstance(owner, np.ndarray):
        if owner.flags.writeable:
            return False
        owner = owner.base
    return owner is None or isinstance(owner, bytes)


def frozen(x: Any) -> Any:
    """The same value with arrays that nobody can write to, copies where somebody could; in tuples, lists and dictionaries, too.

    Arrays of symbols stay as they are: rules make them, and no caller sees them.
    """
    if isinstance(x, np.ndarray):
        if x.dtype == object or (not x.flags.writeable and is_frozen(x)):
            return x
        return read_only(x.copy())
    if type(x) is tuple:
        return tuple(map(frozen, x))
    if type(x) is list:
        return list(map(frozen, x))
    if type(x) is dict:
        return {k: frozen(e) for k, e in x.items()}
    return x


def sealed(a: np.ndarray) -> np.ndarray:
    """An array of our own making, with the memory that it is part of: nobody can write to it any more, and nothing is copied."""
    owner: Any = a
    while isinstance(owner, np.ndarray):
        if owner.flags.writeable:
            owner.setflags(write=False)
        owner = owner.base
    return a


CONTAINERS = (np.ndarray, tuple, list, dict)


def finish(thing: Any) -> None:
    """Freeze the attributes of something that was made; from here on they cannot be set."""
    parts = vars(thing)
    for name, x in parts.items():
        if isinstance(x, CONTAINERS):
            parts[name] = frozen(x)
    parts[FINISHED] = True


class Frozen:
    """Base of what is finished once its `__init__` has ended; dataclasses call `finish` after theirs.

    A class that is made very often freezes its own attributes, and says so: `class State(Frozen, finishes_itself=True)`.
    """

    def __init__(self) -> None:
        if type(self).__init__ is Frozen.__init__:
            finish(self)

    def __init_subclass__(cls, finishes_itself: bool = False, **named: Any) -> None:
        super().__init_subclass__(**named)
        make = cls.__dict__.get("__init__")
        if make is None or finishes_itself:
            return

        @functools.wraps(make)
        def made(self: Any, *arguments: Any, **named: Any) -> None:
            make(self, *arguments, **named)
            if type(self).__init__ is made:  # not of a base
                finish(self)

        cls.__init__ = made

    def __setattr__(self, name: str, value: Any) -> None:
        if FINISHED in vars(self):
            raise ModelError(f"{type(self).__name__}.{name} cannot be set: what a model is made of does not change; make another")
        object.__setattr__(self, name, value)

    def __delattr__(self, name: str) -> None:
        raise ModelError(f"{type(self).__name__}.{name} cannot be deleted: what a model is made of does not change; make another")

    def __copy__(self) -> Any:
        other = object.__new__(type(self))
        vars(other).update(vars(self))
        return other

    def __deepcopy__(self, memo: Any) -> Any:
        return self

    def __setstate__(self, parts: dict[str, Any]) -> None:
        vars(self).update(parts)
        finish(self)

    def with_parts(self, **parts: Any) -> Any:
        """The same with other attributes, for those who know what they do: nothing is checked."""
        other = self.__copy__()
        vars(other).update(parts)
        return other
