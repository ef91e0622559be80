"""The matrices of `linear_step`, for a batch of states: columns are those of q, v and tau, nv each.

Products of small matrices, of which the largest are (nv, nv) by (nv, 3 nv). What ports see has the four parts of `law_slopes`,
whose columns are

    displacement   J dq                velocity   J dv + N_v dq
    free motion    J dfree + N_free dq        rate       R_q dq + R_v dv + R_w dw + J da

with dfree = dv + h da and dw = dv + h/2 da1.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ..reduced.law_slopes import SEEN
from ..reduced.port_columns import COLUMNS
from ..reduced.port_space import PortSpace
from ..reduced.push_out import SOFT as PUSH_SOFT
from ..solvers.box_tangents import SOFT
from .linear_program import BLOCKS

if TYPE_CHECKING:
    from .linear_step import LinearStep, Memory

ROUNDS = 1  # proximal rounds after the first solution


def diagonal(x: np.ndarray, row: int = 0, column: int = 0, count: int | None = None) -> np.ndarray:
    """A view of the entries (row + i, column + i), all or so many, of matrices (batch, rows, columns) that lie in one piece."""
    assert x.flags.c_contiguous
    rows, columns = x.shape[-2:]
    return x.reshape(len(x), -1)[:, row * columns + column :: columns + 1][:, : rows - row if count is None else count]


class Matrices:
    """One step of a batch of states: its programs have run."""

    def __init__(self, step: LinearStep, memory: Memory, h: float) -> None:
        self.step, self.memory, self.out, self.h = step, memory, memory.out, h
        self.nv, self.batch, self.at = step.model.nv, len(memory.q), step.at
        self.M_inverse = memory.M_inverse
        self.first: np.ndarray | None = None

    def derivatives(self) -> np.ndarray:
        """d(q', v')/d(q, v, tau) (batch, 2 nv, 3 nv)."""
        nv, h = self.nv, self.h
        if self.step.middle:
            self.first = self._accelerations(self.at["first_a"])
        self.a = self._accelerations(0)
        found = np.empty((self.batch, 2 * nv, 3 * nv))
        dv = found[:, nv:]
        np.multiply(self.a, h, out=dv)
        change, way = self._held() if self.step.rows is not None else (None, None)
        if change is not None:
            dv += change
        diagonal(found, nv, nv)[...] += 1.0
        return self._updated(found, way)

    # --- free motion -------------------------------------------------------------------------------------------------
    def _accelerations(self, k: int) -> np.ndarray:
        """da1, or da (batch, nv, 3 nv): motion number k of the tree."""
        nv, E, V = self.nv, self.memory.E[:, k], self.memory.V[:, k]
        right = np.zeros((self.batch, nv, 3 * nv))
        if self.step.forces is not None:
            K, D = self._forces
            np.subtract(K, E, out=right[..., :nv])
            np.subtract(D, V, out=right[..., nv : 2 * nv])
        else:
            np.negative(E, out=right[..., :nv])
            np.negative(V, out=right[..., nv : 2 * nv])
        diagonal(right, 0, 2 * nv)[...] = 1.0
        if self.first is not None:
            coriolis = V * (-0.5 * self.h)
            diagonal(coriolis)[...] += 0.5 * self.h * self.step.damping
            right += coriolis @ self.first
        return self.M_inverse @ right

    @cached_property
    def _forces(self) -> tuple[np.ndarray, np.ndarray]:
        """dQ/dq and dQ/dv (batch, nv, nv), as wrenches follow their bodies."""
        space = self.step.forces
        assert space is not None
        K, D = (self.out[name].reshape(self.batch, space.size, space.size) for name in ("K_ports", "D_ports"))
        if not space.bodies:
            return K, D
        J, N = self._columns(space, "J"), self._columns(space, "N_v")
        Jt = J.swapaxes(-1, -2)
        return Jt @ (K @ J + D @ N), Jt @ (D @ J)

    def _columns(self, space: PortSpace, name: str) -> np.ndarray:
        """Columns at all ports of a space (batch, size, nv)."""
        if not space.bodies:
            found = np.zeros((self.batch, 0, self.nv))
        else:
            found = self.memory.at_ports[:, COLUMNS.index(name)]
            if space.bodies != self.step.bodies:
                found = found[:, self.step.slots(space)]
        return space.on_all(found) if name == "J" else space.on_bodies(found)

    # --- rows --------------------------------------------------------------------------------------------------------
    def _held(self) -> tuple[np.ndarray, np.ndarray | None]:
        """What rows add to v', and the displacement that pushes out, if one does (batch, nv, 3 nv)."""
        step, out, space = self.step, self.out, self.step.rows
        assert space is not None
        R, S = step.linear.laws.row_count, space.size
        self.J = self._columns(space, "J")
        if not space.joints and space.bodies == step.bodies:
            self.seen = self.memory.at_ports[:, :SEEN].reshape(self.batch, SEEN * S, self.nv)
        else:
            self.seen = np.concatenate([self._columns(space, name) for name in COLUMNS[:SEEN]], axis=-2)
        self.G = out["G_ports"].reshape(self.batch, R, S)
        self.rows = self.G @ self.J
        self.answer = self.M_inverse @ self.rows.swapaxes(-1, -2)
        self.A = self.rows @ self.answer
        P_u, P_x = (out[name].reshape(self.batch, R, R) for name in ("P_u", "P_x"))
        change = self._response("f_ports", self.at["held_change"])
        self.moved = self._moved(slice(None), change, "N_held")
        g = self._seen("w_ports")
        g += self.moved
        x = self._solution(P_u @ self.A + P_x, diagonal(P_u) * diagonal(self.A), P_u @ g)
        change += self.answer @ x
        self.moved += self.A @ x
        if not step.out or not (out["deep"] > 0.0).any():
            return change, None
        return change, self._pushed_out()

    def _moved(self, rows: Any, change: np.ndarray, name: str) -> np.ndarray:
        """How G (J d) of some rows changes with d and the displacements of the ports, G itself apart."""
        assert self.step.rows is not None
        found = self.rows[:, rows] @ change
        found[..., : self.nv] += self.G[:, rows] @ self._columns(self.step.rows, name)
        return found

    def _response(self, name: str, k: int) -> np.ndarray:
        """M^-1 (d(G^T x) - E dq) (batch, nv, 3 nv), multipliers held: E is that of motion number k."""
        nv, S, turned = self.nv, self.J.shape[-2], self.step.linear.turning
        F, Jt = self.out[name].reshape(self.batch, S, turned * S), self.J.swapaxes(-1, -2)
        along_q = Jt @ (F @ self.seen[:, : turned * S]) - self.memory.E[:, k]
        found = np.zeros((self.batch, nv, 3 * nv))
        if turned == 1:
            np.matmul(self.M_inverse, along_q, out=found[..., :nv])
            return found
        velocity, free = (Jt @ (F[..., i * S : (i + 1) * S] @ self.J) for i in (1, 2))
        found[..., :nv], found[..., nv : 2 * nv] = along_q, velocity + free
        found += (self.h * free) @ self.a
        return self.M_inverse @ found

    def _seen(self, name: str) -> np.ndarray:
        """Slopes of rows on what ports see, as those with q, v and tau (batch, rows, 3 nv)."""
        nv, h, S, space = self.nv, self.h, self.J.shape[-2], self.step.rows
        assert space is not None
        W = self.out[name].reshape(self.batch, -1, SEEN * S)
        velocity, free, rate = (W[..., k * S : (k + 1) * S] for k in range(1, SEEN))
        middle = rate @ self._columns(space, "R_w")
        found = (h * (free @ self.J) + rate @ self.J) @ self.a
        if self.first is not None:
            found += (0.5 * h * middle) @ self.first
        found[..., :nv] += W @ self.seen
        found[..., nv : 2 * nv] += (velocity + free) @ self.J + rate @ self._columns(space, "R_v") + middle
        return found

    def _solution(self, T: np.ndarray, soft: np.ndarray, right: np.ndarray) -> np.ndarray:
        """X with T X = -right; rows that others imply share, by proximal rounds: SOFT times `soft` is added to the diagonal."""
        softer = T.copy()
        diagonal(softer)[...] += SOFT * soft
        inverse = np.linalg.inv(softer)
        found = -(inverse @ right)
        for _ in range(ROUNDS):
            found -= inverse @ (right + T @ found)
        return found

    # --- what is too deep ----------------------------------------------------------------------------------------------
    def _pushed_out(self) -> np.ndarray:
        """The displacement that pushes out; zero where nothing is too deep."""
        out, pushing, rows = self.out, self.step.linear.pushing, self.step.linear.displaced
        acts = out["deep"] > 0.0
        free, x = out["out_free"][:, rows], np.where(acts, out["out_x"], 0.0)[:, pushing]
        found = self._response("out_f_ports", self.at["shift"])
        g = self._moved(rows, found, "N_out")
        g += self._seen("out_ports")
        g += (self.h * out["slow"][:, rows])[:, :, None] * self.moved[:, rows]
        pushes = self.step.linear.pushes_among
        g[:, pushes, : self.nv] += (PUSH_SOFT * x)[:, :, None] * self._diagonal_changes()
        T = np.ascontiguousarray(free[:, :, None] * self.A[:, rows[:, None], rows])
        size = free * diagonal(self.A)[:, rows]
        diagonal(T)[...] += 1.0 - free + PUSH_SOFT * pushes * size
        found += self.answer[:, :, rows] @ self._solution(T, size, free[:, :, None] * g)
        return np.where(acts[:, :, None], found, 0.0)

    def _diagonal_changes(self) -> np.ndarray:
        """dA_ii (batch, rows that push, nv)."""
        step, pushing, S, T = self.step, self.step.linear.pushing, self.J.shape[-2], self.step.linear.turning
        answers = self.answer[:, :, pushing]
        found = self.memory.diagonal_changes(answers, self.G[:, pushing])
        turns = self.out["turns_ports"].reshape(self.batch, len(pushing), S, T * S)
        turned = np.matmul((self.J @ answers).swapaxes(-1, -2)[:, :, None, :], turns)[:, :, 0]
        return found + 2.0 * (turned @ self.seen[:, : T * S])

    # --- update --------------------------------------------------------------------------------------------------------
    def _updated(self, found: np.ndarray, shift: np.ndarray | None) -> np.ndarray:
        """The derivatives of q' beside those of v'."""
        nv, way = self.nv, found[:, : self.nv]
        np.multiply(found[:, nv:], self.h, out=way)
        if shift is not None:
            way += shift
        blocks = []
        for at, squares in self.step.unusual:
            n = at.stop - at.start
            own = {name: self.out[name][:, squares].reshape(-1, n, n) for name in BLOCKS}
            for of, first in (("q", 0), ("v", nv)):
                rows = own[f"{of}_by_way"] @ way[:, at] + own[f"{of}_by_v"] @ found[:, nv + at.start : nv + at.stop]
                rows[..., at] += own[f"{of}_by_q"]
                blocks.append((slice(first + at.start, first + at.stop), rows))
        diagonal(found, 0, 0, nv)[...] += 1.0
        for at, rows in blocks:
            found[:, at] = rows
        return found
