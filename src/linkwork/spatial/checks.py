"""Checks of what a user says about a solid; the message names the shape, the value and the rule."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import ModelError
from .gate import reals, rotation_problem, shown
from .scalar import read_only


def finite(name: str, x: Any, shape: tuple[int, ...]) -> Any:
    """Finite numbers of a shape: an array of our own that nobody can write to, or a float for shape ()."""
    try:
        a = reals(x)
    except ValueError:
        raise ModelError(f"inertia: {name} must be numbers, not {shown(x)}") from None
    if a.shape != shape:
        raise ModelError(f"inertia: {name} must have shape {shape}, not {a.shape}")
    if not np.all(np.isfinite(a)):
        raise ModelError(f"inertia: {name} = {a.tolist()} is not finite")
    return read_only(a) if shape else float(a)


def positive(name: str, x: Any, shape: tuple[int, ...] = ()) -> Any:
    """Finite numbers above zero."""
    a = finite(name, x, shape)
    if np.any(np.asarray(a) <= 0):
        raise ModelError(f"inertia: {name} = {np.asarray(a).tolist()} must be positive")
    return a


def not_negative(name: str, x: Any, shape: tuple[int, ...] = ()) -> Any:
    """Finite numbers from zero on."""
    a = finite(name, x, shape)
    if np.any(np.asarray(a) < 0):
        raise ModelError(f"inertia: {name} = {np.asarray(a).tolist()} must not be negative")
    return a


def unit(name: str, x: Any) -> np.ndarray:
    """A unit vector; lengths other than 1 are refused beyond 1e-6, as they hide unit mistakes."""
    a = finite(name, x, (3,))
    length = float(np.linalg.norm(a))
    if abs(length - 1.0) > 1e-6:
        raise ModelError(f"inertia: {name} = {a.tolist()} has length {length:.6g}; give a unit vector")
    return a / length


def rotation(name: str, x: Any) -> np.ndarray:
    """A right-handed orthonormal matrix, to 1e-6."""
    R = finite(name, x, (3, 3))
    problem = rotation_problem(R)
    if problem:
        raise ModelError(f"inertia: {name} {problem if 'left-handed' in problem else f'is not a rotation: {problem}'}")
    return R


def check_tensor(tensor: np.ndarray) -> None:
    """Symmetric, no negative principal moment, and no moment larger than the sum of the other two."""
    if not np.allclose(tensor, tensor.T, rtol=0, atol=1e-9 * max(1e-300, np.abs(tensor).max())):
        raise ModelError(f"inertia: the tensor {tensor.tolist()} is not symmetric")
    a, b, c = np.linalg.eigvalsh(tensor)
    slack = 1e-9 * max(c, 1e-300)
    if a < -slack:
        raise ModelError(f"inertia: the tensor has a negative principal moment {a:g}")
    if a + b < c - slack:
        raise ModelError(f"inertia: principal moments {a:g}, {b:g}, {c:g} violate the triangle inequality; no body has them")
