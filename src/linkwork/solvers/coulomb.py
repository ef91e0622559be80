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
from ..kernel.loops import Ints, Lane, LoopFunction, Strided
from .cone_modes import Modes
from .cone_rows import Rows, Search, scale_cones
from .cone_search import BOLD, CHANGES, PATIENCE, TIRED
from .own_rows import Listed, hand_back, list_own, on_alike, search_left, take_packed, take_rows, take_whole
from .problem import Info, Problem
from .softening import UNSOLVED, Rungs, solve_slots

PROBLEM = len(Listed.listed()) + 3  # arguments before the scratch: rows, A, left, rounds
MATRICES = ("K", "Kt", "T")  # of the scratch: what is not a number per row


@lane_by_lane(on_alike, search_left)
def solve_cones(
    listed: Listed,
    A: Strided,
    left: Strided,
    rounds: Strided,
    K: Lane,
    Kt: Lane,
    T: Lane,
    rows: Rows,
    s: Search,
    modes: Modes,
    rungs: Rungs,
    own: Ints,
) -> None:
    """The multipliers x of the listed rows, from the x given (zero, or those of the step before).

    A        (m, m), row by row in the order of the list
    left     the largest residual, in the units of the rows
    rounds   how many systems were solved
    The rest is scratch: K, Kt and T (m, m), the others a record per row.
    """
    n = list_own(listed.active, listed.on, own)
    take_rows(n, own, listed, rows, modes.keep, modes.more, s.xs)
    take_whole(n, own, rows, modes.keep, listed.active[0], A, K, Kt)
    scale_cones(n, rows, modes.more, s.xs)
    solve_slots(n, rows, s, modes, K, Kt, left, rounds, T, rungs, CHANGES, 0, UNSOLVED)
    hand_back(n, own, listed, s.best, rounds)


@lane_by_lane(on_alike, search_left)
def solve_packed_cones(
    listed: Listed,
    A: Strided,
    left: Strided,
    rounds: Strided,
    K: Lane,
    T: Lane,
    rows: Rows,
    s: Search,
    modes: Modes,
    rungs: Rungs,
    own: Ints,
) -> None:
    """The same with a packed symmetric A (`gram.gram`)."""
    n = list_own(listed.active, listed.on, own)
    take_rows(n, own, listed, rows, modes.keep, modes.more, s.xs)
    take_packed(n, own, rows, modes.keep, A, K)
    scale_cones(n, rows, modes.more, s.xs)
    solve_slots(n, rows, s, modes, K, K, left, rounds, T, rungs, PATIENCE, BOLD, TIRED)
    hand_back(n, own, listed, s.best, rounds)


def solve(problem: Problem, warm: np.ndarray | None = None) -> tuple[np.ndarray, Info]:
    """x of one problem, and how it ended."""
    x, left, rounds = solve_all([problem], None if warm is None else [warm])
    return x[0], Info(float(left[0]), int(rounds[0]))


def solve_all(problems: Sequence[Problem], warm: Sequence[np.ndarray] | None = None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """x (problems, rows), what is left and rounds of problems with the same rows, in as many lanes."""
    return call_in_lanes(solve_cones, problems, warm)


def scratch_of(routine: LoopFunction, m: int, *lanes: int) -> list[np.ndarray]:
    """Room for the scratch of a solver of m rows."""
    sizes = [(m * m if name in MATRICES else m, kind) for name, kind in routine.parameters[PROBLEM:]]
    return [np.zeros(size, np.int64) if kind == "Ints" else np.zeros((size, *lanes)) for size, kind in sizes]


def call_in_lanes(
    routine: LoopFunction, problems: Sequence[Problem], warm: Sequence[np.ndarray] | None
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
        scratch = scratch_of(routine, len(cones), W)
        routine.call(Lanes(W), active, rows, mu, on, b, lower, upper, x, A, left, rounds, *scratch)
    return x.T.copy(), left[0], rounds[0]
