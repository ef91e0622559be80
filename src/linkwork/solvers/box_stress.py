"""Problems with boxes (`boxes`) whose rows contradict one another: the stress that proximal rounds leave, taken back.

Along an eigenvector of A with a value far below eps nothing answers, and every round adds -w / eps once more, w being what is
left. After k rounds that is k times the step -z of a further one, which moves nothing: x + k z is the solution of least norm.
"""

from __future__ import annotations

from ..kernel.loops import Lane, any, loops, where
from .box_walk import FINE, NOTHING, residuals
from .dense import factor, solve
from .extremes import larger

VAIN = 0.1  # of eps: where a proximal round is answered by less, it is in vain


@loops
def in_vain(
    m: int, A: Lane, free: Lane, xs: Lane, w: Lane, L: Lane, d: Lane, z: Lane, scale_b: float, rounds: float, eps: float
) -> float:
    """How often x holds -z, which each of its rounds has added in vain, as A does not answer it: w is what they left."""
    asked = 0.0 * A[0]
    known = scale_b
    for i in range(m):
        asked = larger(asked, where(free[i] > 0.0, abs(w[i]), 0.0))
        known = larger(known, abs(xs[i]))
    rounds = where(asked > FINE * known, rounds, 0.0)
    if any(rounds > 0.0):
        for i in range(m):
            a = i * (i + 1) // 2
            for k in range(i):
                L[a + k] = where((free[i] > 0.0) & (free[k] > 0.0), A[a + k], 0.0)
            L[a + i] = where(free[i] > 0.0, A[a + i] + eps, 1.0)
            z[i] = where(free[i] > 0.0, w[i], 0.0)
        factor(m, L, d, NOTHING)
        solve(m, L, d, z)
        answer = 0.0 * A[0]
        added = 0.0 * A[0]
        for i in range(m):
            answer += z[i] * (w[i] - eps * z[i])  # z^T A z
            added += eps * z[i] * z[i]
        rounds = where(answer < VAIN * added, rounds, 0.0)
    return rounds


@loops
def take_back(m: int, A: Lane, bs: Lane, xs: Lane, w: Lane, z: Lane, rounds: float) -> None:
    """x without what has been added in vain, and w."""
    if any(rounds > 0.0):
        for i in range(m):
            xs[i] += where(rounds > 0.0, rounds * z[i], 0.0)
        residuals(m, A, bs, xs, w)
