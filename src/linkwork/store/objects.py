"""Objects as plain data, and back from pickles: what comes from files is made by `reading`, with checks.

An object of this library becomes the name of its class and its attributes; what can be computed anew (cached properties) stays
behind. Functions that a user wrote travel as what they compute (`spatial.tape`). Objects that stand in several places are one
object afterwards, too, and arrays that nobody may write to stay so. `decode` sets attributes of classes of this package, without
checks: it is for pickles, which can run anything anyway.

Everything else is *foreign*: classes of users. A `Foreigner` says what happens to it.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable, Mapping
from types import BuiltinFunctionType, FunctionType, MappingProxyType
from typing import Any

import numpy as np

from ..errors import InputError
from ..spatial import taped_kinds  # noqa: F401  known to tapes
from ..spatial.tape import TapedFunction, taped
from .data import Data, state_of
from .kinds import is_stored

Foreigner = Callable[[Any, str], Any]  # (object, where it stands) -> plain data that stands for it
PACKAGE = "linkwork."
PLAIN = (bool, int, str, type(None))


def refuse(x: Any, where: str) -> Any:
    """What is foreign cannot travel."""
    kind = type(x)
    named = getattr(x, "__qualname__", "")
    what = f"the function {named!r}" if isinstance(x, FunctionType) else f"the class {kind.__module__}.{kind.__qualname__}"
    raise InputError(f"{where}: {what} is not part of linkwork and cannot be written as data")


def encode(x: Any, foreign: Foreigner = refuse) -> Data:
    """An object as data."""
    return _Encoder(foreign).data(x)


def encode_for_file(x: Any, foreign: Foreigner = refuse) -> Data:
    """An object as data of which `reading.read` makes it anew: of kinds that files contain."""
    return _FileEncoder(foreign).data(x)


def decode(data: Data, foreign: list[Any] | None = None) -> Any:
    """The object that the data of a pickle says; raises InputError if it says none.

    foreign   objects that a foreigner numbered
    """
    try:
        return _Decoder(data.arrays, foreign or []).made(data.tree)
    except InputError:
        raise
    except (KeyError, ValueError, TypeError, AttributeError, IndexError, ImportError, RecursionError) as error:
        raise InputError(f"this is no object that linkwork knows: {type(error).__name__}: {error}") from error


class _Encoder:
    def __init__(self, foreign: Foreigner) -> None:
        self._foreign, self._arrays, self._known = foreign, dict[str, np.ndarray](), dict[int, int]()
        self._alive: list[Any] = []  # what has a number keeps its address
        self._functions: list[Any] = []  # so does what was taped
        self._tapes: dict[int, TapedFunction] = {}

    def data(self, x: Any) -> Data:
        return Data(self.of(x, type(x).__name__), self._arrays)

    def of(self, x: Any, where: str) -> Any:
        if isinstance(x, PLAIN):
            return x
        if isinstance(x, float):
            return x if np.isfinite(x) else {"float": repr(float(x))}
        if isinstance(x, list):
            return [self.of(e, where) for e in x]
        if type(x) is tuple:
            return {"tuple": [self.of(e, where) for e in x]}
        if isinstance(x, (dict, MappingProxyType)):
            return {"dict": [[self.of(k, where), self.of(v, where)] for k, v in x.items()]}
        if isinstance(x, (set, frozenset)):
            members = sorted((self.of(e, where) for e in x), key=lambda e: json.dumps(e))
            return {type(x).__name__: members}
        if isinstance(x, range):
            return {"range": [x.start, x.stop, x.step]}
        if isinstance(x, slice):
            return {"slice": [x.start, x.stop, x.step]}
        if isinstance(x, np.generic):
            return {"scalar": [x.dtype.str, x.item()]}
        return self._shared(x, where)

    def _shared(self, x: Any, where: str) -> Any:
        """What may stand in several places."""
        x = self._tapes.get(id(x), x)
        if id(x) in self._known:
            return {"again": self._known[id(x)]}
        number = self._known[id(x)] = len(self._alive)
        self._alive.append(x)
        if isinstance(x, np.ndarray):
            if x.dtype == object:
                return self._foreign(x, where)
            name = f"a{len(self._arrays)}"
            self._arrays[name] = x
            return {"array": name, "frozen": not x.flags.writeable}
        if isinstance(x, type):
            return {"class": _name(x)} if self._travels(x) else self._foreign(x, where)
        if isinstance(x, (FunctionType, BuiltinFunctionType)):
            return self._function(x, where)
        if isinstance(x, TapedFunction):
            return {"tape": x.as_data()}
        kind = type(x)
        if not self._travels(kind):
            return self._foreign(x, where)
        if isinstance(x, tuple):  # with names
            return {"named": _name(kind), "members": [self.of(e, where) for e in x]}
        state = self._travelling(x, state_of(x))
        return {"object": number, "of": _name(kind), "state": {n: self.of(v, self._place(x, n)) for n, v in state.items()}}

    @staticmethod
    def _place(x: Any, attribute: str) -> str:
        """Where something stands, for messages."""
        name = getattr(x, "name", "")
        return f"{type(x).__name__}{f' {name!r}' if isinstance(name, str) and name else ''}: {attribute}"

    def _travelling(self, x: Any, state: dict[str, Any]) -> dict[str, Any]:
        """The state with the functions that its class says how to call as what they compute; what it was made with likewise."""
        for name, arguments in getattr(x, "function_arguments", dict)().items():
            function = state.get(name)
            if isinstance(function, Mapping):
                state[name] = {k: f if f is None else self._tape(f, arguments.get(k)) for k, f in function.items()}
            elif function is not None:
                state[name] = self._tape(function, arguments)
        made = state.get("_made_with")
        for part in state.values() if made is not None else ():  # functions are taped by the part that knows how to call them
            if hasattr(part, "function_arguments"):
                self._travelling(part, state_of(part))
        return state if made is None else state | {"_made_with": self._made_with(made)}

    def _made_with(self, made: Any) -> Any:
        """The arguments of a law, functions as they travel; None if one of them does not."""

        def known(x: Any) -> Any:
            if isinstance(x, FunctionType) and not self._by_name(x):
                return self._tapes[id(x)]
            return {name: known(e) for name, e in x.items()} if isinstance(x, dict) else x

        try:
            return tuple(map(known, made[0])), {name: known(x) for name, x in made[1].items()}
        except KeyError:
            return None

    def _tape(self, function: Any, arguments: Any) -> Any:
        if arguments is None or not isinstance(function, FunctionType) or self._by_name(function):
            return function
        if id(function) not in self._tapes:
            found = taped(function, arguments)
            if found is None:
                return function
            self._tapes[id(function)] = found
            self._functions.append(function)
        return self._tapes[id(function)]

    def _function(self, x: Any, where: str) -> Any:
        return {"function": _name(x)} if self._by_name(x) else self._foreign(x, where)

    def _travels(self, kind: type) -> bool:
        """Whether objects of a class become data."""
        return is_own(kind)

    def _by_name(self, function: Any) -> bool:
        """Whether a function travels by its name."""
        return _public(function)


class _FileEncoder(_Encoder):
    def _travels(self, kind: type) -> bool:
        return is_stored(kind)

    def _by_name(self, function: Any) -> bool:
        return is_stored(function)


class _Decoder:
    def __init__(self, arrays: Mapping[str, np.ndarray], foreign: list[Any]) -> None:
        self._arrays, self._strangers, self._made = arrays, foreign, list[Any]()

    def made(self, x: Any) -> Any:
        if isinstance(x, list):
            return [self.made(e) for e in x]
        if not isinstance(x, dict):
            return x
        kind = next(iter(x))
        if kind in ("array", "class", "function", "tape", "named", "object", "foreign"):
            place = len(self._made)
            self._made.append(None)
            found = self._made[place] = getattr(self, f"_{kind}")(x, place)
            return found
        value = x[kind]
        if kind == "again":
            return self._made[value]
        if kind == "float":
            return float(value)
        if kind == "dict":
            return {self.made(k): self.made(v) for k, v in value}
        if kind in ("tuple", "set", "frozenset"):
            return {"tuple": tuple, "set": set, "frozenset": frozenset}[kind](self.made(e) for e in value)
        if kind in ("range", "slice"):
            return {"range": range, "slice": slice}[kind](*value)
        if kind == "scalar":
            return np.array(value[1], dtype=value[0])[()]
        raise ValueError(f"nothing is called {kind!r}")

    def _array(self, x: Any, place: int) -> np.ndarray:
        a = self._arrays[x["array"]]
        if x["frozen"]:
            a.setflags(write=False)
        return a

    def _class(self, x: Any, place: int) -> Any:
        return _found(x["class"], type)

    def _function(self, x: Any, place: int) -> Any:
        return _found(x["function"], FunctionType)

    def _tape(self, x: Any, place: int) -> Any:
        return TapedFunction.of_data(x["tape"])

    def _named(self, x: Any, place: int) -> Any:
        return _found(x["named"], type)(*(self.made(e) for e in x["members"]))

    def _object(self, x: Any, place: int) -> Any:
        kind = _found(x["of"], type)
        made = self._made[place] = object.__new__(kind)
        for name, value in x["state"].items():
            object.__setattr__(made, name, self.made(value))
        return made

    def _foreign(self, x: Any, place: int) -> Any:
        return self._strangers[x["foreign"]]


def is_own(kind: type) -> bool:
    """Whether a class is part of this package."""
    return kind.__module__.startswith(PACKAGE)


def _public(function: Any) -> bool:
    """Whether a function of this package is found by its name."""
    if not getattr(function, "__module__", "").startswith(PACKAGE) or "<" in function.__qualname__:
        return False
    found: Any = importlib.import_module(function.__module__)
    for part in function.__qualname__.split("."):
        found = getattr(found, part, None)
    return found is function


def _name(x: Any) -> str:
    return f"{x.__module__}:{x.__qualname__}"


def _found(name: str, kind: type) -> Any:
    """A class or function of this package by its name."""
    module, _, path = name.partition(":")
    if not module.startswith(PACKAGE) or "<" in path:
        raise ValueError(f"{name!r} is not part of linkwork")
    found: Any = importlib.import_module(module)
    for part in path.split("."):
        found = getattr(found, part)
    if not isinstance(found, kind) or not getattr(found, "__module__", "").startswith(PACKAGE):
        raise ValueError(f"{name!r} is no {kind.__name__} of linkwork")
    return found
