"""Hyper-reduced coordinates: a model that moves only as q = f(r) says, with fewer coordinates r [Sueda, Eqs. 2.80-2.83].

The map replaces constraints: a chain whose joints share one angle is q = (r, ..., r). Its Jacobian and rates are derived (see
`coordinate_map`), the equation of motion follows (see `hyper_dynamics`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..constraints.solve import accelerations
from ..errors import InputError, ModelError
from ..model.model import Model
from ..model.state import State, check_state
from ..store.travelling import Travelling
from .coordinate_map import CoordinateMap, Map, Moved
from .hyper_dynamics import HyperDynamics
from .system import dynamics

FITTED = 1e-12  # step of r, relative, at which a fit has converged
FIT_STEPS = 50


class HyperReduced(Travelling):
    """A model on the coordinates r of a map q = f(r); its own states are `State(q=r, v=r_dot)`, and `lw.simulate` takes it.

    model      whose coordinates are mapped; joint forces and trajectories stay those of all its joints
    function   f(r) -> q, linear or not, in plain Python and NumPy (`lw.math` where it branches); where the model has
               quaternions, f gives unit ones
    nr         number of entries of r

    >>> chain = lw.HyperReduced(model, lambda r: [r[0]] * model.nq, nr=1)
    """

    def __init__(self, model: Model, function: Map, nr: int) -> None:
        self.model, self.map = model, CoordinateMap(model, function, nr)
        self.nq = self.nv = self.nr = nr

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> HyperReduced:
        """The coordinates that a file says: made anew of the model and the function."""
        if not isinstance(state["model"], Model) or not isinstance(state["map"], CoordinateMap):
            raise ModelError("HyperReduced: it needs a model and a function of its coordinates")
        return cls(state["model"], state["map"].function, state["nr"])

    def neutral(self) -> np.ndarray:
        """r = 0."""
        return np.zeros(self.nr)

    def integrate(self, r: np.ndarray, dr: np.ndarray) -> np.ndarray:
        """r + dr."""
        return r + dr

    def difference(self, r0: np.ndarray, r1: np.ndarray) -> np.ndarray:
        """r1 - r0."""
        return r1 - r0

    def moved(self, state: State) -> Moved:
        """q, v, J_dot r_dot (as `a`) and J at a state of r, or at a batch of them."""
        for name, x in (("q", state.q), ("v", state.v)):
            if x.shape[-1:] != (self.nr,) or x.ndim > 2:
                raise InputError(f"state.{name} has shape {x.shape}; a hyper-reduced state needs ({self.nr},) or a batch of them")
        return self.map(state.q, state.v, np.zeros(self.nr))

    def full(self, state: State) -> State:
        """The state of the model at a state of r, checked."""
        m = self.moved(state)
        found = State(m.q, m.v, state.t)
        check_state(self.model, found)
        return found

    def fit(self, state: State, guess: Any = None) -> State:
        """The state of r nearest to a state of the model: least squares of displacements, then of velocities."""
        r, still = self.neutral() if guess is None else np.array(guess, float), np.zeros(self.nr)
        for _ in range(FIT_STEPS):
            m = self.map(r, still, still)
            step = np.linalg.lstsq(m.J, self.model.difference(m.q, state.q), rcond=None)[0]
            r = r + step
            if np.abs(step).max() <= FITTED * max(1.0, np.abs(r).max()):
                return State(r, np.linalg.lstsq(m.J, state.v, rcond=None)[0], state.t)
        raise InputError("no r was found that fits this state; give a nearer guess")

    def dynamics(self, state: State, tau: Any = None, external: Any = None, t: float | None = None) -> HyperDynamics:
        """The system at one state of r; tau (nv,) acts on the joints of the model, external on its bodies."""
        m = self.moved(state)
        return HyperDynamics(m.J, m.a, dynamics(self.model, State(m.q, m.v, state.t), tau, external, t))

    def mass_matrix(self, r: Any) -> np.ndarray:
        """J^T M J (nr, nr)."""
        return self.dynamics(State(r, np.zeros(self.nr))).M

    def forward_dynamics(self, r: Any, r_dot: Any, tau: Any = None, external: Any = None, t: float = 0.0) -> np.ndarray:
        """r_ddot (nr,) under every force and constraint of the model, with tau (nv,) on its joints besides."""
        now = self.dynamics(State(r, r_dot, t), tau, external)
        response = now.response()
        return response.coordinates(accelerations(response, now.constraints).motion)

    def __repr__(self) -> str:
        return f"HyperReduced({self.model!r}, nr={self.nr})"
