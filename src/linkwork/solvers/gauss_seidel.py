"""Block Gauss-Seidel alone: sweeps with exact solves of every contact (`contact_block`) until nothing is left.

Slow where rows depend on one another, but simple, and each sweep costs no more than A x. One problem at a time.
"""

from __future__ import annotations

import numpy as np

from ..kernel.loops import Ints, Lane, any, loops, maximum, where
from .cone_rows import Rows, largest_terms, motions, natural_map, scale_cones, sweep_cones, what_is_left
from .coulomb import call_in_lanes
from .own_rows import Listed, hand_back, list_own, take_rows, take_whole
from .problem import Info, Problem

SWEEPS = 2000
CLOSE = 1e-14  # relative: of every solve
ENOUGH = 5e-14  # of the largest terms


@loops
def solve_by_sweeps(
    listed: Listed,
    A: Lane,
    left: Lane,
    rounds: Lane,
    K: Lane,
    Kt: Lane,
    rows: Rows,
    xs: Lane,
    u: Lane,
    z: Lane,
    here: Lane,
    coefficient: Lane,
    own: Ints,
) -> None:
    """As `coulomb.solve_cones`, with less scratch; rounds are sweeps."""
    m = list_own(listed.active, listed.on, own)
    take_rows(m, own, listed, rows, here, coefficient, xs)
    take_whole(m, own, rows, here, listed.active[0], A, K, Kt)
    scale_cones(m, rows, coefficient, xs)
    go = 1.0 + 0.0 * A[0]
    rounds[0] = 0.0
    given = 0.0 * go
    for i in range(m):
        given = maximum(given, abs(rows.bs[i]))
    for _ in range(SWEEPS):
        motions(m, Kt, rows.bs, xs, u)
        off = natural_map(m, rows, xs, u, z)
        size = largest_terms(m, xs, given)
        go = where(off <= ENOUGH * size, 0.0, go)
        if not any(go > 0.0):
            break
        sweep_cones(m, rows, K, Kt, xs, u, 1, CLOSE, go)
        rounds[0] += go
    what_is_left(m, rows, Kt, xs, u, z, left)
    hand_back(m, own, listed, xs, rounds)


def solve_gauss_seidel(problem: Problem, warm: np.ndarray | None = None) -> tuple[np.ndarray, Info]:
    """The multipliers, what is left, and the sweeps it took."""
    x, left, rounds = call_in_lanes(solve_by_sweeps, [problem], None if warm is None else [warm])
    return x[0], Info(float(left[0]), int(rounds[0]))
