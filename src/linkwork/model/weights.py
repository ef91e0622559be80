"""Weights of configurations, of their coordinates or of displacements of the joints: one turned into the other."""

from __future__ import annotations

import numpy as np

from ..kernel.adjoint import adjoint
from ..kernel.adjoint_names import bar, end
from .manifold import DIFFERENCE, INTEGRATE
from .model import Model

INTEGRATE_ADJOINT, DIFFERENCE_ADJOINT = adjoint(INTEGRATE), adjoint(DIFFERENCE)


def coordinate_weights(model: Model, q: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Weights of displacements of the joints at configurations (count, nq), as weights of the coordinates."""
    given = ("q", "q_next", end("dv"))
    return model.quick(DIFFERENCE_ADJOINT, given, (bar("q_next"),))(q, q, weights)[0]


def displacement_weights(model: Model, q: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Weights of coordinates at configurations (count, nq), as weights of displacements of the joints."""
    given = ("q", "dv", end("q_next"))
    return model.quick(INTEGRATE_ADJOINT, given, (bar("dv"),))(q, np.zeros(model.nv), weights)[0]
