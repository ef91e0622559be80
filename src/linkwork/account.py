"""Where the energy of a run went: what came in, what went out, and what is left unexplained."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from .energy import Energy
from .model import Model

STILL = 1e-6  # m: to lift a model by as much of its size is a motion that counts


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
    every         how many of its steps lie between records: what acts between them is not seen

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
            return f"unexplained: {share}: {unseen} {self.stepper!r}; every=1 tells them apart"
        if self.damps and self.unexplained < 0:
            return f"numerical damping of the stepper {self.stepper!r} took {share}"
        return f"unexplained: {share}, the error of the stepper{f' {self.stepper!r}' if self.stepper else ''}"

    def words(self) -> tuple[str, ...]:
        """A line for the energy, for what came in, what went out, and what is unexplained."""
        lines = [f"energy {self.start:.4g} J at the start, {self.end:.4g} J at the end"]
        lines += [f"came in: {_listed(self.came_in)}"] if self.came_in else []
        lines += [f"went out: {_listed(self.went_out)}"] if self.went_out else []
        return (*lines, self.rest)


def account_of(
    model: Model, energy: Energy, works: Mapping[str, np.ndarray], poses: np.ndarray, stepper: str, damps: bool, every: int = 1
) -> Account:
    """The account of one run or of a batch.

    energy   (..., T)
    works    between neighbouring records (..., T - 1), by what did it
    poses    of the bodies (..., T, bodies, 4, 4)
    """
    total = np.atleast_2d(energy.total)
    kinetic, potential = np.atleast_2d(energy.kinetic), np.atleast_2d(energy.potential)
    parts = {name: np.broadcast_to(np.atleast_2d(w), (len(total), total.shape[1] - 1)) for name, w in works.items()}
    brought = {name: np.maximum(w, 0.0).sum(axis=1) for name, w in parts.items()}
    taken = {name: np.maximum(-w, 0.0).sum(axis=1) for name, w in parts.items()}
    work = np.cumsum(sum(parts.values(), start=np.zeros((len(total), total.shape[1] - 1))), axis=1)
    off = total - total[:, :1] - np.pad(work, ((0, 0), (1, 0)))
    largest = off[np.arange(len(off)), np.argmax(np.abs(off), axis=1)]
    flows = [sum(x.values(), start=np.zeros(len(total))) for x in (brought, taken)]
    still = STILL * _weight(model) * _size(poses.reshape(len(total), -1, *poses.shape[-3:])[:, 0])
    moved = np.max([kinetic.max(axis=1), np.ptp(potential, axis=1), *flows, still], axis=0)
    k = int(np.argmax(np.abs(largest) / np.maximum(moved, 1e-300)))
    least = 1e-6 * moved[k]
    came_in, went_out = ({n: float(x[k]) for n, x in xs.items() if x[k] > least} for xs in (brought, taken))
    ends = float(total[k, 0]), float(total[k, -1])
    return Account(*ends, float(largest[k]), float(moved[k]), came_in, went_out, stepper, damps, every)


def _weight(model: Model) -> float:
    return float(np.linalg.norm(model.gravity)) * sum(b.inertia.mass for b in model.bodies)


def _size(poses: np.ndarray) -> np.ndarray:
    """The largest extent of the origins of all bodies along an axis (runs,); 1 m if they are at one place."""
    extent = np.ptp(poses[..., :3, 3], axis=-2).max(axis=-1)
    return np.where(extent > 0, extent, 1.0)


def _listed(works: Mapping[str, float]) -> str:
    return ", ".join(f"{x:.3g} J by {name}" for name, x in sorted(works.items(), key=lambda pair: -pair[1]))
