"""Forward dynamics of a tree with forces and constraints.

A module of its own, as a bare tree needs none of what it imports.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..constraints.rows import constraint_set
from ..constraints.solve import accelerations
from ..forces.applied import applied, has_forces
from ..model.kinematics import kinematics
from ..model.model import Model
from .forward import tree_dynamics
from .response import factor_reduced


def loaded_dynamics(
    model: Model, q: Any, v: Any, tau: Any, external: Any, threads: int | None, t: float, inputs: Any
) -> np.ndarray:
    """See `forward_dynamics`."""
    if has_forces(model):
        moving = np.zeros(model.nv) if v is None else v
        tau, external = applied(model, kinematics(model, q, moving), q, moving, tau, external, t, inputs)
    if constraint_set(model).unilateral.all():
        return tree_dynamics(model, q, v, tau, external, threads)
    q, v = np.asarray(q, float), np.asarray(v, float)
    batch = next((len(x) for x in (q, v, tau) if np.ndim(x) == 2), None)
    if batch is None:
        return _constrained(model, q, v, tau, external, t)
    rows = [
        np.broadcast_to(x, (batch, x.shape[-1])) for x in (q, v, np.zeros(model.nv) if tau is None else np.asarray(tau, float))
    ]
    forces = [external] * batch if np.ndim(external) != 3 else external
    states = zip(rows[0], rows[1], rows[2], forces, strict=True)
    return np.array([_constrained(model, q, v, tau, external, t) for q, v, tau, external in states])


def _constrained(model: Model, q: np.ndarray, v: np.ndarray, tau: Any, external: Any, t: float) -> np.ndarray:
    k = kinematics(model, q, v)
    rows = constraint_set(model).at(k.poses, k.twists, q, v, t)
    equalities = rows.restricted(~rows.unilateral)
    return accelerations(factor_reduced(model, q, v, tau, external), equalities).motion.joints
