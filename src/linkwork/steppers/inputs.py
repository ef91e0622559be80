"""Inputs of forces during a run: activations of muscles, targets of handles and controllers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import forces
from ..errors import InputError
from ..model import Model, State
from ..spatial.gate import given_reals

InputFunction = Callable[[float, Any], np.ndarray]


def input_function(model: Model, given: Any) -> InputFunction | None:
    """The inputs of all forces as a function of time and state.

    given   an array (inputs,), a function of time that returns one, a `MuscleDrive`, or None: the initial ones
    """
    moving = model.keep_as(input_function, lambda: [e for e in model.elements if getattr(e, "fibres_move", False)])
    if moving and not getattr(given, "moves_fibres", False):
        raise InputError(
            f"the fibres of {moving[0]!r} move on their own; pass inputs=lw.MuscleDrive(model, excitation), which moves them"
        )
    if given is None:
        return None
    if not callable(given) and not isinstance(given, forces.MuscleDrive):
        given_reals("inputs", given)
    size = len(forces.force_set(model).initial_inputs)
    if not size and not isinstance(given, forces.MuscleDrive) and not callable(given) and not np.size(given):
        return None

    def inputs(t: float, state: Any) -> np.ndarray:
        found = given(t, state) if isinstance(given, forces.MuscleDrive) else given(t) if callable(given) else given
        if type(found) is np.ndarray and found.dtype == np.float64:
            u = found.copy()
        else:
            u = given_reals(f"inputs at t = {t:g}", found)
        if u.shape != (size,):
            raise InputError(f"inputs have shape {u.shape} at t = {t:g}; the forces of this model have {size}")
        if not np.isfinite(u).all():
            raise InputError(f"inputs are not finite at t = {t:g}")
        return u

    return inputs


class Inputs:
    """What forces are told during a run, as a function of time and state.

    steady   whether they are always the same
    """

    def __init__(self, function: InputFunction, steady: bool = False) -> None:
        self._function, self.steady = function, steady
        self.last: np.ndarray = np.zeros(0)

    def asked(self, state: Any) -> np.ndarray:
        """The inputs at a state."""
        self.last = self._function(state.t, state)
        return self.last


def told(driven: Inputs | None, records: Sequence[State]) -> np.ndarray | None:
    """The inputs at some states (T, inputs)."""
    if driven is None:
        return None
    return np.array([driven.asked(s) for s in records])
