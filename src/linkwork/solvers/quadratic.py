"""Small dense quadratic programs: minimise x^T H x / 2 + f^T x with bounds on x and on C x; H symmetric semidefinite.

A dual active-set method (daqp) finds what is active; the equations of that are then solved once more, to rounding.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..errors import SolverError

PROXIMAL = 1e-6  # the weight of the last solution in the next, where the program alone has many
SINGULAR = 1e-10  # of the largest eigenvalue: below, the matrix is singular
SOLVED = (1, 2)  # flags of daqp
LARGE = 1e30  # no bound, for daqp
TOUCHES = 1e-9  # relative: a multiplier above counts


@dataclass(frozen=True)
class QuadraticProgram:
    """Bounds are (lower, upper) of x, then of C x."""

    H: np.ndarray
    f: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    C: np.ndarray

    def solve(self) -> tuple[np.ndarray, np.ndarray]:
        """x and the multipliers of the bounds, first of x, then of C x: H x + f + multipliers^T (1, C) = 0."""
        import daqp

        n = len(self.f)
        if not n:
            return np.zeros(0), np.zeros(len(self.C))
        diagonal = np.diagonal(self.H)
        unit = 1.0 / np.sqrt(np.where(diagonal > 1e-12 * diagonal.max(initial=1e-300), diagonal, max(diagonal.max(), 1e-300)))
        H, C = np.ascontiguousarray(self.H * np.outer(unit, unit)), np.ascontiguousarray(self.C * unit)
        bounds = np.concatenate([self.lower, self.upper])
        size = max(np.abs(unit * self.f).max(), 1e-3 * np.abs(bounds[np.isfinite(bounds)]).max(initial=0.0), 1e-300)
        factor = np.concatenate([unit * size, np.full(len(C), size)])
        lower, upper = (np.clip(bound / factor, -LARGE, LARGE) for bound in (self.lower, self.upper))
        eigenvalues = np.linalg.eigvalsh(H)
        proximal = 0.0 if eigenvalues[0] > SINGULAR * eigenvalues[-1] else PROXIMAL
        settings = {"eps_prox": proximal, "primal_tol": 1e-12, "dual_tol": 1e-12}
        sense = np.zeros(len(lower), dtype=np.int32)
        x, _, flag, info = daqp.solve(H, np.ascontiguousarray(unit * self.f / size), C, upper, lower, sense, **settings)
        if flag not in SOLVED:
            raise SolverError(f"a quadratic program of {n} unknowns has no solution (daqp ended with {flag})")
        found = unit * size * np.asarray(x)
        return self._polish(found, np.asarray(info["lam"]) * size / np.concatenate([unit, np.ones(len(C))]))

    def _polish(self, x: np.ndarray, multipliers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The same with what is active solved as equalities, if the result keeps all bounds."""
        n, rows = len(x), np.concatenate([np.eye(len(x)), self.C])
        equal = self.lower == self.upper
        active = np.flatnonzero((np.abs(multipliers) > TOUCHES * np.abs(multipliers).max(initial=1e-300)) | equal)
        G, bound = rows[active], np.where(multipliers > 0.0, self.upper, self.lower)[active]
        if not np.isfinite(bound).all():
            return x, multipliers
        k = len(active)
        K = np.block([[self.H, G.T], [G, np.zeros((k, k))]])
        found = np.linalg.lstsq(K, np.concatenate([-self.f, bound]), rcond=1e-13)[0]
        refined, values, room = found[:n], rows @ found[:n], 1e-10 * (1.0 + np.abs(found[:n]).max())
        if np.any(values < self.lower - room) or np.any(values > self.upper + room):
            return x, multipliers
        out = np.zeros(len(rows))
        out[active] = found[n:]
        return refined, out


def boxed(H: np.ndarray, f: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    """x that minimises x^T H x / 2 + f^T x between bounds."""
    return QuadraticProgram(H, f, lower, upper, np.zeros((0, len(f)))).solve()[0]


ROUNDS = 60  # in which Newton's method on the projections of discs ends
LEFT = 1e-12  # of the largest f: what may be left of them
SOFTEST = 1e6  # times the diagonal of a row: as soft as rows across the force of a disc get


def in_discs(H: np.ndarray, f: np.ndarray, lower: np.ndarray, upper: np.ndarray, discs: Sequence[np.ndarray]) -> np.ndarray:
    """x that minimises x^T H x / 2 + f^T x between bounds, and within |x_d| <= upper of the unknowns of every disc; densely.

    Discs of one unknown are its bounds. See `solvers.discs` for the method.
    """
    discs = [d for d in discs if len(d) > 1 and upper[d[0]] > 0.0]
    Q, soft, x = np.eye(len(f)), np.zeros(len(f)), np.zeros(len(f))
    for _ in range(ROUNDS if discs else 1):
        x = Q @ boxed(Q @ H @ Q + np.diag(soft), Q @ f, lower, upper)
        w, left = H @ x + f, 0.0
        for d in discs:
            a, m = np.trace(H[np.ix_(d, d)]) / len(d), upper[d[0]]
            y = x[d] - w[d] / a
            size = np.linalg.norm(y)
            left = max(left, a * np.abs(x[d] - y * min(1.0, m / max(size, 1e-300))).max())
            soft[d] = 0.0
            if size > m:
                v = y / size
                v[0] += 1.0 if v[0] >= 0.0 else -1.0
                Q[np.ix_(d, d)] = np.eye(len(d)) - 2.0 * np.outer(v, v) / (v @ v)
                soft[d[1:]] = a * min(size / m - 1.0, SOFTEST)
        if left <= LEFT * np.abs(f).max(initial=0.0):
            break
    return x
