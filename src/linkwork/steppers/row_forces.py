"""The forces of constraint rows at the records of a run, found when somebody asks for them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ..elements.collection import collection
from ..maximal.convert import to_reduced
from ..model import MaximalState, Model, State
from ..reduced.loaded import constrained_dynamics


@dataclass(frozen=True, eq=False)
class RowForces:
    """Impulses of steps, and what the forces at the start follow from.

    impulses   of the last step before every record (batch, records, rows); the first are not written by any step
    lead       the leading axes of the result
    records    parts of the states (..., records, size)
    t          the time of the first
    tau        joint forces that began to act there; external, inputs likewise
    """

    model: Model
    impulses: np.ndarray
    lead: tuple[int, ...]
    h: float
    records: Mapping[str, np.ndarray]
    t: float
    tau: np.ndarray | None
    external: np.ndarray | None
    inputs: np.ndarray | None

    def found(self) -> np.ndarray:
        """Forces (..., records, rows), averaged over the steps before every record; the first are those at the start, or, where
        contacts or joints inside have friction, those of the next record."""
        laws = collection(self.model)
        if laws.rubs or laws.rubs_inside:
            forces = self.averaged()
            forces[..., 0, :] = forces[..., 1, :] if forces.shape[-2] > 1 else 0.0
            return forces
        start, lone = self._start(), len(self.lead) == 1
        tau = self.tau if self.tau is None or not lone else np.reshape(self.tau, -1)
        u = None if self.inputs is None else self.inputs[0]
        _, first = constrained_dynamics(self.model, start.q, start.v, tau, self.external, t=self.t, inputs=u)
        forces = self.averaged()
        forces[..., 0, :] = first
        return forces

    def averaged(self) -> np.ndarray:
        """The same, with nothing of use at the start."""
        return (self.impulses / self.h).reshape(*self.lead, self.impulses.shape[-1])

    def _start(self) -> State:
        axis = len(self.lead) - 1
        parts = {name: a.take(0, axis=axis) for name, a in self.records.items()}
        return State(**parts) if "q" in parts else to_reduced(self.model, MaximalState(**parts))
