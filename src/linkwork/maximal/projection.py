"""Back to where joints and constraints hold, nearest in the metric of the mass, with bodies that are free: O(n).

With rows T^T of the joints, their errors e (the gap at the coordinate that fits best, or the relative twist), and rows G of the
constraints with their errors g, one step of the poses, and one of the twists at the end, is

    y = argmin y^T M y + v^T A v    with    T^T (y_j - pull(y_p)) = -T^T e,   G y = -g,      v = F^T (y_j - pull(y_p)),

A the armature of the drives. That is the elimination of `program` with Z = -T T^T e and no forces, in a world that does not fall:
y_j = pull(y_p) + Z + S v, and rows climb through the same factor. Impulses of the joints do it, so momentum is exchanged, never
lost: taking away from each joint what it does not allow, one after the other, would change the motion at first order in every
step. Rows that only push, rows on velocities and dry friction are as in `reduced.projection`.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from ..elements.collection import Collection, Shape, collection
from ..joints.complement import complement
from ..kernel.sweep import INERTIA, MATRIX, SCALAR, Algorithm, Field, Step, each, inward, outward, vector
from ..model.arrays import Interface
from ..model.model import Model
from ..model.rules import inertia_of, joint_of, placement_of, world_pose
from ..model.state import MaximalState
from ..reduced.projection import POSITIONS, RATES, ask, watch_positions, watch_rates
from ..reduced.rules import factor_joint
from ..rows.asked import free_motion, keep_unknowns
from ..rows.solved import row_fields, solved_rows
from ..spatial.scalar import Vector, array
from ..spatial.se3 import SE3
from .program import correct, fit, place


# --- the tree ----------------------------------------------------------------------------------------------------------------
def open_gaps(n: Any, parent: Any) -> None:
    """gap = log(Q(q_fit)^-1 E_joint), in body axes, is to vanish along T."""
    place(n, parent)
    _close(n, (joint_of(n).transform(n.q_fit).inverse() @ placement_of(n).inverse() @ n.E).log())


def open_rates(n: Any, parent: Any) -> None:
    """The relative twist is to vanish along T."""
    place(n, parent)
    _close(n, n.twists - n.E.pull_twist(parent.twists))


def _close(n: Any, error: Vector) -> None:
    T = complement(n.S)
    n.apart = T @ (T.T @ error)
    n.zeta = -n.apart


def factor(n: Any, parent: Any) -> None:
    """Eliminate the body with its joint."""
    f = factor_joint(inertia_of(n) + n.IA, n.S, n.armature)
    n.y = f.solve(-(n.S.T @ n.pA))
    n.K, n.factor = f.K, f
    left = np.array(n.pA + f.Ia @ n.zeta + f.U @ n.y, dtype=object)
    for row in f.rows:
        left[row] = 0.0  # as (D - U K) S = 0; see `JointFactor`
    parent.IA = parent.IA + n.E.move_inertia(f.Ia)
    parent.pA = parent.pA + n.E.move_wrench(array(left))


def shortest(n: Any, parent: Any) -> None:
    """The shortest motion that closes the joints."""
    a = n.E.pull_twist(parent.free) + n.zeta
    n.free_v = n.y - n.K @ a
    n.free = a + n.S @ n.free_v


def displace(n: Any) -> None:
    """Poses after a step of theirs: E exp(y)."""
    n.poses = n.poses @ SE3.exp(n.free)


def change_twists(n: Any) -> None:
    """Twists after a step of theirs."""
    n.twists = n.twists + n.free


# --- rows --------------------------------------------------------------------------------------------------------------------
def hold_positions(n: Any, *around: Any) -> None:
    """G y = -g."""
    ask(n, around, "residual", free_motion)


def hold_rates(n: Any, *around: Any) -> None:
    """G y = -g_dot."""
    ask(n, around, "rate", free_motion)


# --- the program -------------------------------------------------------------------------------------------------------------
RULES = {
    POSITIONS: (open_gaps, displace, (watch_positions, hold_positions)),
    RATES: (open_rates, change_twists, (watch_rates, hold_rates)),
}


def steps_to_close(shape: Shape, level: str) -> list[Step]:
    """The sweeps that bring poses, or twists, back; x is what pulls, and `q_fit` must fit best, see `program.fit`."""
    open_joints, take, rules = RULES[level]
    rows = solved_rows(shape[1], rules, correct) if shape[1] >= 0 else []
    steps: list[Step] = [outward(open_joints), inward(factor), outward(shortest), *rows, each(take)]
    return [*steps, outward(fit)] if level == POSITIONS else steps


@functools.cache
def _projection(shape: Shape, level: str) -> Algorithm:
    six = vector(6)
    found = {
        "poses": Field("state", "node", MATRIX, world=world_pose),
        "twists": Field("state", "node", six),
        "q_fit": Field("state", "q"),
        "t": Field("input", "global", SCALAR),
        "pose": Field("work", "node", MATRIX, alias="poses"),
        "twist": Field("work", "node", six, alias="twists"),
        "q": Field("work", "q", alias="q_fit"),
        "v": Field("work", "v"),
        "IA": Field("gathered", codec=INERTIA),
        "pA": Field("gathered", codec=six),
        "free": Field("work", "node", six),
        "free_v": Field("work", "v"),
        "apart": Field("output", "node", six),
    }
    steps = [outward(fit), *steps_to_close(shape, level)]
    if shape[1] >= 0:
        found |= row_fields() | {"error": Field("output", "rows", of="constraint")}
        found |= {"unknown": Field("state", "unknown", of="constraint")}
        steps.append(each(keep_unknowns, on="constraint"))
    return Algorithm(f"maximal_closing_{level}_{'_'.join(map(str, map(int, shape)))}", found, {"run": steps})


class MaximalProjection:
    """The Gauss-Newton steps of a model in maximal coordinates, one state at a time; made by `maximal_projection`."""

    def __init__(self, model: Model) -> None:
        self.laws: Collection = collection(model)
        rows, unknowns = (self.laws.row_count,), (sum(c.unknowns for c in self.laws.rows),)
        sizes = {"x": rows, "error": rows, "told": (self.laws.told_count,), "unknown": unknowns}
        shape, plan = self.laws.shape, self.laws.plan
        self._calls = {k: Interface(model, _projection(shape, k), plan, sizes) for k in (POSITIONS, RATES)}

    def step(self, level: str, state: MaximalState) -> dict[str, np.ndarray]:
        """The parts "poses", "twists", "q_fit" of the state after a step, and the errors that called for it: "apart" (bodies, 6)
        of the joints, and "error" (rows,) where there are constraints."""
        given = {"poses": state.poses, "twists": state.twists, "q_fit": state.q_fit, "t": np.array([state.t])}
        wanted = ("poses", "twists", "q_fit", "apart")
        if self.laws.rows:
            given |= {"told": self.laws.told_at(state.t), "unknown": self.laws.first_unknowns(state.q_fit[None])[0]}
            wanted += ("error",)
        out = self._calls[level]({name: np.array(x, float) for name, x in given.items()}, 1, wanted)
        return {name: x.copy() for name, x in out.items()}


def maximal_projection(model: Model) -> MaximalProjection:
    """The Gauss-Newton steps of a model, kept with it."""
    return model.keep_as(MaximalProjection, lambda: MaximalProjection(model))
