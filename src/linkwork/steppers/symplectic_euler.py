"""Symplectic Euler: v' = v + h a(q, v_m), q' = q + h v' on the manifold. Order 1.

Velocity terms (Coriolis, gyroscopic) are taken at the middle of the step, v_m = v + h/2 a, where the last acceleration
predicts a first one and `evaluations` says how often it is evaluated on the same factor: an error of the energy is then h/4 times
a difference of states, which telescopes. Taken at v instead, spinning bodies would gain energy without bound. Forces, dampers and
rows are evaluated at the start of the step.

That difference is one of coordinates, and jumps where a chart is changed; of rotation vectors always to the same side. So joints
that change theirs are stepped in velocities A v that do not depend on charts, angular velocities: a is v_dot + A^-1 A_dot v, and
`Joint.advance` says where they lead and what v and a are there.

A step of any model is a program: dynamics with every force and row (`reduced.program`), and an update, run N times inside
compiled code. Rows correct v' at velocity level before q moves; `stabilise` says what holds their positions:

    "baumgarte"   a fifth of the error is removed by every step, as part of the velocity [Baumgarte 1972]
    "project"     the state is put back after every step, as in `post_stabilised`
    "none"        nothing; they drift
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..constraints.targets import CORRECTION
from ..elements.collection import CONES, CROWD, Shape, collection
from ..errors import InputError
from ..kernel.loops import Lane, loops
from ..kernel.sweep import SCALAR, Algorithm, Field, Routine, each
from ..maximal.program import carry_in_step, step, step_fields
from ..model import Model
from ..model.rules import stepped_joint_of
from ..reduced.carrying import carry, carry_loaded
from ..reduced.program import dynamics, fields
from ..rows.asked import hold_impacts, keep_unknowns
from ..rows.crowds import ACTING, MULTIPLIERS
from ..rows.passed_rows import KEEP_LATE, LATE
from ..rows.poisson import NEWTON, check_restitution, has_impacts, impact_fields
from ..rows.pressing import pressing_fields
from ..rows.push_out import push_out, push_out_fields
from ..rows.solved import IMPULSES, NOTE_IMPACTS, VELOCITY, warm_started
from ..spatial.scalar import Vector, zeros
from ..spatial.scalar import where as chosen
from .post_stabilised import CHOICES, check_choice, put_back, put_back_fields
from .stepper import Program, Stepper

PARTS = {"reduced": ("q", "v"), "maximal": ("poses", "twists", "q_fit")}


@loops
def advance_time(t: Lane, h: Lane) -> None:
    """The time after a step."""
    t[0] += h[0]


def update_joints(n: Any) -> None:
    """New positions with the new velocities, and the acceleration that predicts the next middle, as it is seen there."""
    _advance(n, n.h * n.free_v, (n.free_v - n.v) / n.h)


def _advance(n: Any, way: Vector, last: Vector) -> Vector:
    """The same along a way and with an acceleration; the one that forces make is returned, as it is seen there."""
    q, v, n.last, a = stepped_joint_of(n).advance(n.q, way, n.free_v, last, n.a)
    n.q, n.v = q, v
    return a


def update_held(n: Any) -> None:
    """The same where there are rows: what they had to do with it."""
    a = _advance(n, n.h * n.free_v, (n.free_v - n.v) / n.h)
    n.pull = n.last - a


def update_after_pushes(n: Any) -> None:
    """The same where rows may push, and push out: an impact is no acceleration."""
    last = (n.free_v - n.v) / n.h
    last = np.array([chosen(n.struck > 0.0, a, x) for x, a in zip(last, n.a, strict=True)], dtype=object)
    a = _advance(n, n.h * n.free_v + n.shift, last)
    n.shift = zeros(len(n.free_v))
    n.pull = n.last - a


def update_rule(shape: Shape) -> Callable[[Any], None]:
    """What ends a step of models with such laws."""
    return update_after_pushes if shape[3] else update_held if shape[1] >= 0 else update_joints


@functools.cache
def reduced_step(shape: Shape, evaluations: int, rubs_inside: bool = False, impacts: bool = False) -> Algorithm:
    """A step of models with such laws, some of which may be friction inside joints; `impacts` says if they are Poisson's."""
    pushes = shape[3]
    found = fields(shape) | {
        "q": Field("state", "q"),
        "v": Field("state", "v"),
        "last": Field("state", "v"),
        "t": Field("state", "global", SCALAR),
        "h": Field("input", "global", SCALAR),
        "correction": Field("input", "global", SCALAR),
        "struck": Field("work", "global", SCALAR),
    }
    carried = None
    if rubs_inside:
        found |= pressing_fields()
        carried = carry_loaded if shape[0] >= 0 else carry
    found |= impact_fields(shape[3]) if impacts else {}
    hold = hold_impacts if impacts else None
    steps = dynamics(shape, VELOCITY, evaluations, hold, carried=carried, displaced=push_out(shape))
    if pushes == CONES:
        found |= IMPULSES
        steps = warm_started(steps)
    if pushes:
        found |= push_out_fields(shape)
        found |= LATE
        steps.append(NOTE_IMPACTS)
    steps += [each(update_rule(shape)), Routine(advance_time, ("t", "h")), *([KEEP_LATE] if pushes else [])]
    if shape[1] >= 0:
        found["pull"] = Field("state", "v")
        found["unknown"] = Field("state", "unknown", of="constraint")
        steps.append(each(keep_unknowns, on="constraint"))
    name = f"reduced_symplectic_euler_{evaluations}_{'_'.join(map(str, map(int, shape)))}{'_rubbing' * rubs_inside}"
    return Algorithm(name + "_poisson" * impacts, found, {"run": steps}, alone=shape[3] == CROWD)


@functools.cache
def maximal_step(shape: Shape, evaluations: int, rubs_inside: bool = False, impacts: bool = False) -> Algorithm:
    """The same in maximal coordinates."""
    steps = step(shape, evaluations, carry_in_step if rubs_inside else None, hold_impacts if impacts else None)
    found = step_fields(shape) | (impact_fields(shape[3]) if impacts else {})
    found |= pressing_fields() if rubs_inside else {}
    if shape[3] == CONES:
        found |= IMPULSES
        steps = warm_started(steps)
    if shape[3]:
        found |= LATE
        steps.append(KEEP_LATE)
    steps.append(Routine(advance_time, ("t", "h")))
    if shape[1] >= 0:
        found["unknown"] = Field("state", "unknown", of="constraint")
        steps.append(each(keep_unknowns, on="constraint"))
    name = f"maximal_symplectic_euler_{evaluations}_{'_'.join(map(str, map(int, shape)))}{'_rubbing' * rubs_inside}"
    return Algorithm(name + "_poisson" * impacts, found, {"run": steps}, alone=shape[3] == CROWD)


@functools.cache
def projected_step(shape: Shape, method: str, evaluations: int, rubs_inside: bool, impacts: bool) -> Algorithm:
    """The same in either, put back afterwards."""
    plain = (reduced_step if method == "reduced" else maximal_step)(shape, evaluations, rubs_inside, impacts)
    steps, found = [*plain.phases["run"], *put_back(shape, method)], put_back_fields(shape, method) | plain.fields
    return Algorithm(plain.name.replace("_euler", "_euler_projected"), found, {"run": steps})


def check_evaluations(stepper: str, evaluations: object) -> None:
    """Of velocity terms at the middle of a step."""
    if evaluations not in (0, 1, 2):
        raise InputError(f"{stepper}: evaluations must be 0, 1 or 2, not {evaluations!r}")


def enter(model: Model, given: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """What the program keeps besides the state: no acceleration yet, and the unknowns of constraints."""
    laws, batch, maximal = collection(model), len(given["t"]), "poses" in given
    q, size = (given["q_fit"], 6 * model.nb) if maximal else (given["q"], model.nv)
    kept = given | {"last": np.zeros((batch, size))}
    held = {} if not laws.rows else {"pull": np.zeros((batch, size))}
    return kept | held | ({"unknown": laws.first_unknowns(q)} if laws.rows else {})


@dataclass(frozen=True)
class SymplecticEuler(Stepper):
    """See the module's text.

    stabilise     what holds the positions of rows
    evaluations   of the velocity terms at the middle of a step: 1, or 2 for less drift of the energy and half again the time;
                  0 takes them at its start, as the textbook's step does
    restitution   "newton", of velocities, or "poisson", of impulses (`rows.poisson`)
    """

    stabilise: str = "baumgarte"
    evaluations: int = 2
    restitution: str = NEWTON

    name = "symplectic_euler"
    order = 1
    contacts = True
    bounces = True

    @property
    def friction(self) -> bool:
        return True

    @property
    def crowds(self) -> bool:
        return self.stabilise != "project" and self.restitution == NEWTON

    @property
    def methods(self) -> tuple[str, ...]:
        return tuple(PARTS)

    def __post_init__(self) -> None:
        check_choice(self.name, self.stabilise, CHOICES)
        check_evaluations(self.name, self.evaluations)
        check_restitution(self.name, self.restitution)

    def program(self, method: str, model: Model) -> Program:
        laws, parts = collection(model), PARTS[method]
        kinds, impacts = laws.shape[3], has_impacts(laws, self.restitution)
        if self.stabilise == "project" and (laws.rows or method == "maximal"):
            algorithm = projected_step(laws.shape, method, self.evaluations, laws.rubs_inside, impacts)
        else:
            made = reduced_step if method == "reduced" else maximal_step
            shape = laws.shape if impacts else laws.step_shape
            algorithm, kinds = made(shape, self.evaluations, laws.rubs_inside, impacts), shape[3]
        multipliers = MULTIPLIERS if kinds == CROWD else ()

        def begin(model: Model, given: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
            none = {name: np.zeros((len(given["t"]), laws.tree.counts["remembered"])) for name in multipliers}
            warm = {"impulses": np.zeros((len(given["t"]), laws.row_count))} if kinds == CONES else {}
            late = {"row_late": np.zeros((len(given["t"]), len(laws.rows)))} if kinds else {}
            return enter(model, given) | warm | late | none

        def leave(model: Model, kept: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
            return {name: kept[name] for name in parts}

        def inputs(model: Model) -> dict[str, np.ndarray]:
            given = {"correction": np.array([CORRECTION if self.stabilise == "baumgarte" else 0.0])}
            given |= {"u": laws.initial_inputs} if laws.forces else {}
            return given | ({"told": np.zeros(laws.told_count)} if laws.rows else {})

        def reports(model: Model) -> dict[str, int]:
            if multipliers:
                return dict.fromkeys(ACTING, laws.tree.counts["remembered"]) | {"left": 1}
            return {"x": laws.row_count, "left": 1} if laws.rows else {}

        more = [*(["pull"] if laws.rows else []), *(["impulses"] if kinds == CONES else []), *(["row_late"] if kinds else [])]
        memory = ("last", *more, *multipliers)
        states = (*parts, *memory, "t", *(["unknown"] if laws.rows else []))
        return Program(algorithm, states, 1, begin, leave, inputs, lambda m: laws.plan, reports, parts, memory)
