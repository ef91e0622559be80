"""A model that is stepped from Python, one step at a time: for loops of one's own, handles that follow a hand, games."""

from __future__ import annotations

import weakref
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from .contact.compliant import Compliance
from .contact.formulations import touching
from .contacts import ContactArrays, ContactRecord, contacts_after_step
from .declared import declared
from .elements.collection import collection
from .errors import InputError, SolverError, StartWarning, warn
from .forces.set import force_set
from .model import MaximalState, Model, State
from .model.accepts import check_model
from .simulate import MOST_STEPS, admitted, check_method, checked_force, checked_start, chosen_stepper, takes_stiffness
from .spatial.gate import given_count, given_path, given_positive
from .spatial.kinds import explained
from .starts import check_clock, deep_starts
from .steppers import AdaptiveStepper
from .steppers.admissible import admissible
from .steppers.departures import Domains, has_domains
from .steppers.efforts import Efforts
from .steppers.row_forces import reported_impulses
from .steppers.stability import remedy
from .steppers.stepper import program_of
from .steppers.stepping import Stepping, are_finite, owner_of
from .streams import StepStream, taken_up
from .streams.checks import check_like
from .streams.head import read_from

TOLD = "told inputs"  # among what is kept: the inputs of forces


class Simulator:
    """Where a model is, and how it goes on; what a stepper hands from step to step is kept.

    >>> sim = lw.Simulator(model, dt=1e-3, method="maximal-implicit")
    >>> after = sim.step(tau=[1.0, 0.0])

    model, dt, method, stepper, open_loops, limit_model, contact with its numbers, options   as in `simulate`;
            no stepper that chooses its steps
    state   to begin with, and to return to; the neutral position at rest by default
    out     a file, `.lwk`, that every call of `step` leaves a record in (docs/reliability/streams.md): `close()` ends it, and
            `Simulator.resume` goes on where a process was killed. Copies and what is unpickled write nothing
    given   the model as it was given; `model` has the laws of contacts and of what joints declare besides
    stepper the time discretisation
    notes   a line for everything that joints declare and this stepper does not enforce, and for `flaws`
    flaws   a line for everything that makes results doubtful before the first step: shapes that start inside each other
    """

    @explained
    def __init__(
        self,
        model: Model,
        state: State | MaximalState | None = None,
        dt: float = 1e-3,
        method: str = "reduced",
        *,
        stepper: str | None = None,
        open_loops: str = "refuse",
        limit_model: str = "hard",
        contact: str = "exact",
        contact_stiffness: float | None = None,
        contact_damping: float | None = None,
        contact_slip_speed: float | None = None,
        out: str | Path | None = None,
        **options: Any,
    ) -> None:
        self._made_with = {
            "model": model,
            "state": state,
            "dt": dt,
            "method": method,
            "stepper": stepper,
            "open_loops": open_loops,
            "limit_model": limit_model,
            "contact": contact,
            "contact_stiffness": contact_stiffness,
            "contact_damping": contact_damping,
            "contact_slip_speed": contact_slip_speed,
            **options,
        }
        check_model(model)
        self.given = model
        check_method(method, stepper)
        self.dt, self.method = dt, method = given_positive("dt", dt), method
        soft = Compliance(contact_stiffness, contact_damping, contact_slip_speed, takes_stiffness(method, stepper))
        model = touching(model, contact, soft, dt)
        start = State(model.neutral(), np.zeros(model.nv)) if state is None else state
        first = checked_start(model, start, method)
        self.stepper = chosen_stepper(model, method, stepper, options)
        self._first, broke = admitted(model, self.stepper, first, open_loops)
        if isinstance(self.stepper, AdaptiveStepper):
            raise InputError(
                f"the stepper {self.stepper.name!r} chooses its own steps; use simulate, or a stepper with fixed steps"
            )
        acting = declared(model, limit_model, self.stepper)
        self.model = model = acting.model
        self._efforts, self.flaws = Efforts(model), deep_starts(model, self._first)
        self.notes = (*acting.notes, *broke, *self.flaws)
        warn(self.flaws, StartWarning)
        self._stepping: Stepping | None = None
        self._quick: Any = None
        self._lost_by: str | None = None
        self._busy = False  # a step is being made
        self._program = program_of(self.stepper, model, method)
        self._names = ("q", "v") if isinstance(self._first, State) else ("poses", "twists", "q_fit")
        self._shapes = {name: getattr(self._first, name).shape for name in self._names}
        self._stream: StepStream | None = None
        self.reset()
        if out is not None:
            self._write_to(StepStream.begun(given_path("out", out), self._call(options), self._batched))
            self._note(None)

    def _write_to(self, stream: StepStream) -> None:
        self._stream, self._quick = stream, None
        weakref.finalize(self, stream.let_go)

    @property
    def _lead(self) -> tuple[int, ...]:
        """(batch,), or nothing."""
        return self._shapes["v"][:-1] if "v" in self._shapes else self._shapes["twists"][:-2]

    @property
    def _batched(self) -> bool:
        return len(self._shapes[self._names[-1]]) > 1

    def _call(self, options: dict[str, Any]) -> dict[str, Any]:
        """The arguments of `simulate` for a step of this."""
        given = {name: x for name, x in self._made_with.items() if name not in options}
        call = dict.fromkeys(("control", "tau", "external", "inputs")) | {"duration": self.dt, "every": 1, "threads": 1}
        return {**given, **call, "state": self._first, "options": options}

    @classmethod
    def resume(cls, path: str | Path, *, model: Model | None = None, elsewhere: str = "refuse") -> Simulator:
        """The Simulator whose steps a file holds, at the last record that is whole; it goes on to write there.

        model, elsewhere   as of `lw.resume`

        >>> sim = lw.Simulator.resume("steps.lwk")  # doctest: +SKIP
        """
        call, place, clipped, writer, records = taken_up(given_path("Simulator.resume: path", path), model, elsewhere)
        names = ("duration", "every", "threads", "control", "tau", "external", "inputs", "options")
        try:
            with read_from(Path(path)):
                sim = cls(**{name: x for name, x in call.items() if name not in names}, **call["options"])
                kept = {name: a for name, a in place.kept.items() if name != TOLD}
                assert sim._stepping is not None
                check_like(kept, sim._stepping.now)
                sim._go_on_from(kept, place.kept.get(TOLD), place.steps, clipped)
        except BaseException:
            writer.close()
            raise
        sim._write_to(StepStream(writer, call["model"], sim._batched, records))
        return sim

    def __getstate__(self) -> dict[str, Any]:
        """What it was made with, and where it is."""
        run = self._stepping
        assert run is not None
        now = {"first_t": self._first_t, "steps": self._steps, "lost_by": self._lost_by, "clipped": self._efforts.clipped}
        return {"made_with": self._made_with, "kept": {name: a.copy() for name, a in run.now.items()}, "u": run.told, **now}

    def __setstate__(self, given: dict[str, Any]) -> None:
        self.__init__(**given["made_with"])
        self._first_t, self._lost_by = given["first_t"], given["lost_by"]
        self._go_on_from(given["kept"], given["u"], given["steps"], given["clipped"])

    def _go_on_from(self, kept: dict[str, np.ndarray], u: np.ndarray | None, steps: int, clipped: np.ndarray | None) -> None:
        """Be where another one was after so many steps."""
        run = self._stepping
        assert run is not None
        run.restart(kept, self.dt)
        if u is not None:
            run.tell(u)
        self._steps, self._efforts.clipped, self._state = steps, clipped, None
        self._quick = None if self._lost_by is not None else self._quick_step(run)

    def __enter__(self) -> Simulator:
        return self

    def __exit__(self, kind: Any, *_: Any) -> None:
        """Ends the file of steps, or leaves it to `Simulator.resume` where something was raised."""
        if kind is None:
            self.close()
        else:
            self.flush()

    def flush(self) -> None:
        """Write the steps that are not in the file yet: those of the last quarter of a second."""
        if self._stream is not None:
            self._stream.flush()

    def close(self) -> None:
        """End the file of steps; the Simulator goes on without."""
        if self._stream is not None:
            stream, self._stream = self._stream, None
            stream.end(None)
            self._quick = None if self._stepping is None or self._lost_by else self._quick_step(self._stepping)

    def _note(self, tau: np.ndarray | None) -> None:
        """Write where the model is, and the joint forces (nv,) or (batch, nv) that led there; None at the start."""
        run, stream, state = self._stepping, self._stream, self._present()
        if stream is None or run is None:
            return
        now: dict[str, Any] = {"t": state.t} | {name: getattr(state, name) for name in self._names}
        now |= {f"report.{name}": a for name, a in run.reports.items()}
        told = run.told
        kept = run.now | ({} if told is None else {TOLD: told})
        forces = None if tau is None else np.broadcast_to(tau, (run.batch, self.model.nv))
        inputs = told if tau is not None and told is not None and told.ndim == 1 and told.size else None
        stream.note(now, forces, inputs, self._steps, kept, self._efforts.clipped)

    @explained
    def reset(self, state: State | MaximalState | None = None) -> None:
        """Back to the start, or to another state of as many; nothing is remembered."""
        if self._busy:
            self._refuse()
        if self._stream is not None:
            raise InputError(f"{self._stream.path} holds one run; close() this Simulator first, or make another")
        try:
            self._busy = True
            self._start(self._first if state is None else self._other(state))
        finally:
            self._busy = False

    def _other(self, state: State | MaximalState) -> State | MaximalState:
        """Another state to begin with; its constraints may be as open as steps leave them."""
        first = checked_start(self.model, state, self.method)
        return admissible(self.model, first)[0] if self.stepper.on_accelerations else first

    def _start(self, first: State | MaximalState) -> None:
        check_clock(first.t, self.dt)
        shapes = {name: getattr(first, name).shape for name in self._names}
        if shapes != self._shapes:
            raise InputError(f"this Simulator has states of shape {self._shapes}, not {shapes}")
        self._state: State | MaximalState | None = first
        self._lost_by = None
        self._domains: Domains | None = None
        self._first_t, self._steps = first.t, 0
        batch = int(np.prod(shapes["q"][:-1])) if "q" in shapes else int(np.prod(shapes["twists"][:-2]))
        parts = {name: np.array(getattr(first, name), order="C").reshape(batch, -1) for name in self._names}
        kept = self._program.entered(self.model, parts, first.t)
        if self._stepping is None:
            self._stepping = Stepping(self.model, self._program, kept, self.dt, most=self._efforts.most)
            self._seen, self._none = self._stepping.seen(type(first), shapes), self._stepping.nothing
        else:
            self._stepping.restart(kept, self.dt)
            self._stepping.push(None)
        self._quick = self._quick_step(self._stepping)

    def _quick_step(self, run: Stepping) -> Any:
        """A step that nobody needs to look at; None where rows are told, joints may leave their domains, or steps are written."""
        looked_at = collection(self.model).told_count or has_domains(self.model) or self._stream is not None
        return None if looked_at else run.step

    @property
    def clipped(self) -> dict[str, int]:
        """How many steps asked a joint for more force than its effort, by its name, since the Simulator was made."""
        return self._efforts.by_joint

    @property
    def forces(self) -> np.ndarray | None:
        """Force of every constraint row (..., rows), averaged over the last step, as `Trajectory.forces`; None without
        constraints, zeros before the first step."""
        if self._busy:
            self._refuse()
        assert self._stepping is not None
        reports = {name: a[:, None] for name, a in self._stepping.reports.items()}
        impulses = reported_impulses(reports, collection(self.model).row_count)
        if impulses is None:
            return None
        return (impulses.of(slice(None))[:, 0] / self.dt).reshape(*self._lead, -1) * (self._steps > 0)

    @property
    def contacts(self) -> tuple[ContactRecord, ...] | ContactArrays:
        """What pushed in the last step: a `ContactRecord` for every point that touched, of a batch `ContactArrays`; nothing
        before the first step. Points and normals are those at the start of the step (see `linkwork.contacts`).

        >>> for c in sim.contacts:  # doctest: +SKIP
        ...     print(c.bodies, c.shapes, c.point, c.force)
        """
        forces = self.forces
        told = None if self._stepping is None else self._stepping.told_rows
        return contacts_after_step(self.model, self.state, forces, self.dt if self._steps else 0.0, told)

    def remade(self, model: Model, state: State | MaximalState | None = None, **changes: Any) -> Simulator:
        """A Simulator with the options of this one, but for some changes, for another model, such as one with other numbers.

        state   to begin with; where this one is by default
        """
        return Simulator(**{**self._made_with, "model": model, "state": self.state if state is None else state, **changes})

    @property
    def state(self) -> State | MaximalState:
        """Where the model is."""
        if self._state is None and self._busy:
            self._refuse()
        return self._present()

    def _present(self) -> State | MaximalState:
        """Where the model is, of whole steps."""
        found = self._state
        if found is None:
            found = self._state = self._seen(self.t)
        return found

    @property
    def t(self) -> float:
        """The time."""
        return self._first_t + self._steps * self.dt

    def step(self, steps: int = 1, tau: Any = None, external: Any = None, inputs: Any = None) -> State | MaximalState:
        """The state after some steps under constant joint forces (nv,), wrenches (bodies, 6) and inputs of forces.

        inputs   in the order of `lw.force_set(model)`; once given they stay
        A motion that is not finite any more, or has left the domain of a joint, does not go on: every further step raises, until
        `reset`. Ctrl-C leaves the model after a whole number of steps, from which it can go on.
        """
        quick = self._quick
        if self._busy:
            self._refuse()
        try:
            self._busy = True
            if quick is not None and type(steps) is int and steps == 1 and external is None and inputs is None:
                done = quick(self._none if tau is None else tau)
                if done is not None:
                    self._steps = k = self._steps + 1
                    self._state = state = self._seen(self._first_t + k * self.dt)
                    return state if done else self._lost()
            return self._step(steps, tau, external, inputs)
        finally:
            self._busy = False

    def _refuse(self) -> NoReturn:
        """A step is being made: by the code that a signal handler has interrupted, or in another thread."""
        raise InputError("this Simulator is in the midst of a step; signal handlers and other threads need one of their own")

    @explained
    def _step(self, steps: int, tau: Any, external: Any, inputs: Any) -> State | MaximalState:
        """The same where something must be looked at."""
        if self._lost_by is not None:
            raise SolverError(f"this Simulator cannot go on: {self._lost_by}")
        if given_count("steps", steps, 0) > MOST_STEPS:
            raise InputError(f"steps must be at most {MOST_STEPS:g}, not {steps}")
        lead = self._lead
        tau = checked_force(tau, "tau", (self.model.nv,), lead)
        external = checked_force(external, "external", (self.model.nb, 6), lead)
        u = checked_force(inputs, "inputs", (len(force_set(self.model).initial_inputs),), lead)
        tau = tau if tau is None else self._efforts.held(tau, steps)
        assert self._stepping is not None
        return self._go(self._stepping, steps, tau, external, u)

    def _go(self, run: Stepping, steps: int, tau: Any, external: Any, u: Any) -> State | MaximalState:
        if u is not None:
            run.tell(u)
        run.push(external)
        tau, self._state = self._none if tau is None else tau, None
        told = collection(self.model).told_count > 0
        for count in [1] * steps if told else [steps]:
            if told:
                run.tell_rows(self.t)
            try:
                done = run.go(count, tau)
            finally:
                self._steps += run.taken
            if not done:
                self._lost()
        run.push(None)
        self._quick = self._quick_step(run)
        self._check_domains()
        if self._stream is not None:
            self._note(tau)
        return self._present()

    def _check_domains(self) -> None:
        """Raise if a joint is outside its domain."""
        if has_domains(self.model):
            self._domains = self._domains or Domains(self.model)
            state = self._present()
            q = state.q if isinstance(state, State) else state.q_fit
            departure = self._domains.first_departure(q.reshape(-1, 1, self.model.nq), np.array([self.t]))
            if departure:
                self._give_up(departure[1])

    def _lost(self) -> NoReturn:
        """The state is not finite."""
        state = self._present()
        parts = (state.v, state.q) if isinstance(state, State) else (state.twists, state.poses)
        moving, places = (x.reshape(*(self._lead or (1,)), -1) for x in parts)
        run = int(np.argmin(are_finite(moving, places)))
        who = f" of state {run}" if self._lead else ""
        place = owner_of(self.model, moving[run], places[run])
        if self._program.failure:
            self._give_up(self._program.failure.format(t=self.t) + who)
        q, v = self.model.neutral(), np.zeros(self.model.nv)
        told = remedy(self.model, q, v, self.dt, self.stepper.implicit, isinstance(state, MaximalState))
        self._give_up(f"the motion{who} is not finite at t = {self.t:.9g}: {place}; reset, and {told}")

    def _give_up(self, reason: str) -> NoReturn:
        """Do not go on from here."""
        self._lost_by, self._quick = reason, None
        stream, self._stream = self._stream, None
        if stream is not None:
            stream.end(reason)
        raise SolverError(reason)
