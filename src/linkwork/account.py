"""Where the energy of a run went: what came in, what went out, and what is left unexplained."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from .energy import Energy
from .model import Model
from .tally import Tally

STILL = 1e-6  # m: to lift a model by as much of its size is a motion that counts
NO_GAIN = 1e-2  # of the energy that moved in the whole run: a gain in a part of it is compared with no less
DOUBTFUL = 0.05  # of the energy that moved: if more is unexplained, or is gained in a part of a run, results are doubtful


@dataclass(frozen=True)
class Gain:
    """Energy (J) that came from nowhere in a part of a run, and its share of the energy that moved there.

    begin, end   the times of the part (s)
    """

    energy: float
    share: float
    begin: float
    end: float


@dataclass(frozen=True)
class Account:
    """The energies of a run (J), of a batch those of the run with the largest drift.

    start, end    total energy of the first and of the last record
    came_in       what was brought, by what brought it
    went_out      what was taken, by what took it; the same thing may do both
    unexplained   E - E(0) - work where it is largest: the error of the method
    moved         the energy that it is compared with: the largest kinetic energy, change of potential energy, what came in or
                  went out; and no less than lifting the model by a millionth of its size takes
    stepper       the time discretisation
    damps         whether it is one that takes energy by itself, where steps are large
    every         steps from one state that was looked at to the next: what acts between them is not seen; 1 if every step was
    gained        the largest unexplained gain in a part of the run, by the energy that moved there; None if it is not known

    >>> run = lw.simulate(model, state, 0.1)
    >>> run.account.words()[0]
    'energy ... J at the start, ... J at the end'
    """

    start: float
    end: float
    unexplained: float
    moved: float
    came_in: Mapping[str, float] = field(default_factory=dict)
    went_out: Mapping[str, float] = field(default_factory=dict)
    stepper: str = ""
    damps: bool = False
    every: int = 1
    gained: Gain | None = None

    @property
    def drift(self) -> float:
        """|unexplained| relative to what moved."""
        return abs(self.unexplained) / max(self.moved, 1e-300)

    @property
    def rest(self) -> str:
        """What the unexplained energy is, in words."""
        if not self.unexplained:
            return "nothing is unexplained"
        share = f"{abs(self.unexplained):.3g} J, {100 * self.drift:.2g} % of the energy that moved"
        if self.every > 1:
            unseen = f"impacts and other forces in the {self.every} steps from record to record, or the error of the stepper"
            return f"unexplained: {share}: {unseen} {self.stepper!r}; a record of every step tells them apart"
        if self.damps and self.unexplained < 0:
            return f"numerical damping of the stepper {self.stepper!r} took {share}"
        return f"unexplained: {share}, the error of the stepper{f' {self.stepper!r}' if self.stepper else ''}"

    @property
    def doubts(self) -> tuple[str, ...]:
        """A line for the unexplained energy if it is too much, and for a gain in a part of the run if that is."""
        found, gained = [], self.gained
        if not self.drift <= DOUBTFUL:
            found.append(self.rest.replace("unexplained:", "unexplained energy:", 1))
        if gained is not None and not gained.share <= DOUBTFUL and self.every == 1:
            found.append(
                f"{gained.energy:.3g} J of energy came from nowhere between t = {gained.begin:.4g} and {gained.end:.4g} s, "
                f"{100 * gained.share:.2g} % of the energy that moved there"
            )
        return tuple(found)

    def words(self) -> tuple[str, ...]:
        """A line for the energy, for what came in, what went out, and what is unexplained."""
        lines = [f"energy {self.start:.4g} J at the start, {self.end:.4g} J at the end"]
        lines += [f"came in: {_listed(self.came_in)}"] if self.came_in else []
        lines += [f"went out: {_listed(self.went_out)}"] if self.went_out else []
        return (*lines, self.rest)


def account_of(
    model: Model, tally: Tally, energy: Energy, poses: np.ndarray, t: np.ndarray, stepper: str, damps: bool, every: int = 1
) -> Account:
    """The account of one run or of a batch.

    tally    of all its steps
    energy   of its records (..., T), at times t (T,)
    poses    of the bodies there (..., T, bodies, 4, 4)
    every    steps from one state that the tally saw to the next
    """
    total, potential, kinetic = (np.atleast_2d(a) for a in (energy.total, energy.potential, energy.kinetic))
    none = np.zeros(len(total))
    low, high, _ = tally.off_range.T
    largest = np.where(np.abs(low) > np.abs(high), low, high)
    flows = [sum(x.values(), start=none) for x in (tally.came, tally.went)]
    still = STILL * _weight(model) * _size(poses.reshape(len(total), -1, *poses.shape[-3:])[:, 0])
    fastest, span = kinetic.max(axis=1), np.ptp(potential, axis=1)
    if tally.steps:
        fastest, span = tally.kinetic.values.max(axis=1), tally.high.values.max(axis=1) - tally.low.values.min(axis=1)
    moved = np.max([fastest, span, *flows, still], axis=0)
    k = int(np.argmax(np.abs(largest) / np.maximum(moved, 1e-300)))
    least = 1e-6 * moved[k]
    came_in, went_out = ({n: float(x[k]) for n, x in xs.items() if x[k] > least} for xs in (tally.came, tally.went))
    end = total[:, -1]
    if tally.steps >= total.shape[1]:  # inputs of forces changed after the last record but one
        end = total[:, 0] + tally.off_range[:, 2] + tally.work_range[:, 2]
    ends = float(total[k, 0]), float(end[k])
    gained, share, first, last = gains(tally, np.maximum(still, NO_GAIN * moved))
    g = int(np.argmax(share))
    times = (float(t[0] + min(x[g] / max(tally.off.values.shape[1], 1), 1.0) * (t[-1] - t[0])) for x in (first, last))
    gain = Gain(float(gained[g]), float(share[g]), *times)
    return Account(*ends, float(largest[k]), float(moved[k]), came_in, went_out, stepper, damps, every, gain)


def gains(tally: Tally, least: np.ndarray) -> tuple[np.ndarray, ...]:
    """The largest unexplained gain of energy in a span of steps, by the energy that moved in that span, of every run.

    least   the energy that a gain is compared with at least (runs,)
    Gains (J), their shares, and the windows where they begin and end (runs,); zeros where nothing is gained.
    """
    runs, count = tally.off.values.shape
    found, every_run = tuple(np.zeros(runs) for _ in range(4)), np.arange(runs)
    before = np.concatenate([np.zeros((runs, 1)), tally.off.values[:, :-1]], axis=1)
    for k in range(count):
        gain = tally.off.values[:, k:] - before[:, k : k + 1]
        kinetic = np.maximum.accumulate(tally.kinetic.values[:, k:], axis=1)
        lifted = np.maximum.accumulate(tally.high.values[:, k:], axis=1) - np.minimum.accumulate(tally.low.values[:, k:], axis=1)
        moved = np.maximum(np.maximum(kinetic, lifted), np.maximum(np.cumsum(tally.flows.values[:, k:], axis=1), least[:, None]))
        share = gain / np.maximum(moved, 1e-300)
        last = np.argmax(share, axis=1)
        better = share[every_run, last] > found[1]
        for old, new in zip(found, (gain[every_run, last], share[every_run, last], np.full(runs, k), k + last + 1), strict=True):
            old[better] = new[better]
    return found


def _weight(model: Model) -> float:
    return float(np.linalg.norm(model.gravity)) * sum(b.inertia.mass for b in model.bodies)


def _size(poses: np.ndarray) -> np.ndarray:
    """The largest extent of the origins of all bodies along an axis (runs,); 1 m if they are at one place."""
    extent = np.ptp(poses[..., :3, 3], axis=-2).max(axis=-1)
    return np.where(extent > 0, extent, 1.0)


def _listed(works: Mapping[str, float]) -> str:
    return ", ".join(f"{x:.3g} J by {name}" for name, x in sorted(works.items(), key=lambda pair: -pair[1]))
