"""Contact with friction at acceleration level [Baraff 1996, section 8; Baraff 1994]: forces between impacts, without a step.

Rows with rates u have the accelerations w = A x + b. What rests may be held; of what moves friction is known:

    normal     x_n >= 0,  w_n >= 0,  x_n w_n = 0
    static     u_t = 0:  |x_t| <= mu x_n, and w_t = 0, or friction at its bound against w_t
    dynamic    u_t is not: x_t = -mu x_n d,  d = u_t / |u_t|

Dynamic friction belongs to its normal force, so that its column of A becomes A_n - mu A_t d: one row, and no symmetry. So does
spinning and rolling friction of what turns; dry friction of joints that slip is a number. What rests is Coulomb's problem of
accelerations (`coulomb`), together with them.

With dynamic friction there may be no solution: the tip of a rod that is pushed over a rough floor digs in, and every force
makes its approach faster (Painleve).
"""

from __future__ import annotations

import numpy as np

from .coulomb import solve
from .problem import BOUNDS, NORMAL, Cones, Problem

SLIPS = 1e-9  # m/s: what is slower rests
SOLVED = 1e-9  # of the largest of b: what may be left of a problem that has a solution


def solve_accelerations(problem: Problem, rates: np.ndarray) -> np.ndarray | None:
    """The forces of rows that move at such rates; None where there are none."""
    into, kept, cones = known_friction(problem.cones, rates)
    reduced = Problem(problem.A[kept] @ into, problem.b[kept], cones)
    pushes = (cones.lower == 0.0) & (cones.upper == np.inf)
    if np.any(np.diagonal(reduced.A)[pushes] < 0.0):
        return None  # a push makes the approach faster
    x, info = solve(reduced)
    solved = info.left <= SOLVED * max(float(np.abs(reduced.b).max(initial=0.0)), 1e-300)
    return into @ x if solved else None


def known_friction(cones: Cones, rates: np.ndarray) -> tuple[np.ndarray, np.ndarray, Cones]:
    """What makes all forces of those that are unknown, which rows these are of, and their cones."""
    n = len(rates)
    into, kept = np.eye(n), np.ones(n, bool)
    rows, lower, upper = cones.rows.copy(), cones.lower.copy(), cones.upper.copy()
    for i in range(n):
        if rows[i] == NORMAL:
            slip, speed = rates[i + 1 : i + 3], float(np.hypot(*rates[i + 1 : i + 3]))
            if speed > SLIPS:
                into[i + 1 : i + 3, i] = -cones.mu[i + 1] * slip / speed
                kept[i + 1 : i + 3], rows[i] = False, BOUNDS
        elif rows[i] < 0 and abs(rates[i]) > SLIPS:
            into[i, i + rows[i]], kept[i] = -cones.mu[i] * np.sign(rates[i]), False
        elif rows[i] == BOUNDS and np.isfinite(lower[i]) and np.isfinite(upper[i]) and abs(rates[i]) > SLIPS:
            lower[i] = upper[i] = lower[i] if rates[i] > 0.0 else upper[i]
    for i in np.flatnonzero(kept & (rows < 0)):  # as many rows above as are left
        rows[i] = -int(kept[i + rows[i] : i].sum())
    return into[:, kept], kept, Cones(rows[kept], lower[kept], upper[kept], cones.mu[kept])
