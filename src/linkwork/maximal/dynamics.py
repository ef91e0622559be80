"""Forward dynamics in maximal coordinates, O(n): Lagrange multipliers by sparse block elimination [Baraff 1996].

`loaded` has that of models with forces and constraints.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import ModelError
from ..kernel.sweep import INERTIA, MATRIX, Algorithm, Field, inward, outward, vector
from ..model.accepts import takes_model
from ..model.model import Model
from ..model.rules import world_pose
from ..model.state import MaximalState
from ..spatial.gate import check_unused
from . import rules

STATE_FIELDS = {
    "poses": Field("input", "node", MATRIX, world=world_pose),
    "twists": Field("input", "node", vector(6)),
    "q_fit": Field("input", "q"),
}
SOLVE_FIELDS = {
    "tau": Field("input", "v"),
    "acc": Field("shared", codec=vector(6)),
    "D": Field("gathered", codec=INERTIA),
    "r": Field("gathered", codec=vector(6)),
    "twists_dot": Field("output", "node", vector(6)),
    "a": Field("output", "v"),
    "lam": Field("output", "rows"),
}
DYNAMICS = [
    outward(rules.geometry),
    outward(rules.loads),
    outward(rules.damped_joint_forces),
    inward(rules.factor),
    inward(rules.forward),
    outward(rules.back),
]
MAXIMAL_DYNAMICS = Algorithm(
    "maximal_dynamics",
    {
        **STATE_FIELDS,
        "external": Field("input", "node", vector(6)),
        "gravity": Field("input", "global", vector(3)),
        **SOLVE_FIELDS,
        "wrenches": Field("output", "node", vector(6)),
    },
    {"run": DYNAMICS},
)


POINT = 1e-14  # of a body's moments of inertia about its origin: a principal moment as small as this is none


@dataclass(frozen=True, eq=False)
class MaximalAcceleration:
    """Rates of the body twists (bodies, 6), joint accelerations (nv,) and the multipliers of all joint rows; batches first.

    wrenches      what every joint transmits to its body (bodies, 6): T lam, and the forces along the joint; see `joint_wrenches`
    multipliers   of the rows of the model's constraints, those between bodies first, in the order in which they were added
    """

    twists_dot: np.ndarray
    a: np.ndarray
    lam: np.ndarray
    wrenches: np.ndarray
    multipliers: np.ndarray


@takes_model
def maximal_dynamics(
    model: Model, state: MaximalState, tau: Any = None, external: Any = None, *, t: Any = None, inputs: Any = None
) -> MaximalAcceleration:
    """Accelerations in maximal coordinates under every force and equality constraint, with the multipliers of these and of the
    joints: a joint exerts T lam. Arguments as of `forward_dynamics`; the time is that of the state if not given.

    >>> found = lw.maximal_dynamics(model, lw.to_maximal(model, state))
    """
    if not model.elements:
        check_unused(t, inputs)
        return tree_maximal_dynamics(model, state, tau, external)
    from .loaded import loaded_maximal_dynamics

    check_inertias(model)
    return loaded_maximal_dynamics(model, state, tau, external, state.t if t is None else t, inputs)


@takes_model
def tree_maximal_dynamics(model: Model, state: MaximalState, tau: Any = None, external: Any = None) -> MaximalAcceleration:
    """Accelerations of the bare tree in maximal coordinates, with the joints' multipliers: the joint exerts T lam.

    >>> found = lw.tree_maximal_dynamics(model, lw.to_maximal(model, state))
    """
    check_inertias(model)
    inputs = {"poses": state.poses, "twists": state.twists, "q_fit": state.q_fit, "tau": tau, "external": external}
    out = model.call(MAXIMAL_DYNAMICS, {**inputs, "gravity": model.gravity})
    none = np.zeros((*out["a"].shape[:-1], 0))
    return MaximalAcceleration(out["twists_dot"], out["a"], out["lam"], out["wrenches"], none)


def check_inertias(model: Model) -> None:
    """Raise unless every body resists every motion of its own: before joints hold it, it is free. Looked at once per model."""
    if found := model.keep_as(check_inertias, lambda: _without_inertia(model)):
        raise ModelError(
            f"body {found[0]!r} has no {found[1]}, which maximal coordinates need of every body; "
            'give it an inertia with extent (a radius, a tensor), or use method "reduced"'
        )


def _without_inertia(model: Model) -> tuple[str, str] | None:
    """The first body whose inertia is singular, and what it lacks."""
    inertias = [b.inertia for b in model.bodies]
    mass, com = np.array([i.mass for i in inertias]), np.array([i.com for i in inertias]).reshape(-1, 3)
    moments = np.abs(np.linalg.eigvalsh(np.array([i.tensor for i in inertias]).reshape(-1, 3, 3)))
    about_origin = moments.max(axis=1, initial=0.0) + np.abs(mass) * np.sum(com * com, axis=1)
    turns = moments.min(axis=1, initial=np.inf) > POINT * about_origin
    lacking = np.flatnonzero((mass == 0.0) | ~turns)
    if not len(lacking):
        return None
    i = lacking[0]
    return model.bodies[i].name, "mass" if mass[i] == 0.0 else "moment of inertia about some axis"
