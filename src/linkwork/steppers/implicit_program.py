"""Implicit stages as programs: what bdf1, bdf2 and sdirk2 run, for one state or a batch, linear in the number of bodies.

With u the move of the coordinates in the step, s of order 1/h, and v_c, a_c from states before, a stage is

    v = s u + v_c,     a = s^2 u + a_c,     M(q + u) a = f(q + u, v) + G^T lam,     g(q + u, t) = 0.

Newton's method repeats the sweeps of `redmax.program` at q + u, with 1/s for h: they solve

    (M + P) da = f - M a + G^T lam,     G da = -s^2 g   (rows on velocities: -s g_dot),      u += da / s^2,

for da and lam together. P holds the stiffness and damping of all forces, symmetrised; the change of M and of velocity terms with
u, of order h or h^2 beside M, is left out. So every round reduces the error by a factor of that order. A lane is done when its
change is rounding, and stays as it is; one that never gets there is `stuck`.

A method says what its stages are: a routine for the numbers s, t and weights, a rule for v_c, a_c and the first u.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..elements.collection import Shape, collection
from ..elements.derive import derive, load_slopes
from ..elements.nodes import law_at
from ..elements.ports import At, joined
from ..errors import SolverError
from ..kernel.loops import Ints, Lane, LoopFunction, loops, maximum, where
from ..kernel.sweep import SCALAR, Algorithm, Field, Repeat, Routine, Step, each, inward, outward
from ..model import Model
from ..model.rules import joint_of
from ..redmax.dense_program import dense_rows, solved_densely
from ..redmax.program import (
    BEGIN,
    ELIMINATE,
    Softness,
    begin_loads,
    fields,
    put_loads,
    put_softly,
    stiff_laws,
    symmetrised,
)
from ..reduced import forward
from ..reduced.program import correct, free_motion, place, pose_rows, refined, row_law_at, solved_rows
from ..spatial.scalar import Scalar, Vector, absolute, array
from ..spatial.scalar import maximum as larger
from ..spatial.scalar import where as chosen
from .stages import renamed
from .stepper import Program

ROUNDS = 40  # of Newton's method, at most
TIGHT = 1e-16  # of the coordinates: the next change, as far as the last two tell, is rounding
LOOSE = 1e-10  # of the coordinates: small enough where changes shrink no more
CLOSED = 1e-9  # of constraints: residual up to which a stage counts as solved
FLOOR = 1e-3  # coordinates, in rad or m, below which changes count by this
SLOWER = 0.5  # of the change before: no more progress
STAGE = {"q": "stage_q", "v": "stage_v", "h": "span", "t": "stage_t", "x": "force", "left": "residue"}


class UnsolvedError(SolverError):
    """A stage has no solution that Newton's method finds."""


# --- one round of Newton's method --------------------------------------------------------------------------------------------
def place_stage(n: Any) -> None:
    """Coordinates, velocities and accelerations of the stage."""
    n.stage_q = joint_of(n).integrate(n.q, n.u_move)
    n.stage_v, n.stage_a = n.s * n.u_move + n.v_c, n.s * n.s * n.u_move + n.a_c


def moving(n: Any, parent: Any) -> None:
    """Velocities and accelerations of bodies."""
    forward.velocities(n, parent)
    n.still = n.E.pull_twist(parent.still) + n.zeta + n.S @ n.stage_a


def resist(n: Any) -> None:
    """What drives with inertia need."""
    n.push = n.push - n.armature * n.stage_a


def loads_and_softness(n: Any, law: Any, at: Sequence[At]) -> tuple[Vector, np.ndarray]:
    """The loads of one force, and P."""
    df_dx, df_dv = (symmetrised(A) for A in load_slopes(law, at, n.t, n.u))
    return joined(law.loads(at, n.t, n.u)), -n.h * df_dv - (n.h * n.h) * df_dx


def act_implicitly(n: Any, *ports: Any) -> None:
    """One force; P goes to its ports."""
    law, at = law_at(n, ports)
    put_softly(n, ports, at, *loads_and_softness(n, law, at))


def act_distantly(n: Any, *ports: Any) -> None:
    """The same; P stays with the force."""
    law, at = law_at(n, ports)
    put_loads(n, ports, at, *loads_and_softness(n, law, at))


def change_joints(n: Any, parent: Any) -> None:
    """The change of accelerations without rows, of joints."""
    b = n.E.pull_twist(parent.made)
    n.free_v = n.y - n.K @ b
    n.made = b + n.S @ n.free_v


def change_bodies(n: Any, parent: Any) -> None:
    """The same, of bodies too."""
    change_joints(n, parent)
    n.free = n.made


def dense_changes(n: Any, parent: Any) -> None:
    """The same from the solution of the dense system."""
    n.free_v = n.side
    n.free = n.E.pull_twist(parent.free) + n.S @ n.side


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
        wanted = array([chosen(n.on_rates > 0.0, r, g) for r, g in zip(wanted, gaps, strict=True)])
    pose_rows(n, law, found.G, free_motion(n, ports, at), wanted, places, 1.0)


def update(n: Any) -> None:
    """The next u, and how far it is from the last."""
    change = n.free_v / (n.s * n.s)
    n.u_move = array([chosen(n.go > 0.0, u + d, u) for u, d in zip(n.u_move, change, strict=True)])
    step, size = n.change, n.size
    for d in change:
        step = larger(step, absolute(d))
    for x in (*n.stage_q, *n.u_move):
        size = larger(size, absolute(x))
    n.change, n.size = step, size


def keep_foot(n: Any) -> None:
    """Where Newton's method for unknowns begins in the next round."""
    n.unknown = array([chosen(n.go > 0.0, new, old) for new, old in zip(n.foot, n.unknown, strict=True)])


@loops
def keep_forces(rows: int, go: Lane, force: Lane, kept: Lane, span: Lane, residue: Lane, left: Lane) -> None:
    """Forces of the rows, and what they leave open, in lanes that go."""
    left[0] = where(go[0] > 0.0, residue[0] * span[0] * span[0], left[0])
    for r in range(rows):
        kept[r] = where(go[0] > 0.0, force[r], kept[r])


@loops
def begin_newton(live: Lane, go: Lane, change: Lane, size: Lane, last: Lane) -> None:
    """The lanes that have this stage go."""
    go[0] = live[0]
    change[0] = 0.0
    size[0] = FLOOR
    last[0] = size[0]


@loops
def judge(change: Lane, size: Lane, last: Lane, go: Lane, rounds: Lane) -> None:
    """Lanes go on while changes are more than rounding. NaN goes on to the end."""
    rounds[0] += go[0]
    slower = (change[0] >= SLOWER * last[0]) & (change[0] <= LOOSE * size[0])
    done = (change[0] * change[0] <= TIGHT * size[0] * last[0]) | slower
    go[0] = where(done, 0.0, go[0])
    last[0] = change[0]
    change[0] = 0.0
    size[0] = FLOOR


@loops
def note_stuck(go: Lane, stuck: Lane) -> None:
    """Lanes that still go were not solved."""
    stuck[0] = maximum(stuck[0], go[0])


@loops
def note_open(left: Lane, stuck: Lane) -> None:
    """Nor were those whose constraints contradict one another."""
    stuck[0] = where(left[0] <= CLOSED, stuck[0], 1.0)


def round_of(shape: Shape, softness: Softness) -> list[Step]:
    """One round."""
    forces, rows, on_bodies, _ = shape
    ports = [f"p{i}" for i in range(forces)]
    dynamics: list[Step] = [outward(moving), *([outward(place)] if on_bodies else [])]
    if softness[2]:
        dynamics += [each(begin_loads), each(resist), each(act_distantly, *ports, on="force"), *solved_densely(forces)]
        dynamics += [outward(dense_changes), *(dense_rows(rows, (watch, hold)) if rows >= 0 else [])]
    else:
        dynamics += [each(BEGIN[softness[:2]]), each(resist)]
        dynamics += [each(act_implicitly, *ports, on="force")] if forces >= 0 else []
        dynamics += [inward(ELIMINATE[softness[:2]]), outward(change_bodies if on_bodies and rows >= 0 else change_joints)]
        dynamics += solved_rows(rows, (watch, hold), correct) if rows >= 0 else []
    kept: list[Step] = []
    if rows >= 0:
        kept = [
            each(keep_foot, on="constraint"),
            Routine(keep_forces, ("rows", "go", "force", "kept", "span", "residue", "left")),
        ]
    return [
        each(place_stage),
        *(renamed(step, STAGE) for step in dynamics),
        each(update),
        *kept,
        Routine(judge, ("change", "size", "last", "go", "rounds")),
    ]


# --- a step ------------------------------------------------------------------------------------------------------------------
@loops
def begin_step(stage: Ints, more: Lane, rounds: Lane) -> None:
    """The first stage is next."""
    stage[0] = 0
    more[0] = 1.0
    rounds[0] = 0.0


@loops
def begin_rows(rows: int, x: Lane, left: Lane) -> None:
    """No impulse yet."""
    left[0] = 0.0
    for r in range(rows):
        x[r] = 0.0


@loops
def add_forces(rows: int, live: Lane, weight: Lane, h: Lane, kept: Lane, x: Lane) -> None:
    """Impulses of rows: h times the forces of the stages, by their weights."""
    w = live[0] * weight[0] * h[0]
    for r in range(rows):
        x[r] += w * kept[r]


def keep_stage(n: Any) -> None:
    """The velocities that a stage has found."""
    n.v_stage = n.s * n.u_move + n.v_c


def in_live(n: Any, new: Vector, old: Vector) -> Vector:
    """Where a lane has this stage, the new numbers."""
    return array([chosen(n.live > 0.0, a, b) for a, b in zip(new, old, strict=True)])


def either(condition: Scalar, a: Vector, b: Vector) -> Vector:
    """a where a number is positive, else b."""
    return array([chosen(condition > 0.0, x, y) for x, y in zip(a, b, strict=True)])


def move(n: Any) -> None:
    """The state after the step in the best chart; where that is another one, there is no state before it."""
    joint = joint_of(n)
    q, v = joint.integrate(n.q, n.u_move), n.s * n.u_move + n.v_c
    q_new, v_new = joint.rechart(q, v)
    changed: Scalar = 0.0
    if joint.charted:
        for a, b in zip(q_new, q, strict=True):
            changed = larger(changed, absolute(a - b))
        n.fresh = larger(n.fresh, chosen(changed > 0.0, 1.0, 0.0))
    n.q, n.v = q_new, v_new


@dataclass(frozen=True, eq=False)
class Scheme:
    """What a method is made of.

    stages    how many a step has at most
    begin     routine of `STAGE_NUMBERS`: those of the stage that begins, whether a lane has it (live), and another one (more)
    prepare   rule for v_c, a_c and the first u_move of a stage
    finish    rule for the state after the step, and what is kept of the one before
    kept      further states, with their spaces
    """

    name: str
    stages: int
    begin: LoopFunction
    prepare: Callable[[Any], None]
    finish: Callable[[Any], None] = move
    kept: tuple[tuple[str, str], ...] = ()


STAGE_NUMBERS = ("stage", "h", "t", "fresh", "s", "span", "stage_t", "on_rates", "weight", "live", "more")


@loops
def end_step(t: Lane, h: Lane, fresh: Lane) -> None:
    """The time after a step; there is a state before it now."""
    t[0] += h[0]
    fresh[0] = 0.0


def step_fields(shape: Shape, softness: Softness) -> dict[str, Field]:
    """The fields of a step, but for what a scheme keeps."""
    numbers = ("s", "span", "stage_t", "on_rates", "weight", "live", "more", "go", "change", "size", "last", "stage")
    found = fields(shape, softness) | {
        "q": Field("state", "q"),
        "v": Field("state", "v"),
        "t": Field("state", "global", SCALAR),
        "fresh": Field("state", "global", SCALAR),
        "stuck": Field("state", "global", SCALAR),
        "rounds": Field("output", "global", SCALAR),
        "stage_q": Field("work", "q"),
        **{name: Field("work", "v") for name in ("stage_v", "stage_a", "u_move", "v_c", "a_c", "v_stage")},
        **{name: Field("work", "global", SCALAR) for name in numbers},
    }
    found.pop("correction", None)
    if shape[1] >= 0:
        found |= {name: Field("work", "rows", of="constraint") for name in ("force", "kept")}
        found["residue"] = Field("work", "global", SCALAR)
        found["unknown"] = Field("state", "unknown", of="constraint")
    return found


@functools.cache
def implicit_step(shape: Shape, softness: Softness, scheme: Scheme) -> Algorithm:
    """A step of models with such laws."""
    rows = shape[1] >= 0
    stage: list[Step] = [
        Routine(scheme.begin, STAGE_NUMBERS),
        each(scheme.prepare),
        Routine(begin_newton, ("live", "go", "change", "size", "last")),
        Repeat(tuple(round_of(shape, softness)), ROUNDS, "go"),
        Routine(note_stuck, ("go", "stuck")),
        each(keep_stage),
        *([Routine(note_open, ("left", "stuck"))] if rows else []),
        *([Routine(add_forces, ("rows", "live", "weight", "h", "kept", "x"))] if rows else []),
    ]
    steps: list[Step] = [
        Routine(begin_step, ("stage", "more", "rounds")),
        *([Routine(begin_rows, ("rows", "x", "left"))] if rows else []),
        Repeat(tuple(stage), scheme.stages, "more"),
        Routine(end_step, ("t", "h", "fresh")),
        each(scheme.finish),
    ]
    found = step_fields(shape, softness) | {name: Field("state", space) for name, space in scheme.kept}
    name = "_".join([scheme.name, *(str(int(x)) for x in (*shape, *softness))])
    return Algorithm(name, found, {"run": steps})


def implicit_program(model: Model, scheme: Scheme) -> Program:
    """The program of a scheme on a model."""
    laws, stiff = collection(model), stiff_laws(model)
    algorithm = implicit_step(laws.shape, stiff.softness, scheme)
    sizes = {"q": model.nq, "v": model.nv}

    def enter(model: Model, given: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        batch = len(given["t"])
        kept = given | {name: np.zeros((batch, sizes[space])) for name, space in scheme.kept}
        kept |= {"fresh": np.ones((batch, 1)), "stuck": np.zeros((batch, 1))}
        return kept | ({"unknown": laws.first_unknowns(given["q"])} if laws.rows else {})

    def leave(model: Model, kept: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        if np.any(kept["stuck"]):
            raise UnsolvedError(f"{scheme.name}: a stage of a step was not solved in {ROUNDS} rounds; try a shorter step")
        return {name: kept[name] for name in ("q", "v")}

    def inputs(model: Model) -> dict[str, np.ndarray]:
        given = {"u": laws.initial_inputs} if laws.forces else {}
        return given | ({"told": np.zeros(laws.told_count)} if laws.rows else {})

    return Program(
        algorithm,
        ("q", "v", "t", "fresh", "stuck", *(name for name, _ in scheme.kept), *(["unknown"] if laws.rows else [])),
        enter=enter,
        leave=leave,
        inputs=inputs,
        bind=lambda m: stiff.plan,
        reports=lambda m: {"rounds": 1} | ({"x": laws.row_count, "left": 1} if laws.rows else {}),
        records=("q", "v", "stuck"),
        times=(1.0,),
    )
