"""Linear motion about a state: matrices of the linearised equations, frequencies and shapes, constraints included.

With displacements y of the joints and velocities v, the linearised model is

    y_dot = v,      v_dot = a + da/dq y + da/dv v + M^-1 tau,

where the forces of equality constraints change so that these go on holding. Only motions that constraints allow count: with
G Z = 0 and Z^T M Z = 1 the stiffness is -Z^T M (da/dq) Z, whose eigenvalues are the squares of frequencies at an equilibrium.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..model.accepts import takes_model
from ..model.model import Model
from ..reduced.dynamics import forward_dynamics, forward_dynamics_derivatives
from ..reduced.inverse_mass_matrix import inverse_mass_matrix
from ..reduced.mass_matrix import mass_matrix
from ..spatial.gate import given_number
from .entrance import one_state
from .rows import equality_rows, null_space


@dataclass(frozen=True, eq=False)
class Linearisation:
    """x_dot = A x + B tau + c about a state, x = (displacements, velocities); Z are motions that constraints allow.

    A (2 nv, 2 nv), B (2 nv, nv), c (2 nv,): the drift at the state itself; Z (nv, free) with Z^T M Z = 1
    """

    A: np.ndarray
    B: np.ndarray
    c: np.ndarray
    Z: np.ndarray
    M: np.ndarray

    @property
    def reduced(self) -> np.ndarray:
        """A on what constraints allow, (2 free, 2 free)."""
        nv, back = len(self.Z), self.Z.T @ self.M
        P, Q = (np.kron(np.eye(2), x) for x in (back, self.Z))
        return P @ self.A @ Q if nv else np.zeros((0, 0))

    @property
    def eigenvalues(self) -> np.ndarray:
        """Of the reduced matrix, 1/s: damped frequencies are their imaginary parts, decay their real ones."""
        return np.linalg.eigvals(self.reduced)


@dataclass(frozen=True, eq=False)
class Modes:
    """Undamped modes: squares of frequencies, ascending (negative: unstable), and shapes (nv, modes) with shape^T M shape = 1."""

    squares: np.ndarray
    shapes: np.ndarray

    @property
    def frequencies(self) -> np.ndarray:
        """rad/s; NaN for modes that are not stable."""
        return np.sqrt(np.where(self.squares >= 0.0, self.squares, np.nan))

    @property
    def stable(self) -> bool:
        """Whether no mode grows."""
        return bool((self.squares > 0.0).all())


@takes_model
def linearize(model: Model, q: Any, v: Any = None, tau: Any = None, *, t: float = 0.0, inputs: Any = None) -> Linearisation:
    """The linearised model about one state under joint forces."""
    q, t, nv = one_state("q", q, model.nq), given_number("t", t), model.nv
    v = np.zeros(nv) if v is None else one_state("v", v, nv)
    tau = None if tau is None else one_state("tau", tau, nv)
    da_dq, da_dv = forward_dynamics_derivatives(model, q, v, tau, t=t, inputs=inputs)
    M, (G, _) = mass_matrix(model, q), equality_rows(model, q, t)
    Z = null_space(G, M)
    answer = Z @ Z.T if len(G) else inverse_mass_matrix(model, q)
    A = np.block([[np.zeros((nv, nv)), np.eye(nv)], [da_dq, da_dv]])
    a = forward_dynamics(model, q, v, tau, t=t, inputs=inputs)
    return Linearisation(A, np.vstack([np.zeros((nv, nv)), answer]), np.concatenate([v, a]), Z, M)


@takes_model
def modes(model: Model, q: Any, tau: Any = None, *, t: float = 0.0, inputs: Any = None) -> Modes:
    """Frequencies and shapes of small undamped motion about a configuration at rest, see `static_equilibrium`."""
    found = linearize(model, q, None, tau, t=t, inputs=inputs)
    nv = model.nv
    K = -found.Z.T @ found.M @ found.A[nv:, :nv] @ found.Z
    squares, y = np.linalg.eigh(0.5 * (K + K.T))
    return Modes(squares, found.Z @ y)
