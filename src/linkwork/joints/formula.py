"""Joints whose coordinates add: where these may go (a domain), and where they begin anew (periods).

A coordinate lives on a line, on an interval, or on a circle. The domain says where the transform means something: random
positions keep to it, and a run that leaves it is stopped. A period says after how much the transform is the same again:
`difference` then goes the short way round. Coordinates themselves are never wrapped: they count the turns.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from ..errors import ModelError
from ..spatial.gate import real, reals
from ..spatial.scalar import Vector, read_only, stack
from .base import Joint

SLACK = 1e-9  # of a bound: how far beyond it a coordinate may be, by rounding


class FormulaJoint(Joint):
    """A joint of nv coordinates that add, given by a formula for its transform; subclasses say which.

    domain    (nv, 2) of the least and the largest value of every coordinate, -inf and inf where there is none
    period    of every coordinate that has one, in their order
    cyclic    which coordinates have one
    own_parameters     names of run-time data besides the periods
    locks_at_neutral   whether S loses rank at the neutral position
    """

    may_lock = True
    locks_at_neutral = False
    own_parameters: ClassVar[tuple[str, ...]] = ()
    domain: np.ndarray
    period: np.ndarray
    cyclic: tuple[bool, ...]

    def _take_region(self, owner: str, domain: Any, periodic: Any) -> None:
        """Keep domain and periods, checked; see `joint` for how they are given."""
        self.domain = _domain(owner, domain, self.nv)
        periods = _periods(owner, periodic, self.nv)
        self.bounded = bool(np.isfinite(self.domain).any())
        self.cyclic = tuple(p > 0.0 for p in periods)
        self.period = read_only(np.array([p for p in periods if p > 0.0]))
        for k, around in enumerate(self.cyclic):
            if around and np.isfinite(self.domain[k]).any():
                raise ModelError(f"{owner}: coordinate {k} has a period, so it has no domain; give one of them")

    @property
    def parameter_names(self) -> tuple[str, ...]:  # type: ignore[override]
        return (*self.own_parameters, *self._period())

    def _period(self) -> dict[str, np.ndarray]:
        """The periods as run-time data, where there are some."""
        return {"period": self.period} if any(self.cyclic) else {}

    # --- on the line, on the circle ---------------------------------------------------------------------------------------
    def difference(self, q0: Vector, q1: Vector) -> Vector:
        """q1 - q0, around circles the short way."""
        d, at = list(q1 - q0), 0
        for k, around in enumerate(self.cyclic):
            if around:
                d[k] = d[k] - self.period[at] * np.floor(d[k] / self.period[at] + 0.5)
                at += 1
        return stack(*d)

    def offset(self, q0: Vector, q1: Vector) -> Vector:
        return q1 - q0

    def neutral(self) -> np.ndarray:
        """Zero; the middle of a domain that does not hold it, or one unit inside where that has one end."""
        low, high = self.domain.T
        finite = np.isfinite(low) & np.isfinite(high)
        with np.errstate(invalid="ignore"):
            inner = np.where(finite, 0.5 * (low + high), np.where(np.isfinite(low), low + 1.0, high - 1.0))
        return np.where((low <= 0.0) & (high >= 0.0), 0.0, inner)

    def random(self, rng: np.random.Generator) -> np.ndarray:
        """Anywhere in the domain, within a period, or within half a turn to either side."""
        low, high = self.domain.T.copy()
        reach = np.full(self.nq, np.pi)
        reach[list(self.cyclic)] = 0.5 * self.period
        open_low, open_high = ~np.isfinite(low), ~np.isfinite(high)
        low = np.where(open_low, np.where(open_high, -reach, high - 2.0 * reach), low)
        high = np.where(open_high, np.where(open_low, reach, low + 2.0 * reach), high)
        return rng.uniform(low, high)

    def inside(self, q: np.ndarray) -> np.ndarray:
        low, high = self.domain.T
        slack = SLACK * (1.0 + np.abs(q))
        return np.all((q >= low - slack) & (q <= high + slack), axis=-1)

    def checked(self, q: np.ndarray) -> str | None:
        if not self.bounded:
            return None
        q = np.asarray(q, float).reshape(-1, self.nq)
        out = q[~self.inside(q)]
        if not len(out):
            return None
        low, high = self.domain.T
        k = int(np.argmax(np.maximum(low - out[0], out[0] - high)))
        return f"its coordinate {k} = {out[0][k]:.9g} is outside its domain [{low[k]:.9g}, {high[k]:.9g}]"


def _domain(owner: str, given: Any, nv: int) -> np.ndarray:
    """One pair for all coordinates, or a pair for each; None for a bound, or for a pair, is none."""
    pairs: list[Any] = [(None, None)] * nv if given is None else list(given) if np.iterable(given) else [given]
    if len(pairs) == 2 and all(x is None or np.ndim(x) == 0 for x in pairs):
        pairs = [tuple(pairs)] * nv
    pairs = [(None, None) if pair is None else pair for pair in pairs]
    try:
        found = reals([[o if x is None else x for x, o in zip(p, (-np.inf, np.inf), strict=True)] for p in pairs])
    except (TypeError, ValueError):
        found = np.zeros(0)
    if found.shape != (nv, 2) or np.isnan(found).any():
        raise ModelError(f"{owner}: domain must be (least, largest), or {nv} such pairs, not {given!r}")
    if not np.all(found[:, 0] < found[:, 1]):
        raise ModelError(f"{owner}: of its domain {found.tolist()} the least value must be below the largest")
    return read_only(found)


def _periods(owner: str, given: Any, nv: int) -> list[float]:
    """One for all coordinates, or one for each: a length, True for 2 pi, None or False for none (0 here)."""
    each = [given] * nv if given is None or np.ndim(given) == 0 else list(given)
    try:
        found = [2 * np.pi if x is True else 0.0 if x is None or x is False else real(x) for x in each]
    except (TypeError, ValueError):
        found = []
    asked = [x for x, p in zip(each, found, strict=False) if p or not (x is None or x is False)]
    if len(found) != nv or any(not np.isfinite(p) or p < 0.0 for p in found) or any(p <= 0.0 for p in map(_length, asked)):
        raise ModelError(f"{owner}: periodic must be a length above zero, True (2 pi) or None, or {nv} of these, not {given!r}")
    return found


def _length(x: Any) -> float:
    return 1.0 if x is True else float(x)
