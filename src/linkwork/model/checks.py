"""What elements of a model are given, checked: numbers, points, frames, names. Complaints name the element, value and rule."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import ModelError
from ..spatial.se3 import SE3

ORIGIN = (0.0, 0.0, 0.0)
ROTATION_ERROR = 1e-6


def point(owner: str, what: str, x: Any) -> np.ndarray:
    """A point or vector."""
    return numbers(owner, what, x, 3)


def number(owner: str, what: str, x: Any, least: float = -np.inf) -> float:
    """A finite number, not below `least`."""
    try:
        value = float(x)
    except (TypeError, ValueError):
        raise ModelError(f"{owner}: {what} must be a number, not {x!r}") from None
    if not np.isfinite(value) or value < least:
        rule = "finite" if least == -np.inf else f"at least {least:g}"
        raise ModelError(f"{owner}: {what} must be {rule}, not {x!r}")
    return value


def positive(owner: str, what: str, x: Any) -> float:
    """A finite number above zero."""
    value = number(owner, what, x)
    if value <= 0.0:
        raise ModelError(f"{owner}: {what} must be above 0, not {x!r}")
    return value


def numbers(owner: str, what: str, x: Any, size: int, least: float = -np.inf, spread: bool = False) -> np.ndarray:
    """Finite numbers (size,), none below `least`; one number stands for all of them if `spread`."""
    words = "a finite number" if size == 1 else f"{'a number or ' if spread else ''}{WORDS.get(size, size)} finite numbers"
    try:
        a = np.array(x, dtype=float)
    except (TypeError, ValueError):
        a = np.full(0, np.nan)
    if spread and a.ndim == 0:
        a = np.full(size, float(a))
    if a.shape != (size,) or not np.all(np.isfinite(a)):
        raise ModelError(f"{owner}: {what} must be {words}, not {x!r}")
    if np.any(a < least):
        raise ModelError(f"{owner}: {what} must be at least {least:g}, not {x!r}")
    return a


WORDS = {2: "two", 3: "three", 6: "six"}


def semidefinite(owner: str, what: str, x: Any) -> np.ndarray:
    """A symmetric 6x6 matrix without negative eigenvalues; a number or six numbers are its diagonal."""
    if np.ndim(x) < 2:
        return np.diag(numbers(owner, what, x, 6, 0.0, spread=True))
    try:
        A = np.array(x, dtype=float)
    except (TypeError, ValueError):
        A = np.full((0, 0), np.nan)
    if A.shape != (6, 6) or not np.all(np.isfinite(A)):
        raise ModelError(f"{owner}: {what} must be a number, six numbers or a 6x6 matrix of finite numbers, not {x!r}")
    scale = max(np.abs(A).max(), np.finfo(float).tiny)
    if np.abs(A - A.T).max() > 1e-9 * scale:
        raise ModelError(f"{owner}: {what} must be symmetric; it is off by {np.abs(A - A.T).max():.3g}")
    lowest = float(np.linalg.eigvalsh(A)[0])
    if lowest < -1e-9 * scale:
        raise ModelError(f"{owner}: {what} must have no negative eigenvalue, not {lowest:.3g}")
    return 0.5 * (A + A.T)


def placement(owner: str, what: str, E: SE3 | None) -> tuple[np.ndarray, np.ndarray]:
    """Rotation and position of a frame; None is the identity."""
    if E is None:
        return np.eye(3), np.zeros(3)
    if not isinstance(E, SE3):
        raise ModelError(f"{owner}: {what} must be an SE3, not {type(E).__name__}")
    R, p = np.asarray(E.R, float), np.asarray(E.p, float)
    if not (np.all(np.isfinite(R)) and np.all(np.isfinite(p))):
        raise ModelError(f"{owner}: {what} is not finite")
    error = np.abs(R @ R.T - np.eye(3)).max()
    if error > ROTATION_ERROR or np.linalg.det(R) < 0:
        raise ModelError(f"{owner}: the rotation of {what} is not a rotation (R R^T is off by {error:.2g})")
    return R, p


def word(owner: str, what: str, x: Any, empty: bool = False) -> str:
    """A name."""
    if not isinstance(x, str) or not (x or empty):
        raise ModelError(f"{owner}: {what} must be a name, not {x!r}")
    return x
