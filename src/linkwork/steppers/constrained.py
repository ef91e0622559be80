"""Accelerations of a model with all its forces and constraints, for states of either kind."""

from __future__ import annotations

from typing import Any

from ..constraints.rows import ConstraintRows, constraint_set
from ..constraints.solve import Constrained, accelerations
from ..forces.applied import applied, has_forces
from ..forces.set import force_set
from ..maximal.convert import to_reduced
from ..maximal.response import factor_maximal
from ..model import MaximalState, Model, State
from ..model.kinematics import kinematics
from ..reduced.response import factor_reduced


def is_bare(model: Model) -> bool:
    """Whether the model is only a tree: no constraints, no forces."""
    return not model.elements or not (constraint_set(model).count or has_forces(model))


def acting(model: Model, state: State | MaximalState, tau: Any, external: Any) -> tuple[Any, Any]:
    """Joint forces and body wrenches at a state: those given and those of the model's forces."""
    if not has_forces(model):
        return tau, external
    if isinstance(state, State):
        return applied(model, state.q, state.v, tau, external, state.t)
    forces, joints = force_set(model), to_reduced(model, state)
    own, wrenches = forces.joint_forces(joints.q, joints.v, state.t), forces.wrenches(state.poses, state.twists, state.t)
    return (own if tau is None else own + tau), (wrenches if external is None else wrenches + external)


def rows_at(model: Model, state: State | MaximalState, t: float) -> ConstraintRows:
    """The rows of all constraints at a state, with time functions at t."""
    constraints = constraint_set(model)
    if isinstance(state, State):
        k = kinematics(model, state.q, state.v)
        return constraints.at(k.poses, k.twists, state.q, state.v, t)
    joints = to_reduced(model, state)
    return constraints.at(state.poses, state.twists, joints.q, joints.v, t)


def accelerated(model: Model, state: State | MaximalState, tau: Any, external: Any) -> Constrained:
    """The acceleration under every force and constraint, and the force of every row."""
    rows = rows_at(model, state, state.t)
    tau, external = acting(model, state, tau, external)
    if isinstance(state, State):
        return accelerations(factor_reduced(model, state.q, state.v, tau, external), rows)
    return accelerations(factor_maximal(model, state, tau, external), rows)
