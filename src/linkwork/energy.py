"""Energy of all bodies, drives and forces: kinetic and potential, for states of either kind."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .forces.applied import has_forces
from .forces.set import force_set
from .kernel.sweep import MATRIX, SCALAR, Algorithm, Field, each, vector
from .maximal.convert import to_reduced
from .model import MaximalState, Model, State
from .model.kinematics import kinematics
from .model.rules import inertia_of
from .spatial.scalar import dot


def body_energy(n: Any) -> None:
    """phi^T I phi / 2 and -m g . c."""
    n.kinetic = 0.5 * dot(n.twists, inertia_of(n) @ n.twists)
    n.potential = -dot(n.gravity, n.poses.rotate(n.first_moment) + n.mass * n.poses.p)


ENERGY = Algorithm(
    "energy",
    {
        "poses": Field("input", "node", MATRIX),
        "twists": Field("input", "node", vector(6)),
        "gravity": Field("input", "global", vector(3)),
        "kinetic": Field("output", "node", SCALAR),
        "potential": Field("output", "node", SCALAR),
    },
    {"run": [each(body_energy)]},
)


@dataclass(frozen=True, eq=False)
class Energy:
    """Kinetic and potential energy, (...,) like the states."""

    kinetic: np.ndarray
    potential: np.ndarray

    @property
    def total(self) -> np.ndarray:
        return self.kinetic + self.potential


def energy(model: Model, state: State | MaximalState) -> Energy:
    """The energy of a state, or of every state of a batch; potential energy of weight is zero at the world's origin.

    Potential energy includes what the model's forces store.

    Drives have the kinetic energy armature v^2 / 2; in maximal coordinates, v is the velocity that fits best.
    """
    if isinstance(state, State):
        k = kinematics(model, state.q, state.v)
        poses, twists = k.poses, k.twists
    else:
        poses, twists = state.poses, state.twists
    potential = 0.0
    if has_forces(model):
        forces, joints = force_set(model), state if isinstance(state, State) else to_reduced(model, state)
        potential = forces.energies(poses, twists, state.t).sum(axis=-1)
        potential = potential + forces.joint_energies(joints.q, joints.v, state.t).sum(axis=-1)
    out = model.call(ENERGY, {"poses": poses, "twists": twists, "gravity": model.gravity})
    kinetic = out["kinetic"][..., 0].sum(axis=-1)
    if model.armature.any():
        v = state.v if isinstance(state, State) else to_reduced(model, state).v
        kinetic = kinetic + 0.5 * v**2 @ model.armature
    return Energy(kinetic, potential + out["potential"][..., 0].sum(axis=-1))
