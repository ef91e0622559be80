"""Runs of a stepper with fixed steps: many steps in one call into compiled code, or one call a step where Python is asked."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from math import inf
from time import perf_counter
from typing import Any

import numpy as np

from ..elements.collection import collection
from ..errors import InputError
from ..kernel.workers import thread_count
from ..maximal.convert import to_reduced
from ..model import MaximalState, Model, State
from ..model.parting import LOST_CONTACT, lost_contact, may_part
from ..model.state import is_finite
from ..spatial.gate import given_reals
from ..spatial.scalar import read_only
from .departures import Domains, has_domains, parting, suspects
from .efforts import Efforts
from .inputs import Inputs
from .logbook import Chunks, Logbook
from .progress import listener
from .recording import Place, Recording
from .row_forces import RowForces, reported_impulses
from .stability import remedy
from .stepper import Program, Solution
from .stepping import Stepping, are_finite, owner_of

Control = Callable[[float, State | MaximalState], Any]
Parts = dict[str, np.ndarray]
Times = Callable[[float, int, int], np.ndarray]  # of records: (start, number of the first, how many follow)
FORMS = 8  # sizes of batches, and kinds of joint forces, whose calls are kept ready


@dataclass(eq=False)
class Asked:
    """Where a run is in which Python is asked, and what it was told.

    made     steps since the last record
    t        the start of the last step
    lost     whether the motion was not finite after it
    inputs   of forces from the start of every record
    """

    made: int
    t: float = 0.0
    lost: bool = False
    inputs: list[np.ndarray] = field(default_factory=list)


class FixedRun:
    """One simulation: arrays of all records, filled by a compiled program.

    begin      where it begins
    end        where it ended, once it ran
    asked      where Python is asked: joint forces (records, batch, nv) and inputs (records, inputs) from the start of each record
    reported   what the program said besides its states at every record that is kept
    deadline   when to end, if it is not done by then (`perf_counter`)
    is_part    of a longer run
    noted      told what Python said of every step, joint forces in bytes and inputs of forces; None: nobody is
    """

    begin: Place
    end: Place
    asked: tuple[np.ndarray, np.ndarray] = (np.zeros((0, 1, 1)), np.zeros((0, 0)))
    reported: Parts
    is_part: bool = False
    noted: Callable[[bytes, np.ndarray | None], None] | None = None
    deadline: float = inf
    _first = 0  # the number of its first record
    _t: np.ndarray | None = None
    _lost: tuple[float, str] | None = None

    def __init__(
        self,
        model: Model,
        state: State | MaximalState,
        program: Program,
        dt: float,
        records: int,
        every: int,
        efforts: Efforts,
        times: Times,
    ) -> None:
        self.model, self.program, self.kind, self.dt, self.every = model, program, type(state), dt, every
        self.start, self.records, self.efforts, self._times = state, records, efforts, times
        self.tau: np.ndarray | None = None
        self.external: np.ndarray | None = None
        self.driven: Inputs | None = None
        self.threads: int | None = 1
        self.implicit = False  # whether its stepper takes stiff forces implicitly; decides what an error advises
        whole: Parts = {"q": state.q, "v": state.v} if isinstance(state, State) else state_parts(state)
        self.shapes = {name: a.shape for name, a in whole.items()}
        self.batched = len(self.shapes["q" if "q" in whole else "q_fit"]) > 1
        self.batch = len(next(iter(whole.values()))) if self.batched else 1
        self.tails = {name: shape[1:] for name, shape in self.shapes.items()} if self.batched else self.shapes
        self.parts = {name: np.ascontiguousarray(a.reshape(self.batch, -1)) for name, a in whole.items()}
        kept = program.entered(model, self.parts, state.t)
        self.begin = Place(0, 0, program.resumed(kept, state.memory, dt))

    def solve(self, control: Control | None) -> Solution:
        """Run all steps in the fastest way that the model and the control allow."""
        steady = not self.asks(control) and not collection(self.model).told_count
        return self.compiled(self.program) if steady else self.controlled(self.program, control)

    def asks(self, control: Control | None) -> bool:
        """Whether somebody is asked for joint forces or inputs of forces during the run."""
        return control is not None or (self.driven is not None and not self.driven.steady)

    @property
    def t(self) -> np.ndarray:
        """The times of all records, made once."""
        if self._t is None:
            self._t = self._times(self.start.t, self._first, self.records)
        return self._t

    def part(self, begin: Place, records: int, seconds: float) -> FixedRun:
        """So many more records of this run from a place on, or as many as are made in a time."""
        other = copy.copy(self)
        other._t = None
        other._first, other.records = begin.record, min(records, self.records - begin.record)
        other.begin, other.deadline, other.is_part = begin, perf_counter() + seconds, True
        return other

    def in_steps(self, times: Times) -> FixedRun:
        """This run with a record of every step, at these times; what is clipped there is not counted again."""
        other = copy.copy(self)
        other.records, other.every, other.noted, other.efforts = self.records * self.every, 1, None, Efforts(self.model)
        other._t, other._times = None, times
        return other

    @property
    def record_bytes(self) -> int:
        """The room that a record takes."""
        sizes = sum(self.begin.kept[name].shape[1] for name in self.program.recorded)
        return 8 * self.batch * (sizes + sum(self.program.report_sizes(self.model).values()) + self.model.nv + 1)

    def compiled(self, program: Program) -> Solution:
        """All steps in compiled code."""
        inputs = None if self.driven is None else self.driven.asked(self.start)
        kept, form = self.begin.kept, (None, None, None, self.batch)
        if self.tau is not None or self.external is not None or inputs is not None:
            given = {"tau": self.tau, "external": self.external, "u": inputs}
            kept = kept | {name: flat(x, self.batch, self.batched) for name, x in given.items() if x is not None}
            form = (*(None if x is None else kept[name].ndim for name, x in given.items()), self.batch)
        known = self.model.keep_as((Recording, id(program)), dict)
        if len(known) > FORMS:
            known.clear()
        idle = known.setdefault(form, [])
        try:
            run = idle.pop()  # other threads take others
        except IndexError:
            run = Recording(self.model, program, kept)
        threads, begin = thread_count(self.threads), self.begin
        arrays, reports = run(kept, self.dt, self.records, self.every, threads, begin.steps, self.deadline)
        self.end = run.end(program.states if self.is_part else program.memory)
        if run.done < self.records:
            arrays, reports = ({name: a[:, : run.done + 1] for name, a in x.items()} for x in (arrays, reports))
            self.records = run.done
        tau = None if self.tau is None else self._constant_tau()
        told = np.zeros(0) if inputs is None else read_only(inputs[None].repeat(self.records + 1, axis=0))
        stopped = run.stopped
        if self.every > 1 and not self.batched:
            self._lost = self._step_lost(run, arrays)
        idle.append(run)
        return self._solution(arrays, tau, reports, self.tau, told, stopped)

    def _step_lost(self, run: Recording, arrays: Parts) -> tuple[float, str] | None:
        """The end of the first step after which the motion is not finite, which may lie between two records, and whose it is
        first; None if it stays finite."""
        moving, places = (arrays[name][0] for name in motion_in(arrays))
        finite = are_finite(moving, places)
        if finite[-1]:
            return None
        before, last = run.before, int(np.argmin(finite))
        given = {name: run.given(name) for name in ("tau", "external", "u")}
        kept = before.kept | {name: a for name, a in given.items() if a is not None}
        found, _ = run(kept, self.dt, (last - before.record) * self.every - before.steps, 1, 1)
        moving, places = (found[name][0, : run.done + 1] for name in motion_in(found))
        step = int(np.argmin(are_finite(moving, places)))
        return float(self.t[before.record]) + self.dt * (before.steps + step), owner_of(self.model, moving[step], places[step])

    def controlled(self, program: Program, control: Control | None) -> Solution:
        """Python is entered at every step, to ask for the joint forces and the inputs of forces."""
        idle = self.model.keep_as((Stepping, id(program), self.batch, self.threads), list)
        run = self._stepping(program, idle)
        run.push(self.external)
        asked, stopped = Asked(self.begin.steps), False
        if control is not None and run.notes_itself and self._asks_alone:
            log = Logbook(run, self.records)
            go = partial(self._plain_steps, run, control, log, asked)
        else:
            log = Chunks(run)
            go = partial(self._steps, run, control, log, asked)
        try:
            go()
        except KeyboardInterrupt:
            stopped = True
        arrays, reports, tau = log.close()
        count, told = arrays[program.recorded[0]].shape[1], asked.inputs
        if asked.lost:
            self._lost = (asked.t + self.dt, owner_of(self.model, *(run.now[name][0] for name in motion_in(run.now))))
        self.asked, applied = (tau[:-1], np.array(told)), tau[:count].swapaxes(0, 1)
        held = None if self.is_part or (control is None and self.tau is None) else applied
        told = [] if self.is_part else told
        names = program.states if self.is_part else program.memory
        kept = self.begin.kept if stopped else {name: run.now[name].copy() for name in names}
        self.end = Place(0, self.begin.steps, kept) if stopped else Place(count - 1, asked.made, kept)
        idle.append(run)
        return self._solution(arrays, held, reports, applied[:, 0], told, stopped)

    @property
    def _asks_alone(self) -> bool:
        """Whether a control is all that Python is needed for, once for every record."""
        told = self.driven is not None or collection(self.model).told_count
        return self.every == 1 and not told and not self.batched and self.deadline == inf and listener() is None

    def _plain_steps(self, run: Stepping, control: Control, log: Logbook, asked: Asked) -> None:
        """The loop of `_steps` where the control alone is asked: what else may be is not looked for in every step."""
        step = run.step
        for t, state in log.states(self.kind, self.shapes, self.t[:-1].tolist()):
            tau = control(t, state)
            done = step(tau)
            if done is None:
                done = step(self._fitting(tau, t))
            if not done:
                asked.t, asked.lost = t, True
                return

    def _steps(self, run: Stepping, control: Control | None, log: Chunks, asked: Asked) -> None:
        """All steps, or as many as are made before the deadline."""
        seen, step, driven, told_rows = run.seen(self.kind, self.shapes), run.step, self.driven, self._told_rows(run)
        told_steps = listener()
        dt, steps, lone, tau = self.dt, range(self.every), not self.batched, run.nothing if self.tau is None else self.tau
        made, late, noted = asked.made, self.deadline < inf, self.noted
        for start in self.t[:-1].tolist():
            for k in range(made, self.every) if made else steps:
                asked.t = t = start + k * dt
                if control is not None:
                    state = seen(t)
                    tau = control(t, state)
                if driven:
                    run.tell(driven.asked(seen(t) if control is None else state))
                    step = run.step
                if told_rows:
                    told_rows(t)
                    step = run.step
                done = step(tau)
                if done is None:
                    tau = self._fitting(tau, t)
                    done = step(tau)
                if noted:
                    noted((tau if lone else run.applied).tobytes(), driven.last if driven else None)
                if not k:
                    log.tau.append((tau if lone else run.applied).tobytes())
                    if driven:
                        asked.inputs.append(driven.last)
                if late or not done:
                    asked.lost = not done and lone  # of a batch the others go on
                    made = 0 if asked.lost else (k + 1) % self.every
                    if asked.lost or (made and perf_counter() > self.deadline):
                        break
            else:
                made = 0
            asked.made = made
            if made:
                return
            log.note()
            if told_steps:
                told_steps(self.every)
            if asked.lost or (late and perf_counter() > self.deadline):
                return

    def _stepping(self, program: Program, idle: list[Stepping]) -> Stepping:
        """Memory of a run that has ended, or fresh memory, where this run starts."""
        kept = self.begin.kept
        try:
            run = idle.pop()  # other threads take others
        except IndexError:
            return Stepping(self.model, program, kept, self.dt, self.threads, self.efforts.most)
        run.restart(kept, self.dt)
        return run

    def _told_rows(self, run: Stepping) -> Callable[[float], None] | None:
        """Tells constraints what Python alone can compute of a time."""
        return run.tell_rows if collection(self.model).told_count else None

    def _fitting(self, tau: Any, t: float) -> np.ndarray:
        """What a control returned, as an array within the efforts of the joints."""
        nv = self.model.nv
        return self.efforts.held(finite_force(tau, t, (self.batch, nv) if self.batched else (nv,), (nv,)))

    def _constant_tau(self) -> np.ndarray:
        assert self.tau is not None
        tau = np.broadcast_to(self.tau.reshape(-1, self.model.nv), (self.batch, self.model.nv))
        return np.repeat(tau[:, None], self.records + 1, axis=1)

    def _solution(
        self,
        arrays: Parts,
        tau: np.ndarray | None,
        reports: Parts,
        first_tau: np.ndarray | None,
        told: np.ndarray | Sequence[Any],
        stopped: bool,
    ) -> Solution:
        """What was found, as far as it is finite; a batch as a whole.

        told        inputs of forces at every record, or at every one but the last

        first_tau   joint forces at the start
        stopped     whether somebody pressed Ctrl-C
        """
        parts = self.program.left(self.model, arrays)
        count, failure = self._good_records(parts)
        if count < self.records + 1:
            parts, reports = ({name: a[:, :count] for name, a in x.items()} for x in (parts, reports))
            tau, told = None if tau is None else tau[:, :count], told[:count]
        self.reported = reports
        memory = self.program.remembered(self.end.kept, self.dt)
        inputs = None
        if len(told):
            inputs = told[:count] if isinstance(told, np.ndarray) else np.array([*told, told[-1]])[:count]
        return self.solution(self.t[:count], parts, reports, tau, inputs, first_tau, memory, failure, stopped)

    def solution(
        self,
        t: np.ndarray,
        parts: Parts,
        reports: Parts,
        tau: np.ndarray | None,
        inputs: np.ndarray | None,
        first_tau: np.ndarray | None,
        memory: Parts,
        failure: str | None = None,
        stopped: bool = False,
    ) -> Solution:
        """The records (batch, records, size) of states, reports and joint forces, and inputs (records, inputs), as a solution."""
        count = len(t)
        shape = (self.batch, count) if self.batched else (count,)
        found = {name: parts[name].reshape(shape + tail) for name, tail in self.tails.items()}
        held = None if tau is None else tau.reshape(*shape, self.model.nv)
        forces = left = None
        impulses = reported_impulses(reports, collection(self.model).row_count) if reports else None
        if impulses is not None:
            forces = RowForces(self.model, impulses, shape, self.dt, found, self.start.t, first_tau, self.external, inputs)
        if "left" in reports:
            reports["left"][:, 0] = 0.0  # nothing is solved before the start
            left = reports["left"].reshape(shape)
        return Solution(t, found, held, forces, (), inputs, memory, left, failure, stopped)

    def _good_records(self, parts: Parts) -> tuple[int, str | None]:
        """How many records are finite and within the domains of joints, of a batch all, and what is not."""
        count, failure = self._finite_records(parts)
        name = "q" if "q" in parts else "q_fit"
        departure = Domains(self.model).first_departure(parts[name], self.t) if has_domains(self.model) else None
        if departure is None or departure[0] >= count:
            return count, failure
        return (count if self.batched else departure[0]), departure[1]

    def _finite_records(self, parts: Parts) -> tuple[int, str | None]:
        """How many records are finite, of a batch all, and what is not; what is not finite once stays so."""
        moving, places = (parts[name] for name in motion_in(parts))
        count = moving.shape[1]
        last = [x[:, -1] if self.batched else x[0, -1] for x in (moving, places)]
        if is_finite(last[0]) and is_finite(last[1]):
            return count, None
        lost = ~are_finite(moving, places)
        first = int(np.argmax(lost.any(axis=0)))
        run = int(np.argmax(lost[:, first]))
        t, owner = self._lost or (float(self.t[first]), owner_of(self.model, moving[run, first], places[run, first]))
        who = f" of {int(lost.any(axis=1).sum())} of the {self.batch} runs, first of run {run}," if self.batched else ""
        message = f"the motion{who} is not finite at t = {t:.9g}: {owner}; {self._remedy(parts, run)}"
        if self.program.failure:
            message = self.program.failure.format(t=t) + who.rstrip(",")
        if first:
            before, span = first - 1, float(self.t[first] - self.t[first - 1])
            message += suspects(self.model, *self._joints(parts, run, before), float(self.t[before]), span)
            if may_part(self.model) and LOST_CONTACT not in message:  # the last finite record may be behind it
                earlier = [parting(self.model, *self._joints(parts, run, k), span) for k in range(max(0, before - 2), before)]
                message += "".join(f"; {lost_contact(self.model.bodies[i])}" for i in sorted(set().union(*earlier)))
        return count if self.batched else first, message

    def _remedy(self, parts: Parts, run: int) -> str:
        q, v = self._joints(parts, run, 0)
        return remedy(self.model, q, v, self.dt, self.implicit, "v" not in parts)

    def _joints(self, parts: Parts, run: int, record: int) -> tuple[np.ndarray, np.ndarray]:
        """Joint coordinates and velocities of a record."""
        if "v" in parts:
            return parts["q"][run, record], parts["v"][run, record]
        poses, twists, q_fit = (parts[name][run, record] for name in ("poses", "twists", "q_fit"))
        found = to_reduced(self.model, MaximalState(poses.reshape(-1, 4, 4), twists.reshape(-1, 6), q_fit))
        return found.q, found.v


def motion_in(parts: Parts) -> tuple[str, str]:
    """The names of what moves and of where it is, in joints or of bodies."""
    return ("v", "q") if "v" in parts else ("twists", "poses")


def state_parts(state: MaximalState) -> Parts:
    """The arrays of a state by name."""
    return {"poses": state.poses, "twists": state.twists, "q_fit": state.q_fit}


def flat(x: np.ndarray, batch: int, batched: bool) -> np.ndarray:
    """One value for all states (size,), or one for each (batch, size)."""
    return x.reshape(batch, -1) if batched and x.ndim > 1 and len(x) == batch and x.size % batch == 0 else x.reshape(-1)


def finite_force(tau: Any, t: float, *shapes: tuple[int, ...]) -> np.ndarray:
    """The same, of finite numbers."""
    tau = shaped_force(tau, t, *shapes)
    if not np.isfinite(tau).all():
        raise InputError(refusal(t, tau))
    return tau


def refusal(t: float, tau: np.ndarray) -> str:
    """What is said of joint forces that are not finite and were returned by a control."""
    where = tuple(np.argwhere(~np.isfinite(tau))[0].tolist())
    return f"control returned a value that is not finite at t = {t:.9g}: {tau[where]:g} in entry {', '.join(map(str, where))}"


def shaped_force(tau: Any, t: float, *shapes: tuple[int, ...]) -> np.ndarray:
    """What a control returned, as an array of one of the shapes."""
    if type(tau) is not np.ndarray or tau.dtype != np.float64:
        if tau is None:
            raise InputError(f"control returned None at t = {t:g}; it must return joint forces {shapes[0]}")
        tau = given_reals(f"what control returned at t = {t:g}", tau)
    if tau.shape not in shapes:
        raise InputError(f"control returned shape {tau.shape} at t = {t:g}; expected {shapes[0]}")
    return tau
