"""Prepared functions: one state, fixed shapes, no checks, own buffers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..errors import InputError
from ..model.arrays import SCALAR64
from ..model.model import Model
from .forward import FORWARD_DYNAMICS
from .inverse import INVERSE_DYNAMICS

PREPARED = {
    "forward_dynamics": (FORWARD_DYNAMICS, ("q", "v", "tau"), "a"),
    "inverse_dynamics": (INVERSE_DYNAMICS, ("q", "v", "a"), "tau"),
}


def prepared(model: Model, name: str) -> Callable[..., np.ndarray]:
    """A function of (q, v, tau) or (q, v, a) of the bare tree; the array that it returns is overwritten by the next call."""
    if name not in PREPARED:
        raise InputError(f"there is no prepared function {name!r}; choose one of {', '.join(PREPARED)}")
    algorithm, names, result = PREPARED[name]
    absent = ("external", *(n for n in algorithm.results if n != result))
    plan = model.plan(algorithm, SCALAR64, ("run",), absent)
    work = plan.workspace()
    work.views["gravity"][:] = model.gravity
    x, y, z = (work.views[n] for n in names)
    out = work.views[result]
    run, segments, count, bases = plan.driver.run, plan.segments.ctypes.data, len(plan.segments), work.bases.ctypes.data

    def call(q: Any, v: Any, last: Any) -> np.ndarray:
        x[:], y[:], z[:] = q, v, last
        run(segments, count, bases)
        return out

    call.__name__ = name
    return call
