"""Remedies for explicit steps that are too long for the forces of a model."""

from __future__ import annotations

import numpy as np

from ..errors import LinkworkError
from ..model.model import Model
from ..reduced.dynamics import forward_dynamics

SHIFT = 1e-6  # m, rad or their rates: of the differences that estimate slopes of accelerations
MOST_FREEDOMS = 300  # larger models take too long for an error message
MARGIN = 0.5  # of the stability limit: the step that is advised


def fastest_rate(model: Model, q: np.ndarray, v: np.ndarray) -> float:
    """The largest |eigenvalue| (1/s) of x' = [[0, 1], [da/dq, da/dv]] x about a state, slopes by central differences; nan if the
    accelerations there are not finite or cannot be computed. Symplectic Euler is stable for steps below 2 over it."""
    n = model.nv
    if not 0 < n <= MOST_FREEDOMS:
        return np.nan
    shifts = SHIFT * np.concatenate([np.eye(n), -np.eye(n)])
    speeds = np.concatenate([np.tile(v, (2 * n, 1)), v + shifts])
    try:
        places = np.concatenate([model.integrate(np.tile(q, (2 * n, 1)), shifts), np.tile(q, (2 * n, 1))])
        a = forward_dynamics(model, places, speeds).reshape(2, 2, n, n)
    except LinkworkError:
        return np.nan
    slopes = (a[:, 0] - a[:, 1]) / (2.0 * SHIFT)  # (of positions or speeds, shifted, accelerated)
    if not np.all(np.isfinite(slopes)):
        return np.nan
    A = np.block([[np.zeros((n, n)), np.eye(n)], [slopes[0].T, slopes[1].T]])
    return float(np.abs(np.linalg.eigvals(A)).max())


def remedy(model: Model, q: np.ndarray, v: np.ndarray, dt: float, implicit: bool, maximal: bool) -> str:
    """What to try after a motion from a state was not finite at steps of dt: a step that is short enough, if forces that change
    fast explain it, and an implicit stepper, unless it was one."""
    other = "another stepper" if implicit else "method='maximal-implicit'" if maximal else "stepper='linearly_implicit'"
    rate = fastest_rate(model, q, v)
    if not rate * dt > 2.0:
        return f"try a shorter step, or {other}"
    return f"its forces change at up to {rate:.2g} 1/s: take dt = {MARGIN * 2.0 / rate:.1g} or less, or {other}"
