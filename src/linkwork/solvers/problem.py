"""The one problem of contact, limits and friction: a matrix, a vector and cones.

    u = A x + b,   every x in its cone, u as the cone says

A row stands alone, or a few rows stand together. What a row is, `Cones.rows` says in one number:

    BOUNDS  0   lower <= x <= upper: u = 0 inside, u >= 0 at the lower bound, u <= 0 at the upper one. Without bounds an
                equality, with (0, inf) a push, with (-f, f) dry friction of a joint
    NORMAL  1   the first of three rows of a Coulomb cone: x >= 0, u >= 0, x u = 0
    FIRST   2   its tangents, the two rows behind it: |x_t| <= mu x_n, and u_t = 0 (it sticks)
    SECOND  3   or x_t = -mu x_n u_t / |u_t| (it slides). mu is read at the first tangent
    -k          |x| <= mu x_n, where x_n >= 0 is the multiplier k rows above: u = 0 inside, against u at the bound. Spinning
                and rolling friction behind a cone (-3, -4, -5); friction along one line behind a push (-1)

Coulomb's law is not the condition of a minimum. With the shift s = (mu |u_t|, 0, 0) it is a complementarity on the cone
K = {|x_t| <= mu x_n} and its dual: x in K, u + s in K*, x . (u + s) = 0. Without the shift a sliding body would lift off.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ..errors import InputError

BOUNDS, NORMAL, FIRST, SECOND = 0, 1, 2, 3


def is_bounded_by_another(kind: int) -> bool:
    """Whether a row of this number acts only as far as another one pushes: friction."""
    return kind < 0 or kind in (FIRST, SECOND)


@dataclass(frozen=True)
class Cones:
    """What holds for every row: its number (see above), its bounds, and its coefficient where it is bounded by another."""

    rows: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    mu: np.ndarray

    def __post_init__(self) -> None:
        n = len(self.rows)
        if any(np.shape(x) != (n,) for x in (self.rows, self.lower, self.upper, self.mu)):
            raise InputError(f"cones of {n} rows need as many bounds and coefficients")
        if np.any(np.isnan(self.lower) | np.isnan(self.upper) | (self.lower > self.upper)):
            raise InputError("a lower bound is above the upper one, or is no number")
        if not (np.isfinite(self.mu).all() and np.all(self.mu >= 0.0)):
            raise InputError("coefficients of friction are finite and not negative")
        for i in self.normals:
            if tuple(self.rows[i : i + 3]) != (NORMAL, FIRST, SECOND):
                raise InputError(f"row {i} begins a Coulomb cone, but its two tangents do not follow")
        tangents = np.isin(self.rows, (FIRST, SECOND))
        if tangents.sum() != 2 * len(self.normals) or np.any(self.rows > SECOND):
            raise InputError("tangents stand behind their normal row")
        above = np.arange(n) + self.rows
        if np.any(above[self.rows < 0] < 0) or np.any(tangents[above[self.rows < 0]]):
            raise InputError("a row that is bounded by another needs a normal row, or a push, so many rows above it")

    @staticmethod
    def equal(count: int) -> Cones:
        """Equalities."""
        return Cones.bounded(np.full(count, -np.inf), np.full(count, np.inf))

    @staticmethod
    def push(count: int) -> Cones:
        """Rows that only push: frictionless contacts, limits."""
        return Cones.bounded(np.zeros(count), np.full(count, np.inf))

    @staticmethod
    def bounded(lower: Sequence[float] | np.ndarray, upper: Sequence[float] | np.ndarray) -> Cones:
        """Rows with bounds of their own."""
        n = len(lower)
        return Cones(np.zeros(n, np.int32), np.array(lower, float), np.array(upper, float), np.zeros(n))

    @staticmethod
    def coulomb(mu: Sequence[float] | np.ndarray, *further: float) -> Cones:
        """Contacts, each of a normal row, two tangents, and a row for each of the further coefficients (in its own units)."""
        each = np.array([NORMAL, FIRST, SECOND, *(-3 - k for k in range(len(further)))], np.int32)
        mus = [x for m in mu for x in (0.0, m, m, *further)]
        n = len(mus)
        lower = np.tile([0.0, *[-np.inf] * (len(each) - 1)], len(mu))
        return Cones(np.tile(each, len(mu)), lower, np.full(n, np.inf), np.array(mus, float))

    @staticmethod
    def rubbing(mu: Sequence[float] | np.ndarray) -> Cones:
        """Rows that push, each with friction along one line: a row for it behind each of them."""
        n, free = len(mu), np.full(len(mu), np.inf)
        lower, mus = (np.stack(pair, axis=-1).reshape(-1) for pair in ((np.zeros(n), -free), (np.zeros(n), np.array(mu, float))))
        return Cones(np.tile(np.array([0, -1], np.int32), n), lower, np.full(2 * n, np.inf), mus)

    def __add__(self, other: Cones) -> Cones:
        """The rows of both, one after the other."""
        pairs = zip(self.fields, other.fields, strict=True)
        return Cones(*(np.concatenate(pair) for pair in pairs))

    @property
    def fields(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        return self.rows, self.lower, self.upper, self.mu

    @cached_property
    def normals(self) -> np.ndarray:
        """The normal rows of the Coulomb cones."""
        return np.flatnonzero(self.rows == NORMAL)

    def project(self, y: np.ndarray) -> np.ndarray:
        """The nearest point of the cones; rows bounded by another are projected after it."""
        x = np.clip(y, self.lower, self.upper)
        for i in self.normals:
            x[i : i + 3] = nearest_in_cone(y[i : i + 3], float(self.mu[i + 1]))
        for i in np.flatnonzero(self.rows < 0):
            most = self.mu[i] * max(x[i + self.rows[i]], 0.0)
            x[i] = np.clip(y[i], -most, most)
        return x


def nearest_in_cone(y: np.ndarray, mu: float) -> np.ndarray:
    """The nearest point with |x_t| <= mu x_n."""
    t = float(np.hypot(y[1], y[2]))
    if t <= mu * y[0] and y[0] >= 0.0:
        return y.copy()
    along = max((y[0] + mu * t) / (1.0 + mu * mu), 0.0)
    return np.array([along, *(mu * along / t * y[1:3])]) if t > 0.0 else np.array([along, 0.0, 0.0])


@dataclass(frozen=True)
class Problem:
    """u = A x + b with the cones of x. A need not be symmetric, nor of full rank."""

    A: np.ndarray
    b: np.ndarray
    cones: Cones

    def __post_init__(self) -> None:
        n = len(self.cones.rows)
        if np.shape(self.A) != (n, n) or np.shape(self.b) != (n,):
            raise InputError(f"cones of {n} rows need A ({n}, {n}) and b ({n},); they are {self.A.shape} and {self.b.shape}")

    def frictionless(self) -> Problem:
        """The same with all coefficients zero."""
        return replace(self, cones=replace(self.cones, mu=np.zeros_like(self.cones.mu)))

    def scaled(self, unit: np.ndarray) -> Problem:
        """The problem of x / unit, with rows of u multiplied by it; the three rows of a cone have the same unit."""
        cones, A = self.cones, self.A * np.outer(unit, unit)
        above = np.arange(len(unit)) + np.minimum(cones.rows, 0)
        mu = cones.mu * unit[above] / unit
        return Problem(A, self.b * unit, Cones(cones.rows, cones.lower / unit, cones.upper / unit, mu))

    def motion(self, x: np.ndarray) -> np.ndarray:
        """u."""
        return self.A @ x + self.b

    def shift(self, u: np.ndarray) -> np.ndarray:
        """s: mu |u_t| in the normal rows of Coulomb cones."""
        n, s = self.cones.normals, np.zeros(len(u))
        s[n] = self.cones.mu[n + 1] * np.hypot(u[n + 1], u[n + 2])
        return s

    @cached_property
    def answers(self) -> np.ndarray:
        """By how much u of each row answers its own x: the diagonal of A, one mean for the rows of a Coulomb cone."""
        found = np.array(np.diagonal(self.A))
        for i in self.cones.normals:
            found[i : i + 3] = found[i : i + 3].mean()
        return found

    def residual(self, x: np.ndarray) -> float:
        """The largest entry of the natural map, in the units of u: (x - P(x - (u + s) / a)) a with the answers a; 0 if solved."""
        return float(np.abs(self.natural_map(x)).max(initial=0.0))

    def natural_map(self, x: np.ndarray) -> np.ndarray:
        """The same of every row."""
        u, acts = self.motion(x), self.answers > 0.0
        a = np.where(acts, self.answers, 1.0)
        return np.where(acts, (x - self.cones.project(x - (u + self.shift(u)) / a)) * a, 0.0)


@dataclass(frozen=True)
class Info:
    """How a solver ended: the residual that is left, in the units of u, and how many rounds it took."""

    left: float
    rounds: int
