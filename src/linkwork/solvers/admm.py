"""Coulomb's law by the alternating direction method of multipliers.

x is split into x, which sees the matrix, and y in the cones; w is the force between them, and becomes the motion u + s:

    (A + (eta + rho) 1) x' = eta x + rho y + w - b - s(w),    y' = P(x' - w / rho),    w' = w - rho (x' - y')

with the shift s = mu |w_t| of normal rows. rho follows the ratio of what is missing of x = y to what w still moves, by powers of
the condition of A, and the matrix is factored anew only when it changes. A is any matrix whose symmetric part is semidefinite.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import lu_factor, lu_solve

from .problem import Info, Problem

ROUNDS = 2000
ENOUGH = 1e-13  # relative to the largest of b
ETA = 1e-6  # of the largest eigenvalue: the weight of the last x
UNBALANCED = 10.0  # ratio of what is missing at which rho moves
POWER = 0.1
BALANCE = 10  # rounds between changes of rho, which end after half of the rounds: with one rho they converge


def solve_admm(problem: Problem, warm: np.ndarray | None = None, rounds: int = ROUNDS) -> tuple[np.ndarray, Info]:
    """The multipliers in the cones, what is left, and the rounds it took."""
    unit = 1.0 / np.sqrt(np.where(problem.answers > 0.0, problem.answers, 1.0))
    scaled = problem.scaled(unit)
    A, b, cones, n = scaled.A, scaled.b, scaled.cones, len(scaled.b)
    largest = max(float(np.linalg.eigvalsh(0.5 * (A + A.T))[-1]), 1e-300) if n else 1.0
    eta, power = ETA * largest, 0.3
    y = np.zeros(n) if warm is None else warm / unit
    x, w, best, least, done = y, scaled.motion(y), y, np.inf, 0
    enough = ENOUGH * max(np.abs(b).max(initial=0.0), 1e-300)
    rho, factor = 0.0, None
    while done < rounds:
        done += 1
        wanted = np.sqrt(ETA) * largest * ETA**-power
        if factor is None or wanted != rho:
            rho = wanted
            factor = lu_factor(A + (eta + rho) * np.eye(n))
        x = lu_solve(factor, eta * x + rho * y + w - b - scaled.shift(w))
        new = cones.project(x - w / rho)
        split, still = np.abs(x - new).max(initial=0.0), rho * np.abs(new - y).max(initial=0.0)
        w, y = w - rho * (x - new), new
        off = scaled.residual(y)
        if off < least:
            best, least = y, off
        if off <= enough:
            break
        if done % BALANCE == 0 and 2 * done < rounds:
            ratio = split / max(still, 1e-300)
            power += POWER if ratio > UNBALANCED else -POWER if ratio < 1.0 / UNBALANCED else 0.0
    found = unit * best
    return found, Info(problem.residual(found), done)
