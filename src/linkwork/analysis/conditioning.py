"""How well conditioned a model is."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..model.accepts import takes_model
from ..model.model import Model
from ..reduced.mass_matrix import mass_matrix


@takes_model
def mass_matrix_condition(model: Model, q: Any) -> np.ndarray:
    """The ratio of the largest to the smallest eigenvalue of M, one number or (batch,): forward dynamics loses so many digits."""
    values = np.linalg.eigvalsh(mass_matrix(model, q))
    return values[..., -1] / values[..., 0]
