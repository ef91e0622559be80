"""Exact derivatives of the dynamics: the recursions on dual numbers, one direction per lane.

Derivatives with respect to q are along displacements of the joints: tau(integrate(q, e), v, a) to first order in e.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..kernel.directional import directional
from ..model.manifold import INTEGRATE
from ..model.model import Model
from .forward import FORWARD_DYNAMICS
from .inverse import INVERSE_DYNAMICS
from .mass_matrix import mass_matrix

INTEGRATE_DIRECTIONAL = directional(INTEGRATE)
INVERSE_DYNAMICS_DIRECTIONAL = directional(INVERSE_DYNAMICS)
FORWARD_DYNAMICS_DIRECTIONAL = directional(FORWARD_DYNAMICS)


def coordinate_columns(model: Model, q: np.ndarray) -> np.ndarray:
    """How the coordinates change along unit displacements of the joints: (nv, nq), one row per displacement."""
    nv = model.nv
    inputs = {"q": q, "d_q": None, "dv": np.zeros(nv), "d_dv": np.eye(nv)}
    return model.call(INTEGRATE_DIRECTIONAL, inputs, wanted=("d_q_next",))["d_q_next"]


def inverse_dynamics_derivatives(
    model: Model, q: Any, v: Any, a: Any, external: Any = None, d_external: Any = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of tau = inverse_dynamics(q, v, a): dtau_dq, dtau_dv and dtau_da, (nv, nv) each, at one state.

    external     constant wrenches on the bodies in body axes (bodies, 6)
    d_external   how they change: (2 nv, bodies, 6), for displacements of the joints, then for velocities
    """
    return (*_columns(model, INVERSE_DYNAMICS_DIRECTIONAL, "tau", q, v, ("a", a), external, d_external), mass_matrix(model, q))


def forward_dynamics_derivatives(
    model: Model, q: Any, v: Any, tau: Any = None, external: Any = None, d_external: Any = None
) -> tuple[np.ndarray, np.ndarray]:
    """Of a = tree_dynamics(q, v, tau): da_dq and da_dv, (nv, nv) each, at one state; da_dtau is the inverse mass matrix."""
    tau = np.zeros(model.nv) if tau is None else tau
    return _columns(model, FORWARD_DYNAMICS_DIRECTIONAL, "a", q, v, ("tau", tau), external, d_external)


def _columns(
    model: Model, algorithm: Any, result: str, q: Any, v: Any, last: tuple[str, Any], external: Any, d_external: Any
) -> tuple[np.ndarray, np.ndarray]:
    """The derivatives of a result along displacements and velocities."""
    nv = model.nv
    q, v, x = (np.asarray(y, float) for y in (q, v, last[1]))
    none, unit = np.zeros((nv, nv)), np.eye(nv)
    inputs = {
        "q": q,
        "d_q": np.concatenate([coordinate_columns(model, q), np.zeros((nv, model.nq))]),
        "v": v,
        "d_v": np.concatenate([none, unit]),
        last[0]: x,
        f"d_{last[0]}": None,
        "external": external,
        "d_external": d_external,
        "gravity": model.gravity,
        "d_gravity": None,
    }
    out = model.call(algorithm, inputs, wanted=(f"d_{result}",))[f"d_{result}"]
    return out[:nv].T, out[nv:].T
