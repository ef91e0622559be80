"""Hyper-reduced coordinates q = f(r) in a program: the loaded tree, moved by a map [Sueda, Eqs. 2.80-2.83].

    map        one node beside the tree: q, v = J r_dot, J_dot r_dot and J at r and r_dot (`coordinate_map`)
    forces     as in `reduced.program`
    inward     J^T (f - M J_dot r_dot), what acts on r
    columns    J^T M J: one sweep outward and one inward for every column of J
    again      velocity terms at the middle of the step, on the same factor (as in `reduced.program`)
    rows       climb to the root for G in joint coordinates; then G J, and Y = (J^T M J)^-1 (G J)^T
    routines   the multipliers (`rows.solved.row_solver`); Y x is added to what r does without rows
    pushes     what has gone too deep gets a displacement of r besides (`rows.push_out`)

O(n nr + nr^3). What r does is `gain`: accelerations, or changes of r_dot in a step. In implicit steps M + P stands in place of
M, with the stiffness and damping P of all forces (`redmax.program`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..elements.collection import Shape, collection
from ..elements.evaluate import port_size
from ..kernel.loops import Ints, Lane, loops
from ..kernel.sweep import SCALAR, Field, NodeClass, Repeat, Routine, Step, Tree, each, inward, outward, vector
from ..model.model import Model
from ..model.rules import inertia_of, joint_of, placement_of
from ..reduced import forward
from ..reduced import program as reduced
from ..reduced.program import act, place, twist_rate
from ..reduced.rules import coriolis, falling_world, gyroscopic
from ..rows.asked import watch_velocities
from ..rows.solved import SOLVE, Rules, looked_at_again, row_solver, watching
from ..spatial.scalar import Vector, is_zero, zeros
from .coordinate_map import CoordinateMap
from .dense_program import (
    COLUMNS,
    begin_columns,
    couple,
    factor_dense,
    product_forces,
    product_twists,
    solve_side,
)
from .hyper_rows import climbed, second_look, solved
from .program import bodies_drift


# --- the map -----------------------------------------------------------------------------------------------------------------
def lead(n: Any) -> None:
    """Where the map leads."""
    m = n.map.moved(n.stage_r, n.stage_r_dot, zeros(len(n.stage_r)))
    n.map_q, n.map_v, n.map_lag, n.J_map = m.q, m.v, m.a, m.J.reshape(-1)


@loops
def follow(nq: int, nv: int, map_q: Lane, map_v: Lane, map_lag: Lane, q: Lane, v: Lane, lag: Lane) -> None:
    """All joints go where it leads."""
    for i in range(nq):
        q[i] = map_q[i]
    for i in range(nv):
        v[i] = map_v[i]
        lag[i] = map_lag[i]


FOLLOW = Routine(follow, ("nq", "nv", "map_q", "map_v", "map_lag", "q", "v", "lag"))
LEAD: list[Step] = [each(lead, on="map"), FOLLOW]


def lead_to_middle(n: Any) -> None:
    """Joint velocities and J_dot r_dot at the middle of the step, where the acceleration `last_r` of the step before leads."""
    _lead_to(n, n.last_r)


def lead_again(n: Any) -> None:
    """Joint velocities and J_dot r_dot at the middle of the step that the accelerations `gain` lead to."""
    _lead_to(n, n.gain)


def lead_again_pulled(n: Any) -> None:
    """Joint velocities and J_dot r_dot at the middle that `gain`, and rows as they pulled in the last step, lead to."""
    _lead_to(n, n.gain + n.pull_r)


def _lead_to(n: Any, r_ddot: Vector) -> None:
    m = n.map.moved(n.stage_r, n.stage_r_dot + 0.5 * n.h * r_ddot, zeros(len(n.stage_r)))
    n.map_middle, n.map_lag = m.v, m.a


@loops
def follow_middle(nv: int, map_middle: Lane, map_lag: Lane, middle: Lane, lag: Lane) -> None:
    """Joint velocities at the middle of the step, and J_dot r_dot there."""
    for i in range(nv):
        middle[i] = map_middle[i]
        lag[i] = map_lag[i]


FOLLOW_MIDDLE = Routine(follow_middle, ("nv", "map_middle", "map_lag", "middle", "lag"))


# --- what acts on r ----------------------------------------------------------------------------------------------------------
def still_motion(n: Any, parent: Any) -> None:
    """Velocities, and the accelerations of bodies at r_ddot = 0."""
    forward.velocities(n, parent)
    n.still = n.E.pull_twist(parent.still) + n.zeta + n.S @ n.lag


def middle_motion(n: Any, parent: Any) -> None:
    """Velocity terms at the middle of the step, and the accelerations of bodies at r_ddot = 0."""
    E = placement_of(n) @ joint_of(n).motion(n.q, n.middle)
    n.w, n.zeta = coriolis(E, E.tangent.phi, E.tangent.bias, parent.w)
    n.E, n.S = E.with_tangent(None), E.tangent.S
    n.still = n.E.pull_twist(parent.still) + n.zeta + n.S @ n.lag


def middle_motion_again(n: Any, parent: Any) -> None:
    """The velocity terms and these accelerations at another middle, of joints that are where they were."""
    motion = joint_of(n).motion(n.q, n.middle)
    steady = all(is_zero(x) for x in motion.tangent.bias)
    n.w, n.zeta = coriolis(n.E, n.S @ n.middle, zeros(6) if steady else motion.tangent.bias, parent.w)
    n.still = n.E.pull_twist(parent.still) + n.zeta + n.S @ n.lag


def begin_loads(n: Any) -> None:
    """What the caller gives, less damping; forces add to it."""
    n.load, n.push = n.external, n.tau - n.damping * n.v


def collect(n: Any, parent: Any) -> None:
    """All forces at r_ddot = 0, as joints feel them."""
    own = inertia_of(n)
    pA = own @ n.still + gyroscopic(n.w, n.first_moment, own.J) - n.load + n.pA
    n.side = n.push - n.armature * n.lag - n.S.T @ pA
    parent.pA = parent.pA + n.E.move_wrench(pA)


@loops
def press(nv: int, nr: int, J: Lane, side: Lane, gain: Lane) -> None:
    """J^T of the joint forces."""
    for k in range(nr):
        gain[k] = 0.0
    for i in range(nv):
        for k in range(nr):
            gain[k] += J[i * nr + k] * side[i]


# --- J^T M J -----------------------------------------------------------------------------------------------------------------
def column_twists(n: Any, parent: Any) -> None:
    """The motion of one column of J."""
    n.made = n.E.pull_twist(parent.made) + n.S @ n.unit


def column_forces(n: Any, parent: Any) -> None:
    """M times the column."""
    f = inertia_of(n) @ n.made + n.pA
    n.product = n.S.T @ f + n.armature * n.unit
    parent.pA = parent.pA + n.E.move_wrench(f)


@loops
def begin_column(column: Ints, nv: int, nr: int, J: Lane, unit: Lane) -> None:
    """One column of J."""
    for i in range(nv):
        unit[i] = J[i * nr + column[0]]


@loops
def end_column(column: Ints, nv: int, nr: int, J: Lane, product: Lane, H: Lane, columns: Lane) -> None:
    """One row of the packed matrix."""
    k = column[0]
    first = k * (k + 1) // 2
    for j in range(k + 1):
        H[first + j] = 0.0
    for i in range(nv):
        for j in range(k + 1):
            H[first + j] += J[i * nr + j] * product[i]
    column[0] = k + 1
    if k + 1 == nr:
        columns[0] = 0.0


def products() -> list[Step]:
    """M times `unit`."""
    return [outward(column_twists), inward(column_forces)]


def soft_products(forces: int) -> list[Step]:
    """(M + P) times `unit`, with forces of so many ports at most."""
    coupled = [each(couple, *(f"p{i}" for i in range(forces)), on="force")] if forces >= 0 else []
    return [outward(product_twists), *coupled, inward(product_forces)]


def factored(product: list[Step]) -> list[Step]:
    """J^T M J where the tree is, and its factor."""
    column: list[Step] = [
        Routine(begin_column, ("column", "nv", "nr", "J_map", "unit")),
        *product,
        Routine(end_column, ("column", "nv", "nr", "J_map", "product", "H", "columns")),
    ]
    return [
        Routine(begin_columns, ("column", "columns")),
        Repeat(tuple(column), COLUMNS, "columns"),
        Routine(factor_dense, ("nr", "H", "d_H")),
    ]


# --- the motion without rows -------------------------------------------------------------------------------------------------
@loops
def expand_accelerations(nv: int, nr: int, J: Lane, gain: Lane, lag: Lane, free_v: Lane) -> None:
    """Joint accelerations."""
    for i in range(nv):
        free_v[i] = lag[i]
        for k in range(nr):
            free_v[i] += J[i * nr + k] * gain[k]


def free_accelerations(n: Any, parent: Any) -> None:
    """The rates of the bodies' twists."""
    n.acc = n.E.pull_twist(parent.acc) + n.zeta + n.S @ n.free_v
    n.free = twist_rate(n)


@loops
def expand_velocities(nv: int, nr: int, h: Lane, J: Lane, gain: Lane, v: Lane, free_v: Lane) -> None:
    """The change of r_dot in a step, and joint velocities after it, with J as it was."""
    for k in range(nr):
        gain[k] *= h[0]
    for i in range(nv):
        free_v[i] = v[i]
        for k in range(nr):
            free_v[i] += J[i * nr + k] * gain[k]


@loops
def expand_changes(nv: int, nr: int, J: Lane, gain: Lane, free_v: Lane) -> None:
    """Changes of joint accelerations."""
    for i in range(nv):
        free_v[i] = 0.0 * gain[0]
        for k in range(nr):
            free_v[i] += J[i * nr + k] * gain[k]


def free_velocities(n: Any, parent: Any) -> None:
    """The motion of the bodies when that of joints is `free_v`."""
    n.free = n.E.pull_twist(parent.free) + n.S @ n.free_v


def drifting_velocities(n: Any, parent: Any) -> None:
    """The same in a step, with h d(J r_dot)/dt at r_ddot = 0, of joints and of bodies that rows look at."""
    free_velocities(n, parent)
    n.joint_drift = n.h * n.lag
    n.drift = bodies_drift(n)


def drifting_joints(n: Any, parent: Any) -> None:
    """The same where rows look at joints alone."""
    n.joint_drift = n.h * n.lag


# --- the program -------------------------------------------------------------------------------------------------------------
def hyper_fields(shape: Shape, soft: bool = False) -> dict[str, Field]:
    """The fields of the loaded tree, of its map, and of the state of both; with those of P."""
    found = reduced.fields(shape) | {
        "q": Field("state", "q"),
        "v": Field("state", "v"),
        "t": Field("state", "global", SCALAR),
        "h": Field("input", "global", SCALAR),
        "still": Field("shared", codec=vector(6), world=falling_world),
        "made": Field("shared", codec=vector(6)),
        **{name: Field("work", "v") for name in ("lag", "unit", "product", "side")},
        **{name: Field("work", "global", SCALAR) for name in ("column", "columns")},
        **{name: Field("state", "r", of="map") for name in ("r", "r_dot")},
        **{name: Field("work", "r", of="map") for name in ("stage_r", "stage_r_dot", "gain", "free_r", "d_H")},
        "map_q": Field("work", "q", of="map"),
        **{name: Field("work", "v", of="map") for name in ("map_v", "map_lag", "map_middle")},
        **{name: Field("work", "v") for name in ("middle", "joint_drift")},
        "J_map": Field("work", "J", of="map"),
        "H": Field("work", "entry", SCALAR),
    }
    if soft:
        found |= {name: Field("work", "node", vector(6)) for name in ("twisted", "bent")}
        found |= {"P": Field("work", "P", of="force")} if shape[0] >= 0 else {}
    if shape[1] >= 0:
        found |= {name: Field("work", "answer", SCALAR) for name in ("G_map", "Y")}
        found["unknown"] = Field("state", "unknown", of="constraint")
    return found


@dataclass(frozen=True, eq=False)
class Level:
    """What a kind of step does with the sweeps.

    expand   how joints move by `gain`
    free     how bodies then move, and how joints do where rows look at joints alone (None: it need not be known)
    rules    which say what rows take part, and what they ask
    acting   the rule of forces
    soft     whether it keeps P, which then belongs to the matrix
    plain    what solves rows without friction of contacts
    """

    expand: Routine
    free: tuple[Callable[..., None], Callable[..., None] | None]
    rules: Rules
    acting: Callable[..., None] = act
    soft: bool = False
    plain: Routine = SOLVE


def dynamics(shape: Shape, level: Level, evaluations: int | None = None) -> list[Step]:
    """The sweeps from where the map has led to `gain`.

    evaluations   in a step, how often velocity terms are found at its middle, as in `reduced.program.dynamics`; None: at the
                  velocities that there are
    """
    forces, rows, on_bodies, kinds = shape
    steps: list[Step] = []
    if evaluations:
        steps += [each(lead_to_middle, on="map"), FOLLOW_MIDDLE, outward(middle_motion)]
    else:
        steps.append(outward(still_motion))
    steps += [*([outward(place)] if on_bodies else []), each(begin_loads)]
    steps += [each(level.acting, *(f"p{i}" for i in range(forces)), on="force")] if forces >= 0 else []
    answer: list[Step] = [Routine(press, ("nv", "nr", "J_map", "side", "gain"))]
    solve = Routine(solve_side, ("nr", "H", "d_H", "gain"))
    steps += [inward(collect), *answer, *factored(soft_products(forces) if level.soft else products()), solve]
    if evaluations == 2:
        again = lead_again_pulled if rows >= 0 else lead_again
        steps += [each(again, on="map"), FOLLOW_MIDDLE, outward(middle_motion_again), inward(collect), *answer, solve]
    if evaluations is not None:
        steps.append(each(keep_free, on="map"))
    steps.append(level.expand)
    if rows < 0:
        return steps
    watch, hold = level.rules
    ports, moves = [f"p{i}" for i in range(rows)], level.free[not on_bodies]
    steps += [] if moves is None else [outward(moves)]
    once = [*climbed(rows, hold), *solved(row_solver(kinds, level.plain))]
    look = second_look(shape) if watch is watch_velocities and evaluations is not None else None
    return [*steps, *watching(watch, ports), *looked_at_again(once, look, ports, kinds)]


def keep_free(n: Any) -> None:
    """The accelerations of r without rows."""
    n.free_r = n.gain


ACCELERATIONS = Routine(expand_accelerations, ("nv", "nr", "J_map", "gain", "lag", "free_v"))
VELOCITIES = Routine(expand_velocities, ("nv", "nr", "h", "J_map", "gain", "v", "free_v"))


CHANGES = Routine(expand_changes, ("nv", "nr", "J_map", "gain", "free_v"))


def with_room(forces: Tree, kinds: Sequence[Sequence[Any]]) -> Tree:
    """The set of forces with room for P."""
    known: dict[Any, NodeClass] = {}
    for own, ports in zip(forces.classes, kinds, strict=True):
        sizes = own.sizes | {"P": sum(map(port_size, ports)) ** 2}
        known.setdefault(own.signature, replace(own, signature=(*own.signature, "P"), sizes=sizes))
    return replace(forces, classes=[known[own.signature] for own in forces.classes])


def hyper_tree(model: Model, map: CoordinateMap, stages: int = 1) -> Tree:
    """The loaded tree of a model and the map that moves it, with room for the slopes of some stages."""
    laws, nr = collection(model), map.nr
    tree, rows, told = laws.tree, laws.row_count, laws.told_count
    counts = {"entry": nr * (nr + 1) // 2, "answer": nr * rows, "slopes": stages * nr, "tellings": stages * told}
    numbers = {"nq": model.nq, "nv": model.nv, "nr": nr, "stages": stages, "told_count": told}
    sets = tree.sets | {"map": map.tree}
    if laws.forces:
        sets["force"] = with_room(sets["force"], laws.force_nodes.kinds)
    return replace(tree, sets=sets, counts=tree.counts | counts, numbers=tree.numbers | numbers)
