"""Weights of what the routines of steps are computed from, as `step_tangents` transposed; solvers say it themselves."""

from __future__ import annotations

from ..kernel.adjoint import adjoint_of, at_the_end, without_adjoint
from ..kernel.loops import Ints, Lane, loops, where
from ..reduced import solve_adjoints  # noqa: F401  (those of accelerations)
from ..reduced.program import note_impacts, recall, remember
from ..reduced.push_out import HUGE, RECOVERY, SOFT, look_for_depth, pose_depths
from ..solvers import box_adjoints, cone_adjoints  # noqa: F401  (those of rows, boxes and cones)
from ..solvers.box_adjoints import add_matrix_weights
from ..solvers.box_tangents import entry
from .symplectic_euler import advance_time

without_adjoint(note_impacts, look_for_depth, recall)
at_the_end(advance_time, remember)


@adjoint_of(pose_depths)
@loops
def pose_depths_adjoint(
    active: Ints,
    h: Lane,
    room: Lane,
    lower: Lane,
    upper: Lane,
    x: Lane,
    bs: Lane,
    w: Lane,
    xs: Lane,
    kept_A: Lane,
    bar_A: Lane,
    bar_room: Lane,
    bar_b: Lane,
    bar_x: Lane,
    bar_out_b: Lane,
    b: Lane,
) -> None:
    """out_b = room + h w with w = A x + b, and the softer diagonal of the matrix; xs are the weights of w."""
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
        xs[i] = h[0] * weight
        bar_b[r] += xs[i]
        bar_A[i * (i + 1) // 2 + i] = bar_A[i * (i + 1) // 2 + i] * where(pushes, 1.0 + SOFT, 1.0)
    for i in range(m):
        r = active[i + 1]
        total = bar_x[r]
        for k in range(m):
            total += entry(kept_A, i, k) * xs[k]
        bar_x[r] = total
    add_matrix_weights(active, x, xs, bar_A)
