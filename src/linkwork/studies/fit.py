"""Fitting numbers of a model to recorded motion: maximum likelihood by multiple shooting, with exact derivatives.

Unknown are the numbers p and the state at the start of every window (`shooting`). Gauss-Newton steps within the bounds of p make
the residuals small and the windows meet; a step that makes cost and gaps no smaller together is shortened.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import lsq_linear

from ..declared import declared
from ..elements.collection import collection
from ..errors import InputError, LinkworkError
from ..model import Model, State
from ..simulate import chosen_stepper
from ..spatial.gate import given_count, known_keywords
from .recorded import Recorded
from .shooting import Shots
from .unknowns import Unknowns

ROUNDS = 50
SETTLED = 1e-9  # of the expected decrease of the cost, relative to the cost
CLOSED = 1e-9  # m, rad, m/s, rad/s: windows that are no farther apart meet
SHORTEST = 1e-4  # of a step
WEAK = 1e3  # a combination of numbers whose deviation is this many times the best one's is called weak
BLIND = 1e-10  # of the largest singular value: a combination that does not show


@dataclass(frozen=True, eq=False)
class Fit:
    """What was fitted.

    names, values   of the numbers (ten free coordinates of every inertia)
    covariance      of these (numbers, numbers), from the curvature of the likelihood; infinite where motion says nothing
    model           with the values;  start  the state at the first time
    cost            half the sum of squares of all residuals in standard deviations, priors included
    residuals       (T, rows) in standard deviations
    rounds          of Gauss-Newton steps;  converged  whether they came to rest

    >>> run = lw.simulate(model, state, 0.4, 1e-2, stepper="rk4")
    >>> found = lw.fit(model, lw.Recorded(run.t, q=run.q, sigma={"q": 1e-3}), {"lower.mass": (0.1, 5.0)}, dt=1e-2)
    >>> found.names
    ('lower.mass',)
    """

    names: tuple[str, ...]
    values: np.ndarray
    covariance: np.ndarray
    model: Model
    start: State
    cost: float
    residuals: np.ndarray
    rounds: int
    converged: bool
    singular_values: np.ndarray
    directions: np.ndarray

    def __getitem__(self, name: str) -> float:
        if name not in self.names:
            raise InputError(f"{name!r} was not fitted; {', '.join(self.names)} were")
        return float(self.values[self.names.index(name)])

    @property
    def sigma(self) -> np.ndarray:
        """Standard deviations of the values."""
        return np.sqrt(np.diagonal(self.covariance))

    @property
    def correlation(self) -> np.ndarray:
        """Of the values."""
        s = self.sigma
        return self.covariance / np.outer(s, s)

    def report(self) -> str:
        """What was found, how surely, and what the motion does not show."""
        lines = [f"{'number':24} {'value':>12} {'+-':>10}"]
        for name, x, s in zip(self.names, self.values, self.sigma, strict=True):
            lines.append(f"{name:24} {x:12.6g} {s:10.2g}")
        rms = float(np.sqrt(np.mean(self.residuals**2)))
        state = "settled" if self.converged else "NOT settled"
        lines.append(f"residuals {rms:.3g} standard deviations (1 if the noise is as said), {state} after {self.rounds} rounds")
        for s, direction in zip(self.singular_values, self.directions, strict=True):
            parts = " + ".join(f"{w:.2g} {n}" for n, w in zip(self.names, direction, strict=True) if abs(w) > 0.1)
            if s <= BLIND * self.singular_values[0]:
                lines.append(f"not identifiable: the motion says nothing of {parts}")
            elif s < self.singular_values[0] / WEAK:
                lines.append(f"weakly identifiable: {parts}")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return (
            f"Fit({', '.join(f'{n} = {x:.6g} +- {s:.2g}' for n, x, s in zip(self.names, self.values, self.sigma, strict=True))})"
        )


@known_keywords
def fit(
    model: Model,
    motion: Recorded | Sequence[Recorded],
    numbers: Mapping[str, Any] | Sequence[str],
    *,
    dt: float,
    start: State | None = None,
    priors: Mapping[str, tuple[float, float]] | None = None,
    windows: int | None = None,
    stepper: str | None = None,
    rounds: int = ROUNDS,
    **options: Any,
) -> Fit:
    """Find numbers of a model with which it moves as was recorded.

    >>> run = lw.simulate(model, state, 0.4, 1e-2, stepper="rk4")
    >>> motion = lw.Recorded(run.t, q=run.q, sigma={"q": 1e-3})
    >>> found = lw.fit(model, motion, {"lower.mass": (0.1, 5.0)}, dt=1e-2)
    >>> bool(abs(found["lower.mass"] - 1.0) < 1e-3)
    True

    motion    what was recorded, see `Recorded`; several recordings are one sequence of it
    numbers   names as in a `Design`, with bounds (least, most), None where there is none; "BODY.inertia" stands for mass, centre
              and tensor together, by coordinates in which every value is a body that can exist. The model's own values are the
              first guess
    dt        step of the simulation, a whole number of which is a spacing of the records
    start     a guess of the state at the first time; by default what was recorded, or the neutral position
    priors    {name: (mean, standard deviation)}
    windows   into which the motion is cut; by default every 20 records are one. Many and short ones find their way from poor
              guesses, one is single shooting
    stepper   "rk4" by default, "symplectic_euler" where something pushes or rubs
    """
    unknowns = Unknowns(model, list(numbers))
    parts = list(motion) if isinstance(motion, Sequence) else [motion]
    bounds = _bounds(unknowns, numbers)
    if not parts:
        raise InputError("there is no recorded motion to fit to")
    given_count("rounds", rounds)
    chosen = stepper or ("symplectic_euler" if _pushes(model) else "rk4")
    shots = [Shots(model, unknowns, part, dt, start, windows, chosen, options) for part in parts]
    return _Search(unknowns, shots, bounds, _priors(unknowns, priors or {})).solved(rounds)


def _pushes(model: Model) -> bool:
    """Whether something may push or rub: shapes, limits, contacts."""
    rows = collection(declared(model, "hard", chosen_stepper(model, "reduced", None, {})).model).rows
    shaped = bool(model.world_shapes) or any(b.shapes for b in model.bodies)
    return shaped or any(c.unilateral or c.bounded or c.cones for c in rows)


def _bounds(unknowns: Unknowns, numbers: Any) -> tuple[np.ndarray, np.ndarray]:
    given = numbers if isinstance(numbers, Mapping) else {}
    low, high = np.full(len(unknowns.names), -np.inf), np.full(len(unknowns.names), np.inf)
    for k, name in enumerate(unknowns.names):
        pair = given.get(name, given.get(name.partition("[")[0]))
        if pair is None:
            continue
        try:
            least, most = pair
            low[k], high[k] = (-np.inf if least is None else float(least)), (np.inf if most is None else float(most))
        except (TypeError, ValueError):
            raise InputError(f"bounds of {name!r} are (least, most), None where there is none, not {pair!r}") from None
        if not low[k] < high[k]:
            raise InputError(f"bounds of {name!r}: {pair!r} leave nothing to fit")
    return low, high


def _priors(unknowns: Unknowns, priors: Mapping[str, tuple[float, float]]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Which coordinates have one, its mean and its deviation."""
    for name in priors:
        if name not in unknowns.names:
            raise InputError(f"a prior for {name!r}, which is not fitted; {', '.join(unknowns.names)} are")
    which = np.array([unknowns.names.index(name) for name in priors], int)
    pairs = np.array([priors[unknowns.names[k]] for k in which], float).reshape(-1, 2)
    if not (np.isfinite(pairs).all() and (pairs[:, 1] > 0).all()):
        raise InputError(f"priors are {{name: (mean, positive standard deviation)}}, not {dict(priors)!r}")
    return which, pairs[:, 0], pairs[:, 1]


class _Search:
    """Where the search is: the numbers x, the starts of all windows, and what these give.

    bounds   of x;  priors  which of x have one, its mean and its deviation
    """

    def __init__(self, unknowns: Unknowns, shots: Sequence[Shots], bounds: Any, priors: Any) -> None:
        self.unknowns, self.shots, self.bounds, self.priors = unknowns, shots, bounds, priors
        self.n = 2 * unknowns.model.nv
        self.states = self.n * len(shots)  # unknowns that are first states
        self._take(np.clip(unknowns.of(unknowns.model), *bounds), [s.starts for s in shots])

    def _take(self, x: np.ndarray, starts: Sequence[State]) -> None:
        """Go there; raises where the model or its motion does not exist."""
        model = self.unknowns.put(x)
        now = [s.evaluated(model, start) for s, start in zip(self.shots, starts, strict=True)]
        self.x, self.starts, self.model, self.now = x, starts, model, now

    @property
    def cost(self) -> float:
        """Half the sum of squares."""
        which, mean, sigma = self.priors
        residuals = [r for r, _, _ in self.now]
        return 0.5 * (sum(float(np.sum(r**2)) for r in residuals) + float(np.sum(((self.x[which] - mean) / sigma) ** 2)))

    @property
    def gap(self) -> float:
        """By how much windows do not meet."""
        return sum(float(np.abs(gaps).sum()) for _, gaps, _ in self.now)

    def solved(self, rounds: int) -> Fit:
        """Steps until nothing is to be gained."""
        weight, converged, done = 1.0, False, 0
        while done < rounds and not converged:
            done += 1
            J, b, follow = self._linearised()
            step = self._step(J, b)
            expected, gap = 0.5 * float(b @ b - np.sum((b + J @ step) ** 2)), self.gap
            converged = expected <= SETTLED * max(self.cost, 1e-12) and gap <= CLOSED * self.n
            if converged:
                break
            if gap > CLOSED:
                weight = max(weight, 2 * abs(expected) / gap)
            if not self._moved(step, follow, weight):
                break
        return self._result(done, converged)

    def _linearised(self) -> tuple[np.ndarray, np.ndarray, list[Any]]:
        """The condensed problems of all recordings as one, with first states of their own and the same numbers."""
        rows, sides, follow = [], [], []
        for k, (s, (r, gaps, inside)) in enumerate(zip(self.shots, self.now, strict=True)):
            J, b, own = s.condensed(self.model, r, gaps, inside)
            wide = np.zeros((len(J), self.states + len(self.x)))
            wide[:, k * self.n : (k + 1) * self.n], wide[:, self.states :] = J[:, : self.n], J[:, self.n :]
            rows.append(wide)
            sides.append(b)
            follow.append(own)
        which, mean, sigma = self.priors
        prior = np.zeros((len(which), self.states + len(self.x)))
        prior[np.arange(len(which)), self.states + which] = 1.0 / sigma
        return np.concatenate([*rows, prior]), np.concatenate([*sides, (self.x[which] - mean) / sigma]), follow

    def _step(self, J: np.ndarray, b: np.ndarray) -> np.ndarray:
        """The Gauss-Newton step within the bounds of the numbers; columns are scaled, and what does not show stays."""
        size = np.linalg.norm(J, axis=0)
        scale, tail = np.where(size > 0, size, 1.0), slice(self.states, None)
        low, high = (np.concatenate([np.full(self.states, end), np.zeros(len(self.x))]) for end in (-np.inf, np.inf))
        low[tail], high[tail] = ((end - self.x) * scale[tail] for end in self.bounds)
        step = np.linalg.lstsq(J / scale, -b, rcond=1e-12)[0]
        if (step < low).any() or (step > high).any():
            tiny = 1e-12 * np.maximum(1.0, np.abs(self.x)) * scale[tail]  # the solver wants an inside
            low[tail], high[tail] = low[tail] - tiny, high[tail] + tiny
            step = lsq_linear(J / scale, -b, (low, high), method="bvls").x
        step = step / scale
        step[tail] = np.clip(self.x + step[tail], *self.bounds) - self.x
        return step

    def _moved(self, step: np.ndarray, follow: Sequence[Any], weight: float) -> bool:
        """Go along a step as far as that is better; False if nowhere is."""
        here = (self.x, self.starts, self.model, self.now)
        before, share = self.cost + weight * self.gap, 1.0
        while share > SHORTEST:
            parts = [np.concatenate([step[k * self.n : (k + 1) * self.n], step[self.states :]]) for k in range(len(self.shots))]
            ways = zip(self.shots, here[1], parts, follow, strict=True)
            try:
                starts = [s.moved(here[2], start, part, own, share) for s, start, part, own in ways]
                self._take(here[0] + share * step[self.states :], starts)
                if self.cost + weight * self.gap < before * (1 + 1e-12):
                    return True
            except LinkworkError:
                pass
            self.x, self.starts, self.model, self.now = here
            share /= 2
        return False

    def _result(self, done: int, converged: bool) -> Fit:
        """The fit with its covariance: that of (first states, numbers), of which the numbers are a part."""
        J = self._linearised()[0]
        size = np.maximum(np.linalg.norm(J, axis=0), np.finfo(float).tiny)
        own = np.linalg.qr(J / size)[1][self.states :, self.states :]  # first states are eliminated
        values, directions = np.linalg.svd(own)[1:]
        shown = values > BLIND * values[0]
        half = directions[shown].T / values[shown]
        covariance = half @ half.T / np.outer(size[self.states :], size[self.states :])
        lost = (np.abs(directions[~shown]) > 1e-6).any(axis=0)
        covariance[lost], covariance[:, lost] = np.inf, np.inf
        first = self.starts[0]
        return Fit(
            tuple(self.unknowns.names),
            self.x,
            covariance,
            self.model,
            State(first.q[0], first.v[0], first.t),
            self.cost,
            np.concatenate([r for r, _, _ in self.now]),
            done,
            converged,
            values,
            directions,
        )
