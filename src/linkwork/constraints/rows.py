"""Rows of all constraints of a model at a state."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..elements.collection import collection
from ..elements.law import RowLaw
from ..elements.rows import RESULTS, RowEvaluation
from ..errors import InputError
from ..model.model import Model
from ..model.state import Rows
from ..solvers.problem import is_bounded_by_another


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
    """The constraints of a model as its joints need them: those between bodies, then those on joints.

    unilateral, holonomic   of every row
    tangent                 whether friction acts along it, beside a row that only pushes
    """

    def __init__(self, model: Model) -> None:
        self.model, self.laws = model, collection(model).rows
        self.tangent = np.array([is_bounded_by_another(kind) for c in self.laws for kind in c.row_kinds], dtype=bool)
        self.unilateral, self.holonomic = (self.of(name) for name in ("unilateral", "holonomic"))
        self.count = len(self.unilateral)
        self.evaluation = RowEvaluation(collection(model).row_nodes) if self.laws else None

    def sizes(self) -> list[tuple[RowLaw, int]]:
        """All constraints in the order of their rows, and how many each has."""
        return [(c, c.size) for c in self.laws]

    def of(self, name: str) -> np.ndarray:
        """Of every row, whether its constraint is "unilateral", "timed", "bounded", ..."""
        return np.array([getattr(c, name) for c in self.laws for _ in range(c.size)], dtype=bool)

    def at(self, poses: np.ndarray, twists: np.ndarray, q: np.ndarray, v: np.ndarray, t: float | None = None) -> ConstraintRows:
        """The rows for those who solve them for forces of any size; raises where bounds are more than that.

        Arguments as in `look`.
        """
        for c in self.laws:
            if c.bounded:
                raise InputError(
                    f"{c!r} has a largest force, which this method does not solve for: use one that runs as a program"
                )
            if c.cones:
                raise InputError(f"{c!r} has friction, which this method does not solve for: use one that runs as a program")
        return self.look(poses, twists, q, v, t)

    def look(self, poses: np.ndarray, twists: np.ndarray, q: np.ndarray, v: np.ndarray, t: float | None = None) -> ConstraintRows:
        """Rows, residuals, rates and biases at poses (bodies, 4, 4), twists (bodies, 6) and joint coordinates q, v.

        t   the time, which only constraints that move with it ask for
        """
        if self.evaluation is None:
            none = np.zeros(0)
            return ConstraintRows(Rows(0), none, none, none, self.unilateral, none)
        rows, found = self.evaluation.at(self.evaluation.inputs(poses, twists, q, v, self._time(t)))
        residual, rate, bias, given = (found[name] for name in RESULTS)
        return ConstraintRows(rows, residual, rate, bias, self.unilateral, given)

    def residuals(self, poses: np.ndarray, q: np.ndarray, t: float) -> np.ndarray:
        """The residuals (..., rows) alone, at poses (..., bodies, 4, 4) and coordinates (..., nq)."""
        lead, q = np.shape(q)[:-1], np.reshape(q, (-1, np.shape(q)[-1]))
        if self.evaluation is None:
            return np.zeros((*lead, 0))
        still = np.zeros((len(q), self.model.nb, 6)), q, np.zeros((len(q), self.model.nv))
        given = self.evaluation.inputs(np.reshape(poses, (len(q), -1)), *still, np.full(len(q), float(t)))
        return self.evaluation.residuals(given).reshape(*lead, self.count)

    def records(
        self, poses: np.ndarray, twists: np.ndarray, q: np.ndarray, v: np.ndarray, t: np.ndarray
    ) -> dict[str, np.ndarray]:
        """Residual, rate, bias and what is given (states, rows), of many states at once at their times (states,)."""
        if self.evaluation is None:
            return {name: np.zeros((len(t), 0)) for name in RESULTS}
        return self.evaluation.look(self.evaluation.inputs(poses, twists, q, v, np.asarray(t, float)))

    def _time(self, t: float | None) -> float:
        if t is not None:
            return t
        for c in self.laws:
            if c.timed:
                raise InputError(f"{c!r} moves with time, and no time is given here; use simulate, or a State with its t")
        return 0.0


def constraint_set(model: Model) -> ConstraintSet:
    """The compiled constraints of a model, kept with it."""
    return model.keep_as(ConstraintSet, lambda: ConstraintSet(model))
