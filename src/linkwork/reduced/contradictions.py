"""Rows that no acceleration meets: G a + bias = 0 has no solution, and forces of any size make none.

Solvers of rows say what is left of the one that they meet least, and where that is rounding nothing more is asked. Elsewhere the
rows that hold are looked at closely, one state after the other, in float64 and without masses: with rows of length one, what of
the bias lies outside the range of G is what they contradict one another by. Rows that all but depend on one another, as those of
a linkage that passes a singular position, may leave more to a solver than rounding, and contradict nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..constraints.report import DEPENDENT
from ..constraints.rows import constraint_set
from ..constraints.singular import bends, check_slopes
from ..elements.collection import collection
from ..elements.law import RowLaw
from ..errors import SolverError
from ..model.kinematics import kinematics
from ..model.model import Model
from ..model.state import Motion
from .held_rows import holding

FLOAT64, FLOAT32 = np.dtype(np.float64), np.dtype(np.float32)
CONTRADICTION = {FLOAT64: 1e-6, FLOAT32: 1e-3}  # of accelerations: more is not the rounding of rows
TAKING_PART = 1e-3  # of the largest part in a contradiction: rows with less are not named
NAMED = 6  # rows, at most
COLUMNS = 256  # of G, found together


def check_rows_meet(call: str, model: Model, found: dict[str, np.ndarray], q: Any, v: Any, t: Any) -> None:
    """Raise where rows contradict one another at a state, or at one of a batch.

    call    what is asked for
    found   its "accelerations", the multipliers "x" of rows, and what is "left" of the one that is met least
    """
    for k, a in open_states(found):
        rows = MovingRows.of_state(model, k, q, v, t, found["x"])
        unmet = rows.unmet(np.ones(model.nv, bool), a)
        if is_more(unmet, a):
            raise SolverError(f"{call}: no acceleration{said(k)} meets {rows.names(unmet)}. {rows.remedy()}")


def check_rows_meet_told(model: Model, found: dict[str, np.ndarray], q: Any, v: Any, t: Any, told: np.ndarray) -> None:
    """The same of hybrid dynamics, where accelerations are `told` (nv,) and others found; here rows that no solver meets are an
    error in any case."""
    for k, a in open_states(found):
        rows = MovingRows.of_state(model, k, q, v, t, found["x"])
        unmet = rows.unmet(~told, a)
        if is_more(unmet, a) or found["left"].dtype == np.float64:
            what = rows.names(unmet) if is_more(unmet, a) else f"{of_state(k, found['left'])[0]:.3g} is left"
            raise SolverError(
                f"hybrid_dynamics: the constraints cannot all hold with the accelerations that are told{said(k)}: {what}; tell "
                "fewer joints, or accelerations that obey them"
            )


def open_states(found: dict[str, np.ndarray]) -> Iterator[tuple[int | None, np.ndarray]]:
    """The states of a batch whose rows leave more than rounding, and their accelerations; None is a single one."""
    left, a = found["left"], found["accelerations"]
    if is_rounding(left):
        return
    much = ~(left[..., 0] <= CONTRADICTION[left.dtype] * (1.0 + np.abs(a).max(axis=-1, initial=0.0)))
    if a.ndim == 1:
        yield from [(None, a)] if much else []
    else:
        yield from ((int(k), a[k]) for k in np.flatnonzero(much))


def is_rounding(left: np.ndarray) -> bool:
    """Whether nothing more is left of rows anywhere, whatever the accelerations are."""
    return bool((left.item() if left.size == 1 else left.max(initial=0.0)) <= CONTRADICTION[left.dtype])


def is_more(unmet: np.ndarray, a: np.ndarray) -> bool:
    """Whether what rows do not meet is more than rounding of accelerations."""
    return bool(np.abs(unmet).max(initial=0.0) > CONTRADICTION[FLOAT64] * (1.0 + np.abs(a).max(initial=0.0)))


def of_state(k: int | None, x: Any) -> np.ndarray:
    """What a state has of an argument that may be the same for all."""
    x = np.asarray(x, float)
    return x if k is None or x.ndim < 2 else x[k if len(x) > 1 else 0]


def time_of(k: int | None, t: Any) -> float:
    """The time of a state."""
    times = np.ravel(np.asarray(t, float))
    return float(times[0 if k is None or len(times) == 1 else k])


def said(k: int | None) -> str:
    """Which state it is, in messages."""
    return "" if k is None else f" of state {k}"


def called(law: RowLaw) -> str:
    """A constraint, with the name that it was given if it has one."""
    shown = repr(law)
    return f"{shown} ({law.name})" if law.name and law.name not in shown else shown


class MovingRows:
    """The rows of a model that hold at a state under multipliers x: G, bias, and the rates that they have."""

    def __init__(self, model: Model, q: np.ndarray, v: np.ndarray, t: float, x: np.ndarray) -> None:
        laws = constraint_set(model)
        k = kinematics(model, q, v)
        seen, on = laws.look(k.poses, k.twists, q, v, t), holding(collection(model), x)
        units = np.eye(model.nv)
        parts = [units[i : i + COLUMNS] for i in range(0, model.nv, COLUMNS)]
        G = np.concatenate([seen.rows @ Motion(kinematics(model, q, some).twists, some) for some in parts]).T
        names = [f"{called(law)} row {i}" for law, size in laws.sizes() for i in range(size)]
        self._names = [name for name, here in zip(names, on, strict=True) if here]
        self.G, self.bias, self.rate = G[on], bends(laws, model, q, t, v)[on], seen.rate[on]
        self._much = CONTRADICTION[FLOAT64] * (1.0 + np.abs(v).max())
        check_slopes(self.G, self._names)

    @staticmethod
    def of_state(model: Model, k: int | None, q: Any, v: Any, t: Any, x: np.ndarray) -> MovingRows:
        """Those of one state of a batch."""
        return MovingRows(model, of_state(k, q), of_state(k, v), time_of(k, t), of_state(k, x))

    def unmet(self, free: np.ndarray, a: np.ndarray) -> np.ndarray:
        """What stays of G a + bias (rows,) if accelerations can be chosen where they are `free` (nv,), and are `a` elsewhere;
        rows that no choice changes stay out of it."""
        return _outside(self.G[:, free], self.bias + self.G[:, ~free] @ a[~free])

    def names(self, unmet: np.ndarray) -> str:
        """The rows that take part in a contradiction, and by how much they miss what they ask for."""
        share = np.abs(unmet) / _lengths(self.G)
        hits = [name for name, x in zip(self._names, share, strict=True) if x > TAKING_PART * share.max()]
        some = ", ".join(hits[:NAMED]) + (f" and {len(hits) - NAMED} more" if len(hits) > NAMED else "")
        return f"{some} together: {np.abs(unmet).max():.3g} of what they ask for stays"

    def remedy(self) -> str:
        """What to do."""
        if np.abs(self.rate).max() > self._much >= np.abs(_outside(self.G, self.rate)).max():
            return "Velocities do not obey the constraints: lw.assemble(model, state) finds some that do"
        return "Leave out one of them, or let them ask for accelerations that go together"


def _outside(G: np.ndarray, asked: np.ndarray) -> np.ndarray:
    """What of `asked` (rows,) no motion gives: the part outside the range of G (rows, nv), rows of length one; those that have
    none stay out of it."""
    length = np.linalg.norm(G, axis=1)
    on = length > DEPENDENT * length.max(initial=0.0)
    unit, wanted = G[on] / length[on, None], asked[on] / length[on]
    out = np.zeros(len(asked))
    if on.any():
        out[on] = (wanted - unit @ np.linalg.lstsq(unit, wanted, rcond=DEPENDENT)[0]) * length[on]
    return out


def _lengths(G: np.ndarray) -> np.ndarray:
    """Of rows (rows,); infinite where there is none."""
    length = np.linalg.norm(G, axis=1)
    return np.where(length > 0.0, length, np.inf)
