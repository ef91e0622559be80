"""Many states under joint forces that are known beforehand."""

from __future__ import annotations

from typing import Any

import numpy as np

from .errors import InputError
from .model import MaximalState, Model, State
from .model.accepts import takes_model
from .simulate import simulate
from .spatial.gate import given_positive, given_reals
from .trajectory import Trajectory


@takes_model
def rollout(model: Model, states: State | MaximalState, controls: Any, dt: float = 1e-3, **options: Any) -> Trajectory:
    """Simulate from states under the joint forces of every step.

    states     one state, or a batch
    controls   joint forces: (steps, nv) for all states, or (batch, steps, nv)
    options    those of `simulate`, but `duration`, `control` and `tau`

    >>> run = lw.rollout(model, lw.State(np.zeros((8, 2)), np.zeros((8, 2))), np.zeros((100, 2)), 1e-3)
    >>> run.q.shape
    (8, 101, 2)
    """
    for name in ("duration", "control", "tau"):
        if name in options:
            raise InputError(f"rollout: controls say {name} already")
    if not isinstance(states, State | MaximalState):
        raise InputError(f"rollout: states must be a State or a MaximalState, not a {type(states).__name__}")
    h = given_positive("dt", dt)
    tau = given_reals("controls", controls)
    if tau.ndim not in (2, 3) or tau.shape[-1] != model.nv or not tau.shape[-2]:
        raise InputError(f"rollout: controls must be (steps, {model.nv}) or (batch, steps, {model.nv}), not {tau.shape}")
    if not np.isfinite(tau).all():
        raise InputError("rollout: controls must be finite")
    batch = states.v.shape[:-1] if isinstance(states, State) else states.twists.shape[:-2]
    if tau.ndim == 3 and tau.shape[:1] != batch:
        raise InputError(f"rollout: controls are for {len(tau)} states, and there {_count(batch)}")
    steps, start = tau.shape[-2], float(states.t)

    def control(t: float, state: Any) -> np.ndarray:
        return tau[..., min(round((t - start) / h), steps - 1), :]

    return simulate(model, states, steps * h, h, control=control, **options)


def _count(batch: tuple[int, ...]) -> str:
    return f"are {batch[0]}" if batch else "is one"
