"""The equality constraints of a model as rows on joint velocities."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..constraints.rows import constraint_set
from ..model.accepts import takes_model
from ..model.kinematics import kinematics
from ..model.model import Model
from ..model.state import Motion
from ..spatial.gate import given_number
from .entrance import one_state


@takes_model
def equality_rows(model: Model, q: Any, t: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """G (rows, nv) and residuals (rows,) of all equality constraints on positions and velocities, at one configuration."""
    q, t, constraints = one_state("q", q, model.nq), given_number("t", t), constraint_set(model)
    still = kinematics(model, q, np.zeros(model.nv))
    found = constraints.at(still.poses, still.twists, q, np.zeros(model.nv), t)
    equal, units = ~found.unilateral, np.eye(model.nv)
    G = (found.rows @ Motion(kinematics(model, q, units).twists, units)).T if model.nv else np.zeros((found.rows.count, 0))
    return G[equal], found.residual[equal]


def null_space(G: np.ndarray, M: np.ndarray) -> np.ndarray:
    """Z (nv, free): what G lets move, with Z^T M Z = 1."""
    L = np.linalg.cholesky(M)
    rows = np.linalg.solve(L, G.T).T  # G L^-T: rows on L^T v
    _, sizes, V = np.linalg.svd(rows, full_matrices=True)
    rank = int((sizes > 1e-10 * sizes.max(initial=0.0)).sum())
    return np.linalg.solve(L.T, V[rank:].T)
