"""How what the routines of implicit and of variational steps compute changes. Times and lengths of steps do not, nor what says
which lanes go on; impulses of rows do.

Rounds of Newton's method run on dual numbers, too. With the exact matrix their changes are one round behind, with another one
they shrink as fast; so rounds that have come to an end begin once more, a few times (`kernel.directional.settles`).
"""

from __future__ import annotations

from ..kernel.directional import settles, tangent_of, without_tangent
from ..kernel.loops import Ints, Lane, Table, loops, where
from ..maximal import implicit_program as maximal_implicit
from ..maximal import implicit_rounds, newton, newton_parts
from ..redmax import dense_tangents  # noqa: F401  (what dense systems change by)
from . import implicit_program, implicit_pushes, implicit_round, linearly_implicit, newton_rounds, rattle, rosenbrock, variational
from .implicit_stage import WEIGHT

without_tangent(linearly_implicit.look_ahead, rosenbrock.begin_step)
without_tangent(
    implicit_program.begin_step,
    implicit_program.begin_part,
    implicit_program.begin_stage,
    implicit_program.end_part,
    implicit_program.begin_anew,
    implicit_program.end_step,
    implicit_pushes.begin_round,
    implicit_pushes.note_crossing,
    implicit_round.begin_newton,
    implicit_round.judge,
    implicit_round.note_open,
)
without_tangent(
    variational.begin_step,
    variational.begin_part,
    variational.end_step,
    newton_rounds.begin_newton,
    newton_rounds.judge,
    newton_rounds.note_stuck,
)
without_tangent(
    maximal_implicit.advance_time,
    maximal_implicit.advance_settled_time,
    implicit_rounds.first_round,
    implicit_rounds.first_trial,
    implicit_rounds.seek,
    implicit_rounds.judge,
    newton.begin_rounds,
    newton.judge,
    newton_parts.hand_over,
    newton_parts.begin_parts,
    newton_parts.settle,
    newton_parts.next_part,
    newton_parts.lose,
)
settles(implicit_round.begin_newton, newton_rounds.begin_newton, newton.begin_rounds)


# --- rows of implicit stages ---------------------------------------------------------------------------------------------------
@tangent_of(implicit_round.keep_forces)
@loops
def keep_forces_tangent(rows: int, go: Lane, d_force: Lane, d_kept: Lane) -> None:
    """Forces of the rows in lanes that go."""
    for r in range(rows):
        d_kept[r] = where(go[0] > 0.0, d_force[r], d_kept[r])


@tangent_of(implicit_program.add_forces)
@loops
def add_forces_tangent(rows: int, live: Lane, row: Lane, part: Lane, d_kept: Lane, d_more_x: Lane) -> None:
    """Impulses of the stages."""
    w = live[0] * row[WEIGHT] * part[0]
    for r in range(rows):
        d_more_x[r] = where(live[0] > 0.0, d_more_x[r] + w * d_kept[r], d_more_x[r])


@tangent_of(implicit_program.take_impulses)
@loops
def take_impulses_tangent(rows: int, taken: Lane, d_more_x: Lane, d_x: Lane) -> None:
    """Those of parts that are taken."""
    for r in range(rows):
        d_x[r] = where(taken[0] > 0.0, d_x[r] + d_more_x[r], d_x[r])


@tangent_of(rosenbrock.sum_rows)
@loops
def sum_rows_tangent(rows: int, h: Lane, gh: Lane, d_x_first: Lane, d_x_second: Lane, d_x: Lane) -> None:
    """Impulses of the rows."""
    for r in range(rows):
        d_x[r] = 0.5 * h[0] * (d_x_first[r] / gh[0] + d_x_second[r])


@tangent_of(rosenbrock.split_told)
@loops
def split_told_tangent(count: int, d_told: Lane, d_told_first: Lane, d_told_second: Lane) -> None:
    """What constraints are told."""
    for i in range(count):
        d_told_first[i] = d_told[i]
        d_told_second[i] = d_told[count + i]


# --- rows of variational steps -------------------------------------------------------------------------------------------------
@tangent_of(variational.begin_rows)
@loops
def begin_rows_tangent(rows: int, d_x: Lane) -> None:
    """No impulse yet."""
    for r in range(rows):
        d_x[r] = 0.0


@tangent_of(variational.begin_mixing, variational.choose_mix)
@loops
def mixing_tangent(d_returns: Lane, d_differs: Lane, d_mix: Lane) -> None:
    """Zero: the part of the last step that is taken back decides how rounds come to their end, not which end that is."""
    d_returns[0] = 0.0
    d_differs[0] = 0.0
    d_mix[0] = 0.0


@tangent_of(rattle.tell_part)
@loops
def tell_part_tangent(part: Ints, told_count: int, d_told: Lane, d_told_start: Lane, d_told_mid: Lane, d_told_end: Lane) -> None:
    """What constraints are told."""
    first = 3 * part[0] * told_count
    for i in range(told_count):
        d_told_start[i] = d_told[first + i]
        d_told_mid[i] = d_told[first + told_count + i]
        d_told_end[i] = d_told[first + 2 * told_count + i]


@tangent_of(rattle.ask)
@loops
def ask_tangent(
    active: Ints,
    starts: Table,
    places: Table,
    freedoms: Table,
    v_at: Table,
    u: Lane,
    y: Lane,
    d_u: Lane,
    d_y: Lane,
    d_miss: Lane,
    d_b: Lane,
) -> None:
    """Of miss + G M^-1 r."""
    for i in range(active[0]):
        r = active[i + 1]
        total = d_miss[r]
        for a in range(starts[r], starts[r + 1]):
            for k in range(freedoms[a]):
                total += d_u[places[a] + k] * y[v_at[a] + k] + u[places[a] + k] * d_y[v_at[a] + k]
        d_b[r] = total


@tangent_of(rattle.keep_impulses)
@loops
def keep_impulses_tangent(rows: int, go: Lane, d_more: Lane, d_kept: Lane) -> None:
    """Impulses in lanes that go."""
    for r in range(rows):
        d_kept[r] = where(go[0] > 0.0, d_more[r], d_kept[r])


@tangent_of(rattle.end_rows)
@loops
def end_rows_tangent(rows: int, step: Lane, d_kept: Lane, d_more: Lane, d_x: Lane, d_force: Lane) -> None:
    """Impulses at both ends, and their mean force."""
    for r in range(rows):
        d_force[r] = (d_kept[r] + d_more[r]) / step[0]
        d_x[r] += d_kept[r] + d_more[r]


# --- rows of maximal coordinates -----------------------------------------------------------------------------------------------
@tangent_of(maximal_implicit.keep_rows)
@loops
def keep_rows_tangent(rows: int, going: Lane, d_x: Lane, d_found: Lane) -> None:
    """The multipliers of lanes that go on."""
    for r in range(rows):
        d_found[r] = where(going[0] > 0.5, d_x[r], d_found[r])


@tangent_of(maximal_implicit.return_rows)
@loops
def return_rows_tangent(rows: int, d_x: Lane, d_found: Lane) -> None:
    """Those of the last solve."""
    for r in range(rows):
        d_x[r] = d_found[r]
