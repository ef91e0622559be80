"""What forces made of functions share: the functions, their parameters and inputs, checked."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..errors import LinkworkError, ModelError
from ..spatial.scalar import array
from .checks import numbers, word

Function = Callable[..., Any]
RESERVED = {"t": "the time", "u": "the inputs"}


class Given:
    """Functions, parameters and inputs as `force` and `joint_force` take them; mixed into their classes."""

    _functions: dict[str, Function | None]
    _values: dict[str, Any]
    _initial: np.ndarray

    def _take(self, owner: str, functions: dict[str, Any], parameters: Mapping[str, Any] | None, inputs: Any) -> None:
        if all(f is None for f in functions.values()):
            raise ModelError(f"{owner}: give {' or '.join(functions)}, a function")
        for what, f in functions.items():
            if f is not None and not callable(f):
                raise ModelError(f"{owner}: {what} must be a function, not {type(f).__name__}")
        self._functions = functions
        self._values = {word(owner, "a parameter", n): _finite(owner, n, x) for n, x in (parameters or {}).items()}
        for n in self._values:
            if n in RESERVED:
                raise ModelError(f"{owner}: {n!r} cannot be a parameter: it is {RESERVED[n]}")
            if not any(f is not None and _names(f, n) for f in functions.values()):
                raise ModelError(f"{owner}: no function has an argument for the parameter {n!r}")
        count = isinstance(inputs, int) and not isinstance(inputs, bool)
        if count and inputs < 0:
            raise ModelError(f"{owner}: inputs must be at least 0, not {inputs}")
        self._initial = np.zeros(inputs) if count else numbers(owner, "inputs", inputs, np.size(inputs))
        self.inputs = len(self._initial)

    built_in = False  # what they compute is not in the package's sources

    @property
    def parameter_names(self) -> tuple[str, ...]:
        return tuple(self._values)

    @property
    def same(self) -> tuple[Any, ...]:
        shapes = tuple((name, np.shape(x)) for name, x in self._values.items())
        return (type(self), *map(id, self._functions.values()), shapes, self.inputs)

    def initial_inputs(self) -> np.ndarray:
        return self._initial

    def parameters(self) -> dict[str, np.ndarray]:
        return {name: np.asarray(x, float) for name, x in self._values.items()}

    def bound(self, values: dict[str, Any]) -> Any:
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__)
        other._values = self._values | values
        return other

    def _call(self, what: str, *arguments: Any, **offered: Any) -> Any:
        """The function's value; of time, inputs and parameters it is handed those that it names."""
        f = self._functions[what]
        assert f is not None
        return f(*arguments, **{name: x for name, x in (offered | self._values).items() if _names(f, name)})

    def _try(self, owner: str, call: Callable[[], Any]) -> Any:
        """What a function returns for a first trial."""
        try:
            return call()
        except LinkworkError:
            raise
        except Exception as error:
            raise ModelError(f"{owner}: its function failed: {type(error).__name__}: {error}") from error


def _names(f: Function, argument: str) -> bool:
    """Whether a function has an argument of this name, or takes any."""
    given = inspect.signature(f).parameters
    return argument in given or any(p.kind is p.VAR_KEYWORD for p in given.values())


def _finite(owner: str, name: str, x: Any) -> Any:
    try:
        a = np.array(x, dtype=float)
    except (TypeError, ValueError):
        raise ModelError(f"{owner}: parameter {name!r} must be numbers, not {x!r}") from None
    if not np.all(np.isfinite(a)):
        raise ModelError(f"{owner}: parameter {name!r} must be finite, not {x!r}")
    return a if a.ndim else float(a)


def check_scalar(owner: str, what: str, x: Any) -> None:
    if np.ndim(x) or not np.isfinite(float(x)):
        raise ModelError(f"{owner}: {what} must be one finite number, not {np.asarray(x).tolist()!r}")


def vector(owner: str, what: str, x: Any, size: int) -> np.ndarray:
    """What a function returned, as a vector of `size` scalars of any kind."""
    found = array(list(x))
    if found.shape != (size,):
        raise ModelError(f"{owner}: {what} must have {size} entries, not shape {found.shape}")
    return found


def check_finite(owner: str, what: str, x: np.ndarray) -> None:
    if not np.all(np.isfinite(np.asarray(x, dtype=float))):
        raise ModelError(f"{owner}: {what} must be finite, not {x.tolist()!r}")
