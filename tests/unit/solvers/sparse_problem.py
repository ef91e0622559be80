"""Contacts of many bodies as rows at their joints, and the same as a dense problem."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from linkwork.kernel.lanes import Lanes
from linkwork.solvers.dense_islands import MATRIX_ROOM
from linkwork.solvers.islands import solve_islands
from linkwork.solvers.problem import Cones, Problem

GIVEN = 20  # arguments before the scratch
SIZES = {"U": 6, "Y": 6, "R": 6, "C": 6, "H": 36, "w": 6, "B": 9, "near": 2, "pivots": 6, "joint_w": 6}


@dataclass
class Pile:
    """Rows (row: body -> 6 numbers) on bodies with inverse inertias (bodies, 6, 6)."""

    rows: list[dict[int, np.ndarray]]
    inverse: np.ndarray
    cones: Cones
    b: np.ndarray

    @property
    def J(self) -> np.ndarray:
        found = np.zeros((len(self.rows), len(self.inverse), 6))
        for r, row in enumerate(self.rows):
            for body, entry in row.items():
                found[r, body] = entry
        return found.reshape(len(self.rows), -1)

    @property
    def dense(self) -> Problem:
        J = self.J
        M_inv = np.zeros((J.shape[1], J.shape[1]))
        for k, block in enumerate(self.inverse):
            M_inv[6 * k : 6 * k + 6, 6 * k : 6 * k + 6] = block
        return Problem(J @ M_inv @ J.T, self.b, self.cones)

    def renumbered(self, order: np.ndarray) -> Pile:
        """The same with body order[k] at place k."""
        place = np.argsort(order)
        rows = [{int(place[body]): entry for body, entry in row.items()} for row in self.rows]
        return Pile(rows, self.inverse[order], self.cones, self.b)


def random_pile(rng: np.random.Generator, bodies: int, contacts: int, points: int = 1) -> Pile:
    """Contacts of bodies with the ground and with one another; those of one pair at several points."""
    rows: list[dict[int, np.ndarray]] = []
    for c in range(contacts):
        first, second = int(rng.integers(bodies)), -1 if c < 3 else int(rng.integers(bodies))
        for _ in range(points):
            n = 0.4 * rng.normal(size=3) + (0.0, 0.0, 1.0)
            n /= np.linalg.norm(n)
            t = np.cross(n, (1.0, 0.0, 0.0))
            t /= np.linalg.norm(t)
            arms = 0.5 * rng.normal(size=(2, 3))
            for d in (n, t, np.cross(n, t)):
                row = {first: np.concatenate([np.cross(arms[0], d), d])}
                if second not in (first, -1):
                    row[second] = -np.concatenate([np.cross(arms[1], d), d])
                rows.append(row)
    W = rng.normal(size=(bodies, 6, 6))
    inverse = W @ W.swapaxes(1, 2) / 6.0 + 0.2 * np.eye(6)
    v = rng.normal(size=(bodies, 6)) - (0.0, 0.0, 0.0, 0.0, 0.0, 2.0)
    pile = Pile(rows, inverse, Cones.coulomb(rng.uniform(0.1, 0.8, len(rows) // 3)), np.zeros(len(rows)))
    pile.b = pile.J @ v.reshape(-1)
    return pile


def solved(
    pile: Pile, warm: np.ndarray | None = None, soft: float = 0.0, compiled: bool = True
) -> tuple[np.ndarray, np.ndarray, float]:
    """x, the motion of the rows, and what is left, by islands."""
    m, nb = len(pile.rows), len(pile.inverse)
    entries = [(r, body) for r, row in enumerate(pile.rows) for body in sorted(row)]
    starts = np.searchsorted([r for r, _ in entries], np.arange(m + 1)).astype(np.int32)
    joints = np.array([body for _, body in entries], np.int32)
    u = np.concatenate([pile.rows[r][body] for r, body in entries])
    y = np.concatenate([pile.inverse[body] @ pile.rows[r][body] for r, body in entries])
    count = {"U": len(joints), "Y": len(joints), "R": len(joints), "C": len(joints), "block": len(joints)}
    per_joint = ("root", "ends", "waits", "island_left", "joint_w", "local", "degree", "gone", "order", "first", "w", "pivots")
    count |= dict.fromkeys(per_joint, nb + 1) | {"K": MATRIX_ROOM}
    count |= dict.fromkeys(("slot", "near", "H"), nb * nb)
    active = np.arange(-1, m)
    active[0] = m
    x, motion, left = np.zeros(m) if warm is None else warm.copy(), np.zeros(m), np.zeros(1)
    places, freedoms = 6 * np.arange(len(joints), dtype=np.int32), np.full(len(joints), 6, np.int32)
    rows, lower, upper, mu = (np.ascontiguousarray(a) for a in pile.cones.fields)
    given = [nb, active, rows.astype(np.int32), mu, np.ones(m), pile.b, lower, upper, x]
    given += [starts, places.astype(np.int32), freedoms, joints, u, y, motion, left, soft, 1e-13, 60]
    scratch = []
    for name, kind in solve_islands.parameters[GIVEN:]:
        size = count.get(name, m + 1) * SIZES.get(name, 1)
        scratch.append(np.zeros(size, np.int64 if kind == "Ints" else float))
    if compiled:
        solve_islands.call(Lanes(1), *given, *scratch)
    else:
        solve_islands(*given, *scratch)
    return x, motion, float(left[0])
