"""How what the routines of steps compute changes: those of time, of stages and of depths; solvers say it themselves."""

from __future__ import annotations

from ..geometry.near_segments import find_near_segments
from ..kernel.directional import tangent_of, without_tangent
from ..kernel.loops import Ints, Lane, any, loops, where
from ..kernel.products import copy
from ..rows import pressing_tangents  # noqa: F401  (what friction inside joints changes by)
from ..rows.noticing import find_near
from ..rows.passed_rows import (
    begin_doubt,
    begin_look,
    begin_rounds,
    close_depth,
    close_lanes,
    count_round,
    open_lanes,
    recall,
    tell_passed,
)
from ..rows.push_out import HUGE, RECOVERY, SOFT, look_for_depth, pose_depths
from ..rows.solved import note_impacts, remember
from ..solvers import box_tangents, cone_tangents  # noqa: F401  (what rows, boxes and cones change by)
from ..solvers.box_tangents import KEPT
from ..solvers.gram import entry
from . import runge_kutta, settle
from .symplectic_euler import advance_time

without_tangent(find_near, recall, remember, note_impacts, look_for_depth, runge_kutta.begin_step, settle.begin_near)
without_tangent(begin_doubt, begin_rounds, close_depth, close_lanes, begin_look, find_near_segments, tell_passed)


@tangent_of(count_round)
@loops
def count_round_tangent(rows: int, d_x: Lane, d_x_done: Lane) -> None:
    """Changes of multipliers of lanes that need no further solve."""
    copy(rows, d_x, 0, d_x_done, 0)


@tangent_of(open_lanes)
@loops
def open_lanes_tangent(active: Ints, goes: Lane, d_x_done: Lane, d_x: Lane) -> None:
    """They are as they were."""
    for i in range(active[0]):
        r = active[i + 1]
        d_x[r] = where(goes[0] > 0.0, d_x[r], d_x_done[r])


@tangent_of(advance_time)
@loops
def advance_time_tangent(d_t: Lane, d_h: Lane) -> None:
    """Longer steps end later."""
    d_t[0] += d_h[0]


@tangent_of(pose_depths, **KEPT)
@loops
def pose_depths_tangent(
    active: Ints,
    h: Lane,
    room: Lane,
    lower: Lane,
    upper: Lane,
    x: Lane,
    w: Lane,
    kept_A: Lane,
    d_A: Lane,
    d_h: Lane,
    d_room: Lane,
    d_b: Lane,
    d_x: Lane,
    d_out_b: Lane,
    d_out_lower: Lane,
    d_out_upper: Lane,
    d_out_x: Lane,
) -> None:
    """The right-hand side of the displacement, and its softer matrix."""
    m = active[0]
    for i in range(m):
        r = active[i + 1]
        change = d_b[r]
        for k in range(m):
            s = active[k + 1]
            change += entry(d_A, i, k) * x[s] + entry(kept_A, i, k) * d_x[s]
        pushes = (lower[r] >= 0.0) & (upper[r] > HUGE)
        slow = room[r] + h[0] * w[i] > -RECOVERY * h[0]
        moved = where(slow, d_room[r] + d_h[0] * w[i] + h[0] * change, -RECOVERY * d_h[0])
        d_out_b[r] = where(pushes, moved, 0.0)
        d_out_lower[r] = 0.0
        d_out_upper[r] = 0.0
        d_out_x[r] = 0.0
    for i in range(m):
        r = active[i + 1]
        softer = where((lower[r] >= 0.0) & (upper[r] > HUGE), 1.0 + SOFT, 1.0)
        kept_A[i * (i + 1) // 2 + i] = kept_A[i * (i + 1) // 2 + i] * softer
        d_A[i * (i + 1) // 2 + i] = d_A[i * (i + 1) // 2 + i] * softer


@tangent_of(runge_kutta.begin_rows)
@loops
def begin_rows_tangent(rows: int, d_x: Lane) -> None:
    """No impulse yet."""
    for r in range(rows):
        d_x[r] = 0.0


@tangent_of(runge_kutta.sum_slopes)
@loops
def sum_slopes_tangent(
    stage: Ints,
    stages: int,
    width: int,
    tableau: Lane,
    nodes: Lane,
    h: Lane,
    moves: Lane,
    gains: Lane,
    d_t: Lane,
    d_h: Lane,
    d_moves: Lane,
    d_gains: Lane,
    d_shift: Lane,
    d_gain: Lane,
    d_stage_t: Lane,
) -> None:
    """How the next stage moves."""
    s = stage[0]
    d_stage_t[0] = d_t[0] + nodes[s] * d_h[0]
    for i in range(width):
        d_shift[i] = 0.0
        d_gain[i] = 0.0
    for j in range(s):
        a = tableau[s * stages + j]
        if any(a != 0.0):
            w = a * h[0]
            dw = a * d_h[0]
            for i in range(width):
                d_shift[i] += w * d_moves[j * width + i] + dw * moves[j * width + i]
                d_gain[i] += w * d_gains[j * width + i] + dw * gains[j * width + i]


@tangent_of(runge_kutta.keep_slopes)
@loops
def keep_slopes_tangent(stage: Ints, width: int, d_slope: Lane, d_rate: Lane, d_moves: Lane, d_gains: Lane) -> None:
    """The slopes of the stage that has just ended."""
    s = stage[0] - 1
    for i in range(width):
        d_moves[s * width + i] = d_slope[i]
        d_gains[s * width + i] = d_rate[i]


@tangent_of(runge_kutta.tell_stage)
@loops
def tell_stage_tangent(stage: Ints, tellings: int, d_told: Lane, d_stage_told: Lane) -> None:
    """What constraints are told."""
    s = stage[0]
    for i in range(tellings):
        d_stage_told[i] = d_told[s * tellings + i]


@tangent_of(runge_kutta.sum_rows)
@loops
def sum_rows_tangent(
    stage: Ints, stages: int, rows: int, tableau: Lane, h: Lane, more: Lane, d_h: Lane, d_more: Lane, d_x: Lane
) -> None:
    """Impulses of rows."""
    weight = tableau[stages * stages + stage[0]]
    for r in range(rows):
        d_x[r] += weight * (h[0] * d_more[r] + d_h[0] * more[r])


@tangent_of(runge_kutta.end_step)
@loops
def end_step_tangent(d_t: Lane, d_stage_t: Lane) -> None:
    """The time after the step."""
    d_t[0] = d_stage_t[0]


@tangent_of(settle.add_impulses)
@loops
def add_impulses_tangent(rows: int, d_more: Lane, d_x: Lane) -> None:
    """Impulses besides those of the stages."""
    for r in range(rows):
        d_x[r] += d_more[r]
