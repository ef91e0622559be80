"""Conversions between reduced and maximal states; explicit, because converting every step would hide drift."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import InputError
from ..joints.base import subspace_fit
from ..joints.complement import selected_rows
from ..kernel.sweep import Algorithm, Field, outward
from ..model.accepts import check_model, takes_model
from ..model.entrance import records_of_runs
from ..model.kinematics import kinematics
from ..model.model import Model
from ..model.rules import joint_of, placement_of
from ..model.state import MaximalState, State, check_maximal_state
from .dynamics import STATE_FIELDS

REFINEMENTS = 4  # Gauss-Newton steps for joints with a moving subspace; one step is exact for the others


def fitted(n: Any, E: Any) -> Any:
    """The joint coordinate whose pose fits E best, starting from q_fit: q <- q + S^+ log(Q(q)^-1 E)."""
    joint = joint_of(n)
    inboard = placement_of(n).inverse() @ E
    q = n.q_fit
    still = np.zeros(joint.nv)
    steps = 1 if selected_rows(joint.motion(q, still).tangent.S) is not None else REFINEMENTS
    for _ in range(steps):
        Q = joint.motion(q, still)
        gap = (Q.with_tangent(None).inverse() @ inboard).log()
        q = joint.integrate(q, subspace_fit(Q.tangent.S, gap))
    return q


def fit(n: Any, parent: Any) -> None:
    """Joint coordinates and velocities that fit the bodies best."""
    E = (parent.poses.inverse() @ n.poses).collapsed()
    joint = joint_of(n)
    q = fitted(n, E)
    S = joint.motion(q, np.zeros(joint.nv)).tangent.S
    n.q = q
    n.v = subspace_fit(S, n.twists - E.pull_twist(parent.twists))


FIT = Algorithm("maximal_fit", {**STATE_FIELDS, "q": Field("output", "q"), "v": Field("output", "v")}, {"run": [outward(fit)]})


def to_maximal(model: Model, state: State) -> MaximalState:
    """The maximal state of a reduced one.

    >>> lw.to_maximal(model, state).poses.shape
    (2, 4, 4)
    """
    check_model(model)
    if not isinstance(state, State):
        raise InputError(f"state must be a State, not a {type(state).__name__}")
    k = kinematics(model, state.q, state.v)
    return MaximalState(k.poses, k.twists, state.q, state.t)


@takes_model
def to_reduced(model: Model, state: MaximalState) -> State:
    """The reduced state that fits a maximal one best, joint by joint; what no joint allows is lost: see `convert.joint_fit`.

    >>> back = lw.to_reduced(model, lw.to_maximal(model, state))
    >>> bool(np.allclose(back.q, state.q))
    True
    """
    if not records_of_runs():
        check_maximal_state(model, state)
    out = model.call(FIT, {"poses": state.poses, "twists": state.twists, "q_fit": state.q_fit})
    return State(out["q"], out["v"], state.t)
