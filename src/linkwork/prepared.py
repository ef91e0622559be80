"""A run that was checked and can begin: what it found becomes a trajectory, or an error that has one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from .errors import RunInterrupted, SolverError, StartWarning, warn
from .model import MaximalState, Model, State
from .replay import MotionReplay, StepReplay
from .spatial.frozen import sealed
from .starts import deep_starts
from .steppers import AdaptiveStepper, Solution, Stepper
from .steppers.departures import Domains, has_domains
from .steppers.efforts import Efforts
from .steppers.fixed import Control, FixedRun, refusal, shaped_force
from .steppers.inputs import Inputs
from .steppers.recording import Place
from .steppers.stepper import Program, program_of
from .tally import Tally
from .trajectory import Trajectory

SHORT = 10_000  # records: times of so many are kept for runs to come


@dataclass(frozen=True, eq=False)
class Setting:
    """What a run is before its state is known; calls with equal arguments share one.

    given    the model with the contacts of its shapes: states must fit it
    model    that runs: the same, with the laws of what its joints declare
    stepper  that moves it
    notes    what joints declare and the run does not enforce
    solid    the model with its contacts as rows, if they are springs in the run
    """

    given: Model
    model: Model
    stepper: Stepper
    method: str
    dt: float
    steps: int
    every: int
    notes: tuple[str, ...]
    solid: Model | None = None

    @cached_property
    def program(self) -> Program:
        """The step of a stepper with fixed steps."""
        return program_of(self.stepper, self.model, self.method)

    @property
    def records(self) -> int:
        """How many there are besides the start."""
        return self.steps // self.every

    @cached_property
    def _times(self) -> np.ndarray:
        return sealed(self._computed(0.0, 0, self.records))

    def _computed(self, t: float, first: int, count: int) -> np.ndarray:
        return t + self.dt * self.every * np.arange(first, first + count + 1)

    def times(self, t: float, first: int, count: int) -> np.ndarray:
        """The times of so many records, and of one before them, of a run that starts at t."""
        whole = t == 0.0 and first == 0 and count == self.records < SHORT
        return self._times if whole else self._computed(t, first, count)


@dataclass(eq=False)
class Prepared:
    """A run that was checked and can begin.

    start     where it begins
    driven    the inputs of its forces, if they are told
    notes     what joints declare and the run does not enforce, and what else is to be said of it
    """

    setting: Setting
    start: State | MaximalState
    control: Control | None
    tau: np.ndarray | None
    external: np.ndarray | None
    driven: Inputs | None
    threads: int | None
    efforts: Efforts
    notes: tuple[str, ...]

    @property
    def model(self) -> Model:
        """That runs."""
        return self.setting.model

    @property
    def stepper(self) -> Stepper:
        return self.setting.stepper

    @property
    def adaptive(self) -> bool:
        """Whether the stepper chooses its steps."""
        return isinstance(self.setting.stepper, AdaptiveStepper)

    @property
    def times(self) -> np.ndarray:
        """The times of all records."""
        return self.setting.times(self.start.t, 0, self.setting.records)

    @property
    def kind(self) -> str:
        return "reduced" if isinstance(self.start, State) else "maximal"

    def fixed_run(self) -> FixedRun:
        """The run of a stepper with fixed steps."""
        its = self.setting
        run = FixedRun(its.model, self.start, its.program, its.dt, its.records, its.every, self.efforts, its.times)
        run.tau, run.external, run.threads, run.driven = self.tau, self.external, self.threads, self.driven
        run.implicit = self.stepper.implicit
        return run

    @property
    def flaws(self) -> tuple[str, ...]:
        """What makes the results doubtful before a step is made; `deep_starts` keeps what it said last."""
        return deep_starts(self.setting.solid or self.model, self.start)

    def warn(self) -> None:
        """Tell the caller of the library what makes the results doubtful before a step is made."""
        flaws = self.flaws
        if flaws:
            warn(flaws, StartWarning)

    def trajectory(self) -> Trajectory:
        """The whole run; raises with what was computed where it could not go on."""
        self.warn()
        stepper, replay = self.setting.stepper, self.replay()
        if isinstance(stepper, AdaptiveStepper):
            found = self._adaptive(stepper)
        else:
            run = self.fixed_run()
            if isinstance(replay, StepReplay) and run.asks(self.control):
                run.noted = replay.note
            found = self.mapped(run.solve(self.control))
        held = self.held(found, replay)
        return delivered(held, found.failure, f" at t = {held.t[-1]:.9g}" if found.stopped else "")

    def replay(self, begin: Place | None = None) -> StepReplay | MotionReplay | None:
        """Who can make the steps between records again; None if there are none, or if Python would have to say the same again.

        begin   where in the run; its start by default
        """
        if self.setting.every == 1:
            return None
        its, stepper = replace(self.setting, every=1), self.setting.stepper
        if not isinstance(stepper, AdaptiveStepper):
            return StepReplay(self.fixed_run(), its.times, stepper.name, begin)
        if stepper.from_python(self.model, self.control is not None or self.driven is not None):
            return None
        assert isinstance(self.start, State)
        times = its.times(self.start.t, 0, its.records)
        return MotionReplay(self.model, stepper, self.start, times, self.setting.every, self.tau, self.external)

    def _adaptive(self, stepper: AdaptiveStepper) -> Solution:
        assert isinstance(self.start, State)
        ways = (self.times, self.continuous_control(), self.external, self.driven, self.tau, self.threads)
        return _within_domains(self.model, stepper.solve(self.model, self.start, *ways))

    def continuous_control(self) -> Control | None:
        """The control as a stepper that chooses its steps asks it: within the efforts of the joints, of the right shape."""
        control, efforts, nv, begin = self.control, self.efforts, self.model.nv, self.start.t
        if control is None:
            return None
        any_effort = efforts.any

        def force(t: float, now: State | MaximalState) -> np.ndarray:
            told = shaped_force(control(t, now), t, (nv,))
            if t == begin and not np.isfinite(told).all():  # later, a motion may run away in a step that is taken back
                raise SolverError(refusal(t, told))
            return efforts.held(told) if any_effort else told

        return force

    def mapped(self, found: Solution) -> Solution:
        """What was found, where coordinates are functions of others: with the forces of rows as those let them act."""
        if isinstance(self.start, State):
            return self.setting.stepper.with_first_forces(self.model, self.start, self.external, found)
        return found

    def held(self, found: Solution, steps: StepReplay | MotionReplay | Tally | None = None) -> Trajectory:
        """What was found as a trajectory.

        steps   what its steps add up to, or who can find that, if there are steps between records
        """
        its = self.setting
        return Trajectory(
            its.model,
            found.t,
            self.kind,
            found.arrays,
            found.tau,
            found.forces,
            self.external,
            found.events,
            not self.adaptive,
            found.inputs,
            found.memory,
            found.left,
            self.notes,
            self.efforts.by_joint,
            its.stepper.name,
            its.every,
            steps,
            self.flaws,
        )


def delivered(trajectory: Trajectory, failure: str | None, stopped: str = "") -> Trajectory:
    """The trajectory of a run; raises with it where the run failed, or was stopped, as some words say."""
    if not (failure or stopped):
        return trajectory
    error = SolverError(failure) if failure else RunInterrupted(f"the run was stopped{stopped}")
    error.trajectory = trajectory
    raise error


def _within_domains(model: Model, found: Solution) -> Solution:
    """What was found by a stepper with its own steps, with a failure if a joint left its domain."""
    if not has_domains(model) or found.failure:
        return found
    q = found.arrays["q"]
    departure = Domains(model).first_departure(q.reshape(-1, *q.shape[-2:]), found.t)
    return found if departure is None else replace(found, failure=departure[1])
