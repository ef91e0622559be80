"""The classical Runge-Kutta method of order 4, on the manifold (Runge-Kutta-Munthe-Kaas).

Stages live in the tangent space at the start of the step: q_i = integrate(q, u_i), u_dot as in `tangent` with two brackets, which
is all that order 4 needs [Munthe-Kaas 1999]; the weights are Kutta's [Hairer, Norsett & Wanner, Solving ODEs I, Table II.1.2].

A step of the bare tree is a program: four evaluations of forward dynamics with a small rule after each, run N times inside
compiled code. Joint forces and wrenches are held during a step, so a controller that looks at the state sees order 1. With
equality constraints (loops, couplings), accelerations are those of `forward_dynamics`, stage by stage from Python; nothing
pulls positions back, so constraints drift like the error of the method; with stabilise="project" the state is put back after
every step, as in `post_stabilised`. Contacts are refused.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..kernel.sweep import SCALAR, Algorithm, Field, Step, each
from ..model import MaximalState, Model, State
from ..model.rules import joint_of
from ..reduced.forward import FORWARD_DYNAMICS
from .constrained import accelerated
from .post_stabilised import check_choice, post_stabilised
from .stages import stage
from .stepper import Program, StepInfo, Stepper
from .tangent import recharted, tangent_rate, tangent_rates

NODES = (0.0, 0.5, 0.5, 1.0)  # c_i, and a_{i, i-1}: each stage depends on the one before
WEIGHTS = (1 / 6, 1 / 3, 1 / 3, 1 / 6)
BRACKETS = 2


def after_stage(k: int) -> Callable[[Any], None]:
    """Add the slope of stage k, then place the next stage; after the last one, move the state."""

    def rule(n: Any) -> None:
        joint, first = joint_of(n), k == 0
        slope = n.v if first else tangent_rate(joint, n.u, n.stage_v, BRACKETS)
        n.move = WEIGHTS[k] * slope + (0.0 if first else n.move)
        n.gain = WEIGHTS[k] * n.a + (0.0 if first else n.gain)
        if k + 1 < len(NODES):
            h = NODES[k + 1] * n.h
            n.u, n.stage_v = h * slope, n.v + h * n.a
            n.stage_q = joint.integrate(n.q, n.u)
        else:
            n.q, n.v = joint.rechart(joint.integrate(n.q, n.h * n.move), n.v + n.h * n.gain)

    return rule


def _program() -> Program:
    dynamics = FORWARD_DYNAMICS
    fields = {name: f for name, f in dynamics.fields.items() if f.kind not in ("gathered", "output")}
    fields |= {"q": Field("state", "q"), "v": Field("state", "v"), "h": Field("input", "global", SCALAR)}
    sweeps: list[Step] = []
    for k in range(len(NODES)):
        evaluation, sums = stage(dynamics, k, {"q": "stage_q", "v": "stage_v"} if k else {})
        sweeps += [*evaluation, each(after_stage(k))]
        fields |= sums
    return Program(Algorithm("reduced_rk4", fields, {"run": sweeps}), ("q", "v"))


@dataclass(frozen=True)
class RungeKutta4(Stepper):
    """See the module's text."""

    stabilise: str = "none"

    name = "rk4"
    order = 4
    programs = {"reduced": _program()}

    def __post_init__(self) -> None:
        check_choice(self.name, self.stabilise, ("none", "project"))

    def constrained_step(
        self, model: Model, state: State | MaximalState, h: float, tau: Any, external: Any
    ) -> tuple[State | MaximalState, StepInfo]:
        assert isinstance(state, State)
        q, v, u = state.q, state.v, np.zeros(model.nv)
        slope = gain = np.zeros(model.nv)
        move, dv, forces = np.zeros(model.nv), np.zeros(model.nv), 0.0
        for c, weight in zip(NODES, WEIGHTS, strict=True):
            u, v = c * h * slope, state.v + c * h * gain
            q = model.integrate(state.q, u)
            found = accelerated(model, State(q, v, state.t + c * h), tau, external)
            slope, gain = tangent_rates(model, u, v), found.motion.joints
            move, dv, forces = move + weight * slope, dv + weight * gain, forces + weight * found.multipliers
        q, v = recharted(model, model.integrate(state.q, h * move), state.v + h * dv)
        moved = State(q, v, state.t + h)
        return (post_stabilised(model, moved) if self.stabilise == "project" else moved), StepInfo(np.asarray(forces))
