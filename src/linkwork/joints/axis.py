"""Axes and other numbers of joints, checked."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import ModelError
from ..spatial.gate import real, reals
from ..spatial.scalar import read_only


def unit_axis(axis: Any, owner: str) -> np.ndarray:
    """The axis as a unit vector, a copy; lengths other than 1 are refused beyond 1e-6, as they hide unit mistakes."""
    try:
        a = reals(axis)
    except (TypeError, ValueError):
        raise ModelError(f"{owner}: the axis must have 3 numbers, not {axis!r}") from None
    if a.shape != (3,):
        raise ModelError(f"{owner}: the axis must have 3 entries, not shape {a.shape}")
    if not np.all(np.isfinite(a)):
        raise ModelError(f"{owner}: the axis {a.tolist()} is not finite")
    length = float(np.linalg.norm(a))
    if abs(length - 1.0) > 1e-6:
        raise ModelError(f"{owner}: the axis {a.tolist()} has length {length:.6g}; give a unit vector")
    return read_only(a if length == 1.0 else a / length)


def number(x: Any, owner: str, what: str) -> float:
    """A finite number."""
    try:
        value = real(x)
    except (TypeError, ValueError):
        raise ModelError(f"{owner}: the {what} must be a number, not {x!r}") from None
    if not np.isfinite(value):
        raise ModelError(f"{owner}: the {what} {x!r} is not finite")
    return value
