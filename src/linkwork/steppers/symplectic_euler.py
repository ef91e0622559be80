"""Symplectic Euler: v' = v + h a(q, v), q' = q + h v' on the manifold. Order 1; bounded energy error without damping.

A step of the bare tree is a program: the sweeps of forward dynamics and an update, run N times inside compiled code. With
constraints, v' is corrected on the response at velocity level before q moves.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..constraints.rows import constraint_set
from ..constraints.solve import velocities
from ..kernel.sweep import SCALAR, Algorithm, Field, each, outward
from ..maximal.convert import fitted, to_reduced
from ..maximal.dynamics import MAXIMAL_DYNAMICS
from ..maximal.response import factor_maximal
from ..model import MaximalState, Model, State
from ..model.kinematics import kinematics
from ..model.rules import joint_of
from ..reduced.forward import FORWARD_DYNAMICS
from ..reduced.response import factor_reduced
from ..spatial.se3 import SE3
from .stepper import Program, StepInfo, Stepper


def update_joints(n: Any) -> None:
    """New velocities, then new positions with them."""
    v = n.v + n.h * n.a
    n.v = v
    n.q = joint_of(n).integrate(n.q, n.h * v)


def update_bodies(n: Any) -> None:
    """New twists, then new poses with them."""
    twist = n.twists + n.h * n.twists_dot
    n.twists = twist
    n.poses = (n.poses @ SE3.exp(n.h * twist)).collapsed()


def refit(n: Any, parent: Any) -> None:
    """The joint coordinate that fits the moved bodies."""
    n.q_fit = fitted(n, (parent.poses.inverse() @ n.poses).collapsed())


def _as_program(name: str, dynamics: Algorithm, states: tuple[str, ...], private: tuple[str, ...], sweeps: list[Any]) -> Program:
    fields = {k: f for k, f in dynamics.fields.items() if k not in private}
    for k in states:
        fields[k] = Field("state", fields[k].space, fields[k].codec, fields[k].world)
    fields["h"] = Field("input", "global", SCALAR)
    return Program(Algorithm(name, fields, {"run": [*dynamics.phases["run"], *sweeps]}), states)


class SymplecticEuler(Stepper):
    """See the module's text."""

    name = "symplectic_euler"
    order = 1
    programs = {
        "reduced": _as_program("reduced_symplectic_euler", FORWARD_DYNAMICS, ("q", "v"), ("a",), [each(update_joints)]),
        "maximal": _as_program(
            "maximal_symplectic_euler",
            MAXIMAL_DYNAMICS,
            ("poses", "twists", "q_fit"),
            ("a", "lam", "twists_dot"),
            [each(update_bodies), outward(refit)],
        ),
    }

    def constrained_step(
        self, model: Model, state: State | MaximalState, h: float, tau: Any, external: Any
    ) -> tuple[State | MaximalState, StepInfo]:
        constraints = constraint_set(model)
        if isinstance(state, State):
            k = kinematics(model, state.q, state.v)
            response = factor_reduced(model, state.q, state.v, tau, external, dt=h)
            found = velocities(response, constraints.at(k.poses, k.twists, state.q, state.v), h)
            v = found.motion.joints
            return State(model.integrate(state.q, h * v), v, state.t + h), StepInfo(found.multipliers / h)
        joints = to_reduced(model, state)
        response = factor_maximal(model, state, tau, external, dt=h)
        found = velocities(response, constraints.at(state.poses, state.twists, joints.q, joints.v), h)
        poses = np.array([E @ SE3.exp(h * phi).matrix for E, phi in zip(state.poses, found.motion.bodies, strict=True)])
        moved = MaximalState(poses, found.motion.bodies, joints.q, state.t + h)
        return moved, StepInfo(found.multipliers / h)
