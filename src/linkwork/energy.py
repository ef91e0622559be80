"""Energy of all bodies, drives and forces: kinetic and potential, for states of either kind."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .errors import InputError
from .forces.applied import has_forces
from .forces.set import force_set
from .kernel.loops import Lane, loops
from .kernel.sweep import MATRIX, POSE, SCALAR, Algorithm, Field, Routine, each, outward, vector
from .maximal.convert import to_reduced
from .model import MaximalState, Model, State
from .model.accepts import takes_model
from .model.kinematics import kinematics
from .model.rules import inertia_of, motion_of, world_pose
from .spatial.gate import check_unused
from .spatial.scalar import dot, read_only


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


def moving_energy(n: Any, parent: Any) -> None:
    """The same of bodies and drives where joints are, root to leaves."""
    E = motion_of(n)
    n.pose = (parent.pose @ E.with_tangent(None)).collapsed()
    n.twist = E.pull_twist(parent.twist) + E.tangent.phi
    drives = 0.5 * dot(n.armature, n.v * n.v) if len(n.v) else 0.0
    n.kinetic_of = 0.5 * dot(n.twist, inertia_of(n) @ n.twist) + drives
    n.potential_of = -dot(n.gravity, n.pose.rotate(n.first_moment) + n.mass * n.pose.p)


@loops
def total_energy(bodies: int, kinetic_of: Lane, potential_of: Lane, kinetic: Lane, potential: Lane) -> None:
    """Sums over all bodies."""
    kinetic[0] = 0.0
    potential[0] = 0.0
    for i in range(bodies):
        kinetic[0] += kinetic_of[i]
        potential[0] += potential_of[i]


TREE_ENERGY = Algorithm(
    "tree_energy",
    {
        "q": Field("input", "q"),
        "v": Field("input", "v"),
        "gravity": Field("input", "global", vector(3)),
        "pose": Field("shared", codec=POSE, world=world_pose),
        "twist": Field("shared", codec=vector(6)),
        "kinetic_of": Field("work", "node", SCALAR),
        "potential_of": Field("work", "node", SCALAR),
        "kinetic": Field("output", "global", SCALAR),
        "potential": Field("output", "global", SCALAR),
    },
    {
        "run": [
            outward(moving_energy),
            Routine(total_energy, ("bodies", "kinetic_of", "potential_of", "kinetic", "potential")),
        ]
    },
)


@dataclass(frozen=True, eq=False)
class Energy:
    """Kinetic and potential energy, (...,) like the states.

    >>> e = lw.energy(model, state)
    >>> bool(e.total == e.kinetic + e.potential)
    True
    """

    kinetic: np.ndarray
    potential: np.ndarray

    def __post_init__(self) -> None:
        for a in (self.kinetic, self.potential):
            if isinstance(a, np.ndarray):
                read_only(a)

    @property
    def total(self) -> np.ndarray:
        return self.kinetic + self.potential


@takes_model
def energy(model: Model, state: State | MaximalState, inputs: Any = None) -> Energy:
    """The energy of a state, or of every state of a batch; potential energy of weight is zero at the world's origin.

    Potential energy includes what the model's forces store, under their `inputs` if these are given.

    Drives have the kinetic energy armature v^2 / 2; in maximal coordinates, v is the velocity that fits best.

    >>> float(lw.energy(model, lw.State([0.0, 0.0], [0.0, 0.0])).potential)
    0.0
    """
    if inputs is not None:
        check_unused(None, inputs)
    if isinstance(state, State):
        if not has_forces(model):
            kinetic, potential = model.quick(TREE_ENERGY, ("q", "v"), ("kinetic", "potential"))(state.q, state.v)
            return Energy(kinetic[..., 0], potential[..., 0])
        k = kinematics(model, state.q, state.v)
        return Records(model, k.poses, k.twists, lambda: state, state.t, inputs).energy()
    if not isinstance(state, MaximalState):
        raise InputError(f"state must be a State or a MaximalState, not a {type(state).__name__}")
    return Records(model, state.poses, state.twists, lambda: to_reduced(model, state), state.t, inputs).energy()


@dataclass(frozen=True, eq=False)
class Records:
    """States of a model, with all that their energies depend on.

    poses, twists   of the bodies (..., bodies, 4, 4), (..., bodies, 6)
    joints          makes q and v (..., nq), (..., nv)
    t               time, one or (...,)
    inputs          of the forces, one for all or (..., inputs); their initial ones if None
    """

    model: Model
    poses: np.ndarray
    twists: np.ndarray
    joints: Callable[[], State]
    t: Any = 0.0
    inputs: Any = None

    def at(self, states: slice, clock: slice) -> Records:
        """Some of the states, at the times and under the inputs of others."""
        s = self.joints()
        u = None if self.inputs is None else self.inputs[clock]
        part = State(s.q[states], s.v[states])
        return Records(self.model, self.poses[states], self.twists[states], lambda: part, self.t[clock], u)

    def energy(self) -> Energy:
        """See `energy`."""
        model = self.model
        out = model.call(ENERGY, {"poses": self.poses, "twists": self.twists, "gravity": model.gravity})
        kinetic, potential = (out[name][..., 0].sum(axis=-1) for name in ("kinetic", "potential"))
        if model.armature.any():
            kinetic = kinetic + 0.5 * self.joints().v ** 2 @ model.armature
        return Energy(kinetic, potential + self.stored())

    def stored(self) -> Any:
        """The energy in all forces of the model (...,)."""
        if not has_forces(self.model):
            return 0.0
        forces, s = force_set(self.model), self.joints()
        between = forces.energies(self.poses, self.twists, self.t, self.inputs).sum(axis=-1)
        return between + forces.joint_energies(s.q, s.v, self.t, self.inputs).sum(axis=-1)

    def power(self) -> Any:
        """What damping of the joints and the model's forces bring or take, besides what they store (...,)."""
        if not has_forces(self.model) and not self.model.damping.any():
            return 0.0
        s = self.joints()
        power = -(s.v**2) @ self.model.damping
        if not has_forces(self.model):
            return power
        forces = force_set(self.model)
        between = forces.powers(self.poses, self.twists, self.t, self.inputs).sum(axis=-1)
        return power + between + forces.joint_powers(s.q, s.v, self.t, self.inputs).sum(axis=-1)
