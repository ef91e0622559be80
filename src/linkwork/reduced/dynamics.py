"""Forward dynamics of the whole model: the tree with its equality constraints."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..constraints.rows import constraint_set
from ..constraints.solve import accelerations
from ..errors import InputError
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
    constraints = constraint_set(model)
    if not constraints.count or constraints.unilateral.all():
        return tree_dynamics(model, q, v, tau, external, threads)
    q, v = np.asarray(q, float), np.asarray(v, float)
    if q.ndim == 2 or v.ndim == 2:
        raise InputError("forward_dynamics of a model with constraints takes one state at a time")
    k = kinematics(model, q, v)
    rows = constraints.at(k.poses, k.twists)
    equalities = rows.restricted(~rows.unilateral)
    return accelerations(factor_reduced(model, q, v, tau, external), equalities).motion.joints
