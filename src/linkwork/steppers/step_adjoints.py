"""Weights of what the routines of steps are computed from, as `step_tangents` transposed; solvers say it themselves."""

from __future__ import annotations

from ..kernel.adjoint_routines import adjoint_of, at_the_end, without_adjoint
from ..kernel.loops import Ints, Lane, any, loops, where
from ..kernel.rounds_backwards import rounds_begin, runs_at_most
from ..maximal import implicit_program as maximal_implicit
from ..reduced import solve_adjoints  # noqa: F401  (those of accelerations)
from ..rows.noticing import find_near
from ..rows.passed_rows import begin_rounds, close_depth, close_lanes, open_lanes, recall, tell_passed
from ..rows.push_out import HUGE, RECOVERY, SOFT, look_for_depth, pose_depths
from ..rows.solved import note_impacts, remember
from ..solvers import box_adjoints, cone_adjoints  # noqa: F401  (those of rows, boxes and cones)
from ..solvers.gram import entry
from ..solvers.gram_adjoints import WEIGHTS, add_diagonal, add_products
from . import implicit_program, implicit_round, newton_rounds, rosenbrock, runge_kutta, variational
from .implicit_stage import STAGES
from .linearly_implicit import look_ahead
from .symplectic_euler import advance_time

without_adjoint(find_near, note_impacts, look_for_depth, recall)
without_adjoint(begin_rounds, close_depth, close_lanes, open_lanes, tell_passed)
without_adjoint(runge_kutta.begin_step, look_ahead, rosenbrock.begin_step)
without_adjoint(variational.begin_step, variational.begin_part, newton_rounds.begin_newton, newton_rounds.note_stuck)
without_adjoint(
    implicit_program.begin_step,
    implicit_program.begin_part,
    implicit_program.begin_stage,
    implicit_program.end_part,
    implicit_round.begin_newton,
)
at_the_end(
    advance_time,
    remember,
    runge_kutta.end_step,
    variational.end_step,
    implicit_program.end_step,
    maximal_implicit.advance_time,
)
rounds_begin(newton_rounds.begin_newton, "path_v", "go")
rounds_begin(implicit_round.begin_newton, "u_move", "go")
runs_at_most(implicit_program.begin_part, 1)
runs_at_most(implicit_program.begin_stage, STAGES)


@adjoint_of(runge_kutta.keep_slopes)
@loops
def keep_slopes_adjoint(stage: Ints, width: int, bar_slope: Lane, bar_rate: Lane, bar_moves: Lane, bar_gains: Lane) -> None:
    """The stage before is next."""
    s = stage[0] - 1
    for i in range(width):
        bar_slope[i] += bar_moves[s * width + i]
        bar_rate[i] += bar_gains[s * width + i]
        bar_moves[s * width + i] = 0.0
        bar_gains[s * width + i] = 0.0
    stage[0] = s


@adjoint_of(runge_kutta.sum_slopes)
@loops
def sum_slopes_adjoint(
    stage: Ints,
    stages: int,
    width: int,
    tableau: Lane,
    h: Lane,
    bar_moves: Lane,
    bar_gains: Lane,
    bar_shift: Lane,
    bar_gain: Lane,
) -> None:
    """To the slopes of the stages before, by the row of the tableau."""
    s = stage[0]
    for j in range(s):
        a = tableau[s * stages + j]
        if any(a != 0.0):
            w = a * h[0]
            for i in range(width):
                bar_moves[j * width + i] += w * bar_shift[i]
                bar_gains[j * width + i] += w * bar_gain[i]
    for i in range(width):
        bar_shift[i] = 0.0
        bar_gain[i] = 0.0


@adjoint_of(pose_depths, then=(add_diagonal, add_products), weights=WEIGHTS, diagonal=WEIGHTS)
@loops
def pose_depths_adjoint(
    active: Ints,
    h: Lane,
    room: Lane,
    lower: Lane,
    upper: Lane,
    x: Lane,
    w: Lane,
    out_x: Lane,
    kept_A: Lane,
    weights: Lane,
    diagonal: Lane,
    bar_room: Lane,
    bar_b: Lane,
    bar_x: Lane,
    bar_out_b: Lane,
    b: Lane,
) -> None:
    """out_b = room + h w with w = A x + b: `weights` become those of w. Before, they are those of the matrix with a softer
    diagonal times out_x; `diagonal` is what that has more than A."""
    m = active[0]
    for i in range(m):
        r = active[i + 1]
        w[i] = b[r]
        for k in range(m):
            w[i] += entry(kept_A, i, k) * x[active[k + 1]]
        pushes = (lower[r] >= 0.0) & (upper[r] > HUGE)
        slow = room[r] + h[0] * w[i] > -RECOVERY * h[0]
        weight = where(pushes & slow, bar_out_b[r], 0.0)
        bar_out_b[r] = 0.0
        bar_room[r] += weight
        diagonal[i] = where(pushes, SOFT * weights[i] * out_x[r], 0.0)
        weights[i] = h[0] * weight
        bar_b[r] += weights[i]
    for i in range(m):
        r = active[i + 1]
        total = bar_x[r]
        for k in range(m):
            total += entry(kept_A, i, k) * weights[k]
        bar_x[r] = total
