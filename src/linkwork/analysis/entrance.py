"""Coordinates that questions about a model are asked with."""

from __future__ import annotations

import numpy as np

from ..errors import InputError
from ..model.model import Model


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
