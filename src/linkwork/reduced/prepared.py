"""Prepared functions: one state, fixed shapes, no checks, least overhead."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..errors import InputError
from ..model.model import Model
from .forward import FORWARD_DYNAMICS
from .inverse import INVERSE_DYNAMICS
from .shortcut import Shortcut

PREPARED = {
    "forward_dynamics": (FORWARD_DYNAMICS, ("q", "v", "tau"), "a"),
    "inverse_dynamics": (INVERSE_DYNAMICS, ("q", "v", "a"), "tau"),
}


def prepared(model: Model, name: str) -> Callable[..., np.ndarray]:
    """A function of (q, v, tau) or (q, v, a) of the bare tree, without checks.

    The array that it returns is its own and is overwritten by the next call; keep a copy if you need it. Each thread needs
    a function of its own.
    """
    if name not in PREPARED:
        raise InputError(f"there is no prepared function {name!r}; choose one of {', '.join(PREPARED)}")
    return Shortcut(model, *PREPARED[name]).unchecked()
