"""Domains of the joints that close loops: where their own coordinates are, which no state holds."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from ..elements.collection import collection
from ..elements.nodes import LawNodes
from ..elements.rows import Unknowns
from ..errors import SolverError
from ..joints.fit import CLOSED
from ..model.kinematics import kinematics
from ..model.model import Model
from .closure import Closure


def bounded_closures(model: Model) -> list[Closure]:
    """The closures whose joints have a domain."""
    return model.keep_as(bounded_closures, lambda: _bounded(model))


def _bounded(model: Model) -> list[Closure]:
    rows = collection(model).rows if model.elements else []
    return [c for c in rows if isinstance(c, Closure) and c.unknowns and c.pair.bounded]


class ClosureCoordinates:
    """The coordinates of closures with a domain along a run: each record is looked for from where the one before was."""

    def __init__(self, model: Model) -> None:
        laws = bounded_closures(model)
        self.model = model
        self._unknowns: Unknowns = model.keep_as(ClosureCoordinates, lambda: Unknowns(LawNodes(model, laws)))
        ends = np.cumsum([0, *(c.unknowns for c in laws)]).tolist()
        self.parts = [(c, slice(*pair)) for c, pair in zip(laws, pairwise(ends), strict=True)]
        self._last: np.ndarray | None = None

    def at(self, q: np.ndarray, t: np.ndarray) -> np.ndarray:
        """The coordinates (batch, records, unknowns) at configurations (batch, records, nq) and times (records,); NaN from the
        first record on at which they are not found."""
        batch, records = q.shape[:2]
        found = np.full((batch, records, self.parts[-1][1].stop), np.nan)
        good = np.isfinite(q).all(axis=(0, 2))
        count = records if good.all() else int(np.argmin(good))
        poses = kinematics(self.model, q[:, :count].reshape(-1, self.model.nq)).poses.reshape(batch, count, -1)
        for k in range(count):
            given = {"pose": poses[:, k], "q": q[:, k], "t": np.full((batch, 1), t[k])}
            given |= {
                "told": self._unknowns.told(t[k]),
                "twist": np.zeros((batch, 6 * self.model.nb)),
                "v": np.zeros((batch, self.model.nv)),
            }
            x = self._near(given, np.full(batch, t[k]))
            if x is None:
                break
            self._last = found[:, k] = x
        return found

    def _near(self, given: dict[str, np.ndarray], t: np.ndarray) -> np.ndarray | None:
        """The coordinates at one record, from the last ones; by the closures' own guess where these are too far away."""
        for first in (None,) if self._last is None else (self._last, None):
            try:
                found = self._unknowns.solved(given, t, first)
            except SolverError:
                continue
            left = self._unknowns.residuals(given | {"unknown": found})
            if np.abs(left).max() < CLOSED or first is None:
                return found
        return None
