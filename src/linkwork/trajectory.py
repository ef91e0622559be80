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
from .steppers import Event


@dataclass(frozen=True)
class Health:
    """What a run should have kept, and how far it strayed; None where a quantity does not apply.

    energy_drift          largest |E - E(0) - work of joint forces and damping| over the run, relative to the largest kinetic
                          energy or change of potential energy; the work is summed by the trapezoidal rule over the records;
                          None if external wrenches acted, whose work is not recorded
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
        if not self.finite:
            parts.append("NOT FINITE")
        return ", ".join(parts) or "finite"


@dataclass(frozen=True, eq=False)
class Trajectory:
    """The recorded states of a run.

    t         times (T,)
    kind      "reduced": arrays holds q (..., T, nq), v;  "maximal": poses (..., T, bodies, 4, 4), twists, q_fit
    tau       joint forces applied from each record on, or None
    forces    force of every constraint row (T, rows), or None without constraints: at the start, then averaged over the step
              that ends at the record (dop853: at the record)
    driven    whether external wrenches acted
    events    what the event functions of dop853 found, in the order of time; a terminal one is the last record
    held      whether tau was held from each record to the next; otherwise it followed the motion continuously
    """

    model: Model
    t: np.ndarray
    kind: str
    arrays: dict[str, np.ndarray]
    tau: np.ndarray | None = None
    forces: np.ndarray | None = None
    driven: bool = False
    events: tuple[Event, ...] = ()
    held: bool = True

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
        flat = self._flat_maximal
        reduced = self.kind == "reduced"
        e = energy(self.model, State(flat.q_fit, self.v.reshape(-1, self.model.nv)) if reduced else flat)
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
            states = zip(flat.poses, flat.twists, q, v, self.t, strict=True)
            rows = [constraints.at(*state).residual for state in states]
            r = np.array(rows)
            if not constraints.unilateral.all():
                residual = float(np.abs(r[:, ~constraints.unilateral]).max())
            if constraints.unilateral.any():
                penetration = float(np.maximum(0.0, -r[:, constraints.unilateral].min()))
        with np.errstate(all="ignore"):  # a run that is not finite
            return Health(self._energy_drift(), self._joint_gap(), residual, penetration, finite)

    def _energy_drift(self) -> float | None:
        if self.driven:
            return None
        e = self.energy
        drift = np.abs(e.total - e.total[..., :1] - self._work()).max(axis=-1)
        scale = np.maximum(e.kinetic.max(axis=-1), np.ptp(e.potential, axis=-1))
        return float(np.max(drift / np.maximum(scale, 1e-300)))

    def _work(self) -> Any:
        """The work of joint forces and damping up to each record: the integral of (tau - damping v) . v."""
        if self.tau is None and not self.model.damping.any():
            return 0.0
        v = self.v
        power = -(v**2) @ self.model.damping
        added = 0.5 * (power[..., :-1] + power[..., 1:])
        if self.tau is not None:
            last = self.tau[..., :-1, :] if self.held else self.tau[..., 1:, :]
            added = added + 0.5 * np.sum(self.tau[..., :-1, :] * v[..., :-1, :] + last * v[..., 1:, :], axis=-1)
        work = np.cumsum(added * np.diff(self.t), axis=-1)
        return np.concatenate([np.zeros((*work.shape[:-1], 1)), work], axis=-1)

    def _joint_gap(self) -> float | None:
        if self.kind == "reduced":
            return None
        fit = kinematics(self.model, self._joint_states.q).poses
        gaps = []
        for i, p in enumerate(self.model.parents):
            actual, best = self._flat_maximal.poses[:, i], fit[:, i]
            if p >= 0:
                actual = np.linalg.solve(self._flat_maximal.poses[:, p], actual)
                best = np.linalg.solve(fit[:, p], best)
            gaps.append(np.abs(actual - best).max())
        return float(np.max(gaps))

    def save(self, path: str | Path) -> Path:
        """Write the run: `.npz` (numbers), `.html` (an animation to open in a browser), `.png`, `.svg` or `.pdf` (plots)."""
        from .view import WRITERS

        path = Path(path)
        writer = WRITERS.get(path.suffix.lower())
        if writer is None:
            raise InputError(f"cannot save a trajectory as {path.suffix or 'a file without suffix'!r}; use {', '.join(WRITERS)}")
        writer(self, path)
        return path
