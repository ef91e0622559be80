"""Implicit steps as programs: what bdf1, bdf2 and sdirk2 run, for one state or a batch.

A step is one stage or two (`implicit_stage`), each solved by rounds of Newton's method (`implicit_round`). One whose stage is not
solved is taken in halves, quarters, ..., by the stages of a step that has none before it; lanes do so by themselves. Where that
does not help, velocities are no numbers. Where rows that only push may strike, lanes take a step of implicit Euler instead
(`implicit_pushes`); what has restitution parts by an impact after the step (`settle`).
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..elements.collection import Shape, collection
from ..errors import InputError
from ..kernel.loops import Ints, Lane, loops, where
from ..kernel.sweep import SCALAR, Algorithm, Field, Repeat, Routine, Step, each, vector
from ..model import Model
from ..model.rules import joint_of
from ..redmax.laws import Softness, stiff_laws
from ..redmax.program import fields
from ..spatial.scalar import Scalar, Vector, array
from ..spatial.scalar import where as chosen
from .implicit_pushes import looked_ahead, note_crossing, push_fields
from .implicit_round import begin_newton, note_open, round_of
from .implicit_stage import A_B, A_M, A_V, A_W, EULER, FIRST, NODE, SPAN, STAGES, V_M, V_W, WEIGHT, WIDTH, Stage, table_of
from .loaded_program import loaded_program
from .runge_kutta import begin_rows
from .settle import look_for_bounces, noted, settle, settle_fields
from .stages import renamed
from .stepper import Program, Stepper
from .tangent import adds

MOST = 1 << 20  # rounds of Newton's method: more than anybody asks for
HALVINGS = 4  # of a step
SHORTEST = 0.5**HALVINGS
TRIALS = 2 ** (HALVINGS + 2)  # of parts of a step: every part is tried, and those that make it up, all twice
NAN = float("nan")


# --- stages ------------------------------------------------------------------------------------------------------------------
@loops
def number_of(impact: Lane, fresh: Lane, table: Lane, k: int) -> float:
    """The k-th number of the stages of a lane: of a first step, of a later one, or of one in which something may strike."""
    own = where(fresh[0] > 0.0, table[k], table[STAGES * WIDTH + k])
    return where(impact[0] > 0.0, table[2 * STAGES * WIDTH + k], own)


@loops
def begin_stage(
    stage: Ints,
    table: Lane,
    impact: Lane,
    fresh: Lane,
    trying: Lane,
    part: Lane,
    t: Lane,
    row: Lane,
    live: Lane,
    more: Lane,
    span: Lane,
    s: Lane,
    stage_t: Lane,
) -> None:
    """The numbers of the stage that begins, in lanes that have it."""
    k = stage[0]
    live[0] = trying[0] * number_of(impact, fresh, table, k * WIDTH)
    on = live[0] > 0.0
    for i in range(WIDTH):
        row[i] = where(on, number_of(impact, fresh, table, k * WIDTH + i), row[i])
    span[0] = where(on, row[SPAN] * part[0], span[0])
    s[0] = 1.0 / span[0]
    stage_t[0] = where(on, t[0] + row[NODE] * part[0], stage_t[0])
    more[0] = 0.0
    if k + 1 < STAGES:
        more[0] = trying[0] * number_of(impact, fresh, table, (k + 1) * WIDTH)
    stage[0] = k + 1


def prepare(n: Any) -> None:
    """v_c, a_c and the first u of a stage."""
    c, w = n.row, n.v_stage
    m = joint_of(n).difference(n.q_before, n.q) / n.part
    n.v_c = in_live(n, c[V_W] * w + c[V_M] * m, n.v_c)
    n.a_c = in_live(n, n.s * (c[A_V] * n.v + c[A_W] * w + c[A_M] * m + c[A_B] * n.v_before), n.a_c)
    n.u_move = in_live(n, (c[FIRST] * n.part) * n.v, n.u_move)


def keep_stage(n: Any) -> None:
    """The velocities that a stage has found."""
    n.v_stage = n.s * n.u_move + n.v_c


def in_live(n: Any, new: Vector, old: Vector) -> Vector:
    """Where a lane has this stage, the new numbers."""
    return either(n.live, new, old)


def either(condition: Scalar, a: Vector, b: Vector) -> Vector:
    """a where a number is positive, else b."""
    return array([chosen(condition > 0.0, x, y) for x, y in zip(a, b, strict=True)])


@loops
def add_forces(rows: int, live: Lane, row: Lane, part: Lane, kept: Lane, more_x: Lane) -> None:
    """Impulses of rows: the length of the step times the forces of the stages, by their weights."""
    w = live[0] * row[WEIGHT] * part[0]
    for r in range(rows):
        more_x[r] = where(live[0] > 0.0, more_x[r] + w * kept[r], more_x[r])


# --- a step, or its parts ------------------------------------------------------------------------------------------------------
@loops
def begin_step(place: Lane, share: Lane, trying: Lane, rounds: Lane, struck: Lane, forced: Lane) -> None:
    """The whole step is tried first."""
    forced[0] = 0.0
    struck[0] = 0.0
    place[0] = 0.0
    share[0] = 1.0
    trying[0] = 1.0
    rounds[0] = 0.0


def remember_start(n: Any) -> None:
    """Where the step begins."""
    n.q_start, n.v_start = n.q, n.v


def remember_unknowns(n: Any) -> None:
    """Where unknowns of constraints are."""
    n.safe = n.unknown


@loops
def begin_part(
    stage: Ints,
    h: Lane,
    share: Lane,
    trying: Lane,
    part: Lane,
    span: Lane,
    more: Lane,
    bad: Lane,
    forced: Lane,
    impact: Lane,
    crossed: Lane,
) -> None:
    """The first stage of a part is next; nothing strikes that is known of yet."""
    impact[0] = forced[0]
    crossed[0] = 0.0
    stage[0] = 0
    part[0] = share[0] * h[0]
    span[0] = part[0]
    more[0] = trying[0]
    bad[0] = 0.0


def begin_stages(n: Any) -> None:
    """No stage has found anything."""
    n.v_stage, n.v_c, n.a_c, n.u_move = (0.0 * n.v for _ in range(4))


@loops
def end_part(
    part: Lane,
    bad: Lane,
    place: Lane,
    share: Lane,
    trying: Lane,
    taken: Lane,
    t: Lane,
    fresh: Lane,
    failed: Lane,
    impact: Lane,
    struck: Lane,
    crossed: Lane,
    forced: Lane,
) -> None:
    """Take the part where its stages are solved, else try half of it, if that is long enough; none after it has a step before.
    One that crossed a gap is tried again as one in which something strikes."""
    again = (bad[0] == 0.0) & (crossed[0] > 0.0)
    good = (bad[0] == 0.0) & ~again
    taken[0] = where(good, trying[0], 0.0)
    t[0] += taken[0] * part[0]
    place[0] += taken[0] * share[0]
    share[0] = where(good | again, share[0], 0.5 * share[0])
    forced[0] = where(again, 1.0, where(good, 0.0, forced[0]))
    failed[0] = where((trying[0] > 0.0) & (share[0] < SHORTEST), 1.0, 0.0)
    trying[0] = where((place[0] < 1.0) & (failed[0] == 0.0), trying[0], 0.0)
    fresh[0] = where(trying[0] > 0.0, 1.0, fresh[0])
    struck[0] = where(taken[0] > 0.0, impact[0], struck[0])


@loops
def take_impulses(rows: int, taken: Lane, more_x: Lane, x: Lane) -> None:
    """Those of parts that are taken."""
    for r in range(rows):
        x[r] = where(taken[0] > 0.0, x[r] + more_x[r], x[r])


def take_part(n: Any) -> None:
    """The state after a part that is taken, in the best chart, where the start of the step is too; no numbers where it failed."""
    joint = joint_of(n)
    end, start = (joint.integrate(n.q, n.u_move), n.s * n.u_move + n.v_c), (n.q_start, n.v_start)
    end, start = joint.rechart_together(end, start) if joint.charted else (end, start)
    n.q_start, n.v_start = (either(n.taken, new, old) for new, old in zip(start, (n.q_start, n.v_start), strict=True))
    n.q = either(n.taken, end[0], n.q)
    n.v = either(n.taken, end[1], either(n.failed, array([NAN] * len(n.v)), n.v))


def take_unknowns(n: Any) -> None:
    """Unknowns of constraints as they were, where the part is not taken."""
    n.unknown = n.safe = either(n.taken, n.unknown, n.safe)


@loops
def begin_anew(near: Lane, struck: Lane) -> None:
    """Where something bounced, velocities have jumped."""
    struck[0] = where(near[0] > 0.0, 1.0, struck[0])


@loops
def end_step(struck: Lane, fresh: Lane) -> None:
    """There is a step before the next one now, unless velocities may have jumped at its end."""
    fresh[0] = struck[0]


def keep_step(n: Any) -> None:
    """Where the step began."""
    n.q_before, n.v_before = n.q_start, n.v_start


# --- the program -------------------------------------------------------------------------------------------------------------
STAGE_NUMBERS = ("stage", "table", "impact", "fresh", "trying", "part", "t", "row", "live", "more", "span", "s", "stage_t")
PART_NUMBERS = (
    "part",
    "bad",
    "place",
    "share",
    "trying",
    "taken",
    "t",
    "fresh",
    "failed",
    "impact",
    "struck",
    "crossed",
    "forced",
)
JUMP = {"more": "jump_x", "more_left": "jump_left"}  # of impulses with restitution
NUMBERS = ("stage", "live", "more", "span", "s", "stage_t", "go", "tried", "change", "size", "last", "bad")
NUMBERS += ("part", "place", "share", "trying", "taken", "failed", "impact", "struck", "crossed", "forced")


def step_fields(shape: Shape, softness: Softness, bounces: bool) -> dict[str, Field]:
    """The fields of a step."""
    moves = ("stage_v", "stage_a", "u_move", "v_c", "a_c", "v_stage", "v_start")
    found = fields(shape, softness) | {
        **{name: Field("state", "q") for name in ("q", "q_before")},
        **{name: Field("state", "v") for name in ("v", "v_before")},
        **{name: Field("state", "global", SCALAR) for name in ("t", "fresh")},
        **{name: Field("input", "global", SCALAR) for name in ("tolerance", "most")},
        "table": Field("input", "global", vector(3 * STAGES * WIDTH)),
        "row": Field("work", "global", vector(WIDTH)),
        "rounds": Field("output", "global", SCALAR),
        **{name: Field("work", "q") for name in ("stage_q", "q_start")},
        **{name: Field("work", "v") for name in moves},
        **{name: Field("work", "global", SCALAR) for name in NUMBERS},
    }
    found.pop("correction", None)
    if shape[1] >= 0:
        found |= {name: Field("work", "rows", of="constraint") for name in ("force", "kept", "more_x")}
        found["residue"] = Field("work", "global", SCALAR)
        found |= {"unknown": Field("state", "unknown", of="constraint"), "safe": Field("work", "unknown", of="constraint")}
    if bounces:
        found |= settle_fields(bounces) | {"jump_left": Field("work", "global", SCALAR)}
        found["jump_x"] = Field("work", "rows", of="constraint")
    return found | push_fields(shape)


@functools.cache
def implicit_step(shape: Shape, softness: Softness, bounces: bool) -> Algorithm:
    """A step of models with such laws; `bounces` says whether contacts have restitution."""
    rows, pushes = shape[1] >= 0, shape[3]
    stage: list[Step] = [
        Routine(begin_stage, STAGE_NUMBERS),
        each(prepare),
        Routine(begin_newton, ("live", "bad", "go", "tried", "change", "size", "last")),
        Repeat(tuple(round_of(shape, softness)), MOST, "go"),
        each(keep_stage),
        *([Routine(note_crossing, ("live", "impact", "crossing", "crossed"))] if pushes else []),
        *([Routine(note_open, ("left", "tolerance", "bad"))] if rows else []),
        *([Routine(add_forces, ("rows", "live", "row", "part", "kept", "more_x"))] if rows else []),
    ]
    part: list[Step] = [
        Routine(begin_part, ("stage", "h", "share", "trying", "part", "span", "more", "bad", "forced", "impact", "crossed")),
        *(renamed(step, {"h": "part"}) for step in looked_ahead(shape)),
        *([Routine(begin_rows, ("rows", "more_x", "left"))] if rows else []),
        each(begin_stages),
        Repeat(tuple(stage), STAGES, "more"),
        Routine(end_part, PART_NUMBERS),
        each(take_part),
        *([each(take_unknowns, on="constraint"), Routine(take_impulses, ("rows", "taken", "more_x", "x"))] if rows else []),
    ]
    bounce: list[Step] = []
    if bounces:
        bounce = [renamed(step, JUMP) for step in settle(shape, "reduced", bounces, look_for_bounces)]
        bounce.append(Routine(begin_anew, ("near", "struck")))
    steps: list[Step] = [
        *noted(shape, "reduced", bounces),
        Routine(begin_step, ("place", "share", "trying", "rounds", "struck", "forced")),
        *([Routine(begin_rows, ("rows", "x", "left")), each(remember_unknowns, on="constraint")] if rows else []),
        each(remember_start),
        Repeat(tuple(part), TRIALS, "trying"),
        *bounce,
        Routine(end_step, ("struck", "fresh")),
        each(keep_step),
    ]
    name = "_".join(["implicit", *(str(int(x)) for x in (*shape, *softness, bounces))])
    return Algorithm(name, step_fields(shape, softness, bounces), {"run": steps})


@dataclass(frozen=True)
class ImplicitStepper(Stepper):
    """Base of methods made of implicit stages.

    first, later   the stages of a step, without and with one before it

    tolerance    change of the coordinates (rad, m) in a round of Newton's method that is small enough; 0: none is but rounding
    iterations   rounds of Newton's method, at most
    """

    tolerance: float = 0.0
    iterations: int = 50

    implicit = True
    first: ClassVar[tuple[Stage, ...]]
    later: ClassVar[tuple[Stage, ...]]
    contacts = True
    bounces = True

    @property
    def methods(self) -> tuple[str, ...]:
        return ("reduced", "redmax")

    def __post_init__(self) -> None:
        if not (np.isfinite(self.tolerance) and self.tolerance >= 0.0):
            raise InputError(f"{self.name}: tolerance must be a number, at least 0, not {self.tolerance!r}")
        if not (isinstance(self.iterations, int) and 0 < self.iterations < MOST):
            raise InputError(f"{self.name}: iterations must be a whole number, at least 1, not {self.iterations!r}")

    def check(self, model: Model) -> None:
        for body in model.bodies:
            if not adds(body.joint):
                raise InputError(
                    f"the stepper {self.name!r} needs joints whose velocities are the rates of their coordinates; "
                    f"joint {body.joint_name!r} ({body.joint!r}) is none, SphericalExp and FreeExp are"
                )

    def program(self, method: str, model: Model) -> Program:
        laws, stiff = collection(model), stiff_laws(model)
        settings = {"tolerance": np.array([self.tolerance]), "most": np.array([float(self.iterations)])}
        two_steps = self.first is not self.later
        halved = f"a stage is not solved, though the step was halved {HALVINGS} times; try a shorter step"

        def first(given: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
            return {"q_before": given["q"], "v_before": given["v"], "fresh": np.ones_like(given["t"])}

        return loaded_program(
            model,
            implicit_step(laws.shape, stiff.softness, laws.bounces),
            stiff.plan,
            first=first,
            memory=("q_before", "v_before", "fresh") if two_steps else (),
            paced=two_steps,
            settings=settings | {"table": table_of(self.first, self.later, EULER)},
            reports=("rounds",),
            times=(1.0,),
            failure=f"{self.name} at t = {{t:.9g}}: {halved}",
        )
