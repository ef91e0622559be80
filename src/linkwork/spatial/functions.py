"""Functions that users write, with parameters: numbers by name, which they are handed where they have an argument for them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, TypeVar

import numpy as np

from ..errors import LinkworkError, ModelError, SymbolError
from .advice import advice
from .frozen import Frozen
from .gate import reals, shown
from .scalar import Vector, array
from .table import Table
from .tape import form_of

Function = Callable[..., Any]
Found = TypeVar("Found")


class Functions(Frozen):
    """Some functions, by what they are, with their parameters; None where one is not given.

    owner      what messages begin with
    reserved   names that cannot be parameters, and what they are
    """

    found_anew: ClassVar[tuple[str, ...]] = ("_forms",)  # in files: by the calls of the checks of whom they belong to

    def __init__(
        self,
        owner: str,
        functions: Mapping[str, Function | None],
        parameters: Mapping[str, Any] | None,
        reserved: Mapping[str, str] | None = None,
    ) -> None:
        self.owner, self.functions = owner, dict(functions)
        self._forms: dict[str, Any] = {}  # of the arguments that they were called with
        if all(f is None for f in functions.values()):
            raise ModelError(f"{owner}: give {' or '.join(functions)}, a function")
        for what, f in functions.items():
            if f is not None and not callable(f):
                raise ModelError(f"{owner}: {what} must be a function, not {type(f).__name__}")
        if parameters is not None and not isinstance(parameters, Mapping):
            raise ModelError(f"{owner}: parameters must be a mapping {{name: number}}, not {shown(parameters)}")
        self.values = {name: _finite(owner, name, x) for name, x in (parameters or {}).items()}
        for name in self.values:
            if not isinstance(name, str) or not name:
                raise ModelError(f"{owner}: a parameter must be a name, not {name!r}")
            if reserved and name in reserved:
                raise ModelError(f"{owner}: {name!r} cannot be a parameter: it is {reserved[name]}")
            if not self.mention(name):
                raise ModelError(f"{owner}: no function has an argument for the parameter {name!r}")

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Functions:
        """The functions that a file says: made anew."""
        functions, values = state["functions"], state["values"]
        if not isinstance(functions, dict) or not isinstance(values, dict) or not isinstance(state["owner"], str):
            raise ModelError("functions must be given by their names, with parameters by name")
        return cls(state["owner"], functions, values)

    def mention(self, argument: str) -> bool:
        """Whether any of the functions has an argument of this name."""
        return any(f is not None and _takes(f, argument) for f in self.functions.values())

    @property
    def same(self) -> tuple[Any, ...]:
        """Functions of which this is equal compute the same, from other parameters."""
        return (*map(id, self.functions.values()), self.shapes)

    @property
    def shapes(self) -> tuple[Any, ...]:
        """The names and shapes of the parameters."""
        return tuple((name, x.shape if isinstance(x, Table) else np.shape(x)) for name, x in self.values.items())

    def parameters(self) -> dict[str, Any]:
        """The parameters as run-time data."""
        return {name: run_time(x) for name, x in self.values.items()}

    def bound(self, values: Mapping[str, Any]) -> Functions:
        """The same with other parameters."""
        return self.with_parts(values=self.values | dict(values))

    def call(self, what: str, *arguments: Any, **offered: Any) -> Any:
        """The value of a function; of what is offered and of the parameters it is handed those that it names."""
        f = self.functions[what]
        if f is None:
            raise TypeError(f"{self.owner}: there is no function {what!r}")
        named = {name: x for name, x in (offered | self.values).items() if _takes(f, name)}
        if what not in self._forms:
            self._forms[what] = _forms(arguments, named)
        try:
            return f(*arguments, **named)
        except SymbolError as error:
            raise SymbolError(f"{self.owner}: {what}: {advice(error) or error}") from None
        except TypeError as error:
            told = advice(error)
            if told:
                raise SymbolError(f"{self.owner}: {what}: {told}") from None
            raise

    def function_arguments(self) -> dict[str, Any]:
        """The forms of what the functions are called with (see `tape`), as far as they have been called."""
        return {"functions": self._forms}

    def vector(self, what: str, *arguments: Any, **offered: Any) -> Vector:
        """The value of a function as a vector of scalars of any kind."""
        found = self.call(what, *arguments, **offered)
        return array(list(found) if np.ndim(found) or isinstance(found, (list, tuple)) else [found])

    def tried(self, what: str, *arguments: Any, **offered: Any) -> np.ndarray:
        """The value of a function of numbers, a vector; raises where it fails, or where it is not finite."""
        returned = self.attempt(what, lambda: self.call(what, *arguments, **offered))
        try:
            found = np.atleast_1d(reals(returned))
        except ValueError as error:
            raise ModelError(f"{self.owner}: {what} must return finite numbers, not {shown(returned)} ({error})") from None
        if found.ndim != 1 or not np.all(np.isfinite(found)):
            raise ModelError(f"{self.owner}: {what} must return finite numbers in one row, not {found.tolist()!r}")
        return found

    def attempt(self, what: str, call: Callable[[], Found]) -> Found:
        """What a call returns that runs functions; raises where it fails."""
        try:
            return call()
        except LinkworkError:
            raise
        except Exception as error:
            raise ModelError(f"{self.owner}: {what} failed: {type(error).__name__}: {' '.join(str(error).split())}") from error


def run_time(x: Any) -> Any:
    """A parameter as run-time data: an array of numbers, or a table as it is."""
    return x if isinstance(x, Table) else np.asarray(x, float)


def shaped(given: Mapping[str, Any], values: Sequence[Vector]) -> dict[str, Any]:
    """Flat values in the shapes of the parameters given."""
    return {name: _shaped(p, x) for (name, p), x in zip(given.items(), values, strict=True)}


def _shaped(p: Any, x: Vector) -> Any:
    if isinstance(p, Table):
        return Table.of_shape(p.shape, list(x))
    return x.reshape(p.shape) if p.ndim else x[0]


def _forms(arguments: Sequence[Any], named: Mapping[str, Any]) -> tuple[list[Any], dict[str, Any]] | None:
    """The forms of arguments; None where one has none."""
    by_place, by_name = [form_of(x) for x in arguments], {name: form_of(x) for name, x in named.items()}
    return None if None in by_place or None in by_name.values() else (by_place, by_name)


def _takes(f: Function, argument: str) -> bool:
    """Whether a function has an argument of this name, or takes any."""
    given = inspect.signature(f).parameters
    return argument in given or any(p.kind is p.VAR_KEYWORD for p in given.values())


def _finite(owner: str, name: str, x: Any) -> Any:
    if isinstance(x, Table):
        return x
    try:
        a = reals(x)
    except (TypeError, ValueError):
        raise ModelError(f"{owner}: parameter {name!r} must be numbers, not {x!r}") from None
    if not np.all(np.isfinite(a)):
        raise ModelError(f"{owner}: parameter {name!r} must be finite, not {x!r}")
    return a if a.ndim else float(a)
