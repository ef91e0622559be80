"""Impacts with restitution and friction: Newton's law, on velocities, and Poisson's, on impulses.

    Newton    u_n' >= -e u_n where shapes approach: the normal velocity is turned round; one problem with another b
    Poisson   compression ends where u_n >= 0, with impulses x_c as without restitution; then expansion gives back e x_c,n of each
              normal impulse, and more where u_n would become negative [Glocker, Pfeiffer 1995]:
              x_n >= e x_c,n,  u_n >= 0,  (x_n - e x_c,n) u_n = 0,  with friction by the impulse of the expansion

For one point without friction, or where friction does not change normal velocities (a ball), they agree. They differ where
friction in the impact turns a body: of a rod that falls on its tip while it slides, Newton's law asks for a normal velocity that
friction has taken or given meanwhile, and the energy may grow; by Poisson's law it does not. Newton's is what steps ask for
(`constraints.targets`): it needs one problem, and flights of a body that bounces keep e^2 of their height.

In the expansion friction is bounded along two tangents, the first of which is that of friction at the end of the compression:
exact where a body slips along one line, a pyramid otherwise.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .coulomb import solve
from .problem import BOUNDS, NORMAL, Cones, Problem


def newton_impact(problem: Problem, restitution: float | np.ndarray) -> np.ndarray:
    """x of an impact; b are the velocities before it. `restitution` is one, or one for every normal or pushing row."""
    rows = pushing_rows(problem.cones)
    b = np.array(problem.b)
    b[rows] += restitution * np.minimum(b[rows], 0.0)
    return solve(replace(problem, b=b))[0]


def poisson_impact(problem: Problem, restitution: float | np.ndarray) -> np.ndarray:
    """The same by Poisson's law."""
    rows, cones = pushing_rows(problem.cones), problem.cones
    x = solve(problem)[0]
    turn, kinds, lower = np.eye(len(x)), np.array(cones.rows), np.array(cones.lower)
    for i in cones.normals:
        t = x[i + 1 : i + 3]
        along = t / np.linalg.norm(t) if np.any(t != 0.0) else np.array([1.0, 0.0])
        turn[i + 1 : i + 3, i + 1 : i + 3] = [along, [-along[1], along[0]]]
        kinds[i : i + 3] = (BOUNDS, -1, -2)
    lower[rows] = restitution * x[rows]
    expansion = Problem(turn @ problem.A @ turn.T, turn @ problem.motion(x), Cones(kinds, lower, cones.upper, cones.mu))
    return x + turn.T @ solve(expansion)[0]


def pushing_rows(cones: Cones) -> np.ndarray:
    """Normals, and rows that only push."""
    return np.flatnonzero((cones.rows == NORMAL) | ((cones.rows == BOUNDS) & (cones.lower == 0.0) & np.isinf(cones.upper)))


def energy_change(problem: Problem, x: np.ndarray) -> float:
    """Of the kinetic energy, by impulses x: x . (u + u') / 2."""
    return float(x @ (problem.b + problem.motion(x)) / 2.0)
