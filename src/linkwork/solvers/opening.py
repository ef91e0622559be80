"""Whether a problem of contact is jammed: is there a motion that opens all contacts at once?

    opens                   u_n > 0 in every normal or pushing row, u = 0 in equalities
    opens_against_friction  u_n > mu |u_t| besides: the motion leaves every dual cone, so multipliers cannot grow without bound,
                            and Coulomb's problem has a solution whatever b is

u = A x for some x, as all motions that forces cause are; a linear program finds the largest gap (cones with 16 sides).
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import linprog

from .problem import BOUNDS, Problem

SIDES = 16
LARGEST = 1e3  # of scaled x
GAP = 1e-6  # of a scaled u that counts as open


def opens(problem: Problem) -> bool:
    """Whether a motion opens all contacts."""
    return _largest_gap(problem, np.zeros(1), 0.0) > GAP


def opens_against_friction(problem: Problem) -> bool:
    """Whether a motion opens all contacts faster than they slide, times their coefficients."""
    return _largest_gap(problem, 2.0 * np.pi * np.arange(SIDES) / SIDES, 1.0 / np.cos(np.pi / SIDES)) > GAP


def _largest_gap(problem: Problem, angles: np.ndarray, friction: float) -> float:
    cones, n = problem.cones, len(problem.b)
    unit = 1.0 / np.sqrt(np.where(problem.answers > 0.0, problem.answers, 1.0))
    A = problem.A * np.outer(unit, unit)
    pushes = np.flatnonzero((cones.rows == BOUNDS) & (cones.lower == 0.0))
    equal = np.flatnonzero((cones.rows == BOUNDS) & np.isinf(cones.lower) & np.isinf(cones.upper))
    rows = [A[i] for i in pushes]
    for i in cones.normals:
        mu = friction * cones.mu[i + 1]
        rows += [A[i] - mu * (np.cos(angle) * A[i + 1] + np.sin(angle) * A[i + 2]) for angle in angles]
    if not rows:
        return 1.0
    gap, none = np.zeros(n + 1), np.zeros((len(equal), 1))
    gap[-1] = -1.0
    found = linprog(
        gap,
        A_ub=np.column_stack([-np.array(rows), np.ones(len(rows))]),
        b_ub=np.zeros(len(rows)),
        A_eq=np.column_stack([A[equal], none]) if len(equal) else None,
        b_eq=np.zeros(len(equal)) if len(equal) else None,
        bounds=[(-LARGEST, LARGEST)] * n + [(0.0, 1.0)],
    )
    return float(found.x[-1]) if found.x is not None else 0.0
