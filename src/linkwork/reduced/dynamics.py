"""Forward dynamics of the whole model: the tree with its equality constraints."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..constraints.rows import constraint_set
from ..constraints.solve import accelerations
from ..model.kinematics import kinematics
from ..model.model import Model
from .forward import tree_dynamics
from .response import factor_reduced


def forward_dynamics(model: Model, q: Any, v: Any, tau: Any = None, external: Any = None, threads: int | None = 1) -> np.ndarray:
    """The joint accelerations (nv,) or (batch, nv) under gravity, tau, external wrenches and every equality constraint.

    tau        joint forces (nv,) or (batch, nv); zero if None
    external   wrenches (moment, force) on the bodies, about their origins in their axes: (bodies, 6)
    threads    for batches; None uses all cores

    Arrays have the batch axis first and broadcast. O(n) per state; constraints add a dense problem of their size.
    """
    if not model.elements or constraint_set(model).unilateral.all():
        return tree_dynamics(model, q, v, tau, external, threads)
    q, v = np.asarray(q, float), np.asarray(v, float)
    batch = next((len(x) for x in (q, v, tau) if np.ndim(x) == 2), None)
    if batch is None:
        return _constrained(model, q, v, tau, external)
    rows = [
        np.broadcast_to(x, (batch, x.shape[-1])) for x in (q, v, np.zeros(model.nv) if tau is None else np.asarray(tau, float))
    ]
    forces = [external] * batch if np.ndim(external) != 3 else external
    return np.array([_constrained(model, *state) for state in zip(*rows, forces, strict=True)])


def _constrained(model: Model, q: np.ndarray, v: np.ndarray, tau: Any, external: Any) -> np.ndarray:
    k = kinematics(model, q, v)
    rows = constraint_set(model).at(k.poses, k.twists, q, v)
    equalities = rows.restricted(~rows.unilateral)
    return accelerations(factor_reduced(model, q, v, tau, external), equalities).motion.joints
