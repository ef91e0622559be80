"""One round of Newton's method on an implicit stage, linear in the number of bodies.

With u the move of the coordinates in the step, s of order 1/h, and v_c, a_c from states before, a stage is

    v = s u + v_c,     a = s^2 u + a_c,     M(q + u) a = f(q + u, v) + G^T lam,     g(q + u, t) = 0.

A round takes the sweeps of `redmax.program` at q + u, with 1/s for h: they solve

    (M + P) da = f - M a + G^T lam,     G da = -s^2 g   (rows on velocities: -s g_dot),      u += da / s^2,

for da and lam together. P holds the stiffness and damping of all forces, symmetrised; the change of M and of velocity terms with
u, of order h or h^2 beside M, is left out. So every round reduces the error by a factor of that order. A lane is done when its
change is rounding, or within the tolerance, and stays as it is.

Rows that only push, as far as they take part (`implicit_pushes`), ask for >= with lam >= 0, and dry friction for rates of zero
with lam within its bounds: every round solves the complementarity that is linear there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..constraints.targets import any_of
from ..elements.collection import Shape
from ..elements.derive import derive
from ..elements.ports import At, joined, values
from ..kernel.loops import Lane, loops, maximum, where
from ..kernel.sweep import Routine, Step, each, outward
from ..model.rules import joint_of
from ..redmax.laws import Softness
from ..redmax.program import held, loaded, solved
from ..reduced import forward
from ..reduced.program import place
from ..rows.asked import free_motion, pose_rows, refined, row_law_at
from ..spatial.scalar import Vector, absolute, array
from ..spatial.scalar import maximum as larger
from ..spatial.scalar import where as chosen
from .implicit_pushes import acting, begin_round, may_part
from .implicit_stage import RATES
from .stages import renamed

TIGHT = 1e-16  # of the coordinates: the next change, as far as the last two tell, is rounding
LOOSE = 1e-10  # of the coordinates: small enough where changes shrink no more
CLOSED = 1e-9  # of constraints: residual up to which a stage counts as solved
FLOOR = 1e-3  # coordinates, in rad or m, below which changes count by this
HUGE = 1e100  # rad or m: nothing is found from so far
SLOWER = 0.5  # of the change before: no more progress
STAGE = {"q": "stage_q", "v": "stage_v", "h": "span", "t": "stage_t", "force_t": "stage_t", "x": "force", "left": "residue"}


# --- the round ---------------------------------------------------------------------------------------------------------------
def place_stage(n: Any) -> None:
    """Coordinates, velocities and accelerations of the stage."""
    n.stage_q = joint_of(n).integrate(n.q, n.u_move)
    n.stage_v, n.stage_a = n.s * n.u_move + n.v_c, n.s * n.s * n.u_move + n.a_c


def moving(n: Any, parent: Any) -> None:
    """Velocities and accelerations of bodies."""
    forward.velocities(n, parent)
    n.still = n.E.pull_twist(parent.still) + n.zeta + n.S @ n.stage_a


def resist(n: Any) -> None:
    """What drives with inertia need."""
    n.push = n.push - n.armature * n.stage_a


def loads_alone(n: Any, law: Any, at: Sequence[At], df_dx: np.ndarray) -> Vector:
    """The loads of one force."""
    return joined(law.loads(at, n.force_t, n.u))


def change_joints(n: Any, parent: Any) -> None:
    """The change of accelerations without rows, of joints."""
    b = n.E.pull_twist(parent.made)
    n.free_v = n.y - n.K @ b
    n.made = b + n.S @ n.free_v


def change_bodies(n: Any, parent: Any) -> None:
    """The same, of bodies too."""
    change_joints(n, parent)
    n.free = n.made


def dense_changes(n: Any, parent: Any) -> None:
    """The same from the solution of the dense system."""
    n.free_v = n.side
    n.free = n.E.pull_twist(parent.free) + n.S @ n.side


def watch(n: Any, *ports: Any) -> None:
    """All rows take part, those that only push where they may act in the step."""
    law, at = row_law_at(n, ports)
    n.foot = refined(law, at, n.t, n.unknown)
    n.on = array([1.0] * law.size)
    if may_part(law):
        n.on = acting(n, law, array(list(law.gap_of(values(at), n.t, n.foot))))
    n.awake = any_of(n.on)


def hold(n: Any, *around: Any) -> None:
    """The rows of one constraint: its residual, or its rate, is to vanish."""
    ports, places = around[: len(around) // 2], around[len(around) // 2 :]
    law, at = row_law_at(n, ports)
    found = derive(law, at, n.t, n.foot)
    wanted = -found.rate / n.h
    if law.holonomic:
        gaps = ((n.least if may_part(law) else 0.0) - found.residual) / (n.h * n.h)
        wanted = array([chosen(n.row[RATES] > 0.0, r, g) for r, g in zip(wanted, gaps, strict=True)])
    pose_rows(n, law, found.G, free_motion(n, ports, at), wanted, places, 1.0)


def update(n: Any) -> None:
    """The next u, and how far it is from the last."""
    change = n.free_v / (n.s * n.s)
    n.u_move = array([chosen(n.go > 0.0, u + d, u) for u, d in zip(n.u_move, change, strict=True)])
    step, size = n.change, n.size
    for d in change:
        step = larger(step, absolute(d))
    for x in (*n.stage_q, *n.u_move):
        size = larger(size, absolute(x))
    n.change, n.size = step, size


def keep_foot(n: Any) -> None:
    """Where Newton's method for unknowns begins in the next round."""
    n.unknown = array([chosen(n.go > 0.0, new, old) for new, old in zip(n.foot, n.unknown, strict=True)])


@loops
def keep_forces(rows: int, go: Lane, force: Lane, kept: Lane, span: Lane, residue: Lane, left: Lane) -> None:
    """Forces of the rows, and what they leave open, in lanes that go."""
    left[0] = where(go[0] > 0.0, residue[0] * span[0] * span[0], left[0])
    for r in range(rows):
        kept[r] = where(go[0] > 0.0, force[r], kept[r])


@loops
def begin_newton(live: Lane, bad: Lane, go: Lane, tried: Lane, change: Lane, size: Lane, last: Lane) -> None:
    """The lanes that have this stage go."""
    go[0] = where(bad[0] > 0.0, 0.0, live[0])
    tried[0] = 0.0
    change[0] = 0.0
    size[0] = FLOOR
    last[0] = size[0]


@loops
def judge(
    change: Lane, size: Lane, last: Lane, tolerance: Lane, most: Lane, tried: Lane, go: Lane, rounds: Lane, bad: Lane
) -> None:
    """Lanes go on while changes are more than rounding or than the tolerance, for so many rounds."""
    rounds[0] += go[0]
    tried[0] += go[0]
    slower = (change[0] >= SLOWER * last[0]) & (change[0] <= LOOSE * size[0])
    done = (change[0] * change[0] <= TIGHT * size[0] * last[0]) | slower | (change[0] <= tolerance[0])
    lost = ~done & ~((tried[0] < most[0]) & (change[0] <= HUGE))
    bad[0] = where((go[0] > 0.0) & lost, 1.0, bad[0])
    go[0] = where(done | lost, 0.0, go[0])
    last[0] = change[0]
    change[0] = 0.0
    size[0] = FLOOR


@loops
def note_open(left: Lane, tolerance: Lane, bad: Lane) -> None:
    """Stages whose constraints contradict one another are not solved."""
    bad[0] = where(left[0] <= maximum(CLOSED, tolerance[0]), bad[0], 1.0)


def round_of(shape: Shape, softness: Softness) -> list[Step]:
    """One round."""
    _, rows, on_bodies, pushes = shape
    dynamics: list[Step] = [
        outward(moving),
        *([outward(place)] if on_bodies else []),
        *loaded(shape, softness, loads_alone, each(resist)),
        *solved(shape, softness, change_bodies if on_bodies and rows >= 0 else change_joints, dense_changes),
        *held(shape, softness, (watch, hold)),
    ]
    kept: list[Step] = []
    if rows >= 0:
        kept = [
            each(keep_foot, on="constraint"),
            Routine(keep_forces, ("rows", "go", "force", "kept", "span", "residue", "left")),
        ]
    return [
        *([Routine(begin_round, ("go", "crossing"))] if pushes else []),
        each(place_stage),
        *(renamed(step, STAGE) for step in dynamics),
        each(update),
        *kept,
        Routine(judge, ("change", "size", "last", "tolerance", "most", "tried", "go", "rounds", "bad")),
    ]
