"""Inputs of forces during a run: activations of muscles, targets of handles and controllers.

A run has a copy of the model of its own, whose forces take the inputs that they are told instead of their initial ones; whatever
is computed of that model, forces and derivatives alike, is under these inputs.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..errors import InputError
from ..forces import FibreMuscle, MuscleDrive
from ..forces.joint import JointForce
from ..forces.set import ForceSet, force_set
from ..maximal.implicit_response import DistantForces, distant_forces
from ..maximal.implicit_tree import ForceTree, force_tree
from ..model import Model, State

Inputs = Callable[[float, Any], np.ndarray]


def input_function(model: Model, given: Any) -> Inputs | None:
    """The inputs of all forces as a function of time and state.

    given   an array (inputs,), a function of time that returns one, a `MuscleDrive`, or None: the initial ones
    """
    moving = model.keep_as(FibreMuscle, lambda: model.elements_of(FibreMuscle))
    if moving and not isinstance(given, MuscleDrive):
        raise InputError(
            f"the fibres of {moving[0]!r} move on their own; pass inputs=lw.MuscleDrive(model, excitation), which moves them"
        )
    if given is None:
        return None
    size = len(force_set(model).initial_inputs)

    def inputs(t: float, state: Any) -> np.ndarray:
        found = given(t, state) if isinstance(given, MuscleDrive) else given(t) if callable(given) else given
        u = np.asarray(found, float)
        if u.shape != (size,):
            raise InputError(f"inputs have shape {u.shape} at t = {t:g}; the forces of this model have {size}")
        if not np.all(np.isfinite(u)):
            raise InputError(f"inputs are not finite at t = {t:g}")
        return u

    return inputs


class DrivenModel:
    """A model whose forces have the inputs that it was last told."""

    def __init__(self, model: Model, inputs: Inputs) -> None:
        self._inputs, self._forces = inputs, copy.copy(force_set(model))
        self.last: np.ndarray = self._forces.initial_inputs
        self.model, self.u = _copied(model, {ForceSet: self._forces}), self._forces.initial_inputs

    def at(self, t: float, state: Any) -> Model:
        """The model at a time and in a state."""
        self.tell(self._inputs(t, state))
        return self.model

    def asked(self, state: Any) -> np.ndarray:
        """The inputs at a state."""
        self.last = self._inputs(state.t, state)
        return self.last

    def tell(self, u: np.ndarray) -> None:
        """Inputs of all forces from now on."""
        self.u = self._forces.initial_inputs = u


def told(driven: DrivenModel | None, records: Sequence[State]) -> np.ndarray | None:
    """The inputs at some states (T, inputs)."""
    if driven is None:
        return None
    return np.array([driven.asked(s) for s in records])


class DrivenTree(DrivenModel):
    """The same for steppers that carry forces on the nodes of the tree: those inputs, and those of distant forces."""

    def __init__(self, model: Model, inputs: Inputs) -> None:
        super().__init__(model, inputs)
        self._tree, far = copy.copy(force_tree(model)), distant_forces(model)
        self._far = copy.copy(far.forces) if far else None
        distant = DistantForces(self._far) if self._far else None
        self.model = _copied(self.model, {ForceTree: self._tree, DistantForces: distant})
        places = _places(self.model, self._forces)
        self._near = np.concatenate([np.zeros(0, int), *(places(f) for f in self._tree.carried)])
        self._distant = np.concatenate([np.zeros(0, int), *(places(f) for f in self._tree.distant)])

    def tell(self, u: np.ndarray) -> None:
        super().tell(u)
        self._tree.inputs = u[self._near]
        if self._far:
            self._far.initial_inputs = u[self._distant]


def _copied(model: Model, kept: dict[Any, Any]) -> Model:
    """The same model with some other tables."""
    twin = copy.copy(model)
    twin.__dict__["_kept"] = {**model._kept, **kept}
    return twin


def _places(model: Model, forces: ForceSet) -> Callable[[Any], np.ndarray]:
    """Where the inputs of a force lie among all; forces on one joint are asked for in their order."""
    ends = np.cumsum([f.inputs for f in (*forces.forces, *forces.on_joints.forces)], dtype=int)
    spans = [np.arange(end - f.inputs, end) for f, end in zip((*forces.forces, *forces.on_joints.forces), ends, strict=True)]
    free = {id(f): span for f, span in zip(forces.forces, spans, strict=False)}
    queues: dict[int, list[np.ndarray]] = {}
    for f, span in zip(forces.on_joints.forces, spans[len(forces.forces) :], strict=True):
        queues.setdefault(model.body_index(f.joint), []).append(span)
    return lambda f: queues[model.body_index(f.joint)].pop(0) if isinstance(f, JointForce) else free[id(f)]
