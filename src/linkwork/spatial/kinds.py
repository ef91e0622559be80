"""Which argument of a call is of a kind that is not taken: looked for when a call has failed, so that it costs nothing else.

Annotations say the kind: `str`, `int`, `float`, `bool`, `Mapping`, `Sequence`, paths, functions and classes of the library. What
is annotated with `Any` is numbers, unless its name is one of `OTHERS`.
"""

from __future__ import annotations

import functools
import inspect
import os
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, ParamSpec, TypeVar

import numpy as np

from ..errors import InputError, LinkworkError, ModelError
from .gate import FOREIGN, LARGEST_COUNT, given_path, real, reals, shown

OTHERS = frozenset(  # names of arguments of any kind
    ("self", "elements", "inputs", "control", "controls", "events", "item", "name", "names", "joint", "value", "excitation")
) | frozenset(("tendon", "curve", "surface", "surface_a", "surface_b", "a", "b", "first", "second"))
Arguments = ParamSpec("Arguments")
Returned = TypeVar("Returned")


def explained(function: Callable[Arguments, Returned]) -> Callable[Arguments, Returned]:
    """The function; if it fails by an error of Python or NumPy, and an argument is of a kind that it does not take, the error is
    an `InputError` (of constructors a `ModelError`) that names the argument, its value and the kind."""

    @functools.wraps(function)
    def checked(*arguments: Arguments.args, **named: Arguments.kwargs) -> Returned:
        try:
            return function(*arguments, **named)
        except LinkworkError:
            raise
        except FOREIGN as error:
            blame(function, arguments, named, error)
            raise

    return checked


def blame(function: Callable[..., Any], arguments: tuple[Any, ...], named: Mapping[str, Any], error: Exception) -> None:
    """Raise for the first argument that is of a kind which the function does not take; return if there is none."""
    signature = inspect.signature(function)
    try:
        given = signature.bind(*arguments, **named).arguments
    except TypeError:
        return
    is_constructor = function.__name__ == "__init__"
    owner = type(next(iter(given.values()))).__name__ if is_constructor else function.__name__.lstrip("_")
    sizes = _sizes(given.get("model"))
    for name, x in given.items():
        parameter = signature.parameters[name]
        if name == "self" or parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD) or x is parameter.default:
            continue
        called = getattr(x, "__qualname__", "")
        if called and isinstance(error, TypeError) and str(error).startswith((f"{called}() ", f"{called}.__init__() ")):
            raise InputError(f"{owner}: {name} is called with other arguments than it takes: {error}") from error
        rule = _rule(name, str(parameter.annotation), x, parameter.default is None) or _size_rule(name, x, sizes)
        if rule:
            raise (ModelError if is_constructor else InputError)(f"{owner}: {name} must be {rule}, not {shown(x)}") from error


def _rule(name: str, annotation: str, x: Any, may_be_none: bool) -> str:
    """What an argument must be, if it is something else; or nothing."""
    outside = re.sub(r"\[[^][]*\]", "", re.sub(r"\[[^][]*\]", "", annotation))  # Mapping[str, Sequence[str]]: Mapping
    words = re.findall(r"\w+", outside)
    if x is None and ("None" in words or may_be_none):
        return ""
    if "Any" in words or name in OTHERS:
        return "" if name in OTHERS else _numbers_rule(x)
    kinds = [word for word in words if word in RULES or (word[0].isupper() and word != "None")]
    rules = [(word, RULES.get(word) or (_CLASS, f"a {word}")) for word in kinds]
    if not rules or any(_fits(fits, x, word) for word, (fits, _) in rules):
        return ""
    return " or ".join(dict.fromkeys(rule for _, (_, rule) in rules))


_CLASS = "class"


def _fits(fits: Any, x: Any, word: str) -> bool:
    if fits is not _CLASS:
        return fits(x)
    return (not isinstance(x, type) and any(base.__name__ == word for base in type(x).__mro__)) or word in ("T", "Kind")


def _numbers_rule(x: Any) -> str:
    try:
        a = reals(x)
    except ValueError:
        return "finite numbers"
    return "" if np.isfinite(a).all() else "finite numbers"


def _sizes(model: Any) -> dict[str, tuple[int, ...]]:
    """The last axes of arrays of a model by the names of arguments."""
    if not all(hasattr(model, size) for size in ("nq", "nv", "nb")):
        return {}
    of_v = dict.fromkeys(("v", "a", "tau", "dq", "dv", "dtau", "x", "weights", "joint_terms"), (model.nv,))
    return {"q": (model.nq,), "q_near": (model.nq,), "external": (model.nb, 6), "body_terms": (model.nb, 6, 6), **of_v}


def _size_rule(name: str, x: Any, sizes: Mapping[str, tuple[int, ...]]) -> str:
    size = sizes.get(name)
    if size is None or x is None or reals(x).shape[-len(size) :] == size:
        return ""
    return f"numbers of shape (..., {', '.join(map(str, size))})"


def _is_whole(x: Any) -> bool:
    return isinstance(x, int | np.integer) and not isinstance(x, bool) and 0 <= abs(int(x)) <= LARGEST_COUNT


def _is_number(x: Any) -> bool:
    try:
        return bool(np.isfinite(real(x)))
    except ValueError:
        return False


def _is_path(x: Any) -> bool:
    try:
        given_path("", x)
    except InputError:
        return False
    return True


def _is_list(x: Any) -> bool:
    return isinstance(x, Iterable) and not isinstance(x, str | bytes | type | Mapping)


def _is_state(x: Any) -> bool:
    return hasattr(x, "memory") and not isinstance(x, type)


def _is_name(x: Any) -> bool:
    return isinstance(x, str) and x.isprintable()


RULES: dict[str, tuple[Callable[[Any], bool], str]] = {
    "str": (_is_name, "a text"),
    "int": (_is_whole, "a whole number"),
    "float": (_is_number, "a finite number"),
    "bool": (lambda x: isinstance(x, bool), "True or False"),
    "Mapping": (lambda x: isinstance(x, Mapping) and all(_is_name(key) for key in x), "a mapping from names"),
    "dict": (lambda x: isinstance(x, Mapping), "a mapping"),
    "Sequence": (_is_list, "a list"),
    "Iterable": (_is_list, "a list"),
    "tuple": (_is_list, "a list"),
    "Path": (_is_path, "a path"),
    "PathLike": (lambda x: isinstance(x, os.PathLike), "a path"),
    "Callable": (callable, "a function"),
    "Function": (callable, "a function"),
    "Map": (callable, "a function"),
    "Kind": (lambda x: _is_state(x), "a State or a MaximalState"),
    "BodyMotion": (callable, "a function"),
}
