"""Implicit steps of hyper-reduced coordinates q = f(r), as programs: linearly implicit Euler, and stages of bdf1, bdf2, sdirk2.

With the move u of r in a step, s = 1 / (span h), and v_c, a_c from states before, a stage is

    r_dot = s u + v_c,     r_ddot = s^2 u + a_c,     v_dot = J r_ddot + J_dot r_dot,
    J^T (f - M v_dot + G^T lam) = 0,     g = 0     at r + u.

Newton's method solves J^T (M + P) J d = J^T (f - M v_dot + G^T lam) for d, with P as in `redmax.program` and 1/s for h, and for
lam such that G J d removes the residuals of constraints; u += d / s^2. What else changes with u, of order h or h^2 beside M, is
left out: a round reduces the error by a factor of that order (`newton_rounds`).
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..constraints.targets import CORRECTION
from ..elements.collection import Shape
from ..elements.derive import derive, load_slopes
from ..elements.nodes import law_at
from ..elements.ports import joined, velocities
from ..errors import SolverError
from ..kernel.loops import Ints, Lane, loops, maximum, where
from ..kernel.sweep import SCALAR, Algorithm, Field, Repeat, Routine, Step, each, vector
from ..model import Model
from ..redmax.hyper_program import (
    CHANGES,
    FOLLOW,
    LEAD,
    VELOCITIES,
    Level,
    dynamics,
    free_velocities,
    hyper_fields,
)
from ..redmax.hyper_rows import step_fields, step_on, stepped
from ..redmax.program import PUBLISHED, TARGETS, put_loads, symmetrised
from ..rows.asked import free_motion, keep_unknowns, pose_rows, refined, row_law_at
from ..spatial.scalar import array
from ..spatial.scalar import where as chosen
from .bdf import TWO_STEPS
from .hyper_explicit import DRIFTING
from .implicit_stage import EULER, STAGES, WIDTH, Stage, table_of
from .linearly_implicit import LinearlyImplicit, look_ahead
from .mapped import MappedStepper, begin_here, kept_of
from .newton_rounds import ROUNDS, either, largest, newton, newton_fields
from .runge_kutta import begin_rows
from .sdirk2 import SDIRK, C
from .stages import renamed
from .symplectic_euler import advance_time


# --- linearly implicit Euler -------------------------------------------------------------------------------------------------
def act_ahead(n: Any, *ports: Any) -> None:
    """The loads f + h K v of one force at the end of the step, and P."""
    law, at = law_at(n, ports)
    df_dx, df_dv = (symmetrised(A) for A in load_slopes(law, at, n.force_t, n.u))
    loads = joined(law.loads(at, n.force_t, n.u)) + n.h * (df_dx @ joined(velocities(at)))
    put_loads(n, ports, at, loads, -n.h * df_dv - (n.h * n.h) * df_dx)


LINEAR = {
    "targets": Level(VELOCITIES, DRIFTING, TARGETS, act_ahead, soft=True),
    "published": Level(VELOCITIES, (free_velocities, None), PUBLISHED, act_ahead, soft=True),
}


@functools.cache
def linear_step(shape: Shape, rules: str, evaluations: int) -> Algorithm:
    """A linearly implicit step of models with such laws."""
    published = rules == "published"
    steps: list[Step] = [
        Routine(look_ahead, ("t", "h", "force_t")),
        each(begin_here, on="map"),
        *LEAD,
        *dynamics(shape, LINEAR[rules], None if published else evaluations),
        *([each(step_on, on="map")] if published else stepped(shape)),
        Routine(advance_time, ("t", "h")),
        *([each(keep_unknowns, on="constraint")] if shape[1] >= 0 else []),
        *LEAD,
    ]
    found = hyper_fields(shape, soft=True)
    found |= {"force_t": Field("work", "global", SCALAR), "correction": Field("input", "global", SCALAR)}
    found |= {} if published else step_fields(shape)
    kind = (evaluations, *map(int, shape))
    return Algorithm(f"hyper_linearly_implicit_{rules}_{'_'.join(map(str, kind))}", found, {"run": steps})


@dataclass(frozen=True)
class HyperLinearlyImplicit(MappedStepper):
    """The linearly implicit step of `method`."""

    method: LinearlyImplicit

    name = "linearly_implicit"
    order = 1
    contacts = True
    bounces = True
    implicit = True
    nodes = (1.0,)

    @property
    def friction(self) -> bool:
        return self.method.friction

    def kept(self, shape: Shape) -> tuple[str, ...]:
        return kept_of(shape) if self.method.baumgarte is None else ()

    def algorithm(self, shape: Shape) -> Algorithm:
        return linear_step(shape, "targets" if self.method.baumgarte is None else "published", self.method.evaluations)

    def numbers(self, model: Model) -> dict[str, np.ndarray]:
        return {"correction": np.array([CORRECTION if self.method.baumgarte is None else self.method.baumgarte])}


# --- stages ------------------------------------------------------------------------------------------------------------------
@loops
def begin_step(stage: Ints, rounds: Lane) -> None:
    """The first stage is next."""
    stage[0] = 0
    rounds[0] = 0.0


@loops
def begin_stage(
    stage: Ints, table: Lane, fresh: Lane, h: Lane, t: Lane, numbers: Lane, s: Lane, span: Lane, stage_t: Lane, more: Lane
) -> None:
    """The numbers of this stage, in the first step or in a later one, and whether there is another."""
    k = stage[0] * WIDTH
    for i in range(WIDTH):
        numbers[i] = where(fresh[0] > 0.0, table[k + i], table[STAGES * WIDTH + k + i])
    span[0] = numbers[1] * h[0]
    s[0] = 1.0 / span[0]
    stage_t[0] = t[0] + numbers[2] * h[0]
    more[0] = 0.0
    if stage[0] + 1 < STAGES:
        more[0] = where(fresh[0] > 0.0, table[k + WIDTH], table[(STAGES + 1) * WIDTH + k])
    stage[0] = stage[0] + 1


@loops
def tell_stage(told_count: int, numbers: Lane, told: Lane, stage_told: Lane) -> None:
    """What constraints are told at the time of this stage: within the step, or at its end."""
    for i in range(told_count):
        stage_told[i] = where(numbers[2] < 1.0, told[i], told[told_count + i])


def prepare(n: Any) -> None:
    """v_c, a_c and the first u."""
    _, _, _, _, _, first, v_w, v_m, a_v, a_w, a_m, a_b = n.numbers
    m = (n.r - n.r_before) / n.h
    n.v_c = v_w * n.w_stage + v_m * m
    n.a_c = n.s * (a_v * n.r_dot + a_w * n.w_stage + a_m * m + a_b * n.r_dot_before)
    n.u_move = first * n.h * n.r_dot


def lead_moving(n: Any) -> None:
    """Where the map leads in this stage, with its accelerations."""
    n.stage_r, n.stage_r_dot = n.r + n.u_move, n.s * n.u_move + n.v_c
    m = n.map.moved(n.stage_r, n.stage_r_dot, n.s * n.s * n.u_move + n.a_c)
    n.map_q, n.map_v, n.map_lag, n.J_map = m.q, m.v, m.a, m.J.reshape(-1)


def act_in_stage(n: Any, *ports: Any) -> None:
    """The loads of one force, and P."""
    law, at = law_at(n, ports)
    df_dx, df_dv = (symmetrised(A) for A in load_slopes(law, at, n.t, n.u))
    put_loads(n, ports, at, joined(law.loads(at, n.t, n.u)), -n.h * df_dv - (n.h * n.h) * df_dx)


def watch(n: Any, *ports: Any) -> None:
    """All rows take part."""
    law, at = row_law_at(n, ports)
    n.foot = refined(law, at, n.t, n.unknown)
    n.on, n.awake = array([1.0] * law.size), 1.0


def hold(n: Any, *around: Any) -> None:
    """The rows of one constraint: its residual, or its rate, is to vanish."""
    ports, places = around[: len(around) // 2], around[len(around) // 2 :]
    law, at = row_law_at(n, ports)
    found = derive(law, at, n.t, n.foot)
    wanted = -found.rate / n.h
    if law.holonomic:
        gaps = -found.residual / (n.h * n.h)
        wanted = array([chosen(n.numbers[4] > 0.0, r, g) for r, g in zip(wanted, gaps, strict=True)])
    pose_rows(n, law, found.G, free_motion(n, ports, at), wanted, places, 1.0)


def update(n: Any) -> None:
    """The next u, and how far it is from the last."""
    change = n.gain / (n.s * n.s)
    n.u_move = either(n.go, n.u_move + change, n.u_move)
    n.change, n.size = largest(change, n.change), largest(n.stage_r, n.size)


def keep_foot(n: Any) -> None:
    """Where Newton's method for unknowns begins in the next round."""
    n.unknown = either(n.go, n.foot, n.unknown) if len(n.foot) else n.foot


@loops
def keep_forces(rows: int, go: Lane, force: Lane, kept: Lane, span: Lane, residue: Lane, kept_left: Lane) -> None:
    """Forces of the rows, and what they leave open, in lanes that go."""
    kept_left[0] = where(go[0] > 0.0, residue[0] * span[0] * span[0], kept_left[0])
    for r in range(rows):
        kept[r] = where(go[0] > 0.0, force[r], kept[r])


@loops
def add_forces(rows: int, numbers: Lane, h: Lane, kept: Lane, x: Lane, kept_left: Lane, left: Lane) -> None:
    """Impulses of rows: h times the forces of the stages, by their weights."""
    left[0] = maximum(left[0], kept_left[0])
    for r in range(rows):
        x[r] += numbers[3] * h[0] * kept[r]


def end_stage(n: Any) -> None:
    """The velocities that a stage has found."""
    n.w_stage = n.s * n.u_move + n.v_c


def finish(n: Any) -> None:
    """The state after the step, and the one before it."""
    n.r_before, n.r_dot_before = n.r, n.r_dot
    n.r = n.stage_r = n.r + n.u_move
    n.r_dot = n.stage_r_dot = n.w_stage


@loops
def end_step(t: Lane, h: Lane, fresh: Lane) -> None:
    """The time after a step; there is a state before it now."""
    t[0] += h[0]
    fresh[0] = 0.0


NEWTON = Level(CHANGES, (free_velocities, None), (watch, hold), act_in_stage, soft=True)
IN_STAGE = {"h": "span", "t": "stage_t", "told": "stage_told", "x": "force", "left": "residue"}


@functools.cache
def staged_step(shape: Shape) -> Algorithm:
    """A step of implicit stages of models with such laws."""
    held = shape[1] >= 0
    rounds: list[Step] = [
        each(lead_moving, on="map"),
        FOLLOW,
        *(renamed(step, IN_STAGE) for step in dynamics(shape, NEWTON)),
        each(update, on="map"),
    ]
    if held:
        kept = ("rows", "go", "force", "kept", "span", "residue", "kept_left")
        rounds += [each(keep_foot, on="constraint"), Routine(keep_forces, kept)]
    stage: list[Step] = [
        Routine(begin_stage, ("stage", "table", "fresh", "h", "t", "numbers", "s", "span", "stage_t", "more")),
        *([Routine(tell_stage, ("told_count", "numbers", "told", "stage_told"))] if held else []),
        each(prepare, on="map"),
        *newton(rounds),
        each(end_stage, on="map"),
        *([Routine(add_forces, ("rows", "numbers", "h", "kept", "x", "kept_left", "left"))] if held else []),
    ]
    steps: list[Step] = [
        Routine(begin_step, ("stage", "rounds")),
        *([Routine(begin_rows, ("rows", "x", "left"))] if held else []),
        Repeat(tuple(stage), STAGES, "more"),
        each(finish, on="map"),
        Routine(end_step, ("t", "h", "fresh")),
        *LEAD,
    ]
    found = hyper_fields(shape, soft=True) | newton_fields()
    found |= {
        "table": Field("input", "global", vector(2 * STAGES * WIDTH)),
        "numbers": Field("work", "global", vector(WIDTH)),
        "fresh": Field("state", "global", SCALAR),
        **{name: Field("work", "global", SCALAR) for name in ("stage", "s", "span", "stage_t", "more")},
        **{name: Field("state", "r", of="map") for name in ("r_before", "r_dot_before")},
        **{name: Field("work", "r", of="map") for name in ("u_move", "v_c", "a_c", "w_stage")},
    }
    if held:
        found |= {"told": Field("input", "tellings", SCALAR), "stage_told": Field("work", "told", of="constraint")}
        found |= {name: Field("work", "rows", of="constraint") for name in ("force", "kept")}
        found |= {name: Field("work", "global", SCALAR) for name in ("residue", "kept_left")}
    return Algorithm(f"hyper_implicit_{'_'.join(map(str, map(int, shape)))}", found, {"run": steps})


@dataclass(frozen=True)
class HyperImplicit(MappedStepper):
    """Base of methods made of implicit stages."""

    nodes = (C, 1.0)
    flags = ("fresh", "stuck")
    implicit = True

    first: ClassVar[tuple[Stage, ...]]
    later: ClassVar[tuple[Stage, ...]]

    def kept(self, shape: Shape) -> tuple[str, ...]:
        return ("r_before", "r_dot_before")

    def algorithm(self, shape: Shape) -> Algorithm:
        return staged_step(shape)

    def numbers(self, model: Model) -> dict[str, np.ndarray]:
        return {"table": table_of(self.first, self.later)}

    def check_found(self, kept: dict[str, np.ndarray]) -> None:
        if np.any(kept["stuck"]):
            raise SolverError(f"{self.name}: a stage of a step was not solved in {ROUNDS} rounds; try a shorter step")


@dataclass(frozen=True)
class HyperBDF1(HyperImplicit):
    """Implicit Euler."""

    name = "bdf1"
    order = 1
    first = later = EULER


@dataclass(frozen=True)
class HyperBDF2(HyperImplicit):
    """The first step is one of SDIRK."""

    name = "bdf2"
    order = 2
    first, later = SDIRK, TWO_STEPS


@dataclass(frozen=True)
class HyperSDIRK2(HyperImplicit):
    """Two stages."""

    name = "sdirk2"
    order = 2
    first = later = SDIRK
