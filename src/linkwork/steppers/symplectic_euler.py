"""Symplectic Euler: v' = v + h a(q, v), q' = q + h v' on the manifold. Order 1.

In maximal coordinates, and where the mass matrix does not depend on q, the step is symplectic and the energy error stays bounded
without damping; in reduced coordinates of a chain the energy drifts at first order.

A step of the bare tree is a program: the sweeps of forward dynamics and an update, run N times inside compiled code. In maximal
coordinates bodies move and joints are held as `stabilised` says. With constraints, v' is corrected on the response at velocity
level before q moves; `stabilise` says what holds their positions:

    "baumgarte"   a fifth of the error is removed by every step, as part of the velocity [Baumgarte 1972]
    "project"     the state is put back after every step, as in `post_stabilised`
    "none"        nothing; they drift
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..constraints.solve import CORRECTION, velocities
from ..kernel.sweep import SCALAR, Algorithm, Field, each, outward
from ..maximal.convert import fitted
from ..model import MaximalState, Model, State
from ..model.rules import joint_of
from ..reduced.forward import FORWARD_DYNAMICS
from ..reduced.response import factor_reduced
from .constrained import located
from .post_stabilised import CHOICES, check_choice, post_stabilised
from .stabilised import STABILISED_DYNAMICS, factor_stabilised, moved, moved_bodies
from .stepper import Program, StepInfo, Stepper
from .tangent import recharted


def update_joints(n: Any) -> None:
    """New velocities, then new positions with them."""
    joint = joint_of(n)
    v = n.v + n.h * n.a
    n.q, n.v = joint.rechart(joint.integrate(n.q, n.h * v), v)


def update_bodies(n: Any) -> None:
    """New twists, then new poses with them."""
    n.poses, n.twists = moved(n)


def refit(n: Any, parent: Any) -> None:
    """The joint coordinate that fits the moved bodies."""
    joint = joint_of(n)
    q = fitted(n, (parent.poses.inverse() @ n.poses).collapsed())
    n.q_fit, _ = joint.rechart(q, np.zeros(joint.nv))


def _as_program(name: str, dynamics: Algorithm, states: tuple[str, ...], private: tuple[str, ...], sweeps: list[Any]) -> Program:
    fields = {k: f for k, f in dynamics.fields.items() if k not in private}
    for k in states:
        fields[k] = Field("state", fields[k].space, fields[k].codec, fields[k].world)
    fields["h"] = Field("input", "global", SCALAR)
    return Program(Algorithm(name, fields, {"run": [*dynamics.phases["run"], *sweeps]}), states)


@dataclass(frozen=True)
class SymplecticEuler(Stepper):
    """See the module's text."""

    stabilise: str = "baumgarte"

    name = "symplectic_euler"
    order = 1
    contacts = True
    programs = {
        "reduced": _as_program("reduced_symplectic_euler", FORWARD_DYNAMICS, ("q", "v"), ("a",), [each(update_joints)]),
        "maximal": _as_program(
            "maximal_symplectic_euler",
            STABILISED_DYNAMICS,
            ("poses", "twists", "q_fit"),
            ("a", "lam", "twists_dot", "wrenches"),
            [each(update_bodies), outward(refit)],
        ),
    }

    def __post_init__(self) -> None:
        check_choice(self.name, self.stabilise, CHOICES)

    def constrained_step(
        self, model: Model, state: State | MaximalState, h: float, tau: Any, external: Any
    ) -> tuple[State | MaximalState, StepInfo]:
        after, info = self._step(model, state, h, tau, external)
        return (post_stabilised(model, after) if self.stabilise == "project" else after), info

    def _step(
        self, model: Model, state: State | MaximalState, h: float, tau: Any, external: Any
    ) -> tuple[State | MaximalState, StepInfo]:
        correction = CORRECTION if self.stabilise == "baumgarte" else 0.0
        here = located(model, state)
        rows = here.rows(state.t + h)
        tau, external = here.acting(tau, external)
        if isinstance(state, State):
            found = velocities(factor_reduced(model, state.q, state.v, tau, external, dt=h), rows, h, correction)
            v = found.motion.joints
            q, v = recharted(model, model.integrate(state.q, h * v), v)
            return State(q, v, state.t + h), StepInfo(found.multipliers / h)
        found = velocities(factor_stabilised(model, state, tau, external, h), rows, h, correction)
        poses, twists = moved_bodies(model, state, (found.motion.bodies - state.twists) / h, h)
        return MaximalState(poses, twists, here.joints.q, state.t + h), StepInfo(found.multipliers / h)
