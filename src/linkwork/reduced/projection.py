"""Back to where constraints hold, nearest in the metric of the mass: Gauss-Newton steps on all rows, O(n) and along supports.

With rows G and residuals g at q, one step of the coordinates, and one of the velocities at the end, are

    dq = M^-1 G^T x,   0 = G dq + g,             dv = M^-1 G^T x,   0 = G dv + g_dot,

and >= with x >= 0 for rows that only push: open gaps may close in a step of the coordinates, and not cross; at velocity level
gaps that are closed do not go on closing. Rows on velocities alone say nothing of coordinates. Rows with a largest force
(dry friction) hold nothing for certain, and take no part. `program` has the same sweeps with forces.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..constraints.targets import any_of, closed
from ..elements.collection import Collection, Shape, collection
from ..elements.derive import derive
from ..elements.ports import At
from ..kernel.sweep import INERTIA, POSE, SCALAR, Algorithm, Field, Step, inward, outward, vector
from ..model.arrays import Interface
from ..model.model import Model
from ..model.rules import inertia_of, joint_of, placement_of, world_pose
from ..rows.asked import pose_rows, refined, row_law_at
from ..rows.solved import row_fields, solved_rows
from ..solvers.problem import is_bounded_by_another
from ..spatial.scalar import Vector, array, zeros
from .program import correct
from .rules import factor_joint

POSITIONS, RATES = "positions", "rates"


# --- the tree ----------------------------------------------------------------------------------------------------------------
def arrange(n: Any, parent: Any) -> None:
    """Pose, twist and S of every body; no change yet."""
    joint = joint_of(n)
    still = joint.motion(n.q, zeros(joint.nv))
    n.E, n.S = placement_of(n) @ still.with_tangent(None), still.tangent.S
    n.pose = (parent.pose @ n.E).collapsed()
    n.twist = n.E.pull_twist(parent.twist) + n.S @ n.v
    n.free_v = zeros(joint.nv)


def factor(n: Any, parent: Any) -> None:
    """Articulated inertias, for the metric."""
    f = factor_joint(inertia_of(n) + n.IA, n.S, n.armature)
    n.K, n.factor = f.K, f
    parent.IA = parent.IA + n.E.move_inertia(f.Ia)


def move_joints(n: Any) -> None:
    """Coordinates after a step of theirs."""
    joint = joint_of(n)
    n.q, n.v = joint.rechart(joint.integrate(n.q, n.free_v), n.v)


def change_velocities(n: Any) -> None:
    """Velocities after a step of theirs."""
    n.v = n.v + n.free_v


# --- rows --------------------------------------------------------------------------------------------------------------------
def watch_positions(n: Any, *ports: Any) -> None:
    """Rows that have residuals take part."""
    law, at = row_law_at(n, ports)
    n.foot = refined(law, at, n.t, n.unknown)
    counts = law.holonomic and not law.bounded
    n.on = array([1.0 if counts and not is_bounded_by_another(kind) else 0.0 for kind in law.row_kinds])
    n.awake = any_of(n.on)


def watch_equalities(n: Any, *ports: Any) -> None:
    """Equations on positions take part."""
    law, at = row_law_at(n, ports)
    n.foot = refined(law, at, n.t, n.unknown)
    n.on = array([1.0 if law.holonomic and not law.unilateral else 0.0] * law.size)
    n.awake, n.error = any_of(n.on), zeros(law.size)


def watch_rates(n: Any, *ports: Any) -> None:
    """All rows take part, those that only push where they are closed."""
    law, at = row_law_at(n, ports)
    n.foot = refined(law, at, n.t, n.unknown)
    if law.unilateral and law.holonomic:
        found = closed(derive(law, at, n.t, n.foot).residual)
        n.on = array([0.0 if is_bounded_by_another(kind) else x for x, kind in zip(found, law.row_kinds, strict=True)])
    else:
        n.on = array([0.0 if law.bounded else 1.0] * law.size)
    n.awake = any_of(n.on)


def hold_positions(n: Any, *around: Any) -> None:
    """G dq = -g."""
    ask(n, around, "residual", at_rest)


def hold_rates(n: Any, *around: Any) -> None:
    """G dv = -g_dot."""
    ask(n, around, "rate", at_rest)


def at_rest(n: Any, ports: Sequence[Any], at: Sequence[At]) -> list[Vector]:
    """No free motion of the ports."""
    return [zeros(here.size) for here in at]


def ask(n: Any, around: tuple[Any, ...], error: str, free: Callable[..., list[Vector]]) -> None:
    """The rows of one constraint: they take away an error.

    free   the motion of the ports without rows
    """
    ports, places = around[: len(around) // 2], around[len(around) // 2 :]
    law, at = row_law_at(n, ports)
    found = derive(law, at, n.t, n.foot)
    n.error = getattr(found, error)
    pose_rows(n, law, found.G, free(n, ports, at), -n.error, places, 1.0)


# --- the program -------------------------------------------------------------------------------------------------------------
def steps_to_close(shape: Shape, level: str) -> list[Step]:
    """The sweeps from q and v to the change `free_v` of coordinates or velocities; x is what pulls."""
    watch, hold = (watch_positions, hold_positions) if level == POSITIONS else (watch_rates, hold_rates)
    return [outward(arrange), inward(factor), *solved_rows(shape[1], (watch, hold), correct)]


def projection_fields() -> dict[str, Field]:
    """What `steps_to_close` needs besides the fields of rows and the state."""
    return {
        "IA": Field("gathered", codec=INERTIA),
        "pose": Field("work", "node", POSE, world=world_pose),
        "twist": Field("work", "node", vector(6)),
        "free_v": Field("work", "v"),
        "error": Field("work", "rows", of="constraint"),
    }


@functools.cache
def _projection(shape: Shape, level: str) -> Algorithm:
    found = {
        **row_fields(),
        **projection_fields(),
        "q": Field("input", "q"),
        "v": Field("input", "v"),
        "t": Field("input", "global", SCALAR),
        "free_v": Field("output", "v"),
        "error": Field("output", "rows", of="constraint"),
        "foot": Field("output", "unknown", of="constraint"),
    }
    return Algorithm(f"closing_{level}_{'_'.join(map(str, map(int, shape)))}", found, {"run": steps_to_close(shape, level)})


class Projection:
    """The Gauss-Newton steps of a model, for one state or a batch."""

    def __init__(self, model: Model) -> None:
        laws = collection(model)
        assert laws.rows, "a model with constraints"
        unknowns = (sum(c.unknowns for c in laws.rows),)
        sizes = {"x": (laws.row_count,), "error": (laws.row_count,), "told": (laws.told_count,)}
        sizes |= {"unknown": unknowns, "foot": unknowns}
        self.laws: Collection = laws
        self._calls = {k: Interface(model, _projection(laws.shape, k), laws.plan, sizes) for k in (POSITIONS, RATES)}

    def step(self, level: str, q: np.ndarray, v: np.ndarray, t: float, unknown: np.ndarray) -> dict[str, np.ndarray]:
        """The change "free_v" (batch, nv) of coordinates or velocities, the "error" (batch, rows) that calls for it, what of it
        stays, "left" (batch, 1), and the unknowns "foot"; from q (batch, nq), v and the unknowns before."""
        given = {"q": q, "v": v, "t": np.array([t]), "told": self.laws.told_at(t), "unknown": unknown}
        out = self._calls[level](given, 1, ("free_v", "error", "left", "foot"))
        return {name: x.copy() for name, x in out.items()}


def projection(model: Model) -> Projection:
    """The Gauss-Newton steps of a model, kept with it."""
    return model.keep_as(Projection, lambda: Projection(model))
