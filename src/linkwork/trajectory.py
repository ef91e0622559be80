"""Trajectory: times, states, and how healthy the run was."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from .account import Account, account_of
from .constraints import JointConstraint
from .constraints.rows import constraint_set
from .constraints.singular import Crossing, crossings, jumps, zeros_passed
from .constraints.units import coordinate_units, rate_unit, residual_unit, row_units
from .contacts import RunContacts
from .elements.collection import collection
from .elements.law import RowLaw
from .energy import Energy, Records
from .errors import InputError
from .forces.applied import has_forces
from .forces.joint import is_flat
from .health import UNITS, Health
from .maximal.convert import to_reduced
from .model import MaximalState, Model, State
from .model.entrance import lost_runs
from .model.kinematics import kinematics
from .model.locked import locking, may_lock
from .model.state import LEFT_OPEN
from .model.steady import seen_from
from .reactions import Reactions
from .reduced.closed import size_of
from .reduced.lapse import Lapse
from .spatial.frozen import frozen, sealed
from .spatial.gate import given_path
from .spatial.kinds import explained
from .spatial.scalar import read_only
from .steppers import ALL_STEPPERS, Event
from .steppers.admissible import NOTED, broken_rates, said
from .steppers.row_forces import RowForces
from .store.data import state_of
from .tally import Tally, tally_of, window_steps

ROUNDING = 1e-12  # of the energy: less work than this is none
BROKEN_RATE = 0.05  # of the largest velocity: constraints on velocities that are broken by more make results doubtful
OPENED = 0.01  # m or rad, in models larger than 1 m of their size: the same of constraints on positions that the run has opened
AT_ONCE = 4_000_000  # numbers of constraint rows that are looked at together


@dataclass(frozen=True, eq=False, repr=False)
class Trajectory:
    """The recorded states of a run.

    t         times (T,)
    kind      "reduced": arrays holds q (..., T, nq), v;  "maximal": poses (..., T, bodies, 4, 4), twists, q_fit
    tau       joint forces applied from each record on, or None
    rows      what `forces` follows from, or they themselves; None without constraints
    external  constant wrenches that acted on the bodies, (..., bodies, 6), or None
    events    what the event functions of dop853 found, in the order of time; a terminal one is the last record
    held      whether tau and inputs were held from each record to the next; otherwise they followed continuously
    inputs    of the forces from each record on (T, inputs), or None: their initial ones
    memory    what the stepper would have handed to its next step
    left      what the solver of the constraints left of its conditions before every record (..., T), or None
    notes     a line for everything that joints declare and the run did not enforce
    clipped   how many steps asked a joint for more force than its effort, by its name
    stepper   the name of the time discretisation
    every     how many of its steps lead from one record to the next
    steps     what all steps add up to, or who can find that (`replay`), if there are steps between records; None: records are all
              that is known
    flaws     a line for everything that made its results doubtful before the first step

    The model is the one that ran: that given, with the laws of what its joints declare.

    >>> run = lw.simulate(model, state, 0.1)
    >>> run.q.shape, run.poses.shape
    ((101, 2), (101, 2, 4, 4))
    >>> run.final.t
    0.1
    """

    model: Model
    t: np.ndarray
    kind: str
    arrays: dict[str, np.ndarray]
    tau: np.ndarray | None = None
    rows: np.ndarray | RowForces | None = None
    external: np.ndarray | None = None
    events: tuple[Event, ...] = ()
    held: bool = True
    inputs: np.ndarray | None = None
    memory: Mapping[str, np.ndarray] | None = None
    left: np.ndarray | None = None
    notes: tuple[str, ...] = ()
    clipped: Mapping[str, int] = field(default_factory=dict)
    stepper: str = ""
    every: int = 1
    steps: Any = None
    flaws: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for a in (self.t, *self.arrays.values(), *(self.memory or {}).values()):
            sealed(a)
        parts = self.__dict__
        for name in ("tau", "external", "inputs", "left"):
            if parts[name] is not None:
                parts[name] = frozen(parts[name])

    def __getstate__(self) -> dict[str, Any]:
        return state_of(self) | ({} if self.steps is None else {"steps": self._tally})

    def __setstate__(self, parts: dict[str, Any]) -> None:
        self.__dict__.update(parts)
        self.__post_init__()

    def __len__(self) -> int:
        return len(self.t)

    def __getitem__(self, k: int) -> State | MaximalState:
        """The state at record k (of a single run, or of every run of a batch)."""
        if not isinstance(k, int | np.integer):
            hint = f"; its arrays are attributes: run.{k}" if isinstance(k, str) and k.isidentifier() else ""
            raise InputError(f"a run is indexed by the number of a record, run[0] to run[{len(self) - 1}], not by {k!r}{hint}")
        axis = {"q": -2, "v": -2, "poses": -4, "twists": -3, "q_fit": -2}
        at = {name: np.take(a, k, axis=axis[name]) for name, a in self.arrays.items()}
        return State(t=self.t[k], **at) if self.kind == "reduced" else MaximalState(t=self.t[k], **at)

    @property
    def final(self) -> State | MaximalState:
        """The last state; a run of the same stepper from it goes on as if there had been no end (dop853 and ode45: within their
        tolerance). Constraints may be as open there as the run left them."""
        last = self[len(self) - 1]
        return replace(last, memory={**(self.memory or {}), **self._left_open(last)})

    @lost_runs()
    def _left_open(self, last: State | MaximalState) -> dict[str, np.ndarray]:
        """How far, and how fast, equality constraints are open at the end, for the memory of a state."""
        rows, model = constraint_set(self.model), self.model
        equal = ~rows.unilateral & ~rows.of("bounded")
        if not equal.any():
            return {}
        joints = last if isinstance(last, State) else to_reduced(model, last)
        q, v = joints.q.reshape(-1, model.nq), joints.v.reshape(-1, model.nv)
        bodies = kinematics(model, q, v) if isinstance(last, State) else last
        poses, twists = bodies.poses.reshape(-1, model.nb, 4, 4), bodies.twists.reshape(-1, model.nb, 6)
        found = rows.records(poses, twists, q, v, np.full(len(q), last.t))
        far, fast = found["residual"][:, equal & rows.holonomic], found["rate"][:, equal]
        return {LEFT_OPEN: np.array([np.abs(far).max(initial=0.0), np.abs(fast).max(initial=0.0)])}

    @cached_property
    @lost_runs()
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
    def forces(self) -> np.ndarray | None:
        """Force of every constraint row (..., T, rows), or None without constraints: at the start, then averaged over the step
        that ends at the record (dop853: at the record)."""
        found = self.rows.found() if isinstance(self.rows, RowForces) else self.rows
        return None if found is None else read_only(found)

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
    @lost_runs()
    def energy(self) -> Energy:
        """Kinetic and potential energy (..., T)."""
        e = self._records.energy()
        return Energy(e.kinetic.reshape(self._lead), e.potential.reshape(self._lead))

    @cached_property
    def work(self) -> np.ndarray:
        """The work (..., T) done on the model up to each record by all that `energy` does not hold; see `work_of`.

        Powers at the records are summed by the trapezoidal rule: what happens between records is not seen. Impacts are counted
        where every step is recorded.
        """
        parts = self._works
        added = sum(parts.values(), start=np.zeros((*self._lead[:-1], len(self) - 1)))
        return sealed(np.concatenate([np.zeros((*added.shape[:-1], 1)), np.cumsum(added, axis=-1)], axis=-1))

    @property
    def work_of(self) -> tuple[str, ...]:
        """What did the work."""
        return tuple(self._works)

    @cached_property
    @lost_runs()
    def _works(self) -> dict[str, np.ndarray]:
        """The work of all steps between neighbouring records (..., T - 1), by what did any."""
        tally, lead = self._tally, self._lead
        least = ROUNDING * max(tally.extremes["energy"], 1e-300)
        acted = [name for name, peak in tally.peaks.items() if not peak.max(initial=0.0) <= least]
        return {name: tally.works[name].values.reshape(*lead[:-1], lead[-1] - 1) for name in acted}

    @cached_property
    def _tally(self) -> Tally:
        """What all steps add up to; where they are not known, what is seen at the records."""
        if isinstance(self.steps, Tally):
            return self.steps
        if self.steps is None or len(self) < 2:
            return self.tallied(0, 1, window_steps(len(self) - 1))
        return self.steps.tally(len(self) - 1)

    @property
    def first_steps(self) -> Tally | None:
        """What the steps between records of the first run of a batch add up to; None if there are none."""
        return None if self.steps is None else self._tally.of_run(0)

    @lost_runs()
    def tallied(self, first: int, every: int, window: int) -> Tally:
        """What the motions from record to record add up to, as steps of a run: see `tally_of`."""
        with np.errstate(all="ignore"):  # a run that is not finite
            energy = self.energy
            singular = self._singular()
            others = {"speeds": self._speeding(), "singular": singular, "notes": self._broken() if not first else ()}
            others["lapses"] = dict(self._lapses(not first)) | self._jumps(singular)
            extremes = self._violations() | {"energy": float(np.abs(energy.total).max(initial=0.0))}
            return tally_of(energy, self._record_works(), first, every, window, extremes=extremes, **others)

    def _record_works(self) -> dict[str, np.ndarray]:
        """The work between neighbouring records (..., T - 1), as powers at the records say it, by what may do it."""
        h, found = np.diff(self.t), dict[str, np.ndarray]()
        if not len(h):
            return {}

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
        if self.rows is not None:
            rows = constraint_set(self.model)
            found["prescribed motion"] = self._row_work("given", rows.of("timed"))
            found["dry friction"] = self._row_work("rate", rows.of("bounded") | rows.tangent)
            if self.every == 1:
                found["impacts"] = self._push_work(rows.unilateral & ~rows.of("bounded") & ~rows.tangent)
        return found

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
    def _spans(self) -> list[slice]:
        """The records in pieces whose rows fit in memory at once; neighbours share a record."""
        runs, rows = int(np.prod(self._lead[:-1])), constraint_set(self.model).count
        most = max(1, AT_ONCE // max(1, runs * rows))
        return [slice(a, min(a + most, len(self) - 1) + 1) for a in range(0, max(len(self) - 1, 1), most)]

    def _row_work(self, name: str, some: np.ndarray) -> np.ndarray:
        """The work of some rows at what is named of their rates, between neighbouring records."""
        if not some.any():
            return np.zeros(1)
        found = []
        for span in self._spans:
            forces, rates, h = self._forces_in(span)[..., some], self._rows_in(span)[name][..., some], np.diff(self.t[span])
            if self.held:
                power = np.sum(forces[..., 1:, :] * (rates[..., :-1, :] + rates[..., 1:, :]), axis=-1)
            else:
                both = np.sum(forces * rates, axis=-1)
                power = both[..., :-1] + both[..., 1:]
            found.append(0.5 * h * power)
        return np.concatenate(found, axis=-1)

    def _push_work(self, some: np.ndarray) -> np.ndarray:
        """The work of rows that only push, between neighbouring records: x . G_k (v_k + v_k+1) / 2, as the step found its rows.

        What rolls in a bowl meets other normals at each record: with G of the records themselves, it would seem to be braked.
        """
        if not some.any() or not self.held:
            return self._row_work("rate", some)
        found = []
        for span in self._spans:
            forces, before = self._forces_in(span)[..., 1:, some], self._rows_in(span)["rate"][..., :-1, some]
            after = self._looked_at(span, ahead=1)["rate"][..., some]
            found.append(0.5 * np.diff(self.t[span]) * np.sum(forces * (before + after), axis=-1))
        return np.concatenate(found, axis=-1)

    def _forces_in(self, span: slice) -> np.ndarray:
        """Forces of all rows at some records."""
        if len(self._spans) > 1 and isinstance(self.rows, RowForces):
            return self.rows.found(span)
        assert self.forces is not None
        return self.forces[..., span, :]

    def _rows_in(self, span: slice) -> dict[str, np.ndarray]:
        """Of all constraint rows residual, rate, and the rate that they ask for, at some records (..., records, rows)."""
        return self._rows if len(self._spans) == 1 else self._looked_at(span)

    @cached_property
    def _rows(self) -> dict[str, np.ndarray]:
        """The same at all records, where they fit in memory."""
        return self._looked_at(slice(None))

    def _looked_at(self, span: slice, ahead: int = 0) -> dict[str, np.ndarray]:
        """At the positions of some records, with the velocities as many records ahead, as steps see them from there: those of
        free bodies keep their direction in the world, however bodies have turned meanwhile."""
        now, joints, lead = self._records, self._records.joints(), self._lead
        flat = np.arange(int(np.prod(lead))).reshape(lead)[..., span]
        flat = flat[..., : flat.shape[-1] - ahead]
        of, later = flat.reshape(-1), flat.reshape(-1) + ahead
        twists = now.twists[later]
        v = joints.v[later]
        if ahead and self.kind != "maximal":
            v = seen_from(self.model, joints.q[of], joints.q[later], v)
            twists = kinematics(self.model, joints.q[of], v).twists.reshape(twists.shape)
        elif ahead:
            R, later_R = now.poses[of, ..., :3, :3], now.poses[later, ..., :3, :3]
            halves = twists.reshape(*twists.shape[:-1], 2, 3)
            twists = np.einsum("...ji,...jk,...sk->...si", R, later_R, halves).reshape(twists.shape)
        found = constraint_set(self.model).records(now.poses[of], twists, joints.q[of], v, now.t[of])
        return {name: a.reshape(*flat.shape, -1) for name, a in found.items()}

    @property
    def residuals(self) -> np.ndarray:
        """The residual of every constraint row at every record (..., T, rows); what only pushes may have positive ones."""
        return np.concatenate([self._rows_in(span)["residual"][..., int(k > 0) :, :] for k, span in enumerate(self._spans)], -2)

    @cached_property
    @lost_runs()
    def health(self) -> Health:
        """What the run should have kept, and how far it strayed; `print(run.health)` says it in words."""
        finite = all(np.all(np.isfinite(a)) for a in self.arrays.values())
        with np.errstate(all="ignore"):  # a run that is not finite
            tally, account = self._tally, self.account
            work = float(np.abs(tally.work_range).max()) if self.work_of else None
        flaws = (*self.flaws, *self._broken_laws(tally), *(lapse.said(what) for what, lapse in tally.lapses.items()))
        beyond = {name.partition(" ")[2]: x for name, x in tally.extremes.items() if name.startswith("limits ")}
        most = {name: tally.extremes.get(name) for name in UNITS} | {"limits": max(beyond.values(), default=None)}
        drift = {"energy_drift": account.drift, "finite": finite, "work": work, "work_of": self.work_of}
        told = {
            "clipped": self.clipped,
            "speeding": tally.speeds,
            "notes": tuple(dict.fromkeys((*flaws, *self.notes, *tally.notes))),
        }
        return Health(
            **drift,
            **most,
            **told,
            singular=tally.singular,
            account=account,
            beyond=beyond,
            residual_unit=residual_unit(self.model),
            rate_unit=rate_unit(self.model),
            flaws=flaws,
        )

    def _broken_laws(self, tally: Tally) -> tuple[str, ...]:
        """A line for equality constraints that the run did not keep."""
        found, extremes = [], tally.extremes
        speed, rate = extremes.get("speed", 0.0), extremes.get("rate of velocities", 0.0)
        if speed and rate > BROKEN_RATE * speed:
            found.append(
                f"constraints on velocities are broken by {rate:.3g} {rate_unit(self.model)}, {100 * rate / speed:.2g} % of the "
                "largest velocity; begin with lw.assemble(model, state), or take a smaller dt"
            )
        residual, equal = extremes.get("constraint_residual", 0.0), ~constraint_set(self.model).unilateral
        if residual > OPENED and equal.any():
            first = np.abs(self._rows_in(self._spans[0])["residual"][..., 0, equal]).max(initial=0.0)
            if residual > 2.0 * first and residual > OPENED * size_of(self.poses):
                found.append(
                    f"equality constraints opened by {residual:.3g} {residual_unit(self.model)}; take a smaller dt, or "
                    "stabilise='project' where the stepper has it"
                )
        return tuple(found)

    def _broken(self) -> tuple[str, ...]:
        """A line if the velocities at the first record break equality constraints; the first step has changed them."""
        if not constraint_set(self.model).count or len(self) < 2:
            return ()
        rates = self._rows_in(self._spans[0])["rate"][..., 0, :].reshape(-1, constraint_set(self.model).count)
        v = self.v[..., 0, :].reshape(-1, self.model.nv)
        found = broken_rates(self.model, rates, v, share=NOTED)
        after = self._rows_in(self._spans[0])["rate"][..., 1, :].reshape(found.shape)
        changed = (found > 0.0) & (np.abs(after) < 0.5 * found)
        return (said(self.model, found),) if changed.any() else ()

    def _violations(self) -> dict[str, float]:
        """The largest errors over all records, by name: of equality constraints, depths of contacts, distances beyond limits by
        their unit, gaps of joints, what the solver left."""
        rows, found = constraint_set(self.model), dict[str, float]()
        on_joints = np.array([isinstance(c, JointConstraint) for c, n in rows.sizes() for _ in range(n)], bool)
        units = np.array(row_units(self.model))

        def note(
            name: str, some: np.ndarray, size: Callable[[np.ndarray], np.ndarray], of: str = "residual", first: int = 0
        ) -> None:
            for span in self._spans if some.any() else ():
                x = float(size(self._rows_in(span)[of][..., first:, some]).max(initial=0.0))
                found[name] = float(np.maximum(found.get(name, 0.0), x))

        def depth(r: np.ndarray) -> np.ndarray:
            return np.maximum(0.0, 0.0 - r)  # -r of 0 is -0

        note("constraint_residual", ~rows.unilateral, np.abs)
        equal = ~rows.unilateral & ~rows.of("bounded")
        for name, some in (("constraint_rate", equal), ("rate of velocities", equal & ~rows.holonomic)):
            note(name, some, np.abs, "rate", 1)
        if (equal & ~rows.holonomic).any():
            found["speed"] = float(np.abs(self.v).max(initial=0.0))
        note("penetration", rows.unilateral & ~on_joints, depth)
        for unit in dict.fromkeys(units[rows.unilateral & on_joints].tolist()):
            note(f"limits {unit}", rows.unilateral & on_joints & (units == unit), depth)
        for unit, x in self._beyond_declared().items():
            found[f"limits {unit}"] = max(x, found.get(f"limits {unit}", 0.0))
        if self.left is not None:
            found["complementarity"] = float(np.abs(self.left).max(initial=0.0))
        if self.kind != "reduced":
            found["joint_gap"] = float(self.joint_gaps.max())
        return found

    def _beyond_declared(self) -> dict[str, float]:
        """How far coordinates were beyond the limits that their joints declare, by unit."""
        found: dict[str, float] = {}
        for b in self.model.bodies:
            p = b.properties
            if is_flat(b.joint) and (np.isfinite(p.lower).any() or np.isfinite(p.upper).any()):
                q = self.q[..., self.model.q_index(b.name)]
                past = np.maximum(p.lower - q, q - p.upper).reshape(-1, b.joint.nv).max(axis=0, initial=0.0)
                for unit, x in zip(coordinate_units(self.model, b.name), past, strict=True):
                    found[unit] = max(float(x), found.get(unit, 0.0))
        return found

    def _lapses(self, begins: bool) -> dict[str, Lapse]:
        """Where paths of muscles jump and fibres are clamped."""
        if not any(hasattr(law, "path") for law in collection(self.model).forces):
            return {}
        if not all(np.isfinite(a).all() for a in self.arrays.values()):
            return {}
        from .reduced.muscle_lapses import muscle_lapses  # muscles are loaded where a model has some

        now, lead = self._records, self._lead
        moved = now.poses.reshape(*lead, *now.poses.shape[-3:]), now.twists.reshape(*lead, *now.twists.shape[-2:])
        inputs = None if now.inputs is None else np.reshape(now.inputs, (*lead, -1))
        return muscle_lapses(self.model, self.q.reshape(*lead, -1), *moved, self.t, inputs, begins)

    def _speeding(self) -> dict[str, float]:
        """The largest speed of joints that were faster than they declare."""
        limited = [b for b in self.model.bodies if np.isfinite(b.properties.speed).any()]
        speeds = {b.joint_name: (np.abs(self.v[..., self.model.v_index(b.name)]), b.properties.speed) for b in limited}
        return {name: float(v[..., np.isfinite(most)].max()) for name, (v, most) in speeds.items() if (v > most).any()}

    def _singular(self) -> tuple[Crossing, ...]:
        """Of a single run; those of a batch are not looked for."""
        if len(self._lead) > 1:
            return ()
        c = constraint_set(self.model)
        found = crossings(self.model, self.q, self.t) if (~c.unilateral & c.holonomic).any() else ()
        return tuple(sorted((*found, *self._locked_joints())))

    def _jumps(self, passed: tuple[Crossing, ...]) -> dict[str, Lapse]:
        """Where velocities jump at singular positions."""
        found = jumps(self.v, self.t, passed) if passed else []
        if not found:
            return {}
        size = max(size for _, size in found)
        detail = (
            f"by up to {size:.3g} m/s or rad/s in a step; the run may have left its branch: take a smaller dt, or "
            "stepper='dop853', method='redmax', or rk4 with stabilise='project'"
        )
        return {"velocities jump at a singular position": Lapse(found[0][0], found[-1][0], len(found), detail)}

    def _locked_joints(self) -> list[Crossing]:
        """Where subspaces of joints lose rank."""
        if not may_lock(self.model):
            return []
        passed = [(int(k), name) for name, s in locking(self.model, self.q) for k in zeros_passed(s / s.max())]
        return [(float(self.t[k]), (f"joint {name!r}",)) for k, name in dict.fromkeys(passed)]

    @cached_property
    def account(self) -> Account:
        """Where the energy went: what came in, what went out, what is unexplained."""
        damps = self.stepper in ALL_STEPPERS and ALL_STEPPERS[self.stepper].implicit
        seen = self.every if self.steps is None else 1
        return account_of(self.model, self._tally, self.energy, self.poses, self.t, self.stepper, damps, seen)

    @cached_property
    @lost_runs()
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

    @cached_property
    def contacts(self) -> RunContacts:
        """What touches at every record: `contacts[k]` is a tuple of `ContactRecord` (bodies, shapes, point, normal, force, slip),
        of a batch `ContactArrays`; `contacts.arrays()` has those of all records. See `linkwork.contacts`.

        >>> [c.bodies for c in run.contacts[-1]]
        []
        """
        return RunContacts(self, lambda: self._records.twists.reshape(*self._lead, self.model.nb, 6))

    def reactions(self, name: str | RowLaw, axes: str = "world") -> np.ndarray:
        """The wrench (..., T, 6), moment then force, that a joint or constraint exerts on its body at every record.

        name   of a joint or body: the wrench on the joint's own body, about that body's origin;
               or a constraint, its name, or what it prints as: the wrench on its first body, about the point where it acts
        axes   "world", or "body": those of that body
        Forces of equality constraints are those at the record; of contacts, limits and friction the mean over the step before.
        What a control asks for at the last record is not known: there the joint forces of the record before it are taken.
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

    @staticmethod
    @explained
    def load(path: str | Path, model: Any = None) -> Trajectory:
        """The trajectory in a stream that `simulate(out=...)` wrote, as far as that is whole; records are read when asked for.

        model   where the stream does not hold its own: the same again
        """
        from .streams import load

        return load(path, model)

    def plot(self, *what: str, joints: Sequence[str] = (), path: str | Path | None = None) -> Any:
        """A matplotlib figure of the run, written to a file if a path is given; of a batch, of the first run.

        what     panels: "coordinates", "velocities", "energy", "forces" (of constraints; these four by default), "residuals",
                 "reactions" (what joints carry), "phase" (velocities over coordinates)
        joints   names of those to show; all by default
        """
        from .view.plots import plot, write_figure

        figure = plot(self, *what, joints=joints)
        if path is not None:
            write_figure(figure, Path(path))
        return figure

    def __repr__(self) -> str:
        lead = self._lead[:-1]
        many = f"{lead[0]} runs, " if lead else ""
        span = f"{self.t[0]:g} to {self.t[-1]:g} s" if len(self) else "empty"
        return f"Trajectory({many}{span}, {len(self)} records, {self.kind} coordinates, {self.model!r})"

    def __str__(self) -> str:
        return "\n".join([repr(self), *(f"  {line}" for line in self.health.words())])

    @explained
    def save(self, path: str | Path, **options: Any) -> Path:
        """Write the run: `.npz` (numbers), `.csv` (a table), `.html` (an animation to open in a browser), `.glb` (glTF, for other
        programs), `.mp4` or `.gif` (films), `.strobe.png` (a picture of several moments), `.png`, `.svg` or `.pdf` (plots).

        options   of the kind of file: look=lw.view.Look(...) of a page
        """
        from .view import writer_of

        path = given_path("save: path", path)
        writer = writer_of(path)
        known = inspect.signature(writer).parameters
        for name in options:
            if name not in known:
                raise InputError(f"cannot save {path.suffix} with {name}=...; it has no such option")
        writer(self, path, **options)
        return path

    def _repr_html_(self) -> str:
        """The animation, in a notebook."""
        from .view.html import framed, page

        return framed(page(self))
