"""Objects of a file: the data is looked through, and every object is made by a way that checks it.

A file may contain what `kinds` lists, and plain values. Each object is made anew by its public constructor (a law with what it
was made with, others with the attributes that the constructor names), or by `from_state` of its kind, which fills a plain record
once it has looked at every part. What comes out must agree with what the file says, attribute by attribute; then the numbers of
the file are taken, so that they are those that were saved, to the last bit. Everything else is an error that names the place.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import Any

import numpy as np

from ..errors import InputError, LinkworkError
from ..spatial.tape import TapedFunction
from .data import Data, state_of
from .kinds import function_of, kind_of

MAX_DEPTH = 100  # of lists and objects in each other; models have about 30
MAX_WHOLE = (1 << 63) - 1
MAX_RANGE = 1 << 20
MAX_WORDS = 1000  # letters of a message
SAME_RTOL = 1e-9  # by how much what is computed again may differ from what the file says
SCALARS = "?bBhHiIlLqQfd"  # kinds of NumPy's numbers
NON_FINITE = {"inf": np.inf, "-inf": -np.inf, "nan": np.nan}
CONTAINERS = ("float", "tuple", "dict", "set", "frozenset", "range", "slice", "scalar")
SHAREABLE = ("array", "object", "tape", "function", "named", "again")


class ReadError(InputError):
    """Something in a file that it may not contain; `place` says where, innermost last."""

    def __init__(self, words: str) -> None:
        super().__init__(words)
        self.words, self.place = words, list[str]()

    def within(self, part: str) -> ReadError:
        """The same error, one step further out."""
        self.place.insert(0, part)
        return self

    def __str__(self) -> str:
        return f"{''.join(self.place).lstrip('.')}: {self.words}" if self.place else self.words


def read(data: Data) -> Any:
    """The object that the data of a file says. Raises InputError with the place if a file may not contain it."""
    try:
        with np.errstate(all="ignore"):
            return _Reader(data.arrays).value(data.tree, 0)
    except ReadError as error:
        words = " ".join(str(error).split())
        raise InputError(
            words if len(words) <= MAX_WORDS else f"{words[: MAX_WORDS // 2]} ... {words[-MAX_WORDS // 2 :]}"
        ) from error


class _Reader:
    def __init__(self, arrays: Mapping[str, np.ndarray]) -> None:
        self._arrays, self._made = arrays, list[Any]()

    def value(self, x: Any, depth: int) -> Any:
        kind = type(x)
        if kind is str or kind is int or kind is bool or x is None or isinstance(x, float):
            return _plain(x)
        if depth > MAX_DEPTH:
            raise ReadError(f"it is nested more than {MAX_DEPTH} deep")
        if kind is list:
            return [self._entry(e, k, depth) for k, e in enumerate(x)]
        if kind is not dict or not x:
            raise ReadError("there is an entry that says nothing")
        what = next(iter(x))
        if what in SHAREABLE:
            return self._shared(what, x, depth)
        if len(x) != 1:
            raise ReadError(f"an entry {what[:40]!r} says nothing else")
        return self._container(what, x[what], depth)

    def _entry(self, x: Any, k: int, depth: int) -> Any:
        try:
            return self.value(x, depth + 1)
        except ReadError as error:
            raise error.within(f"[{k}]") from None

    def _container(self, what: str, x: Any, depth: int) -> Any:
        if what not in CONTAINERS:
            raise ReadError(f"files do not contain {what[:40]!r}")
        if what == "float":
            if not isinstance(x, str) or x not in NON_FINITE:
                raise ReadError(f"{str(x)[:40]!r} is no number")
            return NON_FINITE[x]
        if not isinstance(x, list):
            raise ReadError(f"an entry {what[:40]!r} is a list")
        if what == "tuple":
            return tuple(self._entry(e, k, depth) for k, e in enumerate(x))
        if what == "dict":
            return self._dict(x, depth)
        if what in ("set", "frozenset"):
            return self._set(what, x, depth)
        if what in ("range", "slice"):
            return _steps(what, x)
        return _scalar(x)

    def _dict(self, x: list[Any], depth: int) -> dict[Any, Any]:
        found: dict[Any, Any] = {}
        for k, pair in enumerate(x):
            if not isinstance(pair, list) or len(pair) != 2 or not isinstance(pair[0], (str, int)):
                raise ReadError("an entry of a dictionary is a name or a whole number, and a value").within(f"[{k}]")
            name = _plain(pair[0])
            if name in found:
                raise ReadError(f"{str(name)[:40]!r} stands there twice")
            try:
                found[name] = self.value(pair[1], depth + 1)
            except ReadError as error:
                raise error.within(f"[{str(name)[:40]!r}]") from None
        return found

    def _set(self, what: str, x: list[Any], depth: int) -> Any:
        members = [self._entry(e, k, depth) for k, e in enumerate(x)]
        if not all(isinstance(e, (str, int, frozenset)) for e in members) or len(set(members)) != len(members):
            raise ReadError("the members of a set are names, numbers or sets, each once")
        return set(members) if what == "set" else frozenset(members)

    def _shared(self, what: str, x: dict[str, Any], depth: int) -> Any:
        """What may stand in several places."""
        if what == "again":
            at = x["again"]
            if len(x) != 1 or type(at) is not int or not 0 <= at < len(self._made) or self._made[at] is None:
                raise ReadError(f"{str(at)[:40]} is no part before this one")
            return self._made[at]
        place = len(self._made)
        self._made.append(None)
        found = self._made[place] = getattr(self, f"_{what}")(x, depth)
        return found

    def _array(self, x: dict[str, Any], depth: int) -> np.ndarray:
        name = x["array"]
        if (
            set(x) != {"array", "frozen"}
            or type(x["frozen"]) is not bool
            or not isinstance(name, str)
            or name not in self._arrays
        ):
            raise ReadError(f"the file has no array {str(name)[:40]!r}")
        a = self._arrays[name]
        if a.flags.writeable:
            a.setflags(write=False)
        return a

    def _function(self, x: dict[str, Any], depth: int) -> Any:
        found = function_of(x["function"])
        if len(x) != 1 or found is None:
            raise ReadError(f"{str(x['function'])[:80]!r} is no function that files contain")
        return found

    def _tape(self, x: dict[str, Any], depth: int) -> TapedFunction:
        if len(x) != 1 or not isinstance(x["tape"], dict) or set(x["tape"]) != {"name", "nodes", "result", "forms"}:
            raise ReadError("a function is its name, its operations, its result and the forms of its arguments")
        try:
            return TapedFunction.of_data(x["tape"])
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            raise ReadError(f"a function: {error}") from None

    def _named(self, x: dict[str, Any], depth: int) -> Any:
        kind = kind_of(x["named"])
        if kind is None or not issubclass(kind, tuple) or set(x) != {"named", "members"} or not isinstance(x["members"], list):
            raise ReadError(f"{str(x['named'])[:80]!r} is no tuple that files contain")
        members = [self._entry(e, k, depth) for k, e in enumerate(x["members"])]
        return _made(kind, lambda: kind.from_members(members))  # type: ignore[attr-defined]

    def _object(self, x: dict[str, Any], depth: int) -> Any:
        kind, given = kind_of(x.get("of")), x.get("state")
        if kind is None or issubclass(kind, tuple):
            raise ReadError(f"{str(x.get('of'))[:80]!r} is no kind of part that files contain")
        if set(x) != {"object", "of", "state"} or not isinstance(given, dict):
            raise ReadError(f"a {kind.__name__} is its number, its kind and its attributes")
        state: dict[str, Any] = {}
        for name, value in given.items():
            try:
                state[name] = self.value(value, depth + 1)
            except ReadError as error:
                raise error.within(f".{name[:40]}") from None
        return _made(kind, lambda: rebuilt(kind, state))


def _made(kind: type, make: Any) -> Any:
    """What a constructor makes; whatever it raises says that a file is wrong."""
    try:
        return make()
    except ReadError:
        raise
    except LinkworkError as error:
        raise ReadError(str(error)).within(f"({kind.__name__})") from error
    except KeyError as error:
        raise ReadError(f"a {kind.__name__} needs its attribute {str(error)[:40]}") from error
    except Exception as error:  # a constructor got something that its callers never give it
        raise ReadError(f"a {kind.__name__} cannot be made of this: {type(error).__name__}: {error}") from error


def rebuilt(kind: Any, state: dict[str, Any]) -> Any:
    """An object with these attributes, made anew and checked."""
    make = getattr(kind, "from_state", None)
    made = kind(**_arguments(kind, state)) if make is None else make(dict(state))
    if type(made) is not kind:
        raise ReadError(f"this makes a {type(made).__name__}, not a {kind.__name__}")
    return made if getattr(kind, "is_record", False) else _agreeing(made, state)


@cache
def _parameters(kind: type) -> tuple[str, ...]:
    return tuple(inspect.signature(kind).parameters)


def _arguments(kind: type, state: Mapping[str, Any]) -> dict[str, Any]:
    """Attributes that a constructor takes by their names."""
    return {name: state[name] for name in _parameters(kind) if name in state}


def _agreeing(made: Any, state: dict[str, Any]) -> Any:
    """What was made, with the numbers of the file; raises where it is not what the file says."""
    own, parts = state_of(made), getattr(made, "__dict__", None)
    found_anew = getattr(type(made), "found_anew", ())  # attributes that follow from use alone
    for name in state:
        if name not in own and name not in found_anew:
            raise ReadError(f"a {type(made).__name__} has no attribute {str(name)[:40]!r}")
    for name in own:
        if name not in state and name not in found_anew:
            raise ReadError(f"a {type(made).__name__} needs its attribute {name!r}")
    for name, stored in state.items():
        if name in found_anew or name == "_made_with":
            continue
        try:
            kept = _agreed(own[name], stored, 0)
        except ReadError as error:
            raise error.within(f".{name}") from None
        if parts is None or name not in parts:
            object.__setattr__(made, name, kept)
        else:
            parts[name] = kept
    return made


def _agreed(own: Any, stored: Any, depth: int) -> Any:
    """A value of the file that agrees with the one that was found anew."""
    if own is stored:
        return stored
    if isinstance(own, (float, np.ndarray, np.generic)):
        return _agreed_numbers(own, stored)
    if callable(own) and callable(stored) and not isinstance(own, type):
        return own
    if type(stored) is not type(own) and not (isinstance(own, MappingProxyType) and type(stored) is dict):
        raise ReadError(f"it is a {type(stored).__name__}, where a {type(own).__name__} belongs")
    if depth > MAX_DEPTH:
        raise ReadError(f"it is nested more than {MAX_DEPTH} deep")
    if isinstance(own, (list, tuple)):
        return _agreed_entries(own, stored, depth)
    if isinstance(own, (dict, MappingProxyType)):
        return _agreed_names(own, stored, depth)
    if isinstance(own, (str, int, frozenset, set, range, slice)) or own is None:
        if own != stored:
            raise ReadError(f"it is {str(stored)[:40]!r}, but the other attributes make it {str(own)[:40]!r}")
        return stored
    ours, theirs, found_anew = state_of(own), state_of(stored), getattr(type(own), "found_anew", ())
    ours_kept, theirs_kept = ({n: x for n, x in a.items() if n not in ("_made_with", *found_anew)} for a in (ours, theirs))
    _agreed_names(ours_kept, theirs_kept, depth)
    for name in found_anew:
        vars(stored)[name] = ours[name]
    return stored


def _agreed_entries(own: Any, stored: Any, depth: int) -> Any:
    if len(own) != len(stored):
        raise ReadError(f"it has {len(stored)} entries, where {len(own)} belong")
    kept = [_agreed(a, b, depth + 1) for a, b in zip(own, stored, strict=True)]
    return kept if type(own) is list else tuple(kept) if type(own) is tuple else own


def _agreed_names(own: Any, stored: Any, depth: int) -> Any:
    if set(own) != set(stored):
        raise ReadError(f"it has the names {str(sorted(map(str, stored)))[:80]}, where {sorted(map(str, own))} belong")
    return {name: _agreed(own[name], x, depth + 1) for name, x in stored.items()}


def _agreed_numbers(own: Any, stored: Any) -> Any:
    if not isinstance(own, (float, np.ndarray)):
        if type(own) is not type(stored) or own != stored:
            raise ReadError(f"it is {_shown(stored)}, where {_shown(own)} belongs")
        return stored
    ours, theirs = np.asarray(own), np.asarray(stored) if isinstance(stored, (float, np.ndarray)) else np.zeros(0, bool)
    same_kind = isinstance(stored, np.ndarray) is isinstance(own, np.ndarray)
    if not same_kind or ours.dtype != theirs.dtype or ours.shape != theirs.shape:
        raise ReadError(f"it is {_shown(stored)}, where {_shown(own)} belong")
    if ours.tobytes() != theirs.tobytes():
        scale = float(np.abs(ours[np.isfinite(ours)]).max(initial=0.0))
        if not np.allclose(ours, theirs, rtol=SAME_RTOL, atol=SAME_RTOL * scale, equal_nan=True):
            raise ReadError(f"its numbers are not those that its other attributes make: {_shown(stored)}, not {_shown(own)}")
    return stored


def _shown(x: Any) -> str:
    if isinstance(x, np.ndarray):
        return f"an array of {x.dtype} of shape {x.shape}" if x.size > 9 else f"the numbers {x.tolist()}"
    return f"{x!r}"[:80]


def _plain(x: Any) -> Any:
    if isinstance(x, float) and not np.isfinite(x):
        raise ReadError("there is a number that is not finite where only finite ones can stand")
    if type(x) is int and not -MAX_WHOLE <= x <= MAX_WHOLE:
        raise ReadError("there is a whole number with more than 63 bits")
    if type(x) is str and not x.isascii():
        try:
            x.encode()
        except UnicodeEncodeError:
            raise ReadError("there is a text that is not Unicode") from None
    return x


def _steps(what: str, x: list[Any]) -> Any:
    if len(x) != 3 or not all(e is None or (type(e) is int and abs(e) <= MAX_RANGE) for e in x) or x[2] == 0:
        raise ReadError(f"a {what} has a start, an end and a step, at most {MAX_RANGE}")
    if what == "range" and None in x:
        raise ReadError("a range has a start, an end and a step")
    return range(*x) if what == "range" else slice(*x)


def _scalar(x: list[Any]) -> Any:
    try:
        dtype = np.dtype(x[0]) if len(x) == 2 and isinstance(x[0], str) else None
        if dtype is None or dtype.char not in SCALARS or not isinstance(x[1], (bool, int, float)):
            raise ReadError(f"{str(x)[:40]} is no number")
        return np.array(x[1], dtype=dtype)[()]
    except (TypeError, ValueError, OverflowError):
        raise ReadError(f"{str(x)[:40]} is no number") from None
