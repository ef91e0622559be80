"""Block Gauss-Seidel alone: sweeps with exact solves of every contact (`contact_block`) until nothing is left.

Slow where rows depend on one another, but simple, and each sweep costs no more than A x. In all lanes at once.
"""

from __future__ import annotations

import numpy as np

from ..kernel.loops import Ints, Lane, Table, any, loops, maximum, minimum, where
from .cone_rows import hand_back, motions, natural_map, scale_cones, sweep_cones
from .coulomb import LARGEST, call_in_lanes
from .problem import Info, Problem

SWEEPS = 2000
CLOSE = 1e-14  # relative: of every solve
ENOUGH = 5e-14  # of the largest terms


@loops
def solve_by_sweeps(
    active: Ints,
    cones: Table,
    mu: Lane,
    on: Lane,
    b: Lane,
    lower: Lane,
    upper: Lane,
    x: Lane,
    A: Lane,
    left: Lane,
    rounds: Lane,
    scale: Lane,
    bs: Lane,
    lo: Lane,
    hi: Lane,
    xs: Lane,
    u: Lane,
    z: Lane,
) -> None:
    """As `coulomb.solve_cones`, with less scratch; rounds are sweeps."""
    m = active[0]
    scale_cones(active, cones, mu, on, b, lower, upper, x, A, scale, bs, lo, hi, xs)
    go = 1.0 + 0.0 * A[0]
    rounds[0] = 0.0
    given = 0.0 * go
    for i in range(m):
        given = maximum(given, abs(bs[i]))
    for _ in range(SWEEPS):
        motions(m, A, bs, xs, u)
        off = natural_map(active, cones, lo, hi, scale, xs, u, xs, u, 0.0 * go, z)
        size = given
        for i in range(m):
            size = maximum(size, minimum(abs(xs[i]), LARGEST * given))
        go = where(off <= ENOUGH * size, 0.0, go)
        if not any(go > 0.0):
            break
        sweep_cones(active, cones, A, bs, lo, hi, scale, xs, 1, CLOSE, go)
        rounds[0] += go
    hand_back(active, cones, A, bs, lo, hi, scale, xs, u, z, x, left)


def solve_gauss_seidel(problem: Problem, warm: np.ndarray | None = None) -> tuple[np.ndarray, Info]:
    """The multipliers, what is left, and the sweeps it took."""
    m = len(problem.b)
    scratch = [np.zeros((m, 1)) for _ in range(7)]
    x, left, rounds = call_in_lanes(solve_by_sweeps, [problem], None if warm is None else [warm], *scratch)
    return x[0], Info(float(left[0]), int(rounds[0]))
