"""Explicit steps of hyper-reduced coordinates q = f(r), as programs: symplectic Euler, and Runge-Kutta methods of any tableau.

r and r_dot move like any coordinates that add; accelerations are those of `redmax.hyper_program`. What is recorded are states of
the model, where the map leads. A run begins at the r and r_dot that its first state remembers.

Rows act as in `symplectic_euler` and `runge_kutta`: on r_dot after a step, or on accelerations of the stages, with velocities
made admissible after the step (`settle`).
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..constraints.targets import CORRECTION
from ..elements.collection import CONES, Shape
from ..kernel.sweep import SCALAR, Algorithm, Field, Repeat, Routine, Step, each, outward, vector
from ..model import Model
from ..redmax.hyper_program import (
    ACCELERATIONS,
    LEAD,
    VELOCITIES,
    Level,
    drifting_joints,
    drifting_velocities,
    dynamics,
    factored,
    free_accelerations,
    hyper_fields,
    products,
)
from ..redmax.hyper_rows import climbed, hold_velocities, solved, step_fields, stepped
from ..reduced.forward import velocities
from ..reduced.program import place
from ..rows.asked import keep_unknowns, watch_accelerations, watch_velocities
from ..rows.solved import IMPULSES, SCRATCH, SOFT_SOLVE, warm_started
from ..solvers.boxes import solve_boxes
from ..spatial.scalar import zeros
from .mapped import MappedStepper, begin_here, kept_of
from .runge_kutta import (
    ROW_SUMS,
    SUMS,
    begin_rows,
    begin_step,
    end_step,
    hold_in_step,
    keep_slopes,
    sum_rows,
    sum_slopes,
    tell_stage,
)
from .settle import add_impulses, begin_near, hold, keep_joints, keep_motion, look, settle_fields, wake
from .stages import renamed
from .symplectic_euler import advance_time, check_evaluations
from .tableau import KUTTA, Tableau

DRIFTING = (drifting_velocities, drifting_joints)
STEP = Level(VELOCITIES, DRIFTING, (watch_velocities, hold_velocities), plain=SOFT_SOLVE)
STAGE = Level(ACCELERATIONS, (free_accelerations, None), (watch_accelerations, hold_in_step))
SETTLED = ("active", "on", "b", "lower", "upper", "more", "A", "more_left", "LDL", *SCRATCH)
AT_STAGE = {"t": "stage_t", "x": "more", "left": "more_left", "told": "stage_told"}


# --- symplectic Euler --------------------------------------------------------------------------------------------------------
@functools.cache
def euler_step(shape: Shape, evaluations: int) -> Algorithm:
    """A step of symplectic Euler of models with such laws."""
    steps: list[Step] = [
        each(begin_here, on="map"),
        *LEAD,
        *dynamics(shape, STEP, evaluations),
        *stepped(shape),
        Routine(advance_time, ("t", "h")),
        *([each(keep_unknowns, on="constraint")] if shape[1] >= 0 else []),
        *LEAD,
    ]
    found = hyper_fields(shape) | step_fields(shape) | {"correction": Field("input", "global", SCALAR)}
    if shape[3] == CONES:
        found |= IMPULSES
        steps = warm_started(steps)
    kind = (evaluations, *map(int, shape))
    return Algorithm(f"hyper_symplectic_euler_{'_'.join(map(str, kind))}", found, {"run": steps})


# --- Runge-Kutta -------------------------------------------------------------------------------------------------------------
def place_stage(n: Any) -> None:
    """A stage."""
    n.stage_r, n.stage_r_dot = n.r + n.shift, n.r_dot + n.gained


def end_here(n: Any) -> None:
    """The state after the step."""
    n.r = n.stage_r = n.r + n.shift
    n.r_dot = n.stage_r_dot = n.r_dot + n.gained


def begin_settled(n: Any) -> None:
    """Nothing is changed yet."""
    n.gain = zeros(len(n.r))


def settle_here(n: Any) -> None:
    """The velocities that rows allow."""
    n.r_dot = n.stage_r_dot = n.r_dot + n.gain


def settled(shape: Shape) -> list[Step]:
    """The sweeps of `settle`, with the mass of r."""
    _, most, on_bodies, pushes = shape
    if not pushes:
        return []
    ports = [f"p{i}" for i in range(most)]
    return [
        Routine(begin_near, ("near",)),
        outward(velocities),
        *([outward(place)] if on_bodies else []),
        each(keep_motion if on_bodies else keep_joints),
        each(begin_settled, on="map"),
        each(look, *ports, on="constraint"),
        each(wake, on="constraint"),
        *factored(products()),
        *climbed(most, hold),
        *solved([Routine(solve_boxes, SETTLED, when="near")], "more", "more_left", "near"),
        each(settle_here, on="map"),
        Routine(add_impulses, ("rows", "more", "x", "more_left", "left"), when="near"),
        *LEAD,
    ]


@functools.cache
def tableau_step(shape: Shape, stages: int) -> Algorithm:
    """A step by a tableau with so many stages of models with such laws."""
    rows = shape[1] >= 0
    stage: list[Step] = [
        renamed(Routine(sum_slopes, SUMS), SLOPES),
        *([Routine(tell_stage, ("stage", "told_count", "told", "stage_told"))] if rows else []),
        each(place_stage, on="map"),
        *LEAD,
        *(renamed(step, AT_STAGE) for step in dynamics(shape, STAGE)),
        *([each(keep_unknowns, on="constraint"), Routine(sum_rows, ROW_SUMS)] if rows else []),
        Routine(keep_slopes, ("stage", "nr", "stage_r_dot", "gain", "moves", "gains")),
    ]
    steps: list[Step] = [
        Routine(begin_step, ("stage",)),
        *([Routine(begin_rows, ("rows", "x", "left"))] if rows else []),
        Repeat(tuple(stage), stages),
        renamed(Routine(sum_slopes, SUMS), SLOPES),
        each(end_here, on="map"),
        Routine(end_step, ("t", "stage_t")),
        *LEAD,
        *(renamed(step, {"told": "stage_told"}) for step in settled(shape)),
    ]
    found = hyper_fields(shape) | {
        "stage_t": Field("work", "global", SCALAR),
        "stage": Field("work", "global", SCALAR),
        "tableau": Field("input", "global", vector(stages * (stages + 1))),
        "nodes": Field("input", "global", vector(stages + 1)),
        "moves": Field("work", "slopes", SCALAR),
        "gains": Field("work", "slopes", SCALAR),
        **{name: Field("work", "r", of="map") for name in ("shift", "gained")},
    }
    if rows:
        found |= settle_fields() | {
            "told": Field("input", "tellings", SCALAR),
            "stage_told": Field("work", "told", of="constraint"),
            "more": Field("work", "rows", of="constraint"),
            "more_left": Field("work", "global", SCALAR),
        }
    name = f"hyper_runge_kutta_{stages}_{'_'.join(map(str, map(int, shape)))}"
    return Algorithm(name, found, {"run": steps})


SLOPES = {"width": "nr", "gain": "gained"}


# --- steppers -----------------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class HyperEuler(MappedStepper):
    """r_dot' = r_dot + h r_ddot, r' = r + h r_dot'; constraints act on r_dot'.

    evaluations   of the velocity terms at the middle of a step, as in `SymplecticEuler`
    """

    evaluations: int = 2

    name = "symplectic_euler"
    order = 1
    contacts = True
    bounces = True
    warm = True

    def __post_init__(self) -> None:
        check_evaluations(self.name, self.evaluations)

    @property
    def friction(self) -> bool:
        return True

    def kept(self, shape: Shape) -> tuple[str, ...]:
        return kept_of(shape)

    def algorithm(self, shape: Shape) -> Algorithm:
        return euler_step(shape, self.evaluations)

    def numbers(self, model: Model) -> dict[str, np.ndarray]:
        return {"correction": np.array([CORRECTION])}


@dataclass(frozen=True)
class HyperRungeKutta4(MappedStepper):
    """The classical method for (r, r_dot), with constraints on accelerations."""

    name = "rk4"
    order = 4
    contacts = True
    on_accelerations = True
    tableau: ClassVar[Tableau] = KUTTA
    nodes = tuple(KUTTA.nodes[:-1])

    def algorithm(self, shape: Shape) -> Algorithm:
        return tableau_step(shape, self.tableau.stages)

    def numbers(self, model: Model) -> dict[str, np.ndarray]:
        return {"tableau": self.tableau.matrix.reshape(-1), "nodes": self.tableau.nodes}
