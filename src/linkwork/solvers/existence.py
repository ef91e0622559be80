"""Whether a problem with Coulomb cones has a solution at all: all modes searched, by branch and bound. Slow, for single problems.

In a given mode most of the law is linear in x: an open contact has x = 0 and u_n >= 0, a sticking one u = 0, a row with bounds is
inside them or at one. Of sliding the direction is not. Where it lies in a sector of half angle a about d, it holds that

    u_n = 0,  u_t in the sector,  -x_t in the sector,  mu x_n cos a <= -x_t . d,  |x_t| <= mu x_n (by the sides of a polygon)

So with every contact undecided, or in a mode, or in a sector of sliding, a linear program tells whether anything is left, with t
as the largest violation of what concerns u: where the least t is not zero, nothing is. Else a contact is decided, or a sector
halved. An empty tree proves that there is no solution (to the accuracy of linear programs); a point that solves the
problem ends it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from scipy.optimize import linprog

from .coulomb import solve
from .problem import BOUNDS, NORMAL, Problem

PROGRAMS = 20000
NOTHING = 1e-7  # of the largest b, scaled: a least violation that is none
SOLVED = 1e-9  # of the largest b: the natural map of a solution
SIDES = 16  # of a polygon around the circle of friction
THIRDS = np.linspace(-np.pi, np.pi, 4)
NARROW = 1e-4  # rad: sectors that are not halved
TRIES = 50  # programs between attempts to solve from a point
GROWN = 1e7  # of b: forces so large are no solution

Mode = tuple[str, float, float]
UNDECIDED: Mode = ("undecided", 0.0, 0.0)
OPEN: Mode = ("open", 0.0, 0.0)
STICKS: Mode = ("sticks", 0.0, 0.0)
SLIDES = "slides"
LOW: Mode = ("low", 0.0, 0.0)
INSIDE: Mode = ("inside", 0.0, 0.0)
HIGH: Mode = ("high", 0.0, 0.0)


@dataclass(frozen=True)
class Verdict:
    """x of a solution, or None; whether all modes were searched; how many linear programs that took."""

    x: np.ndarray | None
    complete: bool
    programs: int

    @property
    def proves_none(self) -> bool:
        return self.x is None and self.complete


def search_all_modes(problem: Problem, programs: int = PROGRAMS) -> Verdict:
    """A solution, or the proof that there is none, as far as so many linear programs lead."""
    tree = _Tree(problem)
    nodes, complete = [tree.root], True
    for done in range(programs):
        if not nodes:
            return Verdict(None, complete, done)
        modes = nodes.pop()
        violation, x = tree.relaxed(modes)
        if violation > NOTHING:
            continue
        found = tree.solution(x, hard=done % TRIES == 0 or UNDECIDED not in modes)
        if found is not None:
            return Verdict(found, True, done + 1)
        children = tree.children(modes, x)
        complete &= bool(children)
        nodes += children
    return Verdict(None, complete and not nodes, programs)


class _Tree:
    """The nodes of a search: a mode for each contact and each row that is no equality, in scaled rows with b of size 1."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.unit = 1.0 / np.sqrt(np.where(problem.answers > 0.0, problem.answers, 1.0))
        scaled = problem.scaled(self.unit)
        self.size = max(float(np.abs(scaled.b).max(initial=0.0)), 1e-300)
        cones = scaled.cones
        lower, upper = cones.lower / self.size, cones.upper / self.size
        self.scaled = Problem(scaled.A, scaled.b / self.size, type(cones)(cones.rows, lower, upper, cones.mu))
        whole = (cones.rows == NORMAL) | (cones.rows < 0) | ((cones.rows == BOUNDS) & (np.isfinite(lower) | np.isfinite(upper)))
        self.places = np.flatnonzero(whole).tolist()
        self.root = (UNDECIDED,) * len(self.places)
        self._known: dict[tuple[int, Mode], tuple[np.ndarray, np.ndarray]] = {}

    @cached_property
    def _equalities(self) -> tuple[np.ndarray, np.ndarray]:
        """Rows without bounds: |u| <= t."""
        rows = _Rows(self.scaled)
        cones = self.scaled.cones
        for i in np.flatnonzero((cones.rows == BOUNDS) & np.isinf(cones.lower) & np.isinf(cones.upper)).tolist():
            rows.still(i)
        return rows.arrays

    def relaxed(self, modes: tuple[Mode, ...]) -> tuple[float, np.ndarray]:
        """The least violation of what the modes ask for, and an x that has it."""
        parts = [self._equalities]
        for i, mode in zip(self.places, modes, strict=True):
            if (i, mode) not in self._known:
                self._known[i, mode] = _conditions(self.scaled, i, mode)
            parts.append(self._known[i, mode])
        n = len(self.scaled.b)
        G, h = np.concatenate([p[0] for p in parts]), np.concatenate([p[1] for p in parts])
        least = np.r_[np.zeros(n), 1.0]
        found = linprog(least, A_ub=G, b_ub=h, bounds=[(None, None)] * n + [(0.0, None)], method="highs-ds")
        if found.x is None:  # what concerns x alone contradicts itself
            return np.inf, np.zeros(n)
        return float(found.x[-1]), found.x[:-1]

    def solution(self, x: np.ndarray, hard: bool) -> np.ndarray | None:
        """x of the problem itself, if it, or where the default solver leads from there, solves it."""
        candidate = self.size * self.unit * x
        candidates = [candidate, solve(self.problem, candidate)[0]] if hard else [candidate]
        for y in candidates:
            scaled = y / self.unit / self.size
            if np.abs(scaled).max(initial=0.0) < GROWN and self.scaled.residual(scaled) < SOLVED:
                return y
        return None

    def children(self, modes: tuple[Mode, ...], x: np.ndarray) -> list[tuple[Mode, ...]]:
        """The undecided place where x is worst is decided; else the widest sector is halved; none if all are narrow."""
        if not modes:
            return []
        off = np.abs(self.scaled.natural_map(x))
        undecided = [k for k, mode in enumerate(modes) if mode == UNDECIDED]
        if undecided:
            k = max(undecided, key=lambda k: off[self.places[k] : self.places[k] + self._rows_of(k)].max())
            choices = self._choices(self.places[k])
        else:
            k = max(range(len(modes)), key=lambda k: modes[k][2] - modes[k][1])
            low, high = modes[k][1:]
            middle = 0.5 * (low + high)
            choices = [(SLIDES, low, middle), (SLIDES, middle, high)] if high - low > NARROW else []
        return [(*modes[:k], mode, *modes[k + 1 :]) for mode in choices]

    def _rows_of(self, k: int) -> int:
        return 3 if self.scaled.cones.rows[self.places[k]] == NORMAL else 1

    def _choices(self, i: int) -> list[Mode]:
        """The modes of a place; those tried first are last."""
        if self.scaled.cones.rows[i] == NORMAL:
            sectors: list[Mode] = [(SLIDES, low, high) for low, high in pairwise(THIRDS.tolist())]
            return [*sectors, OPEN, STICKS] if self.scaled.cones.mu[i + 1] > 0.0 else [OPEN, *sectors]
        return [LOW, HIGH, INSIDE]


class _Rows:
    """Conditions g . (x, t) <= h, gathered."""

    def __init__(self, problem: Problem) -> None:
        self.problem, self.n = problem, len(problem.b)
        self.G: list[np.ndarray] = []
        self.h: list[float] = []

    @property
    def arrays(self) -> tuple[np.ndarray, np.ndarray]:
        return np.array(self.G).reshape(-1, self.n + 1), np.array(self.h)

    def force(self, weights: dict[int, float], least: float = 0.0) -> None:
        """sum of weights times x >= least."""
        g = np.zeros(self.n + 1)
        for i, weight in weights.items():
            g[i] = -weight
        self.G.append(g)
        self.h.append(-least)

    def motion(self, weights: dict[int, float]) -> None:
        """sum of weights times u >= -t."""
        A, b = self.problem.A, self.problem.b
        self.G.append(np.r_[-sum((w * A[i] for i, w in weights.items()), np.zeros(self.n)), -1.0])
        self.h.append(float(sum(w * b[i] for i, w in weights.items())))

    def still(self, i: int) -> None:
        """u_i = 0."""
        self.motion({i: 1.0})
        self.motion({i: -1.0})


def _conditions(problem: Problem, i: int, mode: Mode) -> tuple[np.ndarray, np.ndarray]:
    """What a mode of the place of row i asks for."""
    rows = _Rows(problem)
    if problem.cones.rows[i] == NORMAL:
        _contact(rows, i, float(problem.cones.mu[i + 1]), mode)
    else:
        _bounded(rows, i, mode)
    return rows.arrays


def _contact(rows: _Rows, i: int, mu: float, mode: Mode) -> None:
    what, low, high = mode
    rows.motion({i: 1.0})
    if what == "open":
        for k in range(i, i + 3):
            rows.force({k: 1.0})
            rows.force({k: -1.0})
        return
    rows.force({i: 1.0})
    if what != "undecided":
        rows.motion({i: -1.0})
    if what == "sticks":
        rows.still(i + 1)
        rows.still(i + 2)
    if what != SLIDES:
        for angle in 2.0 * np.pi * np.arange(SIDES) / SIDES:
            rows.force({i: mu, i + 1: -np.cos(angle), i + 2: -np.sin(angle)})
        return
    for along, across in ((-np.sin(low), np.cos(low)), (np.sin(high), -np.cos(high))):  # normals of the sides, inward
        rows.motion({i + 1: along, i + 2: across})
        rows.force({i + 1: -along, i + 2: -across})
    middle, half = 0.5 * (low + high), 0.5 * (high - low)
    rows.force({i: -mu * np.cos(half), i + 1: -np.cos(middle), i + 2: -np.sin(middle)})
    for angle in (low, middle, high):
        rows.force({i: mu, i + 1: np.cos(angle), i + 2: np.sin(angle)})


def _bounded(rows: _Rows, i: int, mode: Mode) -> None:
    cones = rows.problem.cones
    what, kind, mu = mode[0], int(cones.rows[i]), float(cones.mu[i])
    by = {i + kind: mu} if kind < 0 else {}  # what bounds it grows with another row
    lower, upper = (0.0, 0.0) if kind < 0 else (float(cones.lower[i]), float(cones.upper[i]))
    if np.isfinite(lower):
        rows.force({i: 1.0} | by, lower)
    elif what == "low":
        rows.force({}, 1.0)
    if np.isfinite(upper):
        rows.force({i: -1.0} | by, -upper)
    elif what == "high":
        rows.force({}, 1.0)
    if what == "low":
        rows.force({i: -1.0} | {k: -w for k, w in by.items()}, -lower)
        rows.motion({i: 1.0})
    elif what == "high":
        rows.force({i: 1.0} | {k: -w for k, w in by.items()}, upper)
        rows.motion({i: -1.0})
    elif what == "inside":
        rows.still(i)
