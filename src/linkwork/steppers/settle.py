"""Velocities that rows which only push allow: what follows a step that did not look at them.

A step on accelerations feels rows that touch, but no impact, and no gap that closes on the way. After it the velocities are
changed by impulses x, in one problem with all rows,

    v'' = v' + M^-1 G^T x,    only pushes:  G v'' >= asked - gap / h where the gap is open (it may close in the next step),
                                                  >= asked - CORRECTION gap / h where it is not,   x >= 0,
                              equalities:   G v'' = G v'.

Where nothing is near nothing is done, in every lane by itself: a step keeps its order until a row acts.
"""

from __future__ import annotations

from typing import Any

from ..constraints.targets import any_of, reached, recovering_targets
from ..elements.collection import Shape
from ..elements.derive import derive, reach
from ..elements.supports import climbing
from ..kernel.loops import Lane, loops, maximum
from ..kernel.sweep import SCALAR, Field, Routine, Step, Sweep, each, outward
from ..maximal import program as maximal
from ..model.rules import inertia_of
from ..reduced import program as reduced
from ..reduced.forward import velocities
from ..reduced.program import SCRATCH, climb, free_motion, pose_rows, refined, row_law_at
from ..reduced.rules import factor_joint
from ..solvers.boxes import PATHS, gather, gram, solve_boxes, spread
from ..spatial.scalar import array, zeros
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


# --- the program --------------------------------------------------------------------------------------------------------------
def settle_fields() -> dict[str, Field]:
    """Those besides the fields of the dynamics, and of its rows under the names `more` and `more_left`."""
    return {"near": Field("work", "global", SCALAR)}


def settle(shape: Shape, method: str) -> list[Step]:
    """The sweeps from a state after a step to the velocities that rows allow; `x` and `left` are changed.

    The names of a state are its own here: t is the time after the step.
    """
    _, most, on_bodies, pushes = shape
    if not pushes:
        return []
    if method == "maximal":
        located: list[Step] = [outward(maximal.place), each(keep_motion)]
        correct, take = maximal.correct, take_bodies
    else:
        located = [outward(velocities), *([outward(reduced.place)] if on_bodies else [])]
        located.append(each(keep_motion if on_bodies else keep_joints))
        correct, take = reduced.correct, take_joints
    ports, places = [f"p{i}" for i in range(most)], [f"s{i}" for i in range(most)]
    return [
        Routine(begin_near, ("near",)),
        *located,
        each(look, *ports, on="constraint"),
        each(wake, on="constraint"),
        Sweep(factor_inertia, "inward", when=NEAR),
        each(hold, *ports, *places, on="constraint", when=("own", "awake")),
        *climbing(climb),
        Routine(gather, ("rows", "on", "more", "busy", "more_left", "active")),
        Routine(gram, (*PATHS, "u_rows", "y_rows", "gram_columns", "A"), when="near"),
        Routine(solve_boxes, ("active", "on", "b", "lower", "upper", "more", "A", "more_left", "LDL", *SCRATCH), when="near"),
        Routine(spread, (*PATHS, "y_rows", "more", "dy"), when="near"),
        outward(correct, when="near"),
        each(take, when=NEAR),
        Routine(add_impulses, ("rows", "more", "x", "more_left", "left"), when="near"),
    ]
