"""Hyper-reduced coordinates: a model that moves only as q = f(r) says, with fewer coordinates r [Sueda, Eqs. 2.80-2.83].

The map replaces constraints: a chain whose joints share one angle is q = (r, ..., r). Its Jacobian and rates are derived (see
`coordinate_map`), the equation of motion follows (see `hyper_dynamics`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..constraints.solve import accelerations
from ..errors import InputError, ModelError
from ..model.model import Model
from ..model.state import State, check_state
from ..spatial.gate import finite_reals
from ..spatial.kinds import explained
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

    @explained
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
        """J^T M J (nr, nr), or of a batch (batch, nr, nr)."""
        return self._each(lambda r: self.dynamics(State(r, np.zeros(self.nr))).M, r=(r, self.nr))

    def forward_dynamics(self, r: Any, r_dot: Any, tau: Any = None, external: Any = None, t: float = 0.0) -> np.ndarray:
        """r_ddot (nr,) under every force and constraint of the model, with tau (nv,) on its joints and wrenches (bodies, 6) on
        its bodies besides; or of a batch (batch, nr), where any argument has one axis more."""

        def one(r: Any, r_dot: Any, tau: Any, external: Any) -> np.ndarray:
            now = self.dynamics(State(r, r_dot, t), tau, external)
            response = now.response()
            return response.coordinates(accelerations(response, now.constraints).motion)

        nb, nv = self.model.nb, self.model.nv
        return self._each(one, r=(r, self.nr), r_dot=(r_dot, self.nr), tau=(tau, nv), external=(external, nb, 6))

    def inverse_dynamics(self, r: Any, r_dot: Any, r_ddot: Any, external: Any = None, t: float = 0.0) -> np.ndarray:
        """The force J^T tau on r (nr,) for an acceleration under every force of the model, without its constraints:

            J^T (M (J r_ddot + J_dot r_dot) - f),

        or those of a batch (batch, nr), where any argument has one axis more.
        """

        def one(r: Any, r_dot: Any, r_ddot: Any, external: Any) -> np.ndarray:
            now = self.dynamics(State(r, r_dot, t), None, external)
            return now.M @ r_ddot - now.f

        sizes = {"r": (r, self.nr), "r_dot": (r_dot, self.nr), "r_ddot": (r_ddot, self.nr)}
        return self._each(one, **sizes, external=(external, self.model.nb, 6))

    def _each(self, function: Callable[..., np.ndarray], **given: tuple[Any, ...]) -> np.ndarray:
        """A function of one state at a state, or at every one of a batch; of every argument its value and its shape."""
        arrays: dict[str, np.ndarray | None] = {}
        for name, (x, *shape) in given.items():
            if x is None:
                arrays[name] = None
                continue
            a = arrays[name] = finite_reals(name, x)
            found = a.shape
            if found[-len(shape) :] != tuple(shape) or len(found) > len(shape) + 1:
                raise InputError(f"{name} has shape {found}; expected {tuple(shape)} or (batch, {', '.join(map(str, shape))})")
        batches = {len(a) for name, a in arrays.items() if a is not None and a.ndim == len(given[name])}
        if not batches:
            return function(**arrays)
        if len(batches) > 1:
            raise InputError(f"arguments are batches of {', '.join(map(str, sorted(batches)))} states; one size must do for all")

        def at(name: str, k: int) -> np.ndarray | None:
            a = arrays[name]
            return a if a is None or a.ndim < len(given[name]) else a[k]

        return np.array([function(**{name: at(name, k) for name in arrays}) for k in range(batches.pop())])

    def __repr__(self) -> str:
        return f"HyperReduced({self.model!r}, nr={self.nr})"
