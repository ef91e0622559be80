"""Linearly implicit Euler: one solve per step, forces linearised about its start [Sueda, Eqs. 1.30, 2.79; errata 004-6, 22].

    (M + h D - h^2 K) v' = M v + h (f + D v),     q' = q + h v' on the manifold,

with everything at the old state and time functions of forces at the new time. Springs and dampers of any stiffness are stable;
energy decays at first order. Constraints act on v'.

A step is a program (`redmax.program`): linear in the number of bodies where every force acts on one joint, on one body, or
between a body and its parent; a dense system where some couple distant bodies. The options `route` and `stiffness`, and distant
forces in large systems, pose the system in Python.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..constraints.solve import CORRECTION
from ..elements.collection import Shape, collection
from ..errors import InputError
from ..kernel.loops import Lane, loops
from ..kernel.sweep import SCALAR, Algorithm, Field, Routine, Step, each
from ..model import MaximalState, Model, State
from ..model.rules import joint_of
from ..redmax.definite import definite
from ..redmax.hyper_dynamics import HyperDynamics
from ..redmax.operator import ROUTES
from ..redmax.program import PUBLISHED, TARGETS, Softness, dynamics, fields, pushes_out, stiff_laws
from ..redmax.system import Dynamics
from ..redmax.system import dynamics as dense_dynamics
from ..reduced.program import keep_unknowns
from ..spatial.scalar import zeros
from .stepper import Program, StepInfo, Stepper
from .symplectic_euler import advance_time
from .tangent import recharted

STIFFNESS = ("exact", "definite")
RULES = {"targets": TARGETS, "published": PUBLISHED}


def move(n: Any) -> None:
    """New positions with the new velocities."""
    joint = joint_of(n)
    n.q, n.v = joint.rechart(joint.integrate(n.q, n.h * n.free_v), n.free_v)


def move_pushed(n: Any) -> None:
    """The same where joints are pushed out, too."""
    joint = joint_of(n)
    n.q, n.v = joint.rechart(joint.integrate(n.q, n.h * n.free_v + n.shift), n.free_v)
    n.shift = zeros(len(n.free_v))


@loops
def look_ahead(t: Lane, h: Lane, force_t: Lane) -> None:
    """Forces are those of the end of the step."""
    force_t[0] = t[0] + h[0]


@functools.cache
def implicit_step(shape: Shape, softness: Softness, rules: str) -> Algorithm:
    """A step of models with such laws."""
    found = fields(shape, softness) | {
        "q": Field("state", "q"),
        "v": Field("state", "v"),
        "t": Field("state", "global", SCALAR),
    }
    steps: list[Step] = [Routine(look_ahead, ("t", "h", "force_t")), *dynamics(shape, softness, RULES[rules])]
    if rules == "targets" and shape[3]:
        steps += [*pushes_out(shape, softness), each(move_pushed)]
    else:
        steps.append(each(move))
    steps.append(Routine(advance_time, ("t", "h")))
    if shape[1] >= 0:
        found["unknown"] = Field("state", "unknown", of="constraint")
        steps.append(each(keep_unknowns, on="constraint"))
    name = "_".join(["linearly_implicit", rules, *(str(int(x)) for x in (*shape, *softness))])
    return Algorithm(name, found, {"run": steps})


@dataclass(frozen=True)
class LinearlyImplicit(Stepper):
    """See the module's text.

    baumgarte   None: what rows ask is as for every stepper (`constraints.targets`). A rate (1/s): as RedMax has it, everything
                at the new time, G v' = given - baumgarte g, or >= for those that push, if they are touched
    route       to the velocities: "auto", the program where it can be; "dense", "recursive", "pcg" (see `redmax.operator`)
    stiffness   "exact", or "definite": without what destabilises long steps (see `redmax.definite`), for stiff nets
    """

    baumgarte: float | None = None
    route: str = "auto"
    stiffness: str = "exact"

    name = "linearly_implicit"
    order = 1
    contacts = True

    @property
    def friction(self) -> bool:
        return self.baumgarte is None and (self.route, self.stiffness) == ("auto", "exact")

    @property
    def methods(self) -> tuple[str, ...]:
        return ("reduced", "redmax")

    def __post_init__(self) -> None:
        if self.baumgarte is not None and not (np.isfinite(self.baumgarte) and self.baumgarte >= 0):
            raise InputError(f"{self.name}: baumgarte must be a rate, not {self.baumgarte!r}")
        for what, chosen, known in (("route", self.route, ROUTES), ("stiffness", self.stiffness, STIFFNESS)):
            if chosen not in known:
                raise InputError(f"{self.name}: there is no {what} {chosen!r}; choose one of {', '.join(known)}")

    def compiles(self, model: Model, method: str) -> bool:
        return self.route == "auto" and self.stiffness == "exact" and stiff_laws(model).solvable

    def program(self, method: str, model: Model) -> Program:
        laws, stiff = collection(model), stiff_laws(model)
        rules = "targets" if self.baumgarte is None else "published"
        algorithm = implicit_step(laws.shape, stiff.softness, rules)
        correction = CORRECTION if self.baumgarte is None else self.baumgarte

        def enter(model: Model, given: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
            return given | ({"unknown": laws.first_unknowns(given["q"])} if laws.rows else {})

        def leave(model: Model, kept: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
            return {name: kept[name] for name in ("q", "v")}

        def inputs(model: Model) -> dict[str, np.ndarray]:
            given = {"u": laws.initial_inputs} if laws.forces else {}
            rows = {"told": np.zeros(laws.told_count), "correction": np.array([correction])}
            return given | (rows if laws.rows else {})

        def reports(model: Model) -> dict[str, int]:
            return {"x": laws.row_count, "left": 1} if laws.rows else {}

        states = ("q", "v", "t", *(["unknown"] if laws.rows else []))
        return Program(algorithm, states, 1, enter, leave, inputs, lambda m: stiff.plan, reports, ("q", "v"), times=(1.0,))

    def constrained_step(
        self, model: Model, state: State | MaximalState, h: float, tau: Any, external: Any
    ) -> tuple[State | MaximalState, StepInfo]:
        assert isinstance(state, State)
        q, v = recharted(model, state.q, state.v)
        now = dense_dynamics(model, State(q, v, state.t), tau, external, state.t + h)
        v, info = self.velocities(now, h)
        return State(model.integrate(q, h * v), v, state.t + h), info

    def velocities(self, now: Dynamics | HyperDynamics, h: float) -> tuple[np.ndarray, StepInfo]:
        """v' of the dense system, and the forces of the constraints."""
        now = definite(now) if self.stiffness == "definite" else now
        pull = CORRECTION / h if self.baumgarte is None else self.baumgarte
        touched = ~now.constraints.unilateral | (now.constraints.residual <= 0.0)
        active = now.constraints.restricted(touched)
        v, found = now.implicit_velocities(h, active, active.given - pull * active.residual, self.route)
        impulses = np.zeros(len(touched))
        impulses[touched] = found
        return v, StepInfo(impulses / h)
