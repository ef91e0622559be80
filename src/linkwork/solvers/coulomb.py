"""Problems with Coulomb cones (`solvers.problem`), solved exactly: the default of contact with friction.

The modes of the rows, free or at a bound, open, sticking or sliding, are searched by Newton's method, sweeps of Gauss-Seidel and
alternating directions (`cone_search`). What that leaves unsolved is tried once more by way of softer problems (`softening`).

The x with the least natural map is kept, and `left` tells it, in the units of u. A problem without a solution (contacts that ask
for contradicting motions) shows there; `existence` proves whether there is one. A batch goes lane by lane, each on the
rows that are on in it (`own_rows`): a result does not depend on its neighbours.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..kernel.lane_by_lane import lane_by_lane
from ..kernel.lanes import Lanes
from ..kernel.loops import Ints, Lane, LoopFunction, Strided, Table
from .cone_rows import scale_cones
from .cone_search import CHANGES, PATIENCE, TIRED
from .own_rows import hand_back, list_own, on_alike, search_left, take_packed, take_rows, take_whole
from .problem import Info, Problem
from .softening import UNSOLVED, solve_slots

SCRATCH = 18  # arrays of a number per row


@lane_by_lane(on_alike, search_left)
def solve_cones(
    active: Ints,
    cones: Table,
    mu: Strided,
    on: Strided,
    b: Strided,
    lower: Strided,
    upper: Strided,
    x: Strided,
    A: Strided,
    left: Strided,
    rounds: Strided,
    K: Lane,
    T: Lane,
    scale: Lane,
    bs: Lane,
    lo: Lane,
    hi: Lane,
    xs: Lane,
    u: Lane,
    xn: Lane,
    un: Lane,
    best: Lane,
    inside: Lane,
    force: Lane,
    z: Lane,
    keep: Lane,
    turn: Lane,
    more: Lane,
    kept: Lane,
    start: Lane,
    stiff: Lane,
    kinds: Ints,
    order: Ints,
    own: Ints,
) -> None:
    """The multipliers x of the listed rows, from the x given (zero, or those of the step before).

    active   how many rows take part, then they; the rows of one contact stand together, and are on together
    cones    of every row what it is: see `problem`
    mu       coefficients of rows that others bound; of a Coulomb cone that of its first tangent
    A        (m, m), row by row in the order of the list
    left     the largest residual, in the units of the rows
    rounds   how many systems were solved
    The rest is scratch: K and T (m, m), `kinds`, `order` and `own` whole numbers, the others a record per row.
    """
    n = list_own(active, on, own)
    take_rows(n, own, active, cones, mu, on, b, lower, upper, x, kinds, keep, bs, lo, hi, more, xs)
    take_whole(n, own, kinds, keep, active[0], A, scale, K)
    scale_cones(n, kinds, bs, lo, hi, more, xs, scale)
    solve_slots(
        n, kinds, xs, K, left, rounds, T, scale, bs, lo, hi, u, xn, un, best, inside, force, z, keep, turn, more, kept, start,
        stiff, order, CHANGES, UNSOLVED,
    )  # fmt: skip
    hand_back(n, own, active, best, x, rounds)


@lane_by_lane(on_alike, search_left)
def solve_packed_cones(
    active: Ints,
    cones: Table,
    mu: Strided,
    on: Strided,
    b: Strided,
    lower: Strided,
    upper: Strided,
    x: Strided,
    A: Strided,
    left: Strided,
    rounds: Strided,
    K: Lane,
    T: Lane,
    scale: Lane,
    bs: Lane,
    lo: Lane,
    hi: Lane,
    xs: Lane,
    u: Lane,
    xn: Lane,
    un: Lane,
    best: Lane,
    inside: Lane,
    force: Lane,
    z: Lane,
    keep: Lane,
    turn: Lane,
    more: Lane,
    kept: Lane,
    start: Lane,
    stiff: Lane,
    kinds: Ints,
    order: Ints,
    own: Ints,
) -> None:
    """The same with a packed symmetric A (`gram.gram`)."""
    n = list_own(active, on, own)
    take_rows(n, own, active, cones, mu, on, b, lower, upper, x, kinds, keep, bs, lo, hi, more, xs)
    take_packed(n, own, kinds, keep, A, scale, K)
    scale_cones(n, kinds, bs, lo, hi, more, xs, scale)
    solve_slots(
        n, kinds, xs, K, left, rounds, T, scale, bs, lo, hi, u, xn, un, best, inside, force, z, keep, turn, more, kept, start,
        stiff, order, PATIENCE, TIRED,
    )  # fmt: skip
    hand_back(n, own, active, best, x, rounds)


def solve(problem: Problem, warm: np.ndarray | None = None) -> tuple[np.ndarray, Info]:
    """x of one problem, and how it ended."""
    x, left, rounds = solve_all([problem], None if warm is None else [warm])
    return x[0], Info(float(left[0]), int(rounds[0]))


def solve_all(problems: Sequence[Problem], warm: Sequence[np.ndarray] | None = None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """x (problems, rows), what is left and rounds of problems with the same rows, in as many lanes."""
    m, W = len(problems[0].b), len(problems)
    scratch = [*np.zeros((2, m * m, W)), *np.zeros((SCRATCH, m, W)), *np.zeros((3, m), np.int64)]
    return call_in_lanes(solve_cones, problems, warm, *scratch)


def call_in_lanes(
    routine: LoopFunction, problems: Sequence[Problem], warm: Sequence[np.ndarray] | None, *scratch: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Run a compiled solver on problems with the same rows, one in each lane."""
    W, cones = len(problems), problems[0].cones.rows
    given = [(p.cones.mu, np.ones(len(p.b)), p.b, p.cones.lower, p.cones.upper) for p in problems]
    mu, on, b, lower, upper = (np.ascontiguousarray(np.stack(x, axis=-1), float) for x in zip(*given, strict=True))
    x = np.zeros(b.shape) if warm is None else np.ascontiguousarray(np.stack(warm, axis=-1), float)
    A = np.ascontiguousarray(np.stack([p.A.reshape(-1) for p in problems], axis=-1), float)
    left, rounds, active = np.zeros((1, W)), np.zeros((1, W)), np.arange(-1, len(cones))
    active[0] = len(cones)
    if len(cones):
        rows = np.ascontiguousarray(cones, np.int32)
        routine.call(Lanes(W), active, rows, mu, on, b, lower, upper, x, A, left, rounds, *scratch)
    return x.T.copy(), left[0], rounds[0]
