"""The forces of constraint rows at the records of a run, found when somebody asks for them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ..elements.collection import CROWD, collection
from ..errors import InputError
from ..maximal.convert import to_reduced
from ..model import MaximalState, Model, State
from ..reduced.loaded import row_dynamics
from ..rows.crowds import ACTING

WHOLE = slice(None)  # all records


@dataclass(frozen=True, eq=False)
class ActingImpulses:
    """Impulses of the rows that act, of many that do not (`rows.crowds`).

    rows, x   (batch, records, room): their numbers, larger than any where there is none, and their impulses
    count     of all rows
    """

    rows: np.ndarray
    x: np.ndarray
    count: int

    def of(self, records: slice) -> np.ndarray:
        """Those of all rows (batch, records, rows)."""
        rows, x = self.rows[:, records], self.x[:, records]
        found = np.zeros((*x.shape[:-1], self.count))
        at = np.nonzero(rows < self.count)
        found[at[0], at[1], rows[at].astype(np.int64)] = x[at]
        if not np.isfinite(x).all():
            raise InputError("more rows act than are recorded of so many; the motion has all of them, their forces are not known")
        return found


@dataclass(frozen=True, eq=False)
class AllImpulses:
    """Impulses of all rows (batch, records, rows)."""

    x: np.ndarray

    def of(self, records: slice) -> np.ndarray:
        """Those of some records."""
        return self.x[:, records]


def reported_impulses(reports: Mapping[str, np.ndarray], count: int) -> AllImpulses | ActingImpulses | None:
    """What a program said of its rows; None if it has none."""
    if "x" in reports:
        return AllImpulses(reports["x"])
    rows, x = ACTING
    return ActingImpulses(reports[rows], reports[x], count) if rows in reports else None


@dataclass(frozen=True, eq=False)
class RowForces:
    """Impulses of steps, and what the forces at the start follow from.

    impulses   of the last step before every record; the first are not written by any step
    lead       the leading axes of the result
    records    parts of the states (..., records, size)
    t          the time of the first
    tau        joint forces that began to act there; external, inputs likewise
    """

    model: Model
    impulses: AllImpulses | ActingImpulses
    lead: tuple[int, ...]
    h: float
    records: Mapping[str, np.ndarray]
    t: float
    tau: np.ndarray | None
    external: np.ndarray | None
    inputs: np.ndarray | None

    def found(self, records: slice = WHOLE) -> np.ndarray:
        """Forces (..., records, rows), averaged over the steps before every record; the first are those at the start, or, where
        contacts or joints inside have friction, or contacts are many, those of the next record."""
        if records.start not in (None, 0):
            return self.averaged(records)
        laws = collection(self.model)
        if laws.rubs or laws.rubs_inside or laws.step_shape[3] == CROWD:
            forces = self.averaged(records)
            forces[..., 0, :] = forces[..., 1, :] if forces.shape[-2] > 1 else 0.0
            return forces
        start, lone = self._start(), len(self.lead) == 1
        tau = self.tau if self.tau is None or not lone else np.reshape(self.tau, -1)
        u = None if self.inputs is None else self.inputs[0]
        _, first = row_dynamics(self.model, start.q, start.v, tau, self.external, t=self.t, inputs=u)
        forces = self.averaged(records)
        forces[..., 0, :] = first
        return forces

    def averaged(self, records: slice = WHOLE) -> np.ndarray:
        """The same, with nothing of use at the start."""
        x = self.impulses.of(records)
        return (x / self.h).reshape(*self.lead[:-1], *x.shape[1:])

    def _start(self) -> State:
        axis = len(self.lead) - 1
        parts = {name: a.take(0, axis=axis) for name, a in self.records.items()}
        return State(**parts) if "q" in parts else to_reduced(self.model, MaximalState(**parts))
