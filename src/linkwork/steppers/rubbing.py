"""Runs of models whose joints rub under what they carry (`JointFriction`) by dense steps (`redmax.joint_friction`).

The reference of programs, with the projections of [Sueda, Alg. 8]: `simulate` runs the same law, compiled.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..model import Model, State
from ..redmax.bisp import Stop
from ..redmax.joint_friction import friction_step
from .tangent import recharted


def friction_run(
    model: Model,
    state: State,
    steps: int,
    h: float,
    *,
    control: Callable[[float, State], Any] | None = None,
    external: Any = None,
    projections: str = "joints",
    stop: Stop | None = None,
) -> list[State]:
    """The states of a run, the first its start; the friction of a step begins with that of the one before.

    control       `control(t, state) -> tau`, held during a step
    projections   "joints": friction with all constraints at once, in joint velocities;  "bodies": bilateral staggered projections
    """
    wrenches, states = np.zeros(6 * model.nb), [state]
    for _ in range(steps):
        now = states[-1]
        step = friction_step(model, now, h, control and control(now.t, now), external, projections, stop)
        reactions, wrenches = step.project(wrenches)
        v = step.end(reactions, wrenches)
        states.append(State(*recharted(model, model.integrate(now.q, h * v), v), now.t + h))
    return states
