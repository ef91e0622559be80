"""Rows of all constraints of a model at a state: derived from the residuals, compiled, one kernel per class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..kernel.lanes import Lanes
from ..kernel.plan import Plan, variant
from ..kernel.sweep import MATRIX, Algorithm, Field, NodeClass, Tree, each, pattern, vector
from ..model.model import Model
from ..model.state import Rows
from ..spatial.jet import biases, gradients, rates, values
from ..spatial.scalar import Vector
from ..spatial.se3 import SE3, Tangent
from .constraint import WORLD, Constraint
from .coupling import Coupling
from .direct import Direct, DirectConstraint, Situation


def moving(pose: SE3, twist: Vector, side: int) -> SE3:
    """A body's pose that moves with its own twist; its six columns are the first or second half of twelve."""
    S = np.zeros((6, 12))
    S[:, 6 * side : 6 * side + 6] = np.eye(6)
    return pose.with_tangent(Tangent.constant(S, twist))


def derive(n: Any, a: Any, b: Any) -> None:
    """Residual, rate, bias and rows of one constraint."""
    constraint = n.constraint.bound({name: getattr(n, name) for name in n.constraint.parameter_names})
    jets = constraint.residual(moving(a.poses, a.twists, 0), moving(b.poses, b.twists, 1))
    n.residual, n.rate, n.bias = values(jets), rates(jets), biases(jets)
    n.G = gradients(jets, 12).reshape(-1)


CONSTRAINT_ROWS = Algorithm(
    "constraint_rows",
    {
        "poses": Field("input", "body", MATRIX),
        "twists": Field("input", "body", vector(6)),
        "residual": Field("output", "residual"),
        "rate": Field("output", "residual"),
        "bias": Field("output", "residual"),
        "G": Field("output", "G"),
    },
    {"run": [each(derive, "a", "b")]},
)


@dataclass(frozen=True, eq=False)
class ConstraintRows:
    """All rows of a list of constraints at one state; `unilateral` marks those that only push.

    given   what G v should be besides any correction: zero, unless a constraint moves with time
    """

    rows: Rows
    residual: np.ndarray
    rate: np.ndarray
    bias: np.ndarray
    unilateral: np.ndarray
    given: np.ndarray

    def restricted(self, keep: np.ndarray) -> ConstraintRows:
        """Only the rows where `keep` holds."""
        index = np.cumsum(keep) - 1
        r = self.rows
        b, j = keep[r.body_row], keep[r.joint_row]
        rows = Rows(
            int(keep.sum()),
            index[r.body_row[b]],
            r.body_index[b],
            r.body_block[b],
            index[r.joint_row[j]],
            r.joint_index[j],
            r.joint_value[j],
        )
        parts = (self.residual, self.rate, self.bias, self.unilateral, self.given)
        return ConstraintRows(rows, *(x[keep] for x in parts))


class ConstraintSet:
    """The constraints of a model: those between bodies, compiled, then the couplings of joints, then those that state rows."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.constraints: list[Constraint] = list(model.elements_of(Constraint))
        self.couplings: list[Coupling] = list(model.elements_of(Coupling))
        self.direct: list[DirectConstraint] = list(model.elements_of(DirectConstraint))
        unilateral = [[c.unilateral] * c.size for c in self.constraints] + [[False]] * len(self.couplings)
        unilateral += [[c.unilateral] * c.count(model) for c in self.direct]
        self.unilateral = np.array([x for part in unilateral for x in part], dtype=bool)
        self.count = len(self.unilateral)
        stated = [c.holonomic for c in self.direct for _ in range(c.count(model))]
        self.holonomic = np.array([True] * (self.count - len(stated)) + stated, dtype=bool)
        if self.constraints:
            self._compile()

    def _compile(self) -> None:
        model = self.model
        index = {b.name: i for i, b in enumerate(model.bodies)} | {WORLD: model.nb}
        sides = np.array([[index[b] for b in c.bodies] for c in self.constraints])
        classes: dict[Any, NodeClass] = {}
        nodes, parameters = [], []
        for c in self.constraints:
            given = c.parameters()
            patterns = {name: pattern(x, False) for name, x in given.items()}
            signature = (c.signature, c.size, tuple(patterns.items()))
            sizes = {"residual": c.size, "G": 12 * c.size}
            nodes.append(classes.setdefault(signature, NodeClass(signature, {"constraint": c}, patterns, sizes)))
            parameters.append(given)
        roles = {"a": sides[:, 0], "b": sides[:, 1]}
        tree = Tree(np.full(len(nodes), -1), nodes, parameters, roles, {"body": model.nb + 1})
        self._plan = Plan(CONSTRAINT_ROWS, tree, variant(Lanes(1), ("run",)))
        owner = np.repeat(np.arange(len(nodes)), [c.size for c in self.constraints])
        self._row = np.repeat(np.arange(len(owner)), 2)
        self._body = sides[owner].reshape(-1)

    def at(self, poses: np.ndarray, twists: np.ndarray, q: np.ndarray, v: np.ndarray, t: float | None = None) -> ConstraintRows:
        """Rows, residuals, rates and biases at poses (bodies, 4, 4), twists (bodies, 6) and joint coordinates q, v.

        t   the time, which only prescribed motions ask for
        """
        parts = []
        if self.constraints:
            parts.append(self._between_bodies(poses, twists))
        if self.couplings:
            parts.append(self._between_joints(q, v))
        now = Situation(poses, twists, q, v, t)
        parts += [c.at(self.model, now) for c in self.direct]
        rows = Rows.stacked([p.rows for p in parts])

        def joined(name: str) -> np.ndarray:
            return np.concatenate([np.zeros(0), *(getattr(p, name) for p in parts)])

        return ConstraintRows(rows, joined("residual"), joined("rate"), joined("bias"), self.unilateral, joined("given"))

    def _between_bodies(self, poses: np.ndarray, twists: np.ndarray) -> Direct:
        out = {name: np.empty((1, self._plan.sizes[name])) for name in ("residual", "rate", "bias", "G")}
        inputs = {"poses": np.append(poses, np.eye(4)), "twists": np.append(twists, np.zeros(6))}
        self._plan.run(inputs, out, 1)
        blocks = out["G"].reshape(-1, 6)
        real = self._body < self.model.nb
        count = out["residual"].shape[1]
        rows = Rows(count, self._row[real], self._body[real], blocks[real])
        return Direct(rows, out["residual"][0], out["rate"][0], out["bias"][0], np.zeros(count))

    def _between_joints(self, q: np.ndarray, v: np.ndarray) -> Direct:
        model, couplings = self.model, self.couplings
        ratio = np.array([c.ratio for c in couplings])
        offset = np.array([c.offset for c in couplings])
        qi, qj = (np.array([model.q_index(n).start for n in names]) for names in self._coupled)
        vi, vj = (np.array([model.v_index(n).start for n in names]) for names in self._coupled)
        k = len(couplings)
        rows = Rows(
            k,
            joint_row=np.tile(np.arange(k), 2),
            joint_index=np.concatenate([vi, vj]),
            joint_value=np.concatenate([np.ones(k), -ratio]),
        )
        return Direct(rows, q[qi] - ratio * q[qj] - offset, v[vi] - ratio * v[vj], np.zeros(k), np.zeros(k))

    @property
    def _coupled(self) -> tuple[list[str], list[str]]:
        return [c.follower for c in self.couplings], [c.leader for c in self.couplings]


def constraint_set(model: Model) -> ConstraintSet:
    """The compiled constraints of a model, kept with it."""
    return model.keep_as(ConstraintSet, lambda: ConstraintSet(model))
