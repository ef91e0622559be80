"""The response of maximal coordinates: Baraff's factor, kept; forces are answered in O(n) by two substitutions."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..kernel.sweep import Algorithm, Field, inward, outward, vector
from ..model.arrays import SCALAR64, lanes_for
from ..model.model import Model
from ..model.state import MaximalState, Motion, Response, force_arrays
from . import rules
from .convert import to_reduced
from .dynamics import SOLVE_FIELDS, STATE_FIELDS, maximal_dynamics


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
        plan = model.plan(MAXIMAL_RESPONSE, SCALAR64, ("factor",))
        self._factors = plan.workspace()
        inputs = {"poses": state.poses, "twists": state.twists, "q_fit": state.q_fit}
        self._factors.job({k: np.ascontiguousarray(x).reshape(-1) for k, x in inputs.items()}, {}, 0, 1, 1, 1)
        plan.driver.batch(self._factors.job_at)

    def apply(self, body_wrenches: Any = None, joint_forces: Any = None) -> Motion:
        model = self.model
        flat, lead = force_arrays(model, body_wrenches, joint_forces)
        batch = len(flat["tau"])
        lanes = lanes_for(batch, np.float64)
        plan = model.plan(MAXIMAL_RESPONSE, lanes, ("apply",), uniform=("private:factor",) if lanes.width > 1 else ())
        work = plan.workspace()
        work.adopt(self._factors, ["private:factor"])
        a, twists_dot = np.empty((batch, model.nv)), np.empty((batch, model.nb * 6))
        work.job(flat, {"a": a, "twists_dot": twists_dot}, 0, batch, 1, 1)
        if batch:
            plan.driver.batch(work.job_at)
        return Motion(twists_dot.reshape(*lead, model.nb, 6), a.reshape(*lead, model.nv))


def factor_maximal(
    model: Model, state: MaximalState, tau: Any = None, external: Any = None, dt: float | None = None
) -> MaximalResponse:
    """The response of the bare tree in maximal coordinates; `dt` as in `factor_reduced`."""
    out = maximal_dynamics(model, state, tau, external)
    free = Motion(out.twists_dot, out.a)
    if dt is not None:
        free = Motion(state.twists, to_reduced(model, state).v) + free * dt
    return MaximalResponse(model, state, free)
