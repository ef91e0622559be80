"""Hyper-reduced coordinates q = f(r) in a program: the loaded tree, moved by a map [Sueda, Eqs. 2.80-2.83].

    map        one node beside the tree: q, v = J r_dot, J_dot r_dot and J at r and r_dot (`coordinate_map`)
    forces     as in `reduced.program`
    inward     J^T (f - M J_dot r_dot), what acts on r
    columns    J^T M J: one sweep outward and one inward for every column of J
    rows       climb to the root for G in joint coordinates; then G J, and Y = (J^T M J)^-1 (G J)^T
    routines   the multipliers (`solvers.boxes`); Y x is added to what r does without rows

O(n nr + nr^3). What r does is `gain`: accelerations, or changes of r_dot in a step. In implicit steps M + P stands in place of
M, with the stiffness and damping P of all forces (`redmax.program`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..elements.collection import Shape, collection
from ..elements.evaluate import port_size
from ..kernel.loops import Ints, Lane, Table, loops
from ..kernel.sweep import SCALAR, Field, NodeClass, Repeat, Routine, Step, Tree, each, inward, outward, vector
from ..model.model import Model
from ..model.rules import inertia_of
from ..reduced import forward
from ..reduced import program as reduced
from ..reduced.program import act, place, twist_rate
from ..reduced.rules import falling_world
from ..rows.solved import SCRATCH, Rules, carrying_up, watching
from ..solvers.boxes import gather, solve_boxes
from ..spatial.scalar import zeros
from .coordinate_map import CoordinateMap
from .dense_program import (
    COLUMNS,
    add_answers,
    begin_columns,
    climb_freely,
    collect,
    couple,
    factor_dense,
    product_forces,
    product_twists,
    solve_dense,
    solve_side,
)


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


# --- what acts on r ----------------------------------------------------------------------------------------------------------
def still_motion(n: Any, parent: Any) -> None:
    """Velocities, and the accelerations of bodies at r_ddot = 0."""
    forward.velocities(n, parent)
    n.still = n.E.pull_twist(parent.still) + n.zeta + n.S @ n.lag


def begin_loads(n: Any) -> None:
    """What the caller gives, less damping and what drives with inertia need; forces add to it."""
    n.load, n.push = n.external, n.tau - n.damping * n.v - n.armature * n.lag


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


# --- rows --------------------------------------------------------------------------------------------------------------------
@loops
def solve_rows(
    active: Ints,
    nr: int,
    starts: Table,
    places: Table,
    freedoms: Table,
    v_at: Table,
    u: Lane,
    J: Lane,
    H: Lane,
    d: Lane,
    G: Lane,
    Y: Lane,
    A: Lane,
) -> None:
    """G J and Y of the rows in the list, and the packed matrix G J Y."""
    for i in range(active[0]):
        r = active[i + 1]
        for k in range(nr):
            G[i * nr + k] = 0.0
        for a in range(starts[r], starts[r + 1]):
            for f in range(freedoms[a]):
                for k in range(nr):
                    G[i * nr + k] += u[places[a] + f] * J[(v_at[a] + f) * nr + k]
        for k in range(nr):
            Y[i * nr + k] = G[i * nr + k]
        solve_dense(nr, H, d, i * nr, Y)
        for j in range(i + 1):
            total = 0.0 * u[0]
            for k in range(nr):
                total += G[j * nr + k] * Y[i * nr + k]
            A[i * (i + 1) // 2 + j] = total


def climbed(most: int, hold: Callable[..., None]) -> list[Step]:
    """Rows of constraints with so many ports at most, on their way to the root."""
    return carrying_up(hold, [f"p{i}" for i in range(most)], climb_freely)


def solved(x: str = "x", left: str = "left", when: str = "busy") -> list[Step]:
    """From rows at the root to their multipliers, and what these do to `gain`."""
    tables = ("starts", "places", "freedoms", "v_at")
    return [
        Routine(gather, ("rows", "on", x, "busy", left, "active")),
        Routine(solve_rows, ("active", "nr", *tables, "u_rows", "J_map", "H", "d_H", "G_map", "Y", "A"), when=when),
        Routine(solve_boxes, ("active", "on", "b", "lower", "upper", x, "A", left, "LDL", *SCRATCH), when=when),
        Routine(add_answers, ("active", "nr", "Y", x, "gain"), when=when),
    ]


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
        **{name: Field("work", "r", of="map") for name in ("stage_r", "stage_r_dot", "gain", "d_H")},
        "map_q": Field("work", "q", of="map"),
        **{name: Field("work", "v", of="map") for name in ("map_v", "map_lag")},
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
    free     how bodies then move
    rules    which say what rows take part, and what they ask
    acting   the rule of forces
    soft     whether it keeps P, which then belongs to the matrix
    """

    expand: Routine
    free: Callable[..., None]
    rules: Rules
    acting: Callable[..., None] = act
    soft: bool = False


def dynamics(shape: Shape, level: Level) -> list[Step]:
    """The sweeps from where the map has led to `gain`."""
    forces, rows, on_bodies, _ = shape
    steps: list[Step] = [outward(still_motion), *([outward(place)] if on_bodies else []), each(begin_loads)]
    steps += [each(level.acting, *(f"p{i}" for i in range(forces)), on="force")] if forces >= 0 else []
    steps += [inward(collect), Routine(press, ("nv", "nr", "J_map", "side", "gain"))]
    steps += [*factored(soft_products(forces) if level.soft else products()), Routine(solve_side, ("nr", "H", "d_H", "gain"))]
    steps.append(level.expand)
    if rows < 0:
        return steps
    watch, hold = level.rules
    ports = [f"p{i}" for i in range(rows)]
    return [*steps, outward(level.free), *watching(watch, ports), *climbed(rows, hold), *solved()]


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
