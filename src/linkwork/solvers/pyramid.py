"""Friction as one quadratic program with a pyramid [Sueda, Eqs. 1.85-1.88], solved densely; steps take `single_qp`.

With beta_k >= 0 along N directions t_k of the tangent plane, x_t = sum_k beta_k t_k,

    minimise x^T A x / 2 + b^T x    subject to    x_n >= 0,  beta >= 0,  mu x_n - sum_k beta_k >= 0

Convex, so always solved, but not Coulomb's law: a pyramid inside the cone has down to cos(pi / N) of its friction, and the
minimum lets a sliding body lift off with mu |u_t| (Anitescu's relaxation; errata). `left` tells how far from Coulomb's law it is.
"""

from __future__ import annotations

import numpy as np

from .problem import FIRST, NORMAL, SECOND, Info, Problem
from .quadratic import QuadraticProgram

DIRECTIONS = 4


def solve_pyramid(problem: Problem, warm: np.ndarray | None = None, directions: int = DIRECTIONS) -> tuple[np.ndarray, Info]:
    """The multipliers of the relaxed problem, and their residual as a Coulomb problem."""
    cones, m = problem.cones, len(problem.b)
    angles = 2.0 * np.pi * np.arange(directions) / directions
    columns, lower, upper = [], [], []
    bounded: list[tuple[int, list[int], float]] = []  # normal row, unknowns whose sum it bounds, coefficient
    place: dict[int, int] = {}
    for i, kind in enumerate(cones.rows.tolist()):
        unit = np.zeros(m)
        unit[i] = 1.0
        if kind in (FIRST, SECOND):
            continue
        place[i] = len(columns)
        if kind >= 0:
            columns.append(unit)
            lower.append(cones.lower[i])
            upper.append(cones.upper[i])
        spread = []
        coefficient = float(cones.mu[i + 1] if kind == NORMAL else cones.mu[i])
        if coefficient == 0.0:
            continue
        if kind == NORMAL:
            for angle in angles:
                beta = np.zeros(m)
                beta[i + 1 : i + 3] = np.cos(angle), np.sin(angle)
                spread.append(beta)
        elif kind < 0:
            spread = [unit, -unit]
        if spread:
            bounded.append((i if kind == NORMAL else i + kind, [len(columns) + k for k in range(len(spread))], coefficient))
            columns += spread
            lower += [0.0] * len(spread)
            upper += [np.inf] * len(spread)
    V = np.array(columns).reshape(-1, m).T
    E = np.zeros((len(bounded), V.shape[1]))
    for row, (normal, unknowns, coefficient) in zip(E, bounded, strict=True):
        row[place[normal]] = coefficient
        row[unknowns] = -1.0
    least = np.concatenate([lower, np.zeros(len(E))])
    most = np.concatenate([upper, np.full(len(E), np.inf)])
    H = V.T @ (0.5 * (problem.A + problem.A.T)) @ V
    x = V @ QuadraticProgram(H, V.T @ problem.b, least, most, E).solve()[0]
    return x, Info(problem.residual(x), 1)
