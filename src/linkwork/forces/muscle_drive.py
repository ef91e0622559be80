"""What muscles remember between steps: activations that follow excitations, and the lengths of fibres on elastic tendons."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..errors import InputError
from ..model.kinematics import kinematics
from ..model.model import Model
from ..model.state import MaximalState, State
from ..spatial.gate import given_reals
from ..spatial.kinds import explained
from .muscle_activation import ActivationDynamics
from .muscle_set import muscle_set
from .muscle_tendon import FibreMuscle
from .set import force_set

Excitation = Callable[[float, Any], Any]


class MuscleDrive:
    """A function of time and state for the inputs of a simulation: it turns excitations into activations and moves fibres.

    It must be called at times that do not decrease, once per step, by steppers that hold the inputs during a step: the
    excitation is held from one call to the next, where activation is exact; the fibre lengths of every `FibreMuscle` go on by the
    backward Euler method, from rest at the first call. Inputs of other forces stay at their initial values.

    excitation   of all muscles (muscles,), or a function of time and state that returns it; `Schedule` is one. Muscles with a
                 schedule of their own ignore theirs
    dynamics     how activation follows

    >>> path = [("world", (0, 0, 0.1)), ("upper", (0.3, 0, 0.05))]
    >>> pulled = model.add(lw.Muscle(path, 500.0, 0.15, 0.1))
    >>> run = lw.simulate(pulled, state, 0.05, inputs=lw.MuscleDrive(pulled, lambda t, state: [0.5]))
    """

    moves_fibres = True  # which need somebody who does

    @explained
    def __init__(self, model: Model, excitation: Any, dynamics: ActivationDynamics | None = None) -> None:
        self.model, self.muscles = model, muscle_set(model)
        self.dynamics = dynamics or ActivationDynamics()
        self.excitation: Excitation = excitation if callable(excitation) else lambda t, state: excitation
        self.reset()
        if not callable(excitation):
            self._checked(excitation, 0.0)

    def reset(self) -> None:
        """Forget everything: the next call is the first."""
        self.t: float | None = None
        self.activation = np.array([m.initial_inputs()[0] if m.activation is None else 0.0 for m in self.muscles.muscles])
        self.fibre = np.zeros(len(self.muscles.muscles))
        self._held = self.activation

    def __call__(self, t: float, state: State | MaximalState) -> np.ndarray:
        """The inputs of all forces from t on."""
        poses = kinematics(self.model, state.q).poses if isinstance(state, State) else state.poses
        if np.ndim(poses) != 3:
            raise InputError("MuscleDrive drives one state, not a batch")
        h = 0.0 if self.t is None else t - self.t
        if h < 0.0:
            raise InputError(f"MuscleDrive was called at t = {t:g} after t = {self.t:g}; reset() it for another run")
        self.activation = self._scheduled(t, self.dynamics.step(self.activation, self._held, h))
        if any(isinstance(m, FibreMuscle) for m in self.muscles.muscles) and (self.t is None or h > 0.0):
            stepped, resting = self.muscles.advance(poses, self.activation, self.fibre, h or 1.0)
            self.fibre = resting if self.t is None else stepped
        self.t, self._held = t, self._excited(t, state)
        return self.inputs()

    def state(self) -> dict[str, Any]:
        """All that it remembers, for `restore`."""
        return {"t": self.t, "activation": self.activation, "fibre": self.fibre, "held": np.array(self._held)}

    def restore(self, state: dict[str, Any]) -> None:
        """Go on where a drive was."""
        self.t, self.activation, self.fibre, self._held = (state[name] for name in ("t", "activation", "fibre", "held"))

    def inputs(self) -> np.ndarray:
        """The inputs of all forces, as they are now."""
        u = force_set(self.model).initial_inputs.copy()
        for m, place, a, fibre in zip(self.muscles.muscles, self.muscles.inputs, self.activation, self.fibre, strict=True):
            u[place] = [*([a] if m.activation is None else []), *([fibre] if isinstance(m, FibreMuscle) else [])]
        return u

    def _scheduled(self, t: float, a: np.ndarray) -> np.ndarray:
        pairs = zip(self.muscles.muscles, a, strict=True)
        return np.array([now if m.activation is None else m.activation(t) for m, now in pairs])

    def _excited(self, t: float, state: Any) -> np.ndarray:
        return self._checked(self.excitation(t, state), t)

    def _checked(self, excitation: Any, t: float) -> np.ndarray:
        e, shape = given_reals("excitations", excitation), self.activation.shape
        if e.shape not in ((), shape) or not np.all((e >= 0.0) & (e <= 1.0)):
            raise InputError(f"excitations must be {shape[0]} numbers from 0 to 1, not {e!r}, at t = {t:g}")
        return np.broadcast_to(e, shape)
