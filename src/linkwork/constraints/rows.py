"""Rows of all constraints of a model at a state."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..model.model import Model
from ..model.state import Rows
from .body_set import BodySet
from .constraint import Constraint
from .direct import DirectConstraint, Situation, joined
from .joint_set import JointSet
from .on_joints import JointConstraint


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
    """The constraints of a model: those between bodies, then those between joints, then those that state their rows."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.between_bodies: list[Constraint] = list(model.elements_of(Constraint))
        self.between_joints: list[JointConstraint] = list(model.elements_of(JointConstraint))
        self.direct: list[DirectConstraint] = list(model.elements_of(DirectConstraint))
        self.unilateral, self.holonomic = (self._marks(name) for name in ("unilateral", "holonomic"))
        self.count = len(self.unilateral)
        self._compiled: list[BodySet | JointSet] = []
        if self.between_bodies:
            self._compiled.append(BodySet(model, self.between_bodies))
        if self.between_joints:
            self._compiled.append(JointSet(model, self.between_joints))

    def sizes(self) -> list[tuple[Constraint | JointConstraint | DirectConstraint, int]]:
        """All constraints in the order of their rows, and how many each has."""
        derived: list[Constraint | JointConstraint] = [*self.between_bodies, *self.between_joints]
        return [*((c, c.size) for c in derived), *((c, c.count(self.model)) for c in self.direct)]

    def _marks(self, name: str) -> np.ndarray:
        return np.array([getattr(c, name) for c, size in self.sizes() for _ in range(size)], dtype=bool)

    def at(self, poses: np.ndarray, twists: np.ndarray, q: np.ndarray, v: np.ndarray, t: float | None = None) -> ConstraintRows:
        """Rows, residuals, rates and biases at poses (bodies, 4, 4), twists (bodies, 6) and joint coordinates q, v.

        t   the time, which only constraints that move with it ask for
        """
        now = Situation(poses, twists, q, v, t)
        all_rows = joined([*(c.at(now) for c in self._compiled), *(c.at(self.model, now) for c in self.direct)])
        return ConstraintRows(all_rows.rows, all_rows.residual, all_rows.rate, all_rows.bias, self.unilateral, all_rows.given)


def constraint_set(model: Model) -> ConstraintSet:
    """The compiled constraints of a model, kept with it."""
    return model.keep_as(ConstraintSet, lambda: ConstraintSet(model))
