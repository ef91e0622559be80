"""Rows that the motion with multipliers would pass: found after the solve, and solved with the others once more.

Which rows take part follows from the free motion. An impulse of another row may drive a joint against a stop, or a body into a
shape, that the free motion would not reach. So the motion that rows have led to, with the displacement that pushes out, is looked
at: a row that is off, and whose gap it would close to less than -TOUCHING within the step, is switched on, and all rows are
solved anew from the free motion. Every round adds a row, so rounds end; after ROUNDS the largest speed at which something is
still passed counts among what the solver left (`complementarity` of the health report).

    stops, and gaps of other laws       are looked at one by one: a comparison each
    shapes that were noticed            keep the least gap of the rows that are off, which no motion of a bounded speed can pass
    shapes that were not                were farther than twice their free way: looked at where one has become faster than that

What shapes do is looked at closely only where one of these bounds is passed (`doubt`). Rows that are found so are made where the
bodies are. Lanes in which nothing is found take part in further rounds, and find the same numbers again; solvers pass them over.

What rests against a stop is often led away by its free motion, and back by others: it would be found in every step. So a law of
which a row was found takes part with its closed rows from then on (`row_late`), until it has not pushed for 1 / FORGETS steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..constraints.targets import REACH, TOUCHING, any_of
from ..contact.broad import speed_bound
from ..elements.derive import reach
from ..elements.law import RowLaw
from ..elements.nodes import BODY, STILL
from ..elements.ports import At, BodyAt, values
from ..elements.touch import LOOKED, LOOKS, meeting, nearing
from ..geometry.near_segments import find_near_segments
from ..kernel.loops import Ints, Lane, loops, maximum, where
from ..kernel.products import clear, copy
from ..kernel.sweep import SCALAR, Field, Repeat, Routine, Step, Sweep, each, guard_of, over, vector
from ..spatial.dual import held
from ..spatial.scalar import Scalar, Vector, array, zeros
from ..spatial.scalar import maximum as larger
from ..spatial.scalar import where as chosen
from .asked import least_gap, row_law_at, wake_further
from .noticing import PAIRS, SEGMENTS, hold_shape_driven, shape_of, speeds_of

ROUNDS = 40  # solves of one step at most: chains of impacts take one for each member
FORGETS = 1.0 / 32.0  # of `row_late`, in a step in which a law does not push
FURTHER = "further_solves"  # of a step, besides the first
LATER = ("global", FURTHER)
AGAIN = "again"  # the largest speed (m/s, rad/s) at which a row that is off would be passed; 0: none would


@dataclass(frozen=True)
class SecondLook:
    """What a formulation does for a further solve.

    restore    makes the free motion as it was before rows changed it, and no displacement: steps under FURTHER
    drive      makes `driven`, the motion of bodies with multipliers and displacements; nothing where rows look at joints alone
    displaced  what makes displacements, after every solve; the first says where something is deep
    returned   gives lanes that need no further solve the displacements that they had: steps under FURTHER
    """

    restore: Sequence[Step]
    drive: Sequence[Step]
    displaced: Sequence[Step] = ()
    returned: Sequence[Step] = ()


# --- the motion with multipliers ---------------------------------------------------------------------------------------------
def clear_shift(n: Any) -> None:
    """No displacement; what it was is kept."""
    n.shift_done, n.shift = n.shift, zeros(len(n.free_v))


def drive(n: Any, parent: Any) -> None:
    """The motion of a body in a step, by the velocities and the displacements of joints."""
    n.driven = held(n.E.pull_twist(parent.driven) + n.S @ (n.free_v + n.shift / n.h))
    n.driven_speeds = speeds_of(n.driven)


def driven_motion(n: Any, ports: Sequence[Any], at: Sequence[At]) -> list[Vector]:
    """The motion of the ports of a constraint with multipliers and displacements."""
    found = []
    for kind, port, here in zip(n.kinds, ports, at, strict=False):
        at_joint = not isinstance(here, BodyAt)
        found.append(zeros(6) if kind == STILL else held(port.free_v + port.shift / n.h) if at_joint else port.driven)
    return found


def driven_speeds(n: Any, ports: Sequence[Any]) -> list[Vector]:
    """|v| and |w| of the bodies of a constraint."""
    return [port.driven_speeds if kind == BODY else zeros(2) for kind, port in zip(n.kinds, ports, strict=False)]


def return_shift(n: Any) -> None:
    """Displacements of lanes that need no further solve are as they were."""
    n.shift = returned(n, n.shift, n.shift_done)


def returned(n: Any, now: Vector, done: Vector) -> Vector:
    """What lanes have now that need a further solve, and what others had."""
    return array([chosen(n.goes > 0.0, a, b) for a, b in zip(now, done, strict=True)])


# --- laws ----------------------------------------------------------------------------------------------------------------------
def in_doubt(n: Any, flag: Scalar) -> None:
    """Look closely at a law where a flag is 1."""
    n.noticed_driven, n.doubt = larger(n.noticed_driven, flag), larger(n.doubt, flag)


def look_at_rows(n: Any, *ports: Any) -> None:
    """Switch on what is passed, of laws whose gap is found at once; of shapes, whether one might be."""
    law, at = row_law_at(n, ports)
    if not (law.unilateral and law.holonomic):
        return
    if law.touches and not law.looks:
        way = n.h * law.closing_bound(values(at), driven_motion(n, ports, at))
        in_doubt(n, chosen(n.clearance + TOUCHING < way, 1.0, 0.0))
        return
    gap, rate = reach(law, at, n.t, n.foot, driven_motion(n, ports, at), n.h)
    switch_on(n, law, passed(law, gap, rate, n.on, n.h), gap, rate)


def passed(law: RowLaw, gap: Vector, rate: Vector, on: Vector, h: Scalar) -> Vector:
    """1 for points whose rows are off and which are passed at such rates, else 0."""
    points = zip(gap, rate, on[:: law.per_point], strict=True)
    return array([chosen((g + h * r < -TOUCHING) & (acts <= 0.0), 1.0, 0.0) for g, r, acts in points])


def switch_on(n: Any, law: RowLaw, points: Vector, gap: Vector, rate: Vector) -> None:
    """The rows of these points take part, and are solved again."""
    n.on = array([larger(a, b) for a, b in zip(n.on, law.per_row(points), strict=True)])
    n.awake = larger(n.awake, any_of(points))
    wake_further(n, law)
    speeds = [chosen(p > 0.0, -(g / n.h + r), 0.0) for p, g, r in zip(points, gap, rate, strict=True)]
    n.again = held(larger(n.again, any_of(array(speeds))))
    n.row_found = larger(n.row_found, any_of(points))


def keep_late(n: Any) -> None:
    """At the end of a step, 1 for a law of which a row was found, and which has pushed since; less from step to step if not."""
    if not (n.law.unilateral and n.law.holonomic):
        return
    pushes = any_of(array([chosen(x > 0.0, 1.0, 0.0) for x in n.x[:: n.law.per_point]]))
    goes_on = larger(n.row_found, pushes * chosen(n.row_late > 0.0, 1.0, 0.0))
    n.row_late = chosen(n.awake > 0.0, chosen(goes_on > 0.0, 1.0, larger(n.row_late - FORGETS, 0.0)), n.row_late)
    n.row_found = 0.0


def look_at_shape(n: Any, body: Any) -> None:
    """Whether a shape has become so fast that it may reach what was not near in its free motion."""
    if n.still:
        return
    shape = shape_of(n)
    more = speed_bound(shape, body.driven_speeds, impacts=False) - REACH * speed_bound(shape, body.speeds)
    n.far_doubt = chosen(n.h * more > TOUCHING, 1.0, n.far_doubt)
    n.doubt = larger(n.doubt, n.far_doubt)


def look_at_others(n: Any, *ports: Any) -> None:
    """The same of laws that are no pairs of shapes of bounded extent, and were not noticed."""
    law, at = row_law_at(n, ports)
    if law.touches and not law.looks and not law.swept:
        near = law.near(values(at), driven_speeds(n, ports), n.h)
        in_doubt(n, chosen(n.noticed > 0.0, 0.0, near))


def watch_driven(n: Any, *ports: Any) -> None:
    """Which points of shapes are passed; of shapes whose normals turn, which are about to meet."""
    law, at = row_law_at(n, ports)
    if not law.touches or law.looks:
        return
    on = n.on * chosen(n.awake > 0.0, 1.0, 0.0)
    gap, rate = reach(law, at, n.t, n.foot, driven_motion(n, ports, at), n.h)
    found = passed(law, gap, rate, on, n.h) * chosen(n.doubt > 0.0, 1.0, 0.0)
    if not law.curved:
        take(n, law, on, found, gap, rate)
        return
    nears, first = nearing(law, at, driven_motion(n, ports, at), n.h)
    n.driven_meets, n.driven_misses = any_of(found) * nears * held(first), 0.0
    n.driven_looks = chosen(n.driven_meets > LOOKED, 1.0, 0.0)
    n.driven_nears = any_of(found) * nears


def foresee_driven(n: Any, *ports: Any) -> None:
    """When in the step these meet, and whether they miss."""
    if not n.law.curved:
        return
    law, at = row_law_at(n, ports)
    looks, before = n.driven_looks > 0.0, n.driven_meets
    s, misses = meeting(law, at, driven_motion(n, ports, at), n.h, before)
    n.driven_looks = chosen(looks & (s > before + LOOKED), 1.0, 0.0)
    n.driven_meets, n.driven_misses = chosen(looks, held(s), before), chosen(looks, misses, n.driven_misses)


def meet_driven(n: Any, *ports: Any) -> None:
    """Switch on what these pass, made where the bodies are."""
    if not n.law.curved:
        return
    law, at = row_law_at(n, ports)
    on = n.on * chosen(n.awake > 0.0, 1.0, 0.0)
    gap, rate = reach(law, at, n.t, n.foot, driven_motion(n, ports, at), n.h)
    found = passed(law, gap, rate, on, n.h) * n.driven_nears * (1.0 - n.driven_misses) * chosen(n.doubt > 0.0, 1.0, 0.0)
    fresh = (any_of(found) > 0.0) & (n.awake <= 0.0)
    n.nears, n.misses, n.meets = (chosen(fresh, 0.0, x) for x in (n.nears, n.misses, n.meets))
    take(n, law, on, found, gap, rate)


def take(n: Any, law: RowLaw, on: Vector, found: Vector, gap: Vector, rate: Vector) -> None:
    """Switch on points of shapes, which are noticed from now on."""
    n.on = array([chosen(n.doubt > 0.0, acts, x) for acts, x in zip(on, n.on, strict=True)])
    switch_on(n, law, found, gap, rate)
    n.noticed = larger(n.noticed, any_of(found))
    n.clearance = chosen(n.doubt > 0.0, least_gap(law, gap, n.on), n.clearance)


# --- routines ------------------------------------------------------------------------------------------------------------------
@loops
def begin_rounds(again: Lane, further_solves: Lane) -> None:
    """Nothing is passed yet."""
    again[0] = 0.0
    further_solves[0] = 0.0


@loops
def count_round(
    rows: int, again: Lane, x: Lane, left: Lane, further_solves: Lane, goes: Lane, x_done: Lane, left_done: Lane
) -> None:
    """One more solve, in lanes that need one; others keep what they found."""
    goes[0] = where(again[0] > 0.0, 1.0, 0.0)
    further_solves[0] += goes[0]
    copy(rows, x, 0, x_done, 0)
    left_done[0] = left[0]


@loops
def close_lanes(active: Ints, goes: Lane, on: Lane, on_done: Lane) -> None:
    """For the solver no row is on in lanes that need none."""
    for i in range(active[0]):
        r = active[i + 1]
        on_done[r] = on[r]
        on[r] = where(goes[0] > 0.0, on[r], 0.0)


@loops
def close_depth(goes: Lane, deep: Lane) -> None:
    """Such lanes are not pushed out once more."""
    deep[0] = where(goes[0] > 0.0, deep[0], 0.0)


@loops
def open_lanes(active: Ints, goes: Lane, on_done: Lane, x_done: Lane, left_done: Lane, on: Lane, x: Lane, left: Lane) -> None:
    """Their rows and multipliers are as they were."""
    left[0] = where(goes[0] > 0.0, left[0], left_done[0])
    for i in range(active[0]):
        r = active[i + 1]
        on[r] = on_done[r]
        x[r] = where(goes[0] > 0.0, x[r], x_done[r])


def for_some_lanes(solver: Sequence[Step], warm: bool) -> list[Step]:
    """What makes and solves the matrix of rows, and passes over, in further solves, lanes that need none.

    warm   whether it begins at multipliers that there are, which further solves do at those of the last one
    """
    kept = ("on_done", "x_done", "left_done", "on", "x", "left")
    begin = [Routine(recall, ("active", "on", "x_done", "x"), when=FURTHER)] if warm else []
    return [
        *begin,
        Routine(close_lanes, ("active", "goes", "on", "on_done"), when=FURTHER),
        *solver,
        Routine(open_lanes, ("active", "goes", *kept), when=FURTHER),
    ]


@loops
def recall(active: Ints, on: Lane, impulses: Lane, x: Lane) -> None:
    """The listed rows begin where they were before; those that are off stay at zero."""
    for i in range(active[0]):
        r = active[i + 1]
        x[r] = where(on[r] > 0.0, impulses[r], 0.0)


def turn_to_found(n: Any) -> None:
    """In further solves rows of laws of which none was found are as they were."""
    n.was_awake, n.awake = n.awake, n.awake * n.row_found


def turn_back(n: Any) -> None:
    """All laws that were awake are."""
    n.awake = n.was_awake


def of_found(carrying: Sequence[Step]) -> list[Step]:
    """What rows ask and their climbs, which are made once."""
    one, other = (Repeat((each(rule, on="constraint"),), 1, when=FURTHER) for rule in (turn_to_found, turn_back))
    return [one, *carrying, other]


def for_all_lanes(steps: Sequence[Step]) -> list[Step]:
    """Steps that pass over no lane in further solves: where more is made of solutions than motions."""
    some = (close_lanes, close_depth, open_lanes, recall, return_shift)
    acts = (step.function if isinstance(step, Routine) else step.rule if isinstance(step, Sweep) else None for step in steps)
    return [step for step, act in zip(steps, acts, strict=True) if guard_of(step) != FURTHER or act not in some]


@loops
def begin_look(again: Lane, doubt: Lane) -> None:
    """Nothing is passed, as far as is known."""
    again[0] = 0.0
    doubt[0] = 0.0


@loops
def begin_doubt(laws: int, far_doubt: Lane, noticed: Lane) -> None:
    """No law is in doubt."""
    far_doubt[0] = 0.0
    clear(laws, noticed)


@loops
def tell_passed(again: Lane, left: Lane) -> None:
    """What is still passed after the last round is left."""
    left[0] = maximum(left[0], again[0])


COUNTED = ("rows", AGAIN, "x", "left", FURTHER, "goes", "x_done", "left_done")


# --- the program ---------------------------------------------------------------------------------------------------------------
LATE = {"row_late": Field("state", "node", SCALAR, of="constraint", steers=True)}  # where it is kept from step to step
KEEP_LATE = each(keep_late, on="constraint", when=("own", "awake"))


def passed_fields() -> dict[str, Field]:
    """Those of rows that may be switched on after the solve."""
    one = Field("work", "node", SCALAR, of="constraint", steers=True)
    names = ("clearance", "noticed_driven", "driven_meets", "driven_misses", "driven_looks", "driven_nears")
    return {
        **dict.fromkeys(names, one),
        "driven": Field("work", "node", vector(6), steers=True),
        "driven_speeds": Field("work", "node", vector(2), steers=True),
        **{name: Field("work", "global", SCALAR, steers=True) for name in (AGAIN, "doubt", "far_doubt")},
        **{name: Field("work", "global", SCALAR, steers=True) for name in (FURTHER, "goes")},
        "left_done": Field("work", "global", SCALAR),
        **{name: Field("work", "rows", of="constraint") for name in ("on_done", "x_done")},
        "row_late": one,
        "row_found": one,
        "was_awake": one,
        "shift_done": Field("work", "v"),
    }


def looks_at_shapes(ports: Sequence[str]) -> list[Step]:
    """The steps that look closely at the shapes that are in doubt."""
    near = ("own", "noticed_driven")
    return [
        each(watch_driven, *ports, on="constraint", under=near),
        *[each(foresee_driven, *ports, on="constraint", when=("own", "driven_looks"), under=near)] * LOOKS,
        each(meet_driven, *ports, on="constraint", when=("own", "driven_nears"), under=near),
    ]


FIND_NEAR: list[Step] = [
    each(hold_shape_driven, "p0", on="shape"),
    Routine(find_near_segments, ("shapes", *PAIRS, *SEGMENTS, "noticed_driven")),
]


def solved_with_passed(once: Sequence[Step], look: SecondLook, ports: Sequence[str], crowd: Sequence[Step] = ()) -> list[Step]:
    """A solve of the rows that take part, again with those that its motion would pass.

    once   from the rows that take part to the motion that they allow
    crowd  what notices shapes in that motion (`noticed_driven`), if they are many
    """
    looks: list[Step] = [*look.drive]
    if look.drive:
        looks += [Routine(begin_doubt, ("laws", "far_doubt", "noticed_driven")), each(look_at_shape, "p0", on="shape")]
        looks.append(Repeat(tuple(crowd or FIND_NEAR), 1, when="far_doubt"))
        others = over("others", look_at_others, *ports, on="constraint")
        looks.append(others if crowd else each(look_at_others, *ports, on="constraint"))
    looks.append(each(look_at_rows, *ports, on="constraint", under=("own", "noticed")))
    looks += [Repeat(tuple(looks_at_shapes(ports)), 1, when="doubt")] if look.drive else []
    displaced: list[Step] = []
    if look.displaced:
        some = Routine(close_depth, ("goes", "deep"), when=FURTHER)
        displaced = [look.displaced[0], some, *look.displaced[1:], *look.returned]
    again = Routine(count_round, COUNTED, when=AGAIN), Repeat(tuple(look.restore), 1, when=FURTHER)
    looked = Routine(begin_look, (AGAIN, "doubt")), Repeat(tuple(looks), 1, steers=True, when="busy")
    steps = (*again, *once, *displaced, *looked)
    return [
        Routine(begin_rounds, (AGAIN, FURTHER)),
        Repeat(steps, ROUNDS, AGAIN, again=FURTHER),
        Routine(tell_passed, (AGAIN, "left"), when="busy"),
    ]
