"""Forward dynamics with everything that acts in a model."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..model.model import Model
from .forward import tree_dynamics


def forward_dynamics(
    model: Model,
    q: Any,
    v: Any,
    tau: Any = None,
    external: Any = None,
    threads: int | None = 1,
    *,
    t: float = 0.0,
    inputs: Any = None,
) -> np.ndarray:
    """The joint accelerations (nv,) or (batch, nv) under gravity, tau, external wrenches, and every force and equality
    constraint of the model.

    tau        joint forces (nv,) or (batch, nv); zero if None
    external   wrenches (moment, force) on the bodies, about their origins in their axes: (bodies, 6)
    threads    for batches; None uses all cores
    t          time, for forces that depend on it
    inputs     of forces that have any (activations, targets), in the order of `lw.force_set(model)`; their own if None

    Arrays have the batch axis first and broadcast. O(n) per state; constraints add a dense problem of their size.
    """
    if not model.elements:
        return tree_dynamics(model, q, v, tau, external, threads)
    from .loaded import smooth_dynamics  # forces and constraints are as much to import as all the rest

    return smooth_dynamics(model, q, v, tau, external, threads, t, inputs)
