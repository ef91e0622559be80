"""Trajectory: times, states, and how healthy the run was."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from .constraints.rows import constraint_set
from .constraints.singular import Crossing, crossings
from .elements.law import RowLaw
from .energy import Energy, Records
from .errors import InputError
from .forces.applied import has_forces
from .maximal.convert import to_reduced
from .model import MaximalState, Model, State
from .model.kinematics import kinematics
from .reactions import Reactions
from .steppers import Event

ROUNDING = 1e-12  # of the energy: less work than this is none


@dataclass(frozen=True)
class Health:
    """What a run should have kept, and how far it strayed; None where a quantity does not apply.

    energy_drift          largest |E - E(0) - work| over the run, relative to the largest kinetic energy or change of potential
                          energy; impacts count too
    joint_gap             maximal coordinates: largest distance (m or rad) by which bodies left their joints
    constraint_residual   largest residual of the equality constraints (m)
    penetration           largest depth (m) of a contact
    finite                whether every number of the run is finite
    work                  largest |work| (J) that energy_drift allows for, see `Trajectory.work`
    work_of               what did that work
    singular              singular positions on the way: the time, and the constraints that lose their grip there; multipliers
                          mean little nearby
    """

    energy_drift: float | None
    joint_gap: float | None
    constraint_residual: float | None
    penetration: float | None
    finite: bool
    work: float | None = None
    work_of: tuple[str, ...] = ()
    singular: tuple[Crossing, ...] = ()

    def __str__(self) -> str:
        names = ("energy_drift", "joint_gap", "constraint_residual", "penetration")
        parts = [f"{name.replace('_', ' ')} {getattr(self, name):.3g}" for name in names if getattr(self, name) is not None]
        if self.work is not None:
            parts.append(f"work {self.work:.3g} J by {', '.join(self.work_of)}, summed over the records, is no drift")
        if self.singular:
            first, names = self.singular[0]
            more = f" and {len(self.singular) - 1} more" if len(self.singular) > 1 else ""
            parts.append(f"singular at t = {first:.4g} ({', '.join(names)}){more}")
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
    external  constant wrenches that acted on the bodies, (..., bodies, 6), or None
    events    what the event functions of dop853 found, in the order of time; a terminal one is the last record
    held      whether tau and inputs were held from each record to the next; otherwise they followed continuously
    inputs    of the forces from each record on (T, inputs), or None: their initial ones
    memory    what the stepper would have handed to its next step
    """

    model: Model
    t: np.ndarray
    kind: str
    arrays: dict[str, np.ndarray]
    tau: np.ndarray | None = None
    forces: np.ndarray | None = None
    external: np.ndarray | None = None
    events: tuple[Event, ...] = ()
    held: bool = True
    inputs: np.ndarray | None = None
    memory: Mapping[str, np.ndarray] | None = None

    def __len__(self) -> int:
        return len(self.t)

    def __getitem__(self, k: int) -> State | MaximalState:
        """The state at record k (of a single run, or of every run of a batch)."""
        axis = {"q": -2, "v": -2, "poses": -4, "twists": -3, "q_fit": -2}
        at = {name: np.take(a, k, axis=axis[name]) for name, a in self.arrays.items()}
        return State(t=self.t[k], **at) if self.kind == "reduced" else MaximalState(t=self.t[k], **at)

    @property
    def final(self) -> State | MaximalState:
        """The last state; a run of the same stepper from it goes on as if there had been no end."""
        last = self[len(self) - 1]
        return replace(last, memory=self.memory)

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
    def _records(self) -> Records:
        """All records in one batch."""
        flat, runs = self._flat_maximal, len(self._flat_maximal.poses) // len(self)
        u = None if self.inputs is None else np.tile(self.inputs, (runs, 1))

        def joints() -> State:
            return State(self.q.reshape(-1, self.model.nq), self.v.reshape(-1, self.model.nv))

        return Records(self.model, flat.poses, flat.twists, joints, np.tile(self.t, runs), u)

    @cached_property
    def energy(self) -> Energy:
        """Kinetic and potential energy (..., T)."""
        e = self._records.energy()
        return Energy(e.kinetic.reshape(self._lead), e.potential.reshape(self._lead))

    @cached_property
    def work(self) -> np.ndarray:
        """The work (..., T) done on the model up to each record by all that `energy` does not hold; see `work_of`.

        Powers at the records are summed by the trapezoidal rule: what happens between records is not seen.
        """
        parts = self._works
        added = sum(parts.values(), start=np.zeros((*self._lead[:-1], len(self) - 1)))
        return np.concatenate([np.zeros((*added.shape[:-1], 1)), np.cumsum(added, axis=-1)], axis=-1)

    @property
    def work_of(self) -> tuple[str, ...]:
        """What did the work."""
        return tuple(self._works)

    @cached_property
    def _works(self) -> dict[str, np.ndarray]:
        """The work between neighbouring records (..., T - 1), by what did it."""
        h, found = np.diff(self.t), {}

        def summed(power: Any) -> np.ndarray:
            power = np.reshape(power, self._lead)
            return 0.5 * h * (power[..., :-1] + power[..., 1:])

        if self.tau is not None:
            v, last = self.v, self.tau[..., :-1, :] if self.held else self.tau[..., 1:, :]
            found["joint forces"] = 0.5 * h * np.sum(self.tau[..., :-1, :] * v[..., :-1, :] + last * v[..., 1:, :], axis=-1)
        if self.external is not None:
            twists = self._records.twists.reshape(*self._lead, self.model.nb, 6)
            found["external wrenches"] = summed(np.sum(self.external[..., None, :, :] * twists, axis=(-2, -1)))
        found["damping and forces"] = summed(self._records.power() + np.zeros(self._lead).reshape(-1))
        found["inputs of forces"] = self._input_work()
        if self.forces is not None:
            given = self._constraints[1]
            averaged = 0.5 * h * np.sum(self.forces[1:] * (given[:-1] + given[1:]), axis=-1)
            found["prescribed motion"] = averaged if self.held else summed(np.sum(self.forces * given, axis=-1))
        least = ROUNDING * np.abs(self.energy.total).max(initial=1e-300)
        return {name: work for name, work in found.items() if not np.abs(work).max(initial=0.0) <= least}

    def _input_work(self) -> np.ndarray:
        """How much the energy in forces changes by itself, with time and inputs, between neighbouring records."""
        now = self._records
        if not has_forces(self.model):
            return np.zeros(1)
        stored, before, after = now.stored(), slice(None, -1), slice(1, None)
        late = stored[1:] - now.at(after, before).stored()
        if not (self.inputs is not None and self.held):  # then they change at the end
            late = 0.5 * (late + now.at(before, after).stored() - stored[:-1])
        return np.append(late, 0.0).reshape(self._lead)[..., :-1]  # the last of one run and the first of the next are no pair

    @cached_property
    def _constraints(self) -> tuple[np.ndarray, np.ndarray]:
        """Residuals of all constraint rows, and the rates that they ask for (records, rows)."""
        constraints, now, joints = constraint_set(self.model), self._records, self._records.joints()
        rows = [constraints.look(*state) for state in zip(now.poses, now.twists, joints.q, joints.v, now.t, strict=True)]
        return np.array([c.residual for c in rows]), np.array([c.given for c in rows])

    @cached_property
    def health(self) -> Health:
        """See `Health`."""
        finite = all(np.all(np.isfinite(a)) for a in self.arrays.values())
        constraints = constraint_set(self.model)
        residual = penetration = None
        with np.errstate(all="ignore"):  # a run that is not finite
            if constraints.count:
                r, unilateral = self._constraints[0], constraints.unilateral
                if not unilateral.all():
                    residual = float(np.abs(r[:, ~unilateral]).max())
                if unilateral.any():
                    penetration = float(np.maximum(0.0, -r[:, unilateral].min()))
            work = float(np.abs(self.work).max()) if self.work_of else None
            found = (self._energy_drift(), self._joint_gap(), residual, penetration, finite, work, self.work_of)
            return Health(*found, self._singular())

    def _singular(self) -> tuple[Crossing, ...]:
        """Of a single run; those of a batch are not looked for."""
        c = constraint_set(self.model)
        if len(self._lead) > 1 or not (~c.unilateral & c.holonomic).any():
            return ()
        return crossings(self.model, self.q, self.t)

    def _energy_drift(self) -> float:
        e = self.energy
        drift = np.abs(e.total - e.total[..., :1] - self.work).max(axis=-1)
        scale = np.maximum(e.kinetic.max(axis=-1), np.ptp(e.potential, axis=-1))
        return float(np.max(drift / np.maximum(scale, 1e-300)))

    def _joint_gap(self) -> float | None:
        return None if self.kind == "reduced" else float(self.joint_gaps.max())

    @cached_property
    def joint_gaps(self) -> np.ndarray:
        """The largest distance (m or rad) by which bodies are off their joints at each record (..., T)."""
        actual, fit = self.poses.reshape(-1, self.model.nb, 4, 4), kinematics(self.model, self.q.reshape(-1, self.model.nq)).poses
        gaps = np.zeros(len(actual))
        for i, p in enumerate(self.model.parents):
            here, best = actual[:, i], fit[:, i]
            if p >= 0:
                here, best = np.linalg.solve(actual[:, p], here), np.linalg.solve(fit[:, p], best)
            gaps = np.maximum(gaps, np.abs(here - best).max(axis=(1, 2)))
        return gaps.reshape(self._lead)

    def reactions(self, name: str | RowLaw, axes: str = "world") -> np.ndarray:
        """The wrench (..., T, 6), moment then force, that a joint or constraint exerts on its body at every record.

        name   of a joint or body: the wrench on the joint's own body, about that body's origin;
               or a constraint, its name, or what it prints as: the wrench on its first body, about the point where it acts
        axes   "world", or "body": those of that body
        Forces of equality constraints are those at the record; of contacts, limits and friction the mean over the step before.
        """
        return self._reactions.wrench_of(name, axes).reshape(*self._lead, 6)

    @cached_property
    def _reactions(self) -> Reactions:
        """All records in one batch."""
        count, runs = len(self), int(np.prod(self._lead[:-1]))

        def flat(x: np.ndarray | None, tail: int) -> np.ndarray | None:
            return (
                None
                if x is None
                else np.broadcast_to(x, (*self._lead, *x.shape[x.ndim - tail :])).reshape(-1, *x.shape[x.ndim - tail :])
            )

        tau = self.tau
        if tau is not None and self.held and count > 1:  # what is held from the last record on is not known
            tau = np.concatenate([tau[..., :-1, :], tau[..., -2:-1, :]], axis=-2)
        external = None if self.external is None else self.external[..., None, :, :]
        q, v = (x.reshape(-1, x.shape[-1]) for x in (self.q, self.v))
        t = np.tile(self.t, runs)
        return Reactions(self.model, q, v, t, flat(tau, 1), flat(external, 2), flat(self.inputs, 1), flat(self.forces, 1))

    def save(self, path: str | Path) -> Path:
        """Write the run: `.npz` (numbers), `.html` (an animation to open in a browser), `.png`, `.svg` or `.pdf` (plots)."""
        from .view import WRITERS

        path = Path(path)
        writer = WRITERS.get(path.suffix.lower())
        if writer is None:
            raise InputError(f"cannot save a trajectory as {path.suffix or 'a file without suffix'!r}; use {', '.join(WRITERS)}")
        writer(self, path)
        return path
