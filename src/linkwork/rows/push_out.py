"""What has gone too deep is pushed out by a displacement of its own, in the metric of the mass; velocities do not know of it.

A step leads to the gaps g' = room + h w: `room` is left at the least velocity that was asked for, and w = A x + b is what rows
have more. On the factor and the rows of the step,

    dq = M^-1 G^T y,    y >= 0,    g' + G dq >= 0, one of the two zero,    G dq = 0 for equalities,

no deeper than RECOVERY h at once. Friction does not resist it. A little softness of every row keeps the displacement small where
contacts contradict one another. Nothing is done where no gap is below zero by more than TOLERATED.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..constraints.targets import RECOVERY
from ..elements.collection import CONES, CROWD, EQUALITIES, Shape
from ..kernel.loops import Ints, Lane, Table, any, loops, maximum, where
from ..kernel.sweep import SCALAR, Field, Routine, Step, outward
from ..solvers.few_boxes import solve_few_boxes
from ..solvers.gram import PATHS, entry, gram, is_nothing, spread
from ..spatial.scalar import zeros
from .crowds import TOLERATED, crowd_displacement
from .solved import MATRIX, SCRATCH

SOFT = 1e-4  # of the diagonal
HUGE = 1e300
OUT = ("out_on", "out_b", "out_lower", "out_upper", "out_x")
SLOTS = ("out_places", "out_rows", "out_slots")


@loops
def look_for_depth(active: Ints, on: Lane, room: Lane, lower: Lane, upper: Lane, correction: Lane, deep: Lane) -> None:
    """1 where a row that only pushes is too deep, else 0."""
    deep[0] = 0.0
    for i in range(active[0]):
        r = active[i + 1]
        pushes = (on[r] > 0.0) & (lower[r] >= 0.0) & (upper[r] > HUGE)
        deep[0] = where(pushes & (room[r] < -TOLERATED) & (correction[0] > 0.0), 1.0, deep[0])


@loops
def motion_of(i: int, n: int, acting: Ints, active: Ints, A: Lane, x: Lane) -> float:
    """What multipliers cause in row i of the list; `acting` are the places of those that are not zero in all lanes. A lane adds
    its own in their order: what is zero in it changes no bit."""
    total = 0.0 * A[0]
    for p in range(n):
        total += entry(A, i, acting[p]) * x[active[acting[p] + 1]]
    return total


@loops
def pose_depths(
    active: Ints,
    cones: Table,
    h: Lane,
    deep: Lane,
    room: Lane,
    on: Lane,
    b: Lane,
    lower: Lane,
    upper: Lane,
    x: Lane,
    A: Lane,
    acting: Ints,
    w: Lane,
    out_on: Lane,
    out_b: Lane,
    out_lower: Lane,
    out_upper: Lane,
    out_x: Lane,
) -> None:
    """The problem of the displacement, on the matrix of the rows; in lanes that are not deep nothing is on."""
    m = active[0]
    n = 0
    for i in range(m):
        acting[n] = i  # stays if some multiplier is not zero
        if not is_nothing(x[active[i + 1]]):
            n += 1
    for i in range(m):
        r = active[i + 1]
        pushes = (lower[r] >= 0.0) & (upper[r] > HUGE)
        w[i] = 0.0
        if any(pushes & (on[r] > 0.0)):
            w[i] = b[r] + motion_of(i, n, acting, active, A, x)
        holds = (lower[r] < -HUGE) & (upper[r] > HUGE)
        if cones[r] > 1 or cones[r] < 0:
            holds = holds & (on[r] < 0.0)
        out_on[r] = where((deep[0] > 0.0) & (on[r] > 0.0) & (pushes | holds), 1.0, 0.0)
        out_b[r] = where(pushes, maximum(room[r] + h[0] * w[i], -RECOVERY * h[0]), 0.0)
        out_lower[r] = lower[r]
        out_upper[r] = upper[r]
        out_x[r] = 0.0
        A[i * (i + 1) // 2 + i] = A[i * (i + 1) // 2 + i] * where(pushes, 1.0 + SOFT, 1.0)


def displace(n: Any, parent: Any) -> None:
    """The displacement of joints, beside their motion."""
    a = n.E.pull_twist(parent.jump)
    n.shift = n.dy - n.K @ a
    n.jump = a + n.S @ n.shift
    n.dy = zeros(len(n.shift))


def push_out_fields(shape: Shape) -> dict[str, Field]:
    """Those of steps with rows that only push; `shift` is zero but after `displace`, whoever moves joints clears it."""
    if shape[3] == EQUALITIES:
        return {}
    return {
        "shift": Field("work", "v"),
        "deep": Field("work", "global", SCALAR),
        "out_left": Field("work", "global", SCALAR),
        "out_slots": Field("work", "list", SCALAR),
        **{name: Field("work", "row", SCALAR) for name in (*OUT, *SLOTS[:2])},
    }


def push_out(shape: Shape, move: Callable[..., None] = displace) -> list[Step]:
    """The sweeps after those of `solved_rows`.

    move   the rule that turns `dy` into displacements, outward
    """
    matrix = Routine(gram, MATRIX, when="deep")
    spreading = Routine(spread, (*PATHS, "y_rows", "out_x", "dy"), when="deep")
    return pushed_out(shape, matrix, [spreading, outward(move, when="deep")])


def pushed_out(shape: Shape, matrix: Routine, answer: Sequence[Step]) -> list[Step]:
    """The same on any factor.

    matrix   makes A of the rows once more, where solving them has used it up
    answer   makes the displacement of `out_x`
    """
    if shape[3] == EQUALITIES:
        return []
    look = Routine(look_for_depth, ("active", "on", "room", "lower", "upper", "correction", "deep"))
    if shape[3] == CROWD:
        return [look, *crowd_displacement(OUT), *answer]
    posed = ("room", "on", "b", "lower", "upper", "x", "A", "box_list", "w_rows")
    return [
        look,
        *([] if shape[3] == CONES else [matrix]),
        Routine(pose_depths, ("active", "cones", "h", "deep", *posed, *OUT), when="deep"),
        Routine(solve_few_boxes, ("active", *OUT, "A", "out_left", "LDL", *SCRATCH, *SLOTS), when="deep"),
        *answer,
    ]
