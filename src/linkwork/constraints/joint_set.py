"""The constraints between joints of a model, compiled: one kernel per class."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..elements.law_tree import Entry, law_tree
from ..kernel.lanes import Lanes
from ..kernel.plan import Plan, variant
from ..kernel.sweep import SCALAR, Algorithm, Field, each
from ..model.model import Model
from ..model.state import Rows
from .derive import RESULTS
from .direct import Direct, Situation
from .on_joints import JointConstraint, derive_on_joints, kind_of


def constrain_joints(n: Any) -> None:
    """Residual, rate, bias and rows of one constraint."""
    derive_on_joints(n.law.at_node(n), n.joints, n.q, n.v, n.t).write(n)


@functools.cache
def algorithm() -> Algorithm:
    """Rows of constraints on joints, whose coordinates and velocities lie side by side."""
    given = {"q": Field("input", "q"), "v": Field("input", "v"), "t": Field("input", "global", SCALAR)}
    rows = {**{name: Field("output", "rows") for name in RESULTS}, "G": Field("output", "G")}
    return Algorithm("joint_constraint_rows", {**given, **rows}, {"run": [each(constrain_joints)]})


class JointSet:
    """Constraints between joints, in their order."""

    def __init__(self, model: Model, constraints: Sequence[JointConstraint]) -> None:
        self.constraints = list(constraints)
        self.tree = law_tree(_entry(model, c) for c in self.constraints)
        self._plan = Plan(algorithm(), self.tree, variant(Lanes(1), ("run",)))
        q_spans, v_spans = (
            [np.concatenate([np.arange(s.start, s.stop) for s in map(index, c.joints)]) for c in self.constraints]
            for index in (model.q_index, model.v_index)
        )
        self._q, self._v = np.concatenate(q_spans), np.concatenate(v_spans)
        columns = [span for c, span in zip(self.constraints, v_spans, strict=True) for _ in range(c.size)]
        self._row = np.repeat(np.arange(len(columns)), [len(x) for x in columns])
        self._column = np.concatenate(columns)

    def at(self, now: Situation) -> Direct:
        """Their rows where the model is now."""
        out = {name: np.empty((1, self._plan.sizes[name])) for name in (*RESULTS, "G")}
        self._plan.run({"q": now.q[self._q], "v": now.v[self._v], "t": np.array([now.time_for(self.constraints)])}, out, 1)
        k = out["rate"].shape[1]
        rows = Rows(k, joint_row=self._row, joint_index=self._column, joint_value=out["G"][0])
        return Direct(rows, *(out[name][0] for name in RESULTS))


def _entry(model: Model, c: JointConstraint) -> Entry:
    joints = [model.bodies[model.body_index(name)].joint for name in c.joints]
    nq, nv = sum(j.nq for j in joints), sum(j.nv for j in joints)
    sizes = {"rows": c.size, "G": nv * c.size, "q": nq, "v": nv}
    same = (c.same, tuple(map(kind_of, joints)))
    return Entry(c, sizes, same, lambda: c.signature(joints), {"joints": joints})
