"""An assembly at one state: the primary system factored, auxiliary conditions solved by anticipation [Baraff, section 8].

With the response M^^-1 of the primary system, auxiliary forces K mu obey

    J^a M^^-1 K mu + (J^a z_free - target) = 0,        M^^-1 k = the part z of the primary solution for (k, 0).

The response force to k answers -J M^-1 k, and c stands by itself, outside M^-1 (printed otherwise in sections 8.1 and 8.2).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..errors import SolverError
from ..kernel.call import Call
from ..kernel.factored import KEPT
from ..kernel.lanes import Lanes
from ..solvers.block_tree import SINGULAR, singular_node
from ..solvers.complementarity import equalities, multipliers
from ..solvers.lemke import mixed
from .layout import Layout

CONTRADICTION = 1e-7  # what may be left of an equality, relative to its terms
REDUNDANT = 1e-11  # a row of which less than this is left by the others, measured by its response
KNOWN = ("loads", "rate", "residual")


@dataclass(frozen=True, eq=False)
class Solution:
    """What satisfies the conditions: `motion` (velocities,) and `multipliers` (rows of all conditions, as they were connected).

    The motion is an acceleration, a velocity or a change of velocity, by the law; multipliers are its forces or impulses.
    """

    motion: np.ndarray
    multipliers: np.ndarray


class System:
    """The conditions linearised, and the factor of the primary ones; `update` moves it to another state.

    loads, rate, residual   of every row: -c, and what the condition measures
    forces                  what acts without being applied (velocities,): gravity less the bias h
    J, K_T                  of the auxiliary rows (rows, unknowns of the primary system): zero at multipliers
    """

    def __init__(self, layout: Layout, gravity: np.ndarray) -> None:
        self.layout = layout
        n, unknowns = len(layout.part_rows), int(layout.dims.sum())
        self._q, self._v = layout.padded_q(np.zeros(layout.q_starts[-1])), layout.padded_v(np.zeros(n))
        self._growth, self._known = np.empty((1, unknowns)), np.empty((3, unknowns))
        self._b, self._x = np.zeros(unknowns), np.empty(unknowns)
        self._rows = np.zeros((3, int(layout.row_starts[-1])))
        self.loads, self.rate, self.residual = self._rows
        state = {"q": self._q, "v": self._v}
        outputs = {"growth": self._growth, **{name: self._known[k : k + 1] for k, name in enumerate(KNOWN)}}
        self._factor = Call(layout.plan(Lanes(1), "factor"), {**state, "gravity": gravity}, outputs, 1)
        self._apply = Call(layout.plan(Lanes(1), "apply"), {"b": self._b[None]}, {"x": self._x[None]}, 1, self._factor)
        if layout.auxiliary:
            self._prepare_auxiliary(state, unknowns)

    def _prepare_auxiliary(self, state: dict[str, np.ndarray], unknowns: int) -> None:
        layout, k = self.layout, len(self.layout.auxiliary_rows)
        plan = layout.auxiliary_plan
        self._entries = np.empty((2, plan.sizes["J"]))
        self._measured = np.empty((3, k))
        outputs = {"J": self._entries[:1], "K_T": self._entries[1:]}
        outputs |= {name: self._measured[i : i + 1] for i, name in enumerate(KNOWN)}
        self._auxiliary = Call(plan, state, outputs, 1)
        self.J = np.zeros((k, unknowns))
        self.K_T = np.zeros((k, unknowns)) if layout.directed else self.J
        self._pushes, self._y, self._answer = (np.zeros((k, unknowns)) for _ in range(3))

    @cached_property
    def _halfway(self) -> Call:
        """y = L^-1 b and D^-1 y of the pushes: workless conditions need only half of every solve."""
        answers = {"y": self._y, "y_scaled": self._answer}
        return self._auxiliary_call("halfway", answers)

    @cached_property
    def _whole(self) -> Call:
        return self._auxiliary_call("apply", {"x": self._answer})

    def _auxiliary_call(self, phase: str, answers: dict[str, np.ndarray]) -> Call:
        plan = self.layout.plan(Lanes(8), phase, (KEPT,))
        return Call(plan, {"b": self._pushes}, answers, len(self._pushes), self._factor)

    def update(self, q: np.ndarray, v: np.ndarray) -> System:
        """Linearise and factor at another state."""
        layout = self.layout
        layout.fill_q(self._q, q)
        layout.fill_v(self._v, v)
        self._factor()
        if not self._growth.max() < SINGULAR:
            self._raise_singular()
        self.forces = self._known[0].take(layout.part_rows)
        self._rows[:, layout.primary] = self._known.take(layout.primary_at, axis=1)
        if layout.auxiliary:
            self._auxiliary()
            self._rows[:, layout.auxiliary_rows] = self._measured
            self.J.put(layout.auxiliary_places, self._entries[0])
            if layout.directed:
                self.K_T.put(layout.auxiliary_places, self._entries[1])
        return self

    def _raise_singular(self) -> None:
        node = self.layout.nodes[singular_node(self._growth[0], self.layout.dims) or 0]
        if node.is_part:
            raise SolverError(f"part number {node.index} ({type(self.layout.parts[node.index]).__name__}): its mass is singular")
        raise SolverError(
            f"{self.layout.conditions[node.index]!r}: its rows depend on one another, or not on the part that it adds to the "
            "tree; remove what is redundant, or connect it as auxiliary"
        )

    def solve(self, force: np.ndarray, target: np.ndarray, active: np.ndarray | None = None) -> Solution:
        """z with M z = force + J^T lam + K mu, and J z = target, or >= target with mu >= 0 where unilateral.

        target, active   of all rows; auxiliary rows that are not active exert no force (by default all are)
        """
        return self._solve(force, target, active, self.K_T if self.layout.auxiliary else None)

    def shortest(self, target: np.ndarray, active: np.ndarray) -> Solution:
        """The least z in the metric of the mass with J z = target, or >= target where unilateral: M z = J^T lam.

        Directions in which a condition's own forces act (friction) have no part in it.
        """
        return self._solve(np.zeros(len(self.forces)), target, active, self.J if self.layout.auxiliary else None)

    def _solve(self, force: np.ndarray, target: np.ndarray, active: np.ndarray | None, K_T: np.ndarray | None) -> Solution:
        """`solve` with auxiliary forces along the rows of K_T; None if there are none."""
        layout = self.layout
        self._b[layout.part_rows] = force
        self._b[layout.primary_at] = target.take(layout.primary)
        self._apply()
        lam = np.zeros(len(target))
        if K_T is not None:
            self._solve_auxiliary(lam, target, active, K_T)
        lam[layout.primary] = -self._x.take(layout.primary_at)
        return Solution(self._x.take(layout.part_rows), lam)

    def _solve_auxiliary(self, lam: np.ndarray, target: np.ndarray, active: np.ndarray | None, K_T: np.ndarray) -> None:
        """Find the auxiliary multipliers, then the unknowns once more with their forces."""
        rows, J, symmetric = self.layout.auxiliary_rows, self.J, K_T is self.J
        if active is not None and not active.take(rows).all():
            keep = np.flatnonzero(active[rows])
            rows, J, K_T = rows[keep], J[keep], K_T[keep]
        if not len(rows):
            return
        missing = J @ self._x - target.take(rows)
        if symmetric:
            mu = self._multipliers(self._anticipated_halfway(J), missing, rows)
        else:
            mu = mixed(self._anticipated(J, K_T), missing, self.layout.unilateral[rows])
        lam[rows] = mu
        self._b += mu @ K_T
        self._apply()

    def _anticipated(self, J: np.ndarray, K_T: np.ndarray) -> np.ndarray:
        """J M^^-1 K."""
        k = len(J)
        self._pushes[:k] = K_T
        self._whole(k)
        return J @ self._answer[:k].T

    def _anticipated_halfway(self, J: np.ndarray) -> np.ndarray:
        """J M^^-1 J^T."""
        k = len(J)
        self._pushes[:k] = J
        self._halfway(k)
        return self._y[:k] @ self._answer[:k].T

    def _multipliers(self, A: np.ndarray, missing: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """mu with A mu + missing = 0, or its complementarity, for a symmetric A."""
        unilateral = self.layout.unilateral[rows]
        mu = equalities(A, missing)
        if mu is not None and not (mu < 0.0)[unilateral].any():  # everything that touches pushes, as mostly
            return mu
        mu = multipliers(A, missing, unilateral)
        left = np.abs(A @ mu + missing) > CONTRADICTION * (np.abs(A) @ np.abs(mu) + np.abs(missing) + 1e-300)
        if np.any(left & ~unilateral):
            row = rows[np.flatnonzero(left & ~unilateral)[0]]
            which = int(np.searchsorted(self.layout.row_starts, row, side="right")) - 1
            raise SolverError(f"{self.layout.conditions[which]!r}: it contradicts the other conditions here")
        return mu

    def redundant_rows(self) -> np.ndarray:
        """Rows of auxiliary equalities that the primary ones and other auxiliary ones imply: their forces are not determined."""
        rows = self.layout.auxiliary_rows
        at = np.flatnonzero(~self.layout.unilateral[rows])
        self._pushes[: len(at)] = self.J[at]
        self._halfway(len(at))
        y, answer = self._y[: len(at)], self._answer[: len(at)]
        A, size = y @ answer.T, (np.abs(y) * np.abs(answer)).sum(axis=1)  # size: of what cancels in A if others imply the row
        left = np.full(len(at), True)
        while left.any():
            k = np.argmax(np.where(left, np.diagonal(A) / np.where(size > 0.0, size, 1.0), -np.inf))
            if not A[k, k] > REDUNDANT * size[k]:
                break
            left[k] = False
            A = A - np.outer(A[:, k], A[k]) / A[k, k]
        return rows[at[left]]
