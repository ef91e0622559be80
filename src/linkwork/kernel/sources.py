"""The sources that decide what rules compile to: the modules where they come from, and all that these import.

Rules are followed into what they are made of (closures, partials, wrapped functions), objects into their parts, so that whatever
may run during a trace is there. Imports count wherever they stand in a file, in a function too; only modules of this package
do, as the versions of others are part of the machine's description. Sources are read once per process.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import BuiltinFunctionType, FunctionType, MemberDescriptorType, MethodType, ModuleType
from typing import Any

import numpy as np

ROOT = Path(__file__).parent.parent
PACKAGE = __name__.partition(".")[0]
WHOLE = (str, bytes, int, float, complex, type(None), np.generic, ModuleType, BuiltinFunctionType)  # without parts
IMPORT = re.compile(rb"^[ \t]*(?:from[ \t]+([.\w]+)[ \t]+import[ \t]+(\([^)]*\)|[^\n]*)|import[ \t]+([^\n]*))", re.MULTILINE)
COMMENT = re.compile(rb"#[^\n]*")


# --- what things are made of ------------------------------------------------------------------------------------------------
def modules_of(*things: Any) -> frozenset[str]:
    """The modules of this package that define some functions, classes and objects, or what these are made of."""
    found: set[str] = set()
    seen: set[int] = set()
    todo = list(things)
    while todo:
        x = todo.pop()
        if isinstance(x, WHOLE) or id(x) in seen:
            continue
        seen.add(id(x))
        if isinstance(x, FunctionType):
            found.add(x.__globals__.get("__name__", ""))  # `functools.wraps` changes `__module__`
        else:
            found.update(c.__module__ for c in (x if isinstance(x, type) else type(x)).__mro__)
        todo.extend(_parts(x))
    return frozenset(m for m in found if m.partition(".")[0] == PACKAGE)


def _parts(x: Any) -> Iterator[Any]:
    """What an object holds, a function what it refers to; a class is all in its module."""
    if isinstance(x, np.ndarray):
        yield from x.flat if x.dtype == object else ()
    elif isinstance(x, dict):
        yield from (*x.keys(), *x.values())
    elif isinstance(x, (tuple, list, set, frozenset)):
        yield from x
    elif isinstance(x, FunctionType):
        yield from (x.__dict__, x.__defaults__, x.__kwdefaults__)  # `__wrapped__` is in the first
        yield from _filled((cell, "cell_contents") for cell in x.__closure__ or ())
    elif isinstance(x, MethodType):
        yield from (x.__func__, x.__self__)
    elif isinstance(x, functools.partial):
        yield from (x.func, x.args, x.keywords)
    elif not isinstance(x, type):
        yield getattr(x, "__dict__", None)
        members = (name for c in type(x).__mro__ for name, d in vars(c).items() if isinstance(d, MemberDescriptorType))
        yield from _filled((x, name) for name in members)


def _filled(places: Iterable[tuple[Any, str]]) -> Iterator[Any]:
    """What there is in cells and slots; some are empty."""
    for holder, name in places:
        with contextlib.suppress(ValueError, AttributeError):
            yield getattr(holder, name)


# --- what modules import ----------------------------------------------------------------------------------------------------
@functools.cache
def _files() -> dict[str, Path]:
    """The files of all modules of this package."""
    found, start = {}, len(str(ROOT))
    for folder, _, names in os.walk(ROOT):
        package = PACKAGE + folder[start:].replace(os.sep, ".")
        for name in names:
            if name.endswith(".py"):
                found[package if name == "__init__.py" else f"{package}.{name[:-3]}"] = Path(folder, name)
    return found


def file_of(module: str) -> Path | None:
    """The file of a module of this package, or None if there is no such module."""
    return _files().get(module)


@functools.cache
def source(module: str) -> bytes:
    """The text of a module."""
    file = file_of(module)
    return b"" if file is None else file.read_bytes()


@functools.cache
def imports(module: str) -> frozenset[str]:
    """The modules of this package that a module imports, anywhere in its text; the package itself offers all of them."""
    if module == PACKAGE:
        return frozenset(_files())
    file = file_of(module)
    package = module.split(".") if file is not None and file.name == "__init__.py" else module.split(".")[:-1]
    found: set[str] = set()
    for origin, names, plain in IMPORT.findall(source(module)):
        if plain:
            found.update(_named(plain))
            continue
        level = len(origin) - len(origin.lstrip(b"."))
        base = package[: len(package) + 1 - level] if level else []
        inside = ".".join([*base, *(origin.lstrip(b".").decode().split(".") if origin.strip(b".") else [])])
        for name in _named(names):
            found.add(f"{inside}.{name}" if file_of(f"{inside}.{name}") else inside)
    return frozenset(m for m in found if file_of(m))


def _named(names: bytes) -> list[str]:
    """The names in a list of imports, without what they are called here."""
    return [word.split()[0].decode() for word in COMMENT.sub(b"", names).strip(b"()\\ \n").split(b",") if word.split()]


@functools.cache
def closure(modules: frozenset[str]) -> frozenset[str]:
    """Modules and all that they import, directly or not."""
    found: set[str] = set()
    todo = list(modules)
    while todo:
        module = todo.pop()
        if module not in found:
            found.add(module)
            todo.extend(imports(module))
    return frozenset(found)


@functools.cache
def own_digest(module: str) -> bytes:
    """Of the text of one module."""
    return hashlib.sha256(source(module)).digest()


@functools.cache
def digest(modules: frozenset[str]) -> str:
    """A digest of the sources of modules and of all that they import."""
    h = hashlib.sha256()
    for module in sorted(closure(modules)):
        h.update(f"{module} ".encode() + own_digest(module))
    return h.hexdigest()
