"""Velocities that rows which only push allow: what follows a step that did not look at them.

A step on accelerations feels rows that touch, but no impact, and no gap that closes on the way. After it the velocities are
changed by impulses x, in one problem with all rows,

    v'' = v' + M^-1 G^T x,    only pushes:  G v'' >= asked - gap / h where the gap is open (it may close in the next step),
                                                  >= asked - CORRECTION gap / h where it is not,   x >= 0,
                              equalities:   G v'' = G v'.

Where nothing is near nothing is done, in every lane by itself: a step keeps its order until a row acts.

With restitution e a row that meets its surface in the next step, or has done so in this one, asks for G v'' >= v', the speed with
which it parts (`targets.late_rebound`); rates where the step began are noted before it. So an impact is taken early, by a part
of a step, with the energy of the height that is left.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..constraints.targets import any_of, late_rebound, reached, recovering_targets
from ..elements.collection import Shape
from ..elements.derive import Derived, derive, reach
from ..elements.law import RowLaw
from ..kernel.loops import Lane, loops, maximum
from ..kernel.sweep import SCALAR, Field, Routine, Step, Sweep, each, outward
from ..maximal import program as maximal
from ..model.rules import inertia_of
from ..reduced import program as reduced
from ..reduced.forward import velocities
from ..reduced.rules import factor_joint
from ..rows.asked import free_motion, pose_rows, refined, row_law_at
from ..rows.solved import MATRIX, SCRATCH, carrying_up
from ..solvers.boxes import gather, solve_boxes
from ..solvers.gram import PATHS, gram, spread
from ..spatial.scalar import Vector, array, is_zero, where, zeros
from ..spatial.scalar import maximum as larger

NEAR = ("global", "near")


# --- where the tree is --------------------------------------------------------------------------------------------------------
def keep_joints(n: Any) -> None:
    """Without rows, velocities stay as they are."""
    n.free_v = n.v


def keep_motion(n: Any) -> None:
    """The same, of joints and bodies."""
    n.free_v, n.free = n.v, n.twist


def factor_inertia(n: Any, parent: Any) -> None:
    """How joints answer to impulses."""
    f = factor_joint(inertia_of(n) + n.IA, n.S, n.armature)
    n.K, n.factor = f.K, f
    parent.IA = parent.IA + n.E.move_inertia(f.Ia)


def take_joints(n: Any) -> None:
    """The velocities that rows allow."""
    n.v = n.free_v


def take_bodies(n: Any) -> None:
    """The same in maximal coordinates."""
    n.twists = n.free


# --- rows ---------------------------------------------------------------------------------------------------------------------
@loops
def begin_near(near: Lane) -> None:
    """Nothing is near yet."""
    near[0] = 0.0


@loops
def add_impulses(rows: int, more: Lane, x: Lane, more_left: Lane, left: Lane) -> None:
    """Impulses besides those of the stages."""
    left[0] = maximum(left[0], more_left[0])
    for r in range(rows):
        x[r] += more[r]


def look(n: Any, *ports: Any) -> None:
    """Which rows may act, and whether one that only pushes is among them. Dry friction has acted during the step."""
    law, at = row_law_at(n, ports)
    n.foot = unknown = refined(law, at, n.t, n.unknown)
    if law.unilateral and law.holonomic:
        n.on = law.per_row(reached(*reach(law, at, n.t, unknown, free_motion(n, ports, at), n.h), n.h))
    else:
        n.on = array([0.0 if law.bounded else 1.0] * law.size)
    if law.unilateral:
        n.near = larger(n.near, any_of(n.on))


def may_bounce(law: RowLaw) -> bool:
    """Whether a constraint is a gap with restitution."""
    return law.unilateral and law.holonomic and not is_zero(law.grip()[1])


def note_rates(n: Any, *ports: Any) -> None:
    """How fast gaps close where the step begins."""
    law, at = row_law_at(n, ports)
    if may_bounce(law):
        n.rate_before = derive(law, at, n.t, refined(law, at, n.t, n.unknown)).rate


def rebounds(n: Any, law: RowLaw, found: Derived) -> Vector:
    """How fast the gaps of a constraint part, where shapes meet; else 0."""
    rows, e = zip(found.residual, n.rate_before, found.rate, n.x, strict=True), law.grip()[1]
    return array([late_rebound(g, before, now, x, e, n.h) for g, before, now, x in rows])


def look_for_bounces(n: Any, *ports: Any) -> None:
    """Which rows may act, and whether one of them bounces: what else is near is left to the steps."""
    law, at = row_law_at(n, ports)
    n.foot = unknown = refined(law, at, n.t, n.unknown)
    if law.unilateral and law.holonomic:
        n.on = law.per_row(reached(*reach(law, at, n.t, unknown, free_motion(n, ports, at), n.h), n.h))
    else:
        n.on = array([0.0 if law.bounded or law.unilateral else 1.0] * law.size)
    if may_bounce(law):
        speeds = rebounds(n, law, derive(law, at, n.t, unknown))
        n.on = array([where(v > 0.0, 1.0, on) for v, on in zip(speeds, n.on, strict=True)])
        n.near = where(any_of(speeds) > 0.0, 1.0, n.near)


def wake(n: Any) -> None:
    """Rows act only where one that only pushes is near."""
    n.on = n.on * n.near
    n.awake = any_of(n.on)


def hold(n: Any, *around: Any) -> None:
    """The rows of one constraint; around it are its ports, and the places of its rows there."""
    ports, places = around[: len(around) // 2], around[len(around) // 2 :]
    law, at = row_law_at(n, ports)
    found = derive(law, at, n.t, n.foot)
    wanted = recovering_targets(found.residual, found.given, n.h) if law.unilateral else zeros(law.size)
    pose_rows(n, law, found.G, free_motion(n, ports, at), wanted, places, n.h)
    if not law.unilateral:
        n.b = zeros(law.size)


def hold_bouncing(n: Any, *around: Any) -> None:
    """The same, with restitution."""
    ports, places = around[: len(around) // 2], around[len(around) // 2 :]
    law, at = row_law_at(n, ports)
    found = derive(law, at, n.t, n.foot)
    wanted = recovering_targets(found.residual, found.given, n.h) if law.unilateral else zeros(law.size)
    if may_bounce(law):
        pairs = zip(rebounds(n, law, found), wanted, found.given, strict=True)
        wanted = array([where(v > 0.0, a + v, w) for v, w, a in pairs])
    pose_rows(n, law, found.G, free_motion(n, ports, at), wanted, places, n.h)
    if not law.unilateral:
        n.b = zeros(law.size)


# --- the program --------------------------------------------------------------------------------------------------------------
def settle_fields(bounces: bool = False) -> dict[str, Field]:
    """Those besides the fields of the dynamics, and of its rows under the names `more` and `more_left`.

    bounces   whether contacts have restitution
    """
    rates = {"rate_before": Field("work", "rows", of="constraint")} if bounces else {}
    return {"near": Field("work", "global", SCALAR)} | rates


def located(shape: Shape, method: str) -> list[Step]:
    """Poses and motions of a state, by the names of rows."""
    if method == "maximal":
        return [outward(maximal.place), each(keep_motion)]
    on_bodies = shape[2]
    places = [outward(reduced.place)] if on_bodies else []
    return [outward(velocities), *places, each(keep_motion if on_bodies else keep_joints)]


def noted(shape: Shape, method: str, bounces: bool) -> list[Step]:
    """The sweeps before a step, from where it begins: `settle` needs them where contacts have restitution."""
    ports = [f"p{i}" for i in range(shape[1])]
    return [*located(shape, method), each(note_rates, *ports, on="constraint")] if bounces else []


def settle(shape: Shape, method: str, bounces: bool = False, look: Callable[..., None] = look) -> list[Step]:
    """The sweeps from a state after a step to the velocities that rows allow; `x` and `left` are changed.

    The names of a state are its own here: t is the time after the step.

    bounces   whether contacts have restitution, and rates were noted before the step
    look      the rule that says which rows act
    """
    _, most, _, pushes = shape
    if not pushes:
        return []
    correct, take = (maximal.correct, take_bodies) if method == "maximal" else (reduced.correct, take_joints)
    ports = [f"p{i}" for i in range(most)]
    return [
        Routine(begin_near, ("near",)),
        *located(shape, method),
        each(look, *ports, on="constraint"),
        each(wake, on="constraint"),
        Sweep(factor_inertia, "inward", when=NEAR),
        *carrying_up(hold_bouncing if bounces else hold, ports),
        Routine(gather, ("rows", "on", "more", "busy", "more_left", "active")),
        Routine(gram, MATRIX, when="near"),
        Routine(solve_boxes, ("active", "on", "b", "lower", "upper", "more", "A", "more_left", "LDL", *SCRATCH), when="near"),
        Routine(spread, (*PATHS, "y_rows", "more", "dy"), when="near"),
        outward(correct, when="near"),
        each(take, when=NEAR),
        Routine(add_impulses, ("rows", "more", "x", "more_left", "left"), when="near"),
    ]
