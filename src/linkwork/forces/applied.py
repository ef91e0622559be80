"""All forces of a model at a state, added to those that a caller gives."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from ..model.model import Model
from .set import force_set


class Bodies(Protocol):
    """Where the bodies are and how they move: `Kinematics`, or a `MaximalState`."""

    @property
    def poses(self) -> np.ndarray: ...

    @property
    def twists(self) -> np.ndarray: ...


def has_forces(model: Model) -> bool:
    """Whether any force of the model acts."""
    return bool(model.elements) and bool(len(force_set(model)))


def applied(
    model: Model, bodies: Bodies, q: Any, v: Any, tau: Any = None, external: Any = None, t: float = 0.0, u: Any = None
) -> tuple[np.ndarray, np.ndarray]:
    """Joint forces (..., nv) and body wrenches (..., bodies, 6): what is given and what the model's forces add.

    t, u   time, and the inputs of forces that have any
    """
    forces = force_set(model)
    wrenches, joints = forces.wrenches(bodies.poses, bodies.twists, t, u), forces.joint_forces(q, v, t, u)
    return (joints if tau is None else joints + tau), (wrenches if external is None else wrenches + external)
