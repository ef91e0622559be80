"""Explicit Runge-Kutta methods of any tableau, on the manifold (Runge-Kutta-Munthe-Kaas), as one program.

Stages live in the tangent space at the start of the step: for y = (u, v) with q = integrate(q0, u), and in maximal coordinates
for every body y = (u, phi) with E = E0 exp(u),

    u_i = h sum of a_ij u_dot_j,     v_i = v + h sum of a_ij v_dot_j,

where u_dot is that of `tangent`, with as many brackets as the order needs [Munthe-Kaas 1999]. A step repeats *one* copy of the
dynamics for all stages: a routine sums the slopes there are by the row of the tableau, a rule places the stage, accelerations
with all forces and rows follow (`reduced.program`, `maximal.program`), and the slopes are kept. The end of the step is placed
like a stage. What Python says (joint forces, wrenches, inputs of forces) is held during a step; functions of time, and motions
that constraints must be told, are taken at the times of the stages.

Equality constraints act on accelerations: they drift like the error of the method. So do joints in maximal coordinates. Dry
friction pulls the velocity of a joint to zero within a step as far as its force goes: with the full force where it slips. Rows
that only push act on accelerations where they touch, and velocities are made admissible after the step, with restitution
(`settle`): order 1 while a row acts.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from ..elements.collection import Shape, collection
from ..elements.derive import derive
from ..joints import Free
from ..kernel.loops import Ints, Lane, any, loops, maximum
from ..kernel.plans import Plans
from ..kernel.sweep import MATRIX, SCALAR, Algorithm, Field, Repeat, Routine, Step, Tree, each, outward, vector
from ..maximal import program as maximal
from ..model import Model
from ..model.rules import joint_of, world_pose
from ..reduced import program as reduced
from ..rows.asked import free_motion, keep_unknowns, pose_rows, row_law_at
from ..rows.solved import ACCELERATION
from ..spatial.se3 import SE3
from .post_stabilised import check_choice, put_back, put_back_fields
from .settle import noted, settle, settle_fields
from .stages import renamed
from .stepper import Program, Stepper
from .tableau import Tableau
from .tangent import tangent_rate
from .way_back import has_equalities

BODY = Free()  # how a body moves that no joint holds
PARTS = {"reduced": ("q", "v"), "maximal": ("poses", "twists", "q_fit")}
AT_STAGE = {"t": "stage_t", "x": "more", "left": "more_left", "told": "stage_told"}
Rule = Callable[..., None]
STAGE = {
    "reduced": AT_STAGE | {"q": "stage_q", "v": "stage_v"},
    "maximal": AT_STAGE
    | dict.fromkeys(("poses", "pose"), "stage_poses")
    | dict.fromkeys(("twists", "twist"), "stage_twists")
    | dict.fromkeys(("q_fit", "q"), "stage_fit"),
}


# --- tableau ------------------------------------------------------------------------------------------------------------------
@loops
def begin_step(stage: Ints) -> None:
    """The first stage is next."""
    stage[0] = 0


@loops
def begin_rows(rows: int, x: Lane, left: Lane) -> None:
    """No impulse yet."""
    left[0] = 0.0
    for r in range(rows):
        x[r] = 0.0


@loops
def sum_slopes(
    stage: Ints,
    stages: int,
    width: int,
    tableau: Lane,
    nodes: Lane,
    t: Lane,
    h: Lane,
    moves: Lane,
    gains: Lane,
    shift: Lane,
    gain: Lane,
    stage_t: Lane,
) -> None:
    """How far the next stage is from the start of the step: h times the slopes, by its row of the tableau."""
    s = stage[0]
    stage_t[0] = t[0] + nodes[s] * h[0]
    for i in range(width):
        shift[i] = 0.0
        gain[i] = 0.0
    for j in range(s):
        a = tableau[s * stages + j]
        if any(a != 0.0):
            w = a * h[0]
            for i in range(width):
                shift[i] += w * moves[j * width + i]
                gain[i] += w * gains[j * width + i]


@loops
def keep_slopes(stage: Ints, width: int, slope: Lane, rate: Lane, moves: Lane, gains: Lane) -> None:
    """The slopes of this stage, among the others."""
    s = stage[0]
    for i in range(width):
        moves[s * width + i] = slope[i]
        gains[s * width + i] = rate[i]
    stage[0] = s + 1


@loops
def tell_stage(stage: Ints, tellings: int, told: Lane, stage_told: Lane) -> None:
    """What constraints are told at the time of this stage."""
    s = stage[0]
    for i in range(tellings):
        stage_told[i] = told[s * tellings + i]


@loops
def sum_rows(
    stage: Ints, stages: int, rows: int, tableau: Lane, h: Lane, more: Lane, x: Lane, more_left: Lane, left: Lane
) -> None:
    """Impulses of rows: h times their forces in the stages, by the weights."""
    w = tableau[stages * stages + stage[0]] * h[0]
    left[0] = maximum(left[0], more_left[0])
    for r in range(rows):
        x[r] += w * more[r]


@loops
def end_step(t: Lane, stage_t: Lane) -> None:
    """The time after the step."""
    t[0] = stage_t[0]


# --- reduced coordinates ------------------------------------------------------------------------------------------------------
def place_joints(n: Any) -> None:
    """A stage."""
    n.stage_q, n.stage_v = joint_of(n).integrate(n.q, n.shift), n.v + n.gain


def joint_slopes(brackets: int) -> Any:
    """The rate of the move."""

    def rule(n: Any) -> None:
        n.slope = tangent_rate(joint_of(n), n.shift, n.stage_v, brackets)

    return rule


def move_joints(n: Any) -> None:
    """The state after the step."""
    joint = joint_of(n)
    n.q, n.v = joint.rechart(joint.integrate(n.q, n.shift), n.v + n.gain)


# --- maximal coordinates ------------------------------------------------------------------------------------------------------
def place_bodies(n: Any) -> None:
    """A stage; joint coordinates follow by `maximal.program.fit`."""
    n.stage_poses, n.stage_twists, n.stage_fit = n.poses @ SE3.exp(n.shift), n.twists + n.gain, n.q_fit


def body_slopes(brackets: int) -> Any:
    """The rate of the move."""

    def rule(n: Any) -> None:
        n.slope = tangent_rate(BODY, n.shift, n.stage_twists, brackets)

    return rule


def move_bodies(n: Any) -> None:
    """The state after the step."""
    n.poses, n.twists, n.q_fit = n.poses @ SE3.exp(n.shift), n.twists + n.gain, n.stage_fit


# --- rows ---------------------------------------------------------------------------------------------------------------------
def hold_in_step(n: Any, *around: Any) -> None:
    """The rows of one constraint on accelerations; those with a largest force pull their rate to zero within a step."""
    ports, places = around[: len(around) // 2], around[len(around) // 2 :]
    law, at = row_law_at(n, ports)
    found = derive(law, at, n.t, n.foot)
    wanted = -found.bias - found.rate / n.h if law.bounded else -found.bias
    pose_rows(n, law, found.G, free_motion(n, ports, at), wanted, places, 1.0)


# --- the program --------------------------------------------------------------------------------------------------------------
def stage_fields(shape: Shape, method: str, stages: int) -> dict[str, Field]:
    """The fields of the dynamics, of a state and of the stages."""
    found = reduced.fields(shape) if method == "reduced" else maximal.fields(shape)
    space, size = ("v", None) if method == "reduced" else ("node", vector(6))
    found |= {
        "t": Field("state", "global", SCALAR),
        "h": Field("input", "global", SCALAR),
        "stage_t": Field("work", "global", SCALAR),
        "stage": Field("work", "global", SCALAR),
        "tableau": Field("input", "global", vector(stages * (stages + 1))),
        "nodes": Field("input", "global", vector(stages + 1)),
        "moves": Field("work", "slopes", SCALAR),
        "gains": Field("work", "slopes", SCALAR),
        **{name: Field("work", space, size) for name in ("shift", "gain", "slope")},
    }
    if method == "reduced":
        found |= {"q": Field("state", "q"), "v": Field("state", "v")}
        found |= {"stage_q": Field("work", "q"), "stage_v": Field("work", "v")}
    else:
        found |= {
            "stage_poses": Field("work", "node", MATRIX, world=world_pose),
            "stage_twists": Field("work", "node", vector(6)),
            "stage_fit": Field("work", "q"),
        }
    if shape[1] >= 0:
        found |= {
            "unknown": Field("state", "unknown", of="constraint"),
            "told": Field("input", "tellings", SCALAR),
            "stage_told": Field("work", "told", of="constraint"),
            "more": Field("work", "rows", of="constraint"),
            "more_left": Field("work", "global", SCALAR),
        }
    return found


def stage_steps(
    shape: Shape,
    method: str,
    brackets: int,
    hold: Rule,
    keep: Routine,
    remember: Rule | None,
    start: dict[str, str] | None = None,
    watch: Rule | None = None,
) -> list[Step]:
    """The steps of one stage, from the slopes of those before to its own.

    hold       the rule of constraints on accelerations
    keep       the routine that keeps the slopes
    remember   the rule of constraints that keeps their unknowns, from stage to stage; none: all begin where the step does
    start      other names of the state at which the step begins
    watch      another rule of constraints that says which act, in reduced coordinates
    """
    place, slopes = (place_joints, joint_slopes) if method == "reduced" else (place_bodies, body_slopes)
    if method == "reduced":
        dynamics = reduced.dynamics(shape, ACCELERATION, hold=hold, watch=watch)
    else:
        dynamics = maximal.dynamics(shape, ACCELERATION, hold=hold)
    fit: list[Step] = [outward(maximal.fit)] if method == "maximal" else []
    rows = shape[1] >= 0
    return [
        renamed(Routine(sum_slopes, SUMS), start or {}),
        *([Routine(tell_stage, ("stage", "told_count", "told", "stage_told"))] if rows else []),
        renamed(each(place), start or {}),
        *(renamed(step, STAGE[method]) for step in [*fit, *dynamics]),
        *([each(remember, on="constraint")] if rows and remember is not None else []),
        each(slopes(brackets)),
        keep,
    ]


SUMS = ("stage", "stages", "width", "tableau", "nodes", "t", "h", "moves", "gains", "shift", "gain", "stage_t")
ROW_SUMS = ("stage", "stages", "rows", "tableau", "h", "more", "x", "more_left", "left")


@functools.cache
def step_program(shape: Shape, method: str, stages: int, brackets: int, bounces: bool) -> Algorithm:
    """A step of models with such laws by a tableau with so many stages.

    bounces   whether contacts have restitution
    """
    rows = shape[1] >= 0
    keep = Routine(keep_slopes, ("stage", "width", "slope", "free_v" if method == "reduced" else "free", "moves", "gains"))
    stage = stage_steps(shape, method, brackets, hold_in_step, keep, keep_unknowns)
    if rows:
        stage.insert(-1, Routine(sum_rows, ROW_SUMS))
    steps: list[Step] = [
        *(renamed(step, {"told": "stage_told"}) for step in noted(shape, method, bounces)),
        Routine(begin_step, ("stage",)),
        *([Routine(begin_rows, ("rows", "x", "left"))] if rows else []),
        Repeat(tuple(stage), stages),
        Routine(sum_slopes, SUMS),
        each(move_joints if method == "reduced" else move_bodies),
        Routine(end_step, ("t", "stage_t")),
        *([outward(maximal.fit)] if method == "maximal" else []),
        *(renamed(step, {"told": "stage_told"}) for step in settle(shape, method, bounces)),
    ]
    fields = stage_fields(shape, method, stages) | settle_fields(bounces)
    name = f"{method}_runge_kutta_{'bouncing_' * bounces}{stages}_{brackets}_{'_'.join(map(str, map(int, shape)))}"
    return Algorithm(name, fields, {"run": steps})


@functools.cache
def projected_program(shape: Shape, method: str, stages: int, brackets: int, bounces: bool) -> Algorithm:
    """The same, put back afterwards."""
    plain = step_program(shape, method, stages, brackets, bounces)
    back = [renamed(step, {"told": "stage_told"}) for step in put_back(shape, method)]
    steps, found = [*plain.phases["run"], *back], put_back_fields(shape, method) | plain.fields
    return Algorithm(plain.name.replace("_kutta", "_kutta_projected"), found, {"run": steps})


def staged_tree(model: Model, method: str, stages: int) -> Tree:
    """The loaded tree with room for the slopes of all stages."""
    laws, tree = collection(model), collection(model).tree
    width = model.nv if method == "reduced" else 6 * model.nb
    counts = {"slopes": stages * width, "tellings": stages * laws.told_count}
    numbers = {"stages": stages, "width": width, "told_count": laws.told_count}
    return replace(tree, counts=tree.counts | counts, numbers=tree.numbers | numbers)


def staged_plans(model: Model, method: str, stages: int) -> Plans:
    """Programs bound to that tree, kept with the model."""
    return model.keep_as((staged_plans, method, stages), lambda: Plans(staged_tree(model, method, stages)))


def enter(model: Model, given: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """What the program keeps besides the state: the unknowns of constraints."""
    laws = collection(model)
    return given | ({"unknown": laws.first_unknowns(given["q" if "q" in given else "q_fit"])} if laws.rows else {})


@dataclass(frozen=True)
class RungeKutta(Stepper):
    """A method by its tableau; see the module's text.

    stabilise   "none", or "project": the state is put back after every step, as in `post_stabilised`; None: "project" for models
                with equality constraints, else "none"
    """

    stabilise: str | None = None

    tableau: ClassVar[Tableau]
    contacts = True
    bounces = True

    @property
    def methods(self) -> tuple[str, ...]:
        return tuple(PARTS)

    def __post_init__(self) -> None:
        if self.stabilise is not None:
            check_choice(self.name, self.stabilise, ("none", "project"))

    @property
    def on_accelerations(self) -> bool:
        return self.stabilise != "project"

    def program(self, method: str, model: Model) -> Program:
        laws, parts, tableau = collection(model), PARTS[method], self.tableau
        always = self.stabilise == "project" and (laws.rows or method == "maximal")
        projected = always or (self.stabilise is None and has_equalities(model))
        made = projected_program if projected else step_program
        algorithm = made(laws.shape, method, tableau.stages, tableau.order - 2, laws.bounces)

        def leave(model: Model, kept: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
            return {name: kept[name] for name in parts}

        def inputs(model: Model) -> dict[str, np.ndarray]:
            given = {"tableau": tableau.matrix.reshape(-1), "nodes": tableau.nodes}
            given |= {"u": laws.initial_inputs} if laws.forces else {}
            return given | ({"told": np.zeros(tableau.stages * laws.told_count)} if laws.rows else {})

        return Program(
            algorithm,
            (*parts, "t", *(["unknown"] if laws.rows else [])),
            enter=enter,
            leave=leave,
            inputs=inputs,
            bind=lambda m: staged_plans(m, method, tableau.stages),
            reports=lambda m: {"x": laws.row_count, "left": 1} if laws.rows else {},
            records=parts,
            times=tuple(tableau.nodes[:-1]),
        )
