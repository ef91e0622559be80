"""What a user says about a shape, checked: the complaint names the shape, the value and the rule."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import ModelError
from ..spatial.gate import real, reals, shape_of
from ..spatial.scalar import read_only
from ..spatial.se3 import SE3, rigid_parts

SMALLEST, LARGEST = 1e-9, 1e9  # m: what lies beyond is a mistake of units, or rounds away


def number(owner: str, what: str, x: Any, least: float = -np.inf, most: float = np.inf) -> float:
    """A finite number between two bounds, which count as inside."""
    try:
        value = real(x)
    except (TypeError, ValueError):
        value = np.nan
    if not (np.isfinite(value) and least <= value <= most):
        rule = "finite" if least == -np.inf else f"at least {least:g}" if most == np.inf else f"between {least:g} and {most:g}"
        raise ModelError(f"{owner}: {what} must be a number, {rule}, not {x!r}")
    return value


def whole(owner: str, what: str, x: Any) -> int:
    """A whole number that is not negative: bits of a set."""
    if isinstance(x, bool) or not isinstance(x, int | np.integer) or x < 0:
        raise ModelError(f"{owner}: {what} must be a whole number, not negative (bits of a set), not {x!r}")
    return int(x)


def vector(owner: str, what: str, x: Any) -> np.ndarray:
    """Three finite numbers, none of them absurdly large; a copy that nobody can write to."""
    try:
        a = reals(x)
    except (TypeError, ValueError):
        a = np.full(0, np.nan)
    if a.shape != (3,) or not np.all(np.isfinite(a)):
        raise ModelError(f"{owner} {what} must be three finite numbers, not {x!r}")
    if np.abs(a).max() > LARGEST:
        raise ModelError(f"{owner} {what} = {a.tolist()} lies beyond {LARGEST:g} m")
    return read_only(a)


def length(owner: str, what: str, x: Any) -> float:
    """A length that a thing can have: positive, neither absurdly small nor large."""
    try:
        value = real(x)
    except (TypeError, ValueError):
        value = np.nan
    if not (np.isfinite(value) and value > 0):
        raise ModelError(f"{owner}: the {what} {x!r} must be positive")
    if not SMALLEST <= value <= LARGEST:
        raise ModelError(f"{owner}: the {what} {x!r} is absurd; lengths are metres, from {SMALLEST:g} to {LARGEST:g}")
    return value


def lengths(owner: str, what: str, x: Any) -> np.ndarray:
    """Three lengths."""
    if shape_of(x) != (3,):
        raise ModelError(f"{owner}: the {what} must be three lengths, not {x!r}")
    return read_only(np.array([length(owner, what, e) for e in x]))


def pose(owner: str, E: SE3 | None) -> tuple[np.ndarray, np.ndarray]:
    """Rotation and position of a shape's frame; None is the identity."""
    R, p = rigid_parts(owner, "its pose", E)
    return read_only(R), vector(owner, "position", p)
