"""The response of maximal coordinates: Baraff's factor, kept; forces are answered in O(n) by two substitutions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..errors import InputError
from ..kernel.sweep import Algorithm, Field, inward, outward, vector
from ..model.model import Model
from ..model.state import MaximalState, Motion, Response, force_arrays
from . import rules
from .convert import to_reduced
from .dynamics import SOLVE_FIELDS, STATE_FIELDS, MaximalAcceleration, tree_maximal_dynamics


def forces_only(n: Any, parent: Any) -> None:
    """Given wrenches, no bias: the homogeneous problem."""
    n.f, n.zeta = n.wrench, np.zeros(6)


MAXIMAL_RESPONSE = Algorithm(
    "maximal_response",
    {**STATE_FIELDS, "wrench": Field("input", "node", vector(6)), **SOLVE_FIELDS},
    {
        "factor": [outward(rules.geometry), inward(rules.factor)],
        "apply": [outward(forces_only), outward(rules.joint_forces), inward(rules.forward), outward(rules.back)],
    },
)


class MaximalResponse(Response):
    """See `Response`; made by `factor_maximal`."""

    def __init__(self, model: Model, state: MaximalState, free: Motion) -> None:
        self.model, self.free = model, free
        inputs = {"poses": state.poses, "twists": state.twists, "q_fit": state.q_fit}
        self._factored = model.factored(MAXIMAL_RESPONSE, {k: np.ascontiguousarray(x).reshape(-1) for k, x in inputs.items()})

    def apply(self, body_wrenches: Any = None, joint_forces: Any = None) -> Motion:
        forces, lead = force_arrays(self.model, body_wrenches, joint_forces)
        return Motion.of_rows(lead, *self._factored.apply(forces, ("twists_dot", "a")))


def factor_maximal(
    model: Model, state: MaximalState, tau: Any = None, external: Any = None, dt: float | None = None
) -> MaximalResponse:
    """The response of the bare tree in maximal coordinates; `dt` as in `factor_reduced`."""
    return response_at(model, state, lambda: tree_maximal_dynamics(model, state, tau, external), dt)


def response_at(
    model: Model, state: MaximalState, accelerations: Callable[[], MaximalAcceleration], dt: float | None
) -> MaximalResponse:
    """The response at a state whose free motion has these accelerations."""
    if state.twists.shape != (model.nb, 6):
        raise InputError(f"factor: twists have shape {state.twists.shape}; one state is factored at a time, ({model.nb}, 6)")
    out = accelerations()
    free = Motion(out.twists_dot, out.a)
    if dt is not None:
        free = Motion(state.twists, to_reduced(model, state).v) + free * dt
    return MaximalResponse(model, state, free)
