"""Implicit stages as programs: what bdf1, bdf2 and sdirk2 run, for one state or a batch, linear in the number of bodies.

With u the move of the coordinates in the step, s of order 1/h, and v_c, a_c from states before, a stage is

    v = s u + v_c,     a = s^2 u + a_c,     M(q + u) a = f(q + u, v) + G^T lam,     g(q + u, t) = 0.

Newton's method repeats the sweeps of `redmax.program` at q + u, with 1/s for h: they solve

    (M + P) da = f - M a + G^T lam,     G da = -s^2 g   (rows on velocities: -s g_dot),      u += da / s^2,

for da and lam together. P holds the stiffness and damping of all forces, symmetrised; the change of M and of velocity terms with
u, of order h or h^2 beside M, is left out. So every round reduces the error by a factor of that order. A lane is done when its
change is rounding, or within the tolerance, and stays as it is.

What a stage is, a row of numbers says (`Stage`). With w the velocity that the stage before has found, v_b that of the step
before, and m the move of that step by h,

    s = 1 / (span h),   v_c = v_w w + v_m m,   a_c = s (a_v v + a_w w + a_m m + a_b v_b),   u = first h v to begin with.

A step whose stage is not solved is taken in halves, quarters, ..., by the stages of a step that has none before it. Where that
does not help, velocities are no numbers.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from typing import Any, ClassVar

import numpy as np

from ..elements.collection import Shape, collection
from ..elements.derive import derive
from ..elements.ports import At, joined
from ..errors import InputError
from ..kernel.loops import Ints, Lane, loops, maximum, where
from ..kernel.sweep import SCALAR, Algorithm, Field, Repeat, Routine, Step, each, outward, vector
from ..model import Model
from ..model.rules import joint_of
from ..redmax.laws import Softness, stiff_laws
from ..redmax.program import fields, held, loaded, solved
from ..reduced import forward
from ..reduced.program import free_motion, place, pose_rows, refined, row_law_at
from ..spatial.scalar import Scalar, Vector, absolute, array
from ..spatial.scalar import maximum as larger
from ..spatial.scalar import where as chosen
from .stages import renamed
from .stepper import Program, Stepper
from .tangent import adds

MOST = 1 << 20  # rounds of Newton's method: more than anybody asks for
HALVINGS = 4  # of a step
SHORTEST = 0.5**HALVINGS
TRIALS = 2 ** (HALVINGS + 1)  # of parts of a step: every part is tried, and those that make it up
STAGES = 2  # of a step, at most
TIGHT = 1e-16  # of the coordinates: the next change, as far as the last two tell, is rounding
LOOSE = 1e-10  # of the coordinates: small enough where changes shrink no more
CLOSED = 1e-9  # of constraints: residual up to which a stage counts as solved
FLOOR = 1e-3  # coordinates, in rad or m, below which changes count by this
HUGE = 1e100  # rad or m: nothing is found from so far
SLOWER = 0.5  # of the change before: no more progress
NAN = float("nan")
STAGE = {"q": "stage_q", "v": "stage_v", "h": "span", "t": "stage_t", "force_t": "stage_t", "x": "force", "left": "residue"}


@dataclass(frozen=True)
class Stage:
    """The numbers of one stage; see the module's text.

    node, weight   its time in steps, and the part that its forces have in the impulse of the step
    rates          1 where constraints hold as velocities there, 0: as positions
    """

    span: float
    node: float = 1.0
    weight: float = 1.0
    rates: float = 0.0
    first: float = 1.0
    v_w: float = 0.0
    v_m: float = 0.0
    a_v: float = -1.0
    a_w: float = 0.0
    a_m: float = 0.0
    a_b: float = 0.0


WIDTH = len(astuple(Stage(1.0))) + 1  # of a row of numbers: 1 where there is such a stage, then the stage
SPAN, NODE, WEIGHT, RATES, FIRST, V_W, V_M, A_V, A_W, A_M, A_B = range(1, WIDTH)


def table_of(*steps: tuple[Stage, ...]) -> np.ndarray:
    """The rows of some kinds of steps, each with room for all stages."""
    table = np.zeros((len(steps), STAGES, WIDTH))
    for rows, stages in zip(table, steps, strict=True):
        for row, stage in zip(rows, stages, strict=False):
            row[:] = 1.0, *astuple(stage)
    return table.reshape(-1)


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


def loads_alone(n: Any, law: Any, at: Sequence[At], df_dx: np.ndarray) -> Vector:
    """The loads of one force."""
    return joined(law.loads(at, n.force_t, n.u))


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
        wanted = array([chosen(n.row[RATES] > 0.0, r, g) for r, g in zip(wanted, gaps, strict=True)])
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
def begin_newton(live: Lane, bad: Lane, go: Lane, tried: Lane, change: Lane, size: Lane, last: Lane) -> None:
    """The lanes that have this stage go."""
    go[0] = where(bad[0] > 0.0, 0.0, live[0])
    tried[0] = 0.0
    change[0] = 0.0
    size[0] = FLOOR
    last[0] = size[0]


@loops
def judge(
    change: Lane, size: Lane, last: Lane, tolerance: Lane, most: Lane, tried: Lane, go: Lane, rounds: Lane, bad: Lane
) -> None:
    """Lanes go on while changes are more than rounding or than the tolerance, for so many rounds."""
    rounds[0] += go[0]
    tried[0] += go[0]
    slower = (change[0] >= SLOWER * last[0]) & (change[0] <= LOOSE * size[0])
    done = (change[0] * change[0] <= TIGHT * size[0] * last[0]) | slower | (change[0] <= tolerance[0])
    lost = ~done & ~((tried[0] < most[0]) & (change[0] <= HUGE))
    bad[0] = where((go[0] > 0.0) & lost, 1.0, bad[0])
    go[0] = where(done | lost, 0.0, go[0])
    last[0] = change[0]
    change[0] = 0.0
    size[0] = FLOOR


@loops
def note_open(left: Lane, tolerance: Lane, bad: Lane) -> None:
    """Stages whose constraints contradict one another are not solved."""
    bad[0] = where(left[0] <= maximum(CLOSED, tolerance[0]), bad[0], 1.0)


def round_of(shape: Shape, softness: Softness) -> list[Step]:
    """One round."""
    _, rows, on_bodies, _ = shape
    dynamics: list[Step] = [
        outward(moving),
        *([outward(place)] if on_bodies else []),
        *loaded(shape, softness, loads_alone, each(resist)),
        *solved(shape, softness, change_bodies if on_bodies and rows >= 0 else change_joints, dense_changes),
        *held(shape, softness, (watch, hold)),
    ]
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
        Routine(judge, ("change", "size", "last", "tolerance", "most", "tried", "go", "rounds", "bad")),
    ]


# --- stages ------------------------------------------------------------------------------------------------------------------
@loops
def begin_stage(
    stage: Ints,
    table: Lane,
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
    """The numbers of the stage that begins, in lanes that have it; in those without a step before, as of a first step."""
    k = stage[0]
    new = fresh[0] > 0.0
    live[0] = trying[0] * where(new, table[k * WIDTH], table[(STAGES + k) * WIDTH])
    on = live[0] > 0.0
    for i in range(WIDTH):
        row[i] = where(on, where(new, table[k * WIDTH + i], table[(STAGES + k) * WIDTH + i]), row[i])
    span[0] = where(on, row[SPAN] * part[0], span[0])
    s[0] = 1.0 / span[0]
    stage_t[0] = where(on, t[0] + row[NODE] * part[0], stage_t[0])
    more[0] = 0.0
    if k + 1 < STAGES:
        more[0] = trying[0] * where(new, table[(k + 1) * WIDTH], table[(STAGES + k + 1) * WIDTH])
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
def begin_step(place: Lane, share: Lane, trying: Lane, changed: Lane, rounds: Lane) -> None:
    """The whole step is tried first."""
    place[0] = 0.0
    share[0] = 1.0
    trying[0] = 1.0
    changed[0] = 0.0
    rounds[0] = 0.0


@loops
def begin_rows(rows: int, x: Lane, left: Lane) -> None:
    """No impulse yet."""
    left[0] = 0.0
    for r in range(rows):
        x[r] = 0.0


def remember_start(n: Any) -> None:
    """Where the step begins."""
    n.q_start, n.v_start = n.q, n.v


def remember_unknowns(n: Any) -> None:
    """Where unknowns of constraints are."""
    n.safe = n.unknown


@loops
def begin_part(stage: Ints, h: Lane, share: Lane, trying: Lane, part: Lane, span: Lane, more: Lane, bad: Lane) -> None:
    """The first stage of a part is next."""
    stage[0] = 0
    part[0] = share[0] * h[0]
    span[0] = part[0]
    more[0] = trying[0]
    bad[0] = 0.0


@loops
def begin_impulses(rows: int, more_x: Lane, left: Lane) -> None:
    """None in this part yet."""
    left[0] = 0.0
    for r in range(rows):
        more_x[r] = 0.0


def begin_stages(n: Any) -> None:
    """No stage has found anything."""
    n.v_stage, n.v_c, n.a_c, n.u_move = (0.0 * n.v for _ in range(4))


@loops
def end_part(
    part: Lane, bad: Lane, place: Lane, share: Lane, trying: Lane, taken: Lane, t: Lane, fresh: Lane, failed: Lane
) -> None:
    """Take the part where its stages are solved, else try half of it, if that is long enough; none after it has a step before."""
    good = bad[0] == 0.0
    taken[0] = where(good, trying[0], 0.0)
    t[0] += taken[0] * part[0]
    place[0] += taken[0] * share[0]
    share[0] = where(good, share[0], 0.5 * share[0])
    failed[0] = where((trying[0] > 0.0) & (share[0] < SHORTEST), 1.0, 0.0)
    trying[0] = where((place[0] < 1.0) & (failed[0] == 0.0), trying[0], 0.0)
    fresh[0] = where(trying[0] > 0.0, 1.0, fresh[0])


@loops
def take_impulses(rows: int, taken: Lane, more_x: Lane, x: Lane) -> None:
    """Those of parts that are taken."""
    for r in range(rows):
        x[r] = where(taken[0] > 0.0, x[r] + more_x[r], x[r])


def take_part(n: Any) -> None:
    """The state after a part that is taken, in the best chart; velocities that are no numbers where the step has failed."""
    joint = joint_of(n)
    q, v = joint.integrate(n.q, n.u_move), n.s * n.u_move + n.v_c
    q_new, v_new = joint.rechart(q, v)
    if joint.charted:
        changed: Scalar = 0.0
        for a, b in zip(q_new, q, strict=True):
            changed = larger(changed, absolute(a - b))
        n.changed = larger(n.changed, n.taken * chosen(changed > 0.0, 1.0, 0.0))
    n.q = either(n.taken, q_new, n.q)
    n.v = either(n.taken, v_new, either(n.failed, array([NAN] * len(n.v)), n.v))


def take_unknowns(n: Any) -> None:
    """Unknowns of constraints as they were, where the part is not taken."""
    n.unknown = n.safe = either(n.taken, n.unknown, n.safe)


@loops
def end_step(changed: Lane, fresh: Lane) -> None:
    """There is a step before the next one now, unless coordinates are others."""
    fresh[0] = changed[0]


def keep_step(n: Any) -> None:
    """Where the step began."""
    n.q_before, n.v_before = n.q_start, n.v_start


# --- the program -------------------------------------------------------------------------------------------------------------
STAGE_NUMBERS = ("stage", "table", "fresh", "trying", "part", "t", "row", "live", "more", "span", "s", "stage_t")
PART_NUMBERS = ("part", "bad", "place", "share", "trying", "taken", "t", "fresh", "failed")
NUMBERS = ("stage", "live", "more", "span", "s", "stage_t", "go", "tried", "change", "size", "last", "bad")
NUMBERS += ("part", "place", "share", "trying", "taken", "failed", "changed")


def step_fields(shape: Shape, softness: Softness) -> dict[str, Field]:
    """The fields of a step."""
    moves = ("stage_v", "stage_a", "u_move", "v_c", "a_c", "v_stage", "v_start")
    found = fields(shape, softness) | {
        **{name: Field("state", "q") for name in ("q", "q_before")},
        **{name: Field("state", "v") for name in ("v", "v_before")},
        **{name: Field("state", "global", SCALAR) for name in ("t", "fresh")},
        **{name: Field("input", "global", SCALAR) for name in ("tolerance", "most")},
        "table": Field("input", "global", vector(2 * STAGES * WIDTH)),
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
    return found


@functools.cache
def implicit_step(shape: Shape, softness: Softness) -> Algorithm:
    """A step of models with such laws."""
    rows = shape[1] >= 0
    stage: list[Step] = [
        Routine(begin_stage, STAGE_NUMBERS),
        each(prepare),
        Routine(begin_newton, ("live", "bad", "go", "tried", "change", "size", "last")),
        Repeat(tuple(round_of(shape, softness)), MOST, "go"),
        each(keep_stage),
        *([Routine(note_open, ("left", "tolerance", "bad"))] if rows else []),
        *([Routine(add_forces, ("rows", "live", "row", "part", "kept", "more_x"))] if rows else []),
    ]
    part: list[Step] = [
        Routine(begin_part, ("stage", "h", "share", "trying", "part", "span", "more", "bad")),
        *([Routine(begin_impulses, ("rows", "more_x", "left"))] if rows else []),
        each(begin_stages),
        Repeat(tuple(stage), STAGES, "more"),
        Routine(end_part, PART_NUMBERS),
        each(take_part),
        *([each(take_unknowns, on="constraint"), Routine(take_impulses, ("rows", "taken", "more_x", "x"))] if rows else []),
    ]
    steps: list[Step] = [
        Routine(begin_step, ("place", "share", "trying", "changed", "rounds")),
        *([Routine(begin_rows, ("rows", "x", "left")), each(remember_unknowns, on="constraint")] if rows else []),
        each(remember_start),
        Repeat(tuple(part), TRIALS, "trying"),
        Routine(end_step, ("changed", "fresh")),
        each(keep_step),
    ]
    name = "_".join(["implicit", *(str(int(x)) for x in (*shape, *softness))])
    return Algorithm(name, step_fields(shape, softness), {"run": steps})


@dataclass(frozen=True)
class ImplicitStepper(Stepper):
    """Base of methods made of implicit stages.

    first, later   the stages of a step, without and with one before it

    tolerance    change of the coordinates (rad, m) in a round of Newton's method that is small enough; 0: none is but rounding
    iterations   rounds of Newton's method, at most
    """

    tolerance: float = 0.0
    iterations: int = 50

    first: ClassVar[tuple[Stage, ...]]
    later: ClassVar[tuple[Stage, ...]]

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

    def compiles(self, model: Model, method: str) -> bool:
        return True

    def program(self, method: str, model: Model) -> Program:
        laws, stiff = collection(model), stiff_laws(model)
        settings = {"tolerance": np.array([self.tolerance]), "most": np.array([float(self.iterations)])}
        settings["table"] = table_of(self.first, self.later)

        def enter(model: Model, given: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
            kept = given | {"q_before": given["q"], "v_before": given["v"], "fresh": np.ones_like(given["t"])}
            return kept | ({"unknown": laws.first_unknowns(given["q"])} if laws.rows else {})

        def leave(model: Model, kept: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
            return {name: kept[name] for name in ("q", "v")}

        def inputs(model: Model) -> dict[str, np.ndarray]:
            given = {"u": laws.initial_inputs} if laws.forces else {}
            return settings | given | ({"told": np.zeros(laws.told_count)} if laws.rows else {})

        return Program(
            implicit_step(laws.shape, stiff.softness),
            ("q", "v", "t", "fresh", "q_before", "v_before", *(["unknown"] if laws.rows else [])),
            enter=enter,
            leave=leave,
            inputs=inputs,
            bind=lambda m: stiff.plan,
            reports=lambda m: {"rounds": 1} | ({"x": laws.row_count, "left": 1} if laws.rows else {}),
            records=("q", "v"),
            times=(1.0,),
            failure=f"{self.name} at t = {{t:.9g}}: a stage is not solved, though the step was halved {HALVINGS} times; "
            "try a shorter step",
        )
