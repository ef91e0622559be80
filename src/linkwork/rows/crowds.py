"""Rows of crowds: many bodies that may touch, most of which do not.

Every pair of shapes has its rows, which are known when the model is built: that makes a contact the same contact in every step.
What a step costs depends on those that are near:

    boxes and balls of shapes                swept and pruned, tell which laws are worth watching (`find_near`)
    rules of laws that are not               are passed over, as are the climbs of their rows
    rows that act                            are listed, each with the multiplier that it had in the last step (`gather_awake`)
    islands of these                         are solved one by one, without a matrix of all rows (`solvers.islands`)

One state at a time: which rows act steers the loops.
"""

from __future__ import annotations

from typing import Any

from ..constraints.targets import REACH, RECOVERY
from ..contact.broad import speed_bound, world_ball, world_box
from ..geometry.sweep_and_prune import sweep_and_prune
from ..kernel.loops import Ints, Lane, Table, any, loops, maximum, where
from ..kernel.sweep import SCALAR, Field, Routine, Step, each, vector
from ..solvers.islands import solve_islands
from ..spatial.se3 import SE3
from .noticing import shape_of

HUGE = 1e300
TOLERATED = 1e-13  # m, rad: no deeper than rounding
NO_ROW = 1e15  # the number of a row that is not there
MULTIPLIERS = ("last_rows", "last_multipliers")  # what a step hands to the next one
ACTING = ("acting_rows", "acting_x")  # the same, as it is recorded


# --- which are near ----------------------------------------------------------------------------------------------------------
def bound_shape(n: Any, body: Any) -> None:
    """The box and the ball of a shape, with room for twice the way that its body may take in the step."""
    bound_shape_within(n, body, 0.0 if n.still else REACH * n.h * speed_bound(shape_of(n), body.speeds))


def bound_shape_driven(n: Any, body: Any) -> None:
    """The same with room for the way of its motion with multipliers."""
    bound_shape_within(n, body, 0.0 if n.still else n.h * speed_bound(shape_of(n), body.driven_speeds))


def bound_shape_within(n: Any, body: Any, margin: Any) -> None:
    """The same with so much room."""
    shape = shape_of(n)
    pose = SE3() if n.still else body.pose
    n.box_low, n.box_high = world_box(shape, pose, margin)
    n.ball_middle, n.ball_reach = world_ball(shape, pose, margin)


@loops
def find_near(
    laws: int,
    shapes: int,
    starts: Table,
    second: Table,
    number: Table,
    low: Lane,
    high: Lane,
    middle: Lane,
    reach: Lane,
    order: Ints,
    rest: Lane,
    listed: Ints,
    noticed: Lane,
    awake: Lane,
) -> None:
    """Laws whose shapes are near one another are noticed; none is awake yet."""
    sweep_and_prune(shapes, laws, starts, second, number, low, high, middle, reach, order, rest, noticed, listed)
    for k in range(laws):
        awake[k] = 0.0


@loops
def gather_awake(
    laws: int,
    law_rows: Table,
    remembered: int,
    awake: Lane,
    on: Lane,
    last_rows: Lane,
    last_x: Lane,
    x: Lane,
    busy: Lane,
    left: Lane,
    active: Ints,
) -> None:
    """List the rows that are on: their number, then they. Multipliers begin where the same rows ended in the last step."""
    for i in range(active[0]):
        x[active[i + 1]] = 0.0
    busy[0] = 0.0
    left[0] = 0.0
    m = 0
    k = 0
    for law in range(laws):
        if any(awake[law] > 0.0):
            for r in range(law_rows[law], law_rows[law + 1]):
                if any(on[r] > 0.0):
                    m += 1
                    active[m] = r
                    x[r] = 0.0
                    while k < remembered and any(last_rows[k] < float(r)):
                        k += 1
                    if k < remembered and any(last_rows[k] <= float(r)):
                        x[r] = last_x[k]
    active[0] = m
    if m > 0:
        busy[0] = 1.0


@loops
def remember(remembered: int, active: Ints, x: Lane, last_rows: Lane, last_x: Lane, acting_rows: Lane, acting_x: Lane) -> None:
    """What the next step begins with, and what is recorded: rows in their order, and their multipliers.

    Where there are more than there is room for, the record says so by a number that is none.
    """
    m = min(active[0], remembered)
    for k in range(m):
        last_rows[k] = float(active[k + 1])
        last_x[k] = x[active[k + 1]]
    for k in range(m, remembered):
        last_rows[k] = NO_ROW
        last_x[k] = 0.0
    for k in range(remembered):
        acting_rows[k] = last_rows[k]
        acting_x[k] = last_x[k]
    if active[0] > remembered:
        acting_x[0] = 0.0 * HUGE / (0.0 * x[0])


# --- displacements of what is too deep ---------------------------------------------------------------------------------------
@loops
def pose_depths_seen(
    active: Ints,
    cones: Table,
    h: Lane,
    room: Lane,
    on: Lane,
    motion: Lane,
    lower: Lane,
    upper: Lane,
    out_active: Ints,
    out_on: Lane,
    out_b: Lane,
    out_lower: Lane,
    out_upper: Lane,
    out_x: Lane,
) -> None:
    """The problem of the displacement, as `push_out.pose_depths`, from the motion that rows see after the step.

    Rows of friction have no part in it, and are not listed. What is no deeper than TOLERATED touches, and joins no islands.
    """
    m = 0
    for i in range(active[0]):
        r = active[i + 1]
        pushes = (lower[r] >= 0.0) & (upper[r] > HUGE)
        holds = (lower[r] < -HUGE) & (upper[r] > HUGE)
        if cones[r] > 1 or cones[r] < 0:
            holds = holds & (on[r] < 0.0)
        out_x[r] = 0.0
        if any(pushes | holds):
            m += 1
            out_active[m] = r
            gap = room[r] + h[0] * motion[r]
            out_on[r] = 1.0
            out_b[r] = where(pushes, where(gap < -TOLERATED, maximum(gap, -RECOVERY * h[0]), maximum(gap, 0.0)), 0.0)
            out_lower[r] = lower[r]
            out_upper[r] = upper[r]
    out_active[0] = m


# --- the program -------------------------------------------------------------------------------------------------------------
PATHS, ROWS = ("starts", "places", "freedoms", "joints"), ("u_rows", "y_rows")
GIVEN = 20  # arguments of `solve_islands` before its scratch
SPACES = {
    **dict.fromkeys(("root", "ends", "waits", "island_left", "local", "degree", "gone", "order"), "crowd_joint"),
    **dict.fromkeys(("island", "at"), "list"),
    "slot": "crowd_pair",
    "first": "crowd_list",
    "block": "crowd_entry",
}
CODECS = {"near": 2, "pivots": 6, "U": 6, "Y": 6, "R": 6, "C": 6, "H": 36, "w": 6, "joint_w": 6, "B": 9}
LARGE = {
    **dict.fromkeys("UYRC", "crowd_entry"),
    "near": "crowd_pair",
    "H": "crowd_pair",
    "K": "crowd_matrix",
    "w": "crowd_joint",
    "joint_w": "crowd_joint",
    "B": "row",
    "pivots": "crowd_joint",
}
SCRATCH = tuple(name for name, _ in solve_islands.parameters[GIVEN:])


def crowd_fields() -> dict[str, Field]:
    """Those of steps of crowds, besides the fields of their rows."""
    found = {
        "box_low": Field("work", "node", vector(3), of="shape"),
        "box_high": Field("work", "node", vector(3), of="shape"),
        "ball_middle": Field("work", "node", vector(3), of="shape"),
        "ball_reach": Field("work", "node", SCALAR, of="shape"),
        "sweep_order": Field("work", "shape_list", SCALAR),
        "sweep_rest": Field("work", "shape_list", SCALAR),
        "near_list": Field("work", "law_list", SCALAR),
        "motion": Field("work", "row", SCALAR),
        "no_mu": Field("work", "row", SCALAR),
        "out_active": Field("work", "list", SCALAR),
        **{name: Field("state", "remembered", SCALAR) for name in MULTIPLIERS},
        **{name: Field("output", "remembered", SCALAR) for name in ACTING},
    }
    for name in SCRATCH:
        space, size = LARGE.get(name) or SPACES.get(name, "row"), CODECS.get(name)
        found[f"crowd_{name}"] = Field("work", space, SCALAR if size is None else vector(size))
    return found


TABLES, BOUNDS = ("near_starts", "near_second", "near_law"), ("box_low", "box_high", "ball_middle", "ball_reach")
ORDERS = ("sweep_order", "sweep_rest")


def finding() -> list[Step]:
    """What finds the laws that are worth watching, of those that have shapes to sweep."""
    near = ("laws", "shapes", *TABLES, *BOUNDS, *ORDERS, "near_list", "noticed", "awake")
    return [each(bound_shape, "p0", on="shape"), Routine(find_near, near)]


def finding_driven() -> list[Step]:
    """What finds the laws whose shapes are near in the motion with multipliers, where in doubt."""
    near = ("shapes", "laws", *TABLES, *BOUNDS, *ORDERS, "noticed_driven", "near_list")
    return [each(bound_shape_driven, "p0", on="shape"), Routine(sweep_and_prune, near)]


GATHER_AWAKE = Routine(
    gather_awake,
    ("laws", "law_rows", "remembered_count", "awake", "on", *MULTIPLIERS, "x", "busy", "left", "active"),
)


def islands(listed: str, cones: str, problem: tuple[str, ...], settings: str, when: str) -> Routine:
    """A problem on the rows that are listed.

    cones      the table of what rows are
    problem    mu, on, b, lower, upper, x, motion, left
    settings   whose numbers (`solvers.islands.SETTINGS`)
    """
    numbers = tuple(f"{settings}_{name}" for name in ("soft", "enough", "changes"))
    scratch = tuple(f"crowd_{name}" for name in SCRATCH)
    rows, out = problem[:6], problem[6:]
    return Routine(solve_islands, ("joint_count", listed, cones, *rows, *PATHS, *ROWS, *out, *numbers, *scratch), when=when)


SOLVE_CROWD = [
    islands("active", "cones", ("mu", "on", "b", "lower", "upper", "x", "motion", "left"), "crowd", "busy"),
    Routine(remember, ("remembered_count", "active", "x", *MULTIPLIERS, *ACTING)),
]


def crowd_displacement(out: tuple[str, ...]) -> list[Step]:
    """What poses and solves the problem of displacements; `out` are the names of its rows (`push_out.OUT`)."""
    posed = ("room", "on", "motion", "lower", "upper")
    return [
        Routine(pose_depths_seen, ("active", "cones", "h", *posed, "out_active", *out), when="deep"),
        islands("out_active", "no_cones", ("no_mu", *out, "motion", "out_left"), "out", "deep"),
    ]
