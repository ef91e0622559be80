"""Accelerations of a model with all its constraints, for states of either kind."""

from __future__ import annotations

from typing import Any

from ..constraints.rows import constraint_set
from ..constraints.solve import Constrained, accelerations
from ..maximal.convert import to_reduced
from ..maximal.response import factor_maximal
from ..model import MaximalState, Model, State
from ..model.kinematics import kinematics
from ..reduced.response import factor_reduced


def accelerated(model: Model, state: State | MaximalState, tau: Any, external: Any) -> Constrained:
    """The acceleration under every constraint, and the force of every row."""
    constraints = constraint_set(model)
    if isinstance(state, State):
        k = kinematics(model, state.q, state.v)
        rows = constraints.at(k.poses, k.twists, state.q, state.v)
        return accelerations(factor_reduced(model, state.q, state.v, tau, external), rows)
    joints = to_reduced(model, state)
    rows = constraints.at(state.poses, state.twists, joints.q, joints.v)
    return accelerations(factor_maximal(model, state, tau, external), rows)
