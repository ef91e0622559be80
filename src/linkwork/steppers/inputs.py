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
from ..forces.set import ForceSet, force_set
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


def _copied(model: Model, kept: dict[Any, Any]) -> Model:
    """The same model with some other tables."""
    twin = copy.copy(model)
    twin.__dict__["_kept"] = {**model._kept, **kept}
    return twin
