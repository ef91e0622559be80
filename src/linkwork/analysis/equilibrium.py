"""Where a model stays: Newton's method on its accelerations at rest, constraints included."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import SolverError
from ..model.accepts import takes_model
from ..model.model import Model
from ..reduced.dynamics import forward_dynamics, forward_dynamics_derivatives
from ..reduced.mass_matrix import mass_matrix
from ..spatial.gate import given_number
from .entrance import one_state
from .modes import Modes, modes
from .rows import equality_rows

ROUNDS = 100
STILL = 1e-11  # of what weights and forces would cause: an acceleration that is nothing


@dataclass(frozen=True, eq=False)
class Equilibrium:
    """Coordinates at which nothing moves, what acceleration (rad/s^2, m/s^2) is left, and the modes about it."""

    q: np.ndarray
    residual: float
    modes: Modes

    @property
    def stable(self) -> bool:
        """Whether the model comes back when pushed a little: every mode oscillates."""
        return self.modes.stable


@takes_model
def static_equilibrium(model: Model, q: Any, tau: Any = None, *, t: float = 0.0, inputs: Any = None) -> Equilibrium:
    """An equilibrium near q under gravity, all forces and equality constraints of the model, and joint forces tau.

    A step solves da/dq y = -a together with G y = -(residuals), in the metric of the mass, as far as it makes both smaller; along
    directions in which nothing pushes the model stays where it is. Which equilibrium is found, the start decides; `stable`
    says of what kind it is. Raises `SolverError` with what is left if none is found.
    """
    q, t = one_state("q", q, model.nq), given_number("t", t)
    tau = None if tau is None else one_state("tau", tau, model.nv)
    error, a, g = _error(model, q, tau, t, inputs)
    scale = max(error, float(np.linalg.norm(model.gravity)), 1e-300)
    damping = 0.0
    for _ in range(ROUNDS):
        if error <= STILL * scale:
            break
        L = np.linalg.cholesky(mass_matrix(model, q))
        G, _ = equality_rows(model, q, t)
        slope = forward_dynamics_derivatives(model, q, np.zeros(model.nv), tau, t=t, inputs=inputs)[0]
        J, e = np.concatenate([L.T @ slope, G * scale]), np.concatenate([L.T @ a, g * scale])
        for _ in range(30):
            step = _least(J, e, damping * np.abs(J).max())
            trial = model.integrate(q, step)
            found = _error(model, trial, tau, t, inputs)
            if found[0] < error * (1.0 - 1e-4) or found[0] <= STILL * scale:
                break
            damping = max(4.0 * damping, 1e-6)
        else:
            break
        q, (error, a, g), damping = trial, found, 0.2 * damping if damping > 1e-9 else 0.0
    if error > 1e-7 * scale:
        raise SolverError(f"no equilibrium was found: an acceleration of {error:.3g} is left; start nearer to one")
    return Equilibrium(q, error, modes(model, q, tau, t=t, inputs=inputs))


def _error(model: Model, q: np.ndarray, tau: Any, t: float, inputs: Any) -> tuple[float, np.ndarray, np.ndarray]:
    """The largest acceleration or residual, and both."""
    a, (_, g) = forward_dynamics(model, q, np.zeros(model.nv), tau, t=t, inputs=inputs), equality_rows(model, q, t)
    return float(max(np.abs(a).max(initial=0.0), np.abs(g).max(initial=0.0))), a, g


def _least(J: np.ndarray, e: np.ndarray, damping: float) -> np.ndarray:
    """The step y that makes |J y + e|^2 + damping^2 |y|^2 least, the shortest where several do."""
    n = J.shape[1]
    rows = np.concatenate([J, damping * np.eye(n)]) if damping else J
    return -np.linalg.lstsq(rows, np.concatenate([e, np.zeros(len(rows) - len(e))]), rcond=1e-12)[0]
