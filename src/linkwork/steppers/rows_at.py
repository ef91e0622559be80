"""The rows of all constraints of a model, for states of either kind."""

from __future__ import annotations

from ..constraints.rows import ConstraintRows, constraint_set
from ..maximal.convert import to_reduced
from ..model import MaximalState, Model, State
from ..model.kinematics import kinematics


def rows_at(model: Model, state: State | MaximalState, t: float) -> ConstraintRows:
    """The rows of all constraints at a state, with time functions at t."""
    joints = state if isinstance(state, State) else to_reduced(model, state)
    bodies = kinematics(model, state.q, state.v) if isinstance(state, State) else state
    return constraint_set(model).at(bodies.poses, bodies.twists, joints.q, joints.v, t)
