"""Accelerations of a model with all its forces and constraints, for states of either kind."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..constraints.rows import ConstraintRows, constraint_set
from ..constraints.solve import Constrained, accelerations
from ..forces.applied import Bodies, applied, has_forces
from ..maximal.convert import to_reduced
from ..maximal.response import factor_maximal
from ..model import MaximalState, Model, State
from ..model.kinematics import kinematics
from ..reduced.response import factor_reduced


def is_bare(model: Model) -> bool:
    """Whether the model is only a tree: no constraints, no forces."""
    return not model.elements or not (constraint_set(model).count or has_forces(model))


@dataclass(frozen=True, eq=False)
class Located:
    """A state of either kind with the poses and twists of its bodies and its joint coordinates; made by `located`."""

    model: Model
    state: State | MaximalState
    bodies: Bodies
    joints: State

    def rows(self, t: float) -> ConstraintRows:
        """The rows of all constraints, with time functions at t."""
        return constraint_set(self.model).at(self.bodies.poses, self.bodies.twists, self.joints.q, self.joints.v, t)

    def acting(self, tau: Any, external: Any) -> tuple[Any, Any]:
        """Joint forces and body wrenches: those given and those of the model's forces."""
        if not has_forces(self.model):
            return tau, external
        return applied(self.model, self.bodies, self.joints.q, self.joints.v, tau, external, self.state.t)


def located(model: Model, state: State | MaximalState) -> Located:
    """Where a model is."""
    if isinstance(state, State):
        return Located(model, state, kinematics(model, state.q, state.v), state)
    return Located(model, state, state, to_reduced(model, state))


def rows_at(model: Model, state: State | MaximalState, t: float) -> ConstraintRows:
    """The rows of all constraints at a state, with time functions at t."""
    return located(model, state).rows(t)


def accelerated(model: Model, state: State | MaximalState, tau: Any, external: Any) -> Constrained:
    """The acceleration under every force and constraint, and the force of every row."""
    here = located(model, state)
    tau, external = here.acting(tau, external)
    if isinstance(state, State):
        return accelerations(factor_reduced(model, state.q, state.v, tau, external), here.rows(state.t))
    return accelerations(factor_maximal(model, state, tau, external), here.rows(state.t))
