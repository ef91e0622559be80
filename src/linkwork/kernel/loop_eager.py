"""What loop functions compute with when they run as plain Python: NumPy arrays that behave as compiled code does."""

from __future__ import annotations

import typing
from typing import Annotated, Any

import numpy as np

Lane = Annotated[np.ndarray, "Lane"]  # an array of lane values, (size, W) or (size,)
Strided = Annotated[np.ndarray, "Strided"]  # the same, of which code for one lane among several sees its own numbers
Ints = Annotated[np.ndarray, "Ints"]  # an array of int64, the same for all lanes
Table = Annotated[np.ndarray, "Table"]  # an array of int32 that is only read
Mask = Annotated[np.ndarray, "Mask"]  # a condition of lanes
Small = Annotated[int, "Small"]  # an int, for the first values of which a function has code of its own
Scratch = Annotated[np.ndarray, "Scratch"]  # a Lane array that says nothing before the function, nor afterwards


class Arrays:
    """Arrays that functions are given together, by a class that lists them with their kinds:

        class Factor(Arrays):
            L: Lane
            order: Ints

    A parameter `f: Factor` stands for all of them in this order, and `f.L[i]` is a record of one. `Factor(A, k)` puts others
    together.
    """

    def __init__(self, *arrays: Any) -> None:
        for name, array in zip(self.listed(), arrays, strict=True):
            setattr(self, name, array)

    @classmethod
    def listed(cls) -> dict[str, Any]:
        """The names of the arrays and their annotations."""
        return typing.get_type_hints(cls, include_extras=True)


class Records(np.ndarray):
    """An array whose records are values: reading copies, `s -= x` makes a new value, indices are not negative.

    A plain NumPy row is a view: after `s = A[i]`, `s -= x` would write to `A`, which compiled code does not.
    """

    def __getitem__(self, at: Any) -> Any:
        if isinstance(at, (float, np.ndarray)):
            return records(self.view(np.ndarray)[self._own(at)])
        found = super().__getitem__(_checked(at))
        if isinstance(at, slice):
            return found
        return int(found) if self.dtype.kind == "i" else found.copy()

    def _own(self, at: Any) -> Any:
        """The records of the lanes, each its own."""
        records = np.asarray(at).astype(int)
        _checked(records.min())
        return (records, np.arange(self.shape[1])) if self.ndim > 1 else records

    def __setitem__(self, at: Any, value: Any) -> None:
        if isinstance(at, (float, np.ndarray)):
            self.view(np.ndarray)[self._own(at)] = value
            return
        self.view(np.ndarray)[_checked(at)] = value  # NumPy's own would assign to what `__getitem__` returns

    def _anew(self, other: Any) -> Any:
        return NotImplemented  # Python then computes `s = s - x`

    __iadd__ = __isub__ = __imul__ = __itruediv__ = __iand__ = __ior__ = _anew  # pyright: ignore


def _checked(at: Any) -> Any:
    first = at.start if isinstance(at, slice) else at
    if first is not None and first < 0:
        raise IndexError(f"index {first} is before the first record")
    return at


def records(x: Any) -> Any:
    """Arrays as `Records`, a float as NumPy's, so that `~` of a comparison is its opposite; other numbers as they are."""
    if isinstance(x, float):
        return np.float64(x)
    if isinstance(x, Arrays):
        return type(x)(*(records(getattr(x, name)) for name in x.listed()))
    return x.view(Records) if isinstance(x, np.ndarray) and x.ndim else x


def where(mask: Any, a: Any, b: Any) -> Any:
    """a in lanes where the condition holds, b in the others; both are computed."""
    return records(np.where(mask, a, b)[()])


def minimum(a: Any, b: Any) -> Any:
    """The smaller of two values in each lane; NaN if one is."""
    return np.minimum(a, b)


def maximum(a: Any, b: Any) -> Any:
    """The larger of two values in each lane; NaN if one is."""
    return np.maximum(a, b)


def sqrt(a: Any) -> Any:
    """The square root in each lane."""
    return np.sqrt(a)


def any(mask: Any) -> bool:
    """Whether a condition holds in some lane."""
    return bool(np.any(mask))


def all(mask: Any) -> bool:
    """Whether a condition holds in every lane."""
    return bool(np.all(mask))
