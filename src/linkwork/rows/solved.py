"""From the rows that constraints ask for to their multipliers, and to the motion that they allow, on any factor of a tree.

    climbs     rows go up to the root (`elements.supports`): u and y = D^-1 u at every joint
    routines   the matrix A (`solvers.gram`), and the multipliers (`solvers.boxes`, `solvers.coulomb`, `solvers.turns`)
    outward    M^-1 G^T x is added to the free motion

Formulations differ in the rule by which rows climb over a joint, and in the one that adds to the motion.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from ..elements.collection import CONES, CROWD, EQUALITIES, IN_TURNS, ONE_PROGRAM
from ..elements.supports import climbing
from ..elements.touch import LOOKS
from ..errors import InputError
from ..kernel.loops import Ints, Lane, loops, where
from ..kernel.products import copy
from ..kernel.sweep import SCALAR, Field, Repeat, Routine, Step, Sweep, each, outward, over, vector
from ..solvers.boxes import gather, solve_boxes, solve_soft_boxes
from ..solvers.coulomb import solve_packed_cones
from ..solvers.gram import PATHS, gram, spread
from ..solvers.own_rows import Listed
from ..solvers.single_qp import solve_single_qp
from ..solvers.turns import solve_in_turns
from ..spatial.scalar import zeros
from .asked import (
    foresee,
    hold_accelerations,
    hold_impacts,
    hold_under_bounds,
    hold_velocities,
    meet,
    watch_accelerations,
    watch_velocities,
)
from .crowds import GATHER_AWAKE, SOLVE_CROWD, crowd_fields, finding, finding_driven
from .further import hold_further, hold_usual
from .noticing import SEGMENTS, measure, notice, noticing
from .passed_rows import SecondLook, for_some_lanes, of_found, passed_fields, recall, solved_with_passed
from .poisson import solved_impacts
from .pressing import KEEP_MATRIX, POSE, RESTORE, answer, in_turns


def climb(n: Any, place: Any, up: Any) -> None:
    """One row at one joint on its way to the root; its place is empty afterwards."""
    p = place.p
    u = place.c + n.S.T @ p
    place.u_rows, place.y_rows = u, n.factor.solve(u)
    place.p, place.c = zeros(6), zeros(len(u))
    if not n.is_root:
        up.p = up.p + n.E.move_wrench(p - n.K.T @ u)


@loops
def note_impacts(active: Ints, lower: Lane, x: Lane, strikes: Lane, struck: Lane) -> None:
    """1 where a row that only pushes does so in an impact, else 0."""
    struck[0] = 0.0
    for i in range(active[0]):
        r = active[i + 1]
        struck[0] = where((lower[r] >= 0.0) & (x[r] > 0.0) & (strikes[r] > 0.0), 1.0, struck[0])


NOTE_IMPACTS = Routine(note_impacts, ("active", "lower", "x", "strikes", "struck"))
STEERING = ("noticed", "awake", "further", "nears", "misses", "looks")  # what says which rows take part
VELOCITY, ACCELERATION = "velocity", "acceleration"
SCRATCH = ("d", "scale", "scaled_b", "scaled_lower", "scaled_upper", "scaled_x", "w_rows", "z", "inside", "box_rest", "box_list")
MATRIX = (*PATHS, "on", "u_rows", "y_rows", "gram_columns", "A")  # what `gram` makes A of
PROBLEM = ("on", "b", "lower", "upper", "x", "A", "left", "LDL", *SCRATCH)
SOLVE = Routine(solve_boxes, ("active", *PROBLEM), when="busy")
SOFT_SOLVE = Routine(solve_soft_boxes, ("active", *PROBLEM, "groups", "soft"), when="busy")
CONE_PROBLEM = (*Listed.listed(), "A", "left")
CONE_SCRATCH = tuple(f"cone_{name}" for name, _ in solve_packed_cones.parameters[len(CONE_PROBLEM) :])
CONE_SOLVE = [Routine(solve_packed_cones, CONE_PROBLEM + CONE_SCRATCH, when="busy")]
TURNS_SOLVE = [Routine(solve_in_turns, ("active", "cones", "mu", *PROBLEM, "last_x"), when="busy")]
RAY_PROBLEM = ("active", "on", "b", "lower", "upper", "x", "A", "LDL", *SCRATCH)
RAY_ROWS = tuple(name for name in RAY_PROBLEM if name not in ("active", "A", "LDL", "box_list"))
PROGRAM_SOLVE = [
    Routine(
        solve_single_qp,
        (*Listed.listed(), "A", "left", "ray_base", "ray_towards", *(f"ray_{name}" for name in RAY_PROBLEM)),
        when="busy",
    )
]


CROWDED = (
    "so many shapes may touch that their contacts are no dense matrix: these run with stepper='symplectic_euler' alone, "
    "of the methods 'reduced' (the default) and 'maximal', and not put back by 'project'; exclude pairs, or give groups"
)


@loops
def remember(rows: int, x: Lane, impulses: Lane) -> None:
    """For the next step."""
    copy(rows, x, 0, impulses, 0)


IMPULSES = {"impulses": Field("state", "rows", of="constraint")}  # of the step before


def warm_started(steps: Sequence[Step]) -> list[Step]:
    """The same steps, in which rows with cones begin at the impulses of the step before."""
    return [*_recalling(steps), Routine(remember, ("rows", "x", "impulses"))]


def _recalling(steps: Sequence[Step]) -> list[Step]:
    found: list[Step] = []
    for step in steps:
        if isinstance(step, Repeat) and step.again:
            found.append(replace(step, steps=tuple(_recalling(step.steps))))
            continue
        found.append(step)
        if isinstance(step, Routine) and step.function is gather:
            found.append(Routine(recall, ("active", "on", "impulses", "x"), when="busy"))
    return found


def row_solver(kinds: int, plain: Routine) -> list[Routine]:
    """What solves rows (see `Collection.shape`); `plain` those without friction of contacts."""
    if kinds == CROWD:
        raise InputError(CROWDED)
    return {CONES: CONE_SOLVE, IN_TURNS: TURNS_SOLVE, ONE_PROGRAM: PROGRAM_SOLVE}.get(kinds, [plain])


def row_fields(kinds: int = EQUALITIES) -> dict[str, Field]:
    """Those of rows and of their places, as a step with such rows needs them (see `Collection.shape`)."""
    names = ["on", "b", "lower", "upper", "soft", *(["room", "strikes"] if kinds else [])]
    dense = {
        "A": Field("work", "pair", SCALAR),
        "LDL": Field("work", "pair", SCALAR),
        "gram_columns": Field("work", "column", SCALAR),
    }
    dense |= {name: Field("work", "row", SCALAR) for name in SCRATCH} | {"box_list": Field("work", "list", SCALAR)}
    per_row = {name: Field("work", "rows", of="constraint") for name in names}
    return {
        **per_row,
        "row_on": Field("work", "row", SCALAR, alias="on"),
        "x": Field("output", "rows", of="constraint"),
        "unknown": Field("input", "unknown", of="constraint"),
        "told": Field("input", "told", of="constraint"),
        "foot": Field("work", "unknown", of="constraint"),
        "speeds": Field("work", "node", vector(2), steers=True),
        "meets": Field("work", "node", SCALAR, of="constraint"),
        **{name: Field("work", "node", SCALAR, of="constraint", steers=True) for name in STEERING},
        "levers": Field("work", "levers", of="constraint"),
        "p": Field("work", "p", of="place"),
        "c": Field("work", "v", of="place"),
        "u_rows": Field("work", "v", of="place"),
        "y_rows": Field("work", "v", of="place"),
        "dy": Field("work", "v"),
        "jump": Field("shared", codec=vector(6)),
        "busy": Field("work", "global", SCALAR),
        "left": Field("output", "global", SCALAR),
        "active": Field("work", "list", SCALAR),
        **(crowd_fields() if kinds == CROWD else dense | SEGMENTS),
        **(passed_fields() if kinds else {}),
        **({"mu": Field("work", "rows", of="constraint")} if kinds >= CONES else {}),
        **(cone_fields() if kinds == CONES else {}),
        **({"last_x": Field("work", "row", SCALAR)} if kinds == IN_TURNS else {}),
        **(program_fields() if kinds == ONE_PROGRAM else {}),
    }


def program_fields() -> dict[str, Field]:
    """Those of friction by one quadratic program, in the rays of all contacts."""
    lists, pairs = ("active", "base", "towards", "box_list"), ("A", "LDL")
    found = {f"ray_{name}": Field("work", "ray_list", SCALAR) for name in lists}
    found |= {f"ray_{name}": Field("work", "ray_pair", SCALAR) for name in pairs}
    return found | {f"ray_{name}": Field("work", "ray", SCALAR) for name in RAY_ROWS if f"ray_{name}" not in found}


def cone_fields() -> dict[str, Field]:
    """Those of Coulomb cones that are solved exactly."""
    return {name: Field("work", "square" if name in ("cone_K", "cone_T") else "row", SCALAR) for name in CONE_SCRATCH}


def impact_solver(hold: Callable[..., None] | None) -> Callable[[list[Step]], list[Step]] | None:
    """What `solved_rows` needs besides a rule: with `hold_impacts`, Poisson's law."""
    return solved_impacts if hold is hold_impacts else None


SOFT_RULES = (hold_velocities, hold_under_bounds, hold_impacts)
Rules = tuple[Callable[..., None], Callable[..., None]]


ROWS: dict[str, Rules] = {
    VELOCITY: (watch_velocities, hold_velocities),
    ACCELERATION: (watch_accelerations, hold_accelerations),
}


def rules_of(level: str, hold: Callable[..., None] | None = None, watch: Callable[..., None] | None = None) -> Rules:
    """Which say what rows take part at a level (`watch`), and what they ask (`hold`); or others that do."""
    part, asked = ROWS[level]
    return watch or part, hold or asked


def watching(watch: Callable[..., None], ports: Sequence[str], crowd: bool = False) -> list[Step]:
    """What finds the rows that take part; in a crowd only shapes that are near are looked at."""
    if watch is not watch_velocities:
        return [each(watch, *ports, on="constraint")]
    return [
        each(measure),
        *([*finding(), over("others", notice, *ports, on="constraint")] if crowd else noticing(ports)),
        each(watch, *ports, on="constraint", under=("own", "noticed")),
        *[each(foresee, *ports, on="constraint", when=("own", "looks"), under=("own", "noticed"))] * LOOKS,
        each(meet, *ports, on="constraint", when=("own", "nears"), under=("own", "noticed")),
    ]


def carrying_up(hold: Callable[..., None], ports: Sequence[str], up: Callable[..., None] = climb) -> list[Step]:
    """What rows of laws that are awake ask, and their way to the root.

    hold   the rule that says what they ask
    up     the rule by which a row climbs over a joint
    """
    return [holding(hold, ports), *climbing(up, under=("law", "awake"))]


def holding(hold: Callable[..., None], ports: Sequence[str], when: tuple[str, str] | None = None) -> Sweep:
    """What rows of laws that are awake ask."""
    places = [port.replace("p", "s") for port in ports]
    return each(hold, *ports, *places, on="constraint", when=when, under=("own", "awake"))


def solved_rows(
    most: int,
    rules: Rules,
    add: Callable[..., None],
    up: Callable[..., None] = climb,
    kinds: int = EQUALITIES,
    carried: Callable[..., None] | None = None,
    impacts: Callable[[list[Step]], list[Step]] | None = None,
    soft: bool = False,
    look: SecondLook | None = None,
) -> list[Step]:
    """Rows of constraints with so many ports at most: from the free motion to the one that they allow.

    rules   which say what rows take part, and what they ask; those of `hold_velocities` may pass through singular positions
    add     the rule that adds what their forces cause to the free motion, outward
    up      the rule by which a row climbs over a joint
    kinds   what rows are (see `Collection.shape`)
    carried where bounds of some follow from what joints carry, the rule that finds it, inward (see `pressing`)
    impacts what makes of the solver one with impacts by Poisson's law (see `poisson`)
    soft    whether other rules besides those say how soft rows are (`solve_soft_boxes`)
    look    how rows are found that the motion with multipliers would pass, and solved with the others (see `passed_rows`)
    """
    ports = [f"p{i}" for i in range(most)]
    watch, hold = rules
    if kinds == CROWD:
        if watch is not watch_velocities or up is not climb or carried is not None:
            raise InputError(CROWDED)
        found = [
            *(of_found(carrying_up(hold, ports, up)) if look else carrying_up(hold, ports, up)),
            GATHER_AWAKE,
            *SOLVE_CROWD,
            Routine(spread, (*PATHS, "y_rows", "x", "dy"), when="busy"),
            outward(add, when="busy"),
        ]
        return [*watching(watch, ports, crowd=True), *looked_at_again(found, look, ports, kinds)]
    solver: list[Step] = [*row_solver(kinds, SOFT_SOLVE if soft or hold in SOFT_RULES else SOLVE)]
    matrix: list[Step] = [Routine(gram, MATRIX, when="busy")]
    again = look is not None and kinds != EQUALITIES and watch is watch_velocities
    plain = again and carried is None and impacts is None and hold is not hold_under_bounds
    spreading = Routine(spread, (*PATHS, "y_rows", "x", "dy"), when="busy")
    if carried is not None:
        solver = in_turns(solver, [spreading, outward(answer)], ports, carried)
    elif hold is hold_under_bounds:
        solver = [KEEP_MATRIX, POSE, *solver, RESTORE]
    elif impacts is not None:
        solver = impacts(solver)
    elif plain:
        matrix, solver = [], for_some_lanes([*matrix, *solver], kinds == CONES)
    carrying = carrying_up(hold, ports, up)
    if rules == ROWS[VELOCITY] and carried is None:  # which looks at all rows of a law at once
        carrying[:1] = [holding(hold_usual, ports), holding(hold_further, ports, ("own", "further"))]
    found = [
        *(of_found(carrying) if plain else carrying),
        Routine(gather, ("rows", "on", "x", "busy", "left", "active")),
        *matrix,
        *solver,
        spreading,
        outward(add, when="busy"),
    ]
    return [*watching(watch, ports), *looked_at_again(found, look if again else None, ports, kinds)]


def looked_at_again(once: Sequence[Step], look: SecondLook | None, ports: Sequence[str], kinds: int) -> list[Step]:
    """A solve and, where some rows only push and `look` says how, further ones with rows that its motion would pass."""
    if look is None or kinds == EQUALITIES:
        return [*once, *(look.displaced if look else ())]
    return solved_with_passed(once, look, ports, finding_driven() if kinds == CROWD else ())
