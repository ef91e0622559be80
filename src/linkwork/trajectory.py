"""Trajectory: times, states, and how healthy the run was."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from .constraints.rows import constraint_set
from .energy import Energy, energy
from .errors import InputError
from .maximal.convert import to_reduced
from .model import MaximalState, Model, State
from .model.kinematics import kinematics


@dataclass(frozen=True)
class Health:
    """What a run should have kept, and how far it strayed; None where a quantity does not apply.

    energy_drift          largest |E - E(0) - work of the joint forces| over the run, relative to the largest kinetic energy or
                          change of potential energy; None if external wrenches acted, whose work is not recorded
    joint_gap             maximal coordinates: largest distance (m or rad) by which bodies left their joints
    constraint_residual   largest residual of the equality constraints (m)
    penetration           largest depth (m) of a contact
    finite                whether every number of the run is finite
    """

    energy_drift: float | None
    joint_gap: float | None
    constraint_residual: float | None
    penetration: float | None
    finite: bool

    def __str__(self) -> str:
        parts = [f"{name.replace('_', ' ')} {value:.3g}" for name, value in vars(self).items() if isinstance(value, float)]
        return ", ".join(parts) + ("" if self.finite else ", NOT FINITE")


@dataclass(frozen=True, eq=False)
class Trajectory:
    """The recorded states of a run.

    t         times (T,)
    kind      "reduced": arrays holds q (..., T, nq), v;  "maximal": poses (..., T, bodies, 4, 4), twists, q_fit
    tau       joint forces applied from each record to the next, or None
    forces    force of every constraint row at each record (T, rows); empty without constraints
    """

    model: Model
    t: np.ndarray
    kind: str
    arrays: dict[str, np.ndarray]
    tau: np.ndarray | None = None
    forces: np.ndarray | None = None
    driven: bool = False

    def __len__(self) -> int:
        return len(self.t)

    def __getitem__(self, k: int) -> State | MaximalState:
        """The state at record k (of a single run, or of every run of a batch)."""
        axis = {"q": -2, "v": -2, "poses": -4, "twists": -3, "q_fit": -2}
        at = {name: np.take(a, k, axis=axis[name]) for name, a in self.arrays.items()}
        return State(t=self.t[k], **at) if self.kind == "reduced" else MaximalState(t=self.t[k], **at)

    @property
    def final(self) -> State | MaximalState:
        """The last state."""
        return self[len(self) - 1]

    @cached_property
    def _flat_maximal(self) -> MaximalState:
        """Poses and twists of all records in one batch."""
        if self.kind == "reduced":
            q, v = (self.arrays[k].reshape(-1, self.arrays[k].shape[-1]) for k in ("q", "v"))
            k = kinematics(self.model, q, v)
            return MaximalState(k.poses, k.twists, q)
        nb = self.model.nb
        a = self.arrays
        return MaximalState(
            a["poses"].reshape(-1, nb, 4, 4), a["twists"].reshape(-1, nb, 6), a["q_fit"].reshape(-1, self.model.nq)
        )

    @property
    def _lead(self) -> tuple[int, ...]:
        first = self.arrays["q" if self.kind == "reduced" else "q_fit"]
        return first.shape[:-1]

    @cached_property
    def poses(self) -> np.ndarray:
        """World poses of all bodies, (..., T, bodies, 4, 4)."""
        return self._flat_maximal.poses.reshape(*self._lead, self.model.nb, 4, 4)

    @cached_property
    def q(self) -> np.ndarray:
        """Joint coordinates (..., T, nq); for maximal runs those that fit best."""
        return self._joint_states.q.reshape(*self._lead, self.model.nq)

    @cached_property
    def v(self) -> np.ndarray:
        """Joint velocities (..., T, nv)."""
        return self._joint_states.v.reshape(*self._lead, self.model.nv)

    @cached_property
    def _joint_states(self) -> State:
        if self.kind == "reduced":
            return State(self.arrays["q"], self.arrays["v"])
        return to_reduced(self.model, self._flat_maximal)

    @cached_property
    def energy(self) -> Energy:
        """Kinetic and potential energy (..., T)."""
        e = energy(self.model, self._flat_maximal)
        return Energy(e.kinetic.reshape(self._lead), e.potential.reshape(self._lead))

    @cached_property
    def health(self) -> Health:
        """See `Health`."""
        finite = all(np.all(np.isfinite(a)) for a in self.arrays.values())
        constraints = constraint_set(self.model)
        residual = penetration = None
        if constraints.count:
            flat = self._flat_maximal
            joints = self._joint_states
            q, v = joints.q.reshape(-1, self.model.nq), joints.v.reshape(-1, self.model.nv)
            states = zip(flat.poses, flat.twists, q, v, strict=True)
            rows = [constraints.at(*state).residual for state in states]
            r = np.array(rows)
            if not constraints.unilateral.all():
                residual = float(np.abs(r[:, ~constraints.unilateral]).max())
            if constraints.unilateral.any():
                penetration = float(max(0.0, -r[:, constraints.unilateral].min()))
        return Health(self._energy_drift(), self._joint_gap(), residual, penetration, finite)

    def _energy_drift(self) -> float | None:
        if self.driven:
            return None
        e = self.energy
        work: Any = 0.0
        if self.tau is not None:
            power = 0.5 * np.sum(self.tau[..., :-1, :] * (self.v[..., :-1, :] + self.v[..., 1:, :]), axis=-1) * np.diff(self.t)
            work = np.concatenate([np.zeros((*power.shape[:-1], 1)), np.cumsum(power, axis=-1)], axis=-1)
        drift = np.abs(e.total - e.total[..., :1] - work).max(axis=-1)
        scale = np.maximum(e.kinetic.max(axis=-1), np.ptp(e.potential, axis=-1))
        return float(np.max(drift / np.maximum(scale, 1e-300)))

    def _joint_gap(self) -> float | None:
        if self.kind == "reduced":
            return None
        fit = kinematics(self.model, self._joint_states.q).poses
        gap, parents = 0.0, self.model.parents
        for i, p in enumerate(parents):
            actual, best = self._flat_maximal.poses[:, i], fit[:, i]
            if p >= 0:
                actual = np.linalg.solve(self._flat_maximal.poses[:, p], actual)
                best = np.linalg.solve(fit[:, p], best)
            gap = max(gap, float(np.abs(actual - best).max()))
        return gap

    def save(self, path: str | Path) -> Path:
        """Write the run: `.npz` (numbers), `.html` (an animation to open in a browser), `.png`, `.svg` or `.pdf` (plots)."""
        from .view import WRITERS

        path = Path(path)
        writer = WRITERS.get(path.suffix.lower())
        if writer is None:
            raise InputError(f"cannot save a trajectory as {path.suffix or 'a file without suffix'!r}; use {', '.join(WRITERS)}")
        writer(self, path)
        return path
