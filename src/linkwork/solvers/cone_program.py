"""Coulomb's law by cone programs (Clarabel) inside a fixed point: a reference that shares no line with the default solver.

With the shift s = mu |u_t| of normal rows held, x solves a convex program, of which an interior-point method finds the minimum:

    minimise x^T A x / 2 + (b + s)^T x    subject to    x in K

and its u gives the next shift. A fixed point is a solution of Coulomb's law. The program alone, s = 0, is the relaxation in which
sliding bodies lift off (errata). A is symmetric.

An interior point is as far from the boundary of a cone as the root of the gap it ends with. So the minimum is refined: cones that
it touches become equalities (|x_t|^2 - mu^2 x_n^2) / 2 = 0, and Newton's method solves the conditions of Lagrange.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from ..errors import SolverError
from .problem import NORMAL, Info, Problem

ROUNDS = 300
ENOUGH = 1e-14  # of the largest b: the change of the shift that ends the rounds
GAP = 1e-13
NEAR = 1e-5  # of the largest x: so near a boundary counts as on it
STEPS = 6  # of Newton's method


def _clarabel() -> Any:
    """The module, imported when a program is first solved."""
    return importlib.import_module("clarabel")


def solve_cone_programs(problem: Problem, warm: np.ndarray | None = None, rounds: int = ROUNDS) -> tuple[np.ndarray, Info]:
    """The multipliers, what is left, and how many programs were solved; of a start the shift is used."""
    unit = 1.0 / np.sqrt(np.where(problem.answers > 0.0, problem.answers, 1.0))
    scaled = problem.scaled(unit)
    program, done = ConeProgram(scaled), 0
    x = np.zeros(len(problem.b))
    shift = x if warm is None else whole_shift(scaled, scaled.motion(warm / unit))
    while done < rounds:
        done += 1
        x = program.minimum(shift)
        new = whole_shift(scaled, scaled.motion(x))
        change, shift = np.abs(new - shift).max(initial=0.0), new
        if change <= ENOUGH * np.abs(scaled.b).max(initial=0.0):
            break
    return unit * x, Info(problem.residual(unit * x), done)


def whole_shift(problem: Problem, u: np.ndarray) -> np.ndarray:
    """s, with mu |u| of further rows in the rows that bound them: in the program these belong to the cone."""
    s, rows = problem.shift(u), problem.cones.rows
    for i in np.flatnonzero(rows < 0):
        s[i + rows[i]] += problem.cones.mu[i] * abs(u[i])
    return s


@dataclass(frozen=True)
class ConeProgram:
    """The program of one problem, for any shift."""

    problem: Problem

    @cached_property
    def _parts(self) -> tuple[Any, ...]:
        """The matrix, G and h of G x + slack = h, the cones of the slacks, settings."""
        clarabel, cones, n = _clarabel(), self.problem.cones, len(self.problem.b)
        rows: list[np.ndarray] = []
        right: list[float] = []
        kinds = []
        for i, kind in enumerate(cones.rows.tolist()):
            e = np.eye(n)[i : i + 3]
            if kind == NORMAL:
                mu = float(cones.mu[i + 1])
                rows += [-mu * e[0] if mu else -e[0], -e[1], -e[2]]
                right += [0.0] * 3
                kinds += [clarabel.SecondOrderConeT(3)] if mu else [clarabel.NonnegativeConeT(1), clarabel.ZeroConeT(2)]
            elif kind <= 0:
                above = cones.mu[i] * np.eye(n)[i + kind] if kind < 0 else 0.0
                upper, lower = (0.0, 0.0) if kind < 0 else (cones.upper[i], cones.lower[i])
                for sign, bound in ((1.0, upper), (-1.0, -lower)):
                    if np.isfinite(bound):
                        rows.append(sign * e[0] - above)
                        right.append(bound)
                        kinds.append(clarabel.NonnegativeConeT(1))
        A = 0.5 * (self.problem.A + self.problem.A.T)
        settings = clarabel.DefaultSettings()
        settings.verbose = False
        settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = GAP
        settings.static_regularization_constant = 1e-14
        settings.dynamic_regularization_eps = 1e-16
        settings.iterative_refinement_reltol = settings.iterative_refinement_abstol = 1e-16
        settings.iterative_refinement_max_iter = 50
        G = sparse.csc_matrix(np.array(rows).reshape(-1, n))
        return sparse.csc_matrix(np.triu(A)), G, np.array(right), kinds, settings

    def minimum(self, shift: np.ndarray) -> np.ndarray:
        """x, refined where that brings it nearer to the conditions of a minimum."""
        P, G, h, kinds, settings = self._parts
        linear = self.problem.b + shift
        size = max(np.abs(linear).max(initial=0.0), 1e-300)
        found = _clarabel().DefaultSolver(P, linear / size, G, h / size, kinds, settings).solve()
        x = size * np.asarray(found.x)
        if not np.isfinite(x).all():
            raise SolverError(f"a cone program of {len(x)} rows ended with {found.status}")
        finer = self._refine(x, linear)
        return finer if self._left(finer, linear) < self._left(x, linear) else x

    def _left(self, x: np.ndarray, linear: np.ndarray) -> float:
        """The natural map of the convex program."""
        off = x - self.problem.cones.project(x - self.problem.A @ x - linear)
        return float(np.abs(off).max(initial=0.0)) if np.isfinite(off).all() else np.inf

    def _refine(self, x: np.ndarray, linear: np.ndarray) -> np.ndarray:
        """Newton's method on A x + linear + C^T y = 0, c(x) = 0 for what is touched."""
        cones, n, size = self.problem.cones, len(x), np.abs(x).max(initial=0.0)
        flat: list[tuple[np.ndarray, float]] = []  # c = row . x - value
        round_: list[int] = []  # normal rows of cones whose side is touched
        for i, kind in enumerate(cones.rows.tolist()):
            e = np.eye(n)[i : i + 3]
            if kind == NORMAL:
                mu = cones.mu[i + 1]
                if x[i] < NEAR * size:
                    flat += [(row, 0.0) for row in e]
                elif mu == 0.0:
                    flat += [(row, 0.0) for row in e[1:]]
                elif np.hypot(x[i + 1], x[i + 2]) > (1.0 - NEAR) * mu * x[i]:
                    round_.append(i)
            elif kind <= 0:
                above = cones.mu[i] * np.eye(n)[i + kind] if kind < 0 else np.zeros(n)
                upper, lower = (0.0, 0.0) if kind < 0 else (cones.upper[i], cones.lower[i])
                if x[i] - above @ x > upper - NEAR * size:
                    flat.append((e[0] - above, upper))
                elif x[i] + above @ x < lower + NEAR * size:
                    flat.append((e[0] + above, lower))
        weights = np.zeros((len(round_), n))
        for row, i in zip(weights, round_, strict=True):
            row[i : i + 3] = -(cones.mu[i + 1] ** 2), 1.0, 1.0
        R, value = np.array([row for row, _ in flat]).reshape(-1, n), np.array([v for _, v in flat])
        y = np.zeros(len(R) + len(round_))
        for step in range(STEPS):
            D = weights * x
            C = np.concatenate([R, D])
            if step == 0:
                y = np.linalg.lstsq(C.T, -(self.problem.A @ x + linear), rcond=1e-12)[0] if len(C) else y
            H = self.problem.A + np.diag(y[len(R) :] @ weights) if round_ else self.problem.A
            off = np.concatenate([self.problem.A @ x + linear + C.T @ y, R @ x - value, 0.5 * D @ x])
            K = np.block([[H, C.T], [C, np.zeros((len(C), len(C)))]])
            change = np.linalg.lstsq(K, -off, rcond=1e-14)[0]
            x, y = x + change[:n], y + change[n:]
        return x
