"""Packages whose names are imported when they are first asked for, so that a program pays only for what it uses.

A package tells type checkers where its names come from, and this module reads it there:

    if TYPE_CHECKING:
        from .derivatives import DynamicsDerivatives
        ...
    offer_lazily(__name__)

Where a package lists all of a kind, `Registry` does so by their names.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, Generic, TypeVar

Thing = TypeVar("Thing")
Places = dict[str, tuple[str, str]]  # for every name the module that defines it, and its name there


class LazyPackage(ModuleType):
    """A package that imports its names when they are first asked for.

    Some functions share their names with the modules that define them (`simulate`); here the name means the function.
    """

    _places: Places

    def __getattr__(self, name: str) -> Any:
        if name not in self._places:
            from .errors import meant

            known = () if name.startswith("_") else self._places
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}{meant(name, known)}")
        module, own = self._places[name]
        found = import_module(f".{module or own}", self.__name__)
        value = getattr(found, own) if module else found
        self.__dict__[name] = value
        return value

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in self._places or not isinstance(value, ModuleType):
            super().__setattr__(name, value)


def offer_lazily(package: str, stub: str = "") -> Places:
    """Make a package lazy: its names are those that it, or a stub beside it, imports for type checkers."""
    module = sys.modules[package]
    file = Path(module.__file__ or "")
    text = ast.parse((file.with_name(stub) if stub else file).read_text(encoding="utf-8"))
    nodes = text.body if stub else [n for part in text.body if isinstance(part, ast.If) for n in part.body]
    found = [(node.module or "", name) for node in nodes if isinstance(node, ast.ImportFrom) for name in node.names]
    places = {name.asname or name.name: (origin, name.name) for origin, name in found}
    module.__dict__["_places"] = places
    module.__class__ = LazyPackage
    return places


class Registry(MutableMapping[str, Thing], Generic[Thing]):
    """Things of a package by name; each is imported when it is first asked for.

    names   those that they have in the package, or for every name the one there
    """

    def __init__(self, package: str, names: Sequence[str] | Mapping[str, str]) -> None:
        self._package = package
        self._names = dict(names) if isinstance(names, Mapping) else {name: name for name in names}
        self._found: dict[str, Thing] = {}

    def __getitem__(self, name: str) -> Thing:
        if name not in self._found:
            self._found[name] = getattr(sys.modules[self._package], self._names[name])
        return self._found[name]

    def __setitem__(self, name: str, thing: Thing) -> None:
        self._names[name], self._found[name] = "", thing

    def __delitem__(self, name: str) -> None:
        del self._names[name]
        self._found.pop(name, None)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __len__(self) -> int:
        return len(self._names)
