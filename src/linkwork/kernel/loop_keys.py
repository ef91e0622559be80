"""Kernels of loop functions by what decides their text, so that none is written where its machine code is known.

The text of a function is decided by its own source and that of the functions it calls, by the numbers that their names mean, and
by the sources of the compiler: these have a key, under which the cache says which object it was. Functions of other packages have
none, as their sources are not known (`sources`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from . import cache, machine, sources
from .lanes import Lanes
from .loops import LoopFunction

NUMBERS = (bool, int, float, np.bool_, np.integer, np.floating)


def address(function: LoopFunction, lanes: Lanes) -> int:
    """Where the kernel of a function is; see `LoopFunction.address`."""
    if function.is_loaded(lanes):
        return function.address(lanes)
    name = key(function, lanes)
    known = cache.load(name) if name else None
    if known is not None and function.load(lanes, **known[0]):
        return function.address(lanes)
    found = function.address(lanes)
    if name:
        cache.store(name, function.loaded_from(lanes), b"")
    return found


def key(function: LoopFunction, lanes: Lanes) -> str | None:
    """A digest of all that decides the text of a kernel, or None if that is not known."""
    found, todo, numbers = {id(function): function}, [function], []
    while todo:
        f = todo.pop()
        for name, x in _outside(f):
            if isinstance(x, LoopFunction) and id(x) not in found:
                found[id(x)] = x
                todo.append(x)
            elif isinstance(x, NUMBERS):
                numbers.append((f.function.__qualname__, name, repr(x)))
    of = [[f.function, *f.together.values()] for f in found.values()]
    modules = frozenset(x.__module__ for parts in of for x in parts)
    if any(sources.file_of(m) is None for m in modules):
        return None
    names = [(f.function.__module__, f.function.__qualname__) for f in found.values()]
    code = sources.digest(modules | {__name__} | {type(f).__module__ for f in found.values()})
    return cache.digest("loops", code, names, numbers, lanes, machine.description(), machine.PASSES)


def _outside(f: LoopFunction) -> Iterator[tuple[str, Any]]:
    """What names mean in a function that are not its own, and what it has besides its source."""
    code, around, cells = f.function.__code__, f.function.__globals__, f.function.__closure__ or ()
    yield from ((name, around[name]) for name in code.co_names if name in around)
    yield from ((name, cell.cell_contents) for name, cell in zip(code.co_freevars, cells, strict=True))
    yield from ((name, x) for name, x in vars(f).items() if not name.startswith("__"))
