"""What the rows of a constraint ask of a step, or of accelerations: the rules of one law at the places of its ports.

    watch, foresee, meet   which rows take part: those that cannot act are passed over, their law is not awake
    hold                   G, what is missing of the targets (`constraints.targets`), bounds, and G^T at the places of the ports

At velocity level multipliers are impulses.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..constraints.targets import (
    any_of,
    contact_targets,
    hit_of,
    inelastic_targets,
    push_targets,
    reached,
    slipping,
    strikes,
    touching,
    velocity_targets,
)
from ..elements.derive import Derived, approach, derive, nearer, reach
from ..elements.law import RowLaw
from ..elements.nodes import STILL, law_at
from ..elements.ports import At, BodyAt, joined, values
from ..elements.ports import velocities as velocities_of
from ..elements.touch import (
    FAR,
    LOOKED,
    ahead_or_now,
    are_there,
    bent,
    carried,
    gaps_before,
    levers,
    levers_ahead,
    meeting,
    nearing,
    rows_of,
)
from ..joints import Joint
from ..solvers.problem import is_bounded_by_another
from ..spatial.dual import held
from ..spatial.scalar import Scalar, Vector, array, cross, dot, is_zero, minimum, zeros
from ..spatial.scalar import where as chosen
from .pressing import bound

TURN = 3.0  # of the turn of bodies in a step: so near to a singular position rows go soft
SOFTEST = 1e-4  # of the diagonal of rows: the softness of a step at most
NEWTON_STEPS = 4  # for the unknowns of constraints, from where they were
FAR_STEP = 0.05  # of the unknowns, or of 1: shorter first steps of Newton's method lead where they should


def row_law_at(n: Any, ports: Sequence[Any]) -> tuple[RowLaw, list[At]]:
    """In a rule, the constraint of a node with its parameters and what it was told, and its ports where they are."""
    law, at = law_at(n, ports)
    return law.with_inputs(n.told), at


def free_motion(n: Any, ports: Sequence[Any], at: Sequence[At]) -> list[Vector]:
    """The free motion of the ports of a constraint."""
    found = []
    for kind, port, here in zip(n.kinds, ports, at, strict=False):
        found.append(zeros(6) if kind == STILL else port.free if isinstance(here, BodyAt) else port.free_v)
    return found


def refined(law: RowLaw, at: Sequence[At], t: Scalar, unknown: Vector) -> Vector:
    """The unknowns of a constraint, by Newton's method from where they were."""
    for _ in range(NEWTON_STEPS if law.unknowns else 0):
        unknown = nearer(law, values(at), t, unknown)
    return unknown


def astray(law: RowLaw, at: Sequence[At], t: Scalar, unknown: Vector) -> Scalar:
    """1 where Newton's method begins too far away to end at the unknowns for sure: its first step is long, and the second not
    half as long [Deuflhard, Newton Methods for Nonlinear Problems, 2.1]; else 0."""
    if not law.unknowns:
        return 0.0
    better = nearer(law, values(at), t, unknown)
    first, second = better - unknown, nearer(law, values(at), t, better) - better
    long = dot(first, first) > FAR_STEP * FAR_STEP * (1.0 + dot(unknown, unknown))
    return chosen(long, chosen(4.0 * dot(second, second) < dot(first, first), 0.0, 1.0), 0.0)


def watch_velocities(n: Any, *ports: Any) -> None:
    """Which rows take part in a step, of laws that were noticed."""
    law, at = row_law_at(n, ports)
    n.foot = unknown = refined(law, at, n.t, n.unknown)
    if law.unilateral and law.holonomic:
        gap, rate = reach(law, at, n.t, unknown, free_motion(n, ports, at), n.h)
        n.on = n.noticed * law.per_row(reached(gap, rate, n.h, n.row_late))
        if law.touches:
            n.clearance = least_gap(law, gap, n.on)
    else:
        n.on = array([1.0] * law.size)
    n.awake = any_of(n.on)
    wake_further(n, law)
    if law.curved:
        nears, first = nearing(law, at, free_motion(n, ports, at), n.h)
        n.misses, n.nears = 0.0, n.awake * nears
        n.meets = n.nears * first
        n.looks = chosen(n.meets > LOOKED, 1.0, 0.0)


def least_gap(law: RowLaw, gap: Vector, on: Vector) -> Scalar:
    """The least gap of the points of shapes whose rows are off: no motion that closes less in a step passes any. It decides what
    takes part, and has no derivatives."""
    found: Scalar = FAR
    for g, acts in zip(gap, on[:: law.per_point], strict=True):
        found = minimum(found, chosen(acts > 0.0, FAR, held(g)))
    return found


def wake_further(n: Any, law: RowLaw) -> None:
    """1 where some of the points act that only special positions have, else 0."""
    first = law.usual * law.per_point
    if first < law.size:
        n.further = any_of(n.on[first:])


def foresee(n: Any, *ports: Any) -> None:
    """Of shapes whose normals turn, and which come nearer from apart, when in the step they meet, and whether they miss: looked
    at once more, while that changes."""
    if not n.law.curved:
        return
    law, at = row_law_at(n, ports)
    looks = n.looks > 0.0
    s, misses = meeting(law, at, free_motion(n, ports, at), n.h, n.meets)
    n.looks = chosen(looks & (s > n.meets + LOOKED), 1.0, 0.0)
    n.meets, n.misses = chosen(looks, s, n.meets), chosen(looks, misses, n.misses)


def meet(n: Any, *ports: Any) -> None:
    """Of shapes that come nearer from apart, where they meet; those that miss one another have no rows, nor have points that are
    not there then."""
    if not n.law.curved:
        return
    law, at = row_law_at(n, ports)
    n.levers = ahead = levers_ahead(law, at, free_motion(n, ports, at), n.h, n.meets)
    before = any_of(n.on)
    n.on = n.on * (1.0 - n.misses) * law.per_row(are_there(ahead))
    n.clearance = chosen(any_of(n.on) < before, 0.0, n.clearance)
    n.awake = n.awake * any_of(n.on)
    wake_further(n, law)


def watch_accelerations(n: Any, *ports: Any) -> None:
    """Which rows act on accelerations."""
    law, at = row_law_at(n, ports)
    n.foot = unknown = refined(law, at, n.t, n.unknown)
    if law.unilateral and law.holonomic:
        n.on = law.per_row(touching(*approach(law, at, n.t, unknown, [here.velocity for here in at])))
    else:
        n.on = array([1.0] * law.size)
    n.awake = any_of(n.on)


def keep_unknowns(n: Any) -> None:
    """Where Newton's method begins in the next step."""
    n.unknown = n.foot


def hold_velocities(n: Any, *around: Any) -> None:
    """The rows of one constraint at velocity level; around it are its ports, and the places of its rows there."""
    hold_by(ask, n, around)


def hold_impacts(n: Any, *around: Any) -> None:
    """The same with impacts by Poisson's law (see `poisson`)."""
    hold_by(ask_twice, n, around)


def hold_by(ask: Callable[..., None], n: Any, around: Sequence[Any]) -> None:
    """The same, with what says what rows ask for."""
    ports, places = around[: len(around) // 2], around[len(around) // 2 :]
    hold_rows(ask, n, *row_law_at(n, ports), ports, places)


def drift_of(kind: Any, port: Any) -> Vector | None:
    """h J_dot v of a port in a step; None: it has none, as joint velocities have no J that turns."""
    return None if isinstance(kind, Joint) else port.drift


def hold_rows(
    ask: Callable[..., None],
    n: Any,
    law: RowLaw,
    at: Sequence[At],
    ports: Sequence[Any],
    places: Sequence[Any],
    drift: Callable[[Any, Any], Vector | None] = drift_of,
) -> None:
    """The same of a law on its ports where they are, whose motion changes in the step by `drift(kind, port)` besides."""
    share = 0.5 * way_left(n, law) if law.holonomic else 1.0
    found = derive(law, at, n.t if law.holonomic else n.t + n.h, n.foot)
    asked = zeros(law.size)
    if law.timed:
        later = law.gap_of(values(at), n.t + n.h, n.foot) if law.holonomic else None
        asked = found.given if later is None else (found.residual - array(list(later))) / n.h
    n.soft = array([0.0 if law.bounded else softness(at, n.h)] * law.size)
    motion = free_motion(n, ports, at)
    turned = []
    for kind, port, free in zip(n.kinds, ports, motion, strict=False):
        change = None if kind == STILL else drift(kind, port)
        turned.append(free if change is None else free + share * change)
    ahead = foreseen(n, law, at, motion, found) if law.curved else found
    ask(n, law, ahead, motion, turned, bend_in(n, law, at, found, ahead.G, share), asked)
    place_rows(n, law, ahead.G, places, n.h)


def hold_under_bounds(n: Any, *around: Any) -> None:
    """The same within the bounds found so far, where these follow from what joints carry (see `pressing`)."""
    hold_velocities(n, *around)
    bound(n)


def way_left(n: Any, law: RowLaw) -> Scalar:
    """The square of the part of a step behind the place where shapes meet: J turns and rows bend from there on, by as much."""
    return (1.0 - n.meets) * (1.0 - n.meets) if law.curved else 1.0


def bend_in(n: Any, law: RowLaw, at: Sequence[At], found: Derived, G: np.ndarray, share: Scalar) -> Vector:
    """What rows G change by until the part of a step for which they are meant, from what they are now.

    A bias is the rate of a row at twists that stay in the axes of their bodies. Where points run away, what it has besides that
    which bodies carry by themselves is bounded. G (0, w x v), the turn of axes, is as large as the motion that all bodies have in
    common: it belongs to rows where they are made, also ahead.
    """
    part = share * n.h * found.bias
    if law.lies_along:
        own = share * n.h * carried(law, levers(law, values(at), values(at)), at)
        part = bent(law, at, part - own) + own
    if law.curved:
        turns = joined([np.concatenate([zeros(3), cross(here.velocity[:3], here.velocity[3:])]) for here in at])
        part = part + share * n.h * ((G - found.G) @ turns)
    return part


def made_rows(n: Any, law: RowLaw, at: Sequence[At]) -> np.ndarray:
    """G of shapes where they meet in the step."""
    return rows_of(law, ahead_or_now(law, at, n.levers, n.nears > 0.0), values(at))


def foreseen(n: Any, law: RowLaw, at: Sequence[At], motion: Sequence[Vector], found: Derived) -> Derived:
    """Rows and gaps where shapes meet in the step."""
    there = ahead_or_now(law, at, n.levers, n.nears > 0.0)
    G = rows_of(law, there, values(at))
    residual = gaps_before(law, there, n.meets * n.h, G @ joined(motion))
    return replace(found, G=G, residual=residual, rate=G @ joined(velocities_of(at)))


def ask_twice(
    n: Any, law: RowLaw, found: Derived, motion: Sequence[Vector], turned: Sequence[Vector], bend: Vector, asked: Vector
) -> None:
    """b as without restitution, and what an impact by Poisson's law needs to know of the rows (see `poisson`)."""
    ask(n, law, found, motion, turned, bend, asked, inelastic_targets)
    n.hit, n.giving, n.b_hit = zeros(law.size), zeros(law.size), found.rate if law.bounded else zeros(law.size)
    if law.unilateral and law.holonomic:
        _, free, before = rates_of(n, found, motion, turned, bend)
        normal = [not (law.cones and is_bounded_by_another(kind)) for kind in law.row_kinds]
        rows = zip(found.residual, before, free, found.rate, normal, strict=True)
        hits = [hit_of(g, r, f, law.grip()[1], n.h) if own else (0.0, 0.0, slip) for g, r, f, slip, own in rows]
        n.hit, n.giving, n.b_hit = (array(list(part)) for part in zip(*hits, strict=True))


def ask(
    n: Any,
    law: RowLaw,
    found: Derived,
    motion: Sequence[Vector],
    turned: Sequence[Vector],
    bend: Vector,
    asked: Vector,
    targets: Callable[..., Vector] = contact_targets,
) -> None:
    """b: what rows see of the free motion of the ports, less what they want; and the room that is left where no more is done.

    turned   the motion at the time for which rows are meant, as J turns until then
    bend     what the rows change by until then
    targets  of normals with restitution

    Tangents of contacts look at points of the bodies where they are at the start: these have no place to keep, and what many of
    them see of one body is a rigid motion, so that all of them may stick.
    """
    slips, free, before = rates_of(n, found, motion, turned, bend)
    if not (law.unilateral and law.holonomic):
        residual = zeros(law.size) if "residual" in law.unseen else found.residual
        n.b = free - velocity_targets(residual, asked, n.h, n.correction)
        return
    _, restitution = law.grip()
    if is_zero(restitution):
        wanted = push_targets(found.residual, asked, n.h)
    else:
        wanted = targets(found.residual, before, free, n.h, restitution)
    struck = strikes(before, free)
    if law.cones:
        normal = [not is_bounded_by_another(kind) for kind in law.row_kinds]
        wanted, struck = (array([x if own else 0.0 for x, own in zip(part, normal, strict=True)]) for part in (wanted, struck))
        free = array([x if own else slip for x, slip, own in zip(free, slips, normal, strict=True)])
        n.mu = law.row_friction()
    n.b, n.strikes = free - wanted, struck
    n.room = found.residual + n.h * (wanted - asked)


def rates_of(
    n: Any, found: Derived, motion: Sequence[Vector], turned: Sequence[Vector], bend: Vector
) -> tuple[Vector, Vector, Vector]:
    """What rows see of the free motion where they are, and at the time for which they are meant; and of the motion as long before
    their place, which is that of the last step: what they change by until the one, they have changed by since the other."""
    here = seen_by(n, found.G, motion)
    free = seen_by(n, found.G, turned) + bend
    return here, free, found.rate - (free - here)


def softness(at: Sequence[At], h: Scalar, most: float = SOFTEST) -> Scalar:
    """The square of the angle by which the bodies of a row turn in a step, and some more: within it of a singular position, what
    the row asks for means nothing (see `solve_soft_boxes`); not more than `most`."""
    found: Scalar = 0.0
    for here in at:
        if isinstance(here, BodyAt):
            found = found + dot(here.velocity[:3], here.velocity[:3])
    return minimum(TURN * TURN * h * h * found, most)


def hold_accelerations(n: Any, *around: Any) -> None:
    """The rows of one constraint at acceleration level."""
    ports, places = around[: len(around) // 2], around[len(around) // 2 :]
    law, at = row_law_at(n, ports)
    found = derive(law, at, n.t, n.foot)
    pose_rows(n, law, found.G, free_motion(n, ports, at), -found.bias, places, 1.0)
    if law.bounded:
        n.lower, n.upper = slipping(n.lower, n.upper, found.rate)


def pose_rows(
    n: Any, law: RowLaw, G: np.ndarray, free: Sequence[Vector], wanted: Vector, places: Sequence[Any], h: Scalar
) -> None:
    """b = G free - wanted, the bounds of the multipliers (forces during h), and G^T at the places of the ports."""
    n.b = seen_by(n, G, free) - wanted
    place_rows(n, law, G, places, h)


def seen_by(n: Any, G: np.ndarray, motion: Sequence[Vector]) -> Vector:
    """What rows see of a motion of their ports."""
    first, seen = 0, zeros(len(G))
    for kind, part in zip(n.kinds, motion, strict=False):
        if kind != STILL:
            seen = seen + G[:, first : first + len(part)] @ part
        first += len(part)
    return seen


def place_rows(n: Any, law: RowLaw, G: np.ndarray, places: Sequence[Any], h: Scalar) -> None:
    """The bounds of the multipliers (forces during h), and G^T at the places of the ports; nothing of rows that are off."""
    if law.together < max(law.size, law.part_of):
        G = G * np.reshape(n.on, (-1, 1))
    n.G_rows, first = G, 0
    for kind, place in zip(n.kinds, places, strict=False):
        size = kind.nv if isinstance(kind, Joint) else 6
        block = G[:, first : first + size].reshape(-1)
        first += size
        if isinstance(kind, Joint):
            place.c = place.c + block
        elif kind != STILL:
            place.p = place.p + block
    n.lower, n.upper = (array([times_of(x, h) for x in side]) for side in law.bounds())


def times_of(force: Scalar, h: Scalar) -> Scalar:
    """force times h; bounds that are infinite stay numbers, which fold."""
    return force if isinstance(force, float) and np.isinf(force) else force * h
