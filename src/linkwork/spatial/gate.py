"""The gate: every number, name and frame that enters the library is looked at here; complaints name element, value and rule.

`reals` and `real` say what counts as numbers, `rotation_problem` what is a rotation, `unit_problem` what is a unit quaternion,
`meant` what a wrong name was probably meant to be. The functions below them check one argument of an element each and raise
`ModelError`; those of calls raise `InputError`.
"""

from __future__ import annotations

import functools
import inspect
import os
import sys
from collections.abc import Callable, Iterable
from numbers import Real
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import numpy as np

from ..errors import ArgumentError, InputError, LinkworkError, ModelError, meant

ORIGIN = (0.0, 0.0, 0.0)
ROTATION_ERROR = 1e-6  # of R R^T
NORM_ERROR = 1e-6  # of a quaternion
WORDS = {2: "two", 3: "three", 6: "six"}
KINDS = {
    "b": "truths",
    "c": "complex numbers",
    "M": "dates",
    "m": "durations",
    "U": "text",
    "S": "bytes",
    "V": "records",
    "T": "text",
}
LONGEST_PATH, LONGEST_NAME = 4096, 255  # bytes of a path, and of a name in it
LARGEST_COUNT = 2**53  # a float has it exactly
FOREIGN = (TypeError, ValueError, AttributeError, LookupError, ArithmeticError)  # errors of Python and NumPy
SHOWN = 80  # characters of a value in a complaint


# --- what counts as what ------------------------------------------------------------------------------------------------
class NotNumbersError(ValueError):
    """What is given is no array of real numbers; the message says what it is instead."""


def reals(x: Any) -> np.ndarray:
    """A new float64 array of what holds real numbers alone: no text, truths, dates, complex numbers, ragged lists."""
    if isinstance(x, np.ndarray) and x.dtype == np.float64 and type(x) is np.ndarray:
        return x.copy()
    if isinstance(x, dict | set | frozenset):
        raise NotNumbersError(f"a {type(x).__name__}")
    masked = sys.modules.get("numpy.ma")  # nobody has such an array where it is not loaded
    if masked is not None and masked.is_masked(x):
        raise NotNumbersError("a masked array with entries that are masked")
    try:
        a = np.asarray(x)
    except (TypeError, ValueError, RuntimeError):
        raise NotNumbersError("lists of different lengths" if isinstance(x, list | tuple) else type(x).__name__) from None
    if a.dtype.kind == "O":
        odd = next((e for e in a.flat if not _is_real(e)), None)
        if odd is not None or not a.size or any(e is None for e in a.flat):
            raise NotNumbersError(type(odd).__name__ if a.size else "an empty list of objects")
    elif a.dtype.kind not in "fiu":
        raise NotNumbersError(KINDS.get(a.dtype.kind, str(a.dtype)))
    elif isinstance(x, list | tuple) and _has_truths(x):
        raise NotNumbersError("truths")
    try:
        return np.array(a, dtype=float)
    except (TypeError, ValueError, OverflowError):
        raise NotNumbersError(str(a.dtype)) from None


def real(x: Any) -> float:
    """A real number as a float; raises for all else, also for its text."""
    if type(x) is float:
        return x
    if isinstance(x, np.ndarray) and x.ndim:
        raise NotNumbersError(f"an array of shape {x.shape}")
    a = reals(x)
    if a.ndim:
        raise NotNumbersError(f"{a.size} numbers")
    return float(a)


def _is_real(x: Any) -> bool:
    if isinstance(x, np.ndarray):
        return x.dtype.kind in "fiu"
    return isinstance(x, Real) and not isinstance(x, bool | np.bool_)


def _has_truths(x: Any) -> bool:
    """Whether lists that hold numbers hold truths, too: NumPy makes them ones and zeros."""
    return any(isinstance(e, bool | np.bool_) or (isinstance(e, list | tuple) and _has_truths(e)) for e in x)


def shape_of(x: Any) -> tuple[int, ...]:
    """The shape of what holds numbers; of all else that of nothing."""
    try:
        return reals(x).shape
    except ValueError:
        return ()


def size_of(x: Any) -> int:
    """How many numbers it holds."""
    return int(np.prod(shape_of(x)))


def shown(x: Any) -> str:
    """A value as complaints show it: one line that is not too long."""
    text = " ".join(repr(x).split())
    return text if len(text) <= SHOWN else text[: SHOWN - 4] + " ..."


def rotation_problem(R: np.ndarray, most: float = ROTATION_ERROR) -> str | None:
    """What is wrong with rotations (..., 3, 3), or None: they must be right-handed and orthonormal, to 1e-6 or as said."""
    error = np.abs(R @ np.swapaxes(R, -1, -2) - np.eye(3)).max(axis=(-2, -1), initial=0.0)
    if not np.all(error <= most):
        return f"R R^T is off by {float(np.max(error)):.2g}"
    return "is left-handed (its determinant is -1); turn one axis round" if np.any(np.linalg.det(R) < 0) else None


def unit_problem(quaternions: np.ndarray) -> str | None:
    """What is wrong with quaternions (..., 4), or None: they must have norm 1, to 1e-6."""
    norm = np.linalg.norm(quaternions, axis=-1)
    bad = ~(np.abs(norm - 1.0) <= NORM_ERROR)
    return f"its quaternion (wxyz) has norm {norm[bad].flat[0]:.6g}, not 1" if bad.any() else None


# --- names --------------------------------------------------------------------------------------------------------------
Arguments = ParamSpec("Arguments")
Returned = TypeVar("Returned")


def known_keywords(function: Callable[Arguments, Returned]) -> Callable[Arguments, Returned]:
    """The function, but an argument of a name that it does not have is an `ArgumentError` that says which one was meant."""
    parameters = inspect.signature(function).parameters
    names = [name for name, p in parameters.items() if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
    takes_any = any(p.kind is p.VAR_KEYWORD for p in parameters.values())

    @functools.wraps(function)
    def checked(*arguments: Arguments.args, **named: Arguments.kwargs) -> Returned:
        for name in () if takes_any else named:
            if name not in names:
                close = meant(name, names) or f"; it takes {', '.join(names)}"
                raise ArgumentError(f"{function.__name__} has no argument {name!r}{close}")
        try:
            return function(*arguments, **named)
        except LinkworkError:
            raise
        except FOREIGN as error:
            from .kinds import blame  # it is needed only here

            blame(function, arguments, named, error)
            raise

    return checked


def choice(rule: str, x: Any, known: Iterable[str], error: type[LinkworkError] = InputError) -> Any:
    """One of the known names. `rule` says in the complaint what there is to choose, `{}` in it stands for the value."""
    names = list(known)
    if not isinstance(x, str) or x not in names:
        raise error(f"{rule.format(shown(x))}{meant(x, names)}")
    return x


def word(owner: str, what: str, x: Any, empty: bool = False) -> str:
    """A name."""
    if not isinstance(x, str) or not (x or empty) or not is_writable(x):
        raise ModelError(f"{owner}: {what} must be a name, not {shown(x)}")
    return x


def is_writable(name: str) -> bool:
    """Whether a name can be written to a file: none of its characters is half of one, and it is not endless."""
    return len(name) <= LONGEST_PATH and not any("\ud800" <= c <= "\udfff" for c in name)


def listed(owner: str, what: str, x: Any, size: int | None = None, rule: str = "") -> list[Any]:
    """What a list, a tuple or an array holds, so many if `size` is given; `rule` says in the complaint what it must be."""
    found = None if isinstance(x, str | bytes | type | dict) else x
    try:
        found = list(found)  # pyright: ignore[reportArgumentType]
    except TypeError:
        found = None
    if found is None or (size is not None and len(found) != size):
        rule = rule or ("a list" if size is None else f"a list of {size}")
        raise ModelError(f"{owner}: {what} must be {rule}, not {shown(x)}")
    return found


def flags(owner: str, what: str, x: Any, size: int) -> tuple[bool, ...]:
    """Truths, or one for all."""
    rule = f"True or False, or {size} of these"
    found = [x] * size if isinstance(x, bool | np.bool_) else listed(owner, what, x, size, rule)
    if not all(isinstance(flag, bool | np.bool_) for flag in found):
        raise ModelError(f"{owner}: {what} must be {rule}, not {shown(x)}")
    return tuple(map(bool, found))


# --- arguments of elements ----------------------------------------------------------------------------------------------
def number(owner: str, what: str, x: Any, least: float = -np.inf) -> float:
    """A finite number, not below `least`."""
    try:
        value = real(x)
    except ValueError:
        raise ModelError(f"{owner}: {what} must be a number, not {shown(x)}") from None
    if not np.isfinite(value) or value < least:
        rule = "finite" if least == -np.inf else f"at least {least:g}"
        raise ModelError(f"{owner}: {what} must be {rule}, not {shown(x)}")
    return value


def positive(owner: str, what: str, x: Any) -> float:
    """A finite number above zero."""
    value = number(owner, what, x)
    if value <= 0.0:
        raise ModelError(f"{owner}: {what} must be above 0, not {shown(x)}")
    return value


def numbers(owner: str, what: str, x: Any, size: int, least: float = -np.inf, spread: bool = False) -> np.ndarray:
    """Finite numbers (size,), none below `least`; one number stands for all of them if `spread`."""
    words = "a finite number" if size == 1 else f"{'a number or ' if spread else ''}{WORDS.get(size, size)} finite numbers"
    try:
        a = reals(x)
    except ValueError:
        a = np.full(0, np.nan)
    if spread and a.ndim == 0:
        a = np.full(size, float(a))
    if a.shape != (size,) or not np.all(np.isfinite(a)):
        raise ModelError(f"{owner}: {what} must be {words}, not {shown(x)}")
    if np.any(a < least):
        raise ModelError(f"{owner}: {what} must be at least {least:g}, not {shown(x)}")
    return a


def point(owner: str, what: str, x: Any) -> np.ndarray:
    """A point or vector."""
    return numbers(owner, what, x, 3)


def semidefinite(owner: str, what: str, x: Any) -> np.ndarray:
    """A symmetric 6x6 matrix without negative eigenvalues; a number or six numbers are its diagonal."""
    try:
        A = reals(x)
    except ValueError:
        A = np.full((0, 0), np.nan)
    if A.ndim < 2:
        return np.diag(numbers(owner, what, x, 6, 0.0, spread=True))
    if A.shape != (6, 6) or not np.all(np.isfinite(A)):
        raise ModelError(f"{owner}: {what} must be a number, six numbers or a 6x6 matrix of finite numbers, not {shown(x)}")
    scale = max(np.abs(A).max(), np.finfo(float).tiny)
    if np.abs(A - A.T).max() > 1e-9 * scale:
        raise ModelError(f"{owner}: {what} must be symmetric; it is off by {np.abs(A - A.T).max():.3g}")
    lowest = float(np.linalg.eigvalsh(A)[0])
    if lowest < -1e-9 * scale:
        raise ModelError(f"{owner}: {what} must have no negative eigenvalue, not {lowest:.3g}")
    return 0.5 * (A + A.T)


# --- arguments of calls -------------------------------------------------------------------------------------------------
def given_reals(what: str, x: Any, must: str = "an array of numbers") -> np.ndarray:
    """Numbers of an argument of a call, of any shape."""
    try:
        return reals(x)
    except ValueError as error:
        raise InputError(f"{what} must be {must}, not {shown(x)} ({error})") from None


def finite_reals(what: str, x: Any) -> np.ndarray:
    """Finite numbers of an argument of a call, of any shape."""
    a = given_reals(what, x)
    if not np.isfinite(a).all():
        raise InputError(f"{what} must be finite, not {shown(x)}")
    return a


def check_unused(t: Any, inputs: Any) -> None:
    """Raise for a time or inputs that are no finite numbers, though nothing in the model looks at them."""
    if t is not None:
        finite_reals("t", t)
    if inputs is not None and not callable(inputs):
        finite_reals("inputs", inputs)


def given_truth(what: str, x: Any) -> bool:
    """True or False."""
    if not isinstance(x, bool | np.bool_):
        raise InputError(f"{what} must be True or False, not {shown(x)}")
    return bool(x)


def given_number(what: str, x: Any, least: float = -np.inf) -> float:
    """A finite number that a call is given, not below `least`."""
    try:
        value = real(x)
    except ValueError:
        value = np.nan
    if not np.isfinite(value) or value < least:
        rule = "" if least == -np.inf else f", at least {least:g}"
        raise InputError(f"{what} must be a finite number{rule}, not {shown(x)}")
    return value


def given_positive(what: str, x: Any) -> float:
    """A number above zero that a call is given."""
    try:
        value = real(x)
    except ValueError:
        raise InputError(f"{what} must be a number, positive and finite, not {shown(x)}") from None
    if not (np.isfinite(value) and value > 0):
        raise InputError(f"{what} must be positive and finite, not {shown(x)}")
    return value


def given_range(what: str, bounds: Any) -> tuple[float, float]:
    """A lowest and a highest number that a call is given."""
    try:
        low, high = (real(x) for x in bounds)
    except (TypeError, ValueError):
        low, high = np.nan, np.nan
    if not low < high < np.inf or low == -np.inf:
        raise InputError(f"{what} needs (lowest, highest), not {shown(bounds)}")
    return low, high


def given_path(what: str, x: Any) -> Path:
    """The path of a file: a text or a path that the system can have."""
    if not isinstance(x, str | os.PathLike) or isinstance(x, type):
        raise InputError(f"{what} must be a text or a path, not {shown(x)}")
    try:
        text = os.fspath(x)
        raw = os.fsencode(text)
    except (TypeError, ValueError):  # half of a pair of surrogates
        raise InputError(f"{what} must be a path that the system can write, not {shown(x)}") from None
    if not isinstance(text, str) or not text or b"\0" in raw or len(raw) > LONGEST_PATH:
        raise InputError(f"{what} must be a path of 1 to {LONGEST_PATH} bytes without a null, not {shown(x)}")
    if any(len(part) > LONGEST_NAME for part in raw.replace(b"\\", b"/").split(b"/")):
        raise InputError(f"{what} must be made of names of at most {LONGEST_NAME} bytes, not {shown(x)}")
    return Path(text)


def given_count(what: str, x: Any, least: int = 1) -> int:
    """A whole number that a call is given."""
    if isinstance(x, bool | np.bool_) or not isinstance(x, int | np.integer) or not least <= x <= LARGEST_COUNT:
        rule = "a positive integer" if least == 1 else f"a whole number, at least {least}"
        raise InputError(f"{what} must be {rule}, not {shown(x)}")
    return int(x)
