"""What the steps of a run add up to, whatever of them is recorded: works, energies, and how far laws were broken.

A run is looked at piece by piece; pieces that follow one another are added. Sums and extremes are of all steps. Besides, works
are kept for every interval between two records, and energies for every window of steps, in which a gain is judged by the energy
that moved there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np

from .constraints.singular import Crossing
from .energy import Energy
from .errors import InputError
from .reduced.lapse import Lapse

WINDOWS = 32  # of a run, at most: in every span of them a gain of energy is judged
WINDOW_STEPS = 50  # a window has at least so many: within fewer, a step's own error of the energy comes and goes
BINS, SUMS, RANGES = ("kinetic", "low", "high", "flows", "off"), ("came", "went", "peaks"), ("off_range", "work_range")
T = TypeVar("T")
Join = Callable[[np.ndarray, np.ndarray], np.ndarray]


def window_steps(steps: int) -> int:
    """The length of the windows of a run of so many steps, in steps."""
    return max(WINDOW_STEPS, -(-steps // WINDOWS))


@dataclass(frozen=True, eq=False)
class Bins:
    """Numbers of bins of equally many steps: the number of the first bin, and values (runs, bins)."""

    first: int
    values: np.ndarray

    def joined(self, later: Bins, join: Join) -> Bins:
        """These bins and those of later steps; `join` says what holds for a bin that both have."""
        ahead, count = later.first - self.first, self.values.shape[1]
        shared = slice(ahead, count)
        own, others = self.values[:, shared], later.values[:, : max(0, count - ahead)]
        parts = [self.values[:, :ahead], join(own, others), later.values[:, others.shape[1] :]]
        return Bins(self.first, np.concatenate(parts, axis=1))


@dataclass(frozen=True, eq=False)
class Tally:
    """What consecutive steps of a run, or of the runs of a batch, add up to.

    steps         how many there are
    works         by what did it: the work in every interval between records
    came, went    by what did it: the sum of the positive works of steps, and of the negative ones without their sign (runs,)
    peaks         by what did it: the largest |work| of a step (runs,)
    kinetic       the largest in every window; low and high: the least and the largest potential energy there
    flows         the larger of what came in and what went out, in every window
    off           E - E(0) - work at the end of every window, counted from the start of these steps
    off_range, work_range   least, largest and last value (runs, 3) of that, and of the work, after any step
    extremes      the largest of quantities over all states, by name
    speeds        the largest speed of joints that were faster than they declare
    singular      singular positions
    notes         lines about the first of the steps
    lapses        where paths of muscles jump and fibres are clamped, by what happened
    """

    steps: int
    works: Mapping[str, Bins]
    came: Mapping[str, np.ndarray]
    went: Mapping[str, np.ndarray]
    peaks: Mapping[str, np.ndarray]
    kinetic: Bins
    low: Bins
    high: Bins
    flows: Bins
    off: Bins
    off_range: np.ndarray
    work_range: np.ndarray
    extremes: Mapping[str, float] = field(default_factory=dict)
    speeds: Mapping[str, float] = field(default_factory=dict)
    singular: tuple[Crossing, ...] = ()
    notes: tuple[str, ...] = ()
    lapses: Mapping[str, Lapse] = field(default_factory=dict)

    def __add__(self, later: Tally) -> Tally:
        """These steps, and later ones that begin where these end."""
        off = Bins(later.off.first, later.off.values + self.off_range[:, 2:])
        return Tally(
            self.steps + later.steps,
            _by_name(self.works, later.works, lambda a, b: a.joined(b, np.add)),
            _by_name(self.came, later.came, np.add),
            _by_name(self.went, later.went, np.add),
            _by_name(self.peaks, later.peaks, np.maximum),
            self.kinetic.joined(later.kinetic, np.maximum),
            self.low.joined(later.low, np.minimum),
            self.high.joined(later.high, np.maximum),
            self.flows.joined(later.flows, np.add),
            self.off.joined(off, lambda before, after: after),
            _range_after(self.off_range, later.off_range),
            _range_after(self.work_range, later.work_range),
            _by_name(self.extremes, later.extremes, lambda a, b: float(np.maximum(a, b))),
            _by_name(self.speeds, later.speeds, max),
            tuple(sorted({*self.singular, *later.singular})),
            self.notes,
            _by_name(self.lapses, later.lapses, Lapse.__add__),
        )

    def is_whole(self, intervals: int, every: int) -> bool:
        """Whether these are all steps of so many intervals between records, from the first one on."""
        bins = [self.kinetic, self.low, self.high, self.flows, self.off]
        same = all(b.first == 0 and b.values.shape == self.kinetic.values.shape for b in bins)
        whole = all(b.first == 0 and b.values.shape[1] == intervals for b in self.works.values())
        return same and whole and self.steps == intervals * every

    def of_run(self, k: int) -> Tally:
        """That of one run of a batch; extremes, speeds and singular positions stay those of all."""
        found: dict[str, Any] = {"steps": self.steps, "extremes": self.extremes, "speeds": self.speeds}
        found |= {"singular": self.singular, "notes": self.notes, "lapses": self.lapses}
        for name in ("kinetic", "low", "high", "flows", "off"):
            bins = getattr(self, name)
            found[name] = Bins(bins.first, bins.values[k : k + 1])
        for name in ("came", "went", "peaks"):
            found[name] = {of: a[k : k + 1] for of, a in getattr(self, name).items()}
        found["works"] = {of: Bins(b.first, b.values[k : k + 1]) for of, b in self.works.items()}
        return Tally(**found, off_range=self.off_range[k : k + 1], work_range=self.work_range[k : k + 1])


def tally_of(energy: Energy, works: Mapping[str, np.ndarray], first: int, every: int, window: int, **others: Any) -> Tally:
    """What the steps between neighbouring states add up to.

    energy   of the states (..., steps + 1)
    works    between neighbouring states (..., steps), by what did it
    first    the number of the first step in the run
    every    steps of an interval between records; `window`: of a window
    others   extremes, speeds, singular, notes, lapses
    """
    kinetic, potential = (np.atleast_2d(a).reshape(-1, np.shape(a)[-1]) for a in (energy.kinetic, energy.potential))
    runs, steps = len(kinetic), kinetic.shape[1] - 1
    each = {name: np.broadcast_to(w, (*np.shape(energy.kinetic)[:-1], steps)).reshape(runs, steps) for name, w in works.items()}
    came, went = ({name: np.maximum(sign * w, 0.0) for name, w in each.items()} for sign in (1.0, -1.0))
    nothing = np.zeros((runs, steps))
    work = np.cumsum(sum(each.values(), start=nothing), axis=1)
    total = kinetic + potential
    off = total[:, 1:] - total[:, :1] - work
    at = first + np.arange(steps)

    def binned(x: np.ndarray, size: int, join: np.ufunc) -> Bins:
        starts = np.flatnonzero(np.diff(at // size, prepend=-1))
        return Bins(first // size, join.reduceat(x, starts, axis=1) if steps else x)

    ends = np.flatnonzero(np.diff(at // window, append=-1))
    flows = [binned(sum(x.values(), start=nothing), window, np.add).values for x in (came, went)]
    return Tally(
        steps,
        {name: binned(w, every, np.add) for name, w in each.items()},
        {name: w.sum(axis=1) for name, w in came.items()},
        {name: w.sum(axis=1) for name, w in went.items()},
        {name: np.abs(w).max(axis=1, initial=0.0) for name, w in each.items()},
        binned(np.maximum(kinetic[:, 1:], kinetic[:, :-1]), window, np.maximum),
        binned(np.minimum(potential[:, 1:], potential[:, :-1]), window, np.minimum),
        binned(np.maximum(potential[:, 1:], potential[:, :-1]), window, np.maximum),
        Bins(first // window, np.maximum(*flows)),
        Bins(first // window, off[:, ends]),
        _range(off),
        _range(work),
        **others,
    )


def _range(x: np.ndarray) -> np.ndarray:
    """Least, largest and last value (runs, 3) of sums that begin at zero."""
    last = x[:, -1] if x.shape[1] else np.zeros(len(x))
    return np.stack([x.min(axis=1, initial=0.0), x.max(axis=1, initial=0.0), last], axis=1)


def _range_after(before: np.ndarray, later: np.ndarray) -> np.ndarray:
    """That of sums that go on from the last value."""
    low, high, last = (before[:, 2] + later[:, k] for k in range(3))
    return np.stack([np.minimum(before[:, 0], low), np.maximum(before[:, 1], high), last], axis=1)


def _by_name(a: Mapping[str, T], b: Mapping[str, T], join: Callable[[T, T], T]) -> dict[str, T]:
    """The values of both, joined where both have one."""
    found = dict(a)
    for name, x in b.items():
        found[name] = join(found[name], x) if name in found else x
    return found


def as_data(tally: Tally) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """A tally as text and arrays, for a file."""
    bins = {name: getattr(tally, name) for name in BINS} | {f"works.{name}": b for name, b in tally.works.items()}
    sums = {f"{part}.{name}": a for part in SUMS for name, a in getattr(tally, part).items()}
    singular = [[t, list(names)] for t, names in tally.singular]
    text = {"steps": tally.steps, "first": {name: b.first for name, b in bins.items()}, "works": list(tally.works)}
    text |= {"extremes": dict(tally.extremes), "speeds": dict(tally.speeds), "singular": singular, "notes": list(tally.notes)}
    text["lapses"] = {name: list(lapse) for name, lapse in tally.lapses.items()}
    arrays = {name: b.values for name, b in bins.items()} | sums
    return text, arrays | {name: getattr(tally, name) for name in RANGES}


def from_data(text: Any, arrays: Mapping[str, np.ndarray]) -> Tally:
    """The tally that a file holds; raises InputError if it holds none."""
    try:
        names = [str(name) for name in text["works"]]
        steps, runs = int(text["steps"]), len(arrays["off_range"])

        def bins(name: str) -> Bins:
            return Bins(int(text["first"][name]), np.asarray(arrays[name], float).reshape(runs, -1))

        found: dict[str, Any] = {name: bins(name) for name in BINS}
        found |= {name: np.asarray(arrays[name], float).reshape(runs, 3) for name in RANGES}
        for part in SUMS:
            found[part] = {name: np.asarray(arrays[f"{part}.{name}"], float).reshape(runs) for name in names}
        found |= {part: {str(name): float(x) for name, x in text[part].items()} for part in ("extremes", "speeds")}
        found["works"] = {name: bins(f"works.{name}") for name in names}
        found["singular"] = tuple((float(t), tuple(map(str, names))) for t, names in text["singular"])
        lapses = {str(what): Lapse(float(x[0]), float(x[1]), int(x[2]), str(x[3])) for what, x in text.get("lapses", {}).items()}
        return Tally(steps=steps, **found, notes=tuple(map(str, text["notes"])), lapses=lapses)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError) as error:
        raise InputError(f"the file says nothing of the steps between its records: {type(error).__name__}: {error}") from None
