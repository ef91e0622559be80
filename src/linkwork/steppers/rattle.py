"""Constraints of a variational step: RATTLE on Lie groups [Andersen 1983], with every kind of row.

Rows add impulses to the momenta of `discrete_lagrangian` at both ends: one along G(q) such that they hold where the step ends,
one along G(q') such that the velocities there obey them,

    p + G(q)^T x = p0(q, v),     g(q', t + h) = 0 at the end q' of the path with velocities v,
    M(q') v' = p1(q, v) + G(q')^T x',     G(q') v' = given.

Rows on velocities have no residual g: of them the rate in the middle of the step is to vanish. What is asked is the same from
both ends, so the step stays symmetric. The first line is solved by Newton's method with M(q) and G(q) for its matrix; as

    G M^-1 r = sum over the joints on the path of a row of u_row . y,     y = D^-1 u of the joint forces r,

rows look at what the tree answers through the u that they left on their way to the root.

Bounds count for half the step at either end. Dry friction is a row on velocities that has them. Rows that only push act where
they touch when the step begins; what they do besides is the matter of `settle`. In steps backwards in time, which compositions
have, impulses have the opposite sign; there friction that slips goes on with the force of the step before, as nothing says when
it began. Within a step of a singular position rows are soft (`solve_soft_boxes`), so that it is passed on its branch.
"""

from __future__ import annotations

from typing import Any

from ..constraints.targets import TOUCHING, any_of, touching
from ..elements.derive import approach, derive
from ..elements.law import RowLaw
from ..elements.ports import values, velocities
from ..kernel.loops import Ints, Lane, Table, loops, maximum, where
from ..kernel.sweep import Field, Routine, Step, each, vector
from ..rows.asked import pose_rows, refined, row_law_at, softness, times_of
from ..rows.solved import MATRIX, SOFT_SOLVE, carrying_up
from ..solvers.boxes import gather
from ..solvers.gram import PATHS, gram, spread
from ..spatial.scalar import Vector, absolute, array, zeros
from ..spatial.scalar import where as chosen
from .stages import renamed

SOFTEST = 0.1  # of the diagonal of rows: the softness of a step at most; rounds of a step over a singular position need it
START = {"t": "start_t", "told": "told_start"}
MIDDLE = {"q": "mid_q", "v": "mid_v", "t": "mid_t", "told": "told_mid"}
END = {"q": "end_q", "t": "end_t", "told": "told_end"}
AFTER = {"t": "end_t", "told": "told_end"}


# --- what rows ask -----------------------------------------------------------------------------------------------------------
def watch(n: Any, *ports: Any) -> None:
    """Which rows act in the step."""
    law, at = row_law_at(n, ports)
    n.foot = unknown = refined(law, at, n.t, n.unknown)
    if law.bounded:
        n.slips = array([chosen(absolute(r) > TOUCHING, 1.0, 0.0) for r in derive(law, at, n.t, unknown).rate])
    if law.unilateral and law.holonomic:
        n.on = touching(*approach(law, at, n.t, unknown, velocities(at)))
    else:
        n.on = array([1.0] * law.size)
    n.awake = any_of(n.on)


def watch_again(n: Any, *ports: Any) -> None:
    """The same rows act where the step ends."""
    law, at = row_law_at(n, ports)
    n.foot = n.unknown = refined(law, at, n.t, n.unknown)


def hold(n: Any, *around: Any) -> None:
    """The rows of one constraint: the velocities of their bodies are to obey them, with impulses of half a step."""
    ports, places = around[: len(around) // 2], around[len(around) // 2 :]
    law, at = row_law_at(n, ports)
    found = derive(law, at, n.t, n.foot)
    pose_rows(n, law, found.G, [zeros(here.size) for here in at], -found.rate, places, 1.0)
    n.lower, n.upper = half_bounds(n, law)
    n.soft = array([softness(at, n.step, SOFTEST)] * law.size)


def half_bounds(n: Any, law: RowLaw) -> tuple[Vector, Vector]:
    """The bounds of impulses during half a step, which may go backwards."""
    half, back = absolute(0.5 * n.step), n.step < 0.0
    lower, upper = ([times_of(x, half) for x in side] for side in law.bounds())
    least = [_either(back, -b, a) for a, b in zip(lower, upper, strict=True)]
    most = [_either(back, -a, b) for a, b in zip(lower, upper, strict=True)]
    if law.bounded:
        going = [(chosen(back, slips, 0.0), 0.5 * n.step * force) for slips, force in zip(n.slips, n.force, strict=True)]
        least, most = ([chosen(on > 0.0, x, b) for (on, x), b in zip(going, side, strict=True)] for side in (least, most))
    return array(least), array(most)


def _either(condition: Any, a: Any, b: Any) -> Any:
    """a where it holds, else b; numbers that are the same fold."""
    return a if isinstance(a, float) and isinstance(b, float) and a == b else chosen(condition, a, b)


def miss_rates(n: Any, *ports: Any) -> None:
    """The rates, in the middle of the step, of rows on velocities."""
    law, at = row_law_at(n, ports)
    if not law.holonomic:
        n.miss = derive(law, at, n.t, n.foot).rate


def miss_gaps(n: Any, *ports: Any) -> None:
    """The residuals where the step ends, over its length."""
    law, at = row_law_at(n, ports)
    if "residual" in law.unseen:
        n.miss = zeros(law.size)
    elif law.holonomic:
        n.miss = array(list(law.gap_of(values(at), n.t, refined(law, at, n.t, n.unknown)))) / n.step


# --- routines ----------------------------------------------------------------------------------------------------------------
@loops
def tell_part(part: Ints, told_count: int, told: Lane, told_start: Lane, told_mid: Lane, told_end: Lane) -> None:
    """What constraints are told at the start, in the middle and at the end of this part of the step."""
    first = 3 * part[0] * told_count
    for i in range(told_count):
        told_start[i] = told[first + i]
        told_mid[i] = told[first + told_count + i]
        told_end[i] = told[first + 2 * told_count + i]


@loops
def ask(active: Ints, starts: Table, places: Table, unknowns: Table, u: Lane, y: Lane, miss: Lane, b: Lane) -> None:
    """b = miss + G M^-1 r; see the module's text."""
    for i in range(active[0]):
        r = active[i + 1]
        total = miss[r]
        for a in range(starts[r], starts[r + 1]):
            total += u[places[a]] * y[unknowns[a]]
        b[r] = total


@loops
def keep_impulses(rows: int, go: Lane, more: Lane, kept: Lane, more_left: Lane, kept_left: Lane) -> None:
    """Impulses of the rows, and what they leave open, in lanes that go."""
    kept_left[0] = where(go[0] > 0.0, more_left[0], kept_left[0])
    for r in range(rows):
        kept[r] = where(go[0] > 0.0, more[r], kept[r])


@loops
def end_rows(
    rows: int, step: Lane, kept: Lane, more: Lane, x: Lane, force: Lane, kept_left: Lane, more_left: Lane, left: Lane
) -> None:
    """Impulses of this part of the step, at both its ends, and their mean force."""
    left[0] = maximum(left[0], maximum(kept_left[0], more_left[0]))
    for r in range(rows):
        force[r] = (kept[r] + more[r]) / step[0]
        x[r] += kept[r] + more[r]


# --- steps -------------------------------------------------------------------------------------------------------------------
def rattle_fields() -> dict[str, Field]:
    """Those besides `reduced.program.row_fields`."""
    per_row = {name: Field("work", "rows", of="constraint") for name in ("miss", "more", "kept", "slips", "force")}
    told = {name: Field("work", "told", of="constraint") for name in ("told_start", "told_mid", "told_end")}
    return {
        **per_row,
        **told,
        "told": Field("input", "tellings", vector(1)),
        "more_left": Field("work", "global", vector(1)),
        "kept_left": Field("work", "global", vector(1)),
        "unknown": Field("state", "unknown", of="constraint"),
    }


def posed_rows(most: int, again: bool) -> list[Step]:
    """Rows of constraints with so many ports at most, on their way to the root: where the step begins, or where it ends."""
    ports = [f"p{i}" for i in range(most)]
    steps: list[Step] = [
        each(watch_again if again else watch, *ports, on="constraint"),
        *carrying_up(hold, ports),
        Routine(gather, ("rows", "on", "more", "busy", "more_left", "active")),
    ]
    return [renamed(step, AFTER if again else START) for step in steps]


def missed_rates(most: int) -> Step:
    """What rows on velocities ask, in the middle of the step."""
    return renamed(each(miss_rates, *(f"p{i}" for i in range(most)), on="constraint", when=("own", "awake")), MIDDLE)


def missed_gaps(most: int) -> Step:
    """What all others ask, at its end."""
    return renamed(each(miss_gaps, *(f"p{i}" for i in range(most)), on="constraint", when=("own", "awake")), END)


ASK = Routine(ask, ("active", "path_starts", "path_places", "path_unknowns", "u_rows", "y", "miss", "b"), when="busy")
SOLVE: list[Step] = [
    Routine(gram, MATRIX, when="busy"),
    renamed(SOFT_SOLVE, {"x": "more", "left": "more_left"}),
    Routine(spread, (*PATHS, "y_rows", "more", "dy"), when="busy"),
]
KEEP = Routine(keep_impulses, ("rows", "go", "more", "kept", "more_left", "kept_left"))
END_ROWS = Routine(end_rows, ("rows", "step", "kept", "more", "x", "force", "kept_left", "more_left", "left"))
