"""Tapes: what a function of scalars, transforms and tables computes, as data.

A function is run once on scalars that note every operation. Played back on other scalars (numbers, jets, duals, symbols) the
operations are made again, in their order and on the same kinds of things: products of transforms as products of transforms, so
that tangents are carried as the function itself would carry them. A tape therefore computes what the function does, to the last
bit of the machine code that is traced from it, and its data can be written to a file or sent to another process.

    nodes    [operation, arguments]; an argument is a number, [k] for the result of node k, or a nested list under "array"
    result   built in the same way
"""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ..errors import SymbolError
from .scalar import NUMBERS, Element, array, where

TRIGONOMETRIC = ("sin", "cos", "tan", "arcsin", "arccos", "arctan", "sinh", "cosh", "tanh", "arcsinh", "arccosh", "arctanh")
OTHERS = ("sqrt", "exp", "expm1", "log", "log1p", "floor", "ceil", "fabs", "sign")
UNARY = {name: getattr(np, name) for name in (*TRIGONOMETRIC, *OTHERS)}
BINARY = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "div": operator.truediv,
    "pow": operator.pow,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
    "and": operator.and_,
    "or": operator.or_,
    "arctan2": np.arctan2,
}
OPERATIONS: dict[str, Callable[..., Any]] = {  # more are added where their kinds are defined
    **UNARY,
    **BINARY,
    "neg": operator.neg,
    "abs": operator.abs,
    "not": np.logical_not,
    "where": where,
    "number": float,
    "entry": lambda a, k: np.reshape(a, -1)[k],
}
ACTIVE: list[Tape] = []  # tapes that are being recorded; nearly always none


class Taped(Element):
    """A scalar whose operations are noted."""

    __slots__ = ("index", "tape")

    def __init__(self, tape: Tape, index: int) -> None:
        self.tape, self.index = tape, index

    def like(self, x: Any) -> Taped:
        return x if isinstance(x, Taped) else self.tape.scalar("number", float(x))

    def blend(self, condition: Any, a: Any, b: Any) -> Taped:
        return self.tape.scalar("where", condition, a, b)

    def select(self, a: Any, b: Any) -> Taped:
        return self.tape.scalar("where", self, a, b)

    def _both(self, name: str, other: Any, swapped: bool) -> Any:
        if not isinstance(other, (Taped, *NUMBERS)):
            return NotImplemented
        return self.tape.scalar(name, *((other, self) if swapped else (self, other)))

    def __neg__(self) -> Taped:
        return self.tape.scalar("neg", self)

    def __pos__(self) -> Taped:
        return self

    def __abs__(self) -> Taped:
        return self.tape.scalar("abs", self)

    def __invert__(self) -> Taped:
        return self.tape.scalar("not", self)

    def __floor__(self) -> Taped:
        return self.tape.scalar("floor", self)

    def __ceil__(self) -> Taped:
        return self.tape.scalar("ceil", self)

    def __bool__(self) -> bool:
        raise SymbolError("a value that is being noted has no truth; use lw.math.where")

    __float__ = __int__ = __index__ = __eq__ = __ne__ = __bool__  # type: ignore[assignment]
    __hash__ = object.__hash__


def _unary(name: str) -> Any:
    return lambda self: self.tape.scalar(name, self)


def _binary(name: str, swapped: bool) -> Any:
    return lambda self, other: self._both(name, other, swapped)


for _name in UNARY:
    setattr(Taped, _name, _unary(_name))
for _own, _name in (("truediv", "div"), *((n, n) for n in ("add", "sub", "mul", "pow", "lt", "le", "gt", "ge", "and", "or"))):
    setattr(Taped, f"__{_own}__", _binary(_name, False))
    if _own not in ("lt", "le", "gt", "ge"):
        setattr(Taped, f"__r{_own}__", _binary(_name, True))
Taped.arctan2 = _binary("arctan2", False)  # type: ignore[attr-defined]


class Tape:
    """Operations in the order in which they were made; arguments as data."""

    def __init__(self) -> None:
        self.nodes: list[list[Any]] = []

    def note(self, operation: str, *arguments: Any) -> int:
        """Note an operation: its number."""
        self.nodes.append([operation, [self.datum(x) for x in arguments]])
        return len(self.nodes) - 1

    def scalar(self, operation: str, *arguments: Any) -> Taped:
        """Note an operation whose result is a scalar."""
        return Taped(self, self.note(operation, *arguments))

    def array(self, shape: tuple[int, ...], operation: str, *arguments: Any) -> np.ndarray:
        """Note an operation whose result is an array."""
        whole = [self.note(operation, *arguments)]
        out = np.empty(int(np.prod(shape, dtype=int)), dtype=object)
        for k in range(len(out)):
            out[k] = Taped(self, self._entry(whole, k))
        return out.reshape(shape)

    def _entry(self, whole: list[int], k: int) -> int:
        self.nodes.append(["entry", [whole, k]])
        return len(self.nodes) - 1

    def datum(self, x: Any) -> Any:
        """An argument, or a result, as data."""
        if getattr(x, "tape", None) is self:
            return [x.index]
        if x is None or isinstance(x, bool):
            return x
        if isinstance(x, NUMBERS):
            value = x if isinstance(x, int) else float(x)
            return value if np.isfinite(value) else {"float": repr(value)}
        if isinstance(x, np.ndarray):
            return {"array": self._nested(x), "shape": list(x.shape)}
        if isinstance(x, (list, tuple)):
            return {type(x).__name__: [self.datum(e) for e in x]}
        for kind, (name, written, _) in CONSTANTS.items():
            if isinstance(x, kind):
                return {name: written(x)}
        raise SymbolError(f"a {type(x).__name__} cannot be noted")

    def _nested(self, x: np.ndarray) -> list[Any]:
        return [self.datum(e) for e in x.reshape(-1).tolist()] if x.dtype != object else [self.datum(e) for e in x.reshape(-1)]


NOTED_TRANSFORM: Callable[..., Any] | None = None  # set where transforms that are noted are defined


def noted_call(operation: str, *given: Any) -> Any:
    """The transform that an operation makes, noted if any of its arguments is; else None."""
    tape = tape_of(*given)
    return None if tape is None or NOTED_TRANSFORM is None else NOTED_TRANSFORM(tape, f"SE3.{operation}", *given)


# Other things that may be arguments: kind -> (name, as data, from data); filled where the kinds are defined.
CONSTANTS: dict[type, tuple[str, Callable[[Any], Any], Callable[[Any], Any]]] = {}


def tape_of(*given: Any) -> Tape | None:
    """The tape that any of these is noted on."""
    if not ACTIVE:
        return None
    for x in given:
        found = getattr(x, "tape", None)
        if isinstance(found, Tape):
            return found
        inner = x.flat if isinstance(x, np.ndarray) and x.dtype == object else x if isinstance(x, (list, tuple)) else ()
        for e in inner:
            found = tape_of(e)
            if found is not None:
                return found
    return None


# --- arguments --------------------------------------------------------------------------------------------------------------
# The form of an argument: "scalar", [shape], {"list": forms}, {"dict": forms by name}, or {name of a kind of LEAVES: its form}.
LEAVES: dict[type, tuple[str, Callable[[Any], Any]]] = {}  # kind -> (name, the form of one)
TAPED_LEAVES: dict[str, Callable[[Tape, int, Any], Any]] = {}  # name -> one that is noted: (tape, node, form)


def form_of(x: Any) -> Any:
    """The form of an argument; None where there is none."""
    if isinstance(x, (Element, *NUMBERS)):
        return "scalar"
    if isinstance(x, np.ndarray):
        return list(x.shape)
    if isinstance(x, (list, tuple)):
        forms = [form_of(e) for e in x]
        return None if None in forms else {"list": forms}
    if isinstance(x, Mapping):
        named = {name: form_of(e) for name, e in x.items()}
        return None if None in named.values() else {"dict": named}
    for kind, (name, form) in LEAVES.items():
        if isinstance(x, kind):
            return {name: form(x)}
    return None


def noted(tape: Tape, form: Any) -> Any:
    """An argument of this form whose leaves are inputs of a tape."""
    if form == "scalar":
        return tape.scalar("input")
    if isinstance(form, list):
        out = np.empty(int(np.prod(form, dtype=int)), dtype=object)
        for k in range(len(out)):
            out[k] = tape.scalar("input")
        return out.reshape(form)
    ((name, inner),) = form.items()
    if name == "dict":
        return {n: noted(tape, f) for n, f in inner.items()}
    return [noted(tape, f) for f in inner] if name == "list" else TAPED_LEAVES[name](tape, tape.note("input"), inner)


def leaves(form: Any, x: Any) -> Iterator[Any]:
    """What stands in an argument, leaf by leaf."""
    if form == "scalar":
        yield x
    elif isinstance(form, list):
        yield from np.reshape(np.asarray(x), -1)
    elif "list" in form:
        for f, e in zip(form["list"], x, strict=True):
            yield from leaves(f, e)
    elif "dict" in form:
        for n, f in form["dict"].items():
            yield from leaves(f, x[n])
    else:
        yield x


class TapedFunction:
    """A function that is played back from its tape.

    forms    of its arguments: those given by position, and by name
    """

    def __init__(self, nodes: list[Any], result: Any, forms: tuple[list[Any], dict[str, Any]], name: str) -> None:
        self.nodes, self.result, self.forms, self.__name__ = nodes, result, forms, name
        self.__qualname__ = name
        by_place = [inspect.Parameter(f"x{k}", inspect.Parameter.POSITIONAL_ONLY) for k in range(len(forms[0]))]
        by_name = [inspect.Parameter(n, inspect.Parameter.KEYWORD_ONLY) for n in forms[1]]
        self.__signature__ = inspect.Signature([*by_place, *by_name])

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        pairs = [*zip(self.forms[0], arguments, strict=True), *((form, named[n]) for n, form in self.forms[1].items())]
        inputs = (x for form, given in pairs for x in leaves(form, given))
        values: list[Any] = []
        for operation, given in self.nodes:
            found = next(inputs) if operation == "input" else OPERATIONS[operation](*(_value(x, values) for x in given))
            values.append(float(found) if type(found) is int else found)  # whole numbers of any length are for no machine
        return _value(self.result, values)

    def as_data(self) -> dict[str, Any]:
        """All of it as what JSON knows."""
        return {"name": self.__name__, "nodes": self.nodes, "result": self.result, "forms": [self.forms[0], self.forms[1]]}

    @staticmethod
    def of_data(data: Mapping[str, Any]) -> TapedFunction:
        """The function of such data; raises KeyError, TypeError or ValueError if it is none."""
        from .tape_checks import check_tape  # it looks into the tables of operations of this module

        check_tape(data["nodes"], data["result"], data["forms"])
        by_place, by_name = data["forms"]
        return TapedFunction(data["nodes"], data["result"], (list(by_place), dict(by_name)), str(data["name"]))

    def __reduce__(self) -> Any:
        return TapedFunction.of_data, (self.as_data(),)


def _value(x: Any, values: Sequence[Any]) -> Any:
    if isinstance(x, list):
        return values[x[0]]
    if not isinstance(x, dict):
        return x
    kind = next(iter(x))
    inner = x[kind]
    if kind == "float":
        return float(inner)
    if kind == "array":
        return array([_value(e, values) for e in inner]).reshape(x["shape"])
    if kind in ("list", "tuple"):
        found = [_value(e, values) for e in inner]
        return found if kind == "list" else tuple(found)
    return next(made for name, _, made in CONSTANTS.values() if name == kind)(inner)


def taped(function: Callable[..., Any], forms: tuple[list[Any], dict[str, Any]]) -> TapedFunction | None:
    """What a function of arguments of these forms computes; None where that cannot be noted."""
    tape = Tape()
    ACTIVE.append(tape)
    try:
        arguments = [noted(tape, f) for f in forms[0]]
        named = {name: noted(tape, f) for name, f in forms[1].items()}
        result = tape.datum(function(*arguments, **named))
    except Exception:  # whatever stands in the way
        return None
    finally:
        ACTIVE.remove(tape)
    return TapedFunction(tape.nodes, result, forms, getattr(function, "__qualname__", "function"))
