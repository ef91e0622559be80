"""Coordinates that questions about a model are asked with."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import InputError
from ..model.model import Model
from ..spatial.gate import finite_reals


def check_coordinates(model: Model, q: np.ndarray) -> None:
    """Raise if coordinates (..., nq) are none of the model's: another number of them, or of a joint that cannot have these."""
    if q.ndim < 1 or q.shape[-1] != model.nq:
        raise InputError(f"q has shape {q.shape}; it must be (..., {model.nq})")
    for body in model.bodies:
        problem = (
            None if body.joint.takes_any else body.joint.checked(q[..., model.q_index(body.name)].reshape(-1, body.joint.nq))
        )
        if problem:
            raise InputError(f"q at joint {body.joint_name!r}: {problem}")


def check_some_states(lead: tuple[int, ...]) -> None:
    """Raise if a batch has no state."""
    if 0 in lead:
        raise InputError(f"the batch {lead} is empty; give one state at least")


def one_state(name: str, x: Any, size: int) -> np.ndarray:
    """Finite numbers (size,) of one state; for functions that take no batch."""
    a = finite_reals(name, x)
    if a.shape != (size,):
        batch = "; this function takes one state, call it for each" if a.ndim > 1 and a.shape[-1] == size else ""
        raise InputError(f"{name} has shape {a.shape}; it must be ({size},){batch}")
    return a


def many_states(name: str, x: Any, size: int, count: int | None = None) -> np.ndarray:
    """Finite numbers (states, size) of one state or many, of a count if that is given."""
    a = np.atleast_2d(finite_reals(name, x))
    if a.ndim != 2 or a.shape[1] != size or (count is not None and len(a) != count):
        raise InputError(f"{name} has shape {a.shape}; it must be ({'states' if count is None else count}, {size})")
    return a
