"""Runs of a stepper with fixed steps: all steps in one call into compiled code, or one call a step where Python is asked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..elements.collection import collection
from ..errors import InputError
from ..kernel.workers import thread_count
from ..model import MaximalState, Model, State
from ..model.state import is_finite
from ..spatial.gate import given_reals
from .departures import bounded_joints, first_departure, suspects
from .efforts import Efforts
from .inputs import Inputs
from .recording import Recording
from .row_forces import RowForces, reported_impulses
from .stepper import Program, Solution, Stepper, program_of
from .stepping import Stepping, owner_of

Control = Callable[[float, State | MaximalState], Any]
Parts = dict[str, np.ndarray]
FORMS = 8  # sizes of batches, and kinds of joint forces, whose calls are kept ready


class FixedRun:
    """One simulation: arrays of all records, filled by a compiled program."""

    def __init__(
        self,
        model: Model,
        state: State | MaximalState,
        stepper: Stepper,
        method: str,
        dt: float,
        steps: int,
        every: int,
        efforts: Efforts,
    ) -> None:
        self.model, self.stepper, self.kind, self.dt, self.every = model, stepper, type(state), dt, every
        self.program = program_of(stepper, model, method)
        self.start, self.records = state, steps // every
        self.t = state.t + dt * every * np.arange(self.records + 1)
        self.tau: np.ndarray | None = None
        self.external: np.ndarray | None = None
        self.driven: Inputs | None = None
        self.threads: int | None = 1
        self.efforts = efforts
        whole: Parts = {"q": state.q, "v": state.v} if isinstance(state, State) else state_parts(state)
        self.shapes = {name: a.shape for name, a in whole.items()}
        self.batched = len(self.shapes["q" if "q" in whole else "q_fit"]) > 1
        self.batch = len(next(iter(whole.values()))) if self.batched else 1
        self.tails = {name: shape[1:] for name, shape in self.shapes.items()} if self.batched else self.shapes
        self.parts = {name: np.ascontiguousarray(a.reshape(self.batch, -1)) for name, a in whole.items()}

    def solve(self, control: Control | None) -> Solution:
        """Run all steps in the fastest way that the model and the control allow."""
        told = self.driven is not None and not self.driven.steady
        steady = control is None and not told and not collection(self.model).told_count
        return self.compiled(self.program) if steady else self.controlled(self.program, control)

    def compiled(self, program: Program) -> Solution:
        """All steps in one call into compiled code."""
        inputs = None if self.driven is None else self.driven.asked(self.start)
        given = {"tau": self.tau, "external": self.external, "u": inputs}
        kept = self._kept(program) | {name: flat(x, self.batch, self.batched) for name, x in given.items() if x is not None}
        form = (*(None if x is None else kept[name].ndim for name, x in given.items()), self.batch)
        known = self.model.keep_as((Recording, id(program)), dict)
        if len(known) > FORMS:
            known.clear()
        idle = known.setdefault(form, [])
        try:
            run = idle.pop()  # other threads take others
        except IndexError:
            run = Recording(self.model, program, kept)
        arrays, reports, memory = run(kept, self.dt, self.records, self.every, thread_count(self.threads))
        idle.append(run)
        tau = None if self.tau is None else self._constant_tau()
        told = [] if inputs is None else [inputs] * (self.records + 1)
        return self._solution(arrays, tau, reports, self.tau, told, memory)

    def _kept(self, program: Program) -> Parts:
        """What the program keeps at the start."""
        kept = program.entered(self.model, self.parts, self.start.t)
        return program.resumed(kept, getattr(self.start, "memory", None))

    def controlled(self, program: Program, control: Control | None) -> Solution:
        """Python is entered at every step, to ask for the joint forces and the inputs of forces."""
        idle = self.model.keep_as((Stepping, id(program), self.batch, self.threads), list)
        run = self._stepping(program, idle)
        run.push(self.external)
        sources = (run.recorded, *run.reports.values())
        records, given, told = [[source.tobytes()] for source in sources], [], []
        notes = [(chunks.append, source.tobytes) for chunks, source in zip(records, sources, strict=True)]
        seen, step, driven, told_rows = run.seen(self.kind, self.shapes), run.step, self.driven, self._told_rows(run)
        dt, steps, lone, tau = self.dt, range(self.every), not self.batched, run.nothing if self.tau is None else self.tau
        for start in self.t[:-1].tolist():
            for k in steps:
                t = start + k * dt
                if control is not None:
                    state = seen(t)
                    tau = control(t, state)
                if driven:
                    run.tell(driven.asked(seen(t) if control is None else state))
                    step = run.step
                if told_rows:
                    told_rows(t)
                done = step(tau)
                if done is None:
                    tau = self._fitting(tau, t)
                    done = step(tau)
                if not k:
                    given.append((tau if lone else run.applied).tobytes())
                    if driven:
                        told.append(driven.last)
                if not done and lone:  # of a batch the others go on
                    break
            else:
                for add, numbers in notes:
                    add(numbers())
                continue
            break
        arrays = self._split(records[0], {name: run.now[name].shape[1] for name in program.recorded})
        pairs = zip(run.reports.items(), records[1:], strict=True)
        reports = {name: self._split(chunks, {name: a.shape[1]})[name] for (name, a), chunks in pairs}
        applied = self._split([*given, given[-1]][: self.records + 1], {"tau": self.model.nv})["tau"]
        held = None if control is None and self.tau is None else applied
        memory = {name: run.now[name].copy() for name in program.memory}
        idle.append(run)
        return self._solution(arrays, held, reports, applied[:, 0], told, memory)

    def _stepping(self, program: Program, idle: list[Stepping]) -> Stepping:
        """Memory of a run that has ended, or fresh memory, where this run starts."""
        kept = self._kept(program)
        try:
            run = idle.pop()  # other threads take others
        except IndexError:
            return Stepping(self.model, program, kept, self.dt, self.threads, self.efforts.most)
        run.restart(kept, self.dt)
        return run

    def _told_rows(self, run: Stepping) -> Callable[[float], None] | None:
        """Tells constraints what Python alone can compute of a time."""
        return run.tell_rows if collection(self.model).told_count else None

    def _split(self, chunks: list[bytes], sizes: dict[str, int]) -> Parts:
        """Records of all parts of all states as arrays (batch, records, size); those that lack are no numbers."""
        rows, parts, first = np.frombuffer(b"".join(chunks)).reshape(len(chunks), -1), {}, 0
        for name, size in sizes.items():
            parts[name] = np.empty((self.batch, self.records + 1, size))
            by_record = parts[name].swapaxes(0, 1)
            by_record[: len(rows)] = rows[:, first : first + self.batch * size].reshape(-1, self.batch, size)
            by_record[len(rows) :] = np.nan
            first += self.batch * size
        return parts

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
        told: Sequence[Any] = (),
        memory: Parts | None = None,
    ) -> Solution:
        """What was found, as far as it is finite; a batch as a whole.

        first_tau   joint forces at the start
        """
        parts = self.program.left(self.model, arrays)
        count, failure = self._good_records(parts)
        t, shape = self.t, (self.batch, count) if self.batched else (count,)
        if count < len(t):
            t, parts, reports = t[:count], *({name: a[:, :count] for name, a in x.items()} for x in (parts, reports))
            tau, told = None if tau is None else tau[:, :count], told[:count]
        found = {name: parts[name].reshape(shape + tail) for name, tail in self.tails.items()}
        inputs = np.array([*told, told[-1]])[:count] if len(told) else None
        held = None if tau is None else tau.reshape(*shape, self.model.nv)
        forces = left = None
        impulses = reported_impulses(reports, collection(self.model).row_count)
        if impulses is not None:
            forces = RowForces(self.model, impulses, shape, self.dt, found, self.start.t, first_tau, self.external, inputs)
        if "left" in reports:
            reports["left"][:, 0] = 0.0  # nothing is solved before the start
            left = reports["left"].reshape(shape)
        return Solution(t, found, held, forces, (), inputs, memory, left, failure)

    def _good_records(self, parts: Parts) -> tuple[int, str | None]:
        """How many records are finite and within the domains of joints, of a batch all, and what is not."""
        count, failure = self._finite_records(parts)
        name = "q" if "q" in parts else "q_fit"
        departure = first_departure(self.model, parts[name], self.t) if bounded_joints(self.model) else None
        if departure is None or departure[0] >= count:
            return count, failure
        return (count if self.batched else departure[0]), departure[1]

    def _finite_records(self, parts: Parts) -> tuple[int, str | None]:
        """How many records are finite, of a batch all, and what is not; what is not finite once stays so."""
        name = "v" if "v" in parts else "twists"
        if is_finite(parts[name][:, -1].reshape(-1)):
            return self.records + 1, None
        bad = ~np.isfinite(parts[name])
        first = int(np.argmax(bad.any(axis=(0, 2))))
        run = int(np.argmax(bad[:, first].any(axis=-1)))
        owner = owner_of(self.model, name == "v", int(np.argmax(bad[run, first])))
        lost = int(bad.any(axis=(1, 2)).sum())
        who = f" of {lost} of the {self.batch} runs, first of run {run}," if self.batched else ""
        message = f"the motion{who} is not finite at t = {self.t[first]:.9g}: {owner}; try a shorter step, or another stepper"
        if self.program.failure:
            message = self.program.failure.format(t=self.t[first]) + who.rstrip(",")
        if first and name == "v":
            span = float(self.t[first] - self.t[first - 1])
            message += suspects(self.model, parts["q"][run, first - 1], parts["v"][run, first - 1], span)
        return self.records + 1 if self.batched else first, message


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
        raise InputError(f"control returned a value that is not finite at t = {t:g}")
    return tau


def shaped_force(tau: Any, t: float, *shapes: tuple[int, ...]) -> np.ndarray:
    """What a control returned, as an array of one of the shapes."""
    if type(tau) is not np.ndarray or tau.dtype != np.float64:
        if tau is None:
            raise InputError(f"control returned None at t = {t:g}; it must return joint forces {shapes[0]}")
        tau = given_reals(f"what control returned at t = {t:g}", tau)
    if tau.shape not in shapes:
        raise InputError(f"control returned shape {tau.shape} at t = {t:g}; expected {shapes[0]}")
    return tau
